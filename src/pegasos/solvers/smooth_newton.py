"""Newton's method on the primal of the logistic loss: its last digits, where d is small.

    minimise   J(w, b) = ½‖w‖² + Σ c_i ln(1 + exp(−y_i z_i)),    p_i = 1/(1 + exp(y_i z_i))
    step       (I + Xᵀ diag(c p (1 − p)) X) δ = Xᵀ(c y p) − w,   halved until J has fallen
    dual       β_i = c_i y_i p_i

Every dual variable of the logistic loss is free, and its dual is infinitely steep at both ends of
the box, so that dual steps crawl at large C; the primal has no such ends.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from pegasos.problem import Problem
from pegasos.solvers.free_set import LARGEST, MOST_WORK, expand

STEPS, HALVINGS = 60, 30


def smooth_newton(problem: Problem, w: np.ndarray, b: float) -> tuple[np.ndarray, float] | None:
    """The dual variables of all rows and b at the minimum, or None where d is too large."""
    rows, d = problem.which, problem.d
    if d > LARGEST or rows.size * d * d > MOST_WORK / 4:  # it takes more of them
        return None
    table = np.ones((rows.size, d + problem.free_bias))
    table[:, :d] = 0.0
    expand(problem.rows, rows, table[:, :d])
    y, cost = problem.y[rows], problem.cost[rows]
    penalty = np.ones(table.shape[1])
    penalty[d:] = 0.0
    w = np.append(w, b) if problem.free_bias else w.copy()
    objective, force, bend = _evaluate(table, y, cost, penalty, w)
    at_zero = _evaluate(table, y, cost, penalty, np.zeros_like(w))
    if at_zero[0] < objective:  # far out all slopes are flat, and steps without end
        w, (objective, force, bend) = np.zeros_like(w), at_zero
    for _ in range(STEPS):
        gradient = penalty * w - table.T @ force
        system = table.T @ (table * bend[:, None])
        system[np.diag_indices_from(system)] += penalty + 1e-14 * system.diagonal().max()
        try:
            step = -cho_solve(cho_factor(system, check_finite=False), gradient, check_finite=False)
        except LinAlgError:
            break
        fraction = 1.0
        for _ in range(HALVINGS):
            tried = _evaluate(table, y, cost, penalty, w + fraction * step)
            if tried[0] <= objective + 1e-4 * fraction * float(gradient @ step):
                break
            fraction *= 0.5
        else:
            # J no longer shows the progress; near the minimum the full step still makes some.
            if -float(gradient @ step) > 1e-8 * objective:
                break
            fraction, tried = 1.0, _evaluate(table, y, cost, penalty, w + step)
        w = w + fraction * step
        objective, force, bend = tried
        if -float(gradient @ step) <= 1e-30 * objective:
            break
    beta = np.zeros(problem.y.size)
    beta[rows] = force
    return beta, float(w[d]) if problem.free_bias else 0.0


def _evaluate(
    table: np.ndarray, y: np.ndarray, cost: np.ndarray, penalty: np.ndarray, w: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """J, the forces c y p, and the second derivatives c p (1 − p)."""
    margin = y * (table @ w)
    e = np.exp(-np.abs(margin))
    p = np.where(margin >= 0, e, 1.0) / (1.0 + e)
    objective = 0.5 * float(penalty @ w**2)
    objective += float(cost @ (np.maximum(-margin, 0.0) + np.log1p(e)))
    return objective, cost * y * p, cost * e / (1.0 + e) ** 2
