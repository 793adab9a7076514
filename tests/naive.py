"""Slow, obviously right twins of what pegasos computes fast. Imports nothing of pegasos.

    J(w, b) = ½‖w‖² + Σ C_i loss(y_i, z_i),    z_i = ⟨w, x_i⟩ + b,    C_i = cost[i] > 0
    D(β)    = Σ (−(C_i loss)*(−β_i)) − ½‖Σ β_i x_i‖²,    Σ β_i = 0 if the bias is free

β are the signed dual variables: w = Σ β_i x_i at the optimum; with labels ±1, β_i = α_i y_i.
`bias` is "none" or "free"; a penalised constant feature is one more column of X.

Four of the five losses are made of pieces (C times the piece or its square):

    piece(z) = max(0, c − s z),  s = ±1    hinge:         s = y,  c = 1
                                           ε-insensitive: s = 1,  c =  y − ε
                                                     and  s = −1, c = −y − ε

Sums are taken in extended precision (np.longdouble) so that rounding is never the question.
"""

from itertools import combinations, pairwise
from math import inf, isclose, nextafter

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

LOSSES = (
    "hinge",
    "squared_hinge",
    "logistic",
    "epsilon_insensitive",
    "squared_epsilon_insensitive",
)
CLASSIFICATION = LOSSES[:3]
PIECEWISE_LINEAR = ("hinge", "epsilon_insensitive")
EPS = np.finfo(np.float64).eps
wide = np.longdouble


# Losses and their duals


def loss_value(name, z, y, epsilon=0.1):
    """loss(y, z): (1−yz)₊, its square, log(1+exp(−yz)), (|y−z|−ε)₊, its square."""
    z, y = np.asarray(z), np.asarray(y)
    if name == "hinge":
        return np.maximum(0, 1 - y * z)
    if name == "squared_hinge":
        return np.maximum(0, 1 - y * z) ** 2
    if name == "logistic":
        return np.logaddexp(0, -y * z)
    if name == "epsilon_insensitive":
        return np.maximum(0, np.abs(y - z) - epsilon)
    if name == "squared_epsilon_insensitive":
        return np.maximum(0, np.abs(y - z) - epsilon) ** 2
    raise ValueError(f"unknown loss {name!r}")


def loss_subgradients(name, z, y, epsilon=0.1):
    """(left, right) derivative of loss(y, z) in z; they differ only at a kink."""
    z, y = np.asarray(z), np.asarray(y)
    if name == "logistic":
        slope = -y * np.exp(-np.logaddexp(0, y * z))
        return slope, slope
    if name == "squared_hinge":
        slope = -2 * y * np.maximum(0, 1 - y * z)
        return slope, slope
    if name == "squared_epsilon_insensitive":
        slope = 2 * np.sign(z - y) * np.maximum(0, np.abs(y - z) - epsilon)
        return slope, slope
    if name == "hinge":
        inside, at_kink = y * z < 1, y * z == 1
        left = np.where(inside | (at_kink & (y > 0)), -y, 0.0)
        right = np.where(inside | (at_kink & (y < 0)), -y, 0.0)
        return left, right
    if name == "epsilon_insensitive":
        left = np.where(z - y > epsilon, 1.0, 0.0) - np.where(y - z >= epsilon, 1.0, 0.0)
        right = np.where(z - y >= epsilon, 1.0, 0.0) - np.where(y - z > epsilon, 1.0, 0.0)
        return left, right
    raise ValueError(f"unknown loss {name!r}")


def dual_value(name, beta, y, cost, epsilon=0.1):
    """Row i's term of D(β) without −½‖w‖², i.e. −(C loss)*(−β); −inf outside the domain."""
    beta, y, cost = np.broadcast_arrays(beta, y, cost)
    alpha = beta * y if name in CLASSIFICATION else np.abs(beta)
    if name == "hinge":
        value, inside = alpha, (alpha >= 0) & (alpha <= cost)
    elif name == "squared_hinge":
        value, inside = alpha - alpha**2 / (4 * cost), alpha >= 0
    elif name == "logistic":
        inside = (alpha >= 0) & (alpha <= cost)
        share = np.clip(alpha / cost, 0, 1)
        value = -cost * (_x_log_x(share) + _x_log_x(1 - share))
    elif name == "epsilon_insensitive":
        value, inside = y * beta - epsilon * alpha, alpha <= cost
    elif name == "squared_epsilon_insensitive":
        value, inside = y * beta - epsilon * alpha - alpha**2 / (4 * cost), np.isfinite(alpha)
    else:
        raise ValueError(f"unknown loss {name!r}")
    return np.where(inside, value, -inf)


def _x_log_x(x):
    """x ln x, with 0 ln 0 = 0."""
    return x * np.log(np.where(x > 0, x, 1))


def primal(X, y, cost, w, b, loss, epsilon=0.1):
    """J(w, b) = ½‖w‖² + Σ C_i loss(y_i, ⟨w, x_i⟩ + b)."""
    X, y, cost, w = _wide(X), _wide(y), _wide(cost), _wide(w)
    return float(w @ w / 2 + np.sum(cost * loss_value(loss, X @ w + b, y, epsilon)))


