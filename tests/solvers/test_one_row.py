"""What all methods that read one row at a time have in common, and NORMA."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from one_row import CASES, presentations, state_after

from pegasos import Norma, Problem, solve
from pegasos.solvers.one_row import COUNT, ORDERS

SEED = np.random.SeedSequence(5)


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("project", [True, False])
@pytest.mark.parametrize("steps", [None, 90])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_norma_equals_its_twin_after_every_step(case, steps, project, storage):
    problem = case.problem(storage)
    solver = Norma(steps=steps, project=project)
    p = math.sqrt(0.5) if steps is None else 0.5 * math.sqrt(2 + 0.5 * steps**-0.5)
    radius = math.sqrt(problem.radius / problem.lam) if project else math.inf
    order = presentations(problem, solver, 90)
    wanted = naive.norma(case.X, case.y, case.weights, case.lam, case.loss, order, p, radius)
    for t, w in enumerate(wanted, start=1):
        state = state_after(problem, solver, t)
        answer = solver.answer(problem, state)
        np.testing.assert_allclose(answer.w, w, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(case.X.T @ answer.beta, w, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("order", ORDERS)
def test_the_rows_come_in_the_order_that_is_asked_for(order):
    case = CASES[0]
    problem, m = case.problem("dense"), case.y.size
    seen = presentations(problem, Norma(order=order), 2 * m).reshape(2, m)
    everyone = np.arange(m)
    if order == "cycle":
        assert (seen == everyone).all()
    elif order == "iid":
        assert np.unique(seen[0]).size < m
    else:
        assert (np.sort(seen, axis=1) == everyone).all()
        assert (seen[0] == seen[1]).all() == (order == "shuffle-once")


def test_a_step_that_grows_without_end_is_noticed_and_no_nan_is_returned():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4)) * 1e160
    problem = Problem(X / 1e10, np.sign(X[:, 0]), lam=1e-200)
    solution = solve(problem, Norma(), tol=1e-3, max_passes=200)
    assert solution.status == "diverged"
    assert np.isfinite(solution.w).all()
    assert any("the largest row has norm" in note for note in solution.trace.notes)


def test_counts_of_rows_without_weight_stay_zero():
    X, y = np.eye(4), np.array([1.0, -1.0, 1.0, -1.0])
    problem = Problem(X, y, lam=0.1, weights=[1, 0, 2, 1])
    state = state_after(problem, Norma(), 30)
    assert state.numbers[1, COUNT] == 0.0
    assert state.v[1] == 0.0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"order": "sorted"}, "order must be one of shuffle, shuffle-once, cycle, iid"),
        ({"steps": 0}, "steps must be a positive whole number, not 0"),
        ({"steps": 2.5}, "steps must be a positive whole number, not 2.5"),
    ],
)
def test_refuses_in_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        Norma(**options)


@pytest.mark.parametrize("loss", ["squared_hinge", "squared_epsilon_insensitive"])
def test_norma_refuses_slopes_without_bound(loss):
    problem = Problem(sp.csr_array(np.eye(3)), [1, -1, 1], lam=0.1, loss=loss)
    with pytest.raises(ValueError, match=f"norma cannot solve loss '{loss}'; it can do"):
        solve(problem, Norma())
