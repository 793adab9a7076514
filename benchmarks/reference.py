"""The reference: intervals around the optimum, from a solver that is in no row of the tables.

Small, slow and certain. Few features: a primal-dual interior point in float64. Many: dual
coordinate ascent, and conjugate gradients on the rows whose α lies strictly between its bounds.
Both ends of the interval come from ``judge``. What was found is kept in out/bench/reference.
"""

from __future__ import annotations

import time
import zlib
from pathlib import Path

import numba
import numpy as np
import scipy.linalg
import scipy.sparse as sp
from judge import Interval, dual, primal

FOLDER = Path("out") / "bench" / "reference"
WIDTH = 1e-9  # relative
SECONDS = 300.0  # after which the interval stays as wide as it is, and the tables say so
DENSE_WORK = 1e11  # m·d²: one step of the interior point
DENSE_SIZE = 3e8  # m·d, in float64


def reference(name: str, X, y: np.ndarray, C: float, bias: str) -> Interval:
    """The interval of one problem, kept from an earlier run if it has been found before."""
    path = FOLDER / f"{name}-{bias}-{C!r}-{_print_of(X, y):08x}.npz"
    if path.exists():
        with np.load(path) as kept:
            return Interval(float(kept["lower"]), float(kept["upper"]))
    begun = time.perf_counter()
    found = _solve(X, y, C, bias)
    FOLDER.mkdir(parents=True, exist_ok=True)
    seconds = time.perf_counter() - begun
    np.savez(path, lower=found.lower, upper=found.upper, seconds=seconds)
    return found


def _print_of(X, y) -> int:
    parts = (X.data, X.indices) if sp.issparse(X) else (X,)
    found = zlib.crc32(repr(X.shape).encode())
    for part in (*parts, y):
        found = zlib.crc32(np.ascontiguousarray(part).view(np.uint8).reshape(-1), found)
    return found


def _solve(X, y, C, bias) -> Interval:
    m, d = X.shape
    if bias == "feature":  # the same as a constant feature
        one = np.ones((m, 1), dtype=X.dtype)
        X = sp.csr_matrix(sp.hstack([X, one])) if sp.issparse(X) else np.hstack([X, one])
        bias = "none"
    method = interior if m * d * d <= DENSE_WORK and m * d <= DENSE_SIZE else ascent
    end = time.perf_counter() + SECONDS
    lower, upper = -np.inf, np.inf
    for w, b, alpha in method(X, y, C, bias == "free"):
        if bias == "free":
            alpha = balanced(alpha, y, C)
        upper = min(upper, primal(X, y, C, w, b, bias))
        lower = max(lower, dual(X, y, C, y * alpha, b, bias))
        if upper - lower <= WIDTH * lower or time.perf_counter() > end:
            break
    return Interval(lower, upper)


def balanced(alpha: np.ndarray, y: np.ndarray, C: float) -> np.ndarray:
    """Σ y α = 0 by lowering the heavier side: those strictly inside first, whom it costs least."""
    alpha = np.clip(alpha, 0.0, C)
    for inside in (True, False):
        excess = float(y @ alpha)
        side = (y * excess > 0) & ((alpha < C) | (not inside))
        total = float(alpha[side].sum())
        if total > 0.0:
            alpha[side] *= max(1.0 - abs(excess) / total, 0.0)
    return alpha


# ------------------------------------------------------------------------------ few features


def interior(X, y, C, free: bool):
    """A primal-dual interior point on the box problem; yields (w, b, α) after each step."""
    A = y[:, None] * (X.toarray() if sp.issparse(X) else X).astype(np.float64)
    R = np.ones(X.shape[1])
    if free:
        A, R = np.column_stack([A, y]), np.append(R, 0.0)
    m = y.size
    w, alpha, s, t = np.zeros(R.size), np.full(m, 0.5 * C), np.full(m, 1.0), np.full(m, 2.0)
    for _ in range(200):
        w, alpha, s, t = _mehrotra(A, R, C, w, alpha, s, t)
        features = w[: X.shape[1]]
        yield features, (best_bias(X @ features, y) if free else 0.0), alpha


def _mehrotra(A, R, C, w, alpha, s, t):
    """One step of Mehrotra's predictor and corrector.

    With A = diag(y)X and multipliers s, t of 0 ≤ α ≤ C, the step in w solves
    (R + AᵀΘ⁻¹A) δ = AᵀΘ⁻¹q + Aᵀα − Rw, where Θ = s/α + t/(C − α); R is the identity, 0 for b.
    """
    room = C - alpha
    theta = s / alpha + t / room
    H = _gram(A, 1.0 / theta)
    H[np.diag_indices_from(H)] += R + 1e-14 * np.trace(H) / R.size
    factor = scipy.linalg.cho_factor(H, lower=True)
    rest, short = A.T @ alpha - R * w, 1.0 - A @ w

    def step(target, near, far):
        """Towards α s = target − near and (C − α) t = target − far, and how far one may go."""
        low, high = (target - near) / alpha, (target - far) / room
        q = (short + low - high) / theta
        dw = scipy.linalg.cho_solve(factor, A.T @ q + rest)
        da = q - (A @ dw) / theta
        ds, dt = low - s - s / alpha * da, high - t + t / room * da
        pairs = ((alpha, da), (room, -da), (s, ds), (t, dt))
        return dw, da, ds, dt, min(_longest(values, change) for values, change in pairs)

    _, da, ds, dt, length = step(0.0, 0.0, 0.0)
    now = float(alpha @ s + room @ t)
    ahead = (alpha + length * da) @ (s + length * ds) + (room - length * da) @ (t + length * dt)
    target = (float(ahead) / now) ** 3 * now / (2 * alpha.size)
    dw, da, ds, dt, length = step(target, da * ds, -da * dt)
    length = min(0.995 * length, 1.0)
    alpha = np.clip(alpha + length * da, 1e-15 * C, C * (1 - 1e-15))
    return w + length * dw, alpha, s + length * ds, t + length * dt


