"""Rows that lie in files: mapped arrays, read block by block, so that few blocks are in memory.

A block is a run of so many rows. ``hold`` asks for the pages of a block before it is read, and
``release`` gives them back after; between the two nothing is copied, and the compiled code meets
the same arrays as for rows in memory. Rows in memory are one block, which is never given back.
"""

from __future__ import annotations

import contextlib
import itertools
import mmap
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.rows.stored import CSR, Rows, n_rows

_POPULATE_READ = 22  # of Linux since 5.14: map a range in one go
_WILL_NEED = getattr(mmap, "MADV_WILLNEED", None)
_DO_NOT_NEED = getattr(mmap, "MADV_DONTNEED", None)
_AROUND = 1 << 16  # a page fault may map its neighbours too


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


class Blocks:
    """Which rows of mapped files are in memory: one block of them in each thread.

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

    def hold(self, first: int, last: int, then: tuple[int, int] | None = None) -> None:
        """Have these rows in memory and no others; ``then`` are read next, if that is known."""
        if getattr(self._here, "held", None) == (first, last):
            return
        self.release()
        self._here.held = (first, last)
        self._advise(first, last, _POPULATE_READ)
        if then is not None:
            self._advise(then[0], then[1], _WILL_NEED)

    def release(self) -> None:
        """Give the rows in memory back."""
        held = getattr(self._here, "held", None)
        if held is not None:
            self._advise(held[0], held[1], _DO_NOT_NEED, _AROUND)
            self._here.held = None

    def in_order(self) -> Iterator[tuple[int, int]]:
        """The bounds of one block after the other, each in memory while it is yielded."""
        ends = [(int(a), int(b)) for a, b in itertools.pairwise(self.bounds)]
        for k, (first, last) in enumerate(ends):
            self.hold(first, last, ends[k + 1] if k + 1 < len(ends) else None)
            yield first, last
        self.release()

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


class StoredRows:
    """Rows that lie in files, as ``X`` of a problem or an estimator.

    Parameters
    ----------
    rows : CSR or Dense
        Read-only arrays over the files.
    n_features : int
        The number of columns.
    block_rows : int
        How many rows are read at a time.
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


def in_order(blocks: Blocks | None, m: int) -> Iterator[tuple[int, int]]:
    """The bounds of one block after the other; of m rows in memory, of all at once."""
    return iter([(0, m)]) if blocks is None else blocks.in_order()
