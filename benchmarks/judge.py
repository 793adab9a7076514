"""The judge of all contestants: objective and lower bound, in float64, by NumPy and SciPy alone.

    P(w, b) = ½‖w‖² [+ ½b²] + C Σ max(0, 1 − y_i(⟨w, x_i⟩ + b))
    D(β)    = Σ y_i β_i − ½‖Σ β_i x_i‖² [− ½(Σ β_i)²],   0 ≤ y_i β_i ≤ C   [Σ β_i = 0]

``bias`` is "none" (b = 0), "feature" (b is penalised: the first brackets) or "free" (the last).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ROUNDING = 1e-9  # what two float64 sums over millions of rows may differ by


@dataclass(frozen=True)
class Interval:
    """Between these lies the optimum."""

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """Relative to the optimum."""
        return (self.upper - self.lower) / self.lower if self.lower > 0 else np.inf

    def above(self, primal: float) -> float:
        """At most this fraction above the optimum."""
        return primal / self.lower - 1 if self.lower > 0 else np.inf


def primal(X, y, C: float, w: np.ndarray, b: float, bias: str) -> float:
    w = np.asarray(w, dtype=np.float64)
    loss = np.maximum(1.0 - y * (X @ w + b), 0.0).sum()
    norm = w @ w + (b * b if bias == "feature" else 0.0)
    return float(0.5 * norm + C * loss)


def dual(X, y, C: float, beta: np.ndarray, b: float, bias: str) -> float:
    """A lower bound; minus infinity where β leaves its domain by more than rounding."""
    alpha = y * beta
    if alpha.min() < -ROUNDING * C or alpha.max() > C * (1 + ROUNDING):
        return -np.inf
    w, rest = X.T @ np.asarray(beta, dtype=np.float64), float(beta.sum())
    value = alpha.sum() - 0.5 * float(w @ w)
    if bias == "feature":
        value -= 0.5 * rest * rest
    elif bias == "free":
        if abs(rest) > ROUNDING * np.abs(beta).sum():
            return -np.inf
        value -= abs(b * rest)
    return float(value)


def fault(X, y, C: float, bias: str, model, tol: float, truth: Interval | None = None) -> str:
    """What is wrong with the certificate of a fitted model of ours, or nothing: all is computed
    anew from ``coef_``, ``intercept_`` and ``dual_coef_``."""
    said, b = model.certificate_, float(np.ravel(model.intercept_)[0])
    beta = np.asarray(model.dual_coef_[0])
    upper = primal(X, y, C, model.coef_[0], b, bias)
    lower = dual(X, y, C, beta, b, bias)
    gap = (upper - lower) / lower if lower > 0 else np.inf
    small = ROUNDING * upper
    if abs(upper - said.primal) > small or not abs(lower - said.dual) <= small:
        return f"says {said.primal:.9g}, {said.dual:.9g}; is {upper:.9g}, {lower:.9g}"
    if model.converged_ and gap > tol + ROUNDING:
        return f"says {said.relative_gap:.2e}; is {gap:.2e}"
    if truth is not None and (upper < truth.lower - small or lower > truth.upper + small):
        return f"{lower:.9g} … {upper:.9g} misses the optimum {truth.lower:.9g}"
    return ""
