"""The one driver: it runs a solver, looks at the gap, and knows when to stop.

``solve`` is the only loop around a solver in this library. Trace, events, limits, checkpoints,
interrupts and certificates exist here and nowhere else.
"""

from __future__ import annotations

import json
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from pegasos.certificate import (
    FINEST_TOLERANCE,
    RECOMPUTED,
    TRIVIAL,
    Answer,
    Certificate,
    View,
    certificate,
    certify,
)
from pegasos.compiled import limit_blas
from pegasos.data.examples import DataError
from pegasos.data.saving import saved_file
from pegasos.losses import total_loss
from pegasos.problem import Problem
from pegasos.solvers import as_solver
from pegasos.solvers.contract import (
    DIVERGED,
    FINISHED,
    RUNNING,
    SMALL,
    STALLED,
    Solver,
    describe,
    pack,
)

CONVERGED = "converged"
MAX_PASSES, MAX_SECONDS, INTERRUPTED = "max_passes", "max_seconds", "interrupted"

CALL_SECONDS = 0.05  # how long one call of ``advance`` should last
FIRST_VISITS, FIRST_NONZEROS = 1 << 12, 1e6  # the most that the first call reads
SAVE_EVERY = 30.0  # seconds of wall time between two checkpoints, where looks are rarer
FORMAT = "pegasos-checkpoint-1"


class ConvergenceWarning(UserWarning):
    """A run ended before its relative gap fell below the tolerance."""


@dataclass(frozen=True)
class Event:
    """Something that happened in a run: ``"progress"``, a ``"look"`` at a certificate, or a
    ``"note"``.

    ``problem`` is the number of the problem in ``solve_many`` (0 in ``solve``). A look carries the
    answer as it was then (``view``) and the iterations of the method (``steps``); progress what the
    solver guesses of the relative gap, infinite where it does not.
    """

    kind: str
    problem: int
    passes: float
    seconds: float
    certificate: Certificate | None = None
    text: str = ""
    steps: float = math.nan
    view: View | None = None
    estimate: float = math.inf


@dataclass
class Trace:
    """The history of a run: one entry for each look at the certificate, and notes of decisions.

    ``seconds`` are spent inside the solver; looking is not counted. ``steps`` are the iterations of
    the method in its own measure.
    """

    passes: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    primal: list[float] = field(default_factory=list)
    dual: list[float] = field(default_factory=list)
    relative_gap: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, passes: float, steps: float, seconds: float, proof: Certificate) -> None:
        self.passes.append(passes)
        self.steps.append(steps)
        self.seconds.append(seconds)
        self.primal.append(proof.primal)
        self.dual.append(proof.dual)
        self.relative_gap.append(proof.relative_gap)

    def to_dict(self) -> dict[str, list]:
        """The columns by name, ready for a data frame."""
        return {k: v for k, v in vars(self).items() if k != "notes"}

    def __len__(self) -> int:
        return len(self.passes)


