"""Comparisons: what is measured and judged, when a run ends, and that nothing is run twice."""

from __future__ import annotations

import json
import math
import signal
import sys
from dataclasses import dataclass
from typing import ClassVar

import naive
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from pandas.testing import assert_frame_equal

from pegasos import (
    ConvergenceWarning,
    DualAscent,
    Pegasos,
    Problem,
    compare,
    comparison,
    driver,
    solve,
    time_to,
)
from pegasos.certificate import Answer
from pegasos.losses import LOSSES
from pegasos.solvers.contract import (
    DIVERGED,
    FINISHED,
    RUNNING,
    STALLED,
    Report,
    Solver,
    Solves,
    State,
)

COLUMNS = [
    *("solver", "seed", "steps", "passes", "seconds", "primal", "dual", "gap"),
    *("suboptimality", "test_error", "test_loss", "status"),
]


def rows_and_targets(m=60, d=4, loss="hinge", seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d))
    score = X @ np.arange(1.0, d + 1) + 2.0 * rng.standard_normal(m) + 0.5
    return X, np.where(score > 0, 1.0, -1.0) if LOSSES[loss].labels else score + 5.0


def small(loss="hinge", **options):
    made = LOSSES[loss]() if LOSSES[loss].labels else LOSSES[loss](0.1)
    return Problem(*rows_and_targets(loss=loss), loss=made, **{"lam": 0.05, **options})


@dataclass
class WalkState(State):
    w: np.ndarray
    visits: float


@dataclass(frozen=True)
class Walk(Solver):
    """Halves its distance to ``end`` in each pass, proves nothing, and ends as it is told to."""

    end: tuple = (1.0, 0.0, 0.0, 0.0)
    ends: str = RUNNING
    after: float = math.inf  # passes

    name: ClassVar[str] = "walk"
    solves: ClassVar[Solves] = Solves(biases=frozenset({"none", "feature"}))

    def start(self, problem, seed, warm=None):
        return WalkState(np.zeros(problem.d), 0.0)

    def advance(self, problem, state, visits, goal):
        state.visits += visits
        passes = state.visits / problem.m
        state.w[:] = (1.0 - 0.5**passes) * np.array(self.end)
        over = passes >= self.after
        if over and self.ends == DIVERGED:
            state.w[:] = math.nan
        return Report(visits, status=self.ends if over else RUNNING)

    def answer(self, problem, state):
        return Answer(state.w.copy(), 0.0, None)

    def steps_done(self, problem, state):
        return 10.0 * state.visits


@pytest.fixture(scope="module")
def problem():
    return small()


@pytest.fixture(scope="module")
def reference(problem):
    return solve(problem, tol=1e-12)


@pytest.fixture
def calls(monkeypatch):
    """The solver and the options of each call of ``solve``."""
    made = []

    def watched(problem, solver="auto", **options):
        made.append((solver, options))
        return solve(problem, solver, **options)

    monkeypatch.setattr(comparison, "solve", watched)
    return made


def runs_of(calls):
    """Those that count: with someone who listens."""
    return [(solver, o["seed"]) for solver, o in calls if o.get("on_event") is not None]


# ---------------------------------------------------------------------------- what the table says


def test_each_look_is_a_row_judged_by_the_objective_and_the_reference(problem, reference):
    X, y = rows_and_targets()
    end = tuple(reference.w)
    looks = [0.5, 1.0, 2.5, 6.0]
    table = compare(
        problem, {"mine": Walk(end)}, max_passes=8, seeds=[3], looks=looks, reference=reference
    )
    assert list(table) == COLUMNS
    assert set(looks) <= set(table["passes"])
    assert table["passes"].iloc[-1] == 8
    assert (np.diff(table["passes"]) > 0).all()
    assert (np.diff(table["seconds"]) >= 0).all()
    lower = naive.reference_interval(X, y, problem.cost, "hinge")[0]
    for row in table.itertuples():
        w = (1.0 - 0.5**row.passes) * reference.w
        primal = float(naive.primal(X, y, problem.cost, w, 0.0, "hinge"))
        assert math.isclose(row.primal, primal, rel_tol=1e-12)
        assert math.isclose(row.suboptimality, primal / float(lower) - 1.0, abs_tol=1e-8)
        assert math.isclose(row.steps, 10 * row.passes * problem.m)
        assert (row.solver, row.seed, row.status) == ("mine", 3, "out of passes")
        assert (row.dual, row.gap) == (0.0, math.inf)
        assert math.isnan(row.test_error)
    assert (np.diff(table["suboptimality"]) < 0).all()
    best = table.attrs["reference"]
    assert math.isclose(best["dual"], reference.certificate.dual, rel_tol=1e-13)
    assert best["relative_gap"] <= 1e-9


