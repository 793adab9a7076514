"""The weighted sum of products of rows, against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos.rows import add_gram, scatters, system_flops, take_in


@pytest.mark.parametrize("constant", [0.0, 1.5])
@pytest.mark.parametrize("storage", ["table", "scattered", "not so sparse", "columns not in order"])
def test_it_is_the_sum_of_the_weighted_products(storage, constant):
    rng = np.random.default_rng(0)
    density = {"table": 1.0, "not so sparse": 0.9}.get(storage, 0.05)
    X = rng.standard_normal((600, 60)) * (rng.random((600, 60)) < density)
    stored = X if storage == "table" else sp.csr_array(X)
    if storage == "columns not in order":
        for i in range(600):
            part = slice(stored.indptr[i], stored.indptr[i + 1])
            stored.indices[part] = stored.indices[part][::-1].copy()
            stored.data[part] = stored.data[part][::-1].copy()
        assert not stored.has_sorted_indices
    rows = take_in(stored).rows._replace(constant=constant)
    wide = np.column_stack((X, np.full(600, constant))) if constant else X
    which = rng.choice(600, 333, replace=False).astype(np.uint32)
    weights = rng.random(333)
    gram = np.zeros((wide.shape[1], wide.shape[1]))
    assert scatters(rows, len(gram)) == (storage in ("scattered", "columns not in order"))
    for part in (slice(0, 100), slice(100, 333)):  # it adds to what is there
        add_gram(rows, which[part], weights[part], gram)
    wanted = wide[which].T @ (weights[:, None] * wide[which])
    np.testing.assert_allclose(np.tril(gram), np.tril(wanted), rtol=1e-12, atol=1e-12)


def test_the_work_of_a_system_is_counted():
    table = take_in(np.ones((10, 6))).rows
    assert system_flops(table, 10, 6) == pytest.approx(10 * 6 * 7 + 6**3 / 3)
    sparse = take_in(sp.csr_array(np.eye(60))).rows  # one product in each row
    assert system_flops(sparse, 5, 60) == pytest.approx(5 * 2 + 60**3 / 3)