@dataclass(frozen=True)
class Solution:
    """The result of ``solve``.

    Attributes
    ----------
    w : array of shape (d,)
        The coefficients of the features.
    b : float
        The bias (for ``bias="feature"``: the constant times its coefficient).
    alpha : array of shape (m,) or None
        The dual variables: w = Σ α_i y_i x_i for labels, Σ α_i x_i for numbers.
    certificate : Certificate
        Primal, dual and gap of exactly this w, b and alpha.
    trace : Trace
        How the run went.
    status : str
        ``"converged"``, or what ended the run: ``"finished"``, ``"max_passes"``,
        ``"max_seconds"``, ``"interrupted"``, ``"stalled"`` or ``"diverged"``.
    n_passes : float
        Row visits divided by the number of rows.
    seconds : float
        Wall time, with the looks.
    converged : bool
        Whether the relative gap is at most ``tol``.
    answer : Answer
        What another solver can start from.
    signs : array or 1.0
        The labels where there are labels: β = α · signs.
    state : object
        The solver's state at the end (None from ``solve_many``, which would keep too many).
    findings : dict
        What the solver has found besides, such as the rows that it mistrusts.
    """

    w: np.ndarray
    b: float
    certificate: Certificate
    trace: Trace
    status: str
    n_passes: float
    seconds: float
    converged: bool
    tol: float | None
    answer: Answer = field(repr=False)
    signs: np.ndarray | float = field(repr=False)
    state: Any = field(repr=False)
    findings: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def alpha(self) -> np.ndarray | None:
        """The dual variables, from the coefficients of the rows."""
        return None if self.answer.beta is None else self.answer.beta * self.signs

    def summary(self) -> str:
        """One sentence: where the run ended and, if it fell short, what to do."""
        gap = self.certificate.relative_gap
        if self.converged:
            return f"converged to a relative gap of {gap:.2e} in {self.n_passes:.1f} passes"
        advice = {
            MAX_PASSES: "raise max_passes or tol, scale the features, or lower C",
            MAX_SECONDS: "raise max_seconds or tol, scale the features, or lower C",
            INTERRUPTED: "the best model so far is kept; fit again with warm_start to go on",
            STALLED: "this is as close as float64 sums come; raise tol or scale the features",
            DIVERGED: "scale the features or raise lam; the best model so far is kept",
            FINISHED: "give the solver more steps, or choose solver='auto'",
        }[self.status]
        goal = "no tolerance was set" if self.tol is None else f"tol is {self.tol:.1e}"
        return (
            f"stopped ({self.status}) at a relative gap of {gap:.2e}, where {goal}, after "
            f"{self.n_passes:.1f} passes and {self.seconds:.2f} s: {advice}"
        )


class Interrupt:
    """Ctrl-C as a flag, read between two calls of ``advance``; a second Ctrl-C is at once."""

    def __init__(self) -> None:
        self.set = False

    def __enter__(self) -> Interrupt:
        self._before = None
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if before is signal.default_int_handler:
                self._before = before
                signal.signal(signal.SIGINT, self._raise_flag)
        return self

    def _raise_flag(self, number, frame) -> None:
        if self.set:
            raise KeyboardInterrupt
        self.set = True

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)


def solve(
    problem: Problem,
    solver: str | Solver = "auto",
    *,
    tol: float | None = 1e-3,
    max_passes: float = 1000,
    max_seconds: float | None = None,
    max_solver_seconds: float | None = None,
    seed: int | np.random.SeedSequence | None = 0,
    warm: Answer | Solution | None = None,
    checkpoint: str | os.PathLike | None = None,
    resume: str | os.PathLike | None = None,
    look_at: Sequence[float] = (),
    on_event: Callable[[Event], None] | None = None,
) -> Solution:
    """Solve a problem and certify the answer.

    Parameters
    ----------
    problem : Problem
        What is solved.
    solver : str or Solver, default="auto"
        The algorithm, by name or as an object such as ``Pegasos(batch=10)``.
    tol : float or None, default=1e-3
        Stop when ``(primal - dual) / dual`` is at most this. None: never stop on the gap.
    max_passes : float, default=1000
        Stop after this many row visits, divided by the number of rows.
    max_seconds : float, optional
        Stop after this much wall time.
    max_solver_seconds : float, optional
        Stop after this much time inside the solver: looks do not count.
    seed : int, SeedSequence or None, default=0
        The same seed gives the same bits. None draws one from the system.
    warm : Answer or Solution, optional
        Start from what any solver has found.
    checkpoint : path, optional
        Save the whole run there at every look, every half minute and at the end, complete or not
        at all.
    resume : path, optional
        Go on from such a file; the end has the same bits as a run without a break.
    look_at : sequence of float, default=()
        Passes at which to look besides; the run itself is the same without.
    on_event : callable, optional
        Called with an ``Event`` at every look and note, and about every 0.05 s between them.

    Returns
    -------
    Solution
        Coefficients, dual variables, certificate and trace.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import Problem, solve
    >>> X = np.array([[1.0, 2.0], [2.0, 0.5], [-1.0, -1.0], [-2.0, 0.5]])
    >>> solution = solve(Problem(X, [1, 1, -1, -1], C=1.0), tol=1e-6)
    >>> solution.converged
    True
    >>> solution.certificate.relative_gap <= 1e-6
    True
    """
    run = _Run(problem, as_solver(solver), tol, max_passes, max_seconds, on_event, 0)
    if max_solver_seconds is not None:
        run.max_solver_seconds = as_limit("max_solver_seconds", max_solver_seconds)
    run.look_at = sorted(as_limit("look_at", passes) for passes in look_at)
    with Interrupt() as interrupt, limit_blas():
        return run.go(interrupt, seed, warm, checkpoint, resume)


