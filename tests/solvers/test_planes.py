"""Cutting planes: the small quadratic problem, the bits, starts and checkpoints."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from problems import make_case

from pegasos import OCAS, SVMPerf, solve
from pegasos.certificate import Answer
from pegasos.solvers.planes import DUAL, ROOM, Planes, best_shares

SEED = np.random.SeedSequence(0)
both = pytest.mark.parametrize("solver", [SVMPerf(), OCAS()], ids=["svm-perf", "ocas"])


def value(A, b, s):
    return s @ b - (s @ A) @ (s @ A) / 2


def random_planes(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Normals and offsets: on one scale or over six decades, some of them twice, some empty."""
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    A, b = rng.standard_normal((k, d)) + 1.0, rng.exponential(1.0, k)
    if seed % 2:
        size = 10.0 ** rng.uniform(-3, 3, k)
        A, b = A * size[:, None], b * size
    if seed % 3 == 1 and k > 1:
        A[-1], b[-1] = A[0], b[0]
    if seed % 4 == 2:
        A[0] = 0.0
    return A * 10.0 ** rng.uniform(-1, 1), b


@pytest.mark.parametrize("seed", range(60))
def test_the_shares_are_the_best_of_all_choices_of_planes(seed):
    A, b = random_planes(seed)
    expected = value(A, b, naive.best_mixture(A, b))
    rng = np.random.default_rng(seed)
    starts = [np.zeros(b.size), np.eye(b.size)[0], rng.dirichlet(np.ones(b.size))]
    for shares in starts:
        best_shares(A @ A.T, b, shares)
        assert shares.min() >= 0.0
        assert shares.sum() <= 1.0 + 1e-15
        assert value(A, b, shares) == pytest.approx(expected, rel=1e-9)


def test_many_planes_that_depend_on_each_other_leave_no_gap():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((200, 12)) @ np.diag(10.0 ** np.linspace(0, -5, 12)) + 0.3
    b = rng.exponential(1.0, 200) + 2.0
    shares = np.zeros(200)
    for k in range(1, 201):  # as planes come, each run from the shares before
        best_shares(A[:k] @ A[:k].T, b[:k], shares[:k])
    slope = b - A @ (shares @ A)
    assert max(slope.max(), 0.0) - shares @ slope <= 1e-11 * value(A, b, shares)
    assert shares.min() >= 0.0
    assert shares.sum() <= 1.0 + 1e-15


def test_planes_keep_their_rows_and_products_when_others_leave():
    rng = np.random.default_rng(1)
    X, planes, made = rng.standard_normal((21, 5)), Planes.none(21, 5), {}
    for k in range(ROOM + 9):
        inside = rng.random(21) < 0.5
        assert planes.add(inside @ X, float(k), inside)
        made[float(k)] = inside
        if k % 3 == 2:
            planes._drop(int(rng.integers(planes.count)))
    count = planes.count
    offsets = planes.offsets[:count]
    assert count == ROOM + 9 - (ROOM + 9) // 3
    assert np.unique(offsets).size == count
    assert planes.offsets.size == 2 * ROOM
    rows = np.array([made[offset] for offset in offsets])
    np.testing.assert_array_equal(np.unpackbits(planes.bits[:count], axis=1, count=21), rows)
    np.testing.assert_allclose(planes.normals[:count], rows @ X)
    np.testing.assert_allclose(planes.gram[:count, :count], rows @ X @ X.T @ rows.T)
    planes.shares[:count] = rng.dirichlet(np.ones(count))
    y, cost = np.where(rng.random(21) < 0.5, 1, -1), rng.random(21)
    np.testing.assert_allclose(planes.beta(y, cost), y * cost * (planes.shares[:count] @ rows))


@both
def test_planes_out_of_use_are_dropped_and_the_bound_never_falls(solver):
    case = make_case(6, m=60, d=4)
    solver = type(solver)(keep=3)
    state, before, counts = solver.start(case.problem, SEED), 0.0, []
    for _ in range(60):
        solver.advance(case.problem, state, 1, -1.0)
        assert state.run[DUAL] >= before * (1 - 1e-12)
        before = state.run[DUAL]
        counts.append(state.planes.count)
    assert max(counts) <= 20  # those in use in one of three iterations: not all 60


@both
def test_a_resumed_run_of_many_planes_ends_with_the_same_bits(solver, tmp_path):
    case, path = make_case(3, hard=True, m=200, d=20), tmp_path / "run.npz"
    solver = type(solver)(keep=12)
    limits = {"tol": 1e-12, "seed": 1}
    whole = solve(case.problem, solver, max_passes=120, **limits)
    assert whole.state.planes.offsets.size > ROOM
    solve(case.problem, solver, max_passes=70, checkpoint=path, **limits)
    again = solve(case.problem, solver, max_passes=120, resume=path, **limits)
    assert again.n_passes == whole.n_passes
    np.testing.assert_array_equal(again.w, whole.w)
    np.testing.assert_array_equal(again.alpha, whole.alpha)


@both
def test_a_start_keeps_its_bound_and_its_point(solver):
    case = make_case(6, weighted=True, m=70)
    problem = case.problem
    first = solve(problem, solver, tol=1e-5)
    warm = first.answer
    state = solver.start(problem, SEED, warm)
    report = solver.advance(problem, state, 1, -1.0)
    assert report.gap_estimate <= 1e-5
    np.testing.assert_array_equal(solver.answer(problem, state).w, warm.w)
    for _ in range(10):  # its plane is never dropped
        solver.advance(problem, state, 1, -1.0)
        beta = solver.answer(problem, state).beta[problem.which]
        bound = naive.dual(
            case.X, case.y, case.cost, case.y * np.clip(case.y * beta, 0.0, case.cost), "hinge"
        )
        assert bound >= first.certificate.dual * (1 - 1e-9)
        assert bound == pytest.approx(state.run[DUAL], rel=1e-9)
    again = solve(problem, solver, tol=1e-6, warm=warm)
    cold = solve(problem, solver, tol=1e-6)
    assert again.converged
    assert again.n_passes < cold.n_passes
    case.check(again)


@both
def test_a_start_of_its_coefficients_alone_is_where_the_first_plane_touches(solver):
    case = make_case(6, m=70)
    warm = Answer(np.full(case.problem.d, 0.3), 0.0, None)
    state = solver.start(case.problem, SEED, warm)
    report = solver.advance(case.problem, state, 1, -1.0)
    assert report.gap_estimate == np.inf  # nothing is proved yet
    np.testing.assert_array_equal(state.inside, case.y * (case.X @ warm.w) < 1.0)
    case.check(solve(case.problem, solver, tol=1e-4, warm=warm))
