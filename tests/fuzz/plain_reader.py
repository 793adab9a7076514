"""svmlight text read in plain Python, line by line: the twin of the compiled reader.

Imports nothing of pegasos. It says what a file holds, or where its first fault is.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from typing import NamedTuple

import numpy as np

NUMBER = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
TOKEN = re.compile(rb"[^ \t\r]+")
NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
LAST_INDEX = 2**31 - 2
LONGEST_WORD = 255
MOST_GROUP = 10**17


class Refusal(Exception):
    """The first fault: its line and column, counted from 1; (0, 0) is the file as a whole."""

    def __init__(self, line: int = 0, column: int = 0):
        super().__init__(line, column)
        self.line, self.column = line, column


class FoundZero(Exception):
    """An index 0 where indices were taken to count from 1."""


class FoundWord(Exception):
    """A word where labels were taken to be numbers."""


class Table(NamedTuple):
    """What a file holds."""

    pointers: list[int]
    indices: list[int]
    values: np.ndarray
    labels: list
    groups: list[int]
    n_features: int
    base: int
    words: bool


class Asked(NamedTuple):
    """What is wanted, in the words of ``load_svmlight``."""

    dtype: str = "float32"
    n_features: int | None = None
    zero_based: bool | str = "auto"
    labels: str = "auto"


def unpacked(content: bytes, most: int) -> bytes:
    """The content as it was packed; at most so many bytes. Refusal if it is damaged."""
    try:
        if content.startswith(b"\x1f\x8b\x08"):
            return gzip.decompress(content)[:most]
        if content.startswith(b"BZh") and content[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
            return bz2.decompress(content)[:most]
        if content.startswith(b"\xfd7zXZ\0"):
            return lzma.decompress(content)[:most]
        if content.startswith(b"\x28\xb5\x2f\xfd"):
            return _unpacked_zst(content)[:most]
    except Exception:
        raise Refusal() from None
    return content


def _unpacked_zst(content: bytes) -> bytes:
    import zstandard

    found = b""
    while content:
        frame = zstandard.ZstdDecompressor().decompressobj()
        found += frame.decompress(content)
        if not frame.eof:
            raise EOFError
        content = frame.unused_data
    return found


def read(content: bytes, asked: Asked) -> Table:
    """All rows of a text, or Refusal."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    base = 0 if asked.zero_based is True else 1
    words = asked.labels == "words"
    while True:
        try:
            return _read(content, asked, base, words)
        except FoundZero:
            base = 0
        except FoundWord:
            words = True


def _read(content: bytes, asked: Asked, base: int, words: bool) -> Table:
    pointers, indices, labels, groups = [0], [], [], []
    values: list[float] = []
    width = 0
    for number, line in enumerate(content.split(b"\n"), 1):
        body = line.partition(b"#")[0]
        tokens = [(m.start(), m.group()) for m in TOKEN.finditer(body)]
        if not tokens:
            continue

        def refusal(at: int, line=line, number=number) -> Refusal:
            return Refusal(number, len(line[:at].decode("utf-8", "replace")) + 1)

        at, token = tokens.pop(0)
        labels.append(_label(token, asked, words, refusal(at)))
        grouped = bool(tokens) and tokens[0][1].startswith(b"qid:")
        if len(labels) > 1 and grouped != bool(groups):
            raise refusal(tokens[0][0] if tokens else len(body))
        if grouped:
            at, token = tokens.pop(0)
            groups.append(_group(token[4:], refusal(at)))
        before = base - 1
        for at, token in tokens:
            index, value = _entry(token, asked, base, before, refusal, at)
            indices.append(index - base)
            values.append(value)
            before = index
            width = max(width, index + 1 - base)
        pointers.append(len(indices))
    if not labels:
        raise Refusal()
    width = width if asked.n_features is None else asked.n_features
    return Table(
        pointers, indices, np.array(values, asked.dtype), labels, groups, width, base, words
    )


def _label(token: bytes, asked: Asked, words: bool, refusal: Refusal):
    if words:
        if asked.labels == "auto" and NOT_FINITE.fullmatch(token):
            raise refusal
        if not _is_word(token) or len(token) > LONGEST_WORD:
            raise refusal
        return token.decode()
    if NUMBER.fullmatch(token):
        value = float(token)
        if np.isinf(value):
            raise refusal
        return value
    if asked.labels == "auto" and _is_word(token) and not NOT_FINITE.fullmatch(token):
        raise FoundWord
    raise refusal


def _is_word(token: bytes) -> bool:
    try:
        word = token.decode()
    except UnicodeDecodeError:
        return False
    return word.isprintable() and not set(word) & set(",:#")


def _group(digits: bytes, refusal: Refusal) -> int:
    if not re.fullmatch(rb"[0-9]+", digits) or int(digits.lstrip(b"0")[:19] or b"0") >= MOST_GROUP:
        raise refusal
    return int(digits)


def _entry(token: bytes, asked: Asked, base: int, before: int, refusal, at: int):
    index, colon, value = token.partition(b":")
    if not re.fullmatch(rb"[0-9]+", index) or not colon:
        raise refusal(at)
    k = int(index.lstrip(b"0")[:19] or b"0")
    last = LAST_INDEX if asked.n_features is None else asked.n_features - 1 + base
    if k < base and asked.zero_based == "auto":
        raise FoundZero
    if not before < k <= last:
        raise refusal(at)
    where = at + len(index) + 1
    if not NUMBER.fullmatch(value):
        raise refusal(where)
    number = float(value)
    with np.errstate(over="ignore"):
        if not np.isfinite(np.dtype(asked.dtype).type(number)):
            raise refusal(where)
    return k, number