def solve_many(
    problems: Sequence[Problem],
    solver: str | Solver = "auto",
    *,
    n_jobs: int = 1,
    seed: int | np.random.SeedSequence | None = 0,
    warm: Sequence[Answer | Solution | None] | None = None,
    max_seconds: float | None = None,
    checkpoint: str | os.PathLike | None = None,
    resume: bool = False,
    on_event: Callable[[Event], None] | None = None,
    **options: Any,
) -> list[Solution]:
    """Solve several problems, by threads; the result does not depend on how many.

    Parameters
    ----------
    problems : sequence of Problem
        They may share their rows (see ``Problem.with_targets``).
    solver : str or Solver, default="auto"
        One algorithm for all.
    n_jobs : int, default=1
        Threads; −1 for one per processor.
    seed : int, SeedSequence or None, default=0
        Problem k draws from the k-th child of this seed.
    warm : sequence, optional
        One answer (or None) for each problem.
    max_seconds : float, optional
        For all problems together.
    checkpoint : path, optional
        Save each run, as ``solve`` does: one problem there, several in files of this name with
        ``.0``, ``.1``, … behind it.
    resume : bool, default=False
        Go on from those of these files that are there.
    on_event : callable, optional
        Called with events that carry the number of their problem.
    **options
        ``tol`` and ``max_passes``, as for ``solve``.

    Returns
    -------
    list of Solution
        In the order of the problems.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import Problem, solve_many
    >>> X = np.array([[1.0, 2.0], [2.0, 0.5], [-1.0, -1.0], [-2.0, 0.5]])
    >>> first = Problem(X, [1, 1, -1, -1], C=1.0)
    >>> second = first.with_targets([1, -1, 1, -1])
    >>> [solution.converged for solution in solve_many([first, second], n_jobs=2)]
    [True, True]
    """
    chosen = as_solver(solver)
    seeds = _sequence(seed).spawn(len(problems))
    answers = _answers(warm, len(problems))
    seconds = math.inf if max_seconds is None else as_limit("max_seconds", max_seconds)
    end = time.perf_counter() + seconds
    workers = max(1, min(_threads(n_jobs), len(problems)))

    def one(k: int) -> Solution:
        left = None if max_seconds is None else max(end - time.perf_counter(), 0.0)
        run = _Run(
            problems[k],
            chosen,
            options.get("tol", 1e-3),
            options.get("max_passes", 1000),
            left,
            on_event,
            k,
        )
        file = files[k]
        saved = file if resume and file is not None and file.exists() else None
        return replace(run.go(interrupt, seeds[k], answers[k], file, saved), state=None)

    unknown = set(options) - {"tol", "max_passes"}
    if unknown:
        raise TypeError(f"solve_many has no option {', '.join(sorted(unknown))}")
    if resume and checkpoint is None:
        raise ValueError("resume=True needs checkpoint, the name of the files to go on from")
    files = [checkpoint_file(checkpoint, k, len(problems)) for k in range(len(problems))]
    for file in files:
        if file is not None and not resume:  # or a later one would go on with an earlier fit
            file.unlink(missing_ok=True)
    with Interrupt() as interrupt, limit_blas():
        if workers == 1:
            return [one(k) for k in range(len(problems))]
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(one, range(len(problems))))


def checkpoint_file(path: str | os.PathLike | None, k: int, count: int) -> Path | None:
    """Where the run of problem k of so many is saved."""
    if path is None:
        return None
    return Path(path) if count == 1 else Path(f"{os.fspath(path)}.{k}")


