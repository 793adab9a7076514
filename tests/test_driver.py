"""The one driver: when it stops, what it reports, and that a run has the same bits however cut."""

import json
import math
import os
import signal
import threading
import time
from dataclasses import dataclass, field, replace
from typing import ClassVar

import naive
import numpy as np
import pytest
from scipy import sparse

import pegasos.driver as driver
from pegasos import Auto, DualAscent, Pegasos, Problem, best_of, solve, solve_many
from pegasos.certificate import Answer, certify
from pegasos.data import DataError
from pegasos.solvers.contract import (
    DIVERGED,
    FINISHED,
    RUNNING,
    STALLED,
    Report,
    Solver,
    Solves,
    State,
    describe,
    pack,
)

PASSES_SLACK = 1e-9


def name_of(part):
    """A short name for a parameter of a test."""
    return describe(part) if isinstance(part, Solver) else str(part)


def noisy(m=200, d=10, bias="none", C=1.0, seed=0, storage="dense", **options):
    """Overlapping classes. Below 1e5 entries exact solvers go on to the last digits."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] + rng.standard_normal(m) + 0.3 > 0, 1.0, -1.0)
    if storage == "csr":
        X = sparse.csr_array(np.where(np.abs(X) > 0.6, X, 0.0))
    return Problem(X, y, C=C, bias=bias, **options)


def large(bias="none", **options):
    """Large enough for exact solvers to stop at the tolerance."""
    return noisy(2500, 41, bias, C=0.1, **options)


def table_of(problem):
    rows = problem.intake.rows
    if hasattr(rows, "pointers"):
        shape = (problem.intake.n_rows, problem.intake.n_features)
        return sparse.csr_array((rows.values, rows.indices, rows.pointers), shape=shape).toarray()
    return np.asarray(rows.values, dtype=float)


def check(problem, solution):
    """The certificate of a solution, from nothing but its w, b and alpha and the data."""
    assert problem.bias in ("none", "free")
    naive.check_certificate(
        table_of(problem),
        problem.y,
        problem.cost,
        solution.w,
        solution.b,
        solution.alpha * problem.signs,
        solution.certificate,
        problem.loss.name,
        bias=problem.bias,
    )


def same_state(one, other):
    one, other = pack(one), pack(other)
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def same_run(one, other):
    """Equal to the bit, but for the seconds."""
    np.testing.assert_array_equal(one.w, other.w)
    np.testing.assert_array_equal(one.alpha, other.alpha)
    assert one.b == other.b
    assert one.status == other.status
    assert one.n_passes == other.n_passes
    assert one.certificate == other.certificate
    for name in ("passes", "primal", "dual", "relative_gap", "notes"):
        assert getattr(one.trace, name) == getattr(other.trace, name), name
    if one.state is not None and other.state is not None:  # solve_many keeps none
        same_state(one.state, other.state)


# ------------------------------------------------------------------------------------ when it stops


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("max_passes", [0, 1, 4.5, 400])
@pytest.mark.parametrize("solver", ["auto", DualAscent(), Pegasos(), Pegasos(batch=7)], ids=name_of)
def test_converged_exactly_when_the_gap_is_at_most_the_tolerance(solver, max_passes, bias):
    problem = noisy(bias=bias)
    solution = solve(problem, solver, tol=0.02, max_passes=max_passes)
    assert solution.converged == (solution.certificate.relative_gap <= 0.02)
    assert (solution.status == "converged") == solution.converged
    if not solution.converged:
        assert solution.status == "max_passes"
    check(problem, solution)
    batch = getattr(solver, "batch", 1)
    assert solution.n_passes < max(max_passes, 1 / problem.m) + batch / problem.m + PASSES_SLACK


def test_a_large_problem_stops_at_the_tolerance_and_a_small_one_at_the_last_digits():
    small, big = (solve(problem, tol=0.05) for problem in (noisy(), large()))
    assert small.certificate.relative_gap <= 1e-12
    assert 1e-9 < big.certificate.relative_gap <= 0.05
    assert small.converged
    assert big.converged


def test_max_passes_is_met_to_the_visit():
    for passes in (1, 2.5, 7):
        solution = solve(noisy(), Pegasos(), tol=1e-12, max_passes=passes)
        assert solution.status == "max_passes"
        assert solution.n_passes == passes
        assert solution.trace.passes[-1] == passes


def test_max_seconds_ends_a_run_that_cannot_converge():
    solve(noisy(), Pegasos(), tol=None, max_passes=1)  # compile
    begun = time.perf_counter()
    solution = solve(noisy(), Pegasos(), tol=1e-12, max_passes=math.inf, max_seconds=0.3)
    assert time.perf_counter() - begun < 2.3
    assert solution.status == "max_seconds"
    assert solution.seconds >= 0.3
    assert not solution.converged


def test_max_seconds_is_for_all_problems_together():
    problems = [noisy(seed=k) for k in range(4)]
    begun = time.perf_counter()
    found = solve_many(
        problems, Pegasos(), tol=1e-12, max_passes=math.inf, max_seconds=0.4, n_jobs=1
    )
    assert time.perf_counter() - begun < 2.4
    assert [solution.status for solution in found] == ["max_seconds"] * 4
    for problem, solution in zip(problems, found):
        check(problem, solution)


def test_no_tolerance_means_no_stop_on_the_gap():
    solution = solve(large(), DualAscent(), tol=None, max_passes=30)
    assert solution.status == "max_passes"
    assert not solution.converged
    assert solution.tol is None
    assert solution.n_passes == pytest.approx(30)


def test_a_tolerance_that_float64_cannot_prove_is_raised_and_said():
    solution = solve(noisy(), tol=1e-15)
    assert solution.tol == 1e-12
    assert any("1e-15" in note and "1e-12" in note for note in solution.trace.notes)
    assert not any("1e-12" in note for note in solve(noisy(), tol=1e-11).trace.notes)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"tol": -1e-3}, "tol must be a number that is zero or positive, or None"),
        ({"tol": math.nan}, "tol must be"),
        ({"tol": math.inf}, "tol must be"),
        ({"tol": "small"}, "tol must be .*'small'"),
        ({"max_passes": -1}, "max_passes must be zero or positive"),
        ({"max_passes": math.nan}, "max_passes must be"),
        ({"max_passes": None}, "max_passes must be"),
        ({"max_seconds": -0.1}, "max_seconds must be zero or positive"),
        ({"max_seconds": math.nan}, "max_seconds must be"),
        ({"max_seconds": "1"}, "max_seconds must be .*'1'"),
        ({"max_solver_seconds": -1}, "max_solver_seconds must be zero or positive"),
        ({"seed": -1}, "non-negative"),
    ],
)
def test_bad_limits_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        solve(noisy(), **options)


@pytest.mark.parametrize(
    ("solver", "error", "sentence"),
    [
        ("dual_ascent", ValueError, "no solver 'dual_ascent'; the solvers are auto, dual-ascent"),
        (DualAscent, TypeError, "solver must be one of auto, .* or a solver object"),
        (None, TypeError, "solver must be one of auto"),
        (Pegasos(batch=500), ValueError, "batch=500 is more than the 200 rows"),
        (Pegasos(batch=2, bias_step="exact"), ValueError, "bias_step='exact' is for a free bias"),
        (Pegasos(steps=10, output="random"), ValueError, r"Pegasos\(.*give tol=None"),
    ],
)
def test_what_cannot_solve_the_problem_is_refused_before_any_work(solver, error, sentence):
    events = []
    with pytest.raises(error, match=sentence):
        solve(noisy(), solver, on_event=events.append)
    assert events == []


def test_a_solver_is_refused_a_loss_that_it_cannot_do():
    @dataclass(frozen=True)
    class Narrow(Scripted):
        name: ClassVar[str] = "narrow"
        solves: ClassVar[Solves] = Solves(losses=frozenset({"logistic"}))

    with pytest.raises(ValueError, match="narrow cannot solve loss 'hinge'; it can do logistic"):
        solve(noisy(), Narrow())


# ---------------------------------------------------------------------------- trace, notes, events


@pytest.mark.parametrize("solver", ["auto", Pegasos()], ids=name_of)
def test_the_trace_is_the_history_of_the_run(solver):
    solution = solve(large(), solver, tol=1e-2)
    columns = solution.trace.to_dict()
    assert set(columns) == {"passes", "steps", "seconds", "primal", "dual", "relative_gap"}
    assert {len(column) for column in columns.values()} == {len(solution.trace)}
    assert len(solution.trace) >= 2
    assert all(np.diff(columns["passes"]) > 0)
    assert all(np.diff(columns["seconds"]) >= 0)
    assert all(np.diff(columns["dual"]) >= 0)  # the best bound so far
    assert columns["passes"][-1] == solution.n_passes
    assert columns["seconds"][-1] <= solution.seconds
    assert columns["relative_gap"][-1] == solution.certificate.relative_gap
    assert max(columns["dual"]) <= min(columns["primal"])


def test_events_tell_of_every_look_and_note():
    events = []
    solution = solve(large(), "auto", tol=1e-13, max_passes=40, on_event=events.append)
    looks = [event for event in events if event.kind == "look"]
    notes = [event for event in events if event.kind == "note"]
    progress = [event.passes for event in events if event.kind == "progress"]
    assert len(looks) + len(notes) + len(progress) == len(events)
    assert len(progress) > 0
    assert progress == sorted(progress)
    assert [event.text for event in notes] == solution.trace.notes
    assert any(note.startswith("auto chose") for note in solution.trace.notes)
    assert [event.passes for event in looks] == solution.trace.passes
    assert [event.seconds for event in looks] == solution.trace.seconds
    assert [event.certificate.primal for event in looks] == solution.trace.primal
    assert [event.certificate.relative_gap for event in looks] == solution.trace.relative_gap
    assert all(event.certificate is None for event in notes)
    assert {event.problem for event in events} == {0}


def test_what_was_done_to_take_the_rows_in_is_noted():
    X = np.asfortranarray(np.random.default_rng(0).standard_normal((30, 3)))
    events = []
    solution = solve(Problem(X, np.sign(X[:, 0]), C=1.0), on_event=events.append)
    assert "row-major" in solution.trace.notes[0]
    assert events[0].text == solution.trace.notes[0]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_events_of_many_problems_carry_their_number(n_jobs):
    events = []
    problems = [noisy(seed=k) for k in range(3)]
    found = solve_many(problems, "auto", n_jobs=n_jobs, on_event=events.append)
    for k, solution in enumerate(found):
        mine = [event for event in events if event.problem == k]
        assert [e.passes for e in mine if e.kind == "look"] == solution.trace.passes
        assert [e.text for e in mine if e.kind == "note"] == solution.trace.notes
    assert {event.problem for event in events} == {0, 1, 2}


def test_an_error_in_a_callback_is_not_swallowed(ctrl_c):  # which sees the handler restored
    def fail(event):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        solve(noisy(), on_event=fail)


# ---------------------------------------------------------------------------------- the same bits

VARIANTS = [
    DualAscent(),
    DualAscent(shrink=0.3),
    DualAscent(shrink=math.inf),
    Pegasos(),
    Pegasos(order="iid", project=False),
    Pegasos(order="shuffle-once", output="average"),
    Pegasos(order="cycle", batch=7),
    Pegasos(batch=7, output="average"),
    Pegasos(batch="all"),
]
every_variant = pytest.mark.parametrize("solver", VARIANTS, ids=name_of)


def advanced(solver, problem, visits, portion, goal):
    """A state after so many visits, in calls of at most ``portion``."""
    state = solver.start(problem, np.random.SeedSequence(3))
    done = 0
    while done < visits:
        report = solver.advance(problem, state, min(portion, visits - done), goal)
        assert report.status == RUNNING
        done += int(report.visits)
    return state, done


@every_variant
@pytest.mark.parametrize("bias", ["none", "free"])
def test_chunked_equals_whole(solver, bias):
    problem = noisy(150, 8, bias, C=10.0, weights=np.linspace(0.5, 2, 150), storage="csr")
    whole, visits = advanced(solver, problem, 3333, 10**9, -1.0)
    for portion in (1, 7, 1000):
        state, done = advanced(solver, problem, 3333, portion, -1.0)
        assert done == visits
        same_state(state, whole)


def test_chunked_equals_whole_with_the_exact_bias():
    solver, problem = Pegasos(batch=7, bias_step="exact"), noisy(150, 8, "free")
    whole, visits = advanced(solver, problem, 700, 10**9, -1.0)
    for portion in (1, 100):
        state, done = advanced(solver, problem, 700, portion, -1.0)
        assert done == visits
        same_state(state, whole)


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("solver", [DualAscent(), Pegasos(), Pegasos(batch=7)], ids=name_of)
def test_a_run_has_the_same_bits_in_whatever_portions(solver, bias, monkeypatch):
    problem = large(bias) if isinstance(solver, DualAscent) else noisy(bias=bias)
    runs = []
    for seconds in (1e-9, 1e9):  # portions of one visit, or as many as the driver will
        monkeypatch.setattr(driver, "CALL_SECONDS", seconds)
        runs.append(solve(problem, solver, tol=1e-6, max_passes=30, seed=5))
    same_run(*runs)


@every_variant
def test_the_same_seed_gives_the_same_bits_and_another_seed_others(solver):
    problem = large()
    one, again = (solve(problem, solver, tol=1e-3, max_passes=3, seed=8) for _ in range(2))
    same_run(one, again)
    same_run(one, solve(problem, solver, tol=1e-3, max_passes=3, seed=np.random.SeedSequence(8)))
    other = solve(problem, solver, tol=1e-3, max_passes=3, seed=9)
    if solver == Pegasos(order="cycle", batch=7):
        same_run(one, replace(other, state=one.state))  # it draws nothing
    elif solver != Pegasos(batch="all"):  # whose rows are all visited: only rounding differs
        assert not np.array_equal(other.w, one.w)


def test_without_a_seed_every_run_is_another():
    one, other = (solve(large(), Pegasos(), tol=None, max_passes=9, seed=None) for _ in range(2))
    assert not np.array_equal(one.w, other.w)


@pytest.mark.parametrize("solver", [DualAscent(), Pegasos(), Pegasos(batch=7)], ids=name_of)
def test_many_problems_by_two_threads_equal_one_by_one(solver):
    first = noisy(300, 9, "free")
    rng = np.random.default_rng(1)
    problems = [first.with_targets(np.where(rng.random(300) < 0.5, 1, -1)) for _ in range(4)]
    options = {"tol": 1e-2, "max_passes": 30}
    alone = solve_many(problems, solver, n_jobs=1, seed=12, **options)
    for n_jobs in (2, -1, 100):
        for one, other in zip(
            alone, solve_many(problems, solver, n_jobs=n_jobs, seed=12, **options)
        ):
            same_run(one, other)
    children = np.random.SeedSequence(12).spawn(4)
    for problem, child, one in zip(problems, children, alone):
        same_run(one, solve(problem, solver, seed=child, **options))
    assert not np.array_equal(alone[0].w, alone[1].w)


def test_many_problems_start_from_their_own_answers():
    problems = [noisy(seed=k) for k in range(3)]
    found = solve_many(problems, DualAscent())
    warm = [found[0], None, found[2].answer]
    again = solve_many(problems, DualAscent(), warm=warm, tol=1e-9)
    assert all(solution.converged for solution in again)
    assert again[0].n_passes < found[0].n_passes
    assert again[2].n_passes < found[2].n_passes
    assert again[1].n_passes == found[1].n_passes


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"max_seconds": -5}, "max_seconds must be zero or positive, not -5"),
        ({"max_seconds": "1"}, "max_seconds must be zero or positive, not '1'"),
        ({"n_jobs": None}, "n_jobs must be a whole number other than zero, not None"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"n_jobs": 2.0}, "n_jobs must be"),
        ({"warm": [None]}, "one answer, or None, for each of 3 problems"),
        ({"warm": Answer(np.zeros(10), 0.0, None)}, "one answer, or None, for each of 3 problems"),
    ],
)
def test_solve_many_refuses_bad_options_before_any_work(options, sentence):
    events = []
    with pytest.raises(ValueError, match=sentence):
        solve_many([noisy()] * 3, on_event=events.append, **options)
    assert events == []


def test_solve_many_refuses_options_that_it_does_not_have():
    with pytest.raises(TypeError, match="no option look_at"):
        solve_many([noisy()], look_at=[1])
    assert solve_many([], DualAscent()) == []


# -------------------------------------------------------------------------- checkpoint and resume


def test_several_problems_are_saved_and_go_on_with_the_same_bits(tmp_path):
    problems = [noisy(), noisy().with_targets(-noisy().y), noisy()]
    whole = solve_many(problems, Pegasos(), tol=None, max_passes=7)
    file = tmp_path / "run"
    solve_many(problems, Pegasos(), tol=None, max_passes=3.5, checkpoint=file)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.0", "run.1", "run.2"]
    (tmp_path / "run.1").unlink()  # as if its run had not begun
    options = {"tol": None, "max_passes": 7, "checkpoint": file, "resume": True}
    for n_jobs in (1, 2):
        for one, other in zip(whole, solve_many(problems, Pegasos(), n_jobs=n_jobs, **options)):
            np.testing.assert_array_equal(one.w, other.w)
            assert other.n_passes == 7
    with pytest.raises(ValueError, match="resume=True needs checkpoint"):
        solve_many(problems, resume=True)


def test_one_of_one_problem_is_saved_under_the_name_itself(tmp_path):
    solve_many([noisy()], tol=None, max_passes=2, checkpoint=tmp_path / "run")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_between_looks_a_run_is_saved_by_the_clock(tmp_path, monkeypatch):
    monkeypatch.setattr(driver, "SAVE_EVERY", 0.0)
    file, passes = tmp_path / "run", []

    def note_what_is_saved(event):
        if event.kind == "progress" and file.exists():
            passes.append(json.loads(np.load(file)["header"].tobytes())["run"]["visits"])

    options = {"tol": None, "max_passes": 40, "on_event": note_what_is_saved}
    whole = solve(noisy(), DualAscent(), tol=None, max_passes=40)
    saved = solve(noisy(), DualAscent(), checkpoint=file, **options)
    looks = [visits * noisy().m for visits in whole.trace.passes]
    assert set(passes) - set(looks)
    np.testing.assert_array_equal(whole.w, saved.w)


@pytest.mark.parametrize("fault", [DataError("no space"), OSError("no space on the device")])
def test_a_disk_that_fills_up_does_not_end_a_run(tmp_path, monkeypatch, fault):
    real, times = driver.saved_file, []

    def full_after_the_first(path, force):
        times.append(path)
        if len(times) > 1:
            raise fault
        return real(path, force)

    monkeypatch.setattr(driver, "saved_file", full_after_the_first)
    file = tmp_path / "run"
    solution = solve(noisy(), Pegasos(), tol=None, max_passes=9, checkpoint=file)
    whole = solve(noisy(), Pegasos(), tol=None, max_passes=9)
    np.testing.assert_array_equal(solution.w, whole.w)
    said = "the checkpoint before is kept: no space"
    kept = [note for note in solution.trace.notes if said in note]
    assert len(kept) == len(times) - 1 > 0
    rest = solve(noisy(), Pegasos(), tol=None, max_passes=9, resume=file)
    np.testing.assert_array_equal(rest.w, whole.w)


def test_a_resumed_run_whose_disk_is_full_goes_on(tmp_path, monkeypatch):
    file = tmp_path / "run"
    solve(noisy(), Pegasos(), tol=None, max_passes=3, checkpoint=file)

    def full(path, force):
        raise DataError("no space left")

    monkeypatch.setattr(driver, "saved_file", full)
    rest = solve(noisy(), Pegasos(), tol=None, max_passes=9, resume=file, checkpoint=file)
    whole = solve(noisy(), Pegasos(), tol=None, max_passes=9)
    np.testing.assert_array_equal(rest.w, whole.w)
    with pytest.raises(DataError, match="no space left"):  # another place, where nothing is yet
        solve(noisy(), Pegasos(), tol=None, resume=file, checkpoint=tmp_path / "other")


def test_a_checkpoint_that_can_never_be_written_ends_the_run_at_once(tmp_path):
    events = []
    with pytest.raises(DataError, match="there is no folder"):
        solve(noisy(), tol=1e-9, checkpoint=tmp_path / "no" / "run", on_event=events.append)
    assert [event for event in events if event.kind != "note"] == []


RESUMED = [
    (DualAscent(), 1e-6),
    (Auto(), 1e-6),
    (Pegasos(), 0.01),
    (Pegasos(batch=7), 0.02),
    (Pegasos(output="average", order="shuffle-once"), 0.02),
    (Pegasos(batch=7, output="average", order="iid"), 0.02),
]


@pytest.mark.parametrize(("solver", "tol"), RESUMED, ids=name_of)
@pytest.mark.parametrize("bias", ["none", "free"])
def test_a_resumed_run_ends_with_the_same_bits(solver, tol, bias, tmp_path):
    problem = large(bias)
    options = {"tol": tol, "seed": 4}
    whole = solve(problem, solver, max_passes=50, **options)
    assert whole.n_passes > 4
    for stop in (0.001, 1, 3.3):
        path = tmp_path / f"{stop}.npz"
        broken = solve(problem, solver, max_passes=stop, checkpoint=path, **options)
        assert broken.status == "max_passes"
        same_run(whole, solve(problem, solver, max_passes=50, resume=path, **options))


def test_a_run_broken_many_times_ends_with_the_same_bits(tmp_path):
    problem, path = large("free"), tmp_path / "run.npz"
    for solver, tol in ((DualAscent(), 1e-6), (Pegasos(batch=7, output="average"), 0.02)):
        whole = solve(problem, solver, tol=tol, max_passes=50, seed=4)
        solve(problem, solver, tol=tol, max_passes=0.7, seed=4, checkpoint=path)
        for passes in (1.1, 2.0, 2.9, 4.2):
            options = {"tol": tol, "seed": 99, "resume": path, "checkpoint": path}
            solve(problem, solver, max_passes=passes, **options)
        same_run(whole, solve(problem, solver, tol=tol, max_passes=50, resume=path))


def test_a_run_that_had_converged_resumes_to_its_own_answer(tmp_path):
    problem, path = large("free"), tmp_path / "run.npz"
    whole = solve(problem, DualAscent(), tol=1e-4, checkpoint=path)
    again = solve(problem, DualAscent(), tol=1e-4, resume=path)
    assert whole.converged
    assert again.status == "converged"
    assert again.n_passes == whole.n_passes
    assert again.certificate == whole.certificate
    np.testing.assert_array_equal(again.w, whole.w)
    np.testing.assert_array_equal(again.alpha, whole.alpha)


@pytest.mark.parametrize("solver", [DualAscent(), Auto(), Pegasos()], ids=name_of)
@pytest.mark.parametrize("passes", [2.5, 10])
def test_a_run_resumed_at_its_limit_stays_as_it_is(solver, passes, tmp_path):
    problem, path = large("free"), tmp_path / "run.npz"
    options = {"tol": 1e-9, "max_passes": passes, "checkpoint": path}
    first = solve(problem, solver, **options)
    assert first.status == "max_passes"
    for _ in range(2):
        same_run(first, solve(problem, solver, resume=path, **options))
    below = solve(problem, solver, tol=1e-9, max_passes=1, resume=path)
    assert below.n_passes == first.n_passes


@pytest.mark.parametrize("limit", ["max_passes", "max_seconds"])
def test_a_run_without_passes_or_seconds_makes_no_step_and_is_saved(limit, tmp_path):
    problem, path = large(), tmp_path / "run.npz"
    nothing = solve(problem, DualAscent(), checkpoint=path, **{limit: 0})
    assert (nothing.status, nothing.n_passes, len(nothing.trace)) == (limit, 0.0, 1)
    same_run(solve(problem, DualAscent()), solve(problem, DualAscent(), resume=path))


def test_a_run_that_had_converged_is_saved_where_it_is_asked_to(tmp_path):
    problem, path, other = large(), tmp_path / "run.npz", tmp_path / "other.npz"
    whole = solve(problem, DualAscent(), checkpoint=path)
    same_run(whole, solve(problem, DualAscent(), resume=path, checkpoint=other))
    same_run(whole, solve(problem, DualAscent(), resume=other))


def test_a_run_that_had_converged_adds_nothing_to_its_trace(tmp_path):
    problem, path = large("free"), tmp_path / "run.npz"
    whole = solve(problem, DualAscent(), tol=1e-4, checkpoint=path)
    assert solve(problem, DualAscent(), tol=1e-4, resume=path).trace.passes == whole.trace.passes


def test_a_converged_run_goes_on_to_a_finer_tolerance(tmp_path):
    problem, path = large(), tmp_path / "run.npz"
    coarse = solve(problem, DualAscent(), tol=1e-2, checkpoint=path)
    fine = solve(problem, DualAscent(), tol=1e-5, resume=path)
    assert fine.converged
    assert fine.certificate.relative_gap <= 1e-5
    assert fine.n_passes > coarse.n_passes
    check(problem, fine)


def test_the_limit_inside_the_solver_counts_no_look_and_goes_on_over_a_break(tmp_path):
    problem, path = noisy(), tmp_path / "run.npz"
    options = {"tol": None, "max_passes": math.inf, "max_solver_seconds": 0.05}
    slow = {"on_event": lambda event: time.sleep(0.02)}
    first = solve(problem, Pegasos(), checkpoint=path, **options, **slow)
    assert first.status == "max_seconds"
    assert first.trace.seconds[-1] >= 0.05
    assert first.seconds > first.trace.seconds[-1] + 0.02 * len(first.trace)
    again = solve(problem, Pegasos(), resume=path, **options)
    assert (again.status, again.n_passes) == ("max_seconds", first.n_passes)


def test_seconds_go_on_where_the_first_run_ended(tmp_path):
    problem, path = noisy(), tmp_path / "run.npz"
    first = solve(problem, Pegasos(), tol=1e-12, max_passes=1e9, max_seconds=0.4, checkpoint=path)
    again = solve(problem, Pegasos(), tol=1e-12, max_passes=first.n_passes + 1, resume=path)
    assert again.seconds > 0.4
    assert again.trace.seconds[-1] > 0.9 * first.trace.seconds[-1]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "run.npz"
    solve(noisy(), Pegasos(), tol=1e-12, max_passes=2, checkpoint=path)
    return path


@pytest.mark.parametrize(
    ("problem", "solver", "sentence"),
    [
        (noisy(seed=1), Pegasos(), "belongs to another problem"),
        (noisy(C=2.0), Pegasos(), "belongs to another problem"),
        (noisy(bias="free"), Pegasos(), "belongs to another problem"),
        (noisy(), Pegasos(batch=2), r"another solver: it holds Pegasos\(\), .*Pegasos\(batch=2\)"),
        (noisy(), DualAscent(), "belongs to another solver"),
    ],
)
def test_another_problem_or_solver_is_not_resumed(problem, solver, sentence, saved):
    with pytest.raises(ValueError, match=sentence):
        solve(problem, solver, resume=saved)


def test_a_checkpoint_of_rows_with_other_signs_is_not_resumed(saved):
    problem = noisy()
    mirrored = Problem(table_of(problem) * np.r_[-1.0, np.ones(9)], problem.y, C=1.0)
    with pytest.raises(ValueError, match="belongs to another problem"):
        solve(mirrored, Pegasos(), resume=saved)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_truncated_checkpoint_is_refused(share, saved):
    whole = saved.read_bytes()
    saved.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match="not a complete checkpoint"):
        solve(noisy(), Pegasos(), resume=saved)


def test_what_is_no_checkpoint_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        solve(noisy(), Pegasos(), resume=tmp_path / "nothing.npz")
    np.savez(tmp_path / "other.npz", X=np.ones(3))
    np.save(tmp_path / "array.npy", np.ones(3))
    (tmp_path / "text.npz").write_text("no archive")
    for name in ("other.npz", "array.npy", "text.npz"):
        with pytest.raises(ValueError, match="not a complete checkpoint"):
            solve(noisy(), Pegasos(), resume=tmp_path / name)


def test_a_checkpoint_is_loaded_without_pickle(saved):
    with np.load(saved, allow_pickle=False) as file:
        assert all(file[name].dtype.kind in "fiu" for name in file.files)
        assert bytes(file["header"]).startswith(b"{")


@pytest.mark.parametrize("where", ["savez", "replace", "fsync"])
def test_a_crash_while_saving_leaves_the_old_file(where, saved, monkeypatch):
    before = saved.read_bytes()

    def fail(*arguments, **options):
        if where == "savez":
            arguments[0].write(b"half of it")
        raise OSError("the disk is full")

    monkeypatch.setattr(np if where == "savez" else os, where, fail)
    with pytest.raises(OSError, match="the disk is full"):
        solve(noisy(), Pegasos(), tol=1e-12, max_passes=3, checkpoint=saved)
    monkeypatch.undo()
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]
    assert solve(noisy(), Pegasos(), tol=1e-12, max_passes=3, resume=saved).n_passes == 3


# ------------------------------------------------------------------------------------------ Ctrl-C


@pytest.fixture
def ctrl_c():
    """Python's own handler, as in a terminal; and ``raise_at(n)``: a callback that presses."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def raise_at(look, times=1):
        seen = []

        def press(event):
            seen.append(event)
            if sum(e.kind == "look" for e in seen) == look and event.kind == "look":
                for _ in range(times):
                    signal.raise_signal(signal.SIGINT)

        return press

    yield raise_at
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("solver", [DualAscent(), Pegasos()], ids=name_of)
def test_ctrl_c_ends_a_run_with_a_certified_answer(solver, bias, ctrl_c, tmp_path):
    problem, path = large(bias), tmp_path / "run.npz"
    options = {"tol": 1e-7, "max_passes": 40, "seed": 2}
    solution = solve(problem, solver, on_event=ctrl_c(2), checkpoint=path, **options)
    assert solution.status == "interrupted"
    assert not solution.converged
    assert solution.certificate.relative_gap < math.inf
    assert len(solution.trace) <= 4
    check(problem, solution)
    assert "interrupted" in solution.summary()
    again = solve(problem, solver, resume=path, **options)
    same_run(again, solve(problem, solver, **options))


