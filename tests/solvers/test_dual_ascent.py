"""Dual coordinate ascent against its twin, and its endings."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from problems import make_case

from pegasos import DualAscent, Problem, solve
from pegasos.losses import LOSSES
from pegasos.solvers.dual_ascent import ACTIVE, BETA
from pegasos.solvers.smooth_newton import smooth_newton

SEED = np.random.SeedSequence(0)


@pytest.mark.parametrize("loss", LOSSES)
def test_equals_the_twin_pass_by_pass(loss):
    case = make_case(11, loss=loss, weighted=True)
    problem, solver = case.problem, DualAscent(shrink=np.inf)
    state = solver.start(problem, SEED)
    used = np.flatnonzero(problem.cost)
    place = np.full(problem.cost.size, -1)
    place[used] = np.arange(used.size)
    orders = []
    for _ in range(5):
        solver.advance(problem, state, problem.m, -1.0)
        orders.append(place[state.order].copy())
        w, beta = naive.dual_ascent(case.X, case.y, case.cost, loss, case.epsilon, orders)
        np.testing.assert_allclose(state.w, w, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(state.numbers[used, BETA], beta, rtol=1e-7, atol=1e-10)


def test_shrinking_leaves_rows_out_and_reaches_the_same_optimum():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 8))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(20_000) > 0, 1.0, -1.0)
    problem = Problem(X, y, C=1.0)
    shrinking = DualAscent()
    state = shrinking.start(problem, SEED)
    shrinking.advance(problem, state, 5 * problem.m, -1.0)
    assert state.run[ACTIVE] < 0.7 * problem.m
    one = solve(problem, shrinking, tol=1e-4).certificate
    other = solve(problem, DualAscent(shrink=np.inf), tol=1e-4).certificate
    assert max(one.relative_gap, other.relative_gap) <= 1e-4
    assert max(one.dual, other.dual) <= min(one.primal, other.primal)


def test_the_dual_never_falls_while_nothing_is_free():
    case = make_case(12, hard=True)
    problem, solver = case.problem, DualAscent()
    state, before = solver.start(problem, SEED), -np.inf
    for _ in range(30):
        solver.advance(problem, state, 7, -1.0)
        beta = state.numbers[:, BETA]
        now = naive.dual(case.X, case.y, case.cost, beta, case.loss)
        assert now >= before - 1e-12 * abs(before)
        before = now


@pytest.mark.parametrize("bias", ["none", "free"])
def test_smooth_newton_finds_the_logistic_optimum(bias):
    case = make_case(13, loss="logistic", bias=bias, hard=True)
    beta, b = smooth_newton(case.problem, np.zeros(case.problem.d), 0.0)
    w = case.X.T @ beta
    low, _ = case.reference()
    primal = naive.primal(case.X, case.y, case.cost, w, b, "logistic")
    assert primal == pytest.approx(low, rel=1e-8)


def test_an_unreachable_tolerance_ends_with_a_sentence_and_not_with_endless_passes():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40_000, 6)).astype(np.float32)
    y = np.where(X[:, 0] + rng.standard_normal(40_000) > 0, 1.0, -1.0)
    solution = solve(Problem(X, y, C=1.0, bias="free"), DualAscent(), tol=1e-14)
    assert solution.certificate.relative_gap < 1e-9
    assert solution.status in ("converged", "stalled")
    assert any("finest" in note for note in solution.trace.notes)


def test_refuses_a_shrinking_factor_of_zero():
    with pytest.raises(ValueError, match="shrink must be positive"):
        DualAscent(shrink=0)
