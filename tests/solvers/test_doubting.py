"""Pegasos that doubts its rows: undo, two-out, probability, and what they suspect."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from one_row import CASES, SEED

from pegasos import DoubtingPegasos, Problem, figure1, solve
from pegasos.compiled import below, draw
from pegasos.solvers.pegasos import POSITION

OPTIONS = [
    {},
    {"undo": True},
    {"flags": 2},
    {"decrease": 0.5},
    {"undo": True, "flags": 2},
    {"undo": True, "flags": 3, "decrease": 0.7},
    {"undo": True, "flags": 4, "test": "before"},
    {"flags": 2, "decrease": 0.5, "test": "before"},
    {"flags": 3, "project": False},
    {"undo": True, "decrease": 0.5, "project": False},
    {"undo": True, "flags": 4, "decrease": 0.5, "sample": 5},
    {"flags": 2, "sample": 9, "test": "before"},
]


def steps_of(problem, solver, n):
    """Before and after each of at most n steps: the batch, the tested rows, visits, the state."""
    state, k = solver.start(problem, SEED), solver.batch
    for _ in range(n):
        rng, position = state.walk.rng.copy(), int(state.walk.run[POSITION])
        drawn = [int(draw(state.chances, rng)) for _ in range(k)]
        tested = [problem.which[below(rng, problem.m)] for _ in range(solver.sample or 0)]
        report = solver.advance(problem, state, 1, -1.0)
        batch = state.walk.order[position : position + k]
        assert batch.tolist() == drawn
        yield drawn, np.array(tested, dtype=int), report.visits, state
        if report.status == "finished":
            return


def leaves(state, m):
    """The chances to be drawn, up to a common factor."""
    return state.chances[state.chances.size // 2 :][:m]


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_equals_its_twin_after_every_step(case, options, k, storage):
    problem, m = case.problem(storage), case.y.size
    solver = DoubtingPegasos(batch=k, **options)
    seen = []
    for batch, tested, _, state in steps_of(problem, solver, 120):
        answer = solver.answer(problem, state)
        seen.append((batch, tested, answer, state.flags.copy(), leaves(state, m).copy()))
    asked = {**options, "before": options.get("test") == "before"}
    project = asked.pop("project", True)
    sampled = asked.pop("sample", None) is not None
    asked.pop("test", None)
    twin = naive.doubting_pegasos(
        case.X,
        case.y,
        case.weights,
        case.lam,
        case.loss,
        [batch for batch, *_ in seen],
        math.sqrt(problem.radius / problem.lam) if project else np.inf,
        samples=[tested for _, tested, *_ in seen] if sampled else None,
        **asked,
    )
    for (_, _, answer, flags, chances), (w, counts, wanted) in zip(seen, twin, strict=True):
        np.testing.assert_allclose(answer.w, w, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(case.X.T @ answer.beta, w, rtol=1e-8, atol=1e-9)
        np.testing.assert_array_equal(flags, counts)
        np.testing.assert_allclose(chances, wanted, rtol=1e-12)
    assert flags.any()
    if "flags" in options and k == 3:
        assert (chances == 0).any()


def test_without_options_it_is_pegasos():
    case = CASES[0]
    problem, solver = case.problem("dense"), DoubtingPegasos(batch=4)
    seen = [
        (batch, solver.answer(problem, state).w)
        for batch, _, _, state in steps_of(problem, solver, 50)
    ]
    plain = figure1(case.X, case.y, case.lam, [np.array(batch) for batch, _ in seen])
    for (_, w), wanted in zip(seen, plain):
        np.testing.assert_allclose(w, wanted, rtol=1e-10, atol=1e-11)


def objectives(problem, case, solver, n):
    for _, _, _, state in steps_of(problem, solver, n):
        w = solver.answer(problem, state).w
        yield naive.primal(case.X, case.y, problem.cost, w, 0.0, case.loss)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_with_undo_the_objective_never_rises_and_without_it_does(case):
    problem = case.problem("dense")
    for undo in (True, False):
        path = np.array(list(objectives(problem, case, DoubtingPegasos(undo=undo), 200)))
        rises = np.diff(path) > 1e-12 * path[1:]
        assert rises.any() == (not undo)


def test_a_row_leaves_in_the_step_after_the_next():
    problem, m = CASES[0].problem("dense"), CASES[0].y.size
    last_drawn, condemned = {}, {}
    for t, (batch, _, _, state) in enumerate(
        steps_of(problem, DoubtingPegasos(flags=2), 2000), start=1
    ):
        for i in batch:
            last_drawn[i] = t
        for i in np.flatnonzero(state.flags >= 2):
            condemned.setdefault(i, t)
    assert len(condemned) == m  # all have left, and the run has ended by itself
    assert t < 2000
    late = [last_drawn[i] - step for i, step in condemned.items()]
    assert set(late) <= {0, 1}
    assert 1 in late


@pytest.mark.parametrize("sample", [None, 7])
def test_every_row_that_is_read_counts_as_a_visit(sample):
    problem, m, k = CASES[0].problem("dense"), CASES[0].y.size, 3
    solver = DoubtingPegasos(batch=k, undo=True, sample=sample)
    flagged_before, undone = 0, 0
    for t, (_, _, visits, state) in enumerate(steps_of(problem, solver, 40)):
        rose = state.flags.sum() > flagged_before
        flagged_before, undone = state.flags.sum(), undone + rose
        tests = 2 * sample if sample else (2 * m if t == 0 else m)
        assert visits == tests + k + (k if rose else 0)
    assert 0 < undone < 40


def test_when_no_row_is_left_the_run_ends_and_says_so():
    problem = CASES[0].problem("csr")
    solution = solve(problem, DoubtingPegasos(batch=5, flags=1), tol=None, max_passes=10_000)
    assert solution.status == "finished"
    assert solution.n_passes < 1000
    assert "no row is left" in solution.trace.notes[-1]
    assert np.isfinite(solution.w).all()
    suspects = solution.findings["suspects"]
    assert suspects["removed"].all()
    assert sorted(suspects["row"]) == list(range(problem.m))


def planted(wrong=6, m=400):
    """Rows of two far classes, some with the wrong label, and a row without weight."""
    rng = np.random.default_rng(4)
    y = rng.choice([-1.0, 1.0], m)
    X = rng.standard_normal((m, 5)) + 2.0 * y[:, None]
    bad = rng.choice(m - 1, wrong, replace=False)
    y[bad] *= -1
    weights = np.ones(m)
    weights[-1] = 0.0
    return Problem(X, y, lam=0.05, weights=weights), bad


@pytest.mark.parametrize("name", ["undo", "two-out", "probability", "undo-two-out-probability"])
def test_suspects_are_the_flagged_rows_in_order(name):
    problem, _ = planted()
    solution = solve(problem, name, tol=None, max_passes=300)
    suspects = solution.findings["suspects"]
    state = solution.state
    assert set(suspects["row"]) == set(np.flatnonzero(state.flags))
    assert np.unique(suspects["row"]).size == suspects.size
    assert problem.y.size - 1 not in suspects["row"]  # it has no weight
    np.testing.assert_array_equal(suspects["flags"], state.flags[suspects["row"]])
    assert (suspects["flags"] <= suspects["drawn"]).all()
    keys = list(zip(-suspects["flags"], suspects["drawn"]))
    assert keys == sorted(keys)
    assert state.drawn.sum() == solution.trace.steps[-1]
    two_out = "two-out" in name
    np.testing.assert_array_equal(suspects["removed"], two_out & (suspects["flags"] >= 2))
    assert suspects["removed"].any() == two_out


def test_a_row_that_is_twice_in_a_step_is_flagged_once():
    problem, k = CASES[0].problem("dense"), 20
    solver, before, risen = DoubtingPegasos(batch=k), 0, 0
    for t, (batch, _, _, state) in enumerate(steps_of(problem, solver, 30), start=1):
        assert len(set(batch)) < k
        assert state.drawn.max() <= t
        assert state.flags.sum() - before in (0, len(set(batch)))
        risen += state.flags.sum() > before
        before = state.flags.sum()
    assert 0 < risen < 30


@pytest.mark.parametrize("options", [{}, {"flags": 4}, {"decrease": 0.5, "batch": 5}], ids=str)
def test_wrong_labels_are_suspected(options):
    problem, bad = planted()
    solution = solve(problem, DoubtingPegasos(**options), tol=None, max_passes=3000)
    suspects = solution.findings["suspects"]
    share = np.zeros(problem.y.size)
    share[suspects["row"]] = suspects["flags"] / suspects["drawn"]
    others = np.delete(share, bad)
    ranked = np.mean(share[bad][:, None] > others) + np.mean(share[bad][:, None] == others) / 2
    assert ranked > 0.85  # 0.5 if a flag said nothing


@pytest.mark.parametrize(
    "options",
    [{}, {"undo": True}, {"flags": 50}, {"decrease": 0.5}, {"undo": True, "sample": 50}],
    ids=str,
)
def test_comes_near_the_optimum(options):
    problem, _ = planted()
    best = solve(problem, tol=1e-6).certificate
    solution = solve(problem, DoubtingPegasos(batch=10, **options), tol=None, max_passes=2000)
    assert best.dual * (1 - 1e-9) <= solution.certificate.primal <= 1.01 * best.primal
    assert solution.certificate.dual <= best.primal * (1 + 1e-9)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"batch": "all"}, "batch must be a positive integer, not 'all'"),
        ({"batch": 0}, "batch must be a positive integer"),
        ({"steps": 0}, "steps must be an integer"),
        ({"flags": 0}, "flags must be a positive integer or None, not 0"),
        ({"flags": 1.5}, "flags must be a positive integer or None, not 1.5"),
        ({"sample": -1}, "sample must be a positive integer or None, not -1"),
        ({"decrease": 0.0}, "decrease must be above 0 and at most 1"),
        ({"decrease": 1.5}, "decrease must be above 0 and at most 1"),
        ({"decrease": math.nan}, "decrease must be above 0 and at most 1"),
        ({"test": "never"}, "test must be one of after, before, not 'never'"),
        ({"test": "before", "project": False}, "give project=True"),
    ],
)
def test_bad_options_get_a_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        DoubtingPegasos(**options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"batch": 24}, "batch=24 is more than the 23 rows"),
        ({"sample": 24}, "sample=24 is more than the 23 rows of the problem; sample=None"),
    ],
)
def test_a_mismatch_is_refused_before_any_work(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        solve(CASES[0].problem("dense"), DoubtingPegasos(**options))


def test_overflow_is_reported_and_no_nan_is_returned():
    case = CASES[0]
    problem = Problem(1e140 * case.X, case.y, lam=1e-30)
    solution = solve(problem, DoubtingPegasos(project=False), tol=1e-3, max_passes=50)
    assert solution.status == "diverged"
    assert any("the largest row has norm" in note for note in solution.trace.notes)
    assert np.isfinite(solution.w).all()