def dual(X, y, cost, beta, loss, epsilon=0.1):
    """D(β) = Σ dual_value_i − ½‖Σ β_i x_i‖²; a bound for a free bias only if Σ β = 0."""
    X, y, cost, beta = _wide(X), _wide(y), _wide(cost), _wide(beta)
    w = X.T @ beta
    return float(np.sum(dual_value(loss, beta, y, cost, epsilon)) - w @ w / 2)


def _wide(array):
    """A dense extended-precision copy."""
    return np.array(array.toarray() if hasattr(array, "toarray") else array, dtype=wide)


# The free bias


def best_bias(z, y, cost, loss, epsilon=0.1):
    """The midpoint of argmin_b Σ C_i loss(y_i, z_i + b); its finite end if it has only one.

    Logistic loss and one class only: the infimum is not attained, and b = ±inf is returned.
    """
    if loss == "logistic":
        low = high = _logistic_bias(z, y, cost)
    elif loss in PIECEWISE_LINEAR:
        low, high = _piecewise_linear_bias(z, y, cost, loss, epsilon)
    else:
        low, high = _piecewise_quadratic_bias(z, y, cost, loss, epsilon)
    if np.isinf(low) or np.isinf(high):
        b = high if np.isinf(low) else low
    else:
        b = low + (high - low) / 2
    return b if np.asarray(z).dtype == wide else float(b)


def _pieces(y, loss, epsilon):
    """(copies, s, c): how often the rows are repeated, and piece(z) = max(0, c − s z) for each."""
    if loss in ("hinge", "squared_hinge"):
        return 1, y, np.ones_like(y)
    one = np.ones_like(y)
    return 2, np.concatenate([one, -one]), np.concatenate([y - epsilon, -y - epsilon])


def _piecewise_linear_bias(z, y, cost, loss, epsilon):
    """The interval of b on which the slope −Σ_{s=1} C + Σ_{kinks passed} C is zero."""
    z, y, cost = _wide(z), _wide(y), _wide(cost)
    copies, s, c = _pieces(y, loss, epsilon)
    kinks, C = s * c - np.tile(z, copies), np.tile(cost, copies)
    order = np.argsort(kinks)
    slope = np.concatenate([[wide(0)], np.cumsum(C[order])]) - np.sum(C[s > 0])
    edges = np.concatenate([[-inf], kinks[order], [inf]])  # slope[j] holds on edges[j : j + 2]
    zero = 2 * EPS * np.sum(C)  # each C_i was itself rounded
    return edges[np.argmax(slope >= -zero)], edges[1 + np.flatnonzero(slope <= zero)[-1]]


def _piecewise_quadratic_bias(z, y, cost, loss, epsilon):
    """The interval of zero loss, or else the root of −2 Σ_{s=1} C (k−b)₊ + 2 Σ_{s=−1} C (b−k)₊."""
    z, y, cost = _wide(z), _wide(y), _wide(cost)
    copies, s, c = _pieces(y, loss, epsilon)
    kinks, C = s * c - np.tile(z, copies), np.tile(cost, copies)
    low, high = np.max(kinks[s > 0], initial=-inf), np.min(kinks[s < 0], initial=inf)
    if low <= high:
        return low, high
    edges = np.unique(kinks)
    first, last = 0, edges.size - 1  # the slope is < 0 at the first edge and > 0 at the last
    while last - first > 1:
        middle = (first + last) // 2
        if np.sum(C * s * np.maximum(0, s * (kinks - edges[middle]))) > 0:
            first = middle
        else:
            last = middle
    active = np.where(s > 0, kinks >= edges[last], kinks <= edges[first])
    root = np.sum((C * kinks)[active]) / np.sum(C[active])
    return root, root


def _logistic_bias(z, y, cost):
    """The root of ln Σ_{y=1} C σ(−(z+b)) − ln Σ_{y=−1} C σ(z+b), which falls with b: bisection."""
    z, y, cost = _wide(z), _wide(y), _wide(cost)
    if np.all(y > 0) or np.all(y < 0):
        return inf * y[0]

    def pull(b):
        log_terms = np.log(cost) - np.logaddexp(0, y * (z + b))
        return np.logaddexp.reduce(log_terms[y > 0]) - np.logaddexp.reduce(log_terms[y < 0])

    low, high = wide(-1), wide(1)
    while pull(low) < 0:
        low *= 2
    while pull(high) > 0:
        high *= 2
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if pull(middle) > 0 else (low, middle)
    return low


# The certificate


