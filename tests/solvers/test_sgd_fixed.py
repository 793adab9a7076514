"""Stochastic gradient steps of a fixed length against their twin."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from one_row import CASES, check_steps, make, overlapping, presentations

from pegasos import Problem, SGDFixed, solve
from pegasos.losses import LOSSES

EVERY_LOSS = [*CASES, make("squared_hinge", weighted=True), make("squared_epsilon_insensitive")]
in_plain_python_overflow_warns = pytest.mark.filterwarnings("ignore:.*encountered in scalar")


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("case", EVERY_LOSS, ids=str)
def test_it_equals_its_twin_after_every_step(case, storage):
    problem, solver = case.problem(storage), SGDFixed(eta=0.02)
    order = presentations(problem, solver, 90)
    wanted = naive.sgd_fixed(case.X, case.y, case.weights, case.lam, case.loss, order, 0.02)
    check_steps(problem, solver, case, order, wanted)


def test_a_scale_that_becomes_tiny_changes_nothing():
    case = make("hinge", lam=50.0)  # w shrinks by 0.05 at every step: 1e-100 after 77 of them
    problem, solver = case.problem("dense"), SGDFixed(eta=0.019)
    order = presentations(problem, solver, 230)
    wanted = naive.sgd_fixed(case.X, case.y, case.weights, case.lam, case.loss, order, 0.019)
    check_steps(problem, solver, case, order, wanted)


def test_a_shorter_step_ends_nearer_and_arrives_later():
    problem = overlapping()
    best = solve(problem, "dual-ascent", tol=1e-6).certificate.primal

    def excess(eta, passes):
        solution = solve(problem, SGDFixed(eta=eta), tol=None, max_passes=passes, look_at=[passes])
        return solution.trace.primal[-1] / best - 1.0

    assert excess(0.1, 1) < 0.25 * excess(0.0003, 1)
    assert excess(0.0003, 100) < 0.01
    assert excess(0.0003, 100) < 0.1 * excess(0.1, 100)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_it_comes_near_the_optimum_and_proves_it(loss):
    problem = overlapping(loss=loss)
    best = solve(problem, "dual-ascent", tol=1e-6).certificate.primal
    solution = solve(problem, SGDFixed(), tol=None, max_passes=100)
    assert solution.certificate.primal <= 1.001 * best
    assert solution.certificate.relative_gap <= 0.01


@in_plain_python_overflow_warns
@pytest.mark.parametrize("loss", ["squared_hinge", "squared_epsilon_insensitive"])
def test_a_squared_loss_diverges_with_long_steps_on_unscaled_rows_and_says_so(loss):
    rng = np.random.default_rng(0)
    X = 100.0 * rng.standard_normal((60, 3))
    problem = Problem(X, np.sign(X[:, 0] + 100.0 * X[:, 1] ** 2 - 5e5), lam=1e-3, loss=loss)
    solution = solve(problem, SGDFixed(eta=1.0), tol=1e-3, max_passes=100)
    assert solution.status == "diverged"
    assert np.isfinite(solution.w).all()
    assert solution.certificate.primal <= problem.zero_objective * (1 + 1e-9)
    norm = np.sqrt(problem.squared_norms.max())
    said = [note for note in solution.trace.notes if note.startswith("diverged by step")]
    assert f"the largest row has norm {norm:g}" in said[0]
    assert solve(problem, SGDFixed(), tol=None, max_passes=100).status == "max_passes"


def test_the_default_length_follows_the_scale_of_the_rows():
    case = make("hinge", weighted=True)
    problem = case.problem("dense")
    largest = np.max(case.weights * np.sum(case.X**2, axis=1))
    solution = solve(problem, SGDFixed(), tol=None, max_passes=3)
    np.testing.assert_allclose(solution.findings["eta"], 0.01 / largest, rtol=1e-12)
    given = solve(problem, SGDFixed(eta=0.01 / largest), tol=None, max_passes=3)
    np.testing.assert_allclose(solution.w, given.w, rtol=1e-9)
    strong = Problem(case.X, case.y, lam=1e6)
    assert solve(strong, SGDFixed(), tol=None, max_passes=3).findings["eta"] == 1e-8


def test_a_length_that_turns_w_around_is_refused_before_any_work():
    problem = make("hinge", lam=0.25).problem("dense")
    with pytest.raises(ValueError, match=r"1 - eta \* lam, which must be positive; give eta below"):
        solve(problem, SGDFixed(eta=4.0))
    solve(problem, SGDFixed(eta=3.999), max_passes=1)


@pytest.mark.parametrize("eta", [0.0, -1.0, np.inf, np.nan, "0.1"])
def test_what_is_no_length_is_refused(eta):
    with pytest.raises(ValueError, match="eta must be positive and finite, or None, not"):
        SGDFixed(eta=eta)


def test_a_run_that_is_stopped_on_its_way_to_infinity_warns_of_nothing():
    X = np.array([[1e3], [1e3]])
    problem = Problem(X, [1.0, -1.0], lam=1e-3, loss="squared_hinge")
    solver = SGDFixed(eta=1.0)
    state, reports = solver.start(problem, np.random.SeedSequence(0)), []
    while not reports or reports[-1].status == "running":
        reports.append(solver.advance(problem, state, 1, 1e-3))
    assert 1e154 < np.abs(state.v).max() < np.inf
    assert reports[-1].status == "diverged"
