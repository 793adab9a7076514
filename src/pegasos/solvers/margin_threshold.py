"""What SGD-r, SGD-s and SGD-m have in common: a perceptron whose margin threshold grows.

    minimise   f(w) = λ/2 ‖w‖² + (1/m) Σ s̃_i max(0, 1 − y_i⟨w, x_i⟩)
    a = λ t w  where t counts the presentations so far: to shrink w by 1 − 1/t is to count
    present    if y_i⟨a, x_i⟩ ≤ λt:  a ← a + s̃_i y_i x_i;   in any case t ← t + 1
    dual       α_i = C_i I_i/n_i,  where I_i of the n_i presentations of row i were errors

α lies in its box at any time. After T whole epochs n_i = T for all rows and w = Σ α_i y_i x_i, so
that J* ≥ C M/T − ½‖w‖² with M = Σ s̃_i I_i. Where w settles down, I_i/n_i shows the conditions of
optimality: it tends to 1 for rows inside the margin and to 0 for those beyond it.

Panagiotakopoulos & Tsampouka 2013, "The stochastic gradient descent for the primal L1-SVM
optimization revisited", section 2; weights, and the dual variables between whole epochs, ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pegasos.certificate import Answer
from pegasos.compiled import inlined
from pegasos.problem import Problem
from pegasos.solvers.contract import Solves
from pegasos.solvers.one_row import COUNT, SCALE, TARGET, WEIGHT, OneRow, OneRowState, T, pull


@dataclass(frozen=True)
class MarginThreshold(OneRow):
    """The options of the three, their start, and their dual variables."""

    look_below: float = 1.0
    single: bool = False

    solves: ClassVar[Solves] = Solves(
        losses=frozenset({"hinge"}), biases=frozenset({"none", "feature"}), stores=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (
            isinstance(self.look_below, int | float | np.integer | np.floating)
            and 0.0 < self.look_below < math.inf
        ):
            raise ValueError(
                f"look_below must be a positive number such as 1, not {self.look_below!r}"
            )
        if not isinstance(self.single, bool | np.bool_):
            raise ValueError(f"single must be True or False, not {self.single!r}")

    def prepare(self, problem: Problem, state: OneRowState, warm: Answer | None) -> None:
        if warm is not None:  # one presentation of each row, α_i/C_i of it an error
            grown = problem.lam * problem.m
            state.v *= grown
            state.numbers[:, COUNT] *= grown
            state.run[SCALE] = 1.0 / grown
        if self.single:
            state.v = state.v.astype(np.float32)

    def presented(self, problem: Problem, state: OneRowState) -> np.ndarray:
        """n_i: how often each row was presented."""
        raise NotImplementedError

    def answer(self, problem: Problem, state: OneRowState) -> Answer:
        with np.errstate(over="ignore"):  # of a run that has diverged
            w = state.run[SCALE] * state.v.astype(np.float64)
        return Answer(w, 0.0, self._beta(problem, state))

    def findings(self, problem: Problem, state: OneRowState) -> dict[str, Any]:
        alpha = np.abs(self._beta(problem, state))
        rates = np.divide(alpha, problem.cost, out=np.zeros_like(alpha), where=problem.cost > 0)
        return {"error_rates": rates}

    def _beta(self, problem: Problem, state: OneRowState) -> np.ndarray:
        presented = np.maximum(self.presented(problem, state), 1.0)
        return state.numbers[:, COUNT] / (problem.lam * problem.m * presented)

    def _estimate(self, problem: Problem, state: OneRowState) -> float:
        """The driver looks where this is below the tolerance."""
        return super()._estimate(problem, state) / self.look_below


@inlined
def present_once(lam, rows, i, product, work, run):
    """Row i, whose presentation T counts already: an error if its margin was not above λt."""
    y = work.numbers[i, TARGET]
    if y * product <= lam * (run[T] - 1.0):
        pull(rows, i, y * work.numbers[i, WEIGHT], work)
    run[SCALE] = 1.0 / (lam * run[T])