class _Run:
    """One run of one solver on one problem."""

    def __init__(self, problem, solver, tol, max_passes, max_seconds, on_event, number):
        self.problem: Problem = problem
        self.solver: Solver = solver
        self.tol = as_tolerance(tol)
        self.max_passes = as_limit("max_passes", max_passes)
        self.max_seconds = math.inf if max_seconds is None else as_limit("max_seconds", max_seconds)
        self.max_solver_seconds = math.inf
        self.on_event = on_event
        self.number = number
        self.trace = Trace()
        self.visits = 0.0
        self.solver_seconds = 0.0
        self.seconds_before = 0.0  # wall time of the runs that this one resumes
        self.looked_at = 0.0  # visits at the last look
        self.best_dual = -math.inf
        self.best_beta: np.ndarray | None = None
        self.best_primal = math.inf
        self.best: tuple[np.ndarray, float] | None = None
        self.portion = _first_portion(problem)
        self.look_at: list[float] = []  # passes, those to come
        self.saved_at = -math.inf  # before the first checkpoint
        self.stopped = ""  # why the run that is resumed had ended

    def go(self, interrupt, seed, warm, checkpoint, resume) -> Solution:
        problem, solver = self.problem, self.solver
        self.begun = time.perf_counter()
        problem.check_attained()
        solver.check(problem)
        if not solver.stops_on_gap and self.tol is not None:
            raise ValueError(
                f"{describe(solver)} ends after its steps and not on the gap: give tol=None"
            )
        if isinstance(warm, Solution):
            warm = warm.answer
        if warm is not None:
            _check_warm(problem, solver, warm)
            warm = replace(warm, b=warm.b - problem.shift if problem.free_bias else 0.0)
        blocks = problem.intake.blocks
        read_before = 0 if blocks is None else blocks.rows_read
        before = time.perf_counter()
        state = solver.start(problem, _sequence(seed), warm)
        self.solver_seconds = time.perf_counter() - before
        if resume is not None:
            self._load(Path(resume), state)
            if checkpoint is not None and os.path.realpath(resume) == os.path.realpath(checkpoint):
                self.saved_at = self.begun  # the last good state is there
        else:
            for text in (*problem.intake.notes, *self._notes()):
                self._note(text)
            if checkpoint is not None:  # a place that cannot be written is better known now
                self._save(Path(checkpoint), state, "")
        goal = self._goal()
        status = self._over_already(state, goal, checkpoint)
        while not status:
            status = self._turn(interrupt, state, goal, checkpoint)
        if blocks is not None:
            blocks.release()
            readings = (blocks.rows_read - read_before) / problem.intake.n_rows
            self._note(f"the store was read {readings:.1f} times, looks included")
        return self._finish(INTERRUPTED if interrupt.set else status, state)

    def _notes(self):
        if self.tol is not None and self.tol < FINEST_TOLERANCE:
            yield (
                f"tol={self.tol:g} is treated as {FINEST_TOLERANCE:g}, the finest that float64 "
                "sums can prove"
            )

    def _goal(self) -> float:
        """The relative gap at which to stop."""
        if self.tol is None:
            return -1.0
        problem = self.problem
        if self.solver.solves.exact and problem.m * problem.d < SMALL:
            return 0.0
        return max(self.tol, FINEST_TOLERANCE)

    @property
    def passes(self) -> float:
        return self.visits / self.problem.m

    def _turn(self, interrupt, state, goal, checkpoint) -> str:
        """One call of the solver and, where it is due, one look. Returns why to stop, or "".

        Scheduled looks depend on the path alone. A look because a limit is reached does not
        touch the state, so that a resumed run goes on as if there had been no stop.
        """
        m = self.problem.m
        passes_then = self.looked_at / m
        wait = (
            max(10.0, passes_then) if self.solver.solves.estimates else max(1.0, 0.3 * passes_then)
        )
        due = self.looked_at + wait * m
        while self.look_at and self.look_at[0] * m <= self.visits:
            self.look_at.pop(0)
        asked = self.look_at[0] * m if self.look_at else math.inf
        ahead = math.ceil(min(due, asked, self.max_passes * m) - self.visits)
        before = time.perf_counter()
        report = self.solver.advance(self.problem, state, max(1, min(self.portion, ahead)), goal)
        elapsed = time.perf_counter() - before
        self.solver_seconds += elapsed
        self.visits += report.visits
        grow = min(max(CALL_SECONDS / max(elapsed, 1e-9), 0.5), 2.0)
        self.portion = int(min(max(self.portion * grow, 1), 1e12))
        if report.note:
            self._note(report.note)
        estimate = math.inf if report.gap_estimate is None else report.gap_estimate
        stop = report.status if report.status != RUNNING else self._limit_reached(interrupt)
        scheduled = report.look or self.visits >= due or estimate <= 0.97 * goal
        self._emit("progress", estimate=estimate)
        if not (scheduled or stop or self.visits >= asked):
            since = time.perf_counter() - max(self.saved_at, self.begun)  # none yet: from here on
            if checkpoint is not None and since >= SAVE_EVERY:
                self._save(Path(checkpoint), state, "")
            return ""
        if checkpoint is not None and not scheduled:
            self._save(Path(checkpoint), state, stop)
        view = self._look(state)
        if scheduled:
            self.looked_at = self.visits
        if self._proof(self.best_primal).relative_gap <= goal:
            stop = CONVERGED
        elif scheduled and report.status == RUNNING:
            before = time.perf_counter()
            self.solver.looked(self.problem, state, view)
            self.solver_seconds += time.perf_counter() - before
        if checkpoint is not None and scheduled:
            self._save(Path(checkpoint), state, stop)
        return stop

    def _limit_reached(self, interrupt) -> str:
        if interrupt.set:
            return INTERRUPTED
        if self.passes >= self.max_passes:
            return MAX_PASSES
        if time.perf_counter() - self.begun >= self.max_seconds:
            return MAX_SECONDS
        if self.solver_seconds >= self.max_solver_seconds:
            return MAX_SECONDS
        return ""

    def _look(self, state) -> View:
        self._certify(state)
        self._record(state)
        return self.view

    def _record(self, state) -> None:
        proof = self._proof(self.view.certificate.primal)
        steps = self.solver.steps_done(self.problem, state)
        self.trace.add(self.passes, steps, self.solver_seconds, proof)
        self._emit("look", proof, steps=steps, view=self.view)

    def _certify(self, state) -> None:
        """Certify the present answer, and keep the best of both sides."""
        answer = self.solver.answer(self.problem, state)
        view = certify(self.problem, Answer(answer.w.copy(), answer.b, answer.beta))
        if view.beta is not None and view.certificate.dual > self.best_dual:
            self.best_dual, self.best_beta = view.certificate.dual, view.beta
        if view.certificate.primal < self.best_primal:
            self.best_primal, self.best = view.certificate.primal, (view.w, view.b)
        self.view = view

    def _proof(self, primal: float) -> Certificate:
        """A primal value against the best lower bound so far."""
        if self.best_beta is None:
            return certificate(self.problem, primal, 0.0, TRIVIAL)
        return certificate(self.problem, primal, self.best_dual, RECOMPUTED)

    def _finish(self, status: str, state: Any) -> Solution:
        problem = self.problem
        if status == FINISHED:
            w, b, primal = self.view.w, self.view.b, self.view.certificate.primal
        else:
            w, b, primal = self._best_or_zero()
        proof = self._proof(primal)
        tol = None if self.tol is None else max(self.tol, FINEST_TOLERANCE)
        converged = tol is not None and proof.relative_gap <= tol
        if converged and status != INTERRUPTED:
            status = CONVERGED
        b += problem.shift
        answer = Answer(w, b if problem.free_bias else 0.0, self.best_beta)
        return Solution(
            w=w[: problem.intake.n_features].copy(),
            b=float(problem.constant * w[-1] if problem.bias == "feature" else b),
            certificate=proof,
            trace=self.trace,
            status=status,
            n_passes=self.passes,
            seconds=self.seconds_before + time.perf_counter() - self.begun,
            converged=converged,
            tol=tol,
            answer=answer,
            signs=problem.signs,
            state=state,
            findings=self.solver.findings(problem, state),
        )

    def _best_or_zero(self) -> tuple[np.ndarray, float, float]:
        """The best model that was looked at, and its primal value; w = 0 where that is better."""
        if self.best is None or self.best_primal > self.problem.zero_objective:
            zero = certify(self.problem, Answer(np.zeros(self.problem.d), 0.0, None))
            if self.best is None or zero.certificate.primal < self.best_primal:
                self._note("no model that was found is better than w = 0, which is returned")
                return zero.w, zero.b, zero.certificate.primal
        return *self.best, self.best_primal

    def _emit(self, kind: str, proof: Certificate | None = None, **more: Any) -> None:
        if self.on_event is not None:
            seconds = self.solver_seconds
            self.on_event(Event(kind, self.number, self.passes, seconds, proof, **more))

    def _note(self, text: str) -> None:
        self.trace.notes.append(text)
        self._emit("note", text=text)

    def _over_already(self, state, goal, checkpoint) -> str:
        """Why not one turn is needed: a resumed run had ended, or nothing is left; else ""."""
        ended = ""
        if self.stopped == FINISHED:
            ended = FINISHED
        elif self.passes >= self.max_passes:
            ended = MAX_PASSES
        elif self.max_seconds == 0.0 or self.solver_seconds >= self.max_solver_seconds:
            ended = MAX_SECONDS
        if not ended and self.stopped != CONVERGED:
            return ""
        if checkpoint is not None:
            self._save(Path(checkpoint), state, ended or CONVERGED)
        seen = self.trace.passes[-1:] == [self.passes]
        if not seen or ended == FINISHED:  # whose last answer is returned, not the best
            self._certify(state)
        if not seen:
            self._record(state)
        return CONVERGED if self._proof(self.best_primal).relative_gap <= goal else ended

    _KEPT = ("visits", "solver_seconds", "looked_at", "best_dual", "best_primal")

    def _save(self, path: Path, state: Any, stopped: str) -> None:
        """The whole run in one file: NumPy's own format with a JSON header, no pickle."""
        arrays: dict[str, np.ndarray] = {}
        numbers: dict[str, Any] = {}
        for name, item in pack(state).items():
            if isinstance(item, np.ndarray):
                arrays["state." + name] = item
            else:
                numbers[name] = item
        if self.best_beta is not None:
            arrays["best_beta"] = self.best_beta
        if self.best is not None:
            arrays["best_w"] = self.best[0]
        header = {
            "format": FORMAT,
            "solver": describe(self.solver),
            "rows": _how_rows_lie(self.problem),
            "problem": self.problem.fingerprint(),
            "stopped": stopped,
            "state": numbers,
            "run": {name: getattr(self, name) for name in self._KEPT},
            "best_b": 0.0 if self.best is None else self.best[1],
            "seconds": self.seconds_before + time.perf_counter() - self.begun,
            "trace": vars(self.trace),
        }
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        try:
            with saved_file(path, force=True) as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]
        except (DataError, OSError) as error:
            if math.isinf(self.saved_at):
                raise
            self._note(f"the checkpoint before is kept: {error}")
        self.saved_at = time.perf_counter()

    def _load(self, path: Path, state: Any) -> None:
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            header = json.loads(arrays.pop("header").tobytes())
        except FileNotFoundError:
            raise
        except Exception:  # whatever else it is: NumPy and JSON say that in many ways
            raise ValueError(
                f"{path} is not a complete checkpoint of pegasos: give a file that a run has saved"
            ) from None
        for what, found, wanted in (
            ("format", header.get("format"), FORMAT),
            ("solver", header.get("solver"), describe(self.solver)),
            ("way of keeping rows", header.get("rows"), _how_rows_lie(self.problem)),
        ):
            if found != wanted:
                raise ValueError(
                    f"{path} belongs to another {what}: it holds {found}, this run has {wanted}"
                )
        if header.get("problem") != self.problem.fingerprint():
            raise ValueError(
                f"{path} belongs to another problem: rows, targets, weights, loss, C or bias differ"
            )
        best_beta, best_w = arrays.pop("best_beta", None), arrays.pop("best_w", None)
        saved = {name.removeprefix("state."): array for name, array in arrays.items()}
        self.solver.restore(self.problem, state, {**header["state"], **saved})
        for name in self._KEPT:
            setattr(self, name, header["run"][name])
        self.best_beta = best_beta
        self.best = None if best_w is None else (best_w, header["best_b"])
        self.seconds_before = header["seconds"]
        self.trace = Trace(**header["trace"])
        self.stopped = header["stopped"]


