"""Several solvers on one problem: the same budget, judged by one certified optimum.

    suboptimality   (P(w) − D*) / D*,   D* the lower bound of the reference: at least the true one

Every look is judged outside the clock, by code that no solver shares: objective and bound by
``pegasos.certificate``, errors by the test rows. What was run is kept in a file, one line a run.
"""

from __future__ import annotations

import functools
import json
import math
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pegasos import __version__, driver
from pegasos.certificate import Answer, Certificate, certify, relative_gap
from pegasos.compiled import KERNELS
from pegasos.driver import (
    ConvergenceWarning,
    Event,
    Solution,
    as_limit,
    as_tolerance,
    solve,
)
from pegasos.losses import total_loss
from pegasos.problem import Problem
from pegasos.rows import scores
from pegasos.solvers import as_solver
from pegasos.solvers.contract import DIVERGED, FINISHED, STALLED, Solver, describe

if TYPE_CHECKING:
    import pandas as pd

DONE, OUT_OF_PASSES, OUT_OF_TIME = "done", "out of passes", "out of time"
STATUSES = {
    driver.CONVERGED: DONE,
    FINISHED: DONE,
    driver.MAX_PASSES: OUT_OF_PASSES,
    driver.MAX_SECONDS: OUT_OF_TIME,
    STALLED: STALLED,
    DIVERGED: DIVERGED,
}

REFERENCE_TOLERANCE = 1e-9
FIRST_LOOK, LAST_LOOK = 0.1, 1e4  # passes, where none are given
WARM_PASSES = 2.0  # of the run before the first, which compiles
FORMAT = "pegasos-comparison-1"
COLUMNS = ("steps", "passes", "seconds", "primal", "dual", "gap", "test_error", "test_loss")


