"""SGD-s: each row once in an epoch, stopped by a lower bound of its own.

    minimise   f(w) = λ/2 ‖w‖² + (1/m) Σ s̃_i max(0, 1 − y_i⟨w, x_i⟩)
    present    if y_i⟨a, x_i⟩ ≤ λt:  a ← a + s̃_i y_i x_i;   in any case t ← t + 1
    w = a/(λt)
    bound      J* ≥ C M/T − ½‖w‖² after T epochs with M = Σ s̃_i I_i errors

Panagiotakopoulos & Tsampouka 2013, section 2; see ``margin_threshold`` for the dual variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pegasos.certificate import Answer
from pegasos.problem import Problem
from pegasos.solvers.margin_threshold import MarginThreshold, present_once
from pegasos.solvers.one_row import OWN, POSITION, OneRowState, T, present

EPOCHS = ("shuffle", "shuffle-once", "cycle", "blocks")

TIMES = OWN  # how often each row is presented in the present epoch


class EpochRule(NamedTuple):
    """The numbers of a step; a name of its own, by which compiled code knows it."""

    lam: float


@dataclass(frozen=True)
class SGDS(MarginThreshold):
    """SGD-s: stochastic steps of length 1/(λt) in whole epochs, as a perceptron with margin.

    Parameters
    ----------
    steps : int, optional
        Stop after this many presentations; a warm start counts none.
    order : {"shuffle", "shuffle-once", "cycle", "blocks"}, optional
        Each epoch in a new random order (the default); all in one random order; as stored; or in
        blocks, as by default where the rows lie in files.
    block_rows : int, optional
        The rows of a block; those of a store by default.
    look_below : float, default=1.0
        f, the comparison coefficient: look at the gap after an epoch whose margins let expect one
        below f times the tolerance. More than 1 looks more often and ends after fewer epochs.
    single : bool, default=False
        Keep a in single precision. The certificate stays in double precision, and is about the
        coefficients that are returned.

    Notes
    -----
    The findings of a run (``Solution.findings``) hold ``error_rates``: for each row the fraction of
    its presentations that were errors, α_i/C_i. It is near 1 for rows inside the margin, near 0 for
    rows beyond it, and between for rows on it. A warm start counts as one presentation of each.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import SGDS, Problem, solve
    >>> X = np.random.default_rng(0).standard_normal((500, 4))
    >>> problem = Problem(X, np.sign(X @ [1.0, -1.0, 0.5, 0.0]), lam=0.1)
    >>> solution = solve(problem, SGDS(), tol=1e-2)
    >>> solution.converged
    True
    >>> inside = problem.y * (X @ solution.w) < 0.8
    >>> bool((solution.findings["error_rates"][inside] > 0.8).all())
    True
    """

    name: ClassVar[str] = "sgd-s"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order not in (None, *EPOCHS):
            raise ValueError(
                f"order must be one of {', '.join(EPOCHS)}, not {self.order!r}: {self.name} goes "
                "by epochs; rows drawn independently are SGDR"
            )

    def rule(self, problem: Problem, state: OneRowState) -> Any:
        return EpochRule(problem.lam)

    def prepare(self, problem: Problem, state: OneRowState, warm: Answer | None) -> None:
        super().prepare(problem, state, warm)
        state.run[TIMES] = 1.0

    def presented(self, problem: Problem, state: OneRowState) -> np.ndarray:
        position, times = int(state.run[POSITION]), state.run[TIMES]
        before = (state.run[T] - times * position) / problem.m
        presented = np.full(problem.y.size, before)
        presented[state.order[:position]] += times
        return presented


@present.of(EpochRule)
def _sgd_s(rule, rows, loss, i, product, work, run):
    present_once(rule.lam, rows, i, product, work, run)
