"""MPU: a perceptron with margin that also unlearns, for the soft margin.

    maximise   D(α) = Σ α_i − ½‖w‖²,   0 ≤ α_i ≤ C_i,   w = Σ α_i y_i x_i
    present    row i:   y⟨w, x⟩ ≤ 1 − η‖x‖²             α_i ← min(α_i + η, C_i)
                        y⟨w, x⟩ ≥ 1 + η‖x‖², α_i > 0    α_i ← max(α_i − η, 0)
               the same row again until neither holds, at most ``repeats`` times:
               at once, as k = ⌊|1 − y⟨w, x⟩| / (η‖x‖²)⌋ steps
    before     η = δ / max ‖x‖²,  δ the accuracy; all steps of a run are this long

A step of length s ≤ η raises D by s |1 − y⟨w, x⟩| − ½ s²‖x‖² ≥ ½ s η‖x‖², so a run makes finitely
many. After the last, y⟨w, x⟩ is above 1 − δ wherever α_i < C_i and below 1 + δ wherever α_i > 0:

    J(w) − D(α) = Σ (C_i − α_i)(1 − y⟨w, x⟩)₊ + Σ α_i (y⟨w, x⟩ − 1)₊ ≤ δ Σ C_i

over the rows within δ of the margin.

After Panagiotakopoulos & Tsampouka 2010, "The margin perceptron with unlearning". What is known
here of that paper is its abstract, and what its authors say of it in 2013 ("The stochastic gradient
descent for the primal L1-SVM optimization revisited", section 3): fixed steps up and down inside
the box, an accuracy that is chosen before the run, finitely many updates. The formulas above are
this library's reading of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from pegasos.certificate import Answer
from pegasos.losses import TINY
from pegasos.problem import Problem
from pegasos.rows import add
from pegasos.solvers.contract import FINISHED, Report, Solves
from pegasos.solvers.one_row import (
    COUNT,
    NORM,
    OWN,
    STOP,
    TARGET,
    WEIGHT,
    OneRow,
    OneRowState,
    T,
    present,
)

MOVED = OWN  # the presentation of the last step


class Rule(NamedTuple):
    """The numbers of a run."""

    eta: float
    C: float  # the box of a row of weight one
    repeats: float  # infinite without a limit
    quiet: float  # after so many presentations without a step, no row has one left


@dataclass(frozen=True)
class MPU(OneRow):
    """The margin perceptron with unlearning: fixed dual steps up and down, inside the box.

    A row that falls short of the margin gains a step, and one that exceeds it loses what it has
    gained. The rule is a reading of the method: its paper was not at hand.

    Parameters
    ----------
    steps : int, optional
        Stop after this many presentations.
    order : {"shuffle", "shuffle-once", "cycle", "iid", "blocks"}, optional
        Each pass in a new random order (the default); all in one random order; as stored; each row
        drawn independently; or in blocks, as by default where the rows lie in files.
    block_rows : int, optional
        The rows of a block; those of a store by default.
    accuracy : float, default=1e-4
        δ, between 0 and 1: how far from the margin a row may stay without a step. It sets the
        length of all steps before the run, which ends when no row has a step left; ``tol`` may
        end it before.
    repeats : int, optional
        The most steps of a row at one presentation. 1 is the plain rule, which needs about C R²/δ
        passes for rows of norm R; without a limit a row takes all steps that it has left.
    single : bool, default=False
        Keep w in single precision. The dual variables and the certificate stay in double.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import MPU, Problem, solve
    >>> X = np.random.default_rng(0).standard_normal((500, 4))
    >>> problem = Problem(X, np.sign(X @ [1.0, -1.0, 0.5, 0.0]), lam=0.1)
    >>> solve(problem, MPU(), tol=1e-3).converged
    True
    """

    accuracy: float = 1e-4
    repeats: int | None = None
    single: bool = False

    name: ClassVar[str] = "mpu"
    solves: ClassVar[Solves] = Solves(
        losses=frozenset({"hinge"}), biases=frozenset({"none", "feature"}), stores=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (
            isinstance(self.accuracy, int | float | np.integer | np.floating)
            and 0 < self.accuracy < 1
        ):
            raise ValueError(f"accuracy must lie between 0 and 1, not {self.accuracy!r}")
        if self.repeats is not None and not (
            isinstance(self.repeats, int | np.integer) and 0 < self.repeats < 2**53
        ):
            raise ValueError(f"repeats must be a positive whole number, not {self.repeats!r}")
        if not isinstance(self.single, bool | np.bool_):
            raise ValueError(f"single must be True or False, not {self.single!r}")

    def rule(self, problem: Problem, state: OneRowState) -> Rule:
        m = problem.m
        return Rule(
            eta=float(self.accuracy) / float(problem.squared_norms[problem.which].max()),
            C=1.0 / (problem.lam * m),
            repeats=math.inf if self.repeats is None else float(self.repeats),
            # In a fixed order any m presentations are all rows; in changing ones a whole pass is.
            quiet={"shuffle-once": float(m), "cycle": float(m), "iid": math.inf}.get(
                self.order_of(problem), 2.0 * m - 1.0
            ),
        )

    def prepare(self, problem: Problem, state: OneRowState, warm: Answer | None) -> None:
        if warm is not None and warm.beta is None:
            state.v[:] = 0.0  # w must be Σ α y x
        if self.single:
            state.v = state.v.astype(np.float32)
        state.run[MOVED] = state.run[T]

    def advance(self, problem: Problem, state: OneRowState, visits: int, goal: float) -> Report:
        report = super().advance(problem, state, visits, goal)
        rule = self.rule(problem, state)
        if report.status == FINISHED and state.run[T] - state.run[MOVED] >= rule.quiet:
            report.note = (
                f"no row has a step left at accuracy={self.accuracy:g}: a smaller one would go on"
            )
        return report


@present.of(Rule)
def _mpu(rule, rows, loss, i, product, work, run):
    y = work.numbers[i, TARGET]
    alpha, margin = y * work.numbers[i, COUNT], y * product
    times = np.floor(abs(1.0 - margin) / max(rule.eta * work.numbers[i, NORM], TINY))
    change = rule.eta * min(times, rule.repeats)
    if margin < 1.0:
        new = min(alpha + change, rule.C * work.numbers[i, WEIGHT])
    else:
        new = max(alpha - change, 0.0)
    if new != alpha:
        work.numbers[i, COUNT] = y * new  # not by its change: a bound is reached exactly
        add(rows, i, y * (new - alpha), work.v)
        run[MOVED] = run[T]
    elif run[T] - run[MOVED] >= rule.quiet:
        run[STOP] = run[T]
