"""``auto``: choose the solvers from the problem; what was chosen, and why, is in the trace.

    rows that lie in files           dual ascent, in blocks
    too many features for d × d      dual ascent
    Newton is worth 25 passes        Newton on the primal
    in between                       dual ascent on trial: it goes on while its gap falls so fast
                                     that it will end before Newton would; else Newton

Newton hands the hinge over to the interior point on the rows near the margin, which finds the last
digits in a dozen steps. A solver that comes to a stop hands over to dual ascent, which can do
everything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pegasos.certificate import Answer, View
from pegasos.problem import Problem
from pegasos.rows import CSR, scatters
from pegasos.solvers.contract import RUNNING, Report, Solver, Solves, State, unpack
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.huber_newton import HuberNewton
from pegasos.solvers.interior_point import InteriorPoint

SOLVERS: dict[str, Solver] = {
    solver.name: solver for solver in (DualAscent(), HuberNewton(), InteriorPoint())
}

MOST_FEATURES = 2000
CHEAP = 25.0  # passes: where Newton takes no longer, nothing is tried before it
TRIAL, SHORTEST = 0.1, 5.0  # how long dual ascent is on trial: share of Newton's time; passes
LONGEST, PATIENCE = 200.0, 900.0  # passes: of the first trial; a run is cut off after 1000, unasked
SHARP = 5e-3  # the gap at which the interior point takes over from Newton
MODEST, SOON = 5e-4, 16.0  # a goal that Newton reaches as soon as anyone, within so many passes


def choose(problem: Problem) -> tuple[str, float, str]:
    """The first solver, after how many passes to compare it with Newton (0: never), and why."""
    m, d = problem.m, problem.d
    size = f"{m} rows of {d} features"
    if problem.stored:
        return "dual-ascent", 0.0, f"{size}, in a store, are read block by block"
    if d > MOST_FEATURES:
        return "dual-ascent", 0.0, f"{size} are too many features for d × d systems"
    newton = passes_of_newton(problem)
    if newton < CHEAP:
        return "huber-newton", 0.0, f"{size} make d × d systems cheap"
    trial = min(max(TRIAL * newton, SHORTEST), LONGEST)
    return "dual-ascent", trial, f"{size}: on trial for {trial:.0f} passes, before Newton"


def passes_of_newton(problem: Problem) -> float:
    """About how long Newton takes, in passes of dual ascent; only ratios of times matter.

    Some 35 steps, each with a system to solve; on all rows, the work of eight of them, with a
    quarter of the rows on their kinks. The constants are seconds as measured.
    """
    m, d = problem.m, problem.d
    stored = problem.rows.values.size
    if isinstance(problem.rows, CSR):
        one_pass = 1.2e-9 * stored + 1.3e-8 * m
    else:
        one_pass = 4e-10 * stored + 1e-8 * m
    products = (stored / m) ** 2 * 3.5e-10 if scatters(problem.rows, d) else d**2 * 2e-11
    system = 1.5e-4 + 4e-9 * d**2 + 1.7e-11 * d**3
    return 6.0 + (35 * system + 2.0 * m * products) / one_pass


@dataclass
class AutoState(State):
    """The solver that is at work, by name, its state, and what it is watched for."""

    at_work: str
    inner: State
    until: float  # the gap at which the interior point takes over; 0: never
    trial: float  # visits after which dual ascent is compared with Newton; 0: never
    visits: float
    first_gap: float  # at half the trial; infinite before
    leaves: str  # the solver that takes over at the next look, and why
    why: str
    note: str
    seed: np.ndarray


@dataclass(frozen=True)
class Auto(Solver):
    """Let pegasos choose the solver.

    Examples
    --------
    >>> from pegasos import Auto, Problem, solve
    >>> solution = solve(Problem([[1.0], [-1.0]], [1, -1], C=1.0), Auto())
    >>> solution.trace.notes[0].startswith("auto chose dual-ascent")
    True
    """

    name: ClassVar[str] = "auto"
    solves: ClassVar[Solves] = Solves(stores=True, exact=True, estimates=True)

    def start(
        self, problem: Problem, seed: np.random.SeedSequence, warm: Answer | None = None
    ) -> AutoState:
        name, trial, why = choose(problem)
        return AutoState(
            at_work=name,
            inner=SOLVERS[name].start(problem, seed, warm),
            until=_until(problem, name),
            trial=trial * problem.m,
            visits=0.0,
            first_gap=math.inf,
            leaves="",
            why="",
            note=f"auto chose {name}: {why}",
            seed=seed.generate_state(4),
        )

    def advance(self, problem: Problem, state: AutoState, visits: int, goal: float) -> Report:
        if state.trial:  # the trial's points are where they are, whatever the portions
            point = state.trial if math.isfinite(state.first_gap) else 0.5 * state.trial
            visits = max(1, min(visits, math.ceil(point - state.visits)))
        solver = SOLVERS[state.at_work]
        until = 0.0 if goal >= MODEST and state.visits < SOON * problem.m else state.until
        report = solver.advance(problem, state.inner, visits, max(goal, until))
        state.visits += report.visits
        if state.note:
            report.note = f"{state.note}; {report.note}" if report.note else state.note
            state.note = ""
        gap = math.inf if report.gap_estimate is None else report.gap_estimate
        if gap <= 0.97 * until:
            report.look = True
        if report.status != RUNNING and state.at_work != "dual-ascent":
            state.leaves, state.why = "dual-ascent", "it has come to a stop"
        elif state.trial:
            self._judge(problem, state, gap, goal)
        if state.leaves:
            report.status, report.look = RUNNING, True
        return report

    def _judge(self, problem: Problem, state: AutoState, gap: float, goal: float) -> None:
        """On trial: will dual ascent end before Newton would?"""
        gap = min(gap, 1e6)
        if math.isinf(state.first_gap):
            if state.visits >= 0.5 * state.trial:
                state.first_gap = gap
            return
        if state.visits < state.trial:
            return
        fall = math.log(state.first_gap / gap) if 0.0 < gap < state.first_gap else 0.0
        left = math.log(gap / max(goal, 1e-12)) if gap > 0.0 else 0.0
        passes = 0.5 * state.trial / problem.m * left / fall if fall > 0.0 else math.inf
        done = state.visits / problem.m
        if passes > passes_of_newton(problem) or done < PATIENCE < done + passes:
            state.leaves, state.why = "huber-newton", f"its gap of {gap:.1e} falls too slowly"
        state.first_gap, state.trial = gap, 2.0 * state.trial

    def answer(self, problem: Problem, state: AutoState) -> Answer:
        return SOLVERS[state.at_work].answer(problem, state.inner)

    def looked(self, problem: Problem, state: AutoState, view: View) -> None:
        gap = view.certificate.relative_gap
        if not state.leaves and gap <= state.until:
            state.leaves, state.why = "interior-point", f"its gap is {gap:.1e}"
        if not state.leaves:
            SOLVERS[state.at_work].looked(problem, state.inner, view)
            return
        name, before = state.leaves, state.at_work
        state.note = f"{before} hands over to {name}: {state.why}"
        # Newton begins with samples of the rows: no start of dual ascent's saves it anything.
        warm = None if name == "huber-newton" else view
        seed = np.random.SeedSequence([*map(int, state.seed)])
        state.inner = SOLVERS[name].start(problem, seed, warm)
        state.at_work, state.until, state.trial = name, _until(problem, name), 0.0
        state.leaves = state.why = ""

    def restore(self, problem: Problem, state: AutoState, saved: dict[str, Any]) -> None:
        solver = SOLVERS[saved["at_work"]]
        state.inner = solver.start(problem, np.random.SeedSequence(0))
        unpack(state, saved)


def _until(problem: Problem, name: str) -> float:
    """The gap at which the interior point takes over from this solver."""
    hinge = problem.loss.name in InteriorPoint.solves.losses
    return SHARP if hinge and name == "huber-newton" else 0.0
