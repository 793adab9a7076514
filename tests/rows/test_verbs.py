"""The verbs of a row against NumPy: every type of value, both ways of storing."""

import numba
import numpy as np
import pytest
from scipy import sparse

from pegasos.rows import (
    CSR,
    Dense,
    add,
    add_rescaled,
    dot,
    n_rows,
    prefetch_ahead,
    scores,
    squared_norm,
    take_in,
)

CSR_CASES = [
    (np.int32, np.float64),
    (np.int32, np.float32),
    (np.int32, np.bool_),
    (np.int32, np.int8),
    (np.int64, np.float64),
    (np.int64, np.uint16),
]
DENSE_CASES = [np.float64, np.float32, np.bool_, np.int8, np.uint32]
CASES = [("csr", *case) for case in CSR_CASES] + [("dense", None, dtype) for dtype in DENSE_CASES]
FEW = [0, 1, 6, 9]
IDS = ["-".join(getattr(part, "__name__", str(part)) for part in case if part) for case in CASES]
every_case = pytest.mark.parametrize(("storage", "index", "dtype"), CASES, ids=IDS)


@numba.njit
def visit(rows, order, step, w):
    """Every verb once for each row: the dots before the addition, and the squared norms."""
    found = np.empty((order.size, 2))
    for k in range(order.size):
        prefetch_ahead(rows, order, k, order.size)
        i = np.uint64(order[k])
        found[k, 0] = dot(rows, i, w)
        found[k, 1] = squared_norm(rows, i)
        add(rows, i, step, w)
    return found


def table(dtype, m=40, d=11):
    """A table with empty rows, empty columns and the extremes of its type."""
    rng = np.random.default_rng(0)
    if dtype == np.bool_:
        X = rng.random((m, d)) < 0.4
    elif np.issubdtype(dtype, np.integer):
        bounds = np.iinfo(dtype)
        X = rng.integers(bounds.min, bounds.max, (m, d), dtype=dtype, endpoint=True)
        X[2, :2] = bounds.min, bounds.max
    else:
        X = rng.standard_normal((m, d)).astype(dtype)
    X[rng.random((m, d)) < 0.5] = 0
    X[[0, 7, m - 1]] = 0
    X[:, 4] = 0
    return X


def stored(storage, index, X):
    if storage == "dense":
        return take_in(X).rows
    S = sparse.csr_array(X)
    S.indptr, S.indices = S.indptr.astype(index), S.indices.astype(index)
    return take_in(S).rows


@every_case
@pytest.mark.parametrize("constant", [0.0, 2.5])
def test_dot_add_and_squared_norm(storage, index, dtype, constant):
    X = table(dtype)
    rows = stored(storage, index, X)._replace(constant=constant)
    wide = X.astype(np.float64)
    if constant:
        wide = np.hstack([wide, np.full((len(X), 1), constant)])
    rng = np.random.default_rng(1)
    w = rng.standard_normal(wide.shape[1])
    order = rng.permutation(len(X)).astype(np.uint32)
    expected, moved = np.empty((len(X), 2)), w.copy()
    for k, i in enumerate(order):
        expected[k] = wide[i] @ moved, wide[i] @ wide[i]
        moved += 1e-3 * wide[i]
    found = visit(rows, order, 1e-3, w)
    np.testing.assert_allclose(w, moved, rtol=1e-12)
    size = np.linalg.norm(wide[order], axis=1) * np.linalg.norm(moved)
    np.testing.assert_allclose(found[:, 0], expected[:, 0], atol=1e-12 * size.max())
    np.testing.assert_allclose(found[:, 1], expected[:, 1], rtol=1e-12)


@numba.njit
def visit_rescaled(rows, order, step, factors, w):
    for k in range(order.size):
        add_rescaled(rows, np.uint64(order[k]), step, factors, w)


@pytest.mark.parametrize(
    ("storage", "index", "dtype"), [CASES[k] for k in FEW], ids=[IDS[k] for k in FEW]
)
@pytest.mark.parametrize("constant", [0.0, 2.5])
def test_add_rescaled(storage, index, dtype, constant):
    X = table(dtype)
    rows = stored(storage, index, X)._replace(constant=constant)
    wide = X.astype(np.float64)
    if constant:
        wide = np.hstack([wide, np.full((len(X), 1), constant)])
    rng = np.random.default_rng(1)
    w, factors = rng.standard_normal((2, wide.shape[1]))
    order = rng.permutation(len(X))[:30].astype(np.uint32)
    expected = w + 1e-3 * factors * wide[order].sum(axis=0)
    visit_rescaled(rows, order, 1e-3, factors, w)
    np.testing.assert_allclose(w, expected, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize(
    ("storage", "index", "dtype"), [CASES[k] for k in FEW], ids=[IDS[k] for k in FEW]
)
@pytest.mark.parametrize("models", [1, 3])
def test_scores_of_several_models(storage, index, dtype, models):
    X = table(dtype)
    rng = np.random.default_rng(2)
    W, b = rng.standard_normal((X.shape[1], models)), rng.standard_normal(models)
    out = np.full((len(X), models), np.nan)
    scores(stored(storage, index, X), W, b, out)
    np.testing.assert_allclose(out, X.astype(np.float64) @ W + b, rtol=1e-12, atol=1e-12)


@every_case
def test_the_intake_measures_every_row(storage, index, dtype):
    X = table(dtype)
    rows = stored(storage, index, X)
    assert type(rows) is (CSR if storage == "csr" else Dense)
    assert rows.constant == 0.0
    assert n_rows(rows) == len(X)
    intake = take_in(X if storage == "dense" else sparse.csr_array(X))
    expected = (X.astype(np.float64) ** 2).sum(axis=1)
    np.testing.assert_allclose(intake.squared_norms, expected, rtol=1e-12)


def test_a_row_of_many_features_is_prefetched_and_summed_right():
    X = np.random.default_rng(3).standard_normal((50, 300))
    w = np.zeros(300)
    order = np.arange(50, dtype=np.uint32)
    found = visit(take_in(X).rows, order, 1.0, w)
    np.testing.assert_allclose(w, X.sum(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found[:, 1], (X**2).sum(axis=1), rtol=1e-12)