def test_a_solver_with_a_bound_has_the_best_one_so_far(problem):
    table = compare(problem, ["pegasos"], max_passes=30, tol=None)
    alone = solve(problem, "pegasos", max_passes=30, tol=None)
    last = table.iloc[-1]
    assert (np.diff(table["dual"]) >= 0).all()
    proved = table[table["dual"] > 0]
    assert len(proved) > 5
    np.testing.assert_allclose(proved["gap"], proved["primal"] / proved["dual"] - 1, atol=1e-12)
    assert last["primal"] == alone.trace.primal[-1]
    assert last["dual"] >= alone.trace.dual[-1]
    assert last["dual"] <= table.attrs["reference"]["primal"]


def test_labels_seeds_and_their_order(problem):
    given = {"b": "dual-ascent", "a": Pegasos(batch=5)}
    table = compare(problem, given, seeds=[7, 2], max_passes=3)
    pairs = table[["solver", "seed"]].drop_duplicates().to_numpy().tolist()
    assert pairs == [["b", 7], ["b", 2], ["a", 7], ["a", 2]]
    alone = solve(problem, Pegasos(batch=5), seed=2, tol=None, max_passes=3)
    last = table[(table["solver"] == "a") & (table["seed"] == 2)].iloc[-1]
    assert last["primal"] == alone.trace.primal[-1]
    listed = compare(problem, ["norma", Pegasos(batch=5), DualAscent()], max_passes=1, seeds=2)
    assert list(listed["solver"].unique()) == ["norma", "Pegasos(batch=5)", "DualAscent()"]
    assert sorted(listed["seed"].unique()) == [0, 1]
    assert list(compare(problem, "norma", max_passes=1)["solver"].unique()) == ["norma"]


@pytest.mark.parametrize("looks", [0, 3, 8])
def test_so_many_looks_in_each_factor_of_ten(problem, looks):
    table = compare(problem, {"mine": Walk()}, max_passes=10, looks=looks)
    early = table.loc[table["passes"] < 1, "passes"]
    wanted = [0.1 * 10 ** (k / looks) for k in range(looks)] if looks else []
    np.testing.assert_allclose(early, wanted, atol=1.01 / problem.m)


# ------------------------------------------------------------------------------------- the clock


class Clock:
    """A clock that goes on only when it is told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@dataclass(frozen=True)
class Timed(Walk):
    """10 s to start, 1 s for each call, 0.1 s to take a look in."""

    clock: ClassVar[Clock] = Clock()

    def start(self, problem, seed, warm=None):
        self.clock.now += 10.0
        return super().start(problem, seed, warm)

    def advance(self, problem, state, visits, goal):
        self.clock.now += 1.0
        return super().advance(problem, state, 6, goal)

    def looked(self, problem, state, view):
        self.clock.now += 0.1


def test_looks_and_test_errors_are_outside_the_clock(problem, monkeypatch):
    judged = comparison._judged

    def slowly(*given):
        Timed.clock.now += 1000.0
        return judged(*given)

    def listen(*given):
        Timed.clock.now += 1000.0

    monkeypatch.setattr(driver.time, "perf_counter", Timed.clock)
    monkeypatch.setattr(comparison, "_judged", slowly)
    table = compare(
        problem, {"mine": Timed()}, max_passes=5, test=rows_and_targets(seed=1), on_event=listen
    )
    calls = np.round(table["passes"] * problem.m / 6)
    np.testing.assert_allclose(table["seconds"], 10 + calls + 0.1 * _scheduled_before(table), 1e-9)


def _scheduled_before(table):
    """How many of the driver's own looks, after each pass or more, each row has before it."""
    own, last, before = 0, 0.0, []
    for passes in table["passes"]:
        before.append(own)
        if passes >= last + max(1.0, 0.3 * last):
            own, last = own + 1, passes
    return np.array(before)


