"""Newton on the rounded primal: each step against dense linear algebra, and where it ends."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from problems import make_case

from pegasos import HuberNewton, Problem, solve
from pegasos.losses import LOSSES
from pegasos.solvers.huber_newton import LENGTH, WIDTH, where_it_is_level

SEED = np.random.SeedSequence(0)


def wide(case):
    """The rows with the column of a free bias, the targets that remain, the penalties."""
    free = case.bias == "free"
    X = np.column_stack([case.X, np.ones(len(case.y))]) if free else case.X
    penalty = np.ones(X.shape[1])
    if free:
        penalty[-1] = 0.0
    return X, case.y - case.problem.shift, penalty


@pytest.mark.parametrize("bias", ["none", "feature", "free"])
@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("loss", LOSSES)
def test_each_step_is_newtons_and_ends_where_it_is_nearly_level(loss, storage, bias):
    case = make_case(3, loss=loss, storage=storage, bias=bias, weighted=True, m=60)
    X, y, penalty = wide(case)
    problem, solver = case.problem, HuberNewton()
    state = solver.start(problem, SEED)
    for _ in range(6):
        v = state.w.copy()
        solver.advance(problem, state, 1, -1.0)
        width, length = state.run[WIDTH], state.run[LENGTH]
        step = naive.newton_direction(X, y, case.cost, v, penalty, loss, width, case.epsilon)
        np.testing.assert_allclose(state.w, v + length * step, rtol=1e-5, atol=1e-7)
        ends = [
            naive.slope_along(
                X, y, case.cost, v + t * step, step, penalty, loss, width, case.epsilon
            )
            for t in (0.0, length)
        ]
        assert ends[0] <= 0.0
        assert abs(ends[1]) <= 0.4 * abs(ends[0]) + 1e-9


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", ["none", "free"])
def test_the_gap_that_it_goes_by_is_the_true_one(loss, bias):
    case = make_case(4, loss=loss, bias=bias, m=60)
    problem, solver = case.problem, HuberNewton()
    state = solver.start(problem, SEED)
    for _ in range(9):
        v, width = state.w.copy(), state.run[WIDTH]
        report = solver.advance(problem, state, 1, 1e-3)
    X, y, _ = wide(case)
    beta = -case.cost * naive.rounded_slope(loss, X @ v, y, width, case.epsilon)
    if loss in naive.PIECEWISE_LINEAR:  # rounding may lead a hair out of the box
        sign = y if loss == "hinge" else 1.0
        beta = sign * np.clip(sign * beta, -case.cost * (loss != "hinge"), case.cost)
    b = v[-1] if bias == "free" else 0.0
    w = v[: problem.d]
    primal = naive.primal(case.X, y, case.cost, w, b, loss, case.epsilon)
    gap = primal - naive.dual(case.X, y, case.cost, beta, loss, case.epsilon)
    if bias == "free":  # the bound belongs to Σ β = 0; what is open of it is charged
        gap += b * beta.sum() + 0.5 * abs(beta.sum())
    assert report.gap_estimate == pytest.approx(gap / (primal - gap), rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", ["none", "feature", "free"])
def test_it_converges_to_the_optimum(loss, bias):
    case = make_case(6, loss=loss, bias=bias, weighted=True, m=70)
    solution = solve(case.problem, HuberNewton(), tol=1e-5)
    assert solution.converged, solution.summary()
    low, high = case.reference()
    assert solution.certificate.dual <= high * (1 + 1e-9)
    assert solution.certificate.primal >= low * (1 - 1e-9)
    case.check(solution)


@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_samples_lead_to_the_same_optimum_with_fewer_visits(storage):
    case = make_case(7, bias="free", storage=storage, m=70_000, d=5)
    problem = case.problem
    sampled = solve(problem, HuberNewton(), tol=1e-4)
    whole = solve(problem, HuberNewton(samples=False), tol=1e-4)
    assert sampled.converged
    assert whole.converged
    a, b = sampled.certificate, whole.certificate
    assert max(a.dual, b.dual) <= min(a.primal, b.primal)
    assert sampled.n_passes < whole.n_passes


def test_a_start_that_is_good_needs_few_visits():
    case = make_case(8, m=30_000, d=5)
    first = solve(case.problem, HuberNewton(), tol=1e-3)
    again = solve(case.problem, HuberNewton(), tol=1e-3, warm=first)
    assert again.converged
    assert again.n_passes < first.n_passes


def test_too_many_features_are_refused_with_what_would_work():
    X = np.zeros((3, 4001))
    X[:, 0] = 1.0, -1.0, 2.0
    with pytest.raises(ValueError, match="use solver='dual-ascent'"):
        solve(Problem(X, [1, -1, 1], C=1.0), HuberNewton())


@pytest.mark.parametrize("root", [1e-6, 0.3, 1.0, 7.0, 1e4])
@pytest.mark.parametrize("power", [1, 3])
def test_the_length_of_a_step_is_where_the_slope_is_nearly_zero(root, power):
    def slope(t):
        return np.sign(t - root) * abs(t - root) ** power

    t = where_it_is_level(slope, slope(0.0))
    assert abs(slope(t)) <= 0.4 * abs(slope(0.0))
