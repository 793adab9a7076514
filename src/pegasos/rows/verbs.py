"""A row's verbs, once for CSR and once for dense: every algorithm is written in these words."""

from __future__ import annotations

import numpy as np

from pegasos.compiled import LINE, fetch, inlined, kernel, unsigned, verb
from pegasos.rows.stored import CSR, Dense

_SOON, _LATER = 8, 20  # rows ahead: fetch the row itself, fetch where it starts


@verb
def dot(rows, i, w):
    """⟨w, x_i⟩, the constant feature included."""


@verb
def add(rows, i, step, w):
    """w ← w + step · x_i, the constant feature included."""


@verb
def add_rescaled(rows, i, step, factors, w):
    """w_j ← w_j + step · factors_j · x_ij for every feature j, the constant one included."""


@verb
def squared_norm(rows, i):
    """‖x_i‖², the constant feature included."""


@verb
def fetch_start(rows, i):
    """Ask the memory where row i starts (long before it is needed)."""


@verb
def fetch_row(rows, i):
    """Ask the memory for row i (shortly before it is needed)."""


@dot.of(CSR)
def _dot_csr(rows, i, w):
    total = 0.0
    for j in range(np.uint64(rows.pointers[i]), np.uint64(rows.pointers[i + np.uint64(1)])):
        total += w[unsigned(rows.indices[j])] * np.float64(rows.values[j])
    if rows.constant != 0.0:
        total += rows.constant * w[w.size - 1]
    return total


@add.of(CSR)
def _add_csr(rows, i, step, w):
    for j in range(np.uint64(rows.pointers[i]), np.uint64(rows.pointers[i + np.uint64(1)])):
        w[unsigned(rows.indices[j])] += step * np.float64(rows.values[j])
    if rows.constant != 0.0:
        w[w.size - 1] += step * rows.constant


@add_rescaled.of(CSR)
def _add_rescaled_csr(rows, i, step, factors, w):
    for j in range(np.uint64(rows.pointers[i]), np.uint64(rows.pointers[i + np.uint64(1)])):
        column = unsigned(rows.indices[j])
        w[column] += step * factors[column] * np.float64(rows.values[j])
    if rows.constant != 0.0:
        w[w.size - 1] += step * factors[w.size - 1] * rows.constant


@squared_norm.of(CSR)
def _squared_norm_csr(rows, i):
    total = rows.constant * rows.constant
    for j in range(np.uint64(rows.pointers[i]), np.uint64(rows.pointers[i + np.uint64(1)])):
        total += np.float64(rows.values[j]) * np.float64(rows.values[j])
    return total


@fetch_start.of(CSR)
def _fetch_start_csr(rows, i):
    fetch(rows.pointers, i)


@fetch_row.of(CSR)
def _fetch_row_csr(rows, i):
    step = np.uint64(LINE // rows.indices.itemsize)
    j = np.uint64(rows.pointers[i])
    end = np.uint64(rows.pointers[i + np.uint64(1)])
    while j < end:
        fetch(rows.indices, j)
        fetch(rows.values, j)
        j += step


@dot.of(Dense)
def _dot_dense(rows, i, w):
    row = rows.values[i]
    total = 0.0
    for j in range(row.size):
        total += w[j] * np.float64(row[j])
    if rows.constant != 0.0:
        total += rows.constant * w[w.size - 1]
    return total


@add.of(Dense)
def _add_dense(rows, i, step, w):
    row = rows.values[i]
    for j in range(row.size):
        w[j] += step * np.float64(row[j])
    if rows.constant != 0.0:
        w[w.size - 1] += step * rows.constant


@add_rescaled.of(Dense)
def _add_rescaled_dense(rows, i, step, factors, w):
    row = rows.values[i]
    for j in range(row.size):
        w[j] += step * factors[j] * np.float64(row[j])
    if rows.constant != 0.0:
        w[w.size - 1] += step * factors[w.size - 1] * rows.constant


@squared_norm.of(Dense)
def _squared_norm_dense(rows, i):
    row = rows.values[i]
    total = rows.constant * rows.constant
    for j in range(row.size):
        total += np.float64(row[j]) * np.float64(row[j])
    return total


@fetch_start.of(Dense)
def _fetch_start_dense(rows, i):
    pass


@fetch_row.of(Dense)
def _fetch_row_dense(rows, i):
    columns = np.uint64(rows.values.shape[1])
    step = np.uint64(max(LINE // rows.values.itemsize, 1))
    j = np.uint64(i) * columns
    end = j + columns
    while j < end:
        fetch(rows.values, j)
        j += step


@inlined
def prefetch_ahead(rows, order, k, count):
    """While visit k of ``order[:count]`` is at work, ask for the rows of the visits to come."""
    if k + _LATER < count:
        fetch_start(rows, np.uint64(order[k + _LATER]))
        fetch_row(rows, np.uint64(order[k + _SOON]))


@kernel
def scores(rows, weights, biases, out):
    """out[i, k] = ⟨w_k, x_i⟩ + b_k for models stored side by side: weights[j, k]."""
    models = np.uint64(biases.size)
    for i in range(np.uint64(out.shape[0])):
        for k in range(models):
            out[i, k] = biases[k]
        _add_scores(rows, i, weights, out)


@verb
def _add_scores(rows, i, weights, out):
    """out[i, k] += Σ_j x_ij weights[j, k]."""


@_add_scores.of(CSR)
def _add_scores_csr(rows, i, weights, out):
    for j in range(np.uint64(rows.pointers[i]), np.uint64(rows.pointers[i + np.uint64(1)])):
        column = unsigned(rows.indices[j])
        value = np.float64(rows.values[j])
        for k in range(np.uint64(out.shape[1])):
            out[i, k] += value * weights[column, k]


@_add_scores.of(Dense)
def _add_scores_dense(rows, i, weights, out):
    row = rows.values[i]
    for j in range(row.size):
        value = np.float64(row[j])
        for k in range(np.uint64(out.shape[1])):
            out[i, k] += value * weights[j, k]
