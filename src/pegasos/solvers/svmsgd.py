"""SVMSGD and ASGD: the step begins as long as a sample of the rows likes it best, then falls.

    minimise   f(w) = λ/2 ‖w‖² + (1/m) Σ s̃_i ℓ(y_i, ⟨w, x_i⟩)
    step t     g ∈ ∂ℓ(y_i, ⟨w, x_i⟩),   w ← (1 − ηλ) w − η s̃_i g x_i
    SVMSGD     η = 1/(λ(t − 1 + t₀)),   t₀ = 1/(λη₀)
    ASGD       η = η₀/(1 + λη₀(t − 1))^(3/4), and the answer is the mean of w after each step of
               those that follow the first ``average_from`` passes; until then it is w itself

w = scale · v, so that shrinking w at every step costs one multiplication. svmsgd2 shrinks it only
every few steps, to save what costs nothing here. η₀ comes from ``first_step``.

The mean: Σ w_t = SCALES · v − past, where SCALES is the sum of the scales so far, and past grows by
SCALES times all that is added to v. So a step costs the nonzeros of its row. Before SCALES · v is
so much larger than the mean that its digits are lost, the scale is multiplied into v.

The dual point is in ``slope_means``. The coefficients of w would do too, for SVMSGD, but t₀ keeps
them short of their bounds for long, and slowly falling steps still longer.

Bottou, the programs svmsgd and svmasgd (leon.bottou.org/projects/sgd); Xu 2011, "Towards optimal
one pass large scale learning with averaged stochastic gradient descent", for ASGD.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from pegasos.certificate import Answer
from pegasos.losses import subgradient
from pegasos.problem import Problem
from pegasos.rows import add
from pegasos.solvers.contract import Solves
from pegasos.solvers.first_step import ETA0, NEXT, FirstStep
from pegasos.solvers.one_row import (
    BEGUN,
    SCALE,
    TARGET,
    WEIGHT,
    OneRowState,
    T,
    present,
)
from pegasos.solvers.slope_means import keep_slope

AVERAGED, SCALES = NEXT, NEXT + 1  # iterates in the mean, and the sum of their scales
SMALLEST = 1e-2  # a scale below this is multiplied into v


class FallingRule(NamedTuple):
    """The numbers of a step of SVMSGD."""

    lam: float
    offset: float  # t₀ − 1


class AveragedRule(NamedTuple):
    """The numbers of a step of ASGD."""

    lam: float
    eta0: float
    begin: float  # the last step whose w is not in the mean


@dataclass(frozen=True)
class SVMSGD(FirstStep):
    """Stochastic gradient descent after Bottou, plain or averaged.

    Parameters
    ----------
    steps : int, optional
        T: stop after this many steps.
    order : {"shuffle", "shuffle-once", "cycle", "iid", "blocks"}, optional
        Each pass in a new random order; all in one random order (the default); as stored; each row
        drawn independently; or blocks of rows in random order, and the rows of each.
    block_rows : int, optional
        The rows of a block.
    eta0 : float, optional
        η₀, the length of the first step, below 1/λ. If not given, it is found on a sample of the
        rows, each of which is visited some six times for it, and is in ``Solution.findings``.
    average : bool, default=False
        Return the mean of the iterates: ASGD. Its steps fall more slowly.
    average_from : float, optional
        The mean begins after this many passes; 1 if not given. Only with ``average``.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import SVMSGD, Problem, solve
    >>> X = np.random.default_rng(0).standard_normal((500, 4))
    >>> problem = Problem(X, np.sign(X @ [1.0, -1.0, 0.5, 0.0]), lam=0.1)
    >>> solve(problem, SVMSGD(), tol=0.02).converged
    True
    >>> solve(problem, SVMSGD(average=True), tol=0.02).converged
    True
    """

    average: bool = False
    average_from: float | None = None

    name: ClassVar[str] = "svmsgd"
    solves: ClassVar[Solves] = Solves(biases=frozenset({"none", "feature"}))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.average, bool | np.bool_):
            raise ValueError(f"average must be True or False, not {self.average!r}")
        if self.average_from is None:
            return
        if not self.average:
            raise ValueError("average_from says when a mean begins: give average=True with it")
        if not (
            isinstance(self.average_from, int | float | np.integer | np.floating)
            and 0.0 <= self.average_from < math.inf
        ):
            raise ValueError(
                f"average_from must be zero or more passes, or None, not {self.average_from!r}"
            )

    def prepare(self, problem: Problem, state: OneRowState, warm: Answer | None) -> None:
        super().prepare(problem, state, warm)
        if self.average:
            state.second = np.zeros(problem.d)

    def rule(self, problem: Problem, state: OneRowState) -> FallingRule | AveragedRule:
        eta0 = float(state.run[ETA0])
        if not self.average:
            return FallingRule(problem.lam, 1.0 / (problem.lam * eta0) - 1.0)
        passes = 1.0 if self.average_from is None else float(self.average_from)
        return AveragedRule(problem.lam, eta0, float(state.run[BEGUN]) + passes * problem.m)

    def answer(self, problem: Problem, state: OneRowState) -> Answer:
        answer, averaged = super().answer(problem, state), state.run[AVERAGED]
        if averaged == 0.0:
            return answer
        with np.errstate(over="ignore", invalid="ignore"):  # of a run that has diverged
            return replace(answer, w=(state.run[SCALES] * state.v - state.second) / averaged)


@present.of(FallingRule)
def _svmsgd(rule, rows, loss, i, product, work, run):
    slope = subgradient(loss, run[SCALE] * product, work.numbers[i, TARGET])
    time = run[T] + rule.offset
    run[SCALE] *= 1.0 - 1.0 / time
    if slope != 0.0:
        keep_slope(i, slope, work, run)
        amount = -work.numbers[i, WEIGHT] * slope
        add(rows, i, amount / (rule.lam * time * run[SCALE]), work.v)


@present.of(AveragedRule)
def _asgd(rule, rows, loss, i, product, work, run):
    slope = subgradient(loss, run[SCALE] * product, work.numbers[i, TARGET])
    root = np.sqrt(1.0 + rule.lam * rule.eta0 * (run[T] - 1.0))
    eta = rule.eta0 / (root * np.sqrt(root))
    run[SCALE] *= 1.0 - eta * rule.lam
    if slope != 0.0:
        keep_slope(i, slope, work, run)
        step = -eta * work.numbers[i, WEIGHT] * slope / run[SCALE]
        add(rows, i, step, work.v)
        if run[AVERAGED] > 0.0:
            add(rows, i, run[SCALES] * step, work.second)
    if run[T] > rule.begin:
        run[AVERAGED] += 1.0
        run[SCALES] += run[SCALE]
    if run[SCALE] < SMALLEST:  # Σ w_t = SCALES · v − past stays what it is
        for j in range(work.v.size):
            work.second[j] -= run[SCALES] * work.v[j]
            work.v[j] *= run[SCALE]
        run[SCALE], run[SCALES] = 1.0, 0.0
