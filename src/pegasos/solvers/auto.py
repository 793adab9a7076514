"""``auto``: choose the solvers from the problem; what was chosen, and why, is in the trace.

    small (rows × features < 1e5)    dual ascent, which ends with Newton steps: the last digits
    few features, many rows          Newton on the primal; the hinge's last digits by an interior
                                     point on the rows near the margin, from a gap of 2e-3 on
    some hundreds of features        dual ascent to 1e-2, then that interior point
    everything else                  dual ascent

A solver that comes to a stop hands over to dual ascent, which can do everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pegasos.certificate import Answer, View
from pegasos.problem import Problem
from pegasos.rows import scatters
from pegasos.solvers.contract import RUNNING, SMALL, Report, Solver, Solves, State, unpack
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.huber_newton import HuberNewton
from pegasos.solvers.interior_point import InteriorPoint

SOLVERS: dict[str, Solver] = {
    solver.name: solver for solver in (DualAscent(), HuberNewton(), InteriorPoint())
}

MOST_FEATURES = 2000
ROWS_PER_FEATURE = 3  # with fewer there is little that Newton's matrix could average
SHARP, ROUGH = 2e-3, 1e-2  # the gaps at which an interior point takes over


def choose(problem: Problem) -> tuple[str, float, str]:
    """The first solver, the gap at which the interior point takes over (0: never), and why."""
    m, d = problem.m, problem.d
    hinge = problem.loss.name in InteriorPoint.solves.losses
    size = f"{m} rows of {d} features"
    if m * d < SMALL:
        return "dual-ascent", 0.0, f"{size} are few"
    if d > MOST_FEATURES or m < ROWS_PER_FEATURE * d:
        return "dual-ascent", 0.0, f"{size}: too many features for their square"
    # Seconds, roughly, on any machine of today: only their ratios matter.
    nonzeros = problem.rows.values.size
    one_pass = 2e-9 * nonzeros + 1e-8 * m
    factor = d**3 / 3 / 1.5e10 + 2e-9 * d**2
    if factor < 0.3 * one_pass:
        return "huber-newton", SHARP if hinge else 0.0, f"{size} make d × d systems cheap"
    per_row = nonzeros / m
    gram = m * per_row**2 * 0.6e-9 if scatters(problem.rows, d) else m * d**2 * 0.5e-10
    if hinge and 12 * (factor + 0.1 * gram) < 40 * one_pass:
        return "dual-ascent", ROUGH, f"{size} make a few d × d systems cheap"
    return "dual-ascent", 0.0, f"{size}: d × d systems would cost more than passes"


@dataclass
class AutoState(State):
    """The solver that is at work, by name, its state, and when it hands over."""

    at_work: str
    inner: State
    until: float  # the gap at which the interior point takes over; 0: never
    stuck: bool  # the solver at work has come to a stop
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
    solves: ClassVar[Solves] = Solves(exact=True, estimates=True)

    def start(
        self, problem: Problem, seed: np.random.SeedSequence, warm: Answer | View | None = None
    ) -> AutoState:
        name, until, why = choose(problem)
        return AutoState(
            at_work=name,
            inner=SOLVERS[name].start(problem, seed, warm),
            until=until,
            stuck=False,
            note=f"auto chose {name}: {why}",
            seed=seed.generate_state(4),
        )

    def advance(self, problem: Problem, state: AutoState, visits: int, goal: float) -> Report:
        solver = SOLVERS[state.at_work]
        report = solver.advance(problem, state.inner, visits, max(goal, state.until))
        if state.note:
            report.note = f"{state.note}; {report.note}" if report.note else state.note
            state.note = ""
        if report.gap_estimate is not None and report.gap_estimate <= 0.97 * state.until:
            report.look = True
        if report.status != RUNNING and state.at_work != "dual-ascent":
            report.status, report.look, state.stuck = RUNNING, True, True
        return report

    def answer(self, problem: Problem, state: AutoState) -> Answer:
        return SOLVERS[state.at_work].answer(problem, state.inner)

    def looked(self, problem: Problem, state: AutoState, view: View) -> None:
        gap = view.certificate.relative_gap
        if state.stuck:
            self._hand_over(problem, state, "dual-ascent", f"stopped at a gap of {gap:.1e}", view)
        elif gap <= state.until:
            self._hand_over(problem, state, "interior-point", f"gap {gap:.1e}", view)
        else:
            SOLVERS[state.at_work].looked(problem, state.inner, view)

    def _hand_over(
        self, problem: Problem, state: AutoState, name: str, why: str, view: View
    ) -> None:
        seed = np.random.SeedSequence([*map(int, state.seed)])
        state.note = f"{state.at_work} hands over to {name}: {why}"
        state.at_work, state.until, state.stuck = name, 0.0, False
        state.inner = SOLVERS[name].start(problem, seed, view)

    def restore(self, problem: Problem, state: AutoState, saved: dict[str, Any]) -> None:
        name = saved["at_work"]
        state.inner = SOLVERS[name].start(problem, np.random.SeedSequence(0))
        unpack(state, saved)
