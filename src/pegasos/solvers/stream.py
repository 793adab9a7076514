"""Pegasos over a stream: each row once, as it comes, with the step counter kept.

    minimise   f(w, b) = λ/2 ‖w‖² + (1/W) Σ s_i ℓ(y_i, ⟨w, x_i⟩ + b)      over the rows seen so far
    row i      W ← W + s_i;   v ← v − (s_i g_i/Φ) x_i;   w = Φ/(λ(W + t₀)) v;   project: Φ shrinks
               b ← b − rate · s_i g_i/(λ(W + t₀))                          for a free bias

A row of weight s moves the clock by s. No number of any row is kept, yet there is a lower bound:
with β_i = −Φ s_i g_i/(λW) the dual of the rows seen is at least Φ Σ s_i (ℓ_i − g_i z_i)/(Φ_i λW)
− ½‖Σ β_i x_i‖², because d is concave and d(0) = 0; so any fraction of β will do, and the best is
taken. A free bias needs Σ β = 0, so the sums over positive and negative β are kept apart and the
heavier one is scaled down.

Panagiotakopoulos & Tsampouka 2013, section 2, for the bound; weights, projection and bias ours.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pegasos.compiled import generator, kernel, shuffle_all
from pegasos.losses import Loss, radius, subgradient, value
from pegasos.rows import Intake, add, dot, squared_norm
from pegasos.solvers.pegasos import Pegasos

# The numbers of a stream; UP and DOWN are sums over rows with positive and negative β.
WEIGHT, PHI, NU, BIAS, REACH, UP, DOWN, WORTH_UP, WORTH_DOWN, RADIUS = range(10)


class StreamRule(NamedTuple):
    """The numbers of a step."""

    lam: float
    bias_rate: float  # 0 without a free bias
    curvature: float  # of the loss, where it brings an offset t₀, else 0
    project: bool


class Stream:
    """What ``partial_fit`` carries from one call to the next.

    Parameters
    ----------
    n_features : int
        The features of every row to come.
    lam : float
        λ.
    solver : Pegasos
        Single rows, in the order given (``"cycle"``) or shuffled within each call.
    loss : loss object
        The loss.
    free_bias : bool
        Learn an unpenalised b by its sub-gradient.
    constant : float
        The value of the constant feature, 0 for none.
    seed : SeedSequence
        For the shuffling.
    """

    def __init__(
        self,
        n_features: int,
        lam: float,
        solver: Pegasos,
        loss: Loss,
        free_bias: bool,
        constant: float,
        seed: np.random.SeedSequence,
    ):
        for name, has, can in (
            ("batch", solver.batch, (1,)),
            ("steps", solver.steps, (None,)),
            ("order", solver.order or "shuffle", ("shuffle", "cycle")),
            ("output", solver.output, ("last",)),
            ("bias_step", solver.bias_step, ("subgradient",)),
        ):
            if has not in can:
                raise ValueError(
                    f"a stream takes {name}={' or '.join(map(repr, can))}, not {has!r}"
                )
        if solver.w1 is not None:
            raise ValueError("a stream starts from zero: w1 is not used")
        self.solver, self.loss, self.lam = solver, loss, lam
        self.n_features, self.free_bias, self.constant = n_features, free_bias, constant
        self.t = 0
        self._v = np.zeros((2, n_features + (constant != 0.0)))  # all; those with β > 0
        self._run = np.zeros(10)
        self._run[PHI] = 1.0
        self._rng = generator(seed)

    def learn(self, rows: Intake, y: np.ndarray, weights: np.ndarray | None = None) -> None:
        """Visit each of these rows once."""
        if rows.n_features != self.n_features:
            raise ValueError(
                f"the stream began with {self.n_features} features, these rows have "
                f"{rows.n_features}"
            )
        y = np.asarray(y, dtype=np.float64)
        weights = np.ones(y.size) if weights is None else np.asarray(weights, dtype=np.float64)
        order = np.flatnonzero(weights > 0).astype(np.uint32)
        if order.size == 0:
            return
        if self.solver.order != "cycle":
            shuffle_all(order, self._rng)
        self._widen_ball(y[order], weights[order])
        _learn(
            rows.rows._replace(constant=self.constant),
            self.loss,
            y,
            weights,
            order,
            self._v,
            self._run,
            StreamRule(
                self.lam,
                float(self.solver.bias_rate) if self.free_bias else 0.0,
                0.0 if math.isfinite(self.loss.lipschitz) else self.loss.curvature,
                self.solver.project,
            ),
        )
        self.t += order.size
        if not np.isfinite(self._run).all():
            raise ValueError(
                f"the stream diverged in its first {self.t} steps: scale the features (the "
                f"largest row has norm {math.sqrt(float(rows.squared_norms.max())):g}) or raise lam"
            )

    def _widen_ball(self, y: np.ndarray, weights: np.ndarray) -> None:
        """The ball of the loss, for all targets seen; for labels it never changes."""
        new, total = self._run[WEIGHT], float(weights.sum())
        # With a free bias the centre of the targets is not known, so zero stands for it.
        mine = radius(self.loss, y, weights * (y.size / total), False)
        self._run[RADIUS] = (self._run[RADIUS] * new + mine * total) / (new + total)

    @property
    def _scale(self) -> float:
        run = self._run
        offset = 0.0 if math.isfinite(self.loss.lipschitz) else self.loss.curvature * run[REACH]
        return float(run[PHI] / (self.lam * run[WEIGHT] + offset)) if run[WEIGHT] else 0.0

    @property
    def w(self) -> np.ndarray:
        """The coefficients of the features."""
        return self._scale * self._v[0, : self.n_features]

    @property
    def b(self) -> float:
        """The bias."""
        if self.constant:
            return float(self.constant * self._scale * self._v[0, -1])
        return float(self._run[BIAS])

    @property
    def lower_bound(self) -> float:
        """A lower bound on J = f/λ over the rows seen; 0 is one too, since no loss is negative."""
        run = self._run
        if run[WEIGHT] == 0:
            return 0.0
        factor = run[PHI] / (self.lam * run[WEIGHT])
        up, down = run[UP], run[DOWN]
        keep_up = keep_down = 1.0
        if self.free_bias:
            keep_up = min(1.0, down / up) if up > 0 else 1.0
            keep_down = min(1.0, up / down) if down > 0 else 1.0
        w = factor * (keep_up * self._v[1] + keep_down * (self._v[0] - self._v[1]))
        worth = factor * (keep_up * run[WORTH_UP] + keep_down * run[WORTH_DOWN])
        # θβ is feasible for θ in [0, 1], and the dual of it at least θ worth − θ²/2 ‖w‖².
        norm = float(w @ w)
        theta = min(max(worth / norm, 0.0), 1.0) if norm > 0 else 1.0
        return max(float(theta * worth - 0.5 * theta**2 * norm), 0.0)


@kernel
def _learn(rows, loss, y, weights, order, vectors, run, rule):
    lam, curvature = rule.lam, rule.curvature
    v, v_up = vectors[0], vectors[1]
    for k in range(order.size):
        i = np.uint64(order[k])
        s = weights[i]
        norm = squared_norm(rows, i)
        offset = curvature * run[REACH]
        before = lam * run[WEIGHT] + offset
        scale = run[PHI] / before if run[WEIGHT] > 0.0 else 0.0
        z = scale * dot(rows, i, v)
        score = z + run[BIAS]
        g = subgradient(loss, score, y[i])
        run[WEIGHT] += s
        run[REACH] = max(run[REACH], s * (norm + rule.bias_rate))
        after = lam * run[WEIGHT] + curvature * run[REACH]
        keep = before / after if run[WEIGHT] > s else 0.0
        amount = -s * g
        run[NU] = keep * keep * run[NU] + amount / after * (2.0 * keep * z + amount / after * norm)
        if amount != 0.0:
            step = amount / run[PHI]
            worth = s * (value(loss, score, y[i]) - g * score) / run[PHI]
            add(rows, i, step, v)
            run[BIAS] += rule.bias_rate * amount / after
            if amount > 0.0:
                add(rows, i, step, v_up)
                run[UP] += step
                run[WORTH_UP] += worth
            else:
                run[DOWN] -= step
                run[WORTH_DOWN] += worth
        ball = run[RADIUS] / lam
        if rule.project and run[NU] > ball:
            run[PHI] *= np.sqrt(ball / run[NU])
            run[NU] = ball
            if run[PHI] < 1e-100:
                for j in range(v.size):
                    v[j] *= run[PHI]
                    v_up[j] *= run[PHI]
                for total in range(UP, WORTH_DOWN + 1):
                    run[total] *= run[PHI]
                run[PHI] = 1.0
