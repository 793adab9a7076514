"""OCAS: each plane, solution and best point against the twin, its line search, and its end."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from cutting import cases, check_against_twin
from problems import make_case

from pegasos import OCAS, Problem, SVMPerf, solve
from pegasos.solvers.ocas import crossing


@pytest.mark.parametrize(("keep", "mu"), [(50, 0.1), (2, 0.1), (50, 1.0)])
@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("k", range(3))
def test_it_makes_the_planes_of_its_twin(k, storage, keep, mu):
    solver = OCAS(keep=keep, mu=mu)
    check_against_twin(cases(storage=storage)[k], solver, steps=12, mu=mu)


@pytest.mark.parametrize("seed", range(30))
def test_the_line_search_ends_where_the_slope_passes_zero(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(0, 40))
    kinks = np.round(rng.exponential(1.0, size), 1) + 0.1  # some are equal
    jumps = rng.exponential(1.0, size)
    slope, bend = -float(rng.exponential(0.5 * size + 1.0)), float(rng.exponential(0.5))

    def at(t, side):
        passed = kinks < t if side < 0 else kinks <= t
        return slope + bend * t + jumps[passed].sum()

    t = crossing(kinks.copy(), jumps.copy(), slope, bend)
    assert t > 0.0
    assert at(t, -1) <= 1e-12
    assert at(t, 1) >= -1e-12


def test_where_the_slope_rises_at_once_nothing_moves():
    none = np.zeros(0)
    assert crossing(none, none, 0.5, 1.0) == 0.0
    assert crossing(none, none, -0.5, 0.0) == 0.0  # the same point


def test_the_best_point_never_gets_worse():
    case = make_case(6, m=70)
    solver = OCAS()
    state = solver.start(case.problem, np.random.SeedSequence(0))
    before = np.inf
    for _ in range(40):
        solver.advance(case.problem, state, 1, -1.0)
        now = naive.primal(case.X, case.y, case.cost, state.best, 0.0, "hinge")
        assert now <= before * (1 + 1e-12)
        np.testing.assert_allclose(
            state.margins, case.y * (case.X @ state.best), rtol=1e-9, atol=1e-11
        )
        before = now


@pytest.mark.parametrize("bias", ["none", "feature"])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_converges_to_the_optimum(weighted, bias):
    case = make_case(6, bias=bias, weighted=weighted, m=70)
    solution = solve(case.problem, OCAS(), tol=1e-6)
    assert solution.converged, solution.summary()
    low, high = case.reference()
    assert solution.certificate.dual <= high * (1 + 1e-9)
    assert solution.certificate.primal >= low * (1 - 1e-9)
    case.check(solution)


def test_it_makes_fewer_planes_than_svm_perf():
    case = make_case(7, m=20_000, d=20)
    one, other = (solve(case.problem, solver, tol=1e-3) for solver in (OCAS(), SVMPerf()))
    assert one.converged
    assert other.converged
    assert one.trace.steps[-1] < 0.7 * other.trace.steps[-1]


def test_products_that_overflow_are_noticed_and_no_nan_is_returned():
    X = np.random.default_rng(0).standard_normal((30, 4)) * 1e160
    solution = solve(Problem(X / 1e10, np.sign(X[:, 0]), lam=1e-10), OCAS(), tol=1e-3)
    assert solution.status == "diverged"
    assert np.isfinite(solution.w).all()
    assert any("the largest row has norm" in note for note in solution.trace.notes)


@pytest.mark.parametrize("mu", [0.0, 1.5, float("nan")])
def test_refuses_in_one_sentence(mu):
    with pytest.raises(ValueError, match="mu must be above 0 and at most 1, not"):
        OCAS(mu=mu)
    with pytest.raises(ValueError, match="keep must be a positive whole number, not 0"):
        OCAS(keep=0)