def check_certificate(
    X, y, cost, w, b, beta, certificate, loss, epsilon=0.1, bias="none", rtol=1e-9
):
    """Recompute the certificate from (X, y, cost, w, b, β) alone; AssertionError names the fault.

    relative_gap = 0 if P − D ≤ 64 eps |P|, else (P − D)/D;  if D ≤ 0: 0 if P ≤ 64 eps P₀, else inf.
    """
    y, cost, w, beta = (np.asarray(a, dtype=np.float64) for a in (y, cost, w, beta))
    P_zero = primal(X, y, cost, *_origin(X, y, cost, loss, epsilon, bias), loss, epsilon)
    floor = 64 * EPS * P_zero
    P, D = certificate.primal, certificate.dual

    beta = _check_box(beta, y, cost, loss)
    if bias == "free":
        total, size = float(np.sum(_wide(beta))), float(np.sum(np.abs(beta)))
        assert abs(total) <= 1e-9 * size + 1e-300, f"sum of beta is {total:.3g}, not 0"

    P_true = primal(X, y, cost, w, b, loss, epsilon)
    assert abs(P - P_true) <= rtol * abs(P_true) + floor, f"primal is {P_true!r}, not {P!r}"
    D_true = dual(X, y, cost, beta, loss, epsilon)
    assert D - D_true <= rtol * abs(P_true) + floor, f"dual is {D_true!r}, less than {D!r}"

    if bias == "free":
        b_best = best_bias(_wide(X) @ _wide(w), y, cost, loss, epsilon)
        P_best = primal(X, y, cost, w, b_best, loss, epsilon)
        assert P_true - P_best <= rtol * P_zero, f"b = {b!r} is not a best bias, {b_best!r} is"
    else:
        assert b == 0, f"b = {b!r} in a problem without bias"

    gap, relative_gap = certificate.gap, certificate.relative_gap
    assert abs(gap - (P - D)) <= 1e-12 * abs(P - D) + floor, f"gap is {P - D!r}, not {gap!r}"
    allowed = _relative_gaps(P, D, floor)
    right = any(isclose(relative_gap, value, rel_tol=rtol) for value in allowed)
    assert right, f"relative_gap is {allowed}, not {relative_gap!r}"


def _check_box(beta, y, cost, loss):
    """β clipped to its box, after asserting that it was inside but for 1e-12 of the box."""
    assert np.all(np.isfinite(beta)), "beta is not finite"
    if loss == "squared_epsilon_insensitive":
        return beta
    alpha = beta * y if loss in CLASSIFICATION else beta
    high = np.full(y.size, inf) if loss == "squared_hinge" else cost
    low = -cost if loss == "epsilon_insensitive" else np.zeros(y.size)
    slack = 1e-12 * (np.max(np.abs(alpha)) if loss == "squared_hinge" else cost)
    outside = np.maximum(alpha - high, low - alpha) > slack
    assert not np.any(outside), f"beta leaves its box at rows {np.flatnonzero(outside)[:5]}"
    alpha = np.clip(alpha, low, high)
    return alpha * y if loss in CLASSIFICATION else alpha


def _relative_gaps(P, D, floor):
    """What relative_gap may be: one value, or two where rounding decides."""
    gap, own, allowed = P - D, 64 * EPS * abs(P), []
    if gap <= own * (1 + 1e-6) or (D <= 0 and floor * (1 + 1e-6) >= P):
        allowed.append(0.0)
    if gap > own * (1 - 1e-6):
        allowed.append(gap / D if D > 0 else inf)
    return allowed


# Reference optima


def reference_interval(X, y, cost, loss, epsilon=0.1, bias="none"):
    """(D, P) with D ≤ J* ≤ P and P − D ≤ 1e-10 D, or P − D ≤ 64 eps P₀; RuntimeError otherwise."""
    w, b, beta = reference_solution(X, y, cost, loss, epsilon, bias)
    D, P = dual(X, y, cost, beta, loss, epsilon), primal(X, y, cost, w, b, loss, epsilon)
    D = max(0.0, nextafter(D, -inf))  # the two were rounded to float64: outwards, for certain
    P = nextafter(P, inf) if P > 0 else 0.0
    P_zero = primal(X, y, cost, *_origin(X, y, cost, loss, epsilon, bias), loss, epsilon)
    width = P - D
    if not width <= max(1e-10 * D, 64 * EPS * P_zero):
        raise RuntimeError(f"reference_interval reached only [{D!r}, {P!r}] ({loss}, {bias})")
    return D, P


def reference_solution(X, y, cost, loss, epsilon=0.1, bias="none"):
    """(w, b, β) in extended precision with J(w, b) − D(β) ≤ 1e-13 D where that can be reached.

    The best of each over the iterates of an interior point method (logistic loss: of Newton's),
    every iterate judged by J and D themselves.
    """
    X, y, cost = _wide(X), _wide(y), _wide(cost)
    (w, b), beta = _origin(X, y, cost, loss, epsilon, bias), np.zeros(y.size, dtype=wide)
    P = primal(X, y, cost, w, b, loss, epsilon)
    D = 0.0
    if P == 0:
        return w, b, beta
    method = _newton if loss == "logistic" else _interior_point
    for w_new, beta_new in method(*_centred(X, y, loss, bias), cost, loss, epsilon, bias):
        b_new = _bias(X @ w_new, y, cost, loss, epsilon, bias)
        if (P_new := primal(X, y, cost, w_new, b_new, loss, epsilon)) < P:
            P, w, b = P_new, w_new, b_new
        if bias == "free":
            beta_new = balance(beta_new)
        if (D_new := dual(X, y, cost, beta_new, loss, epsilon)) > D:
            D, beta = D_new, beta_new
        gap = P - D
        if gap <= 1e-13 * D:
            break
    return w, b, beta


def balance(beta):
    """Σ β = 0 by scaling the heavier sign down; the box is kept."""
    up, down = np.sum(beta[beta > 0]), -np.sum(beta[beta < 0])
    least = min(up, down)
    return beta * np.where(beta > 0, least / (up or 1), least / (down or 1))


def _bias(z, y, cost, loss, epsilon, bias):
    """The best b for these z, or 0 without a free bias."""
    if bias not in ("none", "free"):
        raise ValueError(f"unknown bias {bias!r}")
    return best_bias(z, y, cost, loss, epsilon) if bias == "free" else wide(0)


