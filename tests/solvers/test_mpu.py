"""MPU: fixed dual steps up and down inside the box, until no row has one left."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from one_row import CASES, SEED, presentations, state_after

from pegasos import MPU, Problem, solve
from pegasos.certificate import Answer
from pegasos.solvers.one_row import COUNT

HINGE = [case for case in CASES if case.loss == "hinge"]


def twin(case, problem, solver, visits):
    """w and α after each visit."""
    order = presentations(problem, solver, visits)
    repeats = math.inf if solver.repeats is None else solver.repeats
    return list(naive.mpu(case.X, case.y, problem.cost, order, solver.accuracy, repeats))


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize(("repeats", "accuracy"), [(1, 0.5), (3, 0.2), (None, 0.05)])
@pytest.mark.parametrize("case", HINGE, ids=str)
def test_it_equals_its_twin_after_every_row(case, repeats, accuracy, storage):
    problem = case.problem(storage)
    solver = MPU(accuracy=accuracy, repeats=repeats)
    path = twin(case, problem, solver, 110)
    changes = np.diff([alpha for _, alpha in path], axis=0)
    assert (changes > 0).any()
    assert (changes < 0).any()  # it does unlearn
    for t, (w, alpha) in enumerate(path, start=1):
        answer = solver.answer(problem, state_after(problem, solver, t))
        np.testing.assert_allclose(answer.w, w, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(case.y * answer.beta, alpha, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("repeats", [1, None])
@pytest.mark.parametrize("case", HINGE, ids=str)
def test_each_step_raises_the_dual_value_by_as_much_as_is_promised(case, repeats):
    problem = case.problem("dense")
    solver = MPU(accuracy=0.05, repeats=repeats)
    path = twin(case, problem, solver, 110)
    before, alpha_before = 0.0, np.zeros(case.y.size)
    for _, alpha in path:
        dual = float(naive.dual(case.X, case.y, problem.cost, case.y * alpha, "hinge"))
        s = np.abs(alpha - alpha_before)
        eta = 0.05 / (case.X**2).sum(axis=1).max()
        promised = 0.5 * eta * float(s @ (case.X**2).sum(axis=1))
        assert dual >= before + promised - 1e-12
        before, alpha_before = dual, alpha


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("bias", ["none", "feature"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_it_reaches_the_optimum(storage, weighted, bias, single):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((200, 10)) * (rng.random((200, 10)) < 0.6)
    y = np.where(X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(200) > 0, 1, -1)
    problem = Problem(
        sp.csr_array(X) if storage == "csr" else X,
        y,
        C=1.0,
        weights=rng.uniform(0.1, 3.0, 200) if weighted else None,
        bias=bias,
    )
    best = solve(problem, tol=1e-6).certificate
    solution = solve(problem, MPU(single=single), tol=1e-3)
    assert solution.converged
    assert best.dual <= solution.certificate.primal <= best.primal * (1 + 1e-3)
    assert solution.certificate.dual >= best.primal * (1 - 2e-3)


@pytest.mark.parametrize("order", ["shuffle", "shuffle-once", "cycle"])
@pytest.mark.parametrize("case", HINGE, ids=str)
def test_it_ends_when_no_row_has_a_step_left(case, order):
    problem, accuracy = case.problem("dense"), 0.2
    solution = solve(problem, MPU(accuracy=accuracy, order=order), tol=1e-9)
    assert solution.status == "finished"
    assert "no row has a step left at accuracy=0.2" in solution.trace.notes[-1]
    norms = (case.X**2).sum(axis=1)
    zone = accuracy * norms / norms.max()
    margin, alpha = case.y * (case.X @ solution.w), solution.alpha
    assert (margin[alpha < problem.cost * (1 - 1e-9)] > 1 - 1.000001 * accuracy).all()
    assert ((margin > 1 - zone - 1e-9) | (alpha >= problem.cost * (1 - 1e-9))).all()
    assert ((margin < 1 + zone + 1e-9) | (alpha == 0)).all()
    near = np.abs(margin - 1) <= zone + 1e-9
    assert 0 < solution.certificate.gap <= accuracy * problem.cost[near].sum()


def test_a_smaller_accuracy_gives_a_smaller_gap_at_the_end():
    problem = HINGE[0].problem("dense")
    gaps = [
        solve(problem, MPU(accuracy=accuracy), tol=1e-12).certificate.relative_gap
        for accuracy in (0.3, 1e-2, 1e-4)
    ]
    assert gaps[0] > 3 * gaps[1] > 9 * gaps[2] > 0


def test_the_end_does_not_depend_on_portions():
    problem, solver = HINGE[0].problem("dense"), MPU(accuracy=0.2)
    ends = []
    for portion in (1, 7, 10**6):
        state, visits = solver.start(problem, SEED), 0.0
        for _ in range(10**5):
            report = solver.advance(problem, state, portion, -1.0)
            visits += report.visits
            if report.status == "finished":
                break
        ends.append((visits, *solver.answer(problem, state).beta))
    assert ends[0] == ends[1] == ends[2]


def test_rows_drawn_one_by_one_go_on_to_the_limit():
    problem = HINGE[0].problem("dense")
    solution = solve(problem, MPU(accuracy=0.2, order="iid"), tol=1e-9, max_passes=300)
    assert solution.status == "max_passes"
    assert solution.certificate.relative_gap < 0.1


def test_single_precision_is_that_of_w_alone():
    case = HINGE[0]
    problem = case.problem("dense")
    state = state_after(problem, MPU(single=True), 100)
    assert state.v.dtype == np.float32
    double, single = (solve(problem, MPU(single=single), tol=1e-3) for single in (False, True))
    np.testing.assert_allclose(single.w, double.w, atol=1e-2)
    assert single.w.dtype == np.float64
    assert (single.w != double.w).any()
    beta = MPU(single=True).answer(problem, state).beta
    np.testing.assert_allclose(state.v, case.X.T @ beta, atol=1e-5)
    assert (state.v != case.X.T @ beta).any()


def test_a_warm_start_keeps_w_the_sum_of_its_rows():
    case = HINGE[1]
    problem = case.problem("dense")
    before = solve(problem, "dual-ascent", tol=1e-2)
    state = MPU().start(problem, SEED, before.answer)
    np.testing.assert_allclose(state.v, case.X.T @ before.answer.beta, rtol=1e-9)
    assert state.v.any()
    state = MPU().start(problem, SEED, Answer(np.ones(problem.d), 0.0, None))
    assert not state.v.any()
    again = solve(problem, MPU(), tol=1e-3, warm=solve(problem, MPU(), tol=1e-4))
    assert again.converged
    assert again.n_passes <= 2


def test_a_row_without_features_goes_to_its_bound_at_once():
    problem = Problem(np.array([[1.0, 0.0], [0.0, 0.0], [-1.0, 2.0]]), [1, 1, -1], C=0.5)
    state = state_after(problem, MPU(order="cycle"), 2)
    assert state.numbers[1, COUNT] == pytest.approx(0.5, rel=1e-12)
    assert solve(problem, MPU(), tol=1e-3).converged


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"accuracy": 0}, "accuracy must lie between 0 and 1, not 0"),
        ({"accuracy": 1.0}, "accuracy must lie between 0 and 1, not 1.0"),
        ({"accuracy": math.nan}, "accuracy must lie between 0 and 1, not nan"),
        ({"accuracy": "high"}, "accuracy must lie between 0 and 1, not 'high'"),
        ({"repeats": 0}, "repeats must be a positive whole number, not 0"),
        ({"repeats": math.inf}, "repeats must be a positive whole number, not inf"),
        ({"single": "yes"}, "single must be True or False, not 'yes'"),
        ({"steps": 0}, "steps must be a positive whole number, not 0"),
    ],
)
def test_refuses_in_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        MPU(**options)


def test_other_losses_are_refused():
    problem = Problem(np.eye(3), [1, -1, 1], lam=0.1, loss="squared_hinge")
    with pytest.raises(ValueError, match="mpu cannot solve loss 'squared_hinge'; it can do hinge"):
        solve(problem, MPU())
