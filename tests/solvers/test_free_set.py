"""Steps on the free dual variables, by conjugate gradients, against dense algebra."""

from __future__ import annotations

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from problems import make_case

from pegasos import DualAscent, Problem, solve
from pegasos.losses import LOSSES
from pegasos.solvers.dual_ascent import BIAS, CONJUGATE, NEWTON_LEFT, OWED
from pegasos.solvers.free_set import (
    BETA,
    COLLECTED,
    FIRST,
    LIMIT,
    ROUND_STEP,
    SHIFT,
    SIZE,
    STAGE,
    STEP,
)

SEED = np.random.SeedSequence(0)
FREE_DUALS = [name for name in LOSSES if name != "logistic"]


def begun(case, passes=3):
    """A state of dual ascent after some passes, and a finish that has begun there."""
    solver = DualAscent(shrink=np.inf)
    state = solver.start(case.problem, SEED)
    solver.advance(case.problem, state, passes * case.problem.m, -1.0)
    state.finish.begin(case.problem, state.numbers, state.w)
    return state


def ended(case, state, visits=10**9):
    """Run the finish to its end in portions of so many visits."""
    moved, total = None, 0
    while moved is None:
        done, moved = state.finish.advance(
            case.problem, state.numbers, state.w, float(state.run[BIAS]), visits
        )
        assert 0 < done <= visits
        total += done
    return moved, total


def lagrangian(case, beta, w_bias):
    """The dual, with the bias as the multiplier of Σ β where there is one."""
    return naive.dual(case.X, case.y, case.cost, beta, case.loss) - w_bias * float(beta.sum())