def _sequence(seed: int | np.random.SeedSequence | None) -> np.random.SeedSequence:
    """A sequence of our own: spawning from the caller's would change it."""
    if isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
    return np.random.SeedSequence(seed)


def _answers(warm: Any, count: int) -> Sequence[Answer | Solution | None]:
    """One warm start, or None, for each problem."""
    if warm is None:
        return [None] * count
    if not isinstance(warm, Sequence) or len(warm) != count:
        raise ValueError(
            f"warm must be a list with one answer, or None, for each of {count} problems"
        )
    return warm


def _how_rows_lie(problem: Problem) -> str:
    """What decides, besides the problem, in which order its rows are visited."""
    blocks = problem.intake.blocks
    return "memory" if blocks is None else f"a store, {blocks.bounds[1]} to a block"


def _first_portion(problem: Problem) -> int:
    """The visits of the first call, before it is known how long one takes."""
    per_row = problem.rows.values.size / problem.intake.n_rows
    return max(1, int(min(FIRST_VISITS, FIRST_NONZEROS / max(per_row, 1.0))))


def _check_warm(problem: Problem, solver: Solver, warm: Any) -> None:
    """A warm start must be an answer that fits the problem, and the only start."""
    if not isinstance(warm, Answer):
        raise TypeError(f"warm must be an Answer or a Solution, not a {type(warm).__name__}")
    if getattr(solver, "w1", None) is not None:
        raise ValueError(
            f"give w1 or a warm start, not both: {solver.name} starts from one of them"
        )
    for name, array, size in (("w", warm.w, problem.d), ("beta", warm.beta, problem.y.size)):
        if array is None and name == "beta":
            continue
        array = np.asarray(array)
        if array.shape != (size,) or not np.isfinite(array).all():
            raise ValueError(
                f"the warm start's {name} must hold {size} finite numbers; its shape is "
                f"{array.shape}"
            )


