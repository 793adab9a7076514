"""SGD-r: each row drawn by itself from all of them.

    minimise   f(w) = λ/2 ‖w‖² + (1/m) Σ s̃_i max(0, 1 − y_i⟨w, x_i⟩)
    present    i at random: if y_i⟨a, x_i⟩ ≤ λt:  a ← a + s̃_i y_i x_i;   in any case t ← t + 1
    w = a/(λt)

The coefficients of a under the factor 1/(λt) may leave their box, since some rows are drawn more
often than others, so the paper stops after a number of steps. With the draws of each row counted,
α_i = C_i I_i/n_i lies in the box and a run can stop on the gap as well.

Panagiotakopoulos & Tsampouka 2013, section 2; see ``margin_threshold`` for the dual variables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from pegasos.certificate import Answer
from pegasos.problem import Problem
from pegasos.solvers.contract import Solves
from pegasos.solvers.margin_threshold import MarginThreshold, present_once
from pegasos.solvers.one_row import NORM, OneRowState, present

DRAWS = NORM  # the method needs no norms: n_i stands in their place, on the same cache line


class DrawnRule(NamedTuple):
    """The numbers of a step; a name of its own, by which compiled code knows it."""

    lam: float


@dataclass(frozen=True)
class SGDR(MarginThreshold):
    """SGD-r: stochastic steps of length 1/(λt) on rows drawn independently.

    Parameters
    ----------
    steps : int, optional
        Stop after this many presentations, as in the paper; a warm start counts none. Without it
        the run ends on the gap.
    look_below : float, default=1.0
        f, the comparison coefficient: look at the gap after m draws whose margins let expect one
        below f times the tolerance. More than 1 looks more often and ends after fewer draws.
    single : bool, default=False
        Keep a in single precision. The certificate stays in double precision, and is about the
        coefficients that are returned.

    Notes
    -----
    The findings of a run (``Solution.findings``) hold ``error_rates``: for each row the fraction of
    its presentations that were errors, α_i/C_i; 0 for a row that was never drawn. A warm start
    counts as one presentation of each.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import SGDR, Problem, solve
    >>> X = np.random.default_rng(0).standard_normal((500, 4))
    >>> problem = Problem(X, np.sign(X @ [1.0, -1.0, 0.5, 0.0]), lam=0.1)
    >>> solve(problem, SGDR(steps=5000), tol=None).status
    'finished'
    >>> solve(problem, SGDR(), tol=0.05).converged
    True
    """

    name: ClassVar[str] = "sgd-r"
    solves: ClassVar[Solves] = replace(MarginThreshold.solves, stores=False)
    order: ClassVar[str] = "iid"  # type: ignore[misc]
    block_rows: ClassVar[None] = None  # type: ignore[misc]

    def rule(self, problem: Problem, state: OneRowState) -> DrawnRule:
        return DrawnRule(problem.lam)

    def prepare(self, problem: Problem, state: OneRowState, warm: Answer | None) -> None:
        super().prepare(problem, state, warm)
        state.numbers[:, DRAWS] = 0.0 if warm is None else 1.0

    def presented(self, problem: Problem, state: OneRowState) -> np.ndarray:
        return state.numbers[:, DRAWS]


@present.of(DrawnRule)
def _sgd_r(rule, rows, loss, i, product, work, run):
    work.numbers[i, DRAWS] += 1.0
    present_once(rule.lam, rows, i, product, work, run)
