"""SGD-r, SGD-s and SGD-m: their steps, their dual variables, their options."""

from __future__ import annotations

from fractions import Fraction

import naive
import numpy as np
import pytest
from one_row import SEED, make, presentations, state_after
from problems import make_case

from pegasos import SGDM, SGDR, SGDS, Problem, solve
from pegasos.certificate import certify
from pegasos.solvers import one_row
from pegasos.solvers.sgd_m import errors_at_once

CASES = [make("hinge"), make("hinge", weighted=True)]
SOLVERS = [
    SGDR(),
    SGDS(),
    SGDS(order="cycle"),
    SGDM(times=3, every=2),
    SGDM(times=4, every=1, order="shuffle-once"),
]
NAMES = ["r", "s", "s-cycle", "m-3-2", "m-4-1"]
VISITS = 90  # nearly four passes

each = pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
one_of_each = pytest.mark.parametrize("make_solver", [SGDR, SGDS, SGDM])


def times_of_visits(solver, m: int) -> np.ndarray:
    """How often each visit presents its row."""
    if not isinstance(solver, SGDM):
        return np.ones(VISITS, dtype=int)
    epochs = np.arange(VISITS) // m + 1
    return np.where(epochs % solver.every == 0, solver.times, 1)


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("case", CASES, ids=str)
@each
def test_equals_plain_stochastic_gradient_descent_after_every_visit(solver, case, storage):
    problem, m = case.problem(storage), case.y.size
    times = times_of_visits(solver, m)
    order = np.repeat(presentations(problem, solver, VISITS), times)
    twin = list(naive.sgd(case.X, case.y, case.weights, case.lam, order))
    for visit, t in enumerate(np.cumsum(times), start=1):
        state = state_after(problem, solver, visit)
        answer = solver.answer(problem, state)
        w, errors = twin[t - 1]
        np.testing.assert_allclose(answer.w, w, rtol=1e-9, atol=1e-10)
        rates = errors / np.maximum(np.bincount(order[:t], minlength=m), 1)
        cost = case.weights / (case.lam * m)
        np.testing.assert_allclose(answer.beta, cost * rates * case.y, rtol=1e-12)
        found = solver.findings(problem, state)["error_rates"]
        np.testing.assert_allclose(found, rates, rtol=1e-12)
        assert solver.steps_done(problem, state) == t


