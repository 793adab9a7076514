"""Pegasos is the paper's Figure 1, in every variant."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from problems import make_case

from pegasos import Pegasos, Problem, figure1, solve
from pegasos.losses import LOSSES
from pegasos.solvers.pegasos import LARGEST, NU, POSITION, SCALE

SEED = np.random.SeedSequence(5)
M = 23


def data(bias="none", loss="hinge"):
    rng = np.random.default_rng(6)
    X = rng.standard_normal((M, 4)) * (rng.random((M, 4)) < 0.8)
    score = X @ [1.0, -1.0, 0.5, 0.2] + 0.4 * rng.standard_normal(M) + 0.2
    y = np.where(score > 0, 1.0, -1.0) if LOSSES[loss].labels else score
    return X, y


def twin(X, y, lam, batches, divisor, project, bias_rate=0.0, exact=False):
    """Yield (w, b) after every step: figure1's box with the paper's biases and MATH's divisor."""
    w, b = np.zeros(X.shape[1]), 0.0
    for t, A in enumerate(batches, start=1):
        eta = 1 / (lam * t)
        z = X[A] @ w
        if exact:
            both = np.unique(y[A]).size == 2
            if both:
                b = naive.best_bias(z, y[A], np.ones(len(A)), "hinge")
            g = balanced_subgradient(z + b, y[A]) if both else np.zeros(len(A))
        else:
            g = np.where(y[A] * (z + b) < 1, -y[A], 0.0)
        w = (1 - eta * lam) * w - (eta / divisor) * (g @ X[A])
        b = b - bias_rate * (eta / divisor) * g.sum()
        if project:
            norm = np.linalg.norm(w)
            w = w * min(1.0, 1 / (math.sqrt(lam) * norm)) if norm > 0 else w
        yield w, b


def balanced_subgradient(z, y):
    """−y α for α in [0, 1] that is 1 on errors, 0 off them, and balances the sum at the kinks."""
    margin = y * z
    kinks = np.abs(margin - 1) < 1e-9
    low = np.where(margin < 1, -y, 0.0)
    low[kinks], high = np.minimum(-y, 0.0)[kinks], np.where(margin < 1, -y, 0.0)
    high[kinks] = np.maximum(-y, 0.0)[kinks]
    gap = high.sum() - low.sum()
    fraction = -low.sum() / gap if gap > 0 else 0.0
    return low + min(max(fraction, 0.0), 1.0) * (high - low)


def steps_of(problem, solver, n, size):
    """(w, b) after each of n steps, and the rows of each batch, as the solver drew them."""
    state = solver.start(problem, SEED)
    for _ in range(n):
        solver.advance(problem, state, 1, -1.0)
        answer = solver.answer(problem, state)
        yield answer.w, answer.b, state


def drawn_batches(problem, solver, n, k):
    """The batches, read from the order that the solver keeps."""
    state = solver.start(problem, SEED)
    batches = []
    for _ in range(n):
        position = int(state.run[POSITION])
        solver.advance(problem, state, 1, -1.0)
        batches.append(state.order[position : position + k].astype(int).copy())
    return batches


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("project", [True, False])
@pytest.mark.parametrize("order", ["iid", "cycle", "shuffle-once", "shuffle"])
@pytest.mark.parametrize("k", [1, 2, 7, M])
def test_equals_figure_1_after_every_step(k, order, project, storage):
    X, y = data()
    problem = Problem(sp.csr_array(X) if storage == "csr" else X, y, lam=0.03)
    solver = Pegasos(batch=k, order=order, project=project)
    n = 60
    batches = drawn_batches(problem, solver, n, k)
    divisor = k if order == "iid" else M / math.ceil(M / k)
    expected = [w for w, _ in twin(X, y, 0.03, batches, divisor, project)]
    if divisor == k:
        plain = list(figure1(X, y, 0.03, batches, project))
        np.testing.assert_allclose(expected, plain, rtol=1e-12, atol=1e-12)
    for t, (w, _, state) in enumerate(steps_of(problem, solver, n, k)):
        np.testing.assert_allclose(w, expected[t], rtol=1e-10, atol=1e-11)
        assert state.run[NU] == pytest.approx(w @ w, rel=1e-9, abs=1e-11)


