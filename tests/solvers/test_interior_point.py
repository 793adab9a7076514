"""The interior point: each step against the whole system, and the rows that it leaves out."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from problems import make_case

from pegasos import HuberNewton, InteriorPoint, Problem, solve
from pegasos.certificate import Answer
from pegasos.solvers.interior_point import ALPHA, HIGH, LOW

SEED = np.random.SeedSequence(0)


@pytest.mark.parametrize("bias", ["none", "feature", "free"])
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_each_step_is_that_of_the_whole_system(storage, bias):
    case = make_case(3, storage=storage, bias=bias, weighted=True, m=30)
    free = bias == "free"
    X = np.column_stack([case.X, np.ones(len(case.y))]) if free else case.X
    penalty = np.ones(X.shape[1])
    if free:
        penalty[-1] = 0.0
    solver = InteriorPoint(rows="all")
    state = solver.start(case.problem, SEED)
    for _ in range(8):
        before = (state.w.copy(), *(state.numbers[:, k].copy() for k in (ALPHA, LOW, HIGH)))
        solver.advance(case.problem, state, 1, -1.0)
        expected = naive.interior_point_step(X, case.y, case.cost, *before, penalty)
        now = (state.w, *(state.numbers[:, k] for k in (ALPHA, LOW, HIGH)))
        for one, other in zip(now, expected):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("rows", ["near", "all"])
@pytest.mark.parametrize("bias", ["none", "feature", "free"])
@pytest.mark.parametrize("hard", [False, True])
def test_it_converges_to_the_last_digits(hard, bias, rows):
    for seed in range(5):
        case = make_case(seed, bias=bias, weighted=True, hard=hard, m=60)
        solution = solve(case.problem, InteriorPoint(rows=rows), tol=1e-8)
        assert solution.converged, solution.summary()
        low, high = case.reference()
        assert solution.certificate.dual <= high * (1 + 1e-9)
        assert solution.certificate.primal >= low * (1 - 1e-9)
        case.check(solution)


@pytest.fixture(scope="module")
def rough():
    case = make_case(9, bias="free", m=40_000, d=6)
    return case.problem, solve(case.problem, HuberNewton(), tol=5e-3)


def test_with_a_start_few_rows_take_part(rough):
    problem, start = rough
    near = solve(problem, InteriorPoint(), tol=1e-8, warm=start)
    whole = solve(problem, InteriorPoint(rows="all"), tol=1e-8, warm=start)
    assert near.converged
    assert whole.converged
    assert near.state.which.size < 0.2 * problem.m
    assert whole.state.which.size == problem.m
    assert near.n_passes < 0.3 * whole.n_passes
    a, b = near.certificate, whole.certificate
    assert max(a.dual, b.dual) <= min(a.primal, b.primal) * (1 + 1e-12)


def test_rows_that_were_left_out_wrongly_join_in_another_round(rough):
    problem, start = rough
    wrong = Answer(start.answer.w * 0.7, start.answer.b + 0.5, start.answer.beta)
    solution = solve(problem, InteriorPoint(), tol=1e-8, warm=wrong)
    assert solution.converged, solution.summary()
    assert solution.state.run[0] >= 1  # rounds


def test_without_a_way_on_it_says_so():
    case = make_case(4, m=30, hard=True)
    solution = solve(case.problem, InteriorPoint(), tol=0.0, max_passes=3000)
    assert solution.status in ("converged", "stalled")
    assert solution.certificate.relative_gap < 1e-9


def test_options_and_problems_that_it_cannot_do_are_refused():
    with pytest.raises(ValueError, match="rows must be 'near' or 'all'"):
        InteriorPoint(rows="some")
    with pytest.raises(ValueError, match="cannot solve loss 'logistic'; it can do hinge"):
        solve(Problem(np.eye(2), [1, -1], C=1.0, loss="logistic"), InteriorPoint())