def test_seconds_are_those_inside_the_solver(problem, monkeypatch):
    monkeypatch.setattr(driver.time, "perf_counter", Timed.clock)

    def listen(*given):
        Timed.clock.now += 1000.0

    table = compare(
        problem, {"mine": Timed()}, max_passes=math.inf, max_seconds=40, looks=[], on_event=listen
    )
    assert list(table["status"].unique()) == ["out of time"]
    assert 40 <= table["seconds"].iloc[-1] < 41.1


def test_a_run_in_which_something_was_compiled_is_made_again(problem, calls, monkeypatch):
    versions = iter([5, 6, 6, 6, 6, 6])
    monkeypatch.setattr(comparison, "_compiled", lambda: next(versions))
    table = compare(problem, {"mine": Walk()}, max_passes=4, seeds=2, looks=[])
    assert [seed for _, seed in runs_of(calls)] == [0, 0, 1]
    assert not table.duplicated(["seed", "passes"]).any()
    quiet = [o for _, o in calls if o.get("on_event") is None and "look_at" in o]
    assert [o["max_passes"] for o in quiet] == [2.0]  # the short run before the first


# ------------------------------------------------------------------------------ why a run ends


@pytest.mark.parametrize(
    ("solver", "options", "status"),
    [
        (Walk(), {}, "out of passes"),
        (Walk(), {"max_passes": math.inf, "max_seconds": 0.05}, "out of time"),
        (Walk(ends=FINISHED, after=2.0), {}, "done"),
        (Walk(ends=STALLED, after=2.0), {}, "stalled"),
        (Walk(ends=DIVERGED, after=2.0), {}, "diverged"),
        (DualAscent(), {"max_passes": 2000}, "done"),
        (Pegasos(steps=70), {}, "done"),
        (Pegasos(steps=70, output="random"), {}, "done"),
        (Pegasos(), {"max_passes": 200, "target": 0.3}, "done"),
    ],
    ids=str,
)
def test_statuses(problem, solver, options, status):
    table = compare(problem, {"it": solver}, **{"max_passes": 12, **options})
    assert list(table["status"].unique()) == [status]


def test_a_run_that_diverges_keeps_what_came_before(problem):
    test = rows_and_targets(seed=1)
    table = compare(problem, {"it": Walk(ends=DIVERGED, after=2.0)}, max_passes=5, test=test)
    assert np.isfinite(table["suboptimality"].iloc[:-1]).all()
    assert table["suboptimality"].iloc[-1] == math.inf
    assert table["test_error"].iloc[-1] == 1.0  # NaN is right about nothing


def test_a_target_ends_a_run_that_can_prove_nothing(problem, reference):
    solver = {"it": Walk(tuple(reference.w))}
    table = compare(problem, solver, target=1e-3, max_passes=100)
    assert (table["suboptimality"].iloc[:-1] > 1e-3).all()
    assert table["suboptimality"].iloc[-1] <= 1e-3
    assert table["passes"].iloc[-1] < 30


def test_a_tolerance_above_the_target_is_lowered_to_it(problem, calls):
    options = {"tol": 0.5, "max_passes": 2000}
    loose = compare(problem, ["pegasos"], **options)
    sharp = compare(problem, ["pegasos"], target=5e-3, **options)
    assert loose["primal"].min() <= 1.5 * loose["dual"].max()
    assert loose["suboptimality"].min() > 5e-3
    assert sharp["suboptimality"].iloc[-1] <= 5e-3
    compare(problem, ["pegasos"], target=0.3, tol=0.1, max_passes=1)
    assert calls[-1][1]["tol"] == 0.1


def test_the_reference_is_ten_times_finer_than_the_target(problem, calls):
    compare(problem, ["norma"], target=1e-10, max_passes=1)
    assert math.isclose(calls[0][1]["tol"], 1e-11)