def test_iid_batches_draw_every_row_alike():
    X, y = data()
    problem = Problem(X, y, lam=0.03)
    counts = np.bincount(
        np.concatenate(drawn_batches(problem, Pegasos(batch=7, order="iid"), 2000, 7)), minlength=M
    )
    expected = 2000 * 7 / M
    assert np.abs(counts - expected).max() < 6 * math.sqrt(expected)


@pytest.mark.parametrize("k", [1, 2, 7, M])
def test_penalised_bias_is_a_constant_feature(k):
    X, y = data()
    solver = Pegasos(batch=k, order="cycle")
    problem = Problem(X, y, lam=0.03, bias="feature", intercept_scaling=1.5)
    wide = np.column_stack([X, np.full(M, 1.5)])
    batches = drawn_batches(problem, solver, 40, k)
    expected = twin(wide, y, 0.03, batches, M / math.ceil(M / k), True)
    for (w, _, _), (right, _) in zip(steps_of(problem, solver, 40, k), expected):
        np.testing.assert_allclose(w, right, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("project", [True, False])
@pytest.mark.parametrize("k", [1, 2, 7, M])
def test_free_bias_by_its_sub_gradient(k, project):
    X, y = data()
    solver = Pegasos(batch=k, bias_rate=0.3, project=project)
    problem = Problem(X, y, lam=0.03, bias="free")
    batches = drawn_batches(problem, solver, 40, k)
    expected = twin(X, y, 0.03, batches, M / math.ceil(M / k), project, bias_rate=0.3)
    for (w, b, _), (right, right_b) in zip(steps_of(problem, solver, 40, k), expected):
        np.testing.assert_allclose(w, right, rtol=1e-10, atol=1e-11)
        assert b == pytest.approx(right_b, rel=1e-10, abs=1e-11)


@pytest.mark.parametrize("project", [True, False])
@pytest.mark.parametrize("k", [2, 7, M])
def test_exact_bias_inside_each_batch(k, project):
    X, y = data()
    solver = Pegasos(batch=k, bias_step="exact", project=project)
    problem = Problem(X, y, lam=0.03, bias="free")
    batches = drawn_batches(problem, solver, 40, k)
    expected = twin(X, y, 0.03, batches, M / math.ceil(M / k), project, exact=True)
    for (w, b, state), (right, right_b) in zip(steps_of(problem, solver, 40, k), expected):
        np.testing.assert_allclose(w, right, rtol=1e-9, atol=1e-10)
        assert b == pytest.approx(right_b, rel=1e-9, abs=1e-10)
        assert abs(state.counts.sum()) <= 1e-9 * np.abs(state.counts).sum() + 1e-12


def test_average_and_random_output():
    X, y = data()
    problem = Problem(X, y, lam=0.03)
    average = Pegasos(batch=7, order="cycle", output="average", w1=[1.0, 2.0, 0.5, 0.1])
    state = average.start(problem, SEED)
    last = Pegasos(batch=7, order="cycle", w1=[1.0, 2.0, 0.5, 0.1])
    other = last.start(problem, SEED)
    past = [np.array([1.0, 2.0, 0.5, 0.1])]
    for _ in range(30):
        average.advance(problem, state, 1, -1.0)
        np.testing.assert_allclose(
            average.answer(problem, state).w, np.mean(past, axis=0), rtol=1e-10, atol=1e-12
        )
        last.advance(problem, other, 1, -1.0)
        past.append(last.answer(problem, other).w)
    # w_r for a random r: it is one of the iterates, and over seeds it is many of them.
    found = set()
    for seed in range(40):
        solver = Pegasos(batch=7, order="cycle", steps=30, output="random", w1=past[0])
        w = solve(problem, solver, tol=None, seed=seed).w
        near = [t for t, right in enumerate(past[:30]) if np.allclose(w, right, atol=1e-10)]
        assert len(near) == 1
        found.add(near[0])
    assert len(found) > 15


def test_starting_vector_decides_the_first_margin_and_is_then_forgotten():
    X, y = data()
    problem = Problem(X, y, lam=0.03)
    w1 = np.array([3.0, -2.0, 1.0, 0.5])
    solver = Pegasos(order="cycle", w1=w1)
    state = solver.start(problem, SEED)
    np.testing.assert_allclose(solver.answer(problem, state).w, w1)
    solver.advance(problem, state, 1, -1.0)
    violates = y[0] * (X[0] @ w1) < 1
    expected = min(1.0, 1 / (math.sqrt(0.03) * np.linalg.norm(X[0] / 0.03))) * y[0] * X[0] / 0.03
    np.testing.assert_allclose(solver.answer(problem, state).w, expected * violates, atol=1e-12)


def test_steps_not_only_whole_passes():
    X, y = data()
    solution = solve(Problem(X, y, lam=0.03), Pegasos(steps=31), tol=None)
    assert solution.status == "finished"
    assert solution.n_passes == pytest.approx(31 / M)


def test_errors_over_presentations_are_dual_variables_after_whole_epochs():
    X, y = data()
    problem = Problem(X, y, lam=0.03)
    solver = Pegasos(order="shuffle", project=False)
    state = solver.start(problem, SEED)
    for epoch in range(1, 6):
        solver.advance(problem, state, M, -1.0)
        alpha = state.run[SCALE] * state.counts * y
        assert (alpha >= 0).all()
        assert (alpha <= problem.C * (1 + 1e-12)).all()
        np.testing.assert_allclose(np.rint(alpha * epoch / problem.C), alpha * epoch / problem.C)
        answer = solver.answer(problem, state)
        np.testing.assert_allclose(answer.w, X.T @ answer.beta, atol=1e-10)


def test_bound_with_batches_and_projection_holds_for_every_batch_size():
    X, y = data()
    problem = Problem(X, y, lam=0.03)
    best = solve(problem, tol=1e-9).certificate.dual
    for k in range(1, M + 1):
        for passes in (1, 2.3, 4):
            proof = solve(problem, Pegasos(batch=k), tol=None, max_passes=passes).certificate
            assert proof.dual <= best * (1 + 1e-9)
            assert proof.primal >= best * (1 - 1e-9)


def test_largest_sub_gradient_and_the_bound_from_it():
    X, y = data()
    problem, solver = Problem(X, y, lam=0.03), Pegasos(batch=7, order="cycle")
    batches = drawn_batches(problem, solver, 20, 7)
    iterates = [np.zeros(4), *(w for w, _ in twin(X, y, 0.03, batches, M / 4, True))]
    norms = []
    for A, w in zip(batches, iterates):
        pull = np.where(y[A] * (X[A] @ w) < 1, y[A], 0.0) @ X[A] / (M / 4)
        norms.append(np.linalg.norm(0.03 * w - pull))
    *_, (_, _, state) = steps_of(problem, solver, 20, 7)
    assert math.sqrt(state.run[LARGEST]) == pytest.approx(max(norms), rel=1e-9)
    expected = max(norms) ** 2 * (1 + math.log(20)) / (2 * 0.03 * 20)
    assert solver.measured_bound(problem, state) == pytest.approx(expected)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", ["none", "feature", "free"])
def test_every_loss_converges_from_any_scale(loss, bias):
    case = make_case(21, loss=loss, bias=bias, m=70)
    X, y = 30.0 * case.X[:, : case.problem.intake.n_features], case.y
    problem = Problem(X, y, lam=0.5, loss=loss, bias=bias)
    solution = solve(problem, Pegasos(), tol=0.02, max_passes=20_000)
    best = solve(problem, tol=1e-9).certificate
    assert np.isfinite(solution.w).all()
    assert solution.certificate.dual <= best.primal * (1 + 1e-9)
    assert solution.certificate.primal <= best.primal * 1.05 + 1e-9 * problem.zero_objective


def test_projection_uses_the_ball_of_the_loss():
    X, y = data(loss="epsilon_insensitive")
    problem = Problem(X, 1000.0 * y, lam=0.01, loss="epsilon_insensitive")
    best = solve(problem, tol=1e-9)
    assert problem.lam * (best.w @ best.w) > 1.0  # the hinge's ball would cut the optimum off
    solution = solve(problem, Pegasos(), tol=0.05, max_passes=20_000)
    assert solution.converged


def test_warm_start_goes_on_from_any_answer():
    X, y = data()
    problem = Problem(X, y, lam=0.03)
    good = solve(problem, tol=1e-9)
    cold = solve(problem, Pegasos(), tol=None, max_passes=1)
    warm = solve(problem, Pegasos(), tol=None, max_passes=1, warm=good)
    assert warm.certificate.primal < cold.certificate.primal


def test_overflow_is_reported_and_the_last_good_answer_kept():
    X, y = data()
    problem = Problem(1e140 * X, y, lam=1e-30, bias="free")
    solution = solve(problem, Pegasos(project=False, bias_rate=1e300), tol=1e-3, max_passes=50)
    assert solution.status in ("diverged", "max_passes")
    assert np.isfinite(solution.w).all()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"batch": 0}, "batch must be a positive integer"),
        ({"batch": 2.5}, "batch must be a positive integer"),
        ({"steps": 0}, "steps must be an integer"),
        ({"order": "random"}, "order must be one of iid, cycle"),
        ({"output": "best"}, "output must be one of last"),
        ({"output": "random"}, "give steps"),
        ({"bias_step": "newton"}, "bias_step must be one of"),
        ({"bias_rate": 0.0}, "bias_rate must be positive"),
    ],
)
def test_bad_options_get_a_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        Pegasos(**options)