def as_tolerance(tol: Any) -> float | None:
    """A tolerance as a number, or None for none."""
    if tol is None:
        return None
    if not (isinstance(tol, int | float | np.number) and 0 <= float(tol) < math.inf):
        raise ValueError(f"tol must be a number that is zero or positive, or None, not {tol!r}")
    return float(tol)


def as_limit(name: str, limit: Any) -> float:
    """A limit, of this name, as a number."""
    if not (isinstance(limit, int | float | np.number) and float(limit) >= 0):
        raise ValueError(f"{name} must be zero or positive, not {limit!r}")
    return float(limit)


def _is_whole(number: Any) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def _threads(n_jobs: Any) -> int:
    if not _is_whole(n_jobs) or n_jobs == 0:
        raise ValueError(f"n_jobs must be a whole number other than zero, not {n_jobs!r}")
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def best_of(
    problem: Problem,
    solver: Solver,
    *,
    runs: int | None = None,
    delta: float | None = None,
    holdout: Problem | None = None,
    choose: str = "error",
    seed: int | np.random.SeedSequence | None = 0,
    n_jobs: int = 1,
) -> Solution:
    """Boost the confidence: several short runs instead of a long one, and the best of them.

    The solver's ``steps`` are divided among ⌈ln 1/δ⌉ runs, each with draws of its own (Pegasos,
    section 3, after Theorem 3). With probability 1 − δ at least one of them is as good as the
    theorem says with a confidence of only 1/e.

    Parameters
    ----------
    problem : Problem
        What is solved.
    solver : Solver
        One with ``steps``, such as ``Pegasos(steps=10_000, output="random")``.
    runs : int, optional
        How many runs; or give ``delta``.
    delta : float, optional
        The allowed probability of failure; runs = ⌈ln 1/δ⌉.
    holdout : Problem, optional
        Rows and labels to choose by. O(1/ε²) of them suffice for the error.
    choose : {"error", "objective"}, default="error"
        By the zero-one error on the holdout, or by the objective (on the holdout if there is
        one, else on the problem itself; the holdout has the same ``lam`` or the same ``C``).
    seed : int, SeedSequence or None, default=0
        Run k draws from its k-th child.
    n_jobs : int, default=1
        Threads.

    Returns
    -------
    Solution
        The run that was chosen; its trace notes say among which.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import Pegasos, Problem, best_of
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 5))
    >>> problem = Problem(X, np.sign(X[:, 0]), lam=0.1)
    >>> solution = best_of(problem, Pegasos(steps=3000, output="random", order="iid"),
    ...                    delta=0.05, choose="objective")
    >>> solution.trace.notes[-1].startswith("best of 3 runs")
    True
    """
    if (runs is None) == (delta is None):
        raise ValueError("give exactly one of runs and delta (runs = ceil(ln(1/delta)))")
    if delta is not None:
        if not 0 < delta < 1:
            raise ValueError(f"delta must lie between 0 and 1, not {delta!r}")
        runs = max(1, math.ceil(math.log(1 / delta)))
    if not _is_whole(runs):
        raise ValueError(f"runs must be a whole number, not {runs!r}")
    assert runs is not None
    steps = getattr(solver, "steps", None)
    if steps is None:
        raise ValueError("best_of divides the solver's steps among the runs: give it steps=T")
    if runs < 1 or steps // runs < 3:
        raise ValueError(f"{steps} steps among {runs} runs leaves fewer than 3 for each")
    if choose not in ("error", "objective"):
        raise ValueError(f"choose must be 'error' or 'objective', not {choose!r}")
    if choose == "error" and (holdout is None or not holdout.loss.labels):
        raise ValueError("choosing by the zero-one error needs a holdout problem with labels")
    short = type(solver)(**{**solver.get_params(), "steps": steps // runs})
    if holdout is not None:
        for fact in ("d", "bias", "constant"):
            if getattr(holdout, fact) != getattr(problem, fact):
                raise ValueError(
                    f"the holdout has {fact} {getattr(holdout, fact)!r}, the problem "
                    f"{getattr(problem, fact)!r}: they must agree"
                )
        if choose == "objective" and not any(
            math.isclose(getattr(holdout, name), getattr(problem, name)) for name in ("lam", "C")
        ):
            raise ValueError(
                f"the holdout has lam={holdout.lam:g} and C={holdout.C:g}, the problem "
                f"lam={problem.lam:g} and C={problem.C:g}: give the holdout the same lam or the "
                "same C, so that it judges by the objective that is minimised"
            )
    found = solve_many(
        [problem] * runs, short, tol=None, max_passes=math.inf, seed=seed, n_jobs=n_jobs
    )
    judged = [_judge(holdout or problem, solution.answer, choose) for solution in found]
    best = int(np.argmin(judged))
    found[best].trace.notes.append(
        f"best of {runs} runs of {steps // runs} steps by {choose}: "
        + ", ".join(f"{value:.6g}" for value in judged)
    )
    return found[best]


def _judge(problem: Problem, answer: Answer, by: str) -> float:
    """The objective or the zero-one error of exactly this w and b."""
    b = answer.b - problem.shift
    z = certify(problem, Answer(answer.w, b, None)).z
    if by == "objective":
        loss = total_loss(problem.loss, z, b, problem.y, problem.cost)
        return float(0.5 * float(answer.w @ answer.w) + loss)
    wrong = problem.y * (z + b) <= 0
    return float(problem.cost[wrong & (problem.cost > 0)].sum() / problem.cost.sum())