def compare(
    problem: Problem,
    solvers: str | Solver | Iterable[str | Solver] | Mapping[str, str | Solver],
    *,
    tol: float | None = 1e-3,
    max_passes: float = 100,
    max_seconds: float | None = None,
    target: float | None = None,
    seeds: int | Iterable[int] = 1,
    test: Problem | tuple[Any, Any] | None = None,
    reference: Solution | Answer | None = None,
    looks: int | Iterable[float] = 8,
    path: str | os.PathLike | None = None,
    on_event: Callable[[str, int, Event], None] | None = None,
) -> pd.DataFrame:
    """Run several solvers on one problem with the same budget.

    The clock counts what a solver does from its start on, and nothing else: looks, test errors
    and compilation are outside. Each solver makes a short run beforehand, and a run in which
    something was compiled all the same is made again. (A solver that goes on from what a look has
    found, its margins say, has that pass over the data for nothing.)

    Parameters
    ----------
    problem : Problem
        What is solved.
    solvers : list of str or Solver, or dict
        The algorithms, by name or as objects such as ``Pegasos(batch=10)``; a dict gives each the
        label under which it stands in the table.
    tol : float or None, default=1e-3
        End a run when it has proved that its best answer so far has a relative gap of at most
        this. None: never, as for the solvers that end after their steps alone.
    max_passes : float, default=100
        End a run after this many passes over the data.
    max_seconds : float, optional
        End a run after this much time inside the solver.
    target : float, optional
        End a run at the look that finds its suboptimality at most this, whatever it can prove
        itself. A larger ``tol`` is lowered to it.
    seeds : int or list of int, default=1
        How many seeds (0, 1, …), or which.
    test : Problem or (X, y), optional
        Rows on which every look is judged.
    reference : Solution or Answer, optional
        An answer whose dual variables prove the optimum; the proof is made anew. If not given, the
        problem is solved once to a relative gap of 1e-9 or a tenth of the target.
    looks : int or list of float, default=8
        How many looks for each factor of ten in passes, or at which passes to look. Each costs a
        pass over the data, outside the clock. The driver looks now and then besides.
    path : path, optional
        A file that keeps every run that is complete. The same comparison, called again after a
        break or with more solvers or seeds, does not run again what is there. Runs are known by
        problem, test rows, solver, seed, budget, looks and the version of pegasos: delete the file
        when you have changed a solver, or the machine.
    on_event : callable, optional
        Called as ``on_event(label, seed, event)`` with every event of a run: its progress, many
        times a second, its looks and its notes.

    Returns
    -------
    pandas.DataFrame
        One row for each look: ``solver``, ``seed``, ``steps`` (iterations of the method),
        ``passes``, ``seconds``, ``primal`` (the objective of the answer as it is then), ``dual``
        (the best lower bound that the run has proved; 0 without one), ``gap`` (relative, of
        these two; infinite without a bound), ``suboptimality`` (relative to the reference),
        ``test_error`` (the share of wrong labels, or the mean of |y − z| where targets are
        numbers), ``test_loss`` (the mean loss, such as the hinge loss) and ``status``, why the
        run ended:

        ============= =========================================================
        status        the run
        ============= =========================================================
        done          reached the target or ``tol``, or made all of its steps
        out of passes has used up ``max_passes``
        out of time   has used up ``max_seconds``
        stalled       came to a stop by itself before that
        diverged      left what floating-point numbers can hold
        ============= =========================================================

        ``table.attrs["reference"]`` holds primal, dual and relative gap of the reference.

    Raises
    ------
    ValueError
        Before any work, if one of the solvers cannot do the problem.
    KeyboardInterrupt
        After Ctrl-C. Complete runs are in the file at ``path``.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import Pegasos, Problem, compare, time_to
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 5))
    >>> problem = Problem(X, np.sign(X[:, 0] + 0.3 * rng.standard_normal(300)), lam=0.1)
    >>> solvers = {"by one": Pegasos(), "by ten": Pegasos(batch=10), "dual": "dual-ascent"}
    >>> table = compare(problem, solvers, max_passes=20, seeds=2)
    >>> list(table["solver"].unique())
    ['by one', 'by ten', 'dual']
    >>> float(time_to(table, [1e-3], by="passes").loc["dual", 1e-3]) < 20
    True
    """
    pandas = _pandas()
    chosen = _labelled(solvers)
    numbers = _seeds(seeds)
    budget = _Budget.of(tol, max_passes, max_seconds, target)
    look_at = _looks(looks, budget.max_passes)
    test = _as_test(problem, test)
    _refuse_before_work(problem, chosen)
    kept = _Kept(path)
    best = _reference(problem, reference, target, kept)
    common = {
        "version": __version__,
        "problem": problem.fingerprint(),
        "test": None if test is None else test.fingerprint(),
        "looks": look_at,
        **budget.facts(),
        "reference": None if target is None else best.dual,
    }

    def about(label: str, seed: int) -> dict[str, Any]:
        return {"solver": _whole_name(chosen[label]), "seed": seed, **common}

    runs = {
        label: _Runs(problem, solver, budget, look_at, best, test)
        for label, solver in chosen.items()
    }
    for seed in numbers:
        for label in chosen:
            if kept.get("run", about(label, seed)) is None:
                hear = None if on_event is None else functools.partial(on_event, label, seed)
                kept.add("run", about(label, seed), runs[label].make(seed, hear))
    parts = [
        _rows(pandas, problem, best, label, seed, kept.get("run", about(label, seed)))
        for label in chosen
        for seed in numbers
    ]
    table = pandas.concat(parts, ignore_index=True)
    table.attrs["reference"] = {
        "primal": best.primal,
        "dual": best.dual,
        "relative_gap": best.relative_gap,
    }
    return table


def time_to(
    table: pd.DataFrame,
    targets: Sequence[float] = (1e-1, 1e-2, 1e-3),
    *,
    by: str = "seconds",
) -> pd.DataFrame:
    """What each solver of a comparison needed for each suboptimality.

    Parameters
    ----------
    table : DataFrame
        From ``compare``.
    targets : sequence of float, default=(0.1, 0.01, 0.001)
        Suboptimalities.
    by : {"seconds", "passes", "steps"}, default="seconds"
        What is counted, up to the first look that finds the target reached.

    Returns
    -------
    pandas.DataFrame
        One row a solver, one column a target: the median over the seeds, in which a run that
        never got there counts as infinite; NaN where the median is.

    Examples
    --------
    >>> from pegasos import Problem, compare, time_to
    >>> table = compare(Problem([[1.0], [-2.0]], [1, -1], C=1.0), ["dual-ascent"])
    >>> time_to(table, [0.1], by="passes").shape
    (1, 1)
    """
    pandas = _pandas()
    if by not in ("seconds", "passes", "steps"):
        raise ValueError(f"by must be 'seconds', 'passes' or 'steps', not {by!r}")
    needed = {}
    for label, of_solver in table.groupby("solver", sort=False):
        runs = [run for _, run in of_solver.groupby("seed", sort=False)]
        needed[label] = [_median([_first(run, goal, by) for run in runs]) for goal in targets]
    found = pandas.DataFrame.from_dict(needed, orient="index", columns=list(targets), dtype=float)
    return found.rename_axis(index="solver", columns="suboptimality")


