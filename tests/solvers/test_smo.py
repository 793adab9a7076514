"""SMO against its twin, its cache of rows of Q, and the rows that it leaves out."""

from __future__ import annotations

from itertools import pairwise

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from problems import Case, make_case
from sklearn.svm import SVC

from pegasos import SMO, Problem, solve
from pegasos.certificate import Answer, certify
from pegasos.solvers.contract import pack, unpack
from pegasos.solvers.rows_of_q import NOWHERE
from pegasos.solvers.smo import ACTIVE, DUAL, ESTIMATE, STEPS, _bias, _gap

SEED = np.random.SeedSequence(0)
BIASES = ("none", "feature", "free")


def room_for(rows: int, m: int) -> float:
    """The megabytes of so many rows of Q."""
    return (rows + 0.5) * 8e-6 * m


def paths(problem, solver, steps: int):
    """α before the first step and after each, the visits by then, and the state at the end."""
    state, visits = solver.start(problem, SEED), 0.0
    alphas, spent = [state.alpha.copy()], [0.0]
    while len(alphas) <= steps:
        report = solver.advance(problem, state, 1, -1.0)
        assert report.visits == 1 or report.look
        visits += report.visits
        if state.run[STEPS] == len(alphas):
            alphas.append(state.alpha.copy())
            spent.append(visits)
        if report.look:
            break
    return alphas, spent, state


def look(problem, solver, state):
    """What the driver does at a look."""
    view = certify(problem, solver.answer(problem, state))
    solver.looked(problem, state, view)
    return view