# ------------------------------------------------------------------------------------ test rows


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("bias", ["none", "feature", "free"])
@pytest.mark.parametrize("loss", ["hinge", "logistic", "epsilon_insensitive"])
def test_test_errors_equal_a_naive_computation(loss, bias, storage):
    problem = small(loss, bias=bias, intercept_scaling=2.0)
    X, y = rows_and_targets(m=35, loss=loss, seed=9)
    weights = np.random.default_rng(3).uniform(0.0, 2.0, y.size)
    weights[:5] = 0.0
    views = []

    def listen(label, seed, event):
        if event.kind == "look":
            views.append(event.view)

    stored = sp.csr_array(X) if storage == "csr" else X
    weighted = Problem(stored, y, lam=3.0, loss=problem.loss, weights=weights, bias="free")
    for test, share in (((stored, y), np.ones(y.size)), (weighted, weights)):
        views.clear()
        table = compare(
            problem, ["pegasos"], tol=None, max_passes=4, test=test, on_event=listen, looks=[0.3]
        )
        share = share / share.sum()
        last = views[-len(table) :]
        for view, error, mean in zip(last, table["test_error"], table["test_loss"]):
            z = X @ view.w[:4] + (2.0 * view.w[4] if bias == "feature" else view.b + problem.shift)
            wrong = np.where(z > 0, 1, -1) != y if LOSSES[loss].labels else np.abs(y - z)
            assert math.isclose(error, share @ wrong, rel_tol=1e-12, abs_tol=1e-15)
            assert math.isclose(mean, share @ naive.loss_value(loss, z, y), rel_tol=1e-12)
        assert table["test_error"].nunique() > 1
        assert (table["test_loss"] > 0).all()


def test_a_score_of_zero_counts_as_the_estimator_predicts_it(problem):
    test = rows_and_targets(seed=1)
    table = compare(problem, {"it": Walk(end=(0.0,) * 4)}, max_passes=1, test=test)
    assert (table["test_error"] == np.mean(test[1] > 0)).all()
    assert (table["test_loss"] == 1.0).all()


def test_test_rows_that_do_not_fit_are_refused(problem, calls):
    X, y = rows_and_targets()
    with pytest.raises(ValueError, match="test rows have 3 features, those of the problem 4"):
        compare(problem, ["pegasos"], test=(X[:, :3], y))
    with pytest.raises(ValueError, match="the test problem has loss SquaredHinge"):
        compare(problem, ["pegasos"], test=small("squared_hinge"))
    with pytest.raises(ValueError, match="labels must be -1 and"):
        compare(problem, ["pegasos"], test=(X, y + 2))
    assert not calls


# ---------------------------------------------------------------------------- refused before work


def test_a_solver_that_cannot_do_the_problem_is_named_before_any_work(calls, tmp_path):
    path = tmp_path / "runs"
    with pytest.raises(
        ValueError, match="2 of 3 solvers cannot do this problem: first: walk cannot solve bias"
    ) as caught:
        compare(
            small(bias="free"),
            {"first": Walk(), "second": "pegasos", "third": Pegasos(batch=61)},
            path=path,
        )
    assert "third: batch=61 is more than the 60 rows" in str(caught.value)
    assert not calls
    assert not path.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solvers": []}, "there is no solver to compare"),
        ({"solvers": ["pegassos"]}, "there is no solver 'pegassos'"),
        ({"solvers": [Pegasos(), Pegasos()]}, "two solvers are called 'Pegasos.*give a dict"),
        ({"tol": -1}, "tol must be"),
        ({"target": 0.0}, "target must be positive and finite, or None, not 0.0"),
        ({"target": math.inf}, "target must be positive"),
        ({"max_passes": None}, "max_passes must be zero or positive"),
        ({"max_seconds": -1}, "max_seconds must be zero or positive"),
        ({"max_passes": math.inf}, "give max_passes or max_seconds"),
        ({"seeds": 0}, "give one seed or more"),
        ({"seeds": [1, 1]}, "each once"),
        ({"seeds": [-1]}, "seeds must be whole numbers from 0 on, not -1"),
        ({"seeds": [0.5]}, "seeds must be whole numbers"),
        ({"looks": -1}, "looks must be zero or positive"),
        ({"looks": [1, math.nan]}, "looks must be at zero or more passes"),
        ({"path": "/there/is/no/such/file"}, "there is no folder .*such for file"),
    ],
)
def test_bad_options_get_a_sentence(problem, calls, options, message):
    with pytest.raises(ValueError, match=message):
        compare(problem, **{"solvers": ["pegasos"], **options})
    assert not calls


