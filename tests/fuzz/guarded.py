"""Arrays that end where memory ends: behind the last entry lies a page that may not be touched.

Compiled code that reads or writes past the end is then killed at once, where it would else go on
with whatever lies there.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np

from pegasos.data import lines, store, svmlight
from pegasos.data.arriving import Arriving
from pegasos.rows.blocks import Mapped, map_array

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def guarded(size: int, dtype: Any) -> np.ndarray:
    """An array of so many entries, of no particular content."""
    dtype = np.dtype(dtype)
    need = size * dtype.itemsize
    room = (need + mmap.PAGESIZE - 1) // mmap.PAGESIZE * mmap.PAGESIZE
    pages = mmap.mmap(-1, room + mmap.PAGESIZE)
    bytes_ = np.frombuffer(pages, np.uint8)
    if _libc.mprotect(bytes_.ctypes.data + room, mmap.PAGESIZE, 0) != 0:
        raise OSError(ctypes.get_errno(), "mprotect")
    return bytes_[room - need : room].view(dtype)


def moved(array: np.ndarray, size: int) -> np.ndarray:
    """The same entries in a guarded array of so many."""
    fresh = guarded(size, array.dtype)
    kept = min(size, array.size)
    fresh[:kept] = array[:kept]
    return fresh


class GuardedArriving(Arriving):
    """The rows while they arrive, with no room to spare."""

    def reserve(self, m: int, entries: int, fraction: float | None) -> None:
        super().reserve(m, entries, 1.0)

    def _resize_entries(self, size: int) -> None:
        self.values, self.indices = moved(self.values, size), moved(self.indices, size)

    def _resize_rows(self, size: int) -> None:
        self.pointers = moved(self.pointers, size + 1)
        self.labels, self.groups = moved(self.labels, size), moved(self.groups, size)


@contextlib.contextmanager
def guarded_text(block: int, part: int) -> Iterator[None]:
    """Text is read into guarded arrays: so many bytes at a time, in parts of so many."""
    with contextlib.ExitStack() as stack:
        for module, name, value in (
            (lines, "_buffer", lambda size: guarded(size + lines._BEHIND, np.uint8)),
            (svmlight, "Arriving", GuardedArriving),
            (svmlight, "_BLOCK", block),
            (svmlight, "_PART", part),
        ):
            stack.enter_context(mock.patch.object(module, name, value))
        yield


def _guarded_map(path: Any, dtype: Any, shape: Any) -> Mapped:
    plain = map_array(path, dtype, shape).array
    array = guarded(plain.size, plain.dtype)
    array[:] = plain.ravel()
    array.flags.writeable = False
    return Mapped(array.reshape(plain.shape), None)


@contextlib.contextmanager
def guarded_store() -> Iterator[None]:
    """The arrays of a store are guarded copies."""
    with mock.patch.object(store, "map_array", _guarded_map):
        yield