@pytest.mark.parametrize("epochs", [1, 2, 3])
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("solver", SOLVERS[1:], ids=NAMES[1:])
def test_after_whole_epochs_the_bound_is_the_one_of_the_paper(solver, case, epochs):
    problem, m = case.problem("dense"), case.y.size
    times = times_of_visits(solver, m)[: epochs * m]
    order = np.repeat(presentations(problem, solver, epochs * m), times)
    w, errors = list(naive.sgd(case.X, case.y, case.weights, case.lam, order))[-1]
    T = order.size / m
    bound = case.weights @ errors / (case.lam * m * T) - 0.5 * w @ w
    view = certify(problem, solver.answer(problem, state_after(problem, solver, epochs * m)))
    np.testing.assert_allclose(view.certificate.dual, bound, rtol=1e-10)
    np.testing.assert_allclose(view.w_beta, w, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("times", range(1, 8))
def test_the_errors_of_several_presentations_at_once_are_counted_exactly(times):
    for quarter_growth in range(25):
        growth = Fraction(quarter_growth, 4)
        for quarter_excess in range(-40, 41):
            excess = Fraction(quarter_excess, 4)
            now, errors = excess, 0
            for _ in range(times):
                errors += now <= 0
                now += growth - 1 if now <= 0 else -1
            assert errors_at_once(float(excess), float(growth), float(times)) == errors


def test_presenting_once_at_once_is_sgd_s():
    problem = CASES[1].problem("csr")
    few, once = (state_after(problem, s, 80) for s in (SGDM(times=1, every=1), SGDS()))
    np.testing.assert_allclose(few.v, once.v, rtol=1e-12)
    np.testing.assert_array_equal(few.numbers, once.numbers)


@one_of_each
def test_rows_inside_the_margin_are_always_errors_and_those_beyond_it_never(make_solver):
    case = make("hinge", m=300)
    problem = case.problem("dense")
    best = solve(problem, "dual-ascent", tol=1e-8)
    margins = case.y * (case.X @ best.w)
    solution = solve(problem, make_solver(), tol=None, max_passes=400)
    rates = solution.findings["error_rates"]
    assert (margins < 0.8).sum() > 20
    assert (margins > 1.2).sum() > 20
    assert rates[margins < 0.8].min() > 0.95
    assert rates[margins > 1.2].max() < 0.05


@pytest.mark.parametrize("bias", ["none", "feature"])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(
    ("solver", "tol"), [(SGDR(), 5e-3), (SGDS(), 1e-3), (SGDM(), 1e-3)], ids=["r", "s", "m"]
)
def test_stops_at_the_tolerance_and_near_the_optimum(solver, tol, weighted, bias):
    if weighted:  # over three decades: the heaviest row sets the noise
        tol = 2e-2
    case = make_case(8, bias=bias, weighted=weighted, m=400)
    best = solve(case.problem, tol=1e-6).certificate
    solution = solve(case.problem, solver, tol=tol, max_passes=3000)
    assert solution.converged
    case.check(solution)
    assert best.dual <= solution.certificate.primal <= (1 + tol) * best.primal
    assert solution.certificate.dual <= best.primal


@one_of_each
def test_starts_where_an_answer_was(make_solver):
    case = make_case(3, weighted=True)
    best = solve(case.problem, tol=1e-6)
    solver = make_solver()
    state = solver.start(case.problem, SEED, best.answer)
    answer = solver.answer(case.problem, state)
    np.testing.assert_allclose(answer.w, case.X.T @ answer.beta[case.problem.which], atol=1e-10)
    np.testing.assert_allclose(answer.beta, best.answer.beta, rtol=1e-12)
    assert certify(case.problem, answer).certificate.relative_gap < 1e-4
    alone = solver.answer(case.problem, solver.start(case.problem, SEED, answer_without_beta(best)))
    np.testing.assert_allclose(alone.w, best.answer.w, rtol=1e-12)


def answer_without_beta(solution):
    return type(solution.answer)(solution.answer.w, 0.0, None)


@one_of_each
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_single_precision_rounds_a_and_the_certificate_knows(make_solver, storage, tmp_path):
    case = make_case(5, bias="feature", storage=storage, m=200)
    double, single = (
        solve(case.problem, make_solver(single=s), tol=None, max_passes=40) for s in (False, True)
    )
    assert single.state.v.dtype == np.float32
    assert single.w.dtype == np.float64
    assert (single.w != double.w).any()
    np.testing.assert_allclose(single.w, double.w, atol=1e-2 * np.abs(double.w).max())
    case.check(single)
    path = tmp_path / "run.npz"
    solver = make_solver(single=True)
    solve(case.problem, solver, tol=None, max_passes=13.5, checkpoint=path)
    again = solve(case.problem, solver, tol=None, max_passes=40, resume=path)
    np.testing.assert_array_equal(again.w, single.w)
    np.testing.assert_array_equal(again.alpha, single.alpha)


@one_of_each
def test_look_below_is_the_multiple_of_the_tolerance_at_which_to_look(make_solver, monkeypatch):
    monkeypatch.setattr(one_row, "BURST", 1)
    problem, m = CASES[0].problem("dense"), CASES[0].y.size
    estimates, looks = [], []
    for factor in (1, 4, 1e12):
        solver = make_solver(look_below=factor)
        state = state_after(problem, solver, 10 * m - 1)
        estimates.append(solver.advance(problem, state, 1, -1.0).gap_estimate)
        looks.append(len(solve(problem, solver, tol=1e-6, max_passes=40).trace))
    assert 0 < estimates[0] < np.inf
    np.testing.assert_allclose(estimates[1:], [estimates[0] / 4, estimates[0] / 1e12])
    assert looks[2] == 40
    assert looks[0] < looks[2]


def test_sgd_r_draws_each_row_by_itself_and_stops_after_its_steps():
    problem, m = CASES[0].problem("dense"), CASES[0].y.size
    rows = presentations(problem, SGDR(), m)
    assert np.unique(rows).size < m
    solution = solve(problem, SGDR(steps=3 * m + 5), tol=None)
    assert solution.status == "finished"
    assert solution.trace.steps[-1] == 3 * m + 5
    with pytest.raises(TypeError, match="order"):
        SGDR(order="cycle")


def test_sgd_m_stops_at_the_end_of_a_row_s_presentations():
    problem, m = CASES[0].problem("dense"), CASES[0].y.size
    solution = solve(problem, SGDM(steps=m + 4, times=3, every=2), tol=None)
    assert solution.status == "finished"
    assert solution.trace.steps[-1] == m + 6


@one_of_each
def test_coefficients_that_overflow_are_noticed(make_solver):
    X = np.array([[1e150], [-1e150], [2e150]])
    problem = Problem(X, [1, -1, 1], lam=1e-200)
    solution = solve(problem, make_solver(steps=20), tol=None)
    assert solution.status == "diverged"
    assert np.isfinite(solution.w).all()
    assert any("the largest row has norm 2e+150" in note for note in solution.trace.notes)


@pytest.mark.parametrize(
    ("make_solver", "options", "sentence"),
    [
        (
            SGDS,
            {"order": "iid"},
            "order must be one of shuffle, .*rows drawn independently are SGDR",
        ),
        (SGDM, {"order": "iid"}, "sgd-m goes by epochs"),
        (SGDS, {"steps": 0}, "steps must be a positive whole number, not 0"),
        (SGDR, {"look_below": 0}, "look_below must be a positive number such as 1, not 0"),
        (SGDS, {"look_below": "often"}, "look_below must be a positive number .*, not 'often'"),
        (SGDM, {"single": "float32"}, "single must be True or False, not 'float32'"),
        (SGDM, {"times": 0}, "times must be a positive whole number, not 0"),
        (SGDM, {"every": 1.5}, "every must be a positive whole number, not 1.5"),
    ],
)
def test_refuses_in_one_sentence(make_solver, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        make_solver(**options)


@one_of_each
def test_refuses_other_losses(make_solver):
    problem = Problem(np.eye(3), [1, -1, 1], lam=0.1, loss="logistic")
    with pytest.raises(ValueError, match="cannot solve loss 'logistic'; it can do hinge"):
        solve(problem, make_solver())