def _origin(X, y, cost, loss, epsilon, bias):
    """w = 0 and the best b for it."""
    m, d = X.shape
    return np.zeros(d, dtype=wide), _bias(np.zeros(m), y, cost, loss, epsilon, bias)


def _centred(X, y, loss, bias):
    """The same problem with the means taken out, which a free bias allows: better conditioned."""
    if bias != "free":
        return X, y
    return X - np.mean(X, axis=0), y if loss in CLASSIFICATION else y - np.mean(y)


def _newton(X, y, cost, loss, epsilon, bias, steps=300):
    """Newton's method on the logistic J(w, b), exact line search: yields w and β = C y σ(−yz).

    (diag(1, …, 1, 0) + X̂ᵀ diag(C σ(z) σ(−z)) X̂) Δ = −∇J,    X̂ = (X, 1) with a free bias
    """
    d = X.shape[1]
    X_hat, ridge = _with_bias_column(X, np.ones(y.size), bias)
    w = np.zeros(ridge.size, dtype=wide)
    for _ in range(steps):
        w[d:] = _bias(X @ w[:d], y, cost, loss, epsilon, bias)
        z = X_hat @ w
        beta = -cost * loss_subgradients(loss, z, y)[0]
        yield w[:d], beta
        root = np.sqrt(cost * np.exp(-np.logaddexp(0, z) - np.logaddexp(0, -z)))
        factor = _qr(np.vstack([np.diag(np.sqrt(ridge)), root[:, None] * X_hat]))
        step = _back_substitute(factor, X_hat.T @ beta - ridge * w)
        dz = X_hat @ step

        def slope(t, w=w, step=step, z=z, dz=dz):
            """dJ(w + t Δ)/dt."""
            forces = cost * loss_subgradients(loss, z + t * dz, y)[0]
            return (ridge * step) @ (w + t * step) + forces @ dz

        w = w + _line_search(slope) * step


def _line_search(slope):
    """A root of the rising slope(t), t > 0: t = 1 if that is nearly one, else by bisection."""
    if abs(slope(1)) <= 1e-3 * abs(slope(0)):
        return wide(1)
    low, high = wide(0), wide(1)
    while slope(high) < 0 and high < 1e6:
        low, high = high, 2 * high
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return high


def _with_bias_column(X, column, bias):
    """(X, column) and the ridge (1, …, 1, 0) if the bias is free; otherwise X and (1, …, 1)."""
    ridge = np.ones(X.shape[1], dtype=wide)
    if bias != "free":
        return X, ridge
    return np.hstack([X, column[:, None]]), np.append(ridge, wide(0))


def _interior_point(X, y, cost, loss, epsilon, bias, steps=100):
    """Mehrotra's primal-dual method on the pieces, rows a = s x: yields w and β = Σ s α.

    c − A w − s b − κ α + v − ξ = 0    w = Aᵀ α    sᵀ α = 0 (free bias)    α v = μ
    κ = 0 and (C − α) ξ = μ, or for the squares κ = 1/(2C) and ξ = 0

    The products are kept as p q = μ with p = (α, C − α), q = (v, ξ); b is the last entry of w.
    """
    d = X.shape[1]
    copies, s, c = _pieces(y, loss, epsilon)
    C = np.tile(cost, copies)
    A, ridge = _with_bias_column(s[:, None] * np.tile(X, (copies, 1)), s, bias)
    squared = loss not in PIECEWISE_LINEAR
    kappa = 1 / (2 * C) if squared else np.zeros_like(C)
    sign = np.array([[1]]) if squared else np.array([[1], [-1]])

    def direction(r, w, p, q, theta, factor):
        """The Newton step towards p q = r."""
        h = c - A @ w - kappa * p[0] + np.sum(sign * (q + r / p), axis=0)
        dw = np.zeros_like(w)
        for _ in range(2):  # the second time corrects the first
            miss = A.T @ ((h - A @ dw) / theta + p[0]) - ridge * (w + dw)
            dw = dw + _back_substitute(factor, miss)
        dp = sign * (h - A @ dw) / theta
        return dw, dp, (r - q * dp) / p

    def longest(p, q, dp, dq):
        """The longest step ≤ 1 that keeps p and q ≥ 0."""
        x, dx = np.stack([p, q]), np.stack([dp, dq])
        return np.min(-x[dx < 0] / dx[dx < 0], initial=wide(1))

    w = np.zeros(ridge.size, dtype=wide)
    w[d:] = _origin(X, y, cost, loss, epsilon, bias)[1]
    margin = c - A @ w
    p = np.stack([C / 2] * len(sign))
    q = np.maximum(0, -sign * margin) + np.mean(np.abs(margin))
    for _ in range(steps):
        theta = kappa + np.sum(q / p, axis=0)
        factor = _qr(np.vstack([np.diag(np.sqrt(ridge)), A / np.sqrt(theta)[:, None]]))
        _, dp, dq = direction(-p * q, w, p, q, theta, factor)  # the trial step: μ = 0
        t = longest(p, q, dp, dq)
        mu, mu_trial = np.mean(p * q), np.mean((p + t * dp) * (q + t * dq))
        r = mu * (mu_trial / mu) ** 3 - p * q - dp * dq
        dw, dp, dq = direction(r, w, p, q, theta, factor)
        t = 0.99 * longest(p, q, dp, dq)
        w, p, q = w + t * dw, p + t * dp, q + t * dq
        if not (np.all(p > 0) and np.all(q > 0)):
            return
        alpha = np.maximum(0, _repaired(p[0], w * ridge, A, 1 / theta))
        if not squared:
            alpha = np.minimum(alpha, C)
        yield w[:d], np.sum((s * alpha).reshape(copies, -1), axis=0)


