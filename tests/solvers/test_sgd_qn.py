"""SGD-QN against its twin, its estimate of the curvature, and what it is good for."""

from __future__ import annotations

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from one_row import CASES, SEED, check_steps, make, overlapping, presentations, state_after

from pegasos import SGDQN, SVMSGD, Problem, solve
from pegasos.losses import LOSSES

EVERY_LOSS = [*CASES, make("squared_hinge", weighted=True), make("squared_epsilon_insensitive")]
in_plain_python_overflow_warns = pytest.mark.filterwarnings("ignore:.*encountered in scalar")


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize(("skip", "eta0"), [(1, 0.5), (4, 0.5), (16, 0.05), (4, 0.005)])
@pytest.mark.parametrize("case", EVERY_LOSS, ids=str)
def test_it_equals_its_twin_after_every_step(case, skip, eta0, storage):
    if case.loss.startswith("squared"):
        eta0 /= 10.0
    problem, solver = case.problem(storage), SGDQN(skip=skip, eta0=eta0)
    order = presentations(problem, solver, 120)
    wanted = naive.sgd_qn(case.X, case.y, case.weights, case.lam, case.loss, order, eta0, skip)
    check_steps(problem, solver, case, order, wanted)


def test_without_curvature_it_is_svmsgd():
    case = make("hinge")
    problem = Problem(case.X, 1e6 * np.ones(case.y.size), lam=0.03, loss="epsilon_insensitive")
    quasi = state_after(problem, SGDQN(skip=1, eta0=0.1), 100)
    plain = state_after(problem, SVMSGD(eta0=0.1), 100)
    lengths = quasi.second[: problem.d]
    np.testing.assert_allclose(lengths, 1.0 / (0.03 * (99 + 1.0 / (0.03 * 0.1))), rtol=1e-12)
    w = SVMSGD(eta0=0.1).answer(problem, plain).w
    np.testing.assert_allclose(SGDQN(skip=1).answer(problem, quasi).w, w, rtol=1e-9)


def test_where_rows_share_no_feature_the_curvatures_are_those_of_the_loss():
    rng = np.random.default_rng(3)
    X = np.zeros((600, 3))
    feature = rng.choice(3, size=600, p=[0.6, 0.3, 0.1])
    X[np.arange(600), feature] = rng.choice([1.0, 2.0], 600) * np.array([1.0, 0.5, 0.5])[feature]
    y = X @ [1.0, 2.0, -3.0] + rng.standard_normal(600)
    problem = Problem(X, y, lam=0.1, loss="squared_epsilon_insensitive")
    solver = SGDQN(eta0=0.1, skip=1, order="iid")
    state = state_after(problem, solver, 60_000)
    curvature = 1.0 / (state.second[:3] * 60_000)
    # The w⁻ of every step is known, so each row shows 2 x_j²; with λ where a feature is absent.
    np.testing.assert_allclose(curvature, 0.1 + np.mean(2.0 * X**2, axis=0), rtol=0.03)


@pytest.mark.parametrize("loss", ["squared_hinge", "squared_epsilon_insensitive"])
def test_curvature_above_lambda_brings_it_nearer_than_svmsgd(loss):
    problem = overlapping(loss=loss, lam=1e-3)
    best = solve(problem, "dual-ascent", tol=1e-8).certificate.primal
    quasi, plain = (
        solve(problem, solver, tol=None, max_passes=30, look_at=[30])
        for solver in (SGDQN(), SVMSGD())
    )
    assert quasi.trace.primal[-1] - best < 0.1 * (plain.trace.primal[-1] - best)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_it_comes_near_the_optimum_and_proves_it(loss):
    problem = overlapping(loss=loss, lam=1e-3)
    best = solve(problem, "dual-ascent", tol=1e-6).certificate.primal
    solution = solve(problem, SGDQN(), tol=None, max_passes=100)
    assert solution.certificate.primal <= 1.005 * best
    assert solution.certificate.relative_gap <= 0.02


def test_skip_follows_the_sparsity():
    rng = np.random.default_rng(0)
    dense = Problem(rng.standard_normal((50, 30)), np.resize([1, -1], 50), lam=0.1)
    assert SGDQN().at_once(dense) == 16
    X = sp.random_array((200, 1000), density=0.01, rng=rng, format="csr")
    sparse = Problem(X, np.resize([1, -1], 200), lam=0.1)
    assert SGDQN().at_once(sparse) == 1600
    assert SGDQN(skip=5).at_once(sparse) == 5
    solution = solve(sparse, SGDQN(), tol=None, max_passes=60)
    assert solution.findings["eta0"] <= 1.0 / (2 * 1600 * 0.1)
    assert solution.certificate.primal < 0.99 * sparse.zero_objective


def test_a_warm_start_keeps_what_it_brings():
    problem = overlapping()
    before = solve(problem, "dual-ascent", tol=1e-4)
    solver = SGDQN()
    answer = solver.answer(problem, solver.start(problem, SEED, before.answer))
    np.testing.assert_allclose(answer.w, problem.rows.values.T @ before.answer.beta, rtol=1e-9)
    np.testing.assert_allclose(answer.beta, before.answer.beta, rtol=1e-12)
    state = solver.start(problem, SEED, before.answer)
    solver.advance(problem, state, 1, -1.0)
    eta0 = solver.findings(problem, state)["eta0"]
    assert eta0 > 0
    np.testing.assert_allclose(
        state.second[: problem.d], 1.0 / (1.0 / eta0 + problem.lam * problem.m), rtol=1e-12
    )


@in_plain_python_overflow_warns
def test_it_diverges_where_the_first_step_is_far_too_long_and_says_so():
    rng = np.random.default_rng(0)
    X = 1e4 * rng.standard_normal((60, 3))
    problem = Problem(X, np.where(rng.random(60) < 0.5, 1, -1), lam=1e-12, loss="squared_hinge")
    solution = solve(problem, SGDQN(eta0=1000.0, skip=1000), tol=1e-3, max_passes=100)
    assert solution.status == "diverged"
    assert np.isfinite(solution.w).all()
    assert any("the largest row has norm" in note for note in solution.trace.notes)


@pytest.mark.parametrize("skip", [0, -3, 2.5, "16"])
def test_what_is_no_number_of_steps_is_refused(skip):
    with pytest.raises(ValueError, match="skip must be a positive whole number, or None, not"):
        SGDQN(skip=skip)


def test_shrinking_that_turns_w_around_is_refused_before_any_work():
    problem = make("hinge", lam=0.25).problem("dense")
    sentence = r"1 - 8 \* eta0 \* lam, which must be positive; give eta0 below 0.5"
    with pytest.raises(ValueError, match=sentence):
        solve(problem, SGDQN(eta0=0.5, skip=8))
    solve(problem, SGDQN(eta0=0.49, skip=8), max_passes=1)