def test_ctrl_c_from_outside_ends_a_long_run(ctrl_c):
    problem = noisy()
    solve(problem, Pegasos(), tol=None, max_passes=1)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    solution = solve(problem, Pegasos(), tol=1e-12, max_passes=math.inf, max_seconds=20)
    timer.join()
    assert solution.status == "interrupted"
    assert solution.seconds < 10
    check(problem, solution)


def test_a_second_ctrl_c_is_at_once(ctrl_c):
    with pytest.raises(KeyboardInterrupt):
        solve(large(), Pegasos(), tol=1e-12, on_event=ctrl_c(2, times=2))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_all_of_many_problems(n_jobs, ctrl_c):
    problems = [noisy(seed=k) for k in range(4)]
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    found = solve_many(
        problems, Pegasos(), tol=1e-12, max_passes=math.inf, max_seconds=20, n_jobs=n_jobs
    )
    timer.join()
    assert [solution.status for solution in found] == ["interrupted"] * 4
    for problem, solution in zip(problems, found):
        check(problem, solution)


def test_a_handler_of_the_users_own_is_left_alone(ctrl_c):
    pressed = []

    def mine(number, frame):
        pressed.append(number)

    signal.signal(signal.SIGINT, mine)
    try:
        solution = solve(large(), Pegasos(), tol=1e-12, max_passes=5, on_event=ctrl_c(2))
        assert signal.getsignal(signal.SIGINT) is mine
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    assert pressed == [signal.SIGINT]
    assert solution.status == "max_passes"


