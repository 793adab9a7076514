"""What online rules share: how long they run, the mean of their w, and what their counts prove.

    w          the rule's own, as it is after the last row; or the mean of w_1 … w_T
    counts     what each row has added to w in all
    bound      β = θ₂ clip(θ₁ counts): θ₁ is the best multiple of the counts as they stand, θ₂ ≤ 1
               the best of what the box has left of them

An online rule does not minimise the problem that it is run on: it learns from mistakes and has no
regulariser. It ends after its passes, and its w is what is returned and judged, even where w = 0
would be the better model. The mean is kept by its distance from w, Σ (t − 1) amount_t x_t / T, so
that a row which changes nothing costs nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pegasos.certificate import Answer
from pegasos.compiled import inlined, kernel
from pegasos.losses import clip, dual_value
from pegasos.problem import Problem
from pegasos.rows import add
from pegasos.solvers.one_row import (
    BEGUN,
    COUNT,
    STOP,
    TARGET,
    OneRow,
    OneRowState,
    T,
    pull,
)

USUAL_PASSES = 10


@dataclass(frozen=True)
class Online(OneRow):
    """A rule that learns from one row after the other, for so many passes; the base of a few."""

    passes: int | None = None
    average: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.passes is not None:
            if not (isinstance(self.passes, int | np.integer) and 0 < self.passes < 2**53):
                raise ValueError(f"passes must be a positive whole number, not {self.passes!r}")
            if self.steps is not None:
                raise ValueError("steps and passes both say when to end: give one of them")
        if not isinstance(self.average, bool | np.bool_):
            raise ValueError(f"average must be True or False, not {self.average!r}")

    def prepare(self, problem: Problem, state: OneRowState, warm: Answer | None) -> None:
        if self.steps is None:
            state.run[STOP] = state.run[T] + (self.passes or USUAL_PASSES) * problem.m
        if self.average:
            state.second = np.zeros(problem.d)

    def _estimate(self, problem: Problem, state: OneRowState) -> float:
        """None: the rule does not aim at the gap, so the driver looks at its own rate."""
        return math.inf

    def answer(self, problem: Problem, state: OneRowState) -> Answer:
        w = state.v.copy()
        seen = state.run[T] - state.run[BEGUN]
        if self.average and seen > 0:
            w -= state.second / seen
        beta, w_beta = np.zeros(problem.y.size), np.zeros(problem.d)
        with np.errstate(over="ignore", invalid="ignore"):  # of sums that have diverged
            _best_multiple(
                problem.rows,
                problem.loss,
                problem.which,
                state.numbers,
                problem.cost,
                state.v,
                beta,
                w_beta,
            )
        return Answer(w, 0.0, beta)


@inlined
def learn(rows, i, amount, work, run):
    """w += amount · x_i, in the mean from this presentation on."""
    pull(rows, i, amount, work)
    if work.second.size > 0:
        add(rows, i, amount * (run[T] - 1.0 - run[BEGUN]), work.second)


@inlined
def _squared_norm(v):
    norm = 0.0
    for j in range(v.size):
        norm += v[j] * v[j]
    return norm


@kernel
def _best_multiple(rows, loss, which, numbers, cost, v, beta, w_beta):
    """The coefficients β of the bound, from the counts and v = Σ counts x.

    d is linear along a ray here, so that D(θ β) = θ Σ d(β) − ½θ²‖Σ β x‖² is largest where
    θ = Σ d(β) / ‖Σ β x‖².
    """
    total = 0.0
    for k in range(which.size):
        i = which[k]
        total += dual_value(loss, numbers[i, COUNT], numbers[i, TARGET], cost[i])
    theta, norm = 0.0, _squared_norm(v)
    if total > 0.0 and norm > 0.0:
        theta = min(total / norm, 1e300)  # finite: times a count of zero it must be zero
    total = 0.0
    for k in range(which.size):
        i = np.uint64(which[k])
        y, c = numbers[i, TARGET], cost[i]
        beta[i] = clip(loss, theta * numbers[i, COUNT], y, c)
        total += dual_value(loss, beta[i], y, c)
        if beta[i] != 0.0:
            add(rows, i, beta[i], w_beta)
    norm = _squared_norm(w_beta)
    if total < norm:  # less than θ = 1 is best
        theta = max(total, 0.0) / norm
        for k in range(beta.size):
            beta[k] *= theta
