"""Rows that arrive in chunks and end as one table or one CSR, without a second copy of them all."""

from __future__ import annotations

from typing import Any

import numpy as np


class Growing:
    """An array that grows at its end, in place where the system can move its pages."""

    def __init__(self, dtype: Any, width: tuple[int, ...] = ()):
        self._array = np.empty((0, *width), dtype)
        self.size = 0

    def expect(self, size: int) -> None:
        """Make room for so many entries in all."""
        if size > self._array.shape[0]:
            self._array.resize((size, *self._array.shape[1:]), refcheck=False)

    def append(self, part: np.ndarray) -> None:
        need = self.size + part.shape[0]
        if need > self._array.shape[0]:
            self.expect(max(need, self._array.shape[0] * 5 // 4))
        self._array[self.size : need] = part
        self.size = need

    def done(self) -> np.ndarray:
        """The array, cut to its size."""
        self._array.resize((self.size, *self._array.shape[1:]), refcheck=False)
        return self._array


class GrowingRows:
    """Dense rows, or the three arrays of CSR."""

    def __init__(self, sparse: bool, n_features: int, dtype: Any):
        self.m, self.n_features, self.sparse = 0, n_features, sparse
        if sparse:
            self._values, self._indices = Growing(dtype), Growing(np.int32)
            self._pointers = Growing(np.int64)
            self._pointers.append(np.zeros(1, np.int64))
        else:
            self._values = Growing(dtype, (n_features,))

    def expect(self, m: int | None) -> None:
        """Make room for so many dense rows, if it is known how many there are."""
        if m is not None and not self.sparse:
            self._values.expect(m)

    def append(self, X: Any) -> None:
        self.m += X.shape[0]
        if not self.sparse:
            self._values.append(X)
            return
        before = self._values.size
        self._values.append(X.data)
        self._indices.append(X.indices)
        self._pointers.append(X.indptr[1:].astype(np.int64) + before)

    def done(self) -> Any:
        """All rows."""
        if not self.sparse:
            return self._values.done()
        from scipy.sparse import csr_array

        pointers = self._pointers.done()
        if pointers[-1] < 2**31:
            pointers = pointers.astype(np.int32)
        return csr_array(
            (self._values.done(), self._indices.done(), pointers),
            shape=(self.m, self.n_features),
        )
