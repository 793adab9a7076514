"""Random problems for the tests, a third of them hard, and what is expected of every solution."""

from __future__ import annotations

from dataclasses import dataclass

import naive
import numpy as np
import scipy.sparse as sp

from pegasos import Problem
from pegasos.losses import LOSSES

BIASES = ("none", "feature", "free")


@dataclass
class Case:
    """A problem, and the same data in the plain form that naive.py takes."""

    problem: Problem
    X: np.ndarray  # with the constant feature as a column, where there is one
    y: np.ndarray
    cost: np.ndarray
    loss: str
    epsilon: float
    bias: str  # "none" or "free"

    def reference(self):
        return naive.reference_interval(
            self.X, self.y, self.cost, self.loss, self.epsilon, self.bias
        )

    def check(self, solution) -> None:
        """The certificate is about exactly this w, b and alpha, to 1e-9, and D in both ways."""
        loss, problem = self.loss, self.problem
        w, b = solution.w, solution.b
        if problem.bias == "feature":
            w, b = np.append(w, b / problem.constant), 0.0
        beta = solution.alpha * (self.y if LOSSES[loss].labels else 1.0)
        proof = solution.certificate
        naive.check_certificate(
            self.X, self.y, self.cost, w, b, beta, proof, loss, self.epsilon, self.bias
        )
        dual = naive.dual(self.X, self.y, self.cost, beta, loss, self.epsilon)
        scale = abs(proof.primal) + problem.zero_objective
        assert abs(proof.dual - dual) <= 1e-9 * scale, f"dual is {dual!r}, not {proof.dual!r}"


def make_case(
    seed: int,
    loss: str = "hinge",
    bias: str = "none",
    storage: str = "dense",
    dtype: str = "float64",
    hard: bool = False,
    weighted: bool = False,
    m: int = 40,
    d: int = 6,
) -> Case:
    """A random problem. Hard: overlapping classes, rows on scales over three decades, large C."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d)) * (rng.random((m, d)) < 0.7)
    if hard:
        X *= 10.0 ** rng.uniform(-1.5, 1.5, d)
        X[rng.random(m) < 0.1] = 0.0
        repeated = rng.integers(m, size=m // 5)
        X[rng.integers(m, size=m // 5)] = X[repeated]
    X = X.astype(dtype)
    score = X.astype(float) @ rng.standard_normal(d)
    noise = (3.0 if hard else 0.5) * (score.std() + 0.1)
    target = score + noise * rng.standard_normal(m) + 0.3
    labels = LOSSES[loss].labels
    y = np.where(target > 0, 1.0, -1.0) if labels else target
    if labels:
        y[:2] = 1.0, -1.0
    C = 10.0 ** (rng.uniform(-1, 3) if hard else rng.uniform(-2, 1))
    weights = 10.0 ** rng.uniform(-1.5, 1.5, m) if weighted else np.ones(m)
    if weighted:
        weights[rng.random(m) < 0.1] = 0.0
        weights[:2] = 1.0
    epsilon = 0.1
    made = LOSSES[loss]() if labels else LOSSES[loss](epsilon)
    stored = sp.csr_array(X) if storage == "csr" else X
    problem = Problem(stored, y, C=C, loss=made, weights=weights, bias=bias, intercept_scaling=2.0)
    used = weights > 0
    plain = X.astype(float)[used]
    if bias == "feature":
        plain = np.column_stack([plain, np.full(used.sum(), 2.0)])
    case = Case(
        problem,
        plain,
        y[used],
        C * weights[used],
        loss,
        epsilon,
        "free" if bias == "free" else "none",
    )
    return case if used.all() else _only_used(case, used)


def _only_used(case: Case, used: np.ndarray) -> Case:
    """Let the check see only the rows that exist: rows of weight zero must have alpha 0."""
    check = case.check

    def check_used(solution):
        assert not solution.alpha[~used].any()
        check(_Without(solution, solution.alpha[used]))

    case.check = check_used  # type: ignore[method-assign]
    return case


class _Without:
    """A solution with another alpha."""

    def __init__(self, solution, alpha):
        self.w, self.b, self.certificate = solution.w, solution.b, solution.certificate
        self.alpha = alpha
