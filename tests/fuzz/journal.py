"""What a fuzzing process is doing, in a file that outlives it: counts, and the input at work."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import NamedTuple

_HEAD = struct.Struct("<QQQ")  # runs, accepted, the length of the input at work (0: none)
_ROOM = 1 << 20


class Entry(NamedTuple):
    """The state of a journal."""

    runs: int
    accepted: int
    at_work: bytes


class Journal:
    """Written before and after each input."""

    def __init__(self, path: Path):
        if not path.exists():
            path.write_bytes(bytes(_ROOM))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _ROOM)
        self.runs, self.accepted, _ = _HEAD.unpack_from(self._map)

    def begin(self, data: bytes) -> None:
        data = data[: _ROOM - _HEAD.size - 1]
        _HEAD.pack_into(self._map, 0, self.runs, self.accepted, len(data) + 1)
        self._map[_HEAD.size : _HEAD.size + len(data)] = data

    def end(self, accepted: bool) -> None:
        self.runs += 1
        self.accepted += accepted
        _HEAD.pack_into(self._map, 0, self.runs, self.accepted, 0)

    def read(self) -> Entry:
        """What was written last, by whatever process."""
        runs, accepted, length = _HEAD.unpack_from(self._map)
        return Entry(runs, accepted, self._map[_HEAD.size : _HEAD.size + max(length, 1) - 1])
