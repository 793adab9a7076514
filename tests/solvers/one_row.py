"""Small problems for methods that read one row at a time, and the rows that such a run reads."""

from __future__ import annotations

from dataclasses import dataclass

import naive
import numpy as np
import scipy.sparse as sp

from pegasos import Problem
from pegasos.losses import LOSSES
from pegasos.solvers.one_row import POSITION

SEED = np.random.SeedSequence(5)


@dataclass
class OneRowCase:
    """Rows, targets, weights of mean one, λ and a loss (ε = 0.1)."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    lam: float
    loss: str

    def __str__(self) -> str:
        return self.loss + ("-weighted" if np.ptp(self.weights) > 0 else "")

    def problem(self, storage: str) -> Problem:
        labels = LOSSES[self.loss].labels
        loss = LOSSES[self.loss]() if labels else LOSSES[self.loss](0.1)
        X = sp.csr_array(self.X) if storage == "csr" else self.X
        return Problem(X, self.y, lam=self.lam, loss=loss, weights=self.weights)


def make(loss: str, weighted: bool = False, m: int = 23, lam: float = 0.03) -> OneRowCase:
    rng = np.random.default_rng(6)
    X = rng.standard_normal((m, 4)) * (rng.random((m, 4)) < 0.8)
    score = X @ [1.0, -1.0, 0.5, 0.2] + 0.4 * rng.standard_normal(m) + 0.2
    y = np.where(score > 0, 1.0, -1.0) if LOSSES[loss].labels else score
    weights = rng.uniform(0.3, 3.0, m) if weighted else np.ones(m)
    return OneRowCase(X, y, weights / weights.mean(), lam, loss)


CASES = [
    make("hinge"),
    make("hinge", weighted=True),
    make("logistic"),
    make("epsilon_insensitive"),
]


def presentations(problem, solver, n: int) -> np.ndarray:
    """The rows that the first n visits read, from the order that the solver keeps."""
    state = solver.start(problem, SEED)
    rows = []
    while len(rows) < n:
        position = int(state.run[POSITION])
        solver.advance(problem, state, 1, -1.0)
        rows.append(int(state.order[position]))
    return np.array(rows)


def state_after(problem, solver, n: int):
    """The state after n visits, whatever their portions."""
    state, done = solver.start(problem, SEED), 0.0
    while done < n:
        visits = solver.advance(problem, state, int(n - done), -1.0).visits
        assert visits > 0, f"the run ended after {done:.0f} visits"
        done += visits
    return state


def check_steps(problem, solver, case, order, wanted) -> None:
    """w as it is wanted after every step, and β the means of the slopes that are wanted with it."""
    slopes = []
    for t, (w, slope) in enumerate(wanted, start=1):
        slopes.append(slope)
        answer = solver.answer(problem, state_after(problem, solver, t))
        np.testing.assert_allclose(answer.w, w, rtol=1e-8, atol=1e-10)
        beta = naive.mean_slopes(slopes, order, problem.m, case.lam)
        np.testing.assert_allclose(answer.beta, beta, rtol=1e-8, atol=1e-10)


def overlapping(loss: str = "hinge", lam: float = 0.01, m: int = 2000) -> Problem:
    """Five features on one scale, of falling worth, and noise: a tenth of the rows is wrong."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((m, 5))
    score = X @ np.linspace(1.0, 0.0, 5) + 0.5 * rng.standard_normal(m)
    y = np.where(score > 0, 1.0, -1.0) if LOSSES[loss].labels else score
    return Problem(X, y, lam=lam, loss=loss)
