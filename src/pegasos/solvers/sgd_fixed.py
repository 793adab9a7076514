"""Stochastic gradient steps of one fixed length.

    minimise   f(w) = λ/2 ‖w‖² + (1/m) Σ s̃_i ℓ(y_i, ⟨w, x_i⟩)
    step t     g ∈ ∂ℓ(y_i, ⟨w, x_i⟩)
               w ← (1 − ηλ) w − η s̃_i g x_i

w forgets as it goes: a visit counts half as much ln 2/(ηλ) steps later. With slopes of at most 1 a
constant step comes near, and stays away by a noise of at most about η/2 max s̃‖x‖² in f; a shorter
one stays less far away and takes longer to arrive. The dual point is in ``slope_means``: as good a
bound as the last passes were calm, also where w still forgets slowly or has long forgotten a row.

Zhang 2004, "Solving large scale linear prediction problems using stochastic gradient descent
algorithms"; with λ, and with η one of 10, 1, 0.1, 0.01, 0.001, in Shalev-Shwartz, Singer & Srebro
2007, section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from pegasos.losses import subgradient
from pegasos.problem import Problem
from pegasos.rows import add
from pegasos.solvers.contract import Solves
from pegasos.solvers.first_step import check_length
from pegasos.solvers.one_row import SCALE, TARGET, WEIGHT, OneRowState, present
from pegasos.solvers.slope_means import SlopeMeans, keep_slope

NOISE = 0.01  # η max s̃‖x‖² where η is not given


class FixedRule(NamedTuple):
    """The numbers of a step."""

    eta: float
    lam: float


@dataclass(frozen=True)
class SGDFixed(SlopeMeans):
    """Stochastic gradient descent with steps of a fixed length.

    Parameters
    ----------
    steps : int, optional
        T: stop after this many steps.
    order : {"shuffle", "shuffle-once", "cycle", "iid", "blocks"}, optional
        Each pass in a new random order (the default); all in one random order; as stored; each row
        drawn independently; or in blocks, as by default where the rows lie in files.
    block_rows : int, optional
        The rows of a block; those of a store by default.
    eta : float, optional
        η, the length of every step, below 1/λ. If not given, 0.01 / max s̃‖x‖². Where slopes are at
        most 1 that leaves a noise of about 0.005 in f, and no loss diverges with it; it takes
        some 100 max s̃‖x‖²/(λm) passes to settle. A squared loss may diverge where η is longer than
        1 / max s̃‖x‖²; the run then ends with the status ``"diverged"``.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import Problem, SGDFixed, solve
    >>> X = np.random.default_rng(0).standard_normal((500, 4))
    >>> problem = Problem(X, np.sign(X @ [1.0, -1.0, 0.5, 0.0]), lam=0.1)
    >>> solve(problem, SGDFixed(eta=0.005), tol=0.05).converged
    True
    """

    eta: float | None = None

    name: ClassVar[str] = "sgd-fixed"
    solves: ClassVar[Solves] = Solves(biases=frozenset({"none", "feature"}), stores=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_length("eta", self.eta)

    def check(self, problem: Problem) -> None:
        super().check(problem)
        if self.eta is not None and self.eta * problem.lam >= 1.0:
            raise ValueError(
                f"eta={self.eta:g} is too long a step for lam={problem.lam:g}: it shrinks w by "
                f"1 - eta * lam, which must be positive; give eta below {1.0 / problem.lam:g}"
            )

    def length(self, problem: Problem) -> float:
        """η for this problem."""
        if self.eta is not None:
            return float(self.eta)
        return NOISE / max(problem.reach, problem.lam)

    def findings(self, problem: Problem, state: OneRowState) -> dict[str, Any]:
        return {"eta": self.length(problem)}

    def rule(self, problem: Problem, state: OneRowState) -> FixedRule:
        return FixedRule(self.length(problem), problem.lam)


@present.of(FixedRule)
def _fixed(rule, rows, loss, i, product, work, run):
    slope = subgradient(loss, run[SCALE] * product, work.numbers[i, TARGET])
    run[SCALE] *= 1.0 - rule.eta * rule.lam
    if slope != 0.0:
        keep_slope(i, slope, work, run)
        add(rows, i, -rule.eta * work.numbers[i, WEIGHT] * slope / run[SCALE], work.v)
    if run[SCALE] < 1e-100:
        for j in range(work.v.size):
            work.v[j] *= run[SCALE]
        run[SCALE] = 1.0
