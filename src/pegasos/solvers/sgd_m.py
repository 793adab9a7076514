"""SGD-m: SGD-s, but in some epochs each row is presented ℓ times at once, for one product.

    minimise   f(w) = λ/2 ‖w‖² + (1/m) Σ s̃_i max(0, 1 − y_i⟨w, x_i⟩)
    present    with X = y_i⟨a, x_i⟩ − λt and q = s̃_i‖x_i‖², of ℓ presentations in a row
                   ℓ⁺ = 0                                                    if X > (ℓ − 1)λ
                   ℓ⁺ = min{ℓ, ⌊((ℓ − 1)λ − X)/max(q, λ)⌋ + 1}               otherwise
               are errors:  a ← a + ℓ⁺ s̃_i y_i x_i;   t ← t + ℓ
    w = a/(λt)

An epoch of ℓ presentations of each row counts as ℓ epochs, and the bound of SGD-s holds on.

Panagiotakopoulos & Tsampouka 2013, section 2, for ℓ⁺. Which epochs, and how large an ℓ, are
parameters; their defaults are ours and not the paper's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pegasos.certificate import Answer
from pegasos.compiled import inlined
from pegasos.problem import Problem
from pegasos.solvers.one_row import (
    NORM,
    PASSES,
    SCALE,
    TARGET,
    WEIGHT,
    OneRowState,
    T,
    present,
    pull,
)
from pegasos.solvers.sgd_s import SGDS, TIMES

EPOCH = TIMES + 1  # the epoch that TIMES belongs to


class RepeatedRule(NamedTuple):
    """The numbers of a step; a name of its own, by which compiled code knows it."""

    lam: float
    times: float
    every: float


@dataclass(frozen=True)
class SGDM(SGDS):
    """SGD-m: SGD-s with epochs in which each row is presented several times at once.

    Such an epoch costs one product for each row, and moves the clock as far as several epochs.

    Parameters
    ----------
    steps : int, optional
        Stop once this many presentations are made; a warm start counts none. The last row is
        presented as often as the others of its epoch.
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
    times : int, default=2
        ℓ: how often a row is presented at once. The default is ours.
    every : int, default=2
        The epochs numbered ``every``, 2 ``every``, … present each row ``times`` times, all others
        once. The default is ours.

    Notes
    -----
    More presentations at once bring a large C sooner to a modest gap where rows share few features;
    elsewhere they only make steps coarser, and SGDS needs fewer passes.

    The findings of a run (``Solution.findings``) hold ``error_rates``: for each row the fraction of
    its presentations that were errors, α_i/C_i. A warm start counts as one presentation of
    each.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import SGDM, Problem, solve
    >>> X = np.random.default_rng(0).standard_normal((500, 4))
    >>> problem = Problem(X, np.sign(X @ [1.0, -1.0, 0.5, 0.0]), lam=0.1)
    >>> solve(problem, SGDM(times=4, every=3), tol=1e-2).converged
    True
    """

    times: int = 2
    every: int = 2

    name: ClassVar[str] = "sgd-m"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("times", "every"):
            number = getattr(self, name)
            if not (isinstance(number, int | np.integer) and 0 < number < 2**31):
                raise ValueError(f"{name} must be a positive whole number, not {number!r}")

    def rule(self, problem: Problem, state: OneRowState) -> Any:
        return RepeatedRule(problem.lam, float(self.times), float(self.every))

    def prepare(self, problem: Problem, state: OneRowState, warm: Answer | None) -> None:
        super().prepare(problem, state, warm)
        state.run[EPOCH] = -1.0


@inlined
def errors_at_once(excess, growth, times):
    """ℓ⁺ of ℓ presentations, from X/λ and q/λ."""
    if excess > times - 1.0:
        return 0.0
    return min(times, np.floor((times - 1.0 - excess) / max(growth, 1.0)) + 1.0)


@present.of(RepeatedRule)
def _sgd_m(rule, rows, loss, i, product, work, run):
    if run[EPOCH] != run[PASSES]:
        run[EPOCH] = run[PASSES]
        run[TIMES] = rule.times if (run[PASSES] + 1.0) % rule.every == 0.0 else 1.0
    t, times = run[T] - 1.0, run[TIMES]
    y, weight = work.numbers[i, TARGET], work.numbers[i, WEIGHT]
    growth = weight * work.numbers[i, NORM] / rule.lam
    errors = errors_at_once(y * product / rule.lam - t, growth, times)
    if errors > 0.0:
        pull(rows, i, errors * weight * y, work)
    run[T] = t + times
    run[SCALE] = 1.0 / (rule.lam * run[T])
