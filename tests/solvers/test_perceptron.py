"""The perceptron, and what it shares with the other online rule: its end, its mean, its bound."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from one_row import CASES, SEED, make, presentations, state_after

from pegasos import LinearSVC, PassiveAggressive, Perceptron, Problem, solve
from pegasos.solvers.one_row import COUNT

LABELS = [case for case in CASES if case.loss == "hinge"]


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("case", LABELS, ids=str)
def test_it_equals_its_twin_after_every_row(case, average, storage):
    problem = case.problem(storage)
    solver = Perceptron(average=average)
    order = presentations(problem, solver, 90)
    wanted = naive.perceptron(case.X, case.y, case.weights, order, average)
    for t, w in enumerate(wanted, start=1):
        answer = solver.answer(problem, state_after(problem, solver, t))
        np.testing.assert_allclose(answer.w, w, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", ["perceptron", "averaged-perceptron"])
def test_by_name_it_returns_its_own_w_after_ten_passes(name):
    case = LABELS[0]
    problem, average = case.problem("dense"), name == "averaged-perceptron"
    order = presentations(problem, Perceptron(), 10 * problem.m)
    *_, w = naive.perceptron(case.X, case.y, case.weights, order, average)
    solution = solve(problem, name, seed=SEED)
    assert solution.status == "finished"
    assert solution.n_passes == 10
    np.testing.assert_allclose(solution.w, w, rtol=1e-9)


def test_a_w_that_is_worse_than_none_is_still_its_own():
    rng = np.random.default_rng(2)
    X, y = 30 * rng.standard_normal((60, 3)), np.where(rng.random(60) < 0.5, 1.0, -1.0)
    problem = Problem(X, y, lam=1.0)
    order = presentations(problem, Perceptron(), 3 * problem.m)
    *_, w = naive.perceptron(X, y, np.ones(60), order)
    solution = solve(problem, Perceptron(passes=3), seed=SEED)
    np.testing.assert_allclose(solution.w, w, rtol=1e-9)
    assert solution.certificate.primal > problem.zero_objective


def test_on_rows_that_can_be_separated_it_stops_making_mistakes():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((200, 5))
    X = X[np.abs(X[:, 0] - X[:, 1]) > 0.5]
    y = np.sign(X[:, 0] - X[:, 1])
    problem = Problem(X, y, lam=0.01)
    solution = solve(problem, Perceptron(passes=200))
    assert (y * (X @ solution.w) > 0).all()
    again = solve(problem, Perceptron(passes=300))
    np.testing.assert_array_equal(again.w, solution.w)


@pytest.mark.filterwarnings("ignore::pegasos.ConvergenceWarning")
def test_an_estimator_takes_it_by_name():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((150, 4))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, "yes", "no")
    for name in ("perceptron", "averaged-perceptron", "passive-aggressive"):
        model = LinearSVC(solver=name, fit_intercept=False).fit(X, y)
        assert model.score(X, y) > 0.9
        assert not model.converged_


ONLINE = [
    Perceptron,
    PassiveAggressive,
    lambda **options: PassiveAggressive(variant="PA-II", C=0.2, **options),
]


@pytest.mark.parametrize("make_solver", ONLINE)
def test_steps_and_passes_say_when_it_ends(make_solver):
    problem = LABELS[0].problem("csr")
    for options, visits in (
        ({"passes": 3}, 3 * problem.m),
        ({"steps": 31}, 31),
        ({}, 10 * problem.m),
    ):
        solution = solve(problem, make_solver(**options), tol=None)
        assert solution.status == "finished"
        assert solution.n_passes * problem.m == pytest.approx(visits)
        assert solution.trace.steps[-1] == visits


@pytest.mark.parametrize("make_solver", ONLINE)
def test_a_warm_start_goes_on_from_its_w_and_counts_its_own_steps(make_solver):
    problem = LABELS[0].problem("dense")
    before = solve(problem, "dual-ascent", tol=1e-3)
    state = make_solver().start(problem, SEED, before.answer)
    np.testing.assert_allclose(state.v, LABELS[0].X.T @ before.answer.beta, rtol=1e-9)
    solver = make_solver(average=True, steps=1, order="cycle")
    solution = solve(problem, solver, tol=None, warm=before)
    last = solve(problem, make_solver(steps=1, order="cycle"), tol=None, warm=before)
    np.testing.assert_allclose(solution.w, last.w, rtol=1e-12)  # the mean of one w


@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_the_bound_is_the_best_on_the_ray_of_the_counts_if_the_box_allows(loss):
    case = make(loss, lam=1e-4)  # a wide box
    problem, solver = case.problem("dense"), PassiveAggressive(C=0.1)
    state = state_after(problem, solver, 60)
    counts = state.numbers[:, COUNT]
    np.testing.assert_allclose(case.X.T @ counts, state.v, rtol=1e-9, atol=1e-12)

    def bound(beta):
        return float(naive.dual(case.X, case.y, problem.cost, beta, loss))

    beta = solver.answer(problem, state).beta
    theta = (beta @ counts) / (counts @ counts)
    assert theta != pytest.approx(1.0, rel=1e-3)  # else its scale would be no test
    np.testing.assert_allclose(beta, theta * counts, rtol=1e-9)
    best = max(bound(t * theta * counts) for t in (0.5, 0.9, 0.99, 1.01, 1.1, 1.5))
    assert 0 < best < bound(beta)


@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_in_a_narrow_box_the_bound_is_feasible_and_cannot_be_shrunk_to_a_better_one(loss):
    case = make(loss, lam=1.0)
    problem, solver = case.problem("csr"), PassiveAggressive()
    beta = solver.answer(problem, state_after(problem, solver, 60)).beta
    assert (np.abs(beta) <= problem.cost * (1 + 1e-12)).all()
    assert np.unique(np.abs(beta[beta != 0]).round(12)).size < np.count_nonzero(beta)  # clipped
    duals = [
        float(naive.dual(case.X, case.y, problem.cost, t * beta, loss))
        for t in np.linspace(0, 1, 21)
    ]
    assert duals[-1] > 0
    assert max(duals) <= duals[-1] * (1 + 1e-12)


def test_sums_that_overflow_are_noticed_and_no_infinity_is_returned():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4)) * 1e152
    weights = np.ones(300)
    weights[7] = 1e6  # as much as all the others: some 300 times the mean
    problem = Problem(X, np.where(rng.random(300) < 0.5, 1, -1), lam=1.0, weights=weights)
    solution = solve(problem, Perceptron())
    assert solution.status == "diverged"
    assert np.isfinite(solution.w).all()
    assert any("the largest row has norm" in note for note in solution.trace.notes)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"passes": 0}, "passes must be a positive whole number, not 0"),
        ({"passes": 2.5}, "passes must be a positive whole number, not 2.5"),
        ({"passes": 2, "steps": 9}, "steps and passes both say when to end: give one of them"),
        ({"average": "yes"}, "average must be True or False, not 'yes'"),
        ({"order": "sorted"}, "order must be one of shuffle, shuffle-once, cycle, iid"),
    ],
)
def test_refuses_in_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        Perceptron(**options)


def test_tiny_rows_give_a_finite_bound():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2)) * 1e-161
    solution = solve(Problem(X, np.where(X[:, 0] > 0, 1, -1), lam=1.0), Perceptron(), tol=None)
    assert (solution.alpha == 0).any()
    assert np.isfinite(solution.alpha).all()
    assert solution.certificate.dual > 0


def test_counts_that_the_box_has_unbalanced_are_shrunk():
    """One row with ten mistakes against eight with one: the box cuts the ten."""
    y = np.array([1.0] + 8 * [-1.0])
    problem = Problem(np.ones((9, 1)), y, C=5.0)
    state = Perceptron().start(problem, SEED)
    state.numbers[:, COUNT] = [10.0] + 8 * [-1.0]
    state.v[:] = 2.0
    beta = Perceptron().answer(problem, state).beta
    cut = np.array([5.0] + 8 * [-4.5])  # the best multiple is 18/2², the box 5
    np.testing.assert_allclose(beta, cut * 41 / 31**2, rtol=1e-12)
