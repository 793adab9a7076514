"""Visits in blocks: the same path in memory and from files, and what is refused."""

from __future__ import annotations

import sys
from itertools import pairwise

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from one_row import presentations
from problems import make_case
from stored import resident_file_bytes, stored

from pegasos import (
    MPU,
    SGDM,
    SGDS,
    DualAscent,
    LinearSVC,
    LinearSVR,
    Norma,
    Pegasos,
    Problem,
    SGDFixed,
    solve,
)
from pegasos.compiled import generator
from pegasos.datasets import text_like
from pegasos.rows import AT_ONCE, bounds_of
from pegasos.solvers import REGISTRY, as_solver, solver_class
from pegasos.solvers.block_order import filled_blocks, shuffle_blocks
from pegasos.solvers.dual_ascent import BETA, POSITION

SEED = np.random.SeedSequence(0)
ROWS = 9  # in a block


def data(m=100, d=6, sparse=True, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d)) * (rng.random((m, d)) < 0.7)
    y = np.where(X @ rng.standard_normal(d) + 0.4 * rng.standard_normal(m) > 0, 1.0, -1.0)
    return (sp.csr_array(X) if sparse else X), y


BOTH = [
    (DualAscent(order="blocks", block_rows=ROWS), DualAscent()),
    (Pegasos(order="blocks", block_rows=ROWS), Pegasos()),
    (Pegasos(batch=4, order="blocks", block_rows=ROWS), Pegasos(batch=4)),
    (Pegasos(order="cycle"), Pegasos(order="cycle")),
    (Norma(order="blocks", block_rows=ROWS), Norma()),
    (SGDS(order="blocks", block_rows=ROWS), SGDS()),
    (SGDM(order="blocks", block_rows=ROWS), SGDM()),
    (SGDFixed(order="blocks", block_rows=ROWS), SGDFixed()),
    (MPU(order="blocks", block_rows=ROWS), MPU()),
    ("auto", "auto"),
]


@pytest.mark.parametrize(("in_memory", "from_files"), BOTH)
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("bias", ["none", "free"])
def test_memory_and_files_give_the_same_bits(tmp_path, in_memory, from_files, sparse, bias):
    solver = as_solver(from_files)
    if bias not in solver.solves.biases or (from_files == "auto" and bias == "none"):
        pytest.skip("not this bias")
    X, y = data(sparse=sparse)
    if in_memory == "auto":  # which takes dual ascent where the rows lie in files
        in_memory = DualAscent(order="blocks", block_rows=ROWS)
    weights = np.linspace(0.0, 2.0, y.size)
    options = {"C": 0.3, "weights": weights, "bias": bias}
    one = solve(Problem(X, y, **options), in_memory, tol=1e-3, max_passes=12)
    problem = Problem(stored(X, tmp_path, ROWS), y, **options)
    other = solve(problem, solver, tol=1e-3, max_passes=12)
    np.testing.assert_array_equal(one.w, other.w)
    np.testing.assert_array_equal(one.alpha, other.alpha)
    assert one.b == other.b
    assert one.certificate == other.certificate
    assert one.n_passes == other.n_passes


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "epsilon_insensitive"])
@pytest.mark.parametrize("bias", ["none", "feature", "free"])
@pytest.mark.parametrize("hard", [False, True])
def test_certificates_of_stored_rows_are_right(tmp_path, loss, bias, hard):
    case = make_case(3, loss=loss, bias=bias, weighted=True, hard=hard, m=60)
    old = case.problem
    case.problem = Problem(
        stored(old.intake.rows.values, tmp_path, 7),
        old.y + old.shift,
        C=old.C,
        loss=old.loss,
        weights=old.cost / old.C,
        bias=bias,
        intercept_scaling=2.0,
    )
    case.check(solve(case.problem, tol=1e-3, max_passes=200))
    case.check(solve(case.problem, DualAscent(), tol=1e-1, max_passes=2))


def test_large_problems_in_blocks_converge_without_a_finish(tmp_path):
    X, y = data(m=4000, d=40)
    problem = Problem(stored(X, tmp_path, 300), y, C=1.0, bias="free")
    solution = solve(problem, tol=1e-4)
    assert solution.converged
    other = solve(Problem(X, y, C=1.0, bias="free"), tol=1e-6).certificate
    assert solution.certificate.dual <= other.primal
    assert other.dual <= solution.certificate.primal