def _first(run: pd.DataFrame, target: float, by: str) -> float:
    """The count at the first look that finds the target reached; infinite if none does."""
    there = run.loc[run["suboptimality"] <= target, by]
    return float(there.iloc[0]) if len(there) else math.inf


def _median(counts: list[float]) -> float:
    middle = float(np.median(counts))
    return middle if math.isfinite(middle) else math.nan


@dataclass(frozen=True)
class _Budget:
    """When a run ends."""

    tol: float | None
    max_passes: float
    max_seconds: float | None
    target: float | None

    @classmethod
    def of(cls, tol: Any, max_passes: Any, max_seconds: Any, target: Any) -> _Budget:
        tol, max_passes = as_tolerance(tol), as_limit("max_passes", max_passes)
        if max_seconds is not None:
            max_seconds = as_limit("max_seconds", max_seconds)
        if math.isinf(max_passes) and max_seconds in (None, math.inf):
            raise ValueError(
                "give max_passes or max_seconds: a run that never reaches its goal would not end"
            )
        if target is not None:
            if not (isinstance(target, int | float | np.number) and 0 < target < math.inf):
                raise ValueError(f"target must be positive and finite, or None, not {target!r}")
            target = float(target)
            tol = None if tol is None else min(tol, target)
        return cls(tol, max_passes, max_seconds, target)

    def facts(self) -> dict[str, Any]:
        return dict(vars(self))


class _Reached(Exception):
    """A look has found the target reached."""


@dataclass
class _Runs:
    """The runs of one solver."""

    problem: Problem
    solver: Solver
    budget: _Budget
    look_at: list[float]
    reference: Certificate
    test: Problem | None
    warm: bool = False

    def make(self, seed: int, hear: Callable[[Event], None] | None) -> dict:
        """A run in which nothing was compiled: its status, and a list for each column."""
        if not self.warm:  # a short run that nobody counts compiles, or loads compiled code
            self._solve(0, None, min(WARM_PASSES, self.budget.max_passes))
            self.warm = True
        while True:
            before = _compiled()
            looks: dict[str, list[float]] = {name: [] for name in COLUMNS}
            status = self._solve(seed, self._listener(looks, hear), self.budget.max_passes)
            if _compiled() == before:
                return {"status": status, "looks": looks}

    def _listener(
        self, looks: dict[str, list[float]], hear: Callable[[Event], None] | None
    ) -> Callable[[Event], None]:
        def listen(event: Event) -> None:
            if hear is not None:
                hear(event)
            if event.kind == "look":
                self._record(event, looks)

        return listen

    def _record(self, event: Event, looks: dict[str, list[float]]) -> None:
        proof = event.certificate
        assert proof is not None
        error = loss = math.nan
        if self.test is not None:
            error, loss = _judged(self.problem, self.test, event.view)
        numbers = (event.steps, event.passes, event.seconds, proof.primal, proof.dual)
        for name, value in zip(COLUMNS, (*numbers, proof.relative_gap, error, loss)):
            looks[name].append(float(value))
        goal = self.budget.target
        if goal is not None and _above(self.problem, proof.primal, self.reference) <= goal:
            raise _Reached

    def _solve(self, seed: int, listen: Any, max_passes: float) -> str:
        """Run the solver; returns why it ended."""
        try:
            solution = solve(
                self.problem,
                self.solver,
                tol=self.budget.tol if self.solver.stops_on_gap else None,
                max_passes=max_passes,
                max_solver_seconds=self.budget.max_seconds,
                seed=seed,
                look_at=self.look_at,
                on_event=listen,
            )
        except _Reached:
            return DONE
        _go_on_with_an_interrupt(solution)
        return STATUSES[solution.status]


def _compiled() -> int:
    """How many versions of kernels are there."""
    return sum(len(kernel.signatures) for kernel in KERNELS)


def _go_on_with_an_interrupt(solution: Solution) -> None:
    """The driver turns Ctrl-C into a status; here it ends all runs."""
    if solution.status == driver.INTERRUPTED:
        raise KeyboardInterrupt(solution.summary())