def test_the_handler_is_restored_after_an_error(ctrl_c):
    with pytest.raises(ValueError, match="batch=500"):
        solve(noisy(), Pegasos(batch=500))


def test_a_run_in_another_thread_leaves_signals_alone(ctrl_c):
    found = []
    thread = threading.Thread(target=lambda: found.append(solve(noisy())))
    thread.start()
    thread.join()
    assert found[0].converged


# -------------------------------------------------------------------------------------- warm starts


@pytest.mark.parametrize("bias", ["none", "feature", "free"])
@pytest.mark.parametrize(
    "first", [DualAscent(), Pegasos(), Pegasos(batch=7, output="average")], ids=name_of
)
@pytest.mark.parametrize(
    "second", [DualAscent(), Pegasos(), Pegasos(batch=7, output="average")], ids=name_of
)
def test_any_answer_starts_any_solver(first, second, bias):
    problem = noisy(bias=bias)
    answer = solve(problem, first, tol=0.05, max_passes=300)
    solution = solve(problem, second, tol=0.05, max_passes=300, warm=answer)
    assert solution.converged
    best = solve(problem, tol=1e-9).certificate
    assert best.dual <= (1 + 1e-9) * solution.certificate.primal <= 1.051 * best.primal
    assert solution.certificate.dual <= (1 + 1e-9) * best.primal
    if bias != "feature":
        check(problem, solution)