def _repaired(alpha, w, A, weight):
    """α + Δ with Aᵀ (α + Δ) = w and the least Σ Δ²/weight: what rounding took from w = Aᵀ α."""
    for _ in range(2):
        root = np.sqrt(weight / np.max(weight)).astype(np.float64)
        miss = (w - A.T @ alpha).astype(np.float64)
        alpha = alpha + root * np.linalg.lstsq(A.T.astype(np.float64) * root, miss)[0]
    return alpha


def _qr(B):
    """Lower L with Bᵀ B = L Lᵀ by Householder reflections, large rows first.

    Bᵀ B is never formed: with a Cholesky factor of it the hard problems lose five digits.
    """
    R = B[np.argsort(-np.max(np.abs(B), axis=1))].copy()
    n = R.shape[1]
    for j in range(n):
        u = R[j:, j].copy()
        u[0] += np.copysign(np.sqrt(u @ u), u[0])
        if u[0] != 0:
            R[j:, j:] -= np.outer(u, (2 / (u @ u)) * (u @ R[j:, j:]))
        else:
            R[j, j] = 1e100  # a variable that nothing depends on stays where it is
    return np.triu(R[:n]).T


def _back_substitute(L, rhs):
    """x with L Lᵀ x = rhs."""
    x = rhs.copy()
    for j in range(len(x)):
        x[j] = (x[j] - L[j, :j] @ x[:j]) / L[j, j]
    for j in reversed(range(len(x))):
        x[j] = (x[j] - L[j + 1 :, j] @ x[j + 1 :]) / L[j, j]
    return x


# Dual coordinate ascent


def dual_ascent(X, y, cost, loss, epsilon=0.1, orders=()):
    """(w, β) after maximising D exactly in β_i, row by row, for each order in `orders`; no bias."""
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    w, beta = np.zeros(X.shape[1]), np.zeros(X.shape[0])
    for order in orders:
        for i in order:
            new = best_beta(beta[i], X[i] @ w, X[i] @ X[i], y[i], cost[i], loss, epsilon)
            w += (new - beta[i]) * X[i]
            beta[i] = new
    return w, beta


def best_beta(beta, z, q, y, C, loss, epsilon=0.1):
    """argmax over t of dual_value(t) − z t − ½ q (t − β)²,  z = ⟨w, x⟩,  q = ‖x‖²."""
    others = z - q * beta  # z without this row's own part
    if loss == "logistic":  # t = y C σ(u), where u + y others + q C σ(u) = 0

        def rising(u):
            return u + y * others + q * C * expit(u)

        low, high = -y * others - q * C - 1, -y * others + 1
        return y * C * expit(brentq(rising, low, high, xtol=1e-300, rtol=4 * EPS))
    if loss in ("hinge", "squared_hinge"):
        pull, sign = 1 - y * others, y  # the slope of the maximand in |t| at t = 0
    else:
        pull, sign = abs(y - others) - epsilon, np.sign(y - others)
    if pull <= 0:
        return 0.0
    if loss.startswith("squared"):
        return sign * pull / (q + 1 / (2 * C))
    return sign * (min(C, pull / q) if q > 0 else C)


# The second-order methods, in the whole space and by dense linear algebra


def rounded_slope(loss, z, y, width, epsilon=0.1):
    """The slope with kinks rounded over ± width: its mean over z − width … z + width."""
    if loss not in PIECEWISE_LINEAR:
        return loss_subgradients(loss, z, y, epsilon)[0]
    ahead, behind = (loss_value(loss, z + side * width, y, epsilon) for side in (1, -1))
    return (ahead - behind) / (2 * width)


def newton_direction(X, y, cost, v, penalty, loss, width, epsilon=0.1):
    """−H⁻¹ g of ½ Σ penalty v² + Σ C_i rounded loss_i at v, by differences of the slope."""
    z, h = X @ v, 1e-6 * width
    slope = rounded_slope(loss, z, y, width, epsilon)
    ahead, behind = (rounded_slope(loss, z + side * h, y, width, epsilon) for side in (1, -1))
    bend = cost * (ahead - behind) / (2 * h)
    return -np.linalg.solve(
        np.diag(penalty) + X.T @ (bend[:, None] * X), penalty * v + X.T @ (cost * slope)
    )


def slope_along(X, y, cost, v, step, penalty, loss, width, epsilon=0.1):
    """The derivative of the rounded objective at v, along step."""
    return (penalty * v) @ step + cost * rounded_slope(loss, X @ v, y, width, epsilon) @ (X @ step)