def _above(problem: Problem, primal: float, reference: Certificate) -> float:
    """The suboptimality of an objective."""
    return relative_gap(primal, reference.dual, problem.zero_objective)


def _judged(problem: Problem, test: Problem, view: Any) -> tuple[float, float]:
    """Error and mean loss of an answer on the test rows."""
    w = np.ascontiguousarray(view.w[: problem.intake.n_features])
    b = problem.constant * view.w[-1] if problem.bias == "feature" else view.b + problem.shift
    table = np.empty((test.intake.n_rows, 1))
    scores(test.rows, w[:, None], np.array([float(b)]), table)
    z, total = table[:, 0], float(test.cost.sum())
    with np.errstate(invalid="ignore", over="ignore"):  # of an answer that has diverged
        if test.loss.labels:
            right = np.where(test.y > 0, z > 0, z <= 0)  # as LinearSVC predicts; NaN is never right
            error = test.cost[~right].sum()
        else:
            error = test.cost @ np.abs(test.y + test.shift - z)
    loss = total_loss(test.loss, z, -test.shift, test.y, test.cost)
    return float(error) / total, float(loss) / total


def _rows(
    pandas: Any, problem: Problem, reference: Certificate, label: str, seed: int, run: Any
) -> pd.DataFrame:
    """The looks of a run as rows of the table."""
    table = pandas.DataFrame(run["looks"], dtype=float)
    above = [_above(problem, primal, reference) for primal in table["primal"]]
    table.insert(COLUMNS.index("gap") + 1, "suboptimality", above)
    table.insert(0, "solver", label)
    table.insert(1, "seed", seed)
    return table.assign(status=run["status"])


# ------------------------------------------------------------------------------- what is given


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("comparisons need pandas: pip install 'pegasos[compare]'") from None
    return pandas


def _labelled(solvers: Any) -> dict[str, Solver]:
    """The solvers by their labels."""
    if isinstance(solvers, str | Solver):
        solvers = [solvers]
    if isinstance(solvers, Mapping):
        pairs = [(str(label), as_solver(solver)) for label, solver in solvers.items()]
    else:
        pairs = [
            (given if isinstance(given, str) else describe(as_solver(given)), as_solver(given))
            for given in solvers
        ]
    if not pairs:
        raise ValueError("there is no solver to compare: give names such as 'pegasos'")
    labels = [label for label, _ in pairs]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"two solvers are called {label!r}: give a dict, label → solver")
    return dict(pairs)


def _seeds(seeds: Any) -> list[int]:
    listed = range(seeds) if isinstance(seeds, int | np.integer) else list(seeds)
    for seed in listed:
        if not isinstance(seed, int | np.integer) or seed < 0:
            raise ValueError(f"seeds must be whole numbers from 0 on, not {seed!r}")
    numbers = [int(seed) for seed in listed]
    if not numbers or len(set(numbers)) < len(numbers):
        raise ValueError(f"give one seed or more, each once, not {seeds!r}")
    return numbers


def _looks(looks: Any, max_passes: float) -> list[float]:
    """The passes at which to look."""
    if isinstance(looks, int | np.integer):
        if looks < 0:
            raise ValueError(f"looks must be zero or positive, or a list of passes, not {looks!r}")
        last = min(max_passes, LAST_LOOK)
        decades = max(math.log10(max(last, FIRST_LOOK) / FIRST_LOOK), 0.0)
        count = math.floor(decades * int(looks) + 1e-9) + 1 if looks else 0
        return [round(FIRST_LOOK * 10.0 ** (k / int(looks)), 6) for k in range(count)]
    passes = sorted(float(at) for at in looks)
    if not all(0 <= at < math.inf for at in passes):
        raise ValueError(f"looks must be at zero or more passes, not {looks!r}")
    return passes


def _as_test(problem: Problem, test: Any) -> Problem | None:
    """The test rows, checked to be such as the problem has."""
    if test is None:
        return None
    if not isinstance(test, Problem):
        X, y = test
        test = Problem(X, y, C=1.0, loss=problem.loss)
    if test.intake.n_features != problem.intake.n_features:
        raise ValueError(
            f"the test rows have {test.intake.n_features} features, those of the problem "
            f"{problem.intake.n_features}"
        )
    if (type(test.loss), test.loss) != (type(problem.loss), problem.loss):
        raise ValueError(
            f"the test problem has loss {test.loss!r}, the problem {problem.loss!r}: they must "
            "agree, or give the test rows as (X, y)"
        )
    return test