def plain(m, seed=0, bias="free", storage="dense", weighted=False, C=1.0) -> Case:
    """Overlapping classes and a moderate C: SMO takes some hundred steps."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, 5)) * (rng.random((m, 5)) < 0.8)
    y = np.where(X @ [1.0, -0.5, 0.3, 0.0, 0.2] + 0.5 * rng.standard_normal(m) > 0.2, 1.0, -1.0)
    weights = rng.uniform(0.3, 3.0, m) if weighted else np.ones(m)
    stored = sp.csr_array(X) if storage == "csr" else X
    problem = Problem(stored, y, C=C, weights=weights, bias=bias)
    if bias == "feature":
        X = np.column_stack([X, np.ones(m)])
    return Case(problem, X, y, C * weights, "hinge", 0.0, "free" if bias == "free" else "none")


# ------------------------------------------------------------------------------------- the steps


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("seed", range(3))
def test_every_step_is_one_of_the_twin(seed, bias, weighted, storage):
    case = plain(30, seed, bias, storage, weighted)
    alphas, _, _ = paths(case.problem, SMO(shrinking=False), 80)
    assert len(alphas) > 60
    certain = 0
    for before, after in pairwise(alphas):
        allowed = naive.smo_steps(case.X, case.y, case.cost, before, case.bias)
        misses = [np.max(np.abs(after - alpha)) for alpha in allowed]
        assert min(misses) <= 1e-9 * np.max(case.cost)
        certain += len(allowed) == 1
    assert certain > (0.6 if bias == "free" else 0.95) * len(alphas)  # the two of a pair may tie


@pytest.mark.parametrize("bias", BIASES)
def test_each_step_stays_feasible_and_raises_the_dual_by_what_is_counted(bias):
    case = make_case(4, bias=bias, weighted=True, hard=True)
    solver = SMO()
    state = solver.start(case.problem, SEED)
    before = 0.0
    for _ in range(60):
        solver.advance(case.problem, state, 10, -1.0)
        assert (state.alpha >= 0.0).all()
        assert (state.alpha <= case.cost).all()
        if bias == "free":
            assert abs(case.y @ state.alpha) <= 1e-13 * state.alpha.sum()
        dual = naive.dual(case.X, case.y, case.cost, state.alpha * case.y, "hinge")
        assert state.run[DUAL] == pytest.approx(dual, rel=1e-9)
        assert dual >= before * (1 - 1e-12)
        before = dual
    assert before > 0


@pytest.mark.parametrize("bias", BIASES)
def test_the_gap_from_the_gradient_is_the_gap(bias):
    case = make_case(5, bias=bias, weighted=True, m=60)
    for steps in (0, 7, 40):
        _, _, state = paths(case.problem, SMO(shrinking=False), steps)
        beta = state.alpha * case.y
        w, b = case.X.T @ beta, 0.0
        if bias == "free":
            b = float(_bias(state.work(), beta.size))
        primal = naive.primal(case.X, case.y, case.cost, w, b, "hinge")
        dual = naive.dual(case.X, case.y, case.cost, beta, "hinge")
        gap = _gap(state.work(), beta.size, case.problem.free_bias)
        assert gap == pytest.approx(primal - dual, rel=1e-9)


def test_the_gap_is_guessed_in_time_and_never_below_the_truth_where_no_row_is_left_out():
    case = plain(300, 7)
    solver = SMO(shrinking=False)
    state = solver.start(case.problem, SEED)
    report = solver.advance(case.problem, state, 10**9, 1e-3)
    assert report.look
    assert report.gap_estimate == state.run[ESTIMATE] <= 0.97e-3
    assert certify(case.problem, solver.answer(case.problem, state)).certificate.relative_gap <= (
        report.gap_estimate * (1 + 1e-6)
    )


# ------------------------------------------------------------------------------- the certified end


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("seed", range(4))
def test_reaches_the_optimum(seed, bias, weighted, storage):
    case = make_case(seed, bias=bias, weighted=weighted, storage=storage, hard=seed > 1, m=50)
    solution = solve(case.problem, SMO(), tol=1e-8, max_passes=1e6)
    assert solution.converged
    case.check(solution)
    low, high = case.reference()
    assert solution.certificate.dual <= high
    assert solution.certificate.primal >= low
    certified = solve(case.problem, tol=1e-8)
    assert solution.certificate.primal == pytest.approx(certified.certificate.primal, rel=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_the_scores_are_those_of_libsvm(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 4))
    y = np.where(X @ [1.0, -1.0, 0.5, 0.0] + rng.standard_normal(80) + 0.5 > 0, 1.0, -1.0)
    weights = rng.uniform(0.3, 3.0, 80)
    problem = Problem(X, y, C=0.7, weights=weights, bias="free")
    ours = solve(problem, SMO(), tol=None, max_passes=1e6)  # to the last digits
    theirs = SVC(kernel="linear", C=0.7, tol=1e-8).fit(X, y, sample_weight=weights)
    # LIBSVM keeps its rows of Q in float32
    np.testing.assert_allclose(X @ ours.w + ours.b, theirs.decision_function(X), atol=2e-5)
    alpha = np.zeros(80)
    alpha[theirs.support_] = np.abs(theirs.dual_coef_[0])
    np.testing.assert_allclose(ours.alpha, alpha, atol=1e-4)


def test_the_bias_of_the_answer_is_that_of_the_free_rows():
    case = make_case(6, bias="free", m=60)
    problem, solver = case.problem, SMO()
    solution = solve(problem, solver, tol=1e-11, max_passes=1e6)
    alpha = solution.state.alpha
    assert ((alpha > 0) & (alpha < case.cost)).any()
    assert solver.answer(problem, solution.state).b == pytest.approx(solution.b, abs=1e-6)


@pytest.mark.parametrize("label", [1, -1])
def test_a_single_class_needs_no_step(label):
    X = np.random.default_rng(0).standard_normal((9, 3))
    problem = Problem(X, np.full(9, label), C=1.0, bias="free")
    solution = solve(problem, SMO(), tol=1e-9)
    assert solution.converged
    assert solution.b == label
    assert solution.state.run[STEPS] == 0
    assert SMO().answer(problem, solution.state).b == label


def test_empty_rows_and_rows_that_stand_twice_end_at_their_bounds():
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 2.0], [1.0, 2.0], [-1.0, 0.5], [2.0, -1.0]])
    y = np.array([1, -1, 1, -1, -1, 1])
    for bias in BIASES:
        solution = solve(Problem(X, y, C=2.0, bias=bias), SMO(), tol=1e-9, max_passes=1e5)
        assert solution.converged
        assert solution.certificate.primal == pytest.approx(
            solve(Problem(X, y, C=2.0, bias=bias), tol=1e-9).certificate.primal
        )


def test_a_run_without_a_tolerance_ends_where_no_step_is_left():
    case = make_case(8, bias="free", m=60)
    solution = solve(case.problem, SMO(), tol=None, max_passes=1e7)
    assert solution.status == "stalled"
    assert any("no step is left" in note for note in solution.trace.notes)
    assert solution.certificate.relative_gap < 1e-10


@pytest.mark.parametrize("bias", BIASES)
def test_a_warm_start_goes_on_from_the_dual_variables(bias):
    case = make_case(9, bias=bias, hard=True, m=80)
    cold = solve(case.problem, SMO(), tol=1e-6, max_passes=1e6)
    start = solve(case.problem, "dual-ascent", tol=1e-6)
    warm = solve(case.problem, SMO(), tol=1e-6, max_passes=1e6, warm=start)
    assert warm.converged
    assert warm.trace.steps[-1] < 0.5 * cold.trace.steps[-1]
    state = SMO().start(case.problem, SEED, start.answer)
    margins = case.y * (case.X @ (case.X.T @ (state.alpha * case.y)))
    np.testing.assert_allclose(state.gradient, margins - 1.0, atol=1e-9)
    assert SMO().advance(case.problem, state, 10, -1.0).visits == 10
    assert state.run[STEPS] == 0  # the pass for the margins is paid for first


def test_a_warm_start_without_dual_variables_begins_at_zero_and_says_so():
    case = make_case(9, bias="free")
    warm = Answer(np.ones(case.problem.d), 0.0, None)
    solution = solve(case.problem, SMO(), tol=1e-6, max_passes=1e6, warm=warm)
    assert solution.converged
    assert any("no dual variables" in note for note in solution.trace.notes)


# ------------------------------------------------------------------------- rows that are left out


@pytest.mark.parametrize("bias", ["none", "free"])
def test_rows_are_left_out_come_back_and_the_optimum_is_the_same(bias):
    case = plain(300, 0, bias, C=10.0)
    problem, left_out, came_back = case.problem, 0, 0
    for solver in (SMO(), SMO(shrinking=False)):
        state = solver.start(problem, SEED)
        for _ in range(40):
            solver.advance(problem, state, 10 * problem.m, 1e-7)
            left_out = max(left_out, problem.m - state.run[ACTIVE])
            gap = look(problem, solver, state).certificate.relative_gap
            if gap <= 1e-7:
                break
        assert gap <= 1e-7
        came_back += state.rows.era
        if not solver.shrinking:
            assert state.run[ACTIVE] == problem.m
    assert left_out > 0.9 * problem.m
    assert came_back > 2


def test_a_look_brings_back_what_was_left_out_in_error():
    case, solver = plain(300, 3), SMO()
    problem = case.problem
    state = solver.start(problem, SEED)
    solver.advance(problem, state, 20 * problem.m, -1.0)
    state.run[ACTIVE] = 10  # as if 290 rows had been left out
    solver.advance(problem, state, 20 * problem.m, -1.0)
    assert state.run[ACTIVE] <= 10
    look(problem, solver, state)
    assert state.run[ACTIVE] > 100
    beta = state.alpha * case.y
    margins = case.y * (case.X @ (case.X.T @ beta))
    np.testing.assert_allclose(state.gradient, margins - 1.0, atol=1e-8 * np.abs(margins).max())
    active = np.zeros(problem.m, dtype=bool)
    active[state.now] = True
    e = -case.y * state.gradient
    grows = np.where(case.y > 0, state.alpha < case.cost, state.alpha > 0)
    falls = np.where(case.y > 0, state.alpha > 0, state.alpha < case.cost)
    wrong = (grows & (e > e[falls].min())) | (falls & (e < e[grows].max()))
    assert active[wrong].all()


# ------------------------------------------------------------------------------- the rows of Q


def ready(state):
    """The rows of Q that a step may read as they are."""
    rows = state.rows
    return [int(i) for i, made in zip(rows.row_of, rows.entries.made) if made == rows.era]


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("size", [3, 40, 1000])
def test_rows_of_q_are_right_while_rows_leave_and_come_back(size, storage):
    case = plain(300, 0, storage=storage, C=100.0)
    problem = case.problem
    Q = np.outer(case.y, case.y) * (case.X @ case.X.T)
    scale = np.sqrt(np.outer(np.diag(Q), np.diag(Q)))
    solver = SMO(cache_mb=room_for(size, problem.m))
    state, seen = solver.start(problem, SEED), set()
    for turn in range(60):
        solver.advance(problem, state, 10 * problem.m, -1.0)
        rows, now = state.rows, state.now.astype(int)
        for i in ready(state):
            seen.add((i, rows.era))
            misses = np.abs(rows.entries.table[rows.slot_of[i], now] - Q[i, now])
            assert (misses <= 1e-13 * scale[i, now] + 1e-300).all()
        held = rows.row_of[rows.row_of != NOWHERE]
        assert held.size == np.unique(held).size <= min(size, problem.m)
        np.testing.assert_array_equal(rows.row_of[rows.slot_of[held]], held)
        assert (rows.slot_of != NOWHERE).sum() == held.size
        if turn % 3 == 2:
            look(problem, solver, state)
    assert len({era for _, era in seen}) > 5


@pytest.mark.parametrize("bias", ["none", "free"])
def test_the_steps_do_not_depend_on_the_size_of_the_cache(bias):
    case = plain(70, 10, bias, "csr")
    large, spent, _ = paths(case.problem, SMO(), 150)
    small, spent_more, _ = paths(case.problem, SMO(cache_mb=room_for(3, 70)), 150)
    assert len(large) == len(small) > 60
    for one, other in zip(large, small):
        np.testing.assert_array_equal(one, other)
    assert spent[-1] < 0.7 * spent_more[-1]


def test_a_step_counts_one_visit_and_each_new_row_of_q_one_for_each_active_row():
    case = plain(25, 11)
    problem, m = case.problem, 25
    alphas, spent, state = paths(problem, SMO(shrinking=False), 200)
    used = set()
    for before, after, cost in zip(alphas, alphas[1:], np.diff(spent)):
        moved = set(np.flatnonzero(before != after))
        assert len(moved) == 2
        assert cost == 1 + m * len(moved - used)
        used |= moved
    assert np.diff(spent)[-1] == 1  # by then all rows of Q that matter are at hand
    assert len(ready(state)) == len(used)


def test_the_row_that_was_used_longest_ago_gives_way():
    case = plain(40, 12)
    problem = case.problem
    alphas, spent, _ = paths(problem, SMO(shrinking=False, cache_mb=room_for(6, 40)), 120)
    kept: list[int] = []
    hits = 0
    for before, after, cost in zip(alphas, alphas[1:], np.diff(spent)):
        moved = np.flatnonzero(before != after)
        e_grows = (after - before)[moved] * case.y[moved] > 0
        i, j = moved[e_grows][0], moved[~e_grows][0]
        made = 0
        for row in (i, j):
            if row in kept:
                kept.remove(row)
                hits += 1
            else:
                made += 1
            kept.append(row)
            del kept[:-6]
        assert cost == 1 + 40 * made
    assert 10 < hits < 2 * len(alphas) - 10


@pytest.mark.parametrize("size", [4, 1000])
@pytest.mark.parametrize("passes", [0.3, 7.25, 33.0, 90.5])
def test_a_run_resumed_with_an_empty_cache_has_the_same_bits_and_visits(passes, size, tmp_path):
    case = plain(300, 3)
    problem, path = case.problem, tmp_path / "run.npz"
    solver = SMO(cache_mb=room_for(size, problem.m))
    whole = solve(problem, solver, tol=1e-9, max_passes=200)
    solve(problem, solver, tol=1e-9, max_passes=passes, checkpoint=path)
    again = solve(problem, solver, tol=1e-9, max_passes=200, resume=path)
    assert again.n_passes == whole.n_passes
    assert again.trace.passes == whole.trace.passes
    assert again.trace.steps == whole.trace.steps
    np.testing.assert_array_equal(again.w, whole.w)
    np.testing.assert_array_equal(again.alpha, whole.alpha)
    one, other = pack(whole.state), pack(again.state)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_a_checkpoint_holds_no_row_of_q():
    case, solver = plain(300, 3), SMO()
    problem = case.problem
    state = solver.start(problem, SEED)
    solver.advance(problem, state, 100 * problem.m, -1.0)
    assert len(ready(state)) > 50
    saved = pack(state)
    size = sum(value.nbytes for value in saved.values() if isinstance(value, np.ndarray))
    assert size < 100 * problem.m + 200
    fresh = solver.start(problem, SEED)
    unpack(fresh, saved)
    assert ready(fresh) == []


def test_the_cache_keeps_to_its_limit_and_says_when_it_is_short():
    case = plain(300)
    solution = solve(case.problem, SMO(cache_mb=0.1), tol=1e-2, max_passes=3)
    assert solution.state.rows.entries.table.nbytes <= 0.1e6
    assert solution.trace.notes[0] == "the cache has room for 41 of 300 rows of Q"
    roomy = solve(case.problem, SMO(), tol=1e-2, max_passes=3)
    assert not any("the cache" in note for note in roomy.trace.notes)
    least = solve(case.problem, SMO(cache_mb=1e-9), tol=1e-2, max_passes=3)
    assert least.state.rows.entries.table.shape == (2, 300)


# ------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"cache_mb": 0}, "cache_mb must be a positive number, not 0"),
        ({"cache_mb": np.inf}, "cache_mb must be a positive number, not inf"),
        ({"cache_mb": "200"}, "cache_mb must be a positive number, not '200'"),
        ({"shrinking": 0.5}, "shrinking must be True or False, not 0.5"),
    ],
)
def test_refuses_in_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        SMO(**options)


def test_refuses_other_losses():
    problem = Problem(np.eye(3), [1, -1, 1], C=1.0, loss="squared_hinge")
    with pytest.raises(ValueError, match="smo cannot solve loss 'squared_hinge'; it can do hinge"):
        solve(problem, SMO())
