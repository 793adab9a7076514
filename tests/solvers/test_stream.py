"""A stream of rows: the plain rule, the clock, and a lower bound that holds."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest

from pegasos import Pegasos, Problem, solve
from pegasos.losses import LOSSES, as_loss
from pegasos.rows import take_in
from pegasos.solvers.stream import Stream

SEED = np.random.SeedSequence(3)


def rows(loss="hinge", m=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, 5))
    score = X @ [1.0, -1.0, 0.5, 0.0, 0.3] + 0.5 * rng.standard_normal(m) + 0.4
    y = np.where(score > 0, 1.0, -1.0) if LOSSES[loss].labels else score
    return X, y, rng.uniform(0.2, 3.0, m)


def stream(loss="hinge", solver=None, free_bias=False, constant=0.0, lam=0.05):
    solver = solver or Pegasos(order="cycle")
    return Stream(5, lam, solver, as_loss(loss), free_bias, constant, SEED)


@pytest.mark.parametrize("project", [True, False])
def test_equals_the_plain_rule(project):
    X, y, _ = rows()
    learner = stream(solver=Pegasos(order="cycle", project=project, bias_rate=0.1), free_bias=True)
    w, b, lam = np.zeros(5), 0.0, 0.05
    for t, (x, label) in enumerate(zip(X, y), start=1):
        pull = label if label * (x @ w + b) < 1 else 0.0
        w = (1 - 1 / t) * w + pull * x / (lam * t)
        b += 0.1 * pull / (lam * t)
        if project:
            w *= min(1.0, 1 / (math.sqrt(lam) * np.linalg.norm(w)))
        learner.learn(take_in(x[None]), np.array([label]))
        np.testing.assert_allclose(learner.w, w, rtol=1e-9, atol=1e-12)
        assert learner.b == pytest.approx(b, rel=1e-9, abs=1e-12)
    assert learner.t == 200


def test_portions_make_no_difference():
    X, y, weights = rows()
    whole, parts = stream(), stream()
    whole.learn(take_in(X), y, weights)
    for start in range(0, 200, 33):
        part = slice(start, start + 33)
        parts.learn(take_in(X[part]), y[part], weights[part])
    np.testing.assert_array_equal(whole.w, parts.w)
    assert whole.lower_bound == pytest.approx(parts.lower_bound)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", ["none", "feature", "free"])
@pytest.mark.parametrize("project", [True, False])
def test_lower_bound_holds_for_the_rows_seen(loss, bias, project):
    X, y, weights = rows(loss)
    learner = stream(
        loss,
        Pegasos(project=project),
        free_bias=bias == "free",
        constant=1.0 if bias == "feature" else 0.0,
    )
    for start in range(0, 200, 50):
        part = slice(start, start + 50)
        learner.learn(take_in(X[part]), y[part], weights[part])
        seen = slice(0, start + 50)
        problem = Problem(X[seen], y[seen], lam=0.05, loss=loss, bias=bias, weights=weights[seen])
        best = solve(problem, tol=1e-9).certificate
        assert learner.lower_bound <= best.primal * (1 + 1e-9)
    if loss in ("hinge", "logistic"):
        assert learner.lower_bound > 0.3 * best.dual


def test_without_bias_the_bound_is_the_dual_of_the_errors():
    X, y, _ = rows()
    learner = stream(solver=Pegasos(order="cycle", project=False))
    w, lam, beta = np.zeros(5), 0.05, np.zeros(200)
    for t in range(200):
        if y[t] * (X[t] @ w) < 1:
            beta[t] = y[t]
        w = (beta @ X) / (lam * (t + 1))
    learner.learn(take_in(X), y)
    C = 1 / (lam * 200)
    expected = naive.dual(X, y, np.full(200, C), C * beta, "hinge")
    assert learner.lower_bound == pytest.approx(expected)


@pytest.mark.parametrize(
    "solver",
    [
        Pegasos(batch=2),
        Pegasos(steps=10),
        Pegasos(order="iid"),
        Pegasos(output="average"),
        Pegasos(w1=[0, 0, 0, 0, 1]),
    ],
)
def test_what_a_stream_cannot_do_is_refused(solver):
    with pytest.raises(ValueError, match="a stream"):
        stream(solver=solver)


def test_other_features_are_refused():
    learner = stream()
    with pytest.raises(ValueError, match="5 features"):
        learner.learn(take_in(np.zeros((2, 4))), np.ones(2))