def interior_point_step(X, y, cost, v, alpha, low, high, penalty):
    """Mehrotra's predictor and corrector on all optimality conditions at once.

    Unknown are the changes of v, alpha, low and high in

        penalty v − Σ α y x = 0,   y⟨v, x⟩ − 1 − low + high = 0,
        α low = σμ,   (C − α) high = σμ
    """
    m, d = X.shape
    rows, eye, none = y[:, None] * X, np.eye(m), np.zeros((m, m))
    matrix = np.block(
        [
            [np.diag(penalty), -rows.T, np.zeros((d, 2 * m))],
            [rows, none, -eye, eye],
            [np.zeros((m, d)), np.diag(low), np.diag(alpha), none],
            [np.zeros((m, d)), -np.diag(high), none, np.diag(cost - alpha)],
        ]
    )

    def change(target, low_extra, high_extra):
        residual = np.concatenate(
            (
                penalty * v - rows.T @ alpha,
                rows @ v - 1 - low + high,
                alpha * low - target + low_extra,
                (cost - alpha) * high - target + high_extra,
            )
        )
        return np.split(-np.linalg.solve(matrix, residual), [d, d + m, d + 2 * m])

    def room(now, by):
        return min([np.inf, *(-now[by < 0] / by[by < 0])])

    _, by, low_by, high_by = change(0.0, 0.0, 0.0)
    primal = min(1.0, room(alpha, by), room(cost - alpha, -by))
    dual = min(1.0, room(low, low_by), room(high, high_by))
    now = alpha @ low + (cost - alpha) @ high
    then = (alpha + primal * by) @ (low + dual * low_by)
    then += (cost - alpha - primal * by) @ (high + dual * high_by)
    sigma = max(max(then, 0.0) / now, 1e-3) ** 3
    v_by, by, low_by, high_by = change(sigma * now / (2 * m), by * low_by, -by * high_by)
    rooms = (room(alpha, by), room(cost - alpha, -by), room(low, low_by), room(high, high_by))
    step = min(1.0, 0.995 * min(rooms))
    return v + step * v_by, alpha + step * by, low + step * low_by, high + step * high_by


# Methods that read one row at a time: w after each presentation, the formulas as they stand


def slope_at(loss, z, y, epsilon=0.1):
    """The derivative of the loss in z; 0 at a kink."""
    left, right = loss_subgradients(loss, z, y, epsilon)
    return float(left) if left == right else 0.0


def norma(X, y, weights, lam, loss, order, p, radius=np.inf):
    """η = p/(λ√t); w ← (1 − ηλ) w − η s g x; then onto the ball of this radius."""
    w = np.zeros(X.shape[1])
    for t, i in enumerate(order, start=1):
        eta = p / (lam * np.sqrt(t))
        slope = slope_at(loss, X[i] @ w, y[i])
        w = (1 - eta * lam) * w - eta * weights[i] * slope * X[i]
        norm = np.linalg.norm(w)
        w = w * min(1.0, radius / norm) if norm > 0 else w
        yield w


def sgd(X, y, weights, lam, order):
    """η = 1/(λt); w ← (1 − ηλ) w + [y⟨w, x⟩ ≤ 1] η s y x: yields w and the errors of each row."""
    w, errors = np.zeros(X.shape[1]), np.zeros(y.size)
    for t, i in enumerate(order, start=1):
        error = y[i] * (X[i] @ w) <= 1
        w = (1 - 1 / t) * w + error * weights[i] * y[i] * X[i] / (lam * t)
        errors[i] += error
        yield w, errors.copy()


def perceptron(X, y, weights, order, average=False):
    """On a mistake, y⟨w, x⟩ ≤ 0, w ← w + s y x; or the mean of these w so far."""
    w, seen = np.zeros(X.shape[1]), []
    for i in order:
        if y[i] * (X[i] @ w) <= 0:
            w = w + weights[i] * y[i] * X[i]
        seen.append(w)
        yield np.mean(seen, axis=0) if average else w


def passive_aggressive(X, y, weights, loss, order, variant, C=1.0, average=False):
    """w ← w + τ (±x), towards less loss, with the τ of PA, PA-I or PA-II and C s in place of C."""
    w, seen = np.zeros(X.shape[1]), []
    for i in order:
        z, q = X[i] @ w, X[i] @ X[i]
        suffered = float(loss_value(loss, z, y[i]))
        if suffered > 0 and q > 0:
            tau = {
                "PA": suffered / q,
                "PA-I": min(C * weights[i], suffered / q),
                "PA-II": suffered / (q + 1 / (2 * C * weights[i])),
            }[variant]
            w = w + tau * np.sign(y[i] - z) * X[i]
        seen.append(w)
        yield np.mean(seen, axis=0) if average else w


def mpu(X, y, cost, order, accuracy, repeats=inf):
    """w and α after each row has been shown, again and again up to `repeats` times: α_i goes up or
    down by η inside its box as long as the margin is further from 1 than η‖x‖²."""
    eta = accuracy / np.max(np.sum(X**2, axis=1))
    alpha = np.zeros(len(y))
    for i in order:
        shown = 0
        while shown < repeats:
            margin = y[i] * (X[i] @ (X.T @ (alpha * y)))
            if margin <= 1 - eta * (X[i] @ X[i]) and alpha[i] < cost[i]:
                alpha[i] = min(alpha[i] + eta, cost[i])
            elif margin >= 1 + eta * (X[i] @ X[i]) and alpha[i] > 0:
                alpha[i] = max(alpha[i] - eta, 0)
            else:
                break
            shown += 1
        yield X.T @ (alpha * y), alpha.copy()


# Pegasos that doubts its rows


