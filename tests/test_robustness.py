"""Data that break solvers: every run ends certified or says how far it came; never NaN, no hang."""

from __future__ import annotations

import naive
import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import Problem, solve

SOLVERS = ("auto", "dual-ascent", "huber-newton", "interior-point")


def plain(m=3000, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(m) > 0.2, 1.0, -1.0)
    return X, y, rng


def empty_rows():
    X, y, rng = plain()
    X[rng.random(len(y)) < 0.3] = 0.0
    return X, y, 1.0


def long_rows():
    X, y, rng = plain()
    X[rng.random(len(y)) < 0.01] *= 1e4
    return X, y, 1.0


def one_large_feature():
    X, y, _ = plain()
    X[:, 3] *= 1e6
    return X, y, 1.0


def separable_at_large_C():
    X, _, rng = plain()
    score = X @ rng.standard_normal(8)
    keep = np.abs(score) > 0.3
    return X[keep], np.sign(score[keep]), 1e6


def tiny_C():
    X, y, _ = plain()
    return X, y, 1e-8


def fewer_rows_than_features():
    X, y, _ = plain(m=40, d=300)
    return X, y, 1.0


def one_row():
    return np.array([[1.0, -2.0, 0.5]]), np.array([1.0]), 1.0


def equal_rows():
    return np.ones((2000, 6)), np.where(np.arange(2000) % 3 == 0, 1.0, -1.0), 1.0


def one_hot():
    rng = np.random.default_rng(1)
    words = rng.integers(0, 900, (400, 3))
    X = np.zeros((400, 900))
    np.put_along_axis(X, words, 1.0, axis=1)
    return X, np.where(rng.random(400) < 0.5, 1.0, -1.0), 1.0


def imbalanced():
    X, _, _ = plain(m=30_000, d=4)
    y = np.full(30_000, -1.0)
    y[np.argsort(X[:, 0])[-3:]] = 1.0
    return X, y, 1.0


CASES = (
    empty_rows, long_rows, one_large_feature, separable_at_large_C, tiny_C,
    fewer_rows_than_features, one_row, equal_rows, one_hot, imbalanced,
)  # fmt: skip


@pytest.mark.parametrize("bias", ["none", "feature", "free"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_every_run_ends_with_a_true_certificate(case, solver, bias):
    X, y, C = case()
    stored = sp.csr_array(X) if case in (empty_rows, one_hot) else X
    problem = Problem(stored, y, C=C, bias=bias)
    solution = solve(problem, solver, tol=1e-3, max_passes=2000, max_seconds=20)
    proof = solution.certificate
    assert np.isfinite(solution.w).all()
    assert np.isfinite(solution.b)
    assert np.isfinite(proof.primal)
    w, b, wide = solution.w, solution.b, X
    if bias == "feature":
        w, b, wide = np.append(w, b), 0.0, np.column_stack([X, np.ones(len(y))])
    beta = solution.alpha * y
    free = "free" if bias == "free" else "none"
    naive.check_certificate(wide, y, problem.cost, w, b, beta, proof, "hinge", bias=free)
    assert solution.converged == (proof.relative_gap <= 1e-3)
    if solver == "auto":
        assert solution.converged, solution.summary()
    elif not solution.converged:
        assert f"{proof.relative_gap:.2e}" in solution.summary()
        assert proof.primal <= problem.zero_objective * (1 + 1e-12)
