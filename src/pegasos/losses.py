"""The losses: value, slope, conjugate and dual step of each; all else is built on them.

    J(w, b) = ½‖w‖² + Σ c_i ℓ(y_i, z_i),   z_i = ⟨w, x_i⟩ + b,   c_i = C s_i
    D(β)    = Σ d(β_i) − ½‖Σ β_i x_i‖²,    d(β) = −c ℓ*(−β/c)

β_i is the coefficient of row i in w. For labels β_i = α_i y_i with the textbook's α_i ≥ 0.

| loss                        | ℓ(y, z)             | d(β)                                        |
|-----------------------------|---------------------|---------------------------------------------|
| hinge                       | (1 − yz)₊           | α,  0 ≤ α ≤ c                               |
| squared hinge               | (1 − yz)₊²          | α − α²/(4c),  α ≥ 0                         |
| logistic                    | ln(1 + exp(−yz))    | −α ln(α/c) − (c−α) ln((c−α)/c), 0 ≤ α ≤ c   |
| ε-insensitive               | (|y − z| − ε)₊      | yβ − ε|β|,  |β| ≤ c                         |
| squared ε-insensitive       | (|y − z| − ε)₊²     | yβ − ε|β| − β²/(4c)                         |
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pegasos.compiled import inlined, kernel, verb, weighted_crossing


class Hinge(NamedTuple):
    """(1 − yz)₊ for labels y = ±1: the support vector machine."""

    name = "hinge"
    labels = True
    lipschitz = 1.0  # the largest |slope|
    curvature = math.inf  # the largest second derivative


class SquaredHinge(NamedTuple):
    """(1 − yz)₊² for labels y = ±1."""

    name = "squared_hinge"
    labels = True
    lipschitz = math.inf
    curvature = 2.0


class Logistic(NamedTuple):
    """ln(1 + exp(−yz)) for labels y = ±1: logistic regression."""

    name = "logistic"
    labels = True
    lipschitz = 1.0
    curvature = 0.25


class EpsilonInsensitive(NamedTuple):
    """(|y − z| − ε)₊: support vector regression."""

    epsilon: float = 0.0

    name = "epsilon_insensitive"
    labels = False
    lipschitz = 1.0
    curvature = math.inf


class SquaredEpsilonInsensitive(NamedTuple):
    """(|y − z| − ε)₊²."""

    epsilon: float = 0.0

    name = "squared_epsilon_insensitive"
    labels = False
    lipschitz = math.inf
    curvature = 2.0


Loss = Hinge | SquaredHinge | Logistic | EpsilonInsensitive | SquaredEpsilonInsensitive
LOSSES: dict[str, type] = {
    cls.name: cls
    for cls in (Hinge, SquaredHinge, Logistic, EpsilonInsensitive, SquaredEpsilonInsensitive)
}

TINY = 1e-300  # in place of ‖x‖² for an empty row: its dual variable goes straight to its bound


def as_loss(loss: str | Loss) -> Loss:
    """A loss from its name, or itself."""
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise ValueError(f"there is no loss {loss!r}; the losses are {', '.join(LOSSES)}")
        return LOSSES[loss]()
    if type(loss) not in LOSSES.values():
        raise TypeError(f"loss must be one of {', '.join(LOSSES)} or its object, not {loss!r}")
    epsilon = getattr(loss, "epsilon", 0.0)
    if not (
        isinstance(epsilon, int | float | np.integer | np.floating) and 0 <= epsilon < math.inf
    ):
        raise ValueError(f"epsilon must be zero or positive and finite, not {epsilon!r}")
    return loss


@verb
def value(loss, z, y):
    """ℓ(y, z)."""


@verb
def subgradient(loss, z, y):
    """A subgradient of ℓ in z; at the hinge's kink it is 0, as in the papers' strict inequality."""


@verb
def slopes(loss, z, y, slack):
    """The one-sided derivatives (left, right) of ℓ in z; within slack of a kink is on it."""


@verb
def smoothed(loss, z, y, width):
    """``(slope, curvature)`` of ℓ in z, with each kink rounded over ± width into a parabola.

    The slopes stay between those of ℓ on either side, so that β = −c · slope is feasible. A loss
    without kinks is what it is.
    """


@verb
def dual_value(loss, beta, y, c):
    """d(β), for β in its domain."""


@verb
def clip(loss, beta, y, c):
    """The nearest β in the domain of d."""


@verb
def dual_step(loss, z, y, c, q, beta):
    """The β that maximises D along one coordinate: z is its score now, q = ‖x‖² its curvature."""


@verb
def pull(loss, z, y, c, beta):
    """``(gradient, stuck)`` of −D along β_i.

    The gradient is 0 where β sits at a bound or kink and cannot improve; stuck then says by how
    much the slope would have to change before it could, and is −1 everywhere else.
    """


@verb
def kink(loss, y, c, beta):
    """``(target, bend)``: for a free β, D is stationary along it when z + bend · β = target.

    bend is −d″(β); it is −1 where β sits on a bound or kink.
    """


# ---------------------------------------------------------------------------------------- hinge


@value.of(Hinge)
def _value_hinge(loss, z, y):
    return max(0.0, 1.0 - y * z)


@subgradient.of(Hinge)
def _subgradient_hinge(loss, z, y):
    return -y if y * z < 1.0 else 0.0


@slopes.of(Hinge)
def _slopes_hinge(loss, z, y, slack):
    margin = y * z - 1.0
    if margin < -slack:
        return -y, -y
    if margin > slack:
        return 0.0, 0.0
    return min(-y, 0.0), max(-y, 0.0)


@inlined
def _rounded_step(t, width):
    """A step from 0 to 1 at t = 0 as a ramp of ± width, and the slope of the ramp."""
    steepness = 0.5 / width
    step = min(max(0.5 + steepness * t, 0.0), 1.0)
    return step, steepness if 0.0 < step < 1.0 else 0.0


@smoothed.of(Hinge)
def _smoothed_hinge(loss, z, y, width):
    step, curvature = _rounded_step(1.0 - y * z, width)
    return -y * step, curvature


@dual_value.of(Hinge)
def _dual_value_hinge(loss, beta, y, c):
    return beta * y


@clip.of(Hinge)
def _clip_hinge(loss, beta, y, c):
    return y * min(max(beta * y, 0.0), c)


@dual_step.of(Hinge)
def _dual_step_hinge(loss, z, y, c, q, beta):
    return y * min(max(beta * y - (y * z - 1.0) / q, 0.0), c)


@pull.of(Hinge)
def _pull_hinge(loss, z, y, c, beta):
    alpha = beta * y
    gradient = y * z - 1.0
    if alpha <= 0.0 and gradient >= 0.0:
        return 0.0, gradient
    if alpha >= c and gradient <= 0.0:
        return 0.0, -gradient
    return y * gradient, -1.0


@kink.of(Hinge)
def _kink_hinge(loss, y, c, beta):
    alpha = beta * y
    return y, 0.0 if 0.0 < alpha < c else -1.0


# ------------------------------------------------------------------------------- squared hinge


@value.of(SquaredHinge)
def _value_squared_hinge(loss, z, y):
    short = max(0.0, 1.0 - y * z)
    return short * short


@subgradient.of(SquaredHinge)
def _subgradient_squared_hinge(loss, z, y):
    return -2.0 * y * max(0.0, 1.0 - y * z)


@slopes.of(SquaredHinge)
def _slopes_squared_hinge(loss, z, y, slack):
    slope = -2.0 * y * max(0.0, 1.0 - y * z)
    return slope, slope


@smoothed.of(SquaredHinge)
def _smoothed_squared_hinge(loss, z, y, width):
    short = max(0.0, 1.0 - y * z)
    return -2.0 * y * short, 2.0 if short > 0.0 else 0.0


@dual_value.of(SquaredHinge)
def _dual_value_squared_hinge(loss, beta, y, c):
    return beta * y - beta * beta / (4.0 * c)


@clip.of(SquaredHinge)
def _clip_squared_hinge(loss, beta, y, c):
    return y * max(beta * y, 0.0)


@dual_step.of(SquaredHinge)
def _dual_step_squared_hinge(loss, z, y, c, q, beta):
    bend = 0.5 / c
    alpha = beta * y
    return y * max(alpha - (y * z - 1.0 + bend * alpha) / (q + bend), 0.0)


@pull.of(SquaredHinge)
def _pull_squared_hinge(loss, z, y, c, beta):
    alpha = beta * y
    gradient = y * z - 1.0 + alpha / (2.0 * c)
    if alpha <= 0.0 and gradient >= 0.0:
        return 0.0, gradient
    return y * gradient, -1.0


@kink.of(SquaredHinge)
def _kink_squared_hinge(loss, y, c, beta):
    return y, 0.5 / c if beta * y > 0.0 else -1.0


# ------------------------------------------------------------------------------------ logistic


@inlined
def _softplus(t):
    """ln(1 + exp t), without overflow."""
    return max(t, 0.0) + math.log1p(math.exp(-abs(t)))


@inlined
def _sigmoid(t):
    """1/(1 + exp(−t)), without overflow."""
    if t >= 0.0:
        return 1.0 / (1.0 + math.exp(-t))
    e = math.exp(t)
    return e / (1.0 + e)


@inlined
def _plogp(p):
    return p * math.log(p) if p > 0.0 else 0.0


@inlined
def _inside(alpha, c):
    """α/c kept strictly inside (0, 1)."""
    return min(max(alpha / c, 1e-300), 1.0 - 1e-16)


@value.of(Logistic)
def _value_logistic(loss, z, y):
    return _softplus(-y * z)


@subgradient.of(Logistic)
def _subgradient_logistic(loss, z, y):
    return -y * _sigmoid(-y * z)


@slopes.of(Logistic)
def _slopes_logistic(loss, z, y, slack):
    slope = -y * _sigmoid(-y * z)
    return slope, slope


@smoothed.of(Logistic)
def _smoothed_logistic(loss, z, y, width):
    p = _sigmoid(-y * z)
    return -y * p, p * _sigmoid(y * z)


@dual_value.of(Logistic)
def _dual_value_logistic(loss, beta, y, c):
    p = min(max(beta * y / c, 0.0), 1.0)
    return -c * (_plogp(p) + _plogp(1.0 - p))


@clip.of(Logistic)
def _clip_logistic(loss, beta, y, c):
    return y * min(max(beta * y, 0.0), c)


@dual_step.of(Logistic)
def _dual_step_logistic(loss, z, y, c, q, beta):
    # With α = c σ(t) the stationary point solves q (c σ(t) − α₀) + yz + t = 0: increasing in t,
    # slope between 1 and 1 + qc/4, and its root lies in a bracket of length qc.
    alpha = beta * y
    low = -y * z - q * (c - alpha)
    high = -y * z + q * alpha
    t = min(max(-y * z, low), high)
    last = high - low
    for _ in range(200):
        p = _sigmoid(t)
        residual = q * (c * p - alpha) + y * z + t
        if residual > 0.0:
            high = t
        else:
            low = t
        # Newton's step, or half the bracket where Newton leaves it or does not halve its steps.
        following = t - residual / (q * c * p * (1.0 - p) + 1.0)
        if not (low < following < high) or abs(following - t) > 0.5 * last:
            following = 0.5 * (low + high)
        last = abs(following - t)
        t = following
        if last <= 1e-15 * (1.0 + abs(t)):
            break
    return y * min(c * _sigmoid(t), c)


@pull.of(Logistic)
def _pull_logistic(loss, z, y, c, beta):
    p = _inside(beta * y, c)
    return y * (y * z + math.log(p) - math.log1p(-p)), -1.0


@kink.of(Logistic)
def _kink_logistic(loss, y, c, beta):
    # z = −y ln(p/(1−p)) at the stationary point; linearised in β.
    p = _inside(beta * y, c)
    bend = 1.0 / (c * p * (1.0 - p))
    return bend * beta - y * (math.log(p) - math.log1p(-p)), bend


# ------------------------------------------------------------------------------- ε-insensitive


@inlined
def _shrink_to_zero(v, amount):
    """The soft threshold: sign(v) (|v| − amount)₊."""
    if v > amount:
        return v - amount
    if v < -amount:
        return v + amount
    return 0.0


@value.of(EpsilonInsensitive)
def _value_epsilon(loss, z, y):
    return max(0.0, abs(y - z) - loss.epsilon)


@subgradient.of(EpsilonInsensitive)
def _subgradient_epsilon(loss, z, y):
    if z - y > loss.epsilon:
        return 1.0
    if y - z > loss.epsilon:
        return -1.0
    return 0.0


@slopes.of(EpsilonInsensitive)
def _slopes_epsilon(loss, z, y, slack):
    above = z - y - loss.epsilon
    below = y - z - loss.epsilon
    left, right = 0.0, 0.0
    if above > slack:
        left = 1.0
    if above >= -slack:
        right = 1.0
    if below > slack:
        right = -1.0
    if below >= -slack:
        left = -1.0
    return left, right


@smoothed.of(EpsilonInsensitive)
def _smoothed_epsilon(loss, z, y, width):
    above, bend_above = _rounded_step(z - y - loss.epsilon, width)
    below, bend_below = _rounded_step(y - z - loss.epsilon, width)
    return above - below, bend_above + bend_below


@dual_value.of(EpsilonInsensitive)
def _dual_value_epsilon(loss, beta, y, c):
    return y * beta - loss.epsilon * abs(beta)


@clip.of(EpsilonInsensitive)
def _clip_epsilon(loss, beta, y, c):
    return min(max(beta, -c), c)


@dual_step.of(EpsilonInsensitive)
def _dual_step_epsilon(loss, z, y, c, q, beta):
    return min(max(_shrink_to_zero(beta - (z - y) / q, loss.epsilon / q), -c), c)


@pull.of(EpsilonInsensitive)
def _pull_epsilon(loss, z, y, c, beta):
    residual = z - y
    if beta == 0.0:
        if abs(residual) <= loss.epsilon:
            return 0.0, loss.epsilon - abs(residual)
        return _shrink_to_zero(residual, loss.epsilon), -1.0
    if beta > 0.0:
        gradient = residual + loss.epsilon
        if beta >= c and gradient <= 0.0:
            return 0.0, -gradient
        return gradient, -1.0
    gradient = residual - loss.epsilon
    if beta <= -c and gradient >= 0.0:
        return 0.0, gradient
    return gradient, -1.0


@kink.of(EpsilonInsensitive)
def _kink_epsilon(loss, y, c, beta):
    if beta == 0.0 or abs(beta) >= c:
        return y, -1.0
    return (y - loss.epsilon if beta > 0.0 else y + loss.epsilon), 0.0


# ----------------------------------------------------------------------- squared ε-insensitive


@value.of(SquaredEpsilonInsensitive)
def _value_squared_epsilon(loss, z, y):
    over = max(0.0, abs(y - z) - loss.epsilon)
    return over * over


@subgradient.of(SquaredEpsilonInsensitive)
def _subgradient_squared_epsilon(loss, z, y):
    return 2.0 * _shrink_to_zero(z - y, loss.epsilon)


@slopes.of(SquaredEpsilonInsensitive)
def _slopes_squared_epsilon(loss, z, y, slack):
    slope = 2.0 * _shrink_to_zero(z - y, loss.epsilon)
    return slope, slope


@smoothed.of(SquaredEpsilonInsensitive)
def _smoothed_squared_epsilon(loss, z, y, width):
    slope = 2.0 * _shrink_to_zero(z - y, loss.epsilon)
    return slope, 2.0 if slope != 0.0 else 0.0


@dual_value.of(SquaredEpsilonInsensitive)
def _dual_value_squared_epsilon(loss, beta, y, c):
    return y * beta - loss.epsilon * abs(beta) - beta * beta / (4.0 * c)


@clip.of(SquaredEpsilonInsensitive)
def _clip_squared_epsilon(loss, beta, y, c):
    return beta


@dual_step.of(SquaredEpsilonInsensitive)
def _dual_step_squared_epsilon(loss, z, y, c, q, beta):
    return _shrink_to_zero(q * beta - (z - y), loss.epsilon) / (q + 0.5 / c)


@pull.of(SquaredEpsilonInsensitive)
def _pull_squared_epsilon(loss, z, y, c, beta):
    residual = z - y
    if beta == 0.0:
        if abs(residual) <= loss.epsilon:
            return 0.0, loss.epsilon - abs(residual)
        return _shrink_to_zero(residual, loss.epsilon), -1.0
    side = 1.0 if beta > 0.0 else -1.0
    return residual + side * loss.epsilon + beta / (2.0 * c), -1.0


@kink.of(SquaredEpsilonInsensitive)
def _kink_squared_epsilon(loss, y, c, beta):
    if beta == 0.0:
        return y, -1.0
    return (y - loss.epsilon if beta > 0.0 else y + loss.epsilon), 0.5 / c


# ------------------------------------------------------------------ what follows from the verbs


@kernel
def total_loss(loss, z, b, y, cost):
    """Σ c_i ℓ(y_i, z_i + b) over the rows that count."""
    total = 0.0
    for i in range(z.size):
        if cost[i] > 0.0:
            total += cost[i] * value(loss, z[i] + b, y[i])
    return total


@kernel
def _total_slope(loss, z, b, y, cost):
    """The derivative of the total loss in b."""
    slope = 0.0
    for i in range(z.size):
        if cost[i] > 0.0:
            slope += cost[i] * subgradient(loss, z[i] + b, y[i])
    return slope


def best_bias(loss: Loss, z: np.ndarray, y: np.ndarray, cost: np.ndarray) -> float:
    """The b that minimises Σ c_i ℓ(y_i, z_i + b): the midpoint of the minimising interval.

    Where that interval has no end on one side (a single class), its finite end.
    """
    use = cost > 0
    if not use.all():
        z, y, cost = z[use], y[use], cost[use]
    if isinstance(loss, Hinge) and cost.min() == cost.max():
        low, high = _neighbours(y - z, int(np.count_nonzero(y > 0)))
    elif isinstance(loss, Hinge):
        low, high = weighted_crossing(y - z, cost.copy(), float(cost[y > 0].sum()))
    elif isinstance(loss, EpsilonInsensitive):
        kinks = np.concatenate((y - z - loss.epsilon, y - z + loss.epsilon))
        low, high = weighted_crossing(kinks, np.concatenate((cost, cost)), float(cost.sum()))
    else:
        low, high = _smooth_interval(loss, z, y, cost)
    if math.isinf(low) or math.isinf(high):
        return float(high if math.isinf(low) else low) if low != -high else 0.0
    return float(0.5 * (low + high))


def _neighbours(keys: np.ndarray, count: int) -> tuple[float, float]:
    """The count-th and the next smallest of the keys: where equal weights cross their target."""
    if count == 0:
        return -math.inf, float(keys.min())
    if count == keys.size:
        return float(keys.max()), math.inf
    keys.partition((count - 1, count))
    return float(keys[count - 1]), float(keys[count])


def _smooth_interval(loss: Loss, z: np.ndarray, y: np.ndarray, cost: np.ndarray):
    """The minimising interval of a differentiable total loss."""
    residual = y - z
    if isinstance(loss, SquaredEpsilonInsensitive):
        low, high = residual.max() - loss.epsilon, residual.min() + loss.epsilon
        bottom, top = residual.min() - loss.epsilon, residual.max() + loss.epsilon
    else:
        positive = y > 0
        low = residual[positive].max() if positive.any() else -math.inf
        high = residual[~positive].min() if not positive.all() else math.inf
        bottom, top = residual.min(), residual.max()
    if isinstance(loss, Logistic):
        if math.isinf(low) or math.isinf(high):  # one class: the loss has no minimum in b
            end = float(np.abs(residual).max()) + 40.0
            return (end, math.inf) if math.isinf(high) else (-math.inf, -end)
        # At these ends the sum of slopes surely has the sign that brackets the root.
        odds = abs(math.log(cost[y > 0].sum() / cost[y < 0].sum()))
        reach = np.abs(z).max() + odds + 1.0
        bottom, top = -reach, reach
    elif low <= high:
        return low, high  # the loss is zero on all of it
    root = _increasing_root(lambda b: _total_slope(loss, z, b, y, cost), bottom, top)
    return root, root


def _increasing_root(slope, low: float, high: float) -> float:
    """The root of an increasing function, to the rounding of numbers as large as its bracket."""
    from scipy.optimize import brentq

    if slope(low) >= 0.0:
        return low
    if slope(high) <= 0.0:
        return high
    eps = np.finfo(float).eps
    finest = eps * max(abs(low), abs(high), 1e-300)
    return float(brentq(slope, low, high, xtol=finest, rtol=4 * eps, maxiter=300))


def radius(loss: Loss, y: np.ndarray, weights: np.ndarray, free_bias: bool) -> float:
    """A bound on λ‖w*‖² that holds for every data set: the ball that Pegasos may project onto.

    Weights have mean one. The papers' 1/√λ is the hinge's own.
    """
    if isinstance(loss, Hinge):
        return 1.0
    if isinstance(loss, SquaredHinge):
        return 0.5
    if isinstance(loss, Logistic):
        return 0.2785
    centre = _weighted_median(y, weights) if free_bias else 0.0
    over = np.maximum(np.abs(y - centre) - loss.epsilon, 0.0)
    if isinstance(loss, EpsilonInsensitive):
        return float(np.mean(weights * over))
    return float(np.mean(weights * over**2) / 2)


def _weighted_median(y: np.ndarray, weights: np.ndarray) -> float:
    low, high = weighted_crossing(y.copy(), weights.copy(), float(weights.sum()) / 2)
    return float(low if math.isinf(high) else 0.5 * (low + high))