@pytest.mark.parametrize("bias", ["none", "free"])
def test_dual_ascent_needs_fewer_passes_from_an_answer(bias):
    problem = large(bias)
    cold = solve(problem, DualAscent(), tol=1e-5)
    own = solve(problem, DualAscent(), tol=1e-5, warm=cold)
    near = solve(problem, DualAscent(), tol=1e-5, warm=solve(problem, Pegasos(), tol=1e-2))
    assert cold.converged
    assert own.converged
    assert near.converged
    assert own.n_passes < 0.7 * cold.n_passes
    assert near.n_passes <= cold.n_passes
    same_run(own, solve(problem, DualAscent(), tol=1e-5, warm=cold.answer))


@pytest.mark.parametrize("solver", [DualAscent(), Pegasos()], ids=name_of)
def test_an_answer_for_another_C_is_clipped_to_the_new_box(solver):
    answer = solve(noisy(C=10.0), DualAscent())
    problem = noisy(C=0.01)
    solution = solve(problem, solver, tol=0.02, warm=answer)
    assert solution.converged
    check(problem, solution)


@pytest.mark.parametrize("solver", [DualAscent(), Pegasos()], ids=name_of)
@pytest.mark.parametrize("beta", [True, False])
def test_an_answer_without_dual_variables_or_with_a_bias_is_taken(solver, beta):
    answer = solve(noisy(bias="free"), DualAscent()).answer
    problem = noisy()  # which has no bias
    solution = solve(problem, solver, tol=0.02, warm=answer if beta else replace(answer, beta=None))
    assert solution.b == 0.0
    assert solution.converged
    check(problem, solution)


