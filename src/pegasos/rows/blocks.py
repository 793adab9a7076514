"""Rows that lie in files: mapped arrays, read in blocks, of which few are in memory at a time.

A block is a run of so many rows. ``hold`` asks for the pages of some blocks before they are read,
and ``release`` gives them back after; between the two nothing is copied, and the compiled code
meets the same arrays as for rows in memory. Those are one block, which is never given back.
"""

from __future__ import annotations

import contextlib
import itertools
import mmap
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.rows.stored import CSR, Rows, n_rows

AT_ONCE = 8  # blocks in memory

_POPULATE_READ = 22 if sys.platform == "linux" else None  # since 5.14: map a range in one go
_WILL_NEED = getattr(mmap, "MADV_WILLNEED", None)
_DO_NOT_NEED = getattr(mmap, "MADV_DONTNEED", None)
_AROUND = 2 << 20  # the system may map as much as this where one page is asked for


@dataclass(frozen=True)
class Mapped:
    """A read-only array over a file; nothing is mapped for an empty one."""

    array: np.ndarray
    map: mmap.mmap | None

    def advise(self, advice: int | None, first: int, last: int, around: int = 0) -> None:
        """Tell the system about the entries from ``first`` to ``last`` along the first axis."""
        if self.map is None or advice is None:
            return
        size = self.array.strides[0]
        start = max(first * size - around, 0) // mmap.PAGESIZE * mmap.PAGESIZE
        stop = min(last * size + around, len(self.map))
        if stop <= start:
            return
        with contextlib.suppress(OSError):  # it is advice: an older system may not know it
            self.map.madvise(advice, start, stop - start)


def map_array(path: str | os.PathLike, dtype: Any, shape: Sequence[int]) -> Mapped:
    """The array that a file holds in C order and nothing else."""
    dtype = np.dtype(dtype)
    if 0 in shape:
        return Mapped(_frozen(np.empty(shape, dtype)), None)
    with open(path, "rb") as file:
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    count = int(np.prod(shape, dtype=np.int64))
    if len(whole) < count * dtype.itemsize:
        raise ValueError(f"{os.fspath(path)} holds {len(whole)} bytes, too few for {shape} {dtype}")
    return Mapped(_frozen(np.frombuffer(whole, dtype, count).reshape(shape)), whole)


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


Span = tuple[int, int]  # rows from … to before …


class Blocks:
    """Which rows of mapped files are in memory: a few blocks of them in each thread.

    Parameters
    ----------
    rows : CSR or Dense
        The rows, over the arrays of ``maps``.
    bounds : array of shape (blocks + 1,)
        Where the blocks begin, and where the last one ends.
    maps : sequence of Mapped
        What the rows lie in.
    """

    def __init__(self, rows: Rows, bounds: np.ndarray, maps: Sequence[Mapped]):
        self.rows = rows
        self.bounds = bounds
        self.maps = tuple(maps)
        self._here = threading.local()

    @property
    def held(self) -> tuple[Span, ...]:
        """What is in memory for this thread."""
        return getattr(self._here, "held", ())

    @property
    def rows_read(self) -> int:
        """How many rows this thread has asked for so far."""
        return getattr(self._here, "rows_read", 0)

    def hold(self, spans: Sequence[Span], then: Sequence[Span] = ()) -> None:
        """Have these rows in memory and no others; ``then`` are read next, if that is known."""
        spans = joined(spans)
        if self.held == spans:
            return
        self.release()
        self._here.held = spans
        self._here.rows_read = self.rows_read + sum(last - first for first, last in spans)
        for first, last in spans:
            self._advise(first, last, _POPULATE_READ)
        for first, last in joined(then):
            self._advise(first, last, _WILL_NEED)

    def release(self) -> None:
        """Give the rows in memory back."""
        for first, last in self.held:
            self._advise(first, last, _DO_NOT_NEED, _AROUND)
        self._here.held = ()

    def in_order(self, spans: Sequence[Span] | None = None) -> Iterator[Span]:
        """One span after the other, each in memory while it is yielded; by default all rows."""
        spans = self.spans() if spans is None else spans
        for k, span in enumerate(spans):
            self.hold([span], spans[k + 1 : k + 2])
            yield span
        self.release()

    def spans(self) -> list[Span]:
        """All rows in order, as many at once as may be in memory."""
        ends = [*map(int, self.bounds[:-1:AT_ONCE]), int(self.bounds[-1])]
        return list(itertools.pairwise(ends))

    def _advise(self, first: int, last: int, advice: int | None, around: int = 0) -> None:
        if not isinstance(self.rows, CSR):
            self.maps[0].advise(advice, first, last, around)
            return
        pointers = self.rows.pointers
        start, stop = int(pointers[first]), int(pointers[last])
        for mapped in self.maps:
            if mapped.array is pointers:
                mapped.advise(advice, first, last + 1, around)
            else:
                mapped.advise(advice, start, stop, around)


def joined(spans: Sequence[Span]) -> tuple[Span, ...]:
    """The same rows in ascending order, neighbours as one."""
    found: list[Span] = []
    for first, last in sorted(spans):
        if found and found[-1][1] == first:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return tuple(found)


class StoredRows:
    """Rows that lie in files, as ``X`` of a problem or an estimator.

    Parameters
    ----------
    rows : CSR or Dense
        Read-only arrays over the files.
    n_features : int
        The number of columns.
    block_rows : int
        How many rows make a block; eight blocks are in memory at a time.
    maps : sequence of Mapped
        The arrays of ``rows`` with what they are mapped by: of CSR pointers, indices and values.
    """

    ndim = 2

    def __init__(self, rows: Rows, n_features: int, block_rows: int, maps: Sequence[Mapped]):
        self.rows = rows
        self.n_features = n_features
        self.block_rows = block_rows
        self.maps = tuple(maps)

    @property
    def shape(self) -> tuple[int, int]:
        return n_rows(self.rows), self.n_features

    @property
    def dtype(self) -> np.dtype:
        return self.rows.values.dtype

    @property
    def nnz(self) -> int:
        """Stored values: of a table, all."""
        return int(self.rows.values.size)

    def __len__(self) -> int:
        return n_rows(self.rows)

    def __repr__(self) -> str:
        kind = "CSR" if isinstance(self.rows, CSR) else "dense"
        m, d = self.shape
        return f"<{m} stored {kind} rows of {d} features, {self.dtype}, {self.block_rows} a block>"


def bounds_of(m: int, block_rows: int) -> np.ndarray:
    """Where the blocks of m rows begin, and where the last one ends."""
    return np.append(np.arange(0, m, block_rows, dtype=np.int64), np.int64(m))


def part(rows: Rows, first: int, last: int) -> Rows:
    """The rows from ``first`` to ``last``, as they lie."""
    if isinstance(rows, CSR):
        return rows._replace(pointers=rows.pointers[first : last + 1])
    return rows._replace(values=rows.values[first:last])


def in_order(blocks: Blocks | None, m: int) -> Iterator[Span]:
    """One span of rows after the other; m rows that are in memory are one."""
    return iter([(0, m)]) if blocks is None else blocks.in_order()
