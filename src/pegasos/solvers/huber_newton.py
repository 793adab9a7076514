"""Newton on the primal, for few features: kinks rounded into parabolas that shrink to nothing.

    minimise   J_h(w, b) = ½‖w‖² + Σ c_i ℓ_h(y_i, z_i),   z_i = ⟨w, x_i⟩ + b,
               ℓ_h = ℓ with each kink rounded over ± h; a loss without kinks is taken as it is
    step       (I + Xᵀ diag(c ℓ_h″) X) p = Σ β_i x_i − w,   β_i = −c_i ℓ_h′(z_i);   w ← w + t p
               with the t that minimises J_h along p
    width      once what is left of the gap at this h is no more than the gap of the rounding
               itself, h ← h · √(0.4 goal J / rounding), within 0.15 … 0.6

β is feasible at every step, so every step has a gap, a sum of two that are not negative:
½‖w − Σ β x‖², which is what is left at this h, and Σ c ℓ − d + z β, the rounding. A free bias is one
more coordinate of w, whose gradient Σ β vanishes with the others. The first steps are taken on m/64,
m/16 and m/4 of the rows at random; the w of each is the start of the next.

Newton's method on the rounded hinge: Keerthi & DeCoste 2005, "A modified finite Newton method for
fast solution of large scale linear SVMs"; Chapelle 2007, "Training a support vector machine in the
primal". The path in h, its rule and the sub-samples are ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from pegasos.certificate import Answer, View
from pegasos.compiled import kernel
from pegasos.losses import dual_value, smoothed, value
from pegasos.problem import Problem
from pegasos.rows import Rows, add, add_gram, dot, prefetch_ahead
from pegasos.solvers.contract import RUNNING, STALLED, Report, Solver, Solves, State

MOST_FEATURES = 4000  # each step solves a system of so many: 128 MB
LEVELS = (64, 16, 4, 1)  # the rows ÷ those of each sub-sample
RUN_OF_ROWS = 16  # neighbours that a sub-sample takes together
FIRST_WIDTH = 2.0
MOST_STEPS = 30  # on one sub-sample
PATIENCE = 25  # steps without a smaller gap before a run is stalled

# The numbers of a run.
LEVEL, WIDTH, LENGTH, STEPS, BEST, IDLE, AIM = range(7)


class Level(NamedTuple):
    """The rows that are at work, and their numbers in the same order."""

    which: np.ndarray
    z: np.ndarray
    along: np.ndarray  # what a whole step would add to z
    beta: np.ndarray
    bend: np.ndarray  # c ℓ_h″


@dataclass
class HuberNewtonState(State):
    """w, Σ β x, and the level's arrays."""

    w: np.ndarray
    w_beta: np.ndarray
    which: np.ndarray
    z: np.ndarray
    along: np.ndarray
    beta: np.ndarray
    bend: np.ndarray
    run: np.ndarray
    seed: np.ndarray

    @property
    def level(self) -> Level:
        return Level(self.which, self.z, self.along, self.beta, self.bend)

    @property
    def full(self) -> bool:
        return LEVELS[int(self.run[LEVEL])] == 1