@pytest.mark.parametrize("solver", [DualAscent(), Pegasos(), Auto()], ids=name_of)
@pytest.mark.parametrize(("d", "m"), [(11, 200), (10, 199), (10, 201)])
def test_an_answer_of_another_size_is_refused(solver, d, m):
    answer = Answer(np.zeros(d), 0.0, np.zeros(m))
    with pytest.raises(ValueError, match="warm"):
        solve(noisy(), solver, warm=answer)


def test_what_is_no_answer_is_refused():
    with pytest.raises(TypeError, match="warm must be an Answer or a Solution, not a list"):
        solve(noisy(), warm=[1, 2])


def test_a_warm_start_and_w1_contradict_each_other():
    answer = Answer(np.zeros(10), 0.0, None)
    with pytest.raises(ValueError, match="give w1 or a warm start, not both"):
        solve(noisy(), Pegasos(w1=np.zeros(10)), warm=answer)


def test_an_average_from_a_warm_start_begins_at_the_answer():
    problem, solver = noisy(), Pegasos(batch="all", output="average")
    answer = solve(problem, DualAscent()).answer
    state = solver.start(problem, np.random.SeedSequence(0), answer)
    np.testing.assert_allclose(solver.answer(problem, state).w, answer.w, rtol=1e-11, atol=1e-13)
    solver.advance(problem, state, 1, -1.0)  # one step: the average of w_1 alone
    np.testing.assert_allclose(solver.answer(problem, state).w, answer.w, rtol=1e-11, atol=1e-13)


