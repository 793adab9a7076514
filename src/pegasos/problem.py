"""Problem: what is solved. Rows, targets, weights, loss, λ, and how the bias is treated.

f(w, b) = λ/2 ‖w‖² + (1/W) Σ s_i ℓ(y_i, ⟨w, x_i⟩ + b),   W = Σ s_i
J(w, b) = f/λ = ½‖w‖² + Σ c_i ℓ(y_i, ⟨w, x_i⟩ + b),       c_i = C s_i,  C = 1/(λW)
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pegasos.losses import TINY, Logistic, Loss, as_loss, best_bias, radius, total_loss
from pegasos.rows import Intake, in_order, part, scores, take_in
from pegasos.rows.intake import refuse_masked

BIASES = ("none", "feature", "free")


class Problem:
    """A linear problem: rows, targets, weights, loss, λ and the treatment of the bias.

    Parameters
    ----------
    X : array, sparse matrix or StoredRows of shape (m, d)
        The rows. CSR and C-ordered tables of any real type are used as they are, without a copy;
        those of a store (``pegasos.data.open_store``) are read block by block.
    y : array of shape (m,)
        Labels −1 and +1 for hinge, squared hinge and logistic; numbers for the others.
    lam : float, optional
        λ, the weight of ½‖w‖² against the mean loss. Exactly one of ``lam`` and ``C`` is given.
    C : float, optional
        The weight of the summed loss against ½‖w‖²; ``C = 1 / (lam * sum(weights))``.
    loss : str or loss object, default="hinge"
        One of ``"hinge"``, ``"squared_hinge"``, ``"logistic"``, ``"epsilon_insensitive"``,
        ``"squared_epsilon_insensitive"``, or an object such as ``EpsilonInsensitive(0.5)``.
    weights : array of shape (m,), optional
        s_i ≥ 0. A weight of 2 is the same as the row twice; rows of weight 0 do not exist.
    bias : {"none", "feature", "free"}, default="none"
        No bias; a constant feature, which is penalised like any other; or a b that costs nothing.
    intercept_scaling : float, default=1.0
        The value of the constant feature.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import Problem
    >>> problem = Problem(np.array([[1.0, 0.0], [0.0, 2.0]]), [1, -1], C=1.0, bias="free")
    >>> problem.lam
    0.5
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        lam: float | None = None,
        C: float | None = None,
        loss: str | Loss = "hinge",
        weights: Any = None,
        bias: str = "none",
        intercept_scaling: float = 1.0,
    ):
        if bias not in BIASES:
            raise ValueError(f"bias must be one of {', '.join(BIASES)}, not {bias!r}")
        self.intake: Intake = take_in(X)
        self.loss = as_loss(loss)
        self.bias = bias
        self.constant = _positive("intercept_scaling", intercept_scaling)
        if self.constant > 1e150:
            raise ValueError(f"intercept_scaling={self.constant:g} is too large: its square counts")
        if bias != "feature":
            self.constant = 0.0
        self.rows = self.intake.rows._replace(constant=self.constant)
        weights = self._take_weights(weights)
        self.y = self._take_targets(y, weights)
        self.shift = 0.0
        if bias == "free" and not self.loss.labels:
            # Far from zero, Σ y β would cancel; b takes the shift back in the solution.
            self.shift = float(np.median(self.y[weights > 0]))
            self.y -= self.shift
        total = float(weights.sum())
        if (lam is None) == (C is None):
            raise ValueError("give exactly one of lam and C (C = 1 / (lam * sum of weights))")
        if lam is not None:
            self.lam = _positive("lam", lam)
            self.C = _positive("C = 1 / (lam * sum of weights)", 1.0 / (self.lam * total))
        else:
            self.C = _positive("C", C)
            self.lam = _positive("lam = 1 / (C * sum of weights)", 1.0 / (self.C * total))
        self.cost = self.C * weights
        self.which = np.flatnonzero(weights).astype(np.uint32)
        self.m = self.which.size

    def _take_weights(self, weights: Any) -> np.ndarray:
        m = self.intake.n_rows
        if weights is None:
            return np.ones(m)
        refuse_masked(weights, "weights")
        weights = np.asarray(weights)
        if weights.dtype.kind not in "buif":
            raise ValueError(f"weights must be numbers, not {weights.dtype}")
        weights = weights.astype(np.float64)
        if weights.shape != (m,):
            raise ValueError(f"weights have shape {weights.shape}, but X has {m} rows")
        for wrong, word in ((~np.isfinite(weights), "finite"), (weights < 0, "zero or positive")):
            if wrong.any():
                row = int(np.flatnonzero(wrong)[0])
                raise ValueError(f"weights must be {word}; row {row} has {weights[row]}")
        if not weights.any():
            raise ValueError("all weights are zero: there is no row to learn from")
        return weights

    def _take_targets(self, y: Any, weights: np.ndarray) -> np.ndarray:
        m = self.intake.n_rows
        refuse_masked(y, "y")
        y = np.asarray(y)
        if y.shape != (m,):
            raise ValueError(f"y has shape {y.shape}, but X has {m} rows")
        if y.dtype.kind not in "buif":
            advice = "; LinearSVC takes labels of any type" if self.loss.labels else ""
            raise ValueError(f"y must hold numbers, not {y.dtype}{advice}")
        y = y.astype(np.float64)
        used = weights > 0
        wrong = used & ~np.isfinite(y)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise ValueError(f"Input y contains {y[row]} (NaN or infinity) in row {row}")
        if self.loss.labels:
            wrong = used & (np.abs(y) != 1.0)
            if wrong.any():
                row = int(np.flatnonzero(wrong)[0])
                raise ValueError(
                    f"with loss {self.loss.name!r} the labels must be -1 and +1; "
                    f"row {row} has {y[row]:g}"
                )
            return np.where(used, y, 0.0).astype(np.int8)
        return np.where(used, y, 0.0)

    def with_targets(self, y: Any, weights: Any = None) -> Problem:
        """The same rows, C, loss and bias with other targets and weights; X is not read again."""
        return Problem(
            self.intake,
            y,
            C=self.C,
            loss=self.loss,
            weights=weights,
            bias=self.bias,
            intercept_scaling=self.constant or 1.0,
        )

    @property
    def stored(self) -> bool:
        """Whether the rows lie in files, to be read block by block."""
        return self.intake.blocks is not None

    def in_order(self) -> Iterator[np.ndarray]:
        """The rows that count, some after the other, each in memory while it is yielded."""
        for first, last in self.spans_of(lambda a, b: self._place_of(b) > self._place_of(a)):
            yield self.which[self._place_of(first) : self._place_of(last)]

    def spans_of(self, wanted: Callable[[int, int], bool]) -> Iterator[tuple[int, int]]:
        """The spans of rows that are wanted, each in memory while it is yielded."""
        blocks = self.intake.blocks
        if blocks is None:
            yield 0, self.intake.n_rows
            return
        yield from blocks.in_order([span for span in blocks.spans() if wanted(*span)])

    def _place_of(self, row: int) -> int:
        """How many of the rows before this one count."""
        return int(np.searchsorted(self.which, self.which.dtype.type(row)))

    def check_attained(self) -> None:
        """Refuse a problem without a minimum: with one class a free bias goes to infinity."""
        if not (self.free_bias and isinstance(self.loss, Logistic)):
            return
        y = self.y[self.which]
        if (y == y[0]).all():
            raise ValueError(
                f"all labels are {y[0]:+d}: with the logistic loss and a free bias the objective "
                "has no minimum; give rows of both classes, or bias='feature' or 'none'"
            )

    @property
    def d(self) -> int:
        """The length of w: the features, and the constant one where there is one."""
        return self.intake.n_features + (self.constant != 0.0)

    @property
    def free_bias(self) -> bool:
        return self.bias == "free"

    @functools.cached_property
    def weights(self) -> np.ndarray:
        """s̃_i: the weights scaled to a mean of one over the rows that count."""
        return self.cost * (self.lam * self.m)

    @functools.cached_property
    def squared_norms(self) -> np.ndarray:
        """‖x_i‖² with the constant feature, and a tiny number for empty rows."""
        norms = self.intake.squared_norms
        if self.constant == 0.0 and norms.min() > 0.0:
            return norms
        return np.maximum(norms + self.constant**2, TINY)

    @functools.cached_property
    def reach(self) -> float:
        """max s̃_i ‖x_i‖²."""
        return float(np.max((self.weights * self.squared_norms)[self.which]))

    @functools.cached_property
    def radius(self) -> float:
        """A bound on λ‖w*‖²."""
        y, weights = self.y[self.which], self.weights[self.which]
        return radius(self.loss, y, weights, self.free_bias)

    @functools.cached_property
    def zero_objective(self) -> float:
        """P₀: the objective at w = 0 with the best b, the scale of all rounding."""
        y, cost = self.y, self.cost
        if self.loss.labels:  # all rows of a class are alike
            y = np.array([1, -1], dtype=np.int8)
            cost = np.array([float(self.cost[self.y == label].sum()) for label in y])
        zero = np.zeros(y.size)
        b = best_bias(self.loss, zero, y, cost) if self.free_bias else 0.0
        return float(total_loss(self.loss, zero, b, y, cost))

    @property
    def signs(self) -> np.ndarray | float:
        """What turns the coefficients β of the rows into the dual variables α: β = α · sign."""
        return self.y if self.loss.labels else 1.0

    def fingerprint(self) -> str:
        """A hash that tells whether a checkpoint belongs to this problem."""
        digest = hashlib.sha256()
        for array in (self.y, self.cost, self._projected_rows):
            digest.update(np.ascontiguousarray(array).tobytes())
        facts = (
            self.d,
            self.shift,
            self.lam,
            self.loss.name,
            tuple(self.loss),
            self.bias,
            self.constant,
        )
        digest.update(repr(facts).encode())
        return digest.hexdigest()

    @functools.cached_property
    def _projected_rows(self) -> np.ndarray:
        """⟨r, x_i⟩ for a fixed random r: other rows would give other numbers."""
        direction = np.random.default_rng(0).standard_normal((self.d, 1))
        out = np.empty((self.intake.n_rows, 1))
        for first, last in in_order(self.intake.blocks, self.intake.n_rows):
            scores(part(self.rows, first, last), direction, np.zeros(1), out[first:last])
        return out

    def __repr__(self) -> str:
        return (
            f"Problem({self.m} rows, {self.intake.n_features} features, "
            f"loss={self.loss.name!r}, lam={self.lam:g}, C={self.C:g}, bias={self.bias!r})"
        )


def _positive(name: str, number: Any) -> float:
    try:
        value = float(number)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a positive number, not {number!r}") from None
    if not 0.0 < value < math.inf:
        raise ValueError(f"{name} must be positive and finite, not {value!r}")
    return value
