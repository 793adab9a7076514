"""What the theorems on Pegasos promise, and for which of its variants.

With G a bound on all sub-gradients, after T ≥ 3 steps of length 1/(λt):

    with projection        ε(T) = G² ln T / (λT),          G = λr + LR    (hinge: (√λ + R)²)
    without, from w = 0    ε(T) = G² (1 + ln T) / (2λT),   G = 2LR

where r is the radius of the ball, L the largest slope of the loss and R = max s̃‖x‖.

    all rows in every step, averaged       f(w̄)   ≤ f* + ε(T)               Corollary 1
    i.i.d. draws, w_r for a random r       E f(w_r) ≤ f* + ε(T)             Theorem 2
                                           f(w_r)   ≤ f* + ε(T)/δ           Theorem 3, with 1 − δ
    the best of s = ⌈ln 1/δ⌉ such runs     f       ≤ f* + e ε(T/s)          after Theorem 3

Shalev-Shwartz, Singer & Srebro 2007, section 3. Without projection: Stratos, "Notes on Pegasos",
Eq. 6; the bound from the largest sub-gradient met is its Lemma 2.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pegasos.problem import Problem

if TYPE_CHECKING:
    from pegasos.solvers.pegasos import Pegasos


@dataclass(frozen=True)
class Guarantee:
    """f ≤ f* + epsilon, in which sense, and by which theorem; f = λJ is the mean objective."""

    epsilon: float
    sense: str
    theorem: str


def guarantee(
    solver: Pegasos,
    problem: Problem,
    steps: int,
    delta: float | None = None,
    boosted: bool = False,
) -> Guarantee:
    """What is promised after ``steps`` steps, or ValueError with the reason why nothing is.

    Parameters
    ----------
    solver : Pegasos
        Its variant picks the theorem.
    problem : Problem
        Gives λ, R, the loss and the ball.
    steps : int
        T ≥ 3; of all runs together where ``boosted``.
    delta : float, optional
        The allowed probability of failure. Without it the promise is on the expectation.
    boosted : bool, default=False
        For ``best_of`` with this delta.
    """
    if delta is not None and not 0 < delta < 1:
        raise ValueError(f"delta must lie between 0 and 1, not {delta!r}")
    everything = _covered(solver, problem)
    runs = 1
    if boosted:
        if delta is None or everything or solver.output != "random":
            raise ValueError(
                "boosting the confidence is for i.i.d. draws with output='random' and a delta"
            )
        runs = math.ceil(math.log(1 / delta))
    each = steps // runs
    if each < 3:
        raise ValueError(f"the theorems need at least 3 steps for each run, not {each}")
    squared, projected = _steepest(solver, problem)
    if projected:
        epsilon = squared * math.log(each) / (problem.lam * each)
    else:
        epsilon = squared * (1 + math.log(each)) / (2 * problem.lam * each)
    source = "" if projected else ", without projection: Stratos Eq. 6"
    if everything and solver.output == "average":
        return Guarantee(epsilon, "always", "Corollary 1" + source)
    if boosted:
        sense = f"with probability {1 - delta:g}, for the best of {runs} runs"  # type: ignore[operator]
        return Guarantee(math.e * epsilon, sense, "after Theorem 3" + source)
    if delta is None:
        return Guarantee(epsilon, "in expectation", "Theorem 2" + source)
    return Guarantee(epsilon / delta, f"with probability {1 - delta:g}", "Theorem 3" + source)


def steps_for(
    solver: Pegasos,
    problem: Problem,
    epsilon: float,
    delta: float | None = None,
    boosted: bool = False,
) -> int:
    """The fewest steps for which ``guarantee`` promises f ≤ f* + epsilon."""
    if not 0 < epsilon < math.inf:
        raise ValueError(f"epsilon must be positive and finite, not {epsilon!r}")
    runs = math.ceil(math.log(1 / delta)) if boosted and delta is not None else 1
    low, high = 2, 3  # steps of each run: too few, and perhaps enough
    while guarantee(solver, problem, high * runs, delta, boosted).epsilon > epsilon:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if guarantee(solver, problem, middle * runs, delta, boosted).epsilon > epsilon:
            low = middle
        else:
            high = middle
    return high * runs


def measured_bound(lam: float, largest_squared: float, steps: float) -> float:
    """G²(1 + ln T)/(2λT): a bound on (1/T) Σ f(w_t; A_t) − f(u; A_t) for every u in the ball.

    G is the largest sub-gradient that the run has met.
    """
    if steps < 1:
        raise ValueError("no step was made yet")
    return largest_squared * (1 + math.log(steps)) / (2 * lam * steps)


def _covered(solver: Pegasos, problem: Problem) -> bool:
    """Refuse what no theorem covers; true where every step takes all rows."""
    if problem.free_bias:
        raise ValueError(
            "no theorem covers a free bias: the objective is not strongly convex in b; "
            "use bias='feature' or 'none'"
        )
    if math.isinf(problem.loss.lipschitz):
        raise ValueError(f"loss {problem.loss.name!r} has unbounded slope; no theorem covers it")
    if not solver.project and solver.w1 is not None:
        raise ValueError("without projection the bound on the steps holds from w1 = 0 only")
    everything = solver.size(problem) == problem.m and solver.order != "iid"
    if not everything and solver.order != "iid":
        raise ValueError(
            f"order={solver.order or 'shuffle'!r} with batches of {solver.size(problem)} rows is "
            "not covered: use order='iid', or batch='all'"
        )
    if solver.output == "last":
        raise ValueError(
            "no theorem covers the last of a chosen number of steps: use output='random'"
            + (" or 'average'" if everything else "")
        )
    if solver.output == "average" and not everything:
        raise ValueError("for i.i.d. draws the theorems are about output='random'")
    return everything


def _steepest(solver: Pegasos, problem: Problem) -> tuple[float, bool]:
    """G², and whether it rests on the projection."""
    reach = problem.weights * problem.squared_norms**0.5
    R = problem.loss.lipschitz * float(reach[problem.which].max())
    if not solver.project:
        return (2 * R) ** 2, False
    return (math.sqrt(problem.lam * problem.radius) + R) ** 2, True