@pytest.mark.parametrize(
    ("solver", "bias", "sentence"),
    [
        (Pegasos(batch=M + 1), "none", f"more than the {M} rows"),
        (Pegasos(bias_step="exact", batch=1), "free", "learns nothing from batches of one row"),
        (Pegasos(bias_step="exact", batch=5), "none", "for a free bias"),
        (Pegasos(w1=[1.0]), "none", "must hold 4 finite numbers"),
        (Pegasos(w1=[1e3, 0, 0, 0]), "none", "outside the ball"),
    ],
)
def test_a_mismatch_is_refused_before_any_work(solver, bias, sentence):
    X, y = data()
    with pytest.raises(ValueError, match=sentence):
        solve(Problem(X, y, lam=0.03, bias=bias), solver)


@pytest.mark.parametrize("loss", ["squared_hinge", "squared_epsilon_insensitive"])
def test_squared_losses_with_a_free_bias_and_short_rows_do_not_diverge(loss):
    X, y = data(loss=loss)
    problem = Problem(0.1 * X, y, lam=1e-3, loss=loss, bias="free")
    solution = solve(problem, Pegasos(), tol=1e-2, max_passes=300)
    assert solution.status != "diverged"
    assert solution.certificate.primal < problem.zero_objective


def test_no_bound_from_the_sub_gradients_where_no_lemma_holds():
    X, y = data()
    for problem, warm in (
        (Problem(X, y, lam=0.03, bias="free"), None),
        (Problem(X, y, lam=0.03, loss="squared_hinge"), None),
        (Problem(X, y, lam=0.03), solve(Problem(X, y, lam=0.03)).answer),
    ):
        state = Pegasos().start(problem, SEED, warm)
        Pegasos().advance(problem, state, 5, -1.0)
        with pytest.raises(ValueError, match="from their first step"):
            Pegasos().measured_bound(problem, state)