def _gram(A: np.ndarray, weights: np.ndarray, rows: int = 1 << 14) -> np.ndarray:
    """Aᵀ diag(weights) A, a block of rows at a time."""
    H = np.zeros((A.shape[1], A.shape[1]))
    for start in range(0, A.shape[0], rows):
        block = A[start : start + rows] * np.sqrt(weights[start : start + rows, None])
        H += block.T @ block  # NumPy knows a matrix times itself: half the work
    return H


def _longest(values: np.ndarray, step: np.ndarray) -> float:
    """How far the step may go before a value is zero, at most 1 / 0.995."""
    falling = step < 0
    return min(float((values[falling] / -step[falling]).min(initial=np.inf)), 1 / 0.995)


def best_bias(z: np.ndarray, y: np.ndarray) -> float:
    """The b that minimises Σ max(0, 1 − y(z + b)): as many kinks y − z lie below it as there are
    positive rows."""
    kinks = np.sort(y - z)
    return float(kinks[min(max(int((y > 0).sum()) - 1, 0), y.size - 1)])


# ----------------------------------------------------------------------------- many features


def ascent(X, y, C, free: bool):
    """Dual coordinate ascent and Newton steps on the free rows; yields (w, b, α) after each round.

    A free bias is b = centre + rho Σ y α, the centre following b (the method of multipliers).
    """
    X = sp.csr_matrix(X, dtype=np.float64)
    m = X.shape[0]
    rng = np.random.default_rng(0)
    norms = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    rho = float(np.median(norms)) if free else 0.0
    alpha, centre = np.zeros(m), 0.0
    while True:
        w = X.T @ (y * alpha)  # anew, so that rounding does not add up
        everyone = rng.permutation(m)
        total = float(y @ alpha)
        total = _visit(X.indptr, X.indices, X.data, y, norms, C, rho, centre, everyone, alpha, w,
                       total)  # fmt: skip
        for _ in range(8):
            inside = rng.permutation(np.flatnonzero((alpha > 0) & (alpha < C)))
            total = _visit(X.indptr, X.indices, X.data, y, norms, C, rho, centre, inside, alpha,
                           w, total)  # fmt: skip
        _newton(X, y, C, rho, centre, alpha, w)
        if free:
            centre += rho * float(y @ alpha)
        w = X.T @ (y * alpha)
        yield w, (best_bias(X @ w, y) if free else 0.0), alpha


@numba.njit(cache=True)
def _visit(pointers, columns, values, y, norms, C, rho, centre, order, alpha, w, total):
    """Each row's α to its best value, in this order; w = Σ y α x and Σ y α follow."""
    for i in order:
        score = centre + rho * total
        for j in range(pointers[i], pointers[i + 1]):
            score += values[j] * w[columns[j]]
        curvature = norms[i] + rho
        if curvature > 0.0:
            new = min(max(alpha[i] - (y[i] * score - 1.0) / curvature, 0.0), C)
        else:
            new = C
        step = y[i] * (new - alpha[i])
        if step != 0.0:
            alpha[i] = new
            total += step
            for j in range(pointers[i], pointers[i + 1]):
                w[columns[j]] += step * values[j]
    return total


def _newton(X, y, C, rho, centre, alpha, w) -> None:
    """α of the free rows to where the gradient vanishes, as far as the box lets them."""
    inside = np.flatnonzero((alpha > 0) & (alpha < C))
    if inside.size < 2:
        return
    A, sign = sp.diags(y[inside]) @ X[inside], y[inside]
    A = sp.csr_matrix(A)
    At = sp.csr_matrix(A.T)

    def times(p):
        return A @ (At @ p) + rho * sign * float(sign @ p)

    bias = centre + rho * float(y @ alpha)
    residual = 1.0 - (A @ w + sign * bias)
    gradient, step, along = residual.copy(), np.zeros(inside.size), residual.copy()
    square = first = float(residual @ residual)
    for _ in range(500):
        if square <= 1e-12 * first:
            break
        image = times(along)
        bend = float(along @ image)
        if bend <= 1e-14 * float(along @ along):
            break
        length = square / bend
        step += length * along
        residual -= length * image
        after = float(residual @ residual)
        along = residual + after / square * along
        square = after
    now, length = alpha[inside], 1.0
    for _ in range(12):
        change = np.clip(now + length * step, 0.0, C) - now
        if float(gradient @ change) - 0.5 * float(change @ times(change)) > 0.0:
            alpha[inside] = now + change
            return
        length *= 0.5
