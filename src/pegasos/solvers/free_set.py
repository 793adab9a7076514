"""Newton steps on the free dual variables: the last digits of dual coordinate ascent.

With the rows at bounds and kinks held where they are, the optimum of the others solves

    (X_F X_Fᵀ + diag(bend)) δ + 1 δb = target − z_F − bend · β_F,     Σ δ = −Σ β  (free bias)

with z = ⟨w, x⟩ + b and d′, d″ from ``losses.kink``. The system is solved directly in the smaller
of its two sizes, |F| or d. Where it is singular (more free rows than features) the tiny proximal
term turns δ into a long climb. Either way the step goes at least to the first bound that it meets,
where the dual must have risen, and on, projected, in doubling lengths while the dual still rises.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from pegasos.compiled import kernel
from pegasos.losses import clip, dual_value, kink
from pegasos.problem import Problem
from pegasos.rows import add

LARGEST = 512  # the size of a system that is still solved directly
MOST_WORK = 2e8  # multiplications for one system: some hundredths of a second


def newton_step(
    problem: Problem, beta: np.ndarray, w: np.ndarray, bias: float, total: float, kappa: float
) -> tuple[np.ndarray, np.ndarray, float, float, bool] | None:
    """Move w; return the free rows, their new β, the change of Σ d(β), the new b, and whether the
    whole step fitted between the bounds.

    None where the system is too large or no step raises the dual.
    """
    free, target, bend = _free_set(problem, beta)
    size, d = free.size, problem.d
    if size == 0 or min(size, d) > LARGEST or size * d * min(size, d) > MOST_WORK:
        return None
    table = np.zeros((size, d))
    expand(problem.rows, free, table)
    old = beta[free]
    residual = target - (table @ w + bias) - bend * old
    solved = _solve(table, bend, residual, total, problem.free_bias)
    if solved is None:
        return None
    direction, bias_step = solved
    y, cost = problem.y[free], problem.cost[free]
    best: tuple[float, np.ndarray, np.ndarray, float, float] | None = None
    fraction = min(1.0, _first_bound(problem.loss, old, direction, y, cost))
    fits = fraction >= 1.0
    while True:
        new = np.empty(size)
        rise = _along(problem.loss, old, direction, fraction, y, cost, new)
        step = new - old
        w_step = table.T @ step
        b = bias + fraction * bias_step
        change = float(step.sum())
        gain = rise - float(w @ w_step) - 0.5 * float(w_step @ w_step) - b * change
        gain -= 0.5 * kappa * ((total + change) ** 2 - total**2)
        if not np.isfinite(gain) or (best is not None and gain <= best[0]):
            break
        best = gain, new, w_step, rise, b
        if fraction >= 1.0:
            break
        fraction = min(1.0, 2.0 * fraction)
    if best is None or best[0] < 0.0:
        return None
    _, new, w_step, rise, b = best
    w += w_step
    return free, new, rise, b, fits


def _free_set(problem: Problem, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    which = problem.which
    target, bend = np.empty(which.size), np.empty(which.size)
    _kinks(problem.loss, which, beta, problem.y, problem.cost, target, bend)
    inside = bend >= 0.0
    return which[inside], target[inside], bend[inside]


def _solve(
    table: np.ndarray, bend: np.ndarray, residual: np.ndarray, total: float, free_bias: bool
) -> tuple[np.ndarray, float] | None:
    """δ and δb of the system above; a tiny proximal term keeps it positive definite."""
    size, d = table.shape
    scale = float(np.einsum("ij,ij->", table, table)) / size
    if scale == 0.0:  # empty rows alone
        return None
    right = np.column_stack((residual, np.ones(size))) if free_bias else residual[:, None]
    try:
        if size <= d:
            system = table @ table.T
            system[np.diag_indices(size)] += bend + 1e-13 * scale
            solved = cho_solve(cho_factor(system, check_finite=False), right, check_finite=False)
        else:
            weight = 1.0 / np.maximum(bend, 1e-9 * scale)
            weighted = table * weight[:, None]
            system = table.T @ weighted
            system[np.diag_indices(d)] += 1.0
            factor = cho_factor(system, check_finite=False)
            inner = cho_solve(factor, weighted.T @ right, check_finite=False)
            solved = weight[:, None] * (right - table @ inner)
    except LinAlgError:
        return None
    if not np.isfinite(solved).all():
        return None
    if not free_bias:
        return solved[:, 0], 0.0
    along = float(solved[:, 1].sum())
    bias_step = (float(solved[:, 0].sum()) + total) / along if along > 0 else 0.0
    return solved[:, 0] - bias_step * solved[:, 1], bias_step


@kernel
def _kinks(loss, which, beta, y, cost, target, bend):
    for k in range(which.size):
        i = np.uint64(which[k])
        target[k], bend[k] = kink(loss, y[i], cost[i], beta[i])


@kernel
def expand(rows, which, table):
    """Add the rows to a table of zeros."""
    for k in range(which.size):
        add(rows, np.uint64(which[k]), 1.0, table[k])


@kernel
def _along(loss, old, direction, fraction, y, cost, new):
    """β + fraction · δ kept in its domain and on its side of zero; returns the change of Σ d(β)."""
    rise = 0.0
    for k in range(old.size):
        moved = clip(loss, old[k] + fraction * direction[k], y[k], cost[k])
        if moved * old[k] < 0.0:
            moved = 0.0
        new[k] = moved
        rise += dual_value(loss, moved, y[k], cost[k]) - dual_value(loss, old[k], y[k], cost[k])
    return rise


@kernel
def _first_bound(loss, old, direction, y, cost):
    """The largest fraction of the step at which every β is still inside its domain."""
    fraction = np.inf
    for k in range(old.size):
        moved = clip(loss, old[k] + direction[k], y[k], cost[k])
        if moved * old[k] < 0.0:
            moved = 0.0
        if moved != old[k] + direction[k] and direction[k] != 0.0:
            fraction = min(fraction, (moved - old[k]) / direction[k])
    return max(fraction, 1e-12)
