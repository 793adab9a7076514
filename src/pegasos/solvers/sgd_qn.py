"""SGD-QN: stochastic gradient steps with a length for each feature, after its curvature.

    minimise   f(w) = λ/2 ‖w‖² + (1/m) Σ s̃_i ℓ(y_i, ⟨w, x_i⟩)
    step t     g = s̃_i ℓ′(y_i, ⟨w, x_i⟩)
               (1)  one step after (2):   p = λ(w − w⁻) + (g − s̃_i ℓ′(y_i, ⟨w⁻, x_i⟩)) x_i
                                          1/B_j ← 1/B_j + skip · clip(p_j/(w_j − w⁻_j), λ, 100λ)
               (2)  every skip-th step:   w⁻ ← w,   w_j ← w_j − skip λ B_j w_j
               (3)  at every step:        w_j ← w_j − g B_j x_ij
    start      B_j = η₀ = 1/(λt₀)

B is the diagonal of an estimated inverse Hessian, divided by the time. w⁻ is w as it was before the
steps (2) and (3) that came last, and p the difference of the gradient of one row between w⁻ and w:
p_j/(w_j − w⁻_j) is a curvature along feature j. A feature that has not moved counts as λ, and with
λ everywhere B_j = 1/(λ(t₀ + t)) as in SVMSGD. Steps (1) and (2) cost d, but come seldom; step (3)
costs the nonzeros of its row.

This is the algorithm of the erratum. The paper averages the ratios of Δw to Δgradient, and the mean
of inverses is not the inverse of the mean: where a feature is rare, or the loss has flat pieces,
the many ratios of 1/λ hide the few that tell of curvature. The erratum averages the inverse ratios,
which are the curvatures themselves: 1/(B_j t) is λt₀/t and their mean, in which each new one weighs
skip/t.

Where it helps, and where not. Where rows share no feature, p_j/(w_j − w⁻_j) is exactly the
curvature that a row shows. Else it holds also what the other features of the row have moved: noise
with heavy tails, cut off at λ below and at 100λ above. If the loss curves by some ten to a hundred
λ, the method comes nearer to the optimum than SVMSGD does. If it curves by less, along one feature
or along all, the noise makes B too short, and w creeps.

Ours: η₀ comes from ``first_step`` and is at most 1/(2λ skip), with which no step (2) takes away
more than half of w; ``skip`` is 16 d over the mean number of nonzeros, so that (1) and (2) cost a
row a fraction of what (3) does; weights. w is no combination of rows here, for B stretches it; the
dual point is in ``slope_means``.

Bordes, Bottou & Gallinari 2009, "SGD-QN: Careful quasi-Newton stochastic gradient descent", and
Bordes, Bottou, Gallinari, Chang & Smith 2010, "Erratum: SGDQN is less careful than expected".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from pegasos.certificate import Answer
from pegasos.compiled import inlined
from pegasos.losses import subgradient
from pegasos.problem import Problem
from pegasos.rows import add, add_rescaled, dot
from pegasos.solvers.contract import Solves
from pegasos.solvers.first_step import NEXT, FirstStep
from pegasos.solvers.one_row import BEGUN, TARGET, WEIGHT, OneRowState, present
from pegasos.solvers.slope_means import keep_slope

LEFT, DUE = NEXT, NEXT + 1  # steps until the next (2), and whether (1) is due

MOST_CURVED = 100.0  # a curvature above this times λ is taken for noise


class QuasiNewtonRule(NamedTuple):
    """The numbers of a step."""

    lam: float
    skip: int


@dataclass(frozen=True)
class SGDQN(FirstStep):
    """SGD-QN with its erratum.

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
        η₀, the first step of every feature, below 1/(λ skip). If not given, it is found on a sample
        of the rows, and is in ``Solution.findings``.
    skip : int, optional
        Steps between two estimates of the curvature, and between two times that w is shrunk. If not
        given, 16 for dense rows, and more for sparse ones.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import SGDQN, Problem, solve
    >>> X = np.random.default_rng(0).standard_normal((500, 4))
    >>> problem = Problem(X, np.sign(X @ [1.0, -1.0, 0.5, 0.0]), lam=0.01)
    >>> solve(problem, SGDQN(), tol=0.05).converged
    True
    """

    skip: int | None = None

    name: ClassVar[str] = "sgd-qn"
    solves: ClassVar[Solves] = Solves(biases=frozenset({"none", "feature"}))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.skip is not None and not (
            isinstance(self.skip, int | np.integer) and 0 < self.skip < 2**53
        ):
            raise ValueError(f"skip must be a positive whole number, or None, not {self.skip!r}")

    def at_once(self, problem: Problem) -> int:
        if self.skip is not None:
            return int(self.skip)
        nonzeros = problem.rows.values.size / problem.intake.n_rows
        return math.ceil(16.0 * max(problem.intake.n_features / max(nonzeros, 1.0), 1.0))

    def rule(self, problem: Problem, state: OneRowState) -> QuasiNewtonRule:
        return QuasiNewtonRule(problem.lam, self.at_once(problem))

    def prepare(self, problem: Problem, state: OneRowState, warm: Answer | None) -> None:
        state.second = np.zeros(3 * problem.d)  # B; w⁻; zeros, to lay a row out in
        state.run[LEFT] = self.at_once(problem)
        super().prepare(problem, state, warm)

    def begin(self, problem: Problem, state: OneRowState, eta0: float) -> None:
        super().begin(problem, state, eta0)
        state.second[: problem.d] = eta0 / (1.0 + problem.lam * eta0 * state.run[BEGUN])


@present.of(QuasiNewtonRule)
def _sgd_qn(rule, rows, loss, i, product, work, run):
    d = work.v.size
    lengths, before = work.second[:d], work.second[d : 2 * d]
    y, weight = work.numbers[i, TARGET], work.numbers[i, WEIGHT]
    slope = subgradient(loss, product, y)
    if run[DUE] > 0.0:
        run[DUE] = 0.0
        change = weight * (slope - subgradient(loss, dot(rows, i, before), y))
        _estimate_curvature(rule, rows, i, change, work)
    run[LEFT] -= 1.0
    if run[LEFT] <= 0.0:
        run[LEFT], run[DUE] = rule.skip, 1.0
        for j in range(d):
            before[j] = work.v[j]
            work.v[j] -= rule.skip * rule.lam * lengths[j] * work.v[j]
    if slope != 0.0:
        keep_slope(i, slope, work, run)
        add_rescaled(rows, i, -weight * slope, lengths, work.v)


@inlined
def _estimate_curvature(rule, rows, i, change, work):
    """1/B_j += skip times the curvature that row i shows: λ + change · x_ij/Δw_j, clipped."""
    d = work.v.size
    lengths, before, row = work.second[:d], work.second[d : 2 * d], work.second[2 * d :]
    if change != 0.0:
        add(rows, i, change, row)
    for j in range(d):
        moved = work.v[j] - before[j]
        curvature = rule.lam
        if moved != 0.0:
            curvature += min(max(row[j] / moved, 0.0), (MOST_CURVED - 1.0) * rule.lam)
        row[j] = 0.0
        lengths[j] /= 1.0 + rule.skip * lengths[j] * curvature
