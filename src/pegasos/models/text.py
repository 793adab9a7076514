"""Lines of a model file in text: each read once, numbers checked, faults told with their line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import BinaryIO

from pegasos.models.checked import Wrong, shortened

_WHOLE = re.compile(rb"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


class Lines:
    """The lines of a file, with the number of the last one."""

    def __init__(self, file: BinaryIO):
        self.file = file
        self.at = 0

    def __iter__(self) -> Iterator[bytes]:
        for line in self.file:
            self.at += 1
            yield line

    def next(self, what: str) -> bytes:
        """The next line, which must be there."""
        line = self.file.readline()
        self.at += 1
        if not line:
            raise Wrong(f"line {self.at}: the file ends where {what} should be")
        return line.rstrip(b"\r\n")

    def wrong(self, fault: str) -> Wrong:
        """What is wrong with the last line."""
        return Wrong(f"line {self.at}: {fault}")

    def whole(self, text: bytes, what: str) -> int:
        """A whole number of at most 18 digits."""
        if not _WHOLE.fullmatch(text):
            raise self.wrong(f"{shown(text)} is not {what}, a whole number")
        return int(text)

    def number(self, text: bytes) -> float:
        """A finite number."""
        if not _NUMBER.fullmatch(text):
            raise self.wrong(f"{shown(text)} is not a finite number")
        value = float(text)
        if not math.isfinite(value):
            raise self.wrong(f"{shown(text)} is too large for a number")
        return value


def shown(text: bytes) -> str:
    """Bytes of a file as part of a sentence."""
    return repr(shortened(text[:100].decode("ascii", "backslashreplace")))
