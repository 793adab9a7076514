"""``auto``: choose the solver from the problem; the reason is in the trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pegasos.certificate import Answer, View
from pegasos.problem import Problem
from pegasos.solvers.contract import Report, Solver, Solves, State
from pegasos.solvers.dual_ascent import DualAscent

SOLVERS: dict[str, Solver] = {"dual-ascent": DualAscent()}


def choose(problem: Problem) -> tuple[str, str]:
    """The name of a solver for this problem, and why it."""
    return "dual-ascent", f"every loss and bias, {problem.m} rows of {problem.d} features"


@dataclass
class AutoState(State):
    """The solver that is at work, by name, and its state."""

    at_work: str
    inner: State
    told: bool


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
        self, problem: Problem, seed: np.random.SeedSequence, warm: Answer | None = None
    ) -> AutoState:
        name, _ = choose(problem)
        return AutoState(name, SOLVERS[name].start(problem, seed, warm), False)

    def advance(self, problem: Problem, state: AutoState, visits: int, goal: float) -> Report:
        report = SOLVERS[state.at_work].advance(problem, state.inner, visits, goal)
        if not state.told:
            state.told = True
            why = f"auto chose {state.at_work}: {choose(problem)[1]}"
            report.note = f"{why}; {report.note}" if report.note else why
        return report

    def answer(self, problem: Problem, state: AutoState) -> Answer:
        return SOLVERS[state.at_work].answer(problem, state.inner)

    def looked(self, problem: Problem, state: AutoState, view: View) -> Any:
        SOLVERS[state.at_work].looked(problem, state.inner, view)