@dataclass(frozen=True)
class HuberNewton(Solver):
    """Newton's method on the primal, for few features and many rows.

    Parameters
    ----------
    samples : bool, default=True
        Take the first steps on m/64, m/16 and m/4 of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import HuberNewton, Problem, solve
    >>> X = np.random.default_rng(0).standard_normal((5000, 4))
    >>> problem = Problem(X, np.sign(X @ [1.0, -1.0, 0.5, 0.0] + 0.2), C=1.0, bias="free")
    >>> solve(problem, HuberNewton(), tol=1e-4).converged
    True
    """

    samples: bool = True

    name: ClassVar[str] = "huber-newton"
    solves: ClassVar[Solves] = Solves(estimates=True)

    def check(self, problem: Problem) -> None:
        super().check(problem)
        refuse_many_features(self.name, problem)

    def start(
        self, problem: Problem, seed: np.random.SeedSequence, warm: Answer | View | None = None
    ) -> HuberNewtonState:
        none = np.zeros(0)
        size = problem.d + problem.free_bias
        state = HuberNewtonState(
            w=np.zeros(size),
            w_beta=np.zeros(size),
            which=problem.which,
            z=none,
            along=none,
            beta=none,
            bend=none,
            run=np.zeros(7),
            seed=seed.generate_state(2, np.uint64),
        )
        state.run[[WIDTH, AIM]] = FIRST_WIDTH, 1.0
        if warm is not None:
            state.w[: problem.d] = warm.w
            if problem.free_bias:
                state.w[-1] = warm.b
        sampled = self.samples and warm is None
        self._enter(problem, state, 0 if sampled else len(LEVELS) - 1)
        return state

    def _enter(self, problem: Problem, state: HuberNewtonState, level: int) -> None:
        """Take the rows of this level, or of the next one that has enough of them."""
        size, m = state.w.size, problem.m
        while level < len(LEVELS) - 1 and m // LEVELS[level] < max(10 * size, 1000):
            level += 1
        state.run[[LEVEL, STEPS, LENGTH, IDLE]] = level, 0, 0, 0
        state.run[BEST] = math.inf
        state.which = problem.which
        if not state.full:
            rng = np.random.default_rng([*map(int, state.seed), level])
            runs = rng.choice(m // RUN_OF_ROWS, m // LEVELS[level] // RUN_OF_ROWS, replace=False)
            runs.sort()
            state.which = problem.which[(runs[:, None] * RUN_OF_ROWS + range(RUN_OF_ROWS)).ravel()]
        state.z, state.along, state.beta, state.bend = np.zeros((4, state.which.size))
        state.w_beta[:] = 0.0
        dot_all(widened(problem), state.which, state.w, state.z)

    def advance(
        self, problem: Problem, state: HuberNewtonState, visits: int, goal: float
    ) -> Report:
        report = Report(0.0)
        while report.visits < visits and report.status == RUNNING and not report.look:
            self._step(problem, state, max(goal, 0.0), report)
        return report

    def _step(self, problem: Problem, state: HuberNewtonState, goal: float, report: Report) -> None:
        """Arrive where the last step leads, and find the next."""
        run, k = state.run, state.which.size
        primal, rest, rounding = self._arrive(problem, state, report)
        gap = rest + rounding
        run[STEPS] += 1
        goal *= run[AIM]
        if state.full:
            report.gap_estimate = gap / (primal - gap) if gap < primal else math.inf
            run[IDLE] = 0 if gap < 0.9 * run[BEST] else run[IDLE] + 1
            run[BEST] = min(run[BEST], gap)
            report.look = report.gap_estimate <= 0.97 * goal
            if run[IDLE] > PATIENCE:
                report.status, report.note = STALLED, "no smaller gap in the last steps"
            if report.look or report.status == STALLED:
                return
        else:
            # What is less than the sub-sample's own error is not worth a step.
            goal = max(0.5 * goal, 0.3 * state.w.size / k)
            enough = max(goal, state.w.size / k) * primal
            near = rest <= 0.5 * rounding and rounding <= enough
            if near or gap <= goal * primal or run[STEPS] >= MOST_STEPS:
                self._enter(problem, state, int(run[LEVEL]) + 1)
                report.visits += state.which.size
                return
        if rest <= rounding and run[STEPS] > 1:
            shrink = math.sqrt(0.4 * goal * primal / rounding) if rounding > 0 else 0.0
            run[WIDTH] *= min(max(shrink, 0.15), 0.6)
            self._arrive(problem, state, report)
        if not self._turn(problem, state, report):
            report.status, report.note = STALLED, "the Newton system cannot be solved"

    def _arrive(
        self, problem: Problem, state: HuberNewtonState, report: Report
    ) -> tuple[float, float, float]:
        """z, β and Σ β x after the step; returns J and the two parts of the gap."""
        run = state.run
        loss, rounding, moved = _arrive(
            widened(problem),
            problem.loss,
            problem.y,
            problem.cost,
            state.level,
            state.w_beta,
            run[LENGTH],
            run[WIDTH],
            problem.m / state.which.size,
        )
        run[LENGTH] = 0.0
        report.visits += moved
        w, short = state.w[: problem.d], (state.w - state.w_beta)[: problem.d]
        rest = 0.5 * float(short @ short)
        if problem.free_bias:
            rest += 0.5 * abs(state.w_beta[-1])
        return 0.5 * float(w @ w) + loss, rest, max(rounding, 0.0)

    def _turn(self, problem: Problem, state: HuberNewtonState, report: Report) -> bool:
        """Newton's direction, and how far to go along it."""
        rows, level, size = widened(problem), state.level, state.w.size
        penalty = np.ones(size)
        penalty[problem.d :] = 0.0
        bent = np.flatnonzero(level.bend)
        hessian = np.zeros((size, size), order="F")
        add_gram(rows, level.which[bent], level.bend[bent], hessian)
        if problem.free_bias:  # with no row on its kink nothing would hold b
            total = float(problem.cost.sum()) / state.run[WIDTH]
            hessian[-1, -1] = max(hessian[-1, -1], 1e-6 * total)
        gradient = penalty * state.w - state.w_beta
        factor = factored(hessian, penalty)
        if factor is None:
            return False
        step = -cho_solve(factor, gradient, check_finite=False)
        report.visits += bent.size + level.which.size
        dot_all(rows, level.which, step, level.along)
        w, p = penalty * state.w, penalty * step
        first, second = float(w @ step), float(p @ step)

        def slope(t: float) -> float:
            return (
                first
                + t * second
                + _slope_along(
                    problem.loss,
                    problem.y,
                    problem.cost,
                    level,
                    t,
                    state.run[WIDTH],
                    problem.m / level.which.size,
                )
            )

        t = where_it_is_level(slope, float(gradient @ step))
        state.w += t * step
        state.run[LENGTH] = t
        return True

    def answer(self, problem: Problem, state: HuberNewtonState) -> Answer:
        beta = np.zeros(problem.y.size)
        z = state.z + state.run[LENGTH] * state.along
        if not state.full:
            z = np.empty(problem.m)
            dot_all(widened(problem), problem.which, state.w, z)
        _slopes(problem.loss, problem.y, problem.cost, problem.which, z, state.run[WIDTH], beta)
        b = float(state.w[-1]) if problem.free_bias else 0.0
        return Answer(state.w[: problem.d], b, beta)

    def looked(self, problem: Problem, state: HuberNewtonState, view: View) -> None:
        """The estimate was too small: aim lower."""
        state.run[AIM] *= 0.5


def refuse_many_features(name: str, problem: Problem) -> None:
    """A system of d × d must fit the memory."""
    if problem.d > MOST_FEATURES:
        raise ValueError(
            f"{name} solves a system of {problem.d} × {problem.d} in every step, and takes up to "
            f"{MOST_FEATURES} features; use solver='dual-ascent'"
        )


def widened(problem: Problem) -> Rows:
    """The rows with a constant feature for a free bias: b is then the last entry of w."""
    return problem.rows._replace(constant=1.0) if problem.free_bias else problem.rows


def factored(matrix: np.ndarray, penalty: np.ndarray) -> tuple | None:
    """A Cholesky factor of matrix + diag(penalty) from the lower triangle, or None."""
    diagonal = np.diag_indices_from(matrix)
    matrix[diagonal] += penalty
    largest = float(matrix[diagonal].max())
    for ridge in (0.0, 1e-14, 1e-11, 1e-8):
        matrix[diagonal] += ridge * largest
        try:
            factor = cho_factor(matrix, lower=True, check_finite=False)
        except LinAlgError:
            continue
        if np.isfinite(factor[0][diagonal]).all():
            return factor
    return None


def where_it_is_level(slope: Callable[[float], float], at_zero: float) -> float:
    """The t > 0 at which an increasing function, negative at 0, is nearly zero."""
    t, now = 1.0, slope(1.0)
    low, below, high, above = 0.0, at_zero, math.inf, math.inf
    if abs(now) <= 0.4 * abs(at_zero):
        return t
    for _ in range(20):
        if now > 0:
            high, above = t, now
        else:
            low, below = t, now
        if math.isinf(high):
            t *= 2.0
        else:
            t = low + (high - low) * min(max(-below / (above - below), 0.1), 0.9)
        now = slope(t)
        if abs(now) <= 0.2 * abs(at_zero):
            break
    return t


@kernel
def dot_all(rows, which, w, out):
    """out_k = ⟨w, x⟩ for row which_k."""
    for k in range(which.size):
        prefetch_ahead(rows, which, k, which.size)
        out[k] = dot(rows, np.uint64(which[k]), w)


@kernel
def _arrive(rows, loss, y, cost, level, w_beta, length, width, factor):
    """Returns Σ c ℓ, the rounding, and how many rows have moved."""
    total, rounding, moved = 0.0, 0.0, 0
    for k in range(level.which.size):
        i = np.uint64(level.which[k])
        z = level.z[k] + length * level.along[k]
        c = factor * cost[i]
        slope, curvature = smoothed(loss, z, y[i], width)
        beta = -c * slope
        local = c * value(loss, z, y[i])
        total += local
        if slope != 0.0 or local != 0.0:
            rounding += local - dual_value(loss, beta, y[i], c) + z * beta
        level.z[k] = z
        level.bend[k] = c * curvature
        if beta != level.beta[k]:
            prefetch_ahead(rows, level.which, k, level.which.size)
            add(rows, i, beta - level.beta[k], w_beta)
            level.beta[k] = beta
            moved += 1
    return total, rounding, moved


@kernel
def _slope_along(loss, y, cost, level, t, width, factor):
    """Σ c ℓ_h′(z + t · along) · along."""
    total = 0.0
    for k in range(level.which.size):
        i = np.uint64(level.which[k])
        slope, _ = smoothed(loss, level.z[k] + t * level.along[k], y[i], width)
        total += cost[i] * slope * level.along[k]
    return factor * total


@kernel
def _slopes(loss, y, cost, which, z, width, beta):
    """β = −c ℓ_h′."""
    for k in range(which.size):
        i = np.uint64(which[k])
        slope, _ = smoothed(loss, z[k], y[i], width)
        beta[i] = -cost[i] * slope
