"""Text in blocks of whole lines, as the kernels want it: ending in a newline, and with room behind.

Two buffers take turns, so that one can be filled while the other is read. The file is read into
them, not mapped: that is as fast (they stay in the cache), needs no more memory than the two, and a
file that somebody cuts short meanwhile is an early end and not a fault that kills the process.
"""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import Executor, wait
from dataclasses import dataclass

import numpy as np

from pegasos.data.numerals import PADDING
from pegasos.data.opened import Opened

_BEHIND = PADDING + 1  # room behind the text; the last line may lack its newline
_NEWLINE = 10
_MARK = b"\xef\xbb\xbf"  # with which some programs begin UTF-8


@dataclass(frozen=True)
class Block:
    """Whole lines: those of ``text`` from ``first`` to ``last``, which follows a newline."""

    text: np.ndarray  # read-only bytes, and room behind
    first: int
    last: int
    fraction: float | None  # how much of the text has been read so far, where that is known
    final: bool


def blocks_of_lines(file: Opened, size: int) -> Generator[Block, None, None]:
    """The lines of a file, about ``size`` bytes at a time; one that is longer makes a larger block.

    A block is valid until the next but one is asked for.
    """
    room, other = _buffer(size), _buffer(size)
    filled, final, first = 0, False, None
    while not final:
        while True:
            filled, final = _fill(file, room, filled)
            end = filled if final else _after_last_newline(room, filled)
            if end:
                break
            if final:
                return
            room = _larger(room, filled)
        if final and room[end - 1] != _NEWLINE:
            room[end] = _NEWLINE
            end += 1
        rest = room[end : max(end, filled)].copy()
        room[end : end + PADDING] = _NEWLINE
        first = len(_MARK) if first is None and room[:3].tobytes() == _MARK else 0
        view = room.view()
        view.flags.writeable = False
        # Of a packed file nothing can be guessed: its beginning may pack much better than its rest.
        fraction = None if file.packing else file.fraction()
        yield Block(view, first, end, fraction, final)
        if other.size < room.size:
            other = _buffer(room.size - _BEHIND)
        other[: rest.size] = rest
        room, other, filled = other, room, rest.size


def read_ahead(
    blocks: Generator[Block, None, None], pool: Executor
) -> Generator[Block, None, None]:
    """The same blocks, each of them read while the one before is at work."""
    block = next(blocks, None)
    while block is not None:
        waiting = None if block.final else pool.submit(next, blocks, None)
        try:
            yield block
        finally:
            if waiting is not None:
                wait([waiting])
        block = waiting.result() if waiting is not None else None


def cuts(block: Block, parts: int) -> list[int]:
    """Where to cut a block into so many parts of about one size, at newlines."""
    places = [block.first]
    for k in range(1, parts):
        at = max(block.first + (block.last - block.first) * k // parts, places[-1])
        found = _newline_from(block.text, at, block.last)
        if places[-1] < found + 1 < block.last:
            places.append(found + 1)
    return [*places, block.last]


def _buffer(size: int) -> np.ndarray:
    return np.empty(size + _BEHIND, np.uint8)


def _larger(room: np.ndarray, filled: int) -> np.ndarray:
    larger = _buffer(2 * (room.size - _BEHIND))
    larger[:filled] = room[:filled]
    return larger


def _fill(file: Opened, room: np.ndarray, filled: int) -> tuple[int, bool]:
    """Read until the buffer is full or the file ends: how much there is, and whether it ended."""
    view = memoryview(room.data)[: room.size - _BEHIND]
    while filled < len(view):
        count = file.readinto(view[filled:])
        if not count:
            return filled, True
        filled += count
    return filled, False


def _after_last_newline(room: np.ndarray, filled: int) -> int:
    """The end of the last whole line; 0 if there is none."""
    step = 1 << 12
    for end in range(filled, 0, -step):
        found = np.flatnonzero(room[max(end - step, 0) : end] == _NEWLINE)
        if found.size:
            return max(end - step, 0) + int(found[-1]) + 1
    return 0


def _newline_from(text: np.ndarray, at: int, last: int) -> int:
    """The first newline from here on; there is one."""
    step = 1 << 12
    for begin in range(at, last, step):
        found = np.flatnonzero(text[begin : min(begin + step, last)] == _NEWLINE)
        if found.size:
            return begin + int(found[0])
    return last - 1
