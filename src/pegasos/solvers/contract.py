"""What a solver is: hyper-parameters, a state, and three functions.

A solver is a small frozen dataclass. It never loops to convergence, never looks at a clock and
never computes a gap: ``pegasos.driver`` does that, once, for all of them.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pegasos.certificate import Answer, View
from pegasos.losses import LOSSES
from pegasos.problem import BIASES, Problem

RUNNING, FINISHED, STALLED, DIVERGED = "running", "finished", "stalled", "diverged"

SMALL = 1e5  # rows × features below which an exact solver goes on to the last digits


@dataclass(frozen=True)
class Solves:
    """What a solver can take, and what it promises."""

    losses: frozenset[str] = frozenset(LOSSES)
    biases: frozenset[str] = frozenset(BIASES)
    weights: bool = True
    stores: bool = False  # rows that lie in files: it reads them block by block
    exact: bool = False  # it can finish small problems to the last digits of float64
    estimates: bool = False  # its guesses of the gap are good enough to look seldom without them


@dataclass
class Report:
    """What one call of ``advance`` did.

    ``visits`` are row visits. ``gap_estimate`` is a guess of the relative gap that decides when
    to look, and appears in no result. ``look`` asks for a certificate now.
    """

    visits: float
    gap_estimate: float | None = None
    look: bool = False
    status: str = RUNNING
    note: str = ""


class State:
    """All that a solver carries: a dataclass of arrays, numbers, strings and other states."""


class Solver:
    """The contract. A new algorithm is a frozen dataclass with these three functions."""

    name: ClassVar[str] = ""
    solves: ClassVar[Solves] = Solves()

    def start(
        self, problem: Problem, seed: np.random.SeedSequence, warm: Answer | None = None
    ) -> Any:
        """The state before the first step; ``warm`` is where to start."""
        raise NotImplementedError

    def advance(self, problem: Problem, state: Any, visits: int, goal: float) -> Report:
        """Go on for about ``visits`` row visits; the same path whatever the portions.

        ``goal`` is the relative gap at which the run will end: 0 for the last digits, negative
        for never. It may decide when to look and how to finish.
        """
        raise NotImplementedError

    def answer(self, problem: Problem, state: Any) -> Answer:
        """What has been found."""
        raise NotImplementedError

    def looked(self, problem: Problem, state: Any, view: View) -> None:
        """A certificate was computed: its margins and its float64 w = Σ β x may be of use."""

    def steps_done(self, problem: Problem, state: Any) -> float:
        """The iterations of the method so far, in its own measure."""
        return math.nan

    def findings(self, problem: Problem, state: Any) -> dict[str, Any]:
        """What a run has found beside its answer, by name; an estimator keeps it as ``name_``."""
        return {}

    def restore(self, problem: Problem, state: Any, saved: dict[str, Any]) -> None:
        """Put what ``pack`` has made of a state back into one that was just started."""
        unpack(state, saved)

    def check(self, problem: Problem) -> None:
        """Refuse, before any work, a problem that this solver cannot do."""
        for what, has, can in (
            ("loss", problem.loss.name, self.solves.losses),
            ("bias", problem.bias, self.solves.biases),
        ):
            if has not in can:
                raise ValueError(
                    f"{self.name} cannot solve {what} {has!r}; it can do {', '.join(sorted(can))}"
                )
        if not self.solves.weights and np.ptp(problem.cost[problem.which]) > 0.0:
            raise ValueError(f"{self.name} takes no weights: all rows count alike in it")
        if problem.stored and not self.solves.stores:
            raise ValueError(
                f"{self.name} needs all rows in memory at once; a store can be read by "
                f"{', '.join(_readers())}"
            )

    @property
    def stops_on_gap(self) -> bool:
        """Whether a run may end before its last step because the gap is small enough."""
        return True

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The hyper-parameters by name."""
        return {p.name: getattr(self, p.name) for p in dataclasses.fields(self)}  # type: ignore[arg-type]

    def set_params(self, **params: Any) -> Solver:
        """Change hyper-parameters in place (for searches such as ``solver__batch``)."""
        changed = type(self)(**{**self.get_params(), **params})
        for name in params:
            object.__setattr__(self, name, getattr(changed, name))
        return self


def _readers() -> list[str]:
    """The names of the solvers that read rows block by block."""
    from pegasos.solvers import REGISTRY, solver_class

    return [name for name in REGISTRY if solver_class(name).solves.stores]


def pack(state: Any, prefix: str = "") -> dict[str, Any]:
    """A state as a flat dictionary of arrays, numbers and strings."""
    flat: dict[str, Any] = {}
    for part in dataclasses.fields(state):
        value, name = getattr(state, part.name), prefix + part.name
        if isinstance(value, State):
            flat.update(pack(value, name + "."))
        else:
            flat[name] = value
    return flat


def unpack(state: Any, flat: dict[str, Any], prefix: str = "") -> None:
    """Put a flat dictionary back into a freshly started state."""
    for part in dataclasses.fields(state):
        name = prefix + part.name
        value = getattr(state, part.name)
        if isinstance(value, State):
            unpack(value, flat, name + ".")
        elif name not in flat:
            raise ValueError(f"the checkpoint lacks {name!r}: another version wrote it")
        elif isinstance(value, np.ndarray) and value.shape == flat[name].shape:
            value[...] = flat[name]  # in place: where an array lies in memory may matter
        else:
            setattr(state, part.name, flat[name])


def describe(solver: Solver) -> str:
    """A solver with the hyper-parameters that differ from their defaults."""
    changed = [
        f"{p.name}={_text(getattr(solver, p.name))}"
        for p in dataclasses.fields(solver)  # type: ignore[arg-type]
        if repr(getattr(solver, p.name)) != repr(p.default)
    ]
    return f"{type(solver).__name__}({', '.join(changed)})"


def _text(value: Any) -> str:
    """The whole of a value: long arrays are not cut short."""
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)