# --------------------------------------------------------------------------------- scripted solvers


@dataclass
class ScriptedState(State):
    calls: int


@dataclass(frozen=True)
class Scripted(Solver):
    """Its answers and statuses are given: ``script`` holds (multiple of w*, status)."""

    script: tuple = ((1.0, RUNNING),)
    w: np.ndarray = field(default_factory=lambda: np.zeros(10))
    beta: np.ndarray | None = None

    name: ClassVar[str] = "scripted"

    def start(self, problem, seed, warm=None):
        return ScriptedState(0)

    def advance(self, problem, state, visits, goal):
        state.calls += 1
        status = self.script[min(state.calls, len(self.script)) - 1][1]
        return Report(problem.m, look=True, status=status, note=f"call {state.calls}")

    def answer(self, problem, state):
        share = self.script[min(state.calls, len(self.script)) - 1][0]
        return Answer(share * self.w, 0.0, self.beta)


@pytest.fixture
def optimum():
    solution = solve(noisy(), tol=1e-9)
    return {"w": solution.answer.w, "beta": solution.answer.beta}


@pytest.mark.parametrize("status", [DIVERGED, STALLED])
@pytest.mark.parametrize("last", [5.0, math.nan, math.inf])
def test_a_run_that_goes_wrong_keeps_its_best_answer(status, last, optimum):
    problem = noisy()
    script = ((0.5, RUNNING), (0.98, RUNNING), (0.7, RUNNING), (last, status))
    solution = solve(problem, Scripted(script, **optimum), tol=1e-6)
    assert solution.status == status
    assert not solution.converged
    np.testing.assert_array_equal(solution.w, 0.98 * optimum["w"])
    assert solution.trace.notes == [f"call {k}" for k in (1, 2, 3, 4)]
    assert len(solution.trace) == 4
    check(problem, solution)


