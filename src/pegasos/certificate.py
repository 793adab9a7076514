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
from pegasos.rows import add, dot, part, prefetch_ahead

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
class View(Answer):
    """An answer made feasible and certified, with what the pass over the data has found."""

    certificate: Certificate
    z: np.ndarray  # ⟨w, x_i⟩, without b
    w_beta: np.ndarray  # Σ β_i x_i


def relative_gap(primal: float, dual: float, zero_objective: float) -> float:
    """(P − D)/D, and 0 where P and D agree to their own rounding.

    Without a positive D nothing is proved, unless P is zero to the rounding of the objective at
    w = 0 (P* = 0 is legitimate). That rounding excuses nothing else: at large C it exceeds P*.
    """
    if not (math.isfinite(primal) and math.isfinite(dual)):
        return math.inf
    if primal - dual <= ROUNDING * abs(primal):
        return 0.0
    if dual > 0.0:
        return (primal - dual) / dual
    return 0.0 if primal <= ROUNDING * zero_objective else math.inf


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
    paired = np.zeros(0) if beta is None else beta
    for which in problem.in_order():
        _margins_and_sum(problem.rows, which, answer.w, z, paired, w_beta)
    b = answer.b
    if problem.free_bias and np.isfinite(z).all():
        b = best_bias(loss, z, y, cost)
        b = (b + problem.shift) - problem.shift  # as the user will hold it
        if beta is not None:
            _balance(problem, beta, z, w_beta)
    with np.errstate(over="ignore", invalid="ignore"):  # of an answer that has diverged
        primal = 0.5 * float(answer.w @ answer.w) + total_loss(loss, z, b, y, cost)
        dual, how = 0.0, TRIVIAL
        if beta is not None:
            dual = _total_dual(loss, beta, y, cost) - 0.5 * float(w_beta @ w_beta)
            if problem.free_bias:  # what rounding leaves of Σ β costs b · Σ β
                dual -= abs(b) * abs(float(beta.sum()))
            how = RECOMPUTED
    return View(answer.w, b, beta, certificate(problem, primal, dual, how), z, w_beta)


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
    before = float(np.abs(beta).sum())
    side = 1.0 if excess > 0 else -1.0
    last, share = np.inf, abs(excess) / (0.5 * (before + abs(excess)))
    if math.isinf(problem.loss.curvature):
        heavy = beta > 0 if side > 0 else beta < 0
        keys, size = z[heavy], beta[heavy]
        np.subtract(problem.y[heavy], keys, out=keys)
        keys *= side
        size *= side
        last, share = weighted_crossing(keys, size, abs(excess))[0], 1.0
        del keys, size, heavy
    left = max(abs(excess) - _taken(problem.y, z, beta, side, last, share), 0.0)
    changed, largest = -1, 0.0

    def to_lower(first: int, stop: int) -> bool:
        some = slice(first, stop)
        return bool(
            ((beta[some] * side > 0.0) & (side * (problem.y[some] - z[some]) <= last)).any()
        )

    for first, stop in problem.spans_of(to_lower):
        lowered, left = _lower(
            part(problem.rows, first, stop),
            problem.y[first:stop],
            z[first:stop],
            beta[first:stop],
            side,
            last,
            share,
            left,
            w_beta,
        )
        if lowered >= 0 and (changed < 0 or abs(beta[first + lowered]) > largest):
            changed, largest = first + lowered, abs(float(beta[first + lowered]))
    rest = float(beta.sum())
    top = changed if changed >= 0 else int(np.argmax(side * beta))
    if rest != 0.0 and rest * beta[top] > 0 and abs(beta[top]) > abs(rest):
        beta[top] -= rest  # what rounding has left over
        _add_one(problem.rows, top, -rest, w_beta)
    after = float(np.abs(beta).sum())
    if abs(float(beta.sum())) > BALANCED * after:
        beta[:] = 0.0  # nothing but rounding was left
    if after < 0.1 * before:  # the difference of large sums would not be exact
        w_beta[:] = 0.0
        for which in problem.in_order():
            add_all(problem.rows, which, beta, w_beta)


@kernel
def _taken(y, z, beta, side, last, share):
    """What is taken from the coefficients of one side whose key is below ``last``."""
    taken = 0.0
    for i in range(beta.size):
        if beta[i] * side > 0.0 and side * (y[i] - z[i]) < last:
            taken += share * abs(beta[i])
    return taken


@kernel
def _lower(rows, y, z, beta, side, last, share, left, w_beta):
    """Lower the coefficients of one side: those whose key is below ``last``, whole or by a share of
    each, and what is ``left`` from those at ``last``. Returns the largest that remains of those
    that were changed, and what is left then."""
    largest = -1
    for i in range(beta.size):
        if beta[i] * side > 0.0:
            size, key = abs(beta[i]), side * (y[i] - z[i])
            amount = 0.0
            if key < last:
                amount = share * size
            elif key == last:
                amount = min(left, size)
                left -= amount
            if amount > 0.0:
                new = 0.0 if amount == size else beta[i] - side * amount
                add(rows, np.uint64(i), new - beta[i], w_beta)
                beta[i] = new
                if largest < 0 or abs(new) > abs(beta[largest]):
                    largest = i
    return largest, left


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
def add_all(rows, which, beta, w):
    """w += Σ β_i x_i."""
    for k in range(which.size):
        i = np.uint64(which[k])
        if beta[i] != 0.0:
            add(rows, i, beta[i], w)


@kernel
def _add_one(rows, i, step, w):
    add(rows, np.uint64(i), step, w)


@kernel
def _total_dual(loss, beta, y, cost):
    total = 0.0
    for i in range(beta.size):
        if cost[i] > 0.0:
            total += dual_value(loss, beta[i], y[i], cost[i])
    return total
