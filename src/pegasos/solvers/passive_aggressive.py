"""Passive-aggressive learning: the least change of w that serves the row at hand.

    present    row i with ℓ = ℓ(y_i, ⟨w, x_i⟩):   w ← w − τ g x_i,   g ∈ ∂ℓ, ±1 where ℓ > 0
    PA         τ = ℓ / ‖x_i‖²                     min ½‖v − w‖²               such that ℓ(v) = 0
    PA-I       τ = min(C_i, ℓ / ‖x_i‖²)           min ½‖v − w‖² + C_i ℓ(v)
    PA-II      τ = ℓ / (‖x_i‖² + 1/(2 C_i))       min ½‖v − w‖² + C_i ℓ(v)²

C_i = C s̃_i. The hinge loss for labels, the ε-insensitive loss for numbers.

Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006, "Online passive-aggressive algorithms",
sections 3 and 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from pegasos.losses import TINY, subgradient, value
from pegasos.problem import Problem
from pegasos.solvers.contract import Solves
from pegasos.solvers.one_row import NORM, TARGET, WEIGHT, OneRowState, present
from pegasos.solvers.online import Online, learn

VARIANTS = ("PA", "PA-I", "PA-II")


class Rule(NamedTuple):
    """The numbers of a step of a row of weight one."""

    most: float  # τ is at most this
    soft: float  # and this is added to ‖x‖²


@dataclass(frozen=True)
class PassiveAggressive(Online):
    """Passive-aggressive learning, for labels and for numbers.

    It has no regulariser: its own C bounds a single step and is not that of the problem. The w is
    returned as the algorithm has it, and judged by the objective of the problem. Weights multiply
    C. Rows without any feature are passed over.

    Parameters
    ----------
    steps : int, optional
        Stop after this many presentations.
    order : {"shuffle", "shuffle-once", "cycle", "iid", "blocks"}, optional
        Each pass in a new random order (the default); all in one random order; as stored; each row
        drawn independently; or in blocks, as by default where the rows lie in files.
    block_rows : int, optional
        The rows of a block; those of a store by default.
    passes : int, optional
        Stop after this many presentations for each row; 10 where neither is given. Only a run that
        gets so far returns the last w: one that a limit ends returns the best model seen.
    average : bool, default=False
        The mean of w over all presentations, in place of the last.
    variant : {"PA", "PA-I", "PA-II"}, default="PA-I"
        A step removes the loss of its row; or it does so as far as C allows; or it trades its
        length against the square of what remains.
    C : float, default=1.0
        The aggressiveness; not for ``variant="PA"``, which has none.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import PassiveAggressive, Problem, solve
    >>> X = np.random.default_rng(0).standard_normal((500, 4))
    >>> y = np.sign(X @ [1.0, -1.0, 0.5, 0.0])
    >>> solution = solve(Problem(X, y, lam=0.1), PassiveAggressive(C=0.1))
    >>> solution.status
    'finished'
    >>> bool(np.mean(np.sign(X @ solution.w) == y) > 0.95)
    True
    """

    variant: str = "PA-I"
    C: float = 1.0

    name: ClassVar[str] = "passive-aggressive"
    solves: ClassVar[Solves] = Solves(
        losses=frozenset({"hinge", "epsilon_insensitive"}), biases=frozenset({"none", "feature"})
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant not in VARIANTS:
            raise ValueError(f"variant must be one of {', '.join(VARIANTS)}, not {self.variant!r}")
        if not (
            isinstance(self.C, int | float | np.integer | np.floating) and 0 < self.C < math.inf
        ):
            raise ValueError(f"C must be positive and finite, not {self.C!r}")
        if self.variant == "PA" and self.C != 1.0:
            raise ValueError(
                "variant='PA' has no aggressiveness: leave out C, or choose 'PA-I' or 'PA-II'"
            )

    def check(self, problem: Problem) -> None:
        super().check(problem)
        if self.variant == "PA" and np.ptp(problem.cost[problem.which]) > 0.0:
            raise ValueError(
                "passive-aggressive takes no weights with variant='PA', which has no "
                "aggressiveness for them to multiply: choose 'PA-I' or 'PA-II'"
            )

    def rule(self, problem: Problem, state: OneRowState) -> Rule:
        return Rule(
            most=float(self.C) if self.variant == "PA-I" else math.inf,
            soft=0.5 / float(self.C) if self.variant == "PA-II" else 0.0,
        )


@present.of(Rule)
def _passive_aggressive(rule, rows, loss, i, product, work, run):
    y, weight, norm = work.numbers[i, TARGET], work.numbers[i, WEIGHT], work.numbers[i, NORM]
    short = value(loss, product, y)
    if short > 0.0 and norm > TINY:
        tau = min(rule.most * weight, short / (norm + rule.soft / weight))
        learn(rows, i, -tau * subgradient(loss, product, y), work, run)