@pytest.mark.parametrize("bias", ["none", "free"])
def test_a_run_that_diverges_at_once_returns_a_finite_model(bias, optimum):
    problem = noisy(bias=bias)
    nan = {"w": np.full(10, math.nan), "beta": np.full(200, math.nan)}
    solution = solve(problem, Scripted(((1.0, DIVERGED),), **nan), tol=1e-6)
    assert solution.status == "diverged"
    assert np.isfinite(solution.w).all()
    assert math.isfinite(solution.certificate.primal)
    assert solution.certificate.dual <= solution.certificate.primal
    assert not solution.converged


@pytest.mark.parametrize("status", [RUNNING, DIVERGED, STALLED])
@pytest.mark.parametrize("bias", ["none", "free"])
def test_no_model_is_returned_that_is_worse_than_none(status, bias, optimum):
    problem = noisy(bias=bias)
    script = ((1e3, RUNNING), (1e6, status))
    solution = solve(problem, Scripted(script, **optimum), tol=1e-6, max_passes=2)
    assert not solution.converged
    assert not solution.w.any()
    assert solution.certificate.primal == pytest.approx(problem.zero_objective, rel=1e-14)
    assert min(solution.trace.primal) > problem.zero_objective
    assert "w = 0" in solution.trace.notes[-1]
    check(problem, solution)


def test_a_finished_run_returns_its_last_answer_even_if_an_earlier_one_was_better(optimum):
    script = ((0.98, RUNNING), (0.5, FINISHED))
    solution = solve(noisy(), Scripted(script, **optimum), tol=1e-6)
    assert solution.status == "finished"
    np.testing.assert_array_equal(solution.w, 0.5 * optimum["w"])
    assert solution.n_passes == 2
    check(noisy(), solution)


def test_a_run_that_meets_the_tolerance_has_converged_whatever_the_solver_says(optimum):
    for status in (RUNNING, FINISHED, STALLED, DIVERGED):
        solution = solve(noisy(), Scripted(((1.0, status),), **optimum), tol=1e-6)
        assert solution.status == "converged"
        assert solution.converged
        assert solution.n_passes == 1


def test_without_dual_variables_nothing_is_proved(optimum):
    solution = solve(noisy(), Scripted(((1.0, FINISHED),), optimum["w"], None), tol=1e-6)
    assert solution.alpha is None
    assert solution.certificate.dual == 0.0
    assert solution.certificate.relative_gap == math.inf
    assert solution.status == "finished"
    assert "no dual variables" in solution.certificate.how


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (DIVERGED, "raise lam"),
        (STALLED, "raise tol"),
        (FINISHED, "more steps"),
        ("max_passes", "raise max_passes"),
        ("max_seconds", "raise max_seconds"),
        ("interrupted", "warm_start"),
    ],
)
def test_the_summary_says_where_a_run_ended_and_what_to_do(status, advice, optimum):
    solution = solve(noisy(), Scripted(((0.5, FINISHED),), **optimum), tol=1e-6)
    text = replace(solution, status=status).summary()
    assert status in text
    assert advice in text
    assert f"{solution.certificate.relative_gap:.2e}" in text
    assert "tol is 1.0e-06" in text
    assert "1.0 passes" in text
    assert "no tolerance was set" in replace(solution, status=status, tol=None).summary()


def test_the_summary_of_a_converged_run_says_so():
    solution = solve(noisy(), tol=1e-6)
    assert solution.summary().startswith("converged to a relative gap of ")
    assert f"{solution.n_passes:.1f} passes" in solution.summary()


@pytest.mark.parametrize(
    ("m", "d", "visits"), [(5000, 3, 4096), (20, 10**5, 10), (2, 2 * 10**6, 1)]
)
def test_the_first_call_reads_few_rows_where_they_are_long(m, d, visits):
    asked = []

    class Listening(Scripted):
        def advance(self, problem, state, visits, goal):
            asked.append(visits)
            return super().advance(problem, state, visits, goal)

    problem = Problem(np.zeros((m, d), dtype=np.int8), np.ones(m), C=1.0)
    solve(problem, Listening(((0.0, FINISHED),), np.zeros(d)), tol=None)
    assert asked == [visits]


def test_logistic_loss_with_one_class_and_a_free_bias_has_no_minimum():
    one_class = {"X": np.eye(3), "y": [1, 1, 1], "C": 1.0, "loss": "logistic"}
    with pytest.raises(ValueError, match=r"all labels are \+1: .* has no minimum"):
        solve(Problem(**one_class, bias="free"))
    assert solve(Problem(**one_class, bias="feature")).converged
    mixed = {**one_class, "y": [1, -1, 1]}
    with pytest.raises(ValueError, match="has no minimum"):
        solve(Problem(**mixed, bias="free", weights=[1, 0, 1]))
    assert solve(Problem(**mixed, bias="free")).converged


