"""SVMSGD and ASGD against their twins, and how their first step is found."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from one_row import CASES, SEED, check_steps, make, overlapping, presentations, state_after

from pegasos import SVMSGD, Problem, solve
from pegasos.losses import LOSSES
from pegasos.solvers.first_step import drawn
from pegasos.solvers.one_row import T

EVERY_LOSS = [*CASES, make("squared_hinge", weighted=True), make("squared_epsilon_insensitive")]
in_plain_python_overflow_warns = pytest.mark.filterwarnings("ignore:.*encountered in scalar")


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("eta0", [0.01, 0.3, 30.0])
@pytest.mark.parametrize("case", EVERY_LOSS, ids=str)
def test_svmsgd_equals_its_twin_after_every_step(case, eta0, storage):
    if case.loss.startswith("squared"):
        eta0 /= 100.0  # a squared loss overshoots with longer ones
    problem, solver = case.problem(storage), SVMSGD(eta0=eta0)
    order = presentations(problem, solver, 120)
    wanted = naive.svmsgd(case.X, case.y, case.weights, case.lam, case.loss, order, eta0)
    check_steps(problem, solver, case, order, wanted)


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("average_from", [None, 0.0, 2.5])
@pytest.mark.parametrize("eta0", [0.3, 30.0])  # with 30 the scale becomes small, again and again
@pytest.mark.parametrize("case", EVERY_LOSS, ids=str)
def test_asgd_equals_its_twin_after_every_step(case, eta0, average_from, storage):
    if case.loss.startswith("squared"):
        eta0 /= 100.0
    problem = case.problem(storage)
    solver = SVMSGD(eta0=eta0, average=True, average_from=average_from)
    order = presentations(problem, solver, 90)
    begin = problem.m * (1.0 if average_from is None else average_from)
    wanted = naive.asgd(case.X, case.y, case.weights, case.lam, case.loss, order, eta0, begin)
    check_steps(problem, solver, case, order, wanted)


def test_the_mean_keeps_its_digits_over_many_renewals():
    case = make("hinge", lam=0.1)
    problem, solver = case.problem("dense"), SVMSGD(eta0=9.0, average=True, average_from=0.5)
    order = presentations(problem, solver, 1500)
    *_, (w, _) = naive.asgd(
        case.X, case.y, case.weights, case.lam, case.loss, order, 9.0, 0.5 * problem.m
    )
    answer = solver.answer(problem, state_after(problem, solver, 1500))
    np.testing.assert_allclose(answer.w, w, rtol=1e-11)


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("case", EVERY_LOSS, ids=str)
def test_the_first_step_is_the_one_that_its_twin_finds(case, scale, storage):
    case = make(case.loss, weighted=np.ptp(case.weights) > 0, m=400, lam=0.01)
    case.X *= scale
    problem, solver = case.problem(storage), SVMSGD()
    state = solver.start(problem, SEED)
    sample = drawn(problem, state.rng.copy())
    assert np.unique(sample).size == sample.size == 80
    longest = 1.0 / (2.0 * case.lam)
    if case.loss.startswith("squared"):
        reach = np.max(case.weights * np.sum(case.X**2, axis=1))
        longest = min(longest, 1.0 / (2.0 * reach))
    wanted = naive.first_step(case.X, case.y, case.weights, case.lam, case.loss, sample, longest)
    report = solver.advance(problem, state, 1, -1.0)
    assert report.visits >= 2 * 160  # two lengths at the least, each with a pass and a test
    assert report.visits % 160 == 0
    assert state.run[T] == 0
    np.testing.assert_allclose(solver.findings(problem, state)["eta0"], wanted, rtol=1e-12)


def test_the_search_costs_visits_and_no_steps_and_leaves_the_path_alone():
    problem = overlapping(m=300)
    found = solve(problem, SVMSGD(), tol=None, max_passes=10, seed=SEED)
    eta0 = found.findings["eta0"]
    assert 0 < found.trace.steps[-1] < 10 * 300
    state = SVMSGD().start(problem, SEED)
    other = SVMSGD(eta0=eta0).start(problem, SEED)
    np.testing.assert_array_equal(state.order, other.order)
    searched = SVMSGD().advance(problem, state, 1, -1.0).visits
    assert searched + found.trace.steps[-1] == 10 * 300
    done = SVMSGD().advance(problem, state, 500, -1.0).visits
    while done < 500:
        done += SVMSGD().advance(problem, state, int(500 - done), -1.0).visits
    np.testing.assert_array_equal(state.v, state_after(problem, SVMSGD(eta0=eta0), 500).v)


def test_few_rows_are_all_tried_and_many_are_not():
    rng = np.random.default_rng(0)
    for m, size in ((7, 7), (60, 50), (1000, 200), (9000, 1000)):
        problem = Problem(rng.standard_normal((m, 2)), np.resize([1, -1], m), lam=0.1)
        assert drawn(problem, SVMSGD().start(problem, SEED).rng).size == size


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_it_comes_near_the_optimum_and_proves_it(loss, average):
    problem = overlapping(loss=loss)
    best = solve(problem, "dual-ascent", tol=1e-6).certificate.primal
    solution = solve(problem, SVMSGD(average=average), tol=None, max_passes=100)
    assert solution.certificate.primal <= 1.001 * best
    assert solution.certificate.relative_gap <= 0.005


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_hinge"])
def test_a_mean_is_nearer_than_what_it_is_a_mean_of(loss):
    problem = overlapping(loss=loss, lam=1e-3)
    best = solve(problem, "dual-ascent", tol=1e-6).certificate.primal
    last, mean = (
        solve(problem, SVMSGD(average=True, average_from=f), tol=None, max_passes=30, look_at=[30])
        for f in (1000.0, 1.0)
    )
    assert mean.trace.primal[-1] - best < 0.2 * (last.trace.primal[-1] - best)


@pytest.mark.parametrize("average", [False, True])
def test_a_warm_start_keeps_what_it_brings(average):
    problem = overlapping()
    before = solve(problem, "dual-ascent", tol=1e-4)
    solver = SVMSGD(average=average)
    answer = solver.answer(problem, solver.start(problem, SEED, before.answer))
    np.testing.assert_allclose(answer.w, problem.rows.values.T @ before.answer.beta, rtol=1e-9)
    np.testing.assert_allclose(answer.beta, before.answer.beta, rtol=1e-12)
    after = solve(problem, solver, tol=None, max_passes=5, warm=before)
    assert after.certificate.relative_gap <= 0.02


@in_plain_python_overflow_warns
def test_a_squared_loss_diverges_where_the_first_step_is_far_too_long_and_says_so():
    rng = np.random.default_rng(0)
    X = 1e4 * rng.standard_normal((60, 3))
    y = np.where(rng.random(60) < 0.5, 1.0, -1.0)
    problem = Problem(X, y, lam=1e-9, loss="squared_hinge")
    for average in (False, True):
        solver = SVMSGD(eta0=100.0, average=average, average_from=0.0 if average else None)
        solution = solve(problem, solver, tol=1e-3, max_passes=200)
        assert solution.status == "diverged"
        assert np.isfinite(solution.w).all()
        assert any("the largest row has norm" in note for note in solution.trace.notes)
        found = solve(problem, SVMSGD(average=average), tol=None, max_passes=50)
        assert found.status == "max_passes"
        assert found.certificate.primal < 0.999 * problem.zero_objective


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"eta0": 0.0}, "eta0 must be positive and finite, or None, not 0.0"),
        ({"eta0": np.inf}, "eta0 must be positive and finite, or None, not inf"),
        ({"average": 1}, "average must be True or False, not 1"),
        ({"average_from": 2}, "give average=True with it"),
        ({"average": True, "average_from": -1}, "average_from must be zero or more passes"),
        ({"average": True, "average_from": np.inf}, "average_from must be zero or more passes"),
        ({"order": "sorted"}, "order must be one of"),
    ],
)
def test_refuses_in_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        SVMSGD(**options)


def test_a_first_step_that_turns_w_around_is_refused_before_any_work():
    problem = make("hinge", lam=0.25).problem("dense")
    with pytest.raises(ValueError, match=r"1 - eta0 \* lam, which must be positive; give eta0 bel"):
        solve(problem, SVMSGD(eta0=4.0))
    solve(problem, SVMSGD(eta0=3.9), max_passes=1)
