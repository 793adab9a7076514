"""The dual point of methods whose w is no combination of rows from inside the box.

    kept     counts_i = Σ −p² s̃_i ℓ′ over the visits of row i, p the number of the pass
    dual     β_i = counts_i/(λm Σ p²) over the same visits

β is optimal where each −β_i/C_i is a slope of ℓ_i at the optimum. The mean of the slopes that were
met on the way lies in the domain of the dual, and as w settles down it tends to such a slope; with
the weights p² the beginning, where w was far away, is soon forgotten. It does not matter what else
the method does to w: stretch it, shrink it seldom, or average it. Σ β_i x_i is near w but not equal
to it, and nothing is known of it between two looks; so the gap is not guessed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pegasos.certificate import Answer
from pegasos.compiled import inlined
from pegasos.problem import Problem
from pegasos.solvers.one_row import (
    BEGUN,
    COUNT,
    PASSES,
    POSITION,
    SCALE,
    WEIGHT,
    OneRow,
    OneRowState,
)


@dataclass(frozen=True)
class SlopeMeans(OneRow):
    """A method whose dual variables are means of slopes; the base of a few."""

    def prepare(self, problem: Problem, state: OneRowState, warm: Answer | None) -> None:
        # The β of a warm start counts as one pass.
        state.numbers[:, COUNT] *= problem.lam * problem.m

    def answer(self, problem: Problem, state: OneRowState) -> Answer:
        weights = np.maximum(self._weights(problem, state), 1.0)
        beta = state.numbers[:, COUNT] / (problem.lam * problem.m * weights)
        return Answer(state.run[SCALE] * state.v, 0.0, beta)

    def _weights(self, problem: Problem, state: OneRowState) -> np.ndarray:
        """Σ p² over the visits of each row; of rows that are drawn, over as many as is usual."""
        passes, position = float(state.run[PASSES]), int(state.run[POSITION])
        whole = passes * (passes + 1.0) * (2.0 * passes + 1.0) / 6.0
        weights = np.full(problem.y.size, whole + (state.run[BEGUN] > 0.0))
        if self.order == "iid":
            weights += (passes + 1.0) ** 2 * position / problem.m
        else:
            weights[state.order[:position]] += (passes + 1.0) ** 2
        return weights

    def _estimate(self, problem: Problem, state: OneRowState) -> float:
        return math.inf


@inlined
def keep_slope(i, slope, work, run):
    """The slope of row i, for its mean."""
    p = run[PASSES] + 1.0
    work.numbers[i, COUNT] -= p * p * work.numbers[i, WEIGHT] * slope
