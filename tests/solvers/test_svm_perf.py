"""SVM-perf: each plane and each solution against the twin, and where it ends."""

from __future__ import annotations

import numpy as np
import pytest
from cutting import cases, check_against_twin
from problems import make_case

from pegasos import Problem, SVMPerf, solve

SEED = np.random.SeedSequence(0)


@pytest.mark.parametrize("keep", [2, 50])
@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("k", range(3))
def test_it_makes_the_planes_of_its_twin(k, storage, keep):
    check_against_twin(cases(storage=storage)[k], SVMPerf(keep=keep), steps=12, mu=None)


@pytest.mark.parametrize("bias", ["none", "feature"])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_converges_to_the_optimum(weighted, bias):
    case = make_case(6, bias=bias, weighted=weighted, m=70)
    solution = solve(case.problem, SVMPerf(), tol=1e-6)
    assert solution.converged, solution.summary()
    low, high = case.reference()
    assert solution.certificate.dual <= high * (1 + 1e-9)
    assert solution.certificate.primal >= low * (1 - 1e-9)
    case.check(solution)
    assert solution.trace.steps[-1] == solution.n_passes


def test_it_looks_as_soon_as_the_goal_is_reached_and_not_before():
    case = make_case(6, m=70)
    solution = solve(case.problem, SVMPerf(), tol=1e-4)
    assert solution.converged
    state, gaps = SVMPerf().start(case.problem, SEED), []
    for _ in range(int(solution.n_passes)):
        gaps.append(SVMPerf().advance(case.problem, state, 1, -1.0).gap_estimate)
    assert gaps[-1] <= 1e-4
    assert min(gaps[:-1]) > 0.9e-4


def test_without_a_way_on_it_says_so():
    case = make_case(4, m=30)
    solution = solve(case.problem, SVMPerf(), tol=0.0, max_passes=3000)
    assert solution.status in ("converged", "stalled")
    assert solution.certificate.relative_gap < 1e-9


def test_no_row_may_be_empty_or_all_may():
    problem = Problem(np.zeros((3, 2)), [1, -1, 1], C=2.0)
    solution = solve(problem, SVMPerf(), tol=1e-9)
    assert solution.converged
    assert solution.certificate.primal == 6.0


def test_rows_that_can_be_separated_leave_a_part_to_no_plane():
    problem = Problem(np.array([[2.0], [-3.0], [4.0]]), [1, -1, 1], C=100.0)
    solution = solve(problem, SVMPerf(), tol=1e-9)
    assert solution.converged
    np.testing.assert_allclose(solution.w, [0.5])
    assert solution.state.planes.shares.sum() < 0.5


def test_products_that_overflow_are_noticed_and_no_nan_is_returned():
    X = np.random.default_rng(0).standard_normal((30, 4)) * 1e160
    solution = solve(Problem(X / 1e10, np.sign(X[:, 0]), lam=1e-10), SVMPerf(), tol=1e-3)
    assert solution.status == "diverged"
    assert np.isfinite(solution.w).all()
    assert any("the largest row has norm" in note for note in solution.trace.notes)


@pytest.mark.parametrize("keep", [0, 2.5, -1])
def test_refuses_in_one_sentence(keep):
    with pytest.raises(ValueError, match=f"keep must be a positive whole number, not {keep}"):
        SVMPerf(keep=keep)
