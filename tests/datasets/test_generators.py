"""Made-up data: the promised shapes, the same numbers for a seed, chunks like the whole."""

import hashlib

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos.datasets import cover_like, text_like, text_like_chunks
from pegasos.datasets.generators import BLOCK


def test_text_has_the_shape_of_rcv1():
    X, y = text_like(5_000)
    assert isinstance(X, sp.csr_array)
    assert X.shape == (5_000, 47_236)
    assert X.dtype == np.float32
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert X.has_canonical_format
    np.testing.assert_allclose(np.asarray((X * X).sum(axis=1)).ravel(), 1, rtol=1e-5)
    assert 70 < np.diff(X.indptr).mean() <= 76
    assert set(y) == {-1.0, 1.0}
    assert (y > 0).mean() == pytest.approx(0.47, abs=1e-3)


def test_text_is_what_the_obvious_way_makes():
    m, d, per_row = 300, 50, 6
    rng = np.random.default_rng(7)
    words = np.sort((d * rng.random((m, per_row)) ** 2.5).astype(int), axis=1)
    weights = (1 + rng.exponential(size=(m, per_row))) * (1 + np.log(1 + words))
    dense = np.zeros((m, d))
    for i in range(m):
        for word, weight in zip(words[i], weights[i]):
            dense[i, word] += weight
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)
    topic = rng.standard_normal(d) * (rng.random(d) < 0.3)
    score = dense @ topic
    score += 0.5 * score.std() * rng.standard_normal(m)
    X, y = text_like(m, d, per_row, seed=7)
    np.testing.assert_allclose(X.toarray(), dense, rtol=1e-5)
    np.testing.assert_array_equal(y, np.where(score > np.quantile(score, 0.53), 1.0, -1.0))


def test_the_table_has_the_shape_of_cover_types():
    X, y = cover_like(4_000)
    assert X.shape == (4_000, 54)
    assert X.dtype == np.float32
    assert X.min() >= 0
    assert X.max() <= 1
    np.testing.assert_array_equal(X[:, 10:14].sum(axis=1), 1)
    np.testing.assert_array_equal(X[:, 14:].sum(axis=1), 1)
    assert (y > 0).mean() == pytest.approx(0.36, abs=1e-3)


def bits(X, y):
    arrays = (X.data, X.indices, X.indptr, y) if sp.issparse(X) else (X, y)
    return hashlib.sha256(b"".join(a.tobytes() for a in arrays)).hexdigest()


@pytest.mark.parametrize("make", [lambda s: text_like(500, seed=s), lambda s: cover_like(500, s)])
def test_a_seed_is_a_set(make):
    assert bits(*make(3)) == bits(*make(3)) != bits(*make(4))


def joined(chunks):
    chunks = list(chunks)
    return sp.vstack([c.X for c in chunks], format="csr"), np.concatenate([c.y for c in chunks])


@pytest.mark.parametrize("rows_per_chunk", [1_700, BLOCK, 25_000, 60_000])
def test_chunks_are_the_same_rows_whatever_their_size_and_number(rows_per_chunk):
    m = 3 * BLOCK + 500
    sizes = {"d": 2_000, "per_row": 5, "seed": 1}
    X, y = joined(text_like_chunks(m, BLOCK, **sizes))
    cut = 2 * BLOCK + 77
    chunks = list(text_like_chunks(cut, rows_per_chunk, **sizes))
    assert max(chunk.X.shape[0] for chunk in chunks) == min(rows_per_chunk, cut)
    X_cut, y_cut = joined(chunks)
    assert bits(X_cut, y_cut) == bits(X[:cut], y[:cut])
    assert (y > 0).mean() == pytest.approx(0.47, abs=0.01)


def test_chunks_are_of_unit_norm_and_learnable():
    first, *_, last = text_like_chunks(4 * BLOCK, BLOCK, d=2_000, per_row=20)
    np.testing.assert_allclose(sp.linalg.norm(last.X, axis=1), 1, rtol=1e-5)
    w = first.X.T @ first.y  # the difference of the means
    assert np.mean(np.sign(last.X @ w - np.median(first.X @ w)) == last.y) > 0.65
    assert abs((last.y > 0).mean() - 0.47) < 0.02
