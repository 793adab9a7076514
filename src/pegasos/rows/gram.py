"""Σ weight_i x_i x_iᵀ over some rows: the curvature matrix of Newton and interior-point steps.

Rows of few nonzeros are scattered into the matrix one by one; tables, and sparse rows that are not
so sparse, are expanded in blocks and multiplied by BLAS.
"""

from __future__ import annotations

import numpy as np

from pegasos.compiled import kernel, unsigned
from pegasos.rows.stored import CSR, Rows
from pegasos.rows.verbs import add, prefetch_ahead

_BLOCK = 256  # rows to a product: 1 MB at 500 features
_SCATTERED = 12.0  # one scattered product takes as long as so many in BLAS (measured)


def add_gram(rows: Rows, which: np.ndarray, weights: np.ndarray, gram: np.ndarray) -> None:
    """gram += Σ_k weights_k x xᵀ, x = row which_k; only entries with column ≤ row are made.

    The weights are not negative, and ``gram`` is in C order.
    """
    if which.size == 0:
        return
    if isinstance(rows, CSR) and scatters(rows, gram.shape[0]):
        if not _scatter(rows, which, weights, gram):
            above = np.triu(gram, 1)
            gram += above.T - above
        return
    from scipy.linalg.blas import dsyrk  # here: who only reads rows need not wait for it

    table = np.empty((_BLOCK, gram.shape[0]))
    for first in range(0, which.size, _BLOCK):
        part = slice(first, min(first + _BLOCK, which.size))
        block = table[: part.stop - first]
        _weighted_block(rows, which[part], weights[part], block)
        dsyrk(1.0, block.T, beta=1.0, c=gram.T, lower=0, overwrite_c=1)


def scatters(rows: Rows, d: int) -> bool:
    """Whether the rows are so sparse that scattering is faster than BLAS."""
    per_row = _per_row(rows, d)
    return isinstance(rows, CSR) and _SCATTERED * per_row * (per_row + 1.0) < d * (d + 1.0)


def system_flops(rows: Rows, count: int, d: int) -> float:
    """Floating-point operations of a matrix from so many rows, and of its Cholesky factor."""
    width = _per_row(rows, d) if scatters(rows, d) else float(d)
    return count * width * (width + 1.0) + d**3 / 3.0


def _per_row(rows: Rows, d: int) -> float:
    """The mean number of entries in a row."""
    if not isinstance(rows, CSR):
        return float(d)
    return rows.values.size / max(rows.pointers.size - 1, 1) + (rows.constant != 0.0)


@kernel
def _scatter(rows, which, weights, gram):
    """Each product once, in the row of the later column; false where columns are not in order, and
    a product may stand above the diagonal."""
    last = np.uint64(gram.shape[0] - 1)
    falls = np.int64(0)
    for k in range(which.size):
        prefetch_ahead(rows, which, k, which.size)
        i = np.uint64(which[k])
        start, stop = np.uint64(rows.pointers[i]), np.uint64(rows.pointers[i + np.uint64(1)])
        constant = weights[k] * rows.constant
        before = np.uint64(0)
        for p in range(start, stop):
            column = np.uint64(unsigned(rows.indices[p]))
            falls += np.int64(column < before)
            before = column
            amount = weights[k] * np.float64(rows.values[p])
            target = gram[column]
            for q in range(start, p + np.uint64(1)):
                target[unsigned(rows.indices[q])] += amount * np.float64(rows.values[q])
            if constant != 0.0:
                gram[last, column] += amount * rows.constant
        if constant != 0.0:
            gram[last, last] += constant * rows.constant
    return falls == 0


@kernel
def _weighted_block(rows, which, weights, table):
    """√weight_k times each row, as a table."""
    for k in range(which.size):
        prefetch_ahead(rows, which, k, which.size)
        row = table[k]
        for j in range(row.size):
            row[j] = 0.0
        add(rows, np.uint64(which[k]), np.sqrt(weights[k]), row)