def _refuse_before_work(problem: Problem, chosen: dict[str, Solver]) -> None:
    problem.check_attained()
    refusals = []
    for label, solver in chosen.items():
        try:
            solver.check(problem)
        except ValueError as error:
            refusals.append(f"{label}: {error}")
    if refusals:
        raise ValueError(
            f"{len(refusals)} of {len(chosen)} solvers cannot do this problem: "
            + "; ".join(refusals)
        )


def _whole_name(solver: Solver) -> str:
    """What tells a solver from every other."""
    return f"{type(solver).__module__}.{describe(solver)}"


def _reference(problem: Problem, given: Any, target: float | None, kept: _Kept) -> Certificate:
    """The certified optimum by which all are judged."""
    tol = REFERENCE_TOLERANCE if target is None else min(REFERENCE_TOLERANCE, 0.1 * target)
    if given is not None:
        return _proved(problem, given)
    about = {"problem": problem.fingerprint(), "tol": tol, "version": __version__}
    found = kept.get("reference", about)
    if found is None:
        solution = solve(problem, tol=tol)
        _go_on_with_an_interrupt(solution)
        found = solution.certificate.to_dict()
        kept.add("reference", about, found)
    proof = Certificate(**found)
    if proof.relative_gap > tol:
        warnings.warn(
            f"the optimum is proved to a relative gap of {proof.relative_gap:.1e} only, not "
            f"{tol:.0e}: a suboptimality below that is not seen. Give a better reference",
            ConvergenceWarning,
            stacklevel=3,
        )
    return proof


def _proved(problem: Problem, given: Any) -> Certificate:
    """The certificate of a reference on this very problem."""
    answer = given.answer if isinstance(given, Solution) else given
    if not isinstance(answer, Answer):
        raise TypeError(
            f"reference must be a Solution or an Answer, not {type(given).__name__}: its dual "
            "variables prove the optimum"
        )
    if answer.beta is None:
        raise ValueError("the reference has no dual variables, so it proves no optimum")
    shapes = np.shape(answer.w), np.shape(answer.beta)
    if shapes != ((problem.d,), (problem.y.size,)):
        raise ValueError(
            f"the reference belongs to another problem: its w and beta have shapes {shapes[0]} "
            f"and {shapes[1]}, not {(problem.d,)} and {(problem.y.size,)}"
        )
    return certify(problem, answer).certificate


# ------------------------------------------------------------------------------- what is kept


class _Kept:
    """The runs that are complete, by what they are about; in a file too, where there is one.

    A line is written whole and flushed to the disk. What a killed run has left of a last line is
    cut off; any other line that cannot be read is an error.
    """

    def __init__(self, path: str | os.PathLike | None):
        self.path = None if path is None else Path(path)
        self.found: dict[str, dict] = {}
        if self.path is not None and self.path.exists():
            self._read(self.path)
        elif self.path is not None and not self.path.resolve().parent.is_dir():
            raise ValueError(
                f"there is no folder {self.path.resolve().parent} for {self.path.name}"
            )

    def get(self, kind: str, about: dict) -> dict | None:
        return self.found.get(_key(kind, about))

    def add(self, kind: str, about: dict, result: dict) -> None:
        self.found[_key(kind, about)] = result
        if self.path is None:
            return
        line = {"format": FORMAT, "kind": kind, "about": about, "result": result}
        with open(self.path, "ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _read(self, path: Path) -> None:
        begin = json.dumps({"format": FORMAT})[:-1].encode()
        *lines, rest = path.read_bytes().split(b"\n")
        for number, text in enumerate(lines, 1):
            try:
                line = json.loads(text)
                if line["format"] != FORMAT:
                    raise ValueError
                self.found[_key(line["kind"], line["about"])] = line["result"]
            except (ValueError, KeyError, TypeError):
                raise ValueError(
                    f"line {number} of {path} is none of a comparison of this version: give "
                    "another path, or delete the file"
                ) from None
        if rest[: len(begin)] != begin[: len(rest)]:
            raise ValueError(f"the last line of {path} is none of a comparison: give another path")
        if rest:
            os.truncate(path, path.stat().st_size - len(rest))


def _key(kind: str, about: dict) -> str:
    return kind + json.dumps(about, sort_keys=True)