def test_without_pandas_it_says_what_to_install(problem, calls, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'pegasos\[compare\]'"):
        compare(problem, ["pegasos"])
    assert not calls


# ---------------------------------------------------------------------------------- the reference


def test_a_reference_is_proved_anew_and_saves_solving(problem, reference, calls):
    table = compare(problem, ["norma"], reference=reference, max_passes=1)
    assert all(solver != "auto" for solver, _ in calls)
    dual = table.attrs["reference"]["dual"]
    assert math.isclose(dual, reference.certificate.dual, rel_tol=1e-13)
    half = Answer(reference.w, 0.0, 0.5 * reference.answer.beta)
    table = compare(problem, ["norma"], reference=half, max_passes=1)
    assert table.attrs["reference"]["dual"] < reference.certificate.dual


def test_what_proves_nothing_is_no_reference(problem, reference, calls):
    with pytest.raises(ValueError, match="has no dual variables"):
        compare(problem, ["norma"], reference=Answer(reference.w, 0.0, None))
    with pytest.raises(ValueError, match="belongs to another problem"):
        compare(problem, ["norma"], reference=Answer(reference.w, 0.0, np.zeros(3)))
    with pytest.raises(TypeError, match="must be a Solution or an Answer, not float"):
        compare(problem, ["norma"], reference=1.5)
    assert not calls


def test_a_reference_that_falls_short_is_said(problem, monkeypatch):
    def coarse(problem, solver="pegasos", **options):
        return solve(problem, solver, **{"max_passes": 20, **options})

    monkeypatch.setattr(comparison, "solve", coarse)
    with pytest.warns(
        ConvergenceWarning, match="the optimum is proved to a relative gap of .* only"
    ):
        table = compare(problem, ["dual-ascent"])
    assert table["suboptimality"].iloc[-1] > 1e-9  # an upper bound all the same


# ------------------------------------------------------------------------------- what was run


def test_what_was_run_is_not_run_again(problem, calls, tmp_path):
    path, test = tmp_path / "runs.jsonl", rows_and_targets(seed=1)
    solvers = {"a": "pegasos", "b": Walk(ends=DIVERGED, after=2.0)}
    options = {"max_passes": 6, "test": test, "path": path}
    first = compare(problem, solvers, seeds=2, **options)
    assert len(path.read_bytes().splitlines()) == 5  # four runs and the reference
    calls.clear()
    assert_frame_equal(compare(small(), solvers, seeds=2, **options), first, check_exact=True)
    assert not calls
    more = compare(problem, {**solvers, "c": "norma"}, seeds=[1, 5], **options)
    made = {(type(solver).__name__, seed) for solver, seed in runs_of(calls)}
    assert made == {("Norma", 1), ("Norma", 5), ("Pegasos", 5), ("Walk", 5)}
    same = ["solver", "seed", "passes", "seconds", "primal", "test_error"]
    known = first[first["seed"] == 1][same].reset_index(drop=True)
    again = more[(more["seed"] == 1) & (more["solver"] != "c")][same].reset_index(drop=True)
    assert_frame_equal(again, known, check_exact=True)


@pytest.mark.parametrize(
    "change",
    [
        {"problem": {"lam": 0.06}},
        {"problem": {"bias": "feature"}},
        {"solvers": {"a": Pegasos(batch=2)}},
        {"max_passes": 7},
        {"max_seconds": 1e3},
        {"tol": 0.5},
        {"target": 0.01},
        {"looks": [1.0, 2.0]},
        {"test": rows_and_targets(seed=1)},
        {"version": "9.9"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_question_is_another_run(change, calls, tmp_path, monkeypatch):
    path = tmp_path / "runs.jsonl"
    options = {"solvers": {"a": Pegasos()}, "max_passes": 6, "path": path}
    compare(small(), **options)
    calls.clear()
    change = dict(change)
    monkeypatch.setattr(comparison, "__version__", change.pop("version", comparison.__version__))
    compare(small(**change.pop("problem", {})), **{**options, **change})
    assert len(set(runs_of(calls))) == 1


def test_another_label_is_the_same_run(problem, calls, tmp_path):
    path = tmp_path / "runs.jsonl"
    compare(problem, ["dcd", "dual-ascent"], max_passes=3, path=path)
    assert len(set(runs_of(calls))) == 1
    assert len(path.read_bytes().splitlines()) == 2
    calls.clear()
    table = compare(problem, {"mine": DualAscent()}, max_passes=3, path=path)
    assert list(table["solver"].unique()) == ["mine"]
    assert not calls


def test_a_broken_last_line_is_cut_off_and_run_again(problem, calls, tmp_path):
    path = tmp_path / "runs.jsonl"
    options = {"solvers": ["pegasos", "norma"], "max_passes": 3, "path": path}
    first = compare(problem, **options)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for missing in (1, 2, 50, len(lines[-1]) - 40, len(lines[-1]) - 1, len(lines[-1])):
        path.write_bytes(whole[:-missing])
        calls.clear()
        again = compare(problem, **options)
        assert {seed for _, seed in runs_of(calls)} == {0}
        assert {type(solver).__name__ for solver, _ in runs_of(calls)} == {"Norma"}
        assert_frame_equal(again.drop(columns="seconds"), first.drop(columns="seconds"))
        assert path.read_bytes().splitlines(keepends=True)[:-1] == lines[:-1]
        assert json.loads(path.read_bytes().splitlines()[-1])["kind"] == "run"


@pytest.mark.parametrize("text", [b"my notes", b"a,b\n1,2\n", b'{"format": "other"}\n', b"[1]\n"])
def test_a_file_of_somebody_else_is_left_as_it_is(problem, calls, tmp_path, text):
    path = tmp_path / "notes"
    path.write_bytes(text)
    with pytest.raises(ValueError, match="none of a comparison"):
        compare(problem, ["pegasos"], path=path)
    assert path.read_bytes() == text
    assert not calls


@pytest.mark.parametrize("twice", [False, True])
def test_ctrl_c_keeps_the_runs_that_are_complete(problem, calls, tmp_path, twice):
    """Inside a run, once for the driver's flag and twice for an interrupt at once."""
    path = tmp_path / "runs.jsonl"
    options = {"solvers": ["pegasos", "norma", "dual-ascent"], "max_passes": 6, "path": path}

    def press(label, seed, event):
        if label == "norma" and event.kind == "look":
            for _ in range(1 + twice):
                signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            compare(problem, **options, on_event=press)
    finally:
        signal.signal(signal.SIGINT, before)
    kinds = [json.loads(line)["kind"] for line in path.read_bytes().splitlines()]
    assert kinds == ["reference", "run"]
    calls.clear()
    table = compare(problem, **options)
    assert {type(solver).__name__ for solver, _ in runs_of(calls)} == {"Norma", "DualAscent"}
    assert list(table["solver"].unique()) == options["solvers"]


def test_events_say_whose_they_are(problem):
    heard = []
    compare(
        problem,
        {"x": "norma"},
        max_passes=3,
        seeds=[4],
        on_event=lambda *given: heard.append(given),
    )
    assert {(label, seed) for label, seed, _ in heard} == {("x", 4)}
    assert {event.kind for _, _, event in heard} >= {"progress", "look"}


# ------------------------------------------------------------------------------------- time_to


def hand_made():
    def run(solver, seed, suboptimality):
        count = len(suboptimality)
        return pd.DataFrame(
            {
                "solver": solver,
                "seed": seed,
                "steps": 100.0 * np.arange(1, count + 1),
                "passes": np.arange(1.0, count + 1),
                "seconds": 0.25 * np.arange(1, count + 1),
                "suboptimality": suboptimality,
            }
        )

    return pd.concat(
        [
            run("z", 0, [0.5, 0.09, 0.2, 0.01]),  # 2 and 4
            run("z", 1, [0.5, 0.3, 0.1, 0.02]),  # 3 and never
            run("z", 2, [0.05, 0.01]),  # 1 and 2
            run("a", 0, [0.5, 0.01]),
            run("a", 1, [0.5, 0.4, 0.3]),
            run("never", 0, [math.inf, math.inf]),
        ]
    )


@pytest.mark.parametrize(("by", "unit"), [("passes", 1.0), ("seconds", 0.25), ("steps", 100.0)])
def test_time_to_is_the_median_over_the_seeds(by, unit):
    found = time_to(hand_made(), (0.1, 0.01, 0.001), by=by)
    assert list(found.index) == ["z", "a", "never"]
    assert list(found.columns) == [0.1, 0.01, 0.001]
    expected = [[2, 4, math.nan], [math.nan] * 3, [math.nan] * 3]
    np.testing.assert_array_equal(found.to_numpy(), unit * np.array(expected))


def test_time_to_refuses_what_is_not_counted():
    with pytest.raises(ValueError, match="by must be 'seconds', 'passes' or 'steps', not 'gap'"):
        time_to(hand_made(), by="gap")