@pytest.mark.parametrize("block_rows", [1, 7])
def test_dual_ascent_in_blocks_equals_the_twin_pass_by_pass(block_rows):
    case = make_case(11, m=60)
    problem = case.problem
    solver = DualAscent(shrink=np.inf, order="blocks", block_rows=block_rows)
    state = solver.start(problem, SEED)
    orders = []
    for _ in range(5):
        visited = [visited_next(solver, problem, state) for _ in range(problem.m)]
        assert sorted(visited) == list(range(problem.m))
        orders.append(np.array(visited))
        w, beta = naive.dual_ascent(case.X, case.y, case.cost, "hinge", 0.1, orders)
        np.testing.assert_allclose(state.w, w, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(state.numbers[:, BETA], beta, rtol=1e-7, atol=1e-10)
    assert len({tuple(order) for order in orders}) == 5


def visited_next(solver, problem, state):
    """The row of the next visit. (The kernel shuffles a turn's rows before the visit after it.)"""
    before, place = state.order.copy(), int(state.run[POSITION])
    beta, w = state.numbers[:, BETA].copy(), state.w.copy()
    solver.advance(problem, state, 1, -1.0)
    moved = np.flatnonzero(state.numbers[:, BETA] != beta)
    assert moved.size <= 1
    if moved.size:
        return int(moved[0])
    assert (state.w == w).all()
    return int((state.order if place < 0 else before)[max(place, 0)])


@pytest.mark.parametrize("portion", [1, 5, 37, 10**6])
@pytest.mark.parametrize("solver", [one for one, _ in BOTH[:-1]])
def test_portions_do_not_matter(solver, portion):
    X, y = data()
    problem = Problem(X, y, C=0.3)
    ends = []
    for visits in (portion, 13):
        state, done = solver.start(problem, SEED), 0.0
        while done < 4 * problem.m:
            done += solver.advance(
                problem, state, int(min(visits, 4 * problem.m - done)), 1e-9
            ).visits
        if done == 4 * problem.m:
            ends.append(solver.answer(problem, state))
    for one, other in pairwise(ends):
        np.testing.assert_array_equal(one.w, other.w)
        np.testing.assert_array_equal(one.beta, other.beta)


@given(st.integers(1, 400), st.integers(1, 8), st.integers(0, 5))
def test_the_order_of_a_pass_goes_through_few_blocks_at_once(m, block_rows, seed):
    rng = np.random.default_rng(seed)
    weights = (rng.random(m) < 0.8).astype(float)
    weights[rng.integers(m)] = 1.0
    problem = Problem(np.ones((m, 1)), np.ones(m), C=1.0, weights=weights)
    bounds = bounds_of(m, block_rows)
    order, blocks = np.zeros(problem.m, dtype=np.uint32), filled_blocks(problem, bounds)
    shuffle_blocks(problem, bounds, blocks, order, generator(np.random.SeedSequence(seed)))
    assert sorted(order) == list(problem.which)
    assert sorted(blocks) == sorted(set(problem.which // block_rows))
    turn = np.zeros(bounds.size - 1)
    turn[blocks] = np.arange(blocks.size) // AT_ONCE
    assert (np.diff(turn[order // block_rows]) >= 0).all()


def test_each_pass_visits_each_row_once_in_another_order():
    X, y = data()
    problem = Problem(X, y, C=0.3)
    seen = presentations(problem, Norma(order="blocks", block_rows=ROWS), 300).reshape(3, 100)
    for order in seen:
        assert sorted(order) == list(range(100))
    assert len({tuple(order) for order in seen}) == 3


@pytest.mark.parametrize("solver", [DualAscent(), Pegasos(), "auto", SGDS()])
def test_a_run_from_files_resumes_with_the_same_bits(tmp_path, solver):
    X, y = data(m=300)
    problem = Problem(stored(X, tmp_path, ROWS), y, C=3.0)
    whole = solve(problem, solver, tol=None, max_passes=9)
    file = tmp_path / "run"
    solve(problem, solver, tol=None, max_passes=4.3, checkpoint=file)
    rest = solve(problem, solver, tol=None, max_passes=9, resume=file)
    np.testing.assert_array_equal(whole.w, rest.w)
    np.testing.assert_array_equal(whole.alpha, rest.alpha)


@pytest.mark.parametrize(("in_memory", "from_files"), BOTH[:-1])
def test_a_warm_start_from_files_as_from_memory(tmp_path, in_memory, from_files):
    X, y = data()
    problem = Problem(X, y, C=0.3)
    in_files = Problem(stored(X, tmp_path, ROWS), y, C=0.3)
    first = solve(problem, tol=1e-2)
    one = solve(problem, in_memory, tol=None, max_passes=2, warm=first)
    other = solve(in_files, from_files, tol=None, max_passes=2, warm=first)
    np.testing.assert_array_equal(one.w, other.w)
    np.testing.assert_array_equal(one.alpha, other.alpha)


# ----------------------------------------------------------------------------------- estimators


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_linear_svc_fits_and_predicts_stored_rows(tmp_path, multi_class, n_jobs):
    X, y = data(m=200)
    y = np.array(["no", "yes", "perhaps"])[1 * (y > 0) + (np.arange(200) % 7 == 0)]
    rows = stored(X, tmp_path, 30)
    solver = DualAscent(order="blocks", block_rows=30)
    one = LinearSVC(solver=solver, multi_class=multi_class).fit(X, y)
    other = LinearSVC(multi_class=multi_class, n_jobs=n_jobs).fit(rows, y)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.predict(X), other.predict(rows))
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(rows))
    assert other.n_features_in_ == 6
    assert other.score(rows, y) == one.score(X, y)


def test_linear_svr_fits_and_predicts_stored_rows(tmp_path):
    X, _ = data(m=200, sparse=False)
    y = X @ np.arange(6.0)
    rows = stored(X, tmp_path, 30)
    model = LinearSVR(C=10.0).fit(rows, y)
    assert model.converged_
    np.testing.assert_array_equal(model.predict(rows), model.predict(X))


def test_estimators_refuse_stored_rows_that_do_not_fit(tmp_path):
    X, y = data(m=50)
    rows = stored(X, tmp_path, 30)
    model = LinearSVC().fit(X[:, :4], y)
    with pytest.raises(ValueError, match="X has 6 features, but LinearSVC is expecting 4"):
        model.predict(rows)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LinearSVC().fit(rows, y[:-1])
    with pytest.raises(ValueError, match="partial_fit takes rows in memory"):
        LinearSVC().partial_fit(rows, y, classes=[-1, 1])


# --------------------------------------------------------------------------------------- refusals


def test_solvers_that_need_all_rows_say_which_can_read_a_store(tmp_path):
    X, y = data()
    problem = Problem(stored(X, tmp_path, ROWS), y, C=1.0)
    refusing = [name for name in REGISTRY if not solver_class(name).solves.stores]
    assert {"smo", "ocas", "huber-newton", "interior-point", "sgd-r", "asgd"} <= set(refusing)
    for name in refusing:
        with pytest.raises(ValueError, match="can be read by auto, dual-ascent, dcd, pegasos, nor"):
            solve(problem, name)


@pytest.mark.parametrize("order", ["shuffle", "shuffle-once", "iid"])
@pytest.mark.parametrize("solver", [Pegasos, Norma])
def test_orders_that_read_from_everywhere_are_refused(tmp_path, solver, order):
    X, y = data()
    problem = Problem(stored(X, tmp_path, ROWS), y, C=1.0)
    with pytest.raises(ValueError, match=f"order='{order}' would read a store from everywhere"):
        solve(problem, solver(order=order))
    with pytest.raises(ValueError, match="order='rows' would read a store from everywhere"):
        solve(problem, DualAscent(order="rows"))


def test_batches_larger_than_what_is_in_memory_are_refused(tmp_path):
    X, y = data()
    problem = Problem(stored(X, tmp_path, ROWS), y, C=1.0)
    solve(problem, Pegasos(batch=100), tol=None, max_passes=2)  # there are 12 blocks
    many = Problem(stored(X, tmp_path, 1), y, C=1.0)
    solve(many, Pegasos(batch=8), tol=None, max_passes=2)
    with pytest.raises(ValueError, match="batch=9 is more than the 8 rows of the store that"):
        solve(many, Pegasos(batch=9))


@pytest.mark.parametrize("solver", [DualAscent, Pegasos, Norma])
def test_bad_blocks_are_refused(solver):
    X, y = data()
    with pytest.raises(ValueError, match="needs block_rows for rows that lie in memory"):
        solve(Problem(X, y, C=1.0), solver(order="blocks"))
    for wrong in (0, -3, 2.5, "9"):
        with pytest.raises(ValueError, match="block_rows must be a positive whole number"):
            solver(order="blocks", block_rows=wrong)
    with pytest.raises(ValueError, match="block_rows is for order='blocks'"):
        solver(block_rows=9)


# -------------------------------------------------------------------- passes, readings, residency


@pytest.mark.parametrize("bias", ["none", "feature", "free"])
@pytest.mark.parametrize("block_rows", [1000, 100, 10])
def test_blocks_cost_hardly_more_passes_than_rows(bias, block_rows):
    X, y = text_like(10_000, d=5000, per_row=30)
    problem = Problem(X, y, lam=1e-4, bias=bias)
    rows = solve(problem, DualAscent(), tol=1e-3).n_passes
    blocks = solve(problem, DualAscent(order="blocks", block_rows=block_rows), tol=1e-3)
    assert blocks.n_passes <= 2 * rows + 1  # with blocks that never change it was 10 to 50


def readings(solution):
    """How often the store was read, as the trace says."""
    note = solution.trace.notes[-1]
    return float(note.removeprefix("the store was read ").split()[0])


def test_few_active_rows_do_not_mean_many_readings(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 30))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(20_000) > 0, 1.0, -1.0)
    problem = Problem(stored(X, tmp_path, 50), y, C=1.0)
    solution = solve(problem, DualAscent(), tol=1e-2)
    assert solution.converged
    assert readings(solution) < 5 * solution.n_passes


def test_blocks_without_weight_are_not_read(tmp_path):
    X, y = data(m=6400)
    weights = np.zeros(6400)
    weights[:400] = 1.0
    problem = Problem(stored(X, tmp_path, 10), y, C=1.0, weights=weights)
    for solver in (DualAscent(), Pegasos(), SGDS()):
        solution = solve(problem, solver, tol=None, max_passes=20)
        # Each pass and each look reads a sixteenth; a look with what is beside it in eight blocks.
        share = (solution.trace.steps[-1] if solver.name == "dual-ascent" else 20) / 16
        assert readings(solution) <= 1.2 * share + 1.2 * len(solution.trace) / 16 + 0.2


@pytest.mark.parametrize("solver", [DualAscent(), Pegasos(), Pegasos(batch=150), SGDS()])
@pytest.mark.parametrize("bias", ["feature", "free"])
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_run_keeps_few_blocks_in_memory(tmp_path, solver, bias):
    if bias not in solver.solves.biases:
        pytest.skip("not this bias")
    m = 60_000
    X = np.random.default_rng(0).standard_normal((m, 512), dtype=np.float32)  # 123 MB
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1.0, -1.0)
    weights = (np.arange(m) % 4 == 0).astype(float)
    problem = Problem(stored(X, tmp_path, 100), y, lam=1e-4, bias=bias, weights=weights)
    del X
    solve(problem, solver, tol=None, max_passes=0.01)  # the libraries are loaded
    before, peak = resident_file_bytes(), []
    solution = solve(
        problem,
        solver,
        tol=None,
        max_passes=4,
        on_event=lambda e: peak.append(resident_file_bytes()),
    )
    assert len(solution.trace) > 0
    # Eight blocks of 0.2 MB, of which the system may map 2 MB and more at a touch.
    assert max(peak) - before < 40e6


@pytest.mark.parametrize("other", [7, None])
def test_a_run_in_other_blocks_is_not_resumed(tmp_path, other):
    X, y = data(m=300)
    file = tmp_path / "run"
    problem = Problem(stored(X, tmp_path, ROWS), y, C=3.0)
    solve(problem, tol=None, max_passes=4.3, checkpoint=file)
    (tmp_path / "other").mkdir()
    rows = X if other is None else stored(X, tmp_path / "other", other)
    with pytest.raises(ValueError, match="another way of keeping rows: it holds a store, 9 to a b"):
        solve(Problem(rows, y, C=3.0), tol=None, resume=file)
