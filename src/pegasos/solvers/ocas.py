"""OCAS: cutting planes near the best point so far, which an exact line search moves.

    minimise   J(w) = ½‖w‖² + Σ c_i max(0, 1 − y_i⟨w, x_i⟩)
    step       w ← the solution over the planes so far;   D ← its value, a lower bound of J*
               v ← v + t (w − v),   t ≥ 0 the minimiser of J along the way
               the plane that touches J's loss at v + μ (w − v)
    end        J(v) − D is small

The margins of v and w are kept, so that one pass for those of w is all that a step needs; the rows
that have changed sides since the last plane are read once more, to be added to its normal. Along
the way J is a parabola with a kink wherever a row crosses its margin: t is found among the kinks by
selection, in linear time.

Franc & Sonnenburg 2008, "Optimized cutting plane algorithm for support vector machines",
algorithm 2 and section 3; μ = 0.1 is theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from pegasos.certificate import Answer
from pegasos.compiled import kernel, part
from pegasos.problem import Problem
from pegasos.rows import dot, prefetch_ahead
from pegasos.solvers.planes import STEPS, CuttingPlanes, CuttingState, turn


@dataclass
class OCASState(CuttingState):
    """With the best point so far, and its margins."""

    best: np.ndarray  # v
    margins: np.ndarray  # y_i⟨v, x_i⟩


@dataclass(frozen=True)
class OCAS(CuttingPlanes):
    """Cutting planes near the best point so far, with an exact line search.

    Parameters
    ----------
    keep : int, default=50
        A plane that has not been in use for so many iterations is dropped.
    mu : float, default=0.1
        Where the next plane touches: at the best point, moved by this share of the way to the
        solution over the planes.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import OCAS, Problem, solve
    >>> X = np.random.default_rng(0).standard_normal((500, 4))
    >>> problem = Problem(X, np.sign(X @ [1.0, -1.0, 0.5, 0.0]), lam=0.1)
    >>> solve(problem, OCAS(), tol=1e-4).converged
    True
    """

    mu: float = 0.1

    name: ClassVar[str] = "ocas"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.mu <= 1.0:
            raise ValueError(f"mu must be above 0 and at most 1, not {self.mu!r}")

    def start(
        self, problem: Problem, seed: np.random.SeedSequence, warm: Answer | None = None
    ) -> OCASState:
        state = super().start(problem, seed, warm)
        return OCASState(**vars(state), best=state.w.copy(), margins=np.zeros(problem.y.size))

    def cut(self, problem: Problem, state: Any) -> tuple[float, float, float]:
        new, kinks, jumps = np.zeros((3, problem.y.size))
        _margins(problem.rows, problem.y, problem.which, state.w, new)
        length = 0.0
        if state.run[STEPS] == 0:
            state.margins[:] = new
        else:
            way = state.w - state.best
            count, slope = _kinks(problem.cost, problem.which, state.margins, new, kinks, jumps)
            slope += float(state.best @ way)
            length = crossing(kinks[:count], jumps[:count], slope, float(way @ way))
            state.best += length * way
        loss, offset, read = _cut(
            problem.rows,
            problem.y,
            problem.cost,
            problem.which,
            length,
            self.mu,
            state.margins,
            new,
            state.inside,
            state.normal,
        )
        return 0.5 * float(state.best @ state.best) + loss, offset, problem.m + read

    def answer(self, problem: Problem, state: Any) -> Answer:
        return replace(super().answer(problem, state), w=state.best)


@kernel
def _margins(rows, y, which, w, margins):
    """margins_i = y_i⟨w, x_i⟩."""
    for k in range(which.size):
        prefetch_ahead(rows, which, k, which.size)
        i = np.uint64(which[k])
        margins[i] = y[i] * dot(rows, i, w)


@kernel
def _kinks(cost, which, margins, new, kinks, jumps):
    """Where on the way from v to w, and beyond, rows cross their margin, and by how much the slope
    of the loss rises there. Returns how many do, and its slope at the beginning."""
    count, slope = 0, 0.0
    for k in range(which.size):
        i = which[k]
        short, change = 1.0 - margins[i], new[i] - margins[i]
        if short > 0.0 or (short == 0.0 and change < 0.0):
            slope -= cost[i] * change
        if short * change > 0.0:
            kinks[count] = short / change
            jumps[count] = cost[i] * abs(change)
            count += 1
    return count, slope


@kernel
def crossing(kinks, jumps, slope, bend):
    """The t ≥ 0 at which slope + bend · t + Σ_{kinks < t} jumps is zero, or passes it at a kink.

    Zero where the slope already is not negative. Both arrays are permuted.
    """
    if slope >= 0.0 or bend <= 0.0:
        return 0.0
    first, last = 0, kinks.size
    while first < last:
        pivot, smaller, larger, below, at = part(kinks, jumps, first, last)
        before = slope + below + bend * pivot
        if before >= 0.0:
            last = smaller
        elif before + at >= 0.0:
            return pivot
        else:
            slope += below + at
            first = larger
    return -slope / bend


@kernel
def _cut(rows, y, cost, which, length, mu, margins, new, inside, normal):
    """Move the margins of v; the rows below their margin at v + μ (w − v), and their sum.

    Returns Σ c ℓ at v, Σ c over these rows, and how many were read.
    """
    loss, offset, read = 0.0, 0.0, 0.0
    for k in range(which.size):
        i = np.uint64(which[k])
        margins[i] += length * (new[i] - margins[i])
        loss += cost[i] * max(1.0 - margins[i], 0.0)
        below = margins[i] + mu * (new[i] - margins[i]) < 1.0
        read += turn(rows, i, y[i] * cost[i], below, inside, normal)
        if below:
            offset += cost[i]
    return loss, offset, read