# ---------------------------------------------------------------------------------------- best of


def objective(problem, solution):
    return certify(problem, Answer(solution.answer.w, solution.b, None)).certificate.primal


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("output", ["last", "random"])
def test_best_of_chooses_the_smallest_objective(output, n_jobs):
    problem, solver = noisy(), Pegasos(steps=500, output=output, order="iid")
    chosen = best_of(problem, solver, runs=5, choose="objective", seed=3, n_jobs=n_jobs)
    short = replace(solver, steps=100)
    runs = solve_many([problem] * 5, short, tol=None, max_passes=math.inf, seed=3)
    values = [objective(problem, run) for run in runs]
    assert len(set(values)) == 5
    assert objective(problem, chosen) == min(values)
    np.testing.assert_array_equal(chosen.w, runs[int(np.argmin(values))].w)
    assert chosen.trace.notes[-1].startswith("best of 5 runs of 100 steps by objective: ")


def test_best_of_chooses_the_smallest_error_on_the_holdout():
    problem, holdout = noisy(), noisy(seed=1)
    solver = Pegasos(steps=60, output="last", order="iid")
    chosen = best_of(problem, solver, runs=6, holdout=holdout, seed=3)
    runs = solve_many([problem] * 6, replace(solver, steps=10), tol=None, max_passes=1e9, seed=3)
    errors = [np.mean(holdout.y * (table_of(holdout) @ run.w) <= 0) for run in runs]
    assert len(set(errors)) > 1
    assert np.mean(holdout.y * (table_of(holdout) @ chosen.w) <= 0) == min(errors)


def test_best_of_makes_as_many_runs_as_the_confidence_needs():
    chosen = best_of(noisy(), Pegasos(steps=90, order="iid"), delta=0.05, choose="objective")
    assert chosen.trace.notes[-1].startswith("best of 3 runs of 30 steps")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "exactly one of runs and delta"),
        ({"runs": 3, "delta": 0.1}, "exactly one of runs and delta"),
        ({"delta": 0.0}, "delta must lie between 0 and 1"),
        ({"delta": 1.0}, "delta must lie between 0 and 1"),
        ({"delta": math.nan}, "delta must lie between 0 and 1"),
        ({"runs": 0}, "among 0 runs"),
        ({"runs": 2.0}, "runs must be a whole number, not 2.0"),
        ({"runs": -1}, "among -1 runs"),
        ({"runs": 40}, "fewer than 3 for each"),
        ({"runs": 3, "choose": "luck"}, "choose must be 'error' or 'objective'"),
        ({"runs": 3, "choose": "error"}, "needs a holdout"),
        ({"runs": 3, "solver": Pegasos()}, "give it steps=T"),
        ({"runs": 3, "solver": DualAscent()}, "give it steps=T"),
    ],
)
def test_best_of_refuses_what_makes_no_sense(options, sentence):
    options = {"solver": Pegasos(steps=100), "choose": "objective", **options}
    with pytest.raises(ValueError, match=sentence):
        best_of(noisy(), options.pop("solver"), **options)


def test_the_holdout_has_the_same_lam_or_the_same_C():
    problem, solver = noisy(C=1.0), Pegasos(steps=100, order="iid")
    options = {"runs": 3, "choose": "objective"}
    with pytest.raises(ValueError, match="the same lam or the same C"):
        best_of(problem, solver, holdout=noisy(100, seed=1, C=9.0), **options)
    for C in (1.0, 2.0):  # of half as many rows: 2.0 is the same lam
        best_of(problem, solver, holdout=noisy(100, seed=1, C=C), **options)
    best_of(problem, solver, holdout=noisy(100, seed=1, C=9.0), runs=3)  # the error has no C


def test_resuming_a_finished_run_keeps_its_certificate(tmp_path):
    problem, path = noisy(100, 5), tmp_path / "run.npz"
    solver = Pegasos(steps=50)
    whole = solve(problem, solver, tol=None, checkpoint=path)
    same_run(whole, solve(problem, solver, tol=None, resume=path))
    assert whole.certificate.dual > 0


def test_an_interrupt_at_the_last_look_is_not_lost():
    pressed = []

    def press(event):
        if event.kind == "look" and event.certificate.relative_gap <= 0.5 and not pressed:
            pressed.append(signal.raise_signal(signal.SIGINT))

    solution = solve(noisy(), Pegasos(), tol=0.5, on_event=press)
    assert solution.status == "interrupted"
    assert solution.converged


def test_best_of_judges_the_very_b_that_it_returns():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 3))
    y = np.where(X[:, 0] > 0.5, 1.0, -1.0)
    problem, holdout = (Problem(X[k::2], y[k::2], lam=0.1, bias="free") for k in (0, 1))
    solver = Pegasos(steps=60, order="iid", output="random")
    chosen = best_of(problem, solver, runs=3, holdout=holdout, choose="objective")
    judged = [float(v) for v in chosen.trace.notes[-1].split(": ")[1].split(", ")]
    margins = holdout.y * (X[1::2] @ chosen.w + chosen.b)
    objective = 0.5 * chosen.w @ chosen.w + holdout.C * np.maximum(0, 1 - margins).sum()
    assert min(judged) == pytest.approx(objective, rel=1e-4)
    with pytest.raises(ValueError, match="holdout has d"):
        best_of(problem, solver, runs=3, holdout=Problem(np.eye(2), [1, -1], lam=1, bias="free"))


@pytest.mark.parametrize("C", [1e3, 1e5])
def test_auto_leaves_dual_ascent_before_the_passes_run_out(C):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2500, 600)) * (rng.random((2500, 600)) < 8 / 600)
    y = np.where(X @ rng.standard_normal(600) + 1.5 * rng.standard_normal(2500) > 0, 1.0, -1.0)
    problem = Problem(sparse.csr_array(X), y, C=C)
    assert not solve(problem, "dual-ascent").converged  # its 1000 passes do not do
    solution = solve(problem, "auto")
    assert solution.converged
    assert any("hands over to huber-newton" in note for note in solution.trace.notes)
