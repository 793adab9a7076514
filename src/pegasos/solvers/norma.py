"""NORMA: stochastic gradient steps whose length falls with the root of the time.

    minimise   f(w) = λ/2 ‖w‖² + (1/m) Σ s̃_i ℓ(y_i, ⟨w, x_i⟩)
    step t     η = p/(λ√t),   g ∈ ∂ℓ(y_i, ⟨w, x_i⟩)
               w ← (1 − ηλ) w − η s̃_i g x_i          [then onto the ball, with ``project``]
               p = ½ (2 + ½ T^(−½))^½ for T steps in all; 1/√2 where T is not given

Kivinen, Smola & Williamson 2004, "Online learning with kernels", theorem 4; the p, and the variant
with a projection, as in Shalev-Shwartz, Singer & Srebro 2007, section 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from pegasos.certificate import Answer
from pegasos.losses import subgradient
from pegasos.problem import Problem
from pegasos.solvers.contract import Solves
from pegasos.solvers.one_row import (
    NORM,
    OWN,
    SCALE,
    TARGET,
    WEIGHT,
    OneRow,
    OneRowState,
    T,
    present,
    pull,
    rescaled,
)

NU = OWN  # ‖w‖², kept by increments


class Rule(NamedTuple):
    """The numbers of a step."""

    p: float
    lam: float
    ball: float  # r², infinite without projection


@dataclass(frozen=True)
class Norma(OneRow):
    """NORMA, with or without a projection.

    Parameters
    ----------
    steps : int, optional
        T: stop after this many steps; it also sets p.
    order : {"shuffle", "shuffle-once", "cycle", "iid", "blocks"}, optional
        Each pass in a new random order (the default); all in one random order; as stored; each row
        drawn independently; or in blocks, as by default where the rows lie in files.
    block_rows : int, optional
        The rows of a block; those of a store by default.
    project : bool, default=False
        Project onto the ball that holds the optimum.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import Norma, Problem, solve
    >>> X = np.random.default_rng(0).standard_normal((500, 4))
    >>> problem = Problem(X, np.sign(X @ [1.0, -1.0, 0.5, 0.0]), lam=0.1)
    >>> solve(problem, Norma(), tol=0.1).converged
    True
    """

    project: bool = False

    name: ClassVar[str] = "norma"
    solves: ClassVar[Solves] = Solves(
        losses=frozenset({"hinge", "logistic", "epsilon_insensitive"}),
        biases=frozenset({"none", "feature"}),
        stores=True,
    )

    def rule(self, problem: Problem, state: OneRowState) -> Rule:
        p = math.sqrt(0.5)
        if self.steps is not None:
            p = 0.5 * math.sqrt(2.0 + 0.5 / math.sqrt(self.steps))
        return Rule(p, problem.lam, problem.radius / problem.lam if self.project else math.inf)

    def prepare(self, problem: Problem, state: OneRowState, warm: Answer | None) -> None:
        state.run[NU] = float(state.v @ state.v)


@present.of(Rule)
def _norma(rule, rows, loss, i, product, work, run):
    root = np.sqrt(run[T])
    keep, eta = 1.0 - rule.p / root, rule.p / (rule.lam * root)
    y, weight = work.numbers[i, TARGET], work.numbers[i, WEIGHT]
    z = run[SCALE] * product
    amount = -eta * weight * subgradient(loss, z, y)
    run[NU] = keep * (keep * run[NU] + 2.0 * amount * z) + amount * amount * work.numbers[i, NORM]
    run[SCALE] *= keep
    if amount != 0.0:
        pull(rows, i, amount / run[SCALE], work)
    if run[NU] > rule.ball:
        run[SCALE] *= np.sqrt(rule.ball / run[NU])
        run[NU] = rule.ball
    rescaled(work, run)