@pytest.mark.parametrize("bias", ["none", "feature", "free"])
@pytest.mark.parametrize("loss", FREE_DUALS)
@pytest.mark.parametrize("seed", range(6))
def test_the_dual_rises_in_the_box_at_the_same_sum(seed, loss, bias):
    storage = "csr" if seed % 2 else "dense"
    case = make_case(seed, loss, bias, storage, hard=seed % 3 == 0, weighted=seed > 2, m=60, d=20)
    problem = case.problem
    used = problem.cost > 0
    state = begun(case)
    before, b = state.numbers[used, BETA].copy(), float(state.run[BIAS])
    (rise, change, _), visits = ended(case, state)
    assert visits >= 2 * state.finish.run[COLLECTED]
    after = state.numbers[used, BETA]
    scale = problem.zero_objective
    low, high = lagrangian(case, before, b), lagrangian(case, after, b)
    assert high >= low - 1e-12 * scale
    assert high > low or np.array_equal(before, after)
    if LOSSES[loss].labels:
        assert (after * case.y >= 0.0).all()
    if not loss.startswith("squared"):
        assert (np.abs(after) <= case.cost).all()
    now, then = (
        naive.dual_value(loss, beta, case.y, case.cost, case.epsilon) for beta in (after, before)
    )
    assert rise == pytest.approx(float(np.sum(now - then)), abs=1e-10 * scale)
    size = float(np.abs(after).sum()) + float(np.abs(before).sum())
    assert change == pytest.approx(float(after.sum() - before.sum()), abs=1e-12 * size)
    if bias == "free":
        assert abs(change) <= 1e-9 * size
    w = case.X.T @ after
    np.testing.assert_allclose(state.w, w, rtol=1e-7, atol=1e-9 * np.abs(w).max())


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", FREE_DUALS)
@pytest.mark.parametrize("weighted", [False, True])
def test_solves_the_dense_system(loss, bias, weighted):
    case = make_case(3, loss, bias, m=40, d=30, weighted=weighted)
    problem = case.problem
    state = begun(case)
    finish = state.finish
    size = int(finish.run[SIZE])
    assert size > 5
    free = finish.free[:size].astype(int)
    used = np.flatnonzero(problem.cost)
    place = np.searchsorted(used, free)
    assert np.array_equal(used[place], free)
    beta, b = state.numbers[free, BETA].copy(), float(state.run[BIAS])
    X, y, cost = case.X[place], problem.y[free], case.cost[place]
    bend = 0.5 / cost if loss.startswith("squared") else np.zeros(size)
    side = 0.0 if LOSSES[loss].labels else case.epsilon * np.sign(beta)
    residual = y - side - X @ state.w - b - bend * beta
    soft = np.sqrt(np.mean(residual**2)) / cost
    system = X @ X.T + np.diag(bend + soft)
    if bias == "free":
        ones = np.ones((size, 1))
        system = np.block([[system, ones], [ones.T, np.zeros((1, 1))]])
        residual = np.append(residual, 0.0)
    wanted = np.linalg.solve(system, residual)
    # The first residual seems to be tiny, and turns are many: it goes on to the last digits.
    finish.run[FIRST], finish.run[LIMIT] = 1e-290, 100.0
    while finish.run[STAGE] != ROUND_STEP:
        finish.advance(problem, state.numbers, state.w, b, 7)
    step = finish.table[:size, STEP]
    np.testing.assert_allclose(step, wanted[:size], rtol=1e-5, atol=1e-7 * np.abs(wanted).max())
    if bias == "free":
        assert finish.run[SHIFT] == pytest.approx(wanted[size], rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("bias", ["none", "free"])
def test_the_same_bits_whatever_the_portions(bias):
    case = make_case(4, bias=bias, storage="csr", m=300, d=80)
    results = []
    for visits in (1, 17, 10**9):
        state = begun(case)
        moved, total = ended(case, state, visits)
        results.append((moved, total, state.w.tobytes(), state.numbers.tobytes()))
    assert results[0] == results[1] == results[2]


def text(seed=0, m=3000, d=4000, per_row=40):
    """Rows of unit norm with the words of a language, a fifth of them near copies of others."""
    rng = np.random.default_rng(seed)
    words = (d * rng.random((m, per_row)) ** 2.5).astype(np.int32)
    values = 1.0 + rng.exponential(size=(m, per_row))
    X = sp.csr_array((values.ravel(), words.ravel(), np.arange(0, m * per_row + 1, per_row)))
    X.sum_duplicates()
    X = X.tolil()
    for row in rng.integers(m // 2, m, m // 5):
        X[row] = X[row - m // 2]
        X[row, rng.integers(d)] = 0.5
    X = X.tocsr()
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sp.csr_array(sp.diags_array(1.0 / norms) @ X).astype(np.float32)
    score = X @ rng.standard_normal(X.shape[1])
    score += 0.3 * score.std() * rng.standard_normal(m)
    return X, np.where(score > 0, 1.0, -1.0)


@pytest.mark.parametrize("bias", ["none", "free"])
def test_text_to_1e_6_in_far_fewer_passes_than_by_coordinates(bias, monkeypatch):
    X, y = text()
    problem = Problem(X, y, C=20.0, bias=bias)
    ours = solve(problem, DualAscent(), tol=1e-6, max_passes=3000)
    assert ours.converged
    assert ours.state.run[CONJUGATE] > 0
    monkeypatch.setattr(DualAscent, "_slow", lambda self, state, goal: False)
    alone = solve(problem, DualAscent(), tol=1e-6, max_passes=2.0 * ours.n_passes)
    assert alone.state.run[CONJUGATE] == 0
    assert not alone.converged


def test_a_run_that_is_stopped_in_a_finish_goes_on_with_the_same_bits(tmp_path):
    X, y = text()
    problem = Problem(X, y, C=20.0)
    whole = solve(problem, DualAscent(), tol=1e-6)
    stopped, path = 0, tmp_path / "run.npz"
    for passes in np.linspace(0.5, 0.98, 6) * whole.n_passes:
        part = solve(problem, DualAscent(), tol=1e-6, max_passes=passes, checkpoint=path)
        assert part.n_passes <= passes + 1 / problem.m
        stopped += part.state.finish.at_work
        resumed = solve(problem, DualAscent(), tol=1e-6, resume=path)
        assert resumed.n_passes == whole.n_passes
        np.testing.assert_array_equal(resumed.w, whole.w)
        np.testing.assert_array_equal(resumed.alpha, whole.alpha)
    assert stopped > 0


def test_visits_of_direct_steps_are_counted_and_pass_no_limit():
    case = make_case(5, m=40, d=6)
    solver = DualAscent()
    state = solver.start(case.problem, SEED)
    while state.run[NEWTON_LEFT] == 0.0 and state.run[OWED] == 0.0:
        solver.advance(case.problem, state, 40, 0.0)
    free = int((np.abs(state.numbers[:, BETA]) % case.problem.C > 0).sum())
    assert solver.advance(case.problem, state, 3, 0.0).visits == 0
    assert state.run[OWED] == free
    assert solver.advance(case.problem, state, 3, 0.0).visits == min(free, 3)
