"""How long the first step shall be: given, or found on a sample of the rows.

    try η      one pass over the sample from w = 0 with steps of the fixed length η:
               w ← (1 − ηλ) w − η s̃_i g x_i;   then f(w) on the sample
    search     from η = 1/mean s̃‖x‖² double η while f falls; if it never did, halve η while f falls

A step that falls as 1/(λ(t + t₀)) begins with 1/(λt₀), so that η₀ is t₀ = 1/(λη₀) in another word.
η₀ stays so short that the first step keeps at least half of w, and where the slope of the loss has
no bound, at most 1/(ℓ″ max s̃‖x‖²), with which no step overshoots. Tried are a fifth of the rows,
but 50 at the least and 1000 at the most. The visits of the search are counted, its steps are not.

After Bottou's programs svmsgd and svmasgd (leon.bottou.org/projects/sgd); where the search begins,
how it ends and what bounds η₀ is ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pegasos.certificate import Answer
from pegasos.compiled import kernel, shuffle_all
from pegasos.losses import subgradient, value
from pegasos.problem import Problem
from pegasos.rows import add, dot
from pegasos.solvers.contract import Report
from pegasos.solvers.one_row import OWN, OneRowState
from pegasos.solvers.slope_means import SlopeMeans

ETA0 = OWN  # η₀, 0 before it is known
NEXT = OWN + 1  # the first number of a run that is the method's own

LEAST, MOST = 50, 1000  # rows in the sample
SHORTEST = 1e-300


def check_length(name: str, length: Any) -> None:
    """Refuse what is not a length of a step, or None."""
    if length is not None and not (
        isinstance(length, int | float | np.integer | np.floating) and 0.0 < length < math.inf
    ):
        raise ValueError(f"{name} must be positive and finite, or None, not {length!r}")


@dataclass(frozen=True)
class FirstStep(SlopeMeans):
    """A method whose steps follow from the length of the first; the base of a few."""

    eta0: float | None = None

    usual_order: ClassVar[str] = "shuffle-once"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_length("eta0", self.eta0)

    def at_once(self, problem: Problem) -> int:
        """The steps whose shrinking of w is done in one."""
        return 1

    def check(self, problem: Problem) -> None:
        super().check(problem)
        shrunk = self.at_once(problem) * problem.lam
        if self.eta0 is not None and self.eta0 * shrunk >= 1.0:
            at_once = "" if self.at_once(problem) == 1 else f"{self.at_once(problem)} * "
            raise ValueError(
                f"eta0={self.eta0:g} is too long a first step for lam={problem.lam:g}: it shrinks "
                f"w by 1 - {at_once}eta0 * lam, which must be positive; give eta0 below "
                f"{1.0 / shrunk:g}"
            )

    def prepare(self, problem: Problem, state: OneRowState, warm: Answer | None) -> None:
        super().prepare(problem, state, warm)
        if self.eta0 is not None:
            self.begin(problem, state, float(self.eta0))

    def begin(self, problem: Problem, state: OneRowState, eta0: float) -> None:
        """η₀ is known."""
        state.run[ETA0] = eta0

    def advance(self, problem: Problem, state: OneRowState, visits: int, goal: float) -> Report:
        searched = 0
        if state.run[ETA0] == 0.0:
            eta0, searched = first_step(problem, state.rng, self.at_once(problem))
            self.begin(problem, state, eta0)
            if searched >= visits:
                return Report(searched)
        report = super().advance(problem, state, visits - searched, goal)
        report.visits += searched
        return report

    def findings(self, problem: Problem, state: OneRowState) -> dict[str, Any]:
        return {"eta0": float(state.run[ETA0])}


def drawn(problem: Problem, rng: np.ndarray) -> np.ndarray:
    """The rows to try the first step on, in random order."""
    sample = problem.which.copy()
    shuffle_all(sample, rng)
    return sample[: max(LEAST, min(problem.m // 5, MOST))].copy()


def first_step(problem: Problem, rng: np.ndarray, at_once: int) -> tuple[float, int]:
    """η₀, and the row visits that it took to find."""
    sample = drawn(problem, rng)
    w = np.zeros(problem.d)
    visits = 0

    def tried(eta: float) -> float:
        nonlocal visits
        visits += 2 * sample.size
        found = _objective_after_a_pass(
            problem.rows, problem.loss, problem.y, problem.weights, sample, problem.lam, eta, w
        )
        return found if math.isfinite(found) else math.inf

    longest = 0.5 / (at_once * problem.lam)
    if math.isinf(problem.loss.lipschitz):
        longest = min(longest, 1.0 / (problem.loss.curvature * problem.reach))
    usual = float(np.mean(problem.weights[sample] * problem.squared_norms[sample]))
    eta = first = max(min(1.0 / usual, longest), SHORTEST)
    least = tried(eta)
    while 2.0 * eta <= longest and (found := tried(2.0 * eta)) < least:
        eta, least = 2.0 * eta, found
    if eta == first:
        while eta > SHORTEST and ((found := tried(0.5 * eta)) < least or math.isinf(least)):
            eta, least = 0.5 * eta, found
    return eta, visits


@kernel
def _objective_after_a_pass(rows, loss, y, weights, sample, lam, eta, w):
    """f on the sample, after a pass over it from zero with steps of length η."""
    for j in range(w.size):
        w[j] = 0.0
    scale = 1.0
    for k in range(sample.size):
        i = np.uint64(sample[k])
        slope = subgradient(loss, scale * dot(rows, i, w), y[i])
        scale *= 1.0 - eta * lam
        if scale < 1e-100:
            for j in range(w.size):
                w[j] *= scale
            scale = 1.0
        if slope != 0.0:
            add(rows, i, -eta * weights[i] * slope / scale, w)
    total, norm = 0.0, 0.0
    for k in range(sample.size):
        i = np.uint64(sample[k])
        total += weights[i] * value(loss, scale * dot(rows, i, w), y[i])
    for j in range(w.size):
        norm += w[j] * w[j]
    return total / sample.size + 0.5 * lam * scale * scale * norm