def doubting_pegasos(
    X,
    y,
    weights,
    lam,
    loss,
    batches,
    radius=np.inf,
    undo=False,
    flags=None,
    decrease=1.0,
    before=False,
    samples=None,
):
    """w, how often each row was flagged, and its chance to be drawn, after each of the batches;
    the chance is that in the draw of the next batch. f is tested on all rows, or on each sample."""
    m, d = X.shape
    w, counts, chances = np.zeros(d), np.zeros(m, dtype=int), np.ones(m)
    condemned = []
    for t, A in enumerate(batches, start=1):
        condemned_before, condemned = condemned, []
        tested = np.arange(m) if samples is None else samples[t - 1]

        def f(w, tested=tested):
            return lam / 2 * (w @ w) + np.mean(
                weights[tested] * loss_value(loss, X[tested] @ w, y[tested])
            )

        slopes = np.array([weights[i] * slope_at(loss, X[i] @ w, y[i]) for i in A])
        half = (1 - 1 / t) * w - slopes @ X[A] / (lam * t * len(A))
        norm = np.linalg.norm(half)
        new = half * min(1.0, radius / norm) if norm > 0 else half
        rose = f(half if before else new) > f(w) * (1 + 64 * EPS)
        if rose:
            for i in set(A):
                counts[i] += 1
                chances[i] *= decrease
                if counts[i] == flags:
                    condemned.append(i)
        if not (rose and undo):
            w = new
        chances[condemned_before] = 0
        yield w, counts.copy(), chances.copy()


# Stochastic gradient steps of a length that is fixed, or follows from the first: w after each step,
# and s g, the slope that it took


