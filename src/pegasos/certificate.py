"""The certificate: the one place where a duality gap is computed.

    P = ½‖w‖² + Σ c_i ℓ(y_i, ⟨w, x_i⟩ + b)         for the coefficients that are returned
    D = Σ d(β_i) − ½‖Σ β_i x_i‖²                    for the dual variables that are returned

Both are computed from nothing but those, and the data, in float64. D ≤ J* ≤ P for any w and any
feasible β, so they need not belong to each other.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from pegasos.compiled import kernel, weighted_crossing
from pegasos.losses import best_bias, clip, dual_value, total_loss
from pegasos.problem import Problem
from pegasos.rows import add, dot, prefetch_ahead

ROUNDING = 64 * np.finfo(np.float64).eps
FINEST_TOLERANCE = 1e-12
BALANCED = 1e-12  # |Σ β| ≤ this × Σ |β| counts as zero

RECOMPUTED = "dual variables, recomputed from the data"
TRIVIAL = "no dual variables: the objective is not negative"


@dataclass(frozen=True)
class Certificate:
    """How good an answer is, and how that was proved.

    Attributes
    ----------
    primal : float
        The objective J = ½‖w‖² + Σ c_i ℓ_i of the answer.
    dual : float
        A lower bound on what any answer can reach.
    gap : float
        primal − dual.
    relative_gap : float
        gap / dual: the answer is at most this fraction above the optimum. Zero where primal and
        dual agree to rounding, infinite where nothing is proved.
    how : str
        How the lower bound was obtained.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    how: str

    def to_dict(self) -> dict:
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"primal {self.primal:.10g}, dual {self.dual:.10g}, "
            f"relative gap {self.relative_gap:.2e} ({self.how})"
        )


@dataclass(frozen=True)
class Answer:
    """What a solver has found, in terms that any other solver understands.

    ``w`` has one entry for each feature, the constant one last where there is one; ``b`` is the
    free bias; ``beta`` holds the coefficients of the rows, w = Σ β_i x_i, or is None.
    """

    w: np.ndarray
    b: float
    beta: np.ndarray | None


@dataclass(frozen=True)
class View:
    """An answer made feasible and certified, with what the pass over the data has found."""

    certificate: Certificate
    w: np.ndarray
    b: float
    beta: np.ndarray | None
    z: np.ndarray  # ⟨w, x_i⟩, without b
    w_beta: np.ndarray  # Σ β_i x_i


def relative_gap(primal: float, dual: float, zero_objective: float) -> float:
    """(P − D)/D; 0 where they agree to rounding (P* = 0 is legitimate), else infinite if D ≤ 0."""
    if not (math.isfinite(primal) and math.isfinite(dual)):
        return math.inf
    if primal <= dual + ROUNDING * zero_objective:
        return 0.0
    return (primal - dual) / dual if dual > 0.0 else math.inf


def certify(problem: Problem, answer: Answer) -> View:
    """Recompute primal and dual of an answer from scratch: one pass over the data.

    The dual variables are first brought into their domain, and with a free bias to Σ β = 0; the
    bias becomes the best one for w.
    """
    y, cost, loss = problem.y, problem.cost, problem.loss
    z = np.zeros(y.size)
    w_beta = np.zeros(problem.d)
    beta = None
    if answer.beta is not None:
        beta = np.empty(y.size)
        _clip_all(loss, answer.beta, y, cost, beta)
    _margins_and_sum(
        problem.rows, problem.which, answer.w, z, np.zeros(0) if beta is None else beta, w_beta
    )
    b = answer.b
    if problem.free_bias:
        b = best_bias(loss, z, y, cost)
        if beta is not None:
            _balance(problem, beta, z, w_beta)
    with np.errstate(over="ignore", invalid="ignore"):  # of an answer that has diverged
        primal = 0.5 * float(answer.w @ answer.w) + total_loss(loss, z, b, y, cost)
        dual, how = 0.0, TRIVIAL
        if beta is not None:
            dual = _total_dual(loss, beta, y, cost) - 0.5 * float(w_beta @ w_beta)
            how = RECOMPUTED
    return View(certificate(problem, primal, dual, how), answer.w, b, beta, z, w_beta)


