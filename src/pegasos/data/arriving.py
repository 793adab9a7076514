"""The arrays of CSR while the rows arrive: written in place, as large as they must be."""

from __future__ import annotations

import numpy as np

MOST_SHORT = 2**31 - 1  # entries that 32-bit pointers can count

_MARGIN = 1.02  # of a size that is guessed from a part of the file,
_GROWTH = 1.125  # and by how much arrays grow where nothing can be guessed


class Arriving:
    """Rows of which some are there and more will come.

    ``reserve`` makes room, kernels fill it, ``settle`` says what they have filled. Where it is
    known how much of the file has been read, room is made at once for all of it: memory that
    nobody has written to is not taken from the system, and ``done`` gives back the rest.
    """

    def __init__(self, dtype: np.dtype):
        self.m, self.entries, self.n_features = 0, 0, 0
        self.values: np.ndarray = np.empty(0, dtype)
        self.indices: np.ndarray = np.empty(0, np.int32)
        self.pointers: np.ndarray = np.zeros(1, np.int32)
        self.labels: np.ndarray = np.empty(0, np.uint64)  # bits of float64, or numbers of words
        self.groups: np.ndarray = np.empty(0, np.int64)

    def reserve(self, m: int, entries: int, fraction: float | None) -> None:
        """Room for so many more rows and entries; ``fraction`` of the file is then read."""
        m, entries = self.m + m, self.entries + entries
        if entries > MOST_SHORT and self.pointers.dtype != np.int64:
            self.pointers, self.indices = (
                a.astype(np.int64) for a in (self.pointers, self.indices)
            )
        if entries > self.values.size:
            self._resize_entries(_enough(entries, fraction))
        if m > self.labels.size:
            self._resize_rows(_enough(m, fraction))

    def settle(self, row: int, m: int, entry: int, entries: int, n_features: int) -> None:
        """So many rows stand from ``row`` on, with entries from ``entry`` on: close the gap."""
        if row != self.m:
            for array in (self.labels, self.groups):
                array[self.m : self.m + m] = array[row : row + m]
        if row != self.m or entry != self.entries:
            pointers = self.pointers[row + 1 : row + m + 1] - (entry - self.entries)
            self.pointers[self.m + 1 : self.m + m + 1] = pointers
        if entry != self.entries:
            for array in (self.values, self.indices):
                array[self.entries : self.entries + entries] = array[entry : entry + entries]
        self.m += m
        self.entries += entries
        self.n_features = max(self.n_features, n_features)

    def done(self) -> None:
        """Cut all arrays to their sizes."""
        self._resize_entries(self.entries)
        self._resize_rows(self.m)

    def _resize_entries(self, size: int) -> None:
        self.values = _resized(self.values, self.entries, size)
        self.indices = _resized(self.indices, self.entries, size)

    def _resize_rows(self, size: int) -> None:
        self.labels = _resized(self.labels, self.m, size)
        self.groups = _resized(self.groups, self.m, size)
        self.pointers = _resized(self.pointers, self.m, size + 1)
        self.pointers[0] = 0


def _resized(array: np.ndarray, used: int, size: int) -> np.ndarray:
    """The array, longer or shorter; a fresh one if nothing is in it, for growing writes zeros."""
    if used == 0:
        return np.empty(size, array.dtype)
    array.resize(size, refcheck=False)
    return array


def _enough(size: int, fraction: float | None) -> int:
    """Room for the whole, of which a part needs this size."""
    if fraction is None:
        return int(_GROWTH * size)
    return size if fraction >= 1.0 else max(size, int(_MARGIN * size / max(fraction, 1e-6)))
