"""SVM-perf: cutting planes, the next one where the solution over those so far is most wrong.

    minimise   J(w) = ½‖w‖² + ξ   such that   ξ ≥ b_p − ⟨a_p, w⟩   for every set of rows p
               b_p = Σ_{i ∈ p} c_i,   a_p = Σ_{i ∈ p} c_i y_i x_i
    step       w ← the solution over the planes so far;   D ← its value, a lower bound of J*
               the plane that it violates most:   p = {i : y_i⟨w, x_i⟩ < 1}
    end        J(w) − D, by how much it is violated, is small

One pass finds the margins, p and a_p; a_p changes only by the rows that have changed sides.

Joachims 2006, "Training linear SVMs in linear time", algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pegasos.compiled import kernel
from pegasos.problem import Problem
from pegasos.rows import dot, prefetch_ahead
from pegasos.solvers.planes import CuttingPlanes, CuttingState, turn


@dataclass(frozen=True)
class SVMPerf(CuttingPlanes):
    """Cutting planes at the solutions over the planes so far.

    Parameters
    ----------
    keep : int, default=50
        A plane that has not been in use for so many iterations is dropped.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import Problem, SVMPerf, solve
    >>> X = np.random.default_rng(0).standard_normal((500, 4))
    >>> problem = Problem(X, np.sign(X @ [1.0, -1.0, 0.5, 0.0]), lam=0.1)
    >>> solve(problem, SVMPerf(), tol=1e-4).converged
    True
    """

    name: ClassVar[str] = "svm-perf"

    def cut(self, problem: Problem, state: CuttingState) -> tuple[float, float, float]:
        loss, offset = _cut(
            problem.rows,
            problem.y,
            problem.cost,
            problem.which,
            state.w,
            state.inside,
            state.normal,
        )
        return 0.5 * float(state.w @ state.w) + loss, offset, float(problem.m)


@kernel
def _cut(rows, y, cost, which, w, inside, normal):
    """The rows below their margin at w, and their sum; returns Σ c ℓ and Σ c over them."""
    loss, offset = 0.0, 0.0
    for k in range(which.size):
        prefetch_ahead(rows, which, k, which.size)
        i = np.uint64(which[k])
        short = 1.0 - y[i] * dot(rows, i, w)
        turn(rows, i, y[i] * cost[i], short > 0.0, inside, normal)
        if short > 0.0:
            loss += cost[i] * short
            offset += cost[i]
    return loss, offset