def certificate(problem: Problem, primal: float, dual: float, how: str) -> Certificate:
    """A certificate from the two values."""
    relative = relative_gap(primal, dual, problem.zero_objective)
    return Certificate(float(primal), float(dual), float(primal - dual), float(relative), how)


def _balance(problem: Problem, beta: np.ndarray, z: np.ndarray, w_beta: np.ndarray) -> None:
    """Make Σ β = 0 by lowering |β| on the heavier side, in place; w_beta follows.

    Where d is linear, rows with the largest margin go first: a free row costs nothing to first
    order. Where it is curved, all of that side shrink alike.
    """
    excess = float(beta.sum())
    if excess == 0.0:
        return
    side = 1.0 if excess > 0 else -1.0
    heavy = np.flatnonzero(beta > 0 if excess > 0 else beta < 0).astype(np.uint32)

    def keys_of(rows: np.ndarray) -> np.ndarray:
        return side * (problem.y[rows] - z[rows])

    if math.isinf(problem.loss.curvature):
        last, _ = weighted_crossing(keys_of(heavy), np.abs(beta[heavy]), abs(excess))
        keys, size = keys_of(heavy), np.abs(beta[heavy])
        gone = keys < last
        taken = np.where(gone, size, 0.0)
        left = abs(excess) - taken.sum()
        for k in np.flatnonzero(keys == last):
            taken[k] = min(max(left, 0.0), size[k])
            left -= taken[k]
    else:
        size = np.abs(beta[heavy])
        taken = size * min(abs(excess) / size.sum(), 1.0)
    changed = np.flatnonzero(taken)
    before = beta[heavy[changed]]
    after = before - side * taken[changed]
    after[taken[changed] == size[changed]] = 0.0
    weight = float(np.abs(beta).sum())
    beta[heavy[changed]] = after
    # What rounding leaves over goes to the largest coefficient of that side.
    rest = float(beta.sum())
    if changed.size:
        top = int(np.argmax(np.abs(after)))
        if rest * after[top] > 0 and abs(after[top]) > abs(rest):
            after[top] -= rest
            beta[heavy[changed[top]]] = after[top]
    left_over = float(np.abs(beta).sum())
    if abs(float(beta.sum())) > BALANCED * left_over:
        beta[:] = 0.0  # nothing but rounding was left
    if left_over > 0.1 * weight:
        _add_all(problem.rows, heavy[changed], after - before, w_beta)
    else:  # the difference of large sums would not be exact
        w_beta[:] = 0.0
        kept = np.flatnonzero(beta).astype(np.uint32)
        _add_all(problem.rows, kept, beta[kept], w_beta)


@kernel
def _clip_all(loss, given, y, cost, beta):
    for i in range(beta.size):
        beta[i] = clip(loss, given[i], y[i], cost[i]) if cost[i] > 0.0 else 0.0


@kernel
def _margins_and_sum(rows, which, w, z, beta, w_beta):
    """z_i = ⟨w, x_i⟩ and Σ β_i x_i in one pass."""
    paired = beta.size > 0
    for k in range(which.size):
        prefetch_ahead(rows, which, k, which.size)
        i = np.uint64(which[k])
        z[i] = dot(rows, i, w)
        if paired and beta[i] != 0.0:
            add(rows, i, beta[i], w_beta)


@kernel
def _add_all(rows, which, steps, w):
    for k in range(which.size):
        add(rows, np.uint64(which[k]), steps[k], w)


@kernel
def _total_dual(loss, beta, y, cost):
    total = 0.0
    for i in range(beta.size):
        if cost[i] > 0.0:
            total += dual_value(loss, beta[i], y[i], cost[i])
    return total