def mean_slopes(slopes, order, m, lam):
    """β of each row: the mean of −s g over its visits, weighted by p² in pass p, over λm."""
    beta = np.zeros(m)
    for i in range(m):
        visits = [t for t in range(len(slopes)) if order[t] == i]
        if visits:
            weights = [(t // m + 1) ** 2 for t in visits]
            beta[i] = -np.average([slopes[t] for t in visits], weights=weights) / (lam * m)
    return beta


def sgd_fixed(X, y, weights, lam, loss, order, eta):
    """w ← (1 − ηλ) w − η s g x."""
    w = np.zeros(X.shape[1])
    for i in order:
        slope = weights[i] * slope_at(loss, X[i] @ w, y[i])
        w = (1 - eta * lam) * w - eta * slope * X[i]
        yield w, slope


def first_step(X, y, weights, lam, loss, sample, longest):
    """The η that leads lowest in one pass over the sample, of those that lie between the first
    guess and the first of its doubles, or else of its halves, that leads no lower."""
    X, y, weights = X[sample], y[sample], weights[sample]

    def objective(eta):
        *_, (w, _) = sgd_fixed(X, y, weights, lam, loss, range(len(y)), eta)
        return lam / 2 * (w @ w) + np.mean(weights * loss_value(loss, X @ w, y))

    first = min(1 / np.mean(weights * np.sum(X**2, axis=1)), longest)
    for factor in (2, 1 / 2):
        eta = first
        while eta * factor <= longest and objective(eta * factor) < objective(eta):
            eta *= factor
        if eta != first:
            break
    return eta


def svmsgd(X, y, weights, lam, loss, order, eta0):
    """η = 1/(λ(t − 1 + t₀)) with t₀ = 1/(λη₀)."""
    w = np.zeros(X.shape[1])
    for t, i in enumerate(order, start=1):
        eta = 1 / (lam * (t - 1 + 1 / (lam * eta0)))
        slope = weights[i] * slope_at(loss, X[i] @ w, y[i])
        w = (1 - eta * lam) * w - eta * slope * X[i]
        yield w, slope


def asgd(X, y, weights, lam, loss, order, eta0, begin):
    """η = η₀/(1 + λη₀(t − 1))^¾: the mean of w after each of the steps after the first `begin`; w
    itself until then."""
    w, seen = np.zeros(X.shape[1]), []
    for t, i in enumerate(order, start=1):
        eta = eta0 / (1 + lam * eta0 * (t - 1)) ** 0.75
        slope = weights[i] * slope_at(loss, X[i] @ w, y[i])
        w = (1 - eta * lam) * w - eta * slope * X[i]
        if t > begin:
            seen.append(w)
        yield np.mean(seen, axis=0) if seen else w, slope


def sgd_qn(X, y, weights, lam, loss, order, eta0, skip):
    """w ← w − B g x, every skip-th time also w ← w − skip λ B w and, one step later, B⁻¹ grows by
    skip times the curvature seen."""
    d = X.shape[1]
    w, before, hessian = np.zeros(d), None, np.full(d, 1 / eta0)
    for t, i in enumerate(order, start=1):
        slope = weights[i] * slope_at(loss, X[i] @ w, y[i])
        if before is not None:
            slope_before = weights[i] * slope_at(loss, X[i] @ before, y[i])
            for j in range(d):
                ratio = lam
                if w[j] != before[j]:
                    difference = lam * (w[j] - before[j]) + (slope - slope_before) * X[i, j]
                    ratio = difference / (w[j] - before[j])
                hessian[j] += skip * min(max(ratio, lam), 100 * lam)
            before = None
        B = 1 / hessian
        if t % skip == 0:
            before = w
            w = w - skip * lam * B * w
        w = w - slope * B * X[i]
        yield w, slope


# Cutting planes: plain lists, and a quadratic problem solved by trying every choice of planes


def best_mixture(A, b):
    """argmax Σ s_p b_p − ½‖Σ s_p A_p‖² over s ≥ 0, Σ s ≤ 1.

    For each choice of at most d + 1 planes (more are never needed) the stationary point, with a
    free sum and with Σ s = 1; the best of those that are feasible.
    """
    k, d = A.shape
    most, best = 0.0, np.zeros(k)
    for size in range(1, min(k, d + 1) + 1):
        for chosen in map(list, combinations(range(k), size)):
            G, ones = A[chosen] @ A[chosen].T, np.ones((size, 1))
            systems = [
                (G, b[chosen]),
                (np.block([[G, ones], [ones.T, np.zeros((1, 1))]]), np.append(b[chosen], 1.0)),
            ]
            for matrix, right in systems:
                try:
                    s = np.zeros(k)
                    s[chosen] = np.linalg.solve(matrix, right)[:size]
                except np.linalg.LinAlgError:
                    continue
                if not (np.min(s) >= -1e-9 and np.sum(s) <= 1 + 1e-9):
                    continue
                s = np.maximum(s, 0)
                s /= max(1.0, np.sum(s))
                value = s @ b - (s @ A) @ (s @ A) / 2
                if value > most:
                    most, best = value, s
    return best


def best_on_the_way(X, y, cost, v, way):
    """The t ≥ 0 that minimises J(v + t way), hinge: the best point of each piece between kinks."""
    if not np.any(way):
        return 0.0
    margins, change = y * (X @ v), y * (X @ way)
    moving = change != 0
    kinks = (1 - margins[moving]) / change[moving]
    edges = [0.0, *np.sort(kinks[kinks > 0]), inf]
    least, best = inf, 0.0
    for low, high in pairwise(edges):
        middle = low + 1 if high == inf else (low + high) / 2
        inside = margins + middle * change < 1
        t = (cost[inside] @ change[inside] - v @ way) / (way @ way)
        t = min(max(t, low), high)
        value = primal(X, y, cost, v + t * way, 0.0, "hinge")
        if value < least:
            least, best = value, t
    return best


def cutting_planes(X, y, cost, steps, keep=inf, mu=None):
    """SVM-perf, or OCAS with this μ: yields, after each iteration,

    w, the solution over the planes before; D, its value; α of it; v, the best point so far (w for
    SVM-perf); which rows are in the new plane; and how many planes there are with it.
    """
    w, v, D, alpha = np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0.0, np.zeros(y.size)
    planes, idle = [], []
    for step in range(steps):
        if step > 0:
            inside = np.array(planes)
            s = best_mixture((inside * cost * y) @ X, inside @ cost)
            alpha = (s @ inside) * cost
            w = X.T @ (alpha * y)
            D = np.sum(alpha) - w @ w / 2
            idle = [0 if share > 0 else n + 1 for n, share in zip(idle, s)]
            planes = [p for p, n in zip(planes, idle) if n < keep]
            idle = [n for n in idle if n < keep]
        if mu is None:
            v = touch = w
        else:
            v = v + best_on_the_way(X, y, cost, v, w - v) * (w - v)
            touch = v + mu * (w - v)
        planes.append(y * (X @ touch) < 1)
        idle.append(0)
        yield w, D, alpha, v, planes[-1], len(planes)


# SMO: one step from any α, with the whole of Q at hand


def smo_steps(X, y, cost, alpha, bias="none"):
    """All α that one step of SMO may lead to: a single one, but for ties. Empty at the optimum.

    bias "free": y_i α_i grows and y_j α_j falls by t; i has the largest e = −y (Qα − 1), j the
    largest (e_i − e_j)²/a_ij. bias "none": the one α_i moves that gains most.
    """
    Q = np.outer(y, y) * (X @ X.T)
    q, G = np.diag(Q), Q @ alpha - 1
    up = np.where(y > 0, cost - alpha, alpha)  # how far y α may grow, and fall
    down = np.where(y > 0, alpha, cost - alpha)
    found = []
    if bias == "none":
        best = np.clip(alpha - G / np.maximum(q, 1e-300), 0, cost)
        rise = -(G * (best - alpha) + q * (best - alpha) ** 2 / 2)
        for i in largest(rise, 1e-9 * np.max(rise)):
            found.append(alpha + (best - alpha)[i] * np.eye(y.size)[i])
        return found if np.max(rise) > 0 else []
    e = -y * G
    for i in largest(np.where(up > 1e-13 * cost, e, -inf), 1e-9 * np.max(np.abs(e))):
        a = np.maximum(q[i] + q - 2 * y[i] * y * Q[i], 1e-12 * (q[i] + q))
        worse = (down > 1e-13 * cost) & (e < e[i] - 1e-12)
        gain = np.where(worse, (e[i] - e) ** 2 / np.maximum(a, 1e-290), 0.0)
        for j in largest(gain, 1e-9 * np.max(gain)) if worse.any() else []:
            t = min((e[i] - e[j]) / max(a[j], 1e-290), up[i], down[j])
            found.append(alpha + t * y * (np.eye(y.size)[i] - np.eye(y.size)[j]))
    return found


def largest(values, slack):
    """Where the values are the largest, to within slack."""
    return np.flatnonzero(values >= np.max(values) - slack)
