"""Newton on the primal, for few features: kinks rounded into parabolas that shrink to nothing.

    minimise   J_h(w, b) = ½‖w‖² + Σ c_i ℓ_h(y_i, z_i),   z_i = ⟨w, x_i⟩ + b,
               ℓ_h = ℓ with each kink rounded over ± h; a loss without kinks is taken as it is
    step       (I + Xᵀ diag(c ℓ_h″) X) p = Σ β_i x_i − w,   β_i = −c_i ℓ_h′(z_i);   w ← w + t p
               with the t that minimises J_h along p
    width      once what is left of the gap at this h is no more than the gap of the rounding
               itself, h ← h · √(0.4 goal J / rounding), within 0.15 … 0.6 (0.7 on a sub-sample)

β is feasible at every step, so every step has a gap, a sum of two that are not negative:
½‖w − Σ β x‖², which is what is left at this h, and Σ c ℓ − d + z β, the rounding. A free bias is
one more coordinate of w, whose gradient Σ β vanishes with the others. The first steps are taken on
m/100 and m/10 of the rows at random; the w of each is the start of the next.

Newton's method on the rounded hinge: Keerthi & DeCoste 2005, "A modified finite Newton method for
fast solution of large scale linear SVMs"; Chapelle 2007, "Training a support vector machine in the
primal". The path in h, its rule and the sub-samples are ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from pegasos.certificate import Answer, View
from pegasos.compiled import kernel
from pegasos.losses import dual_value, smoothed, value
from pegasos.problem import Problem
from pegasos.rows import Rows, add, add_gram, dot, system_flops
from pegasos.solvers.contract import RUNNING, STALLED, Report, Solver, Solves, State

MOST_FEATURES = 4000  # each step solves a system of so many: 128 MB
# The rows ÷ those of each sub-sample. A quarter is taken only where a tenth is too few: after a
# tenth it saves less than it costs.
LEVELS = (100, 10, 4, 1)
RUN_OF_ROWS = 16  # neighbours that a sub-sample takes together
FIRST_WIDTH, SMALLEST_WIDTH = 2.0, 1e-12
MOST_STEPS = 30  # on one sub-sample
SAMPLE_ERROR = 0.5  # × features / rows: a gap on a sub-sample that says nothing of all rows
PATIENCE = 25  # steps without a smaller gap before a run is stalled, and
WITH_KINKS = 75  # where the width has to fall a long way before the gap does

# The numbers of a run.
LEVEL, WIDTH, LENGTH, STEPS, BEST, IDLE, AIM, TURNS, FLOPS = range(9)


class Level(NamedTuple):
    """The rows that are at work, and their numbers in the same order."""

    which: np.ndarray
    y: np.ndarray
    cost: np.ndarray  # each row of a sub-sample stands for several
    z: np.ndarray
    along: np.ndarray  # what a whole step would add to z
    beta: np.ndarray


class Bent(NamedTuple):
    """Room for the curvature of all rows, and for the rows that have any."""

    bend: np.ndarray  # c ℓ_h″
    which: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, size: int) -> Bent:
        return cls(np.empty(size), np.empty(size, dtype=np.uint32), np.empty(size))


@dataclass
class HuberNewtonState(State):
    """w, Σ β x, and the level's arrays."""

    w: np.ndarray
    w_beta: np.ndarray
    which: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    z: np.ndarray
    along: np.ndarray
    beta: np.ndarray
    run: np.ndarray
    seed: np.ndarray

    @property
    def level(self) -> Level:
        return Level(self.which, self.y, self.cost, self.z, self.along, self.beta)

    @property
    def full(self) -> bool:
        return LEVELS[int(self.run[LEVEL])] == 1


@dataclass(frozen=True)
class HuberNewton(Solver):
    """Newton's method on the primal, for few features and many rows.

    Parameters
    ----------
    samples : bool, default=True
        Take the first steps on m/100 and m/10 of the rows.

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
        self, problem: Problem, seed: np.random.SeedSequence, warm: Answer | None = None
    ) -> HuberNewtonState:
        none = np.zeros(0)
        size = problem.d + problem.free_bias
        state = HuberNewtonState(
            w=np.zeros(size),
            w_beta=np.zeros(size),
            which=problem.which,
            y=none,
            cost=none,
            z=none,
            along=none,
            beta=none,
            run=np.zeros(9),
            seed=seed.generate_state(2, np.uint64),
        )
        state.run[[WIDTH, AIM]] = FIRST_WIDTH, 1.0
        if warm is not None:
            state.w[: problem.d] = warm.w
            if problem.free_bias:
                state.w[-1] = warm.b
        sampled = self.samples and warm is None
        self._enter(problem, state, 0 if sampled else len(LEVELS) - 1)
        if warm is not None and math.isinf(problem.loss.curvature):
            self._fit_width(problem, state)
        return state

    def _fit_width(self, problem: Problem, state: HuberNewtonState) -> None:
        """Halve the width for as long as that makes the gap of the start smaller."""
        room, best = Bent.of(state.which.size), math.inf
        while state.run[WIDTH] > SMALLEST_WIDTH:
            _, rest, rounding, _ = self._arrive(problem, state, room, Report(0.0))
            if rest + rounding >= best:
                break
            best = rest + rounding
            state.run[WIDTH] *= 0.5
        state.run[WIDTH] *= 2.0

    def _enter(self, problem: Problem, state: HuberNewtonState, level: int) -> None:
        """Take the rows of this level, or of the next one that has enough of them."""
        size, m = state.w.size, problem.m
        if LEVELS[level] == 4:
            level += 1
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
        state.y = problem.y[state.which].astype(np.float64)
        state.cost = problem.cost[state.which] * (m / state.which.size)
        state.z, state.along, state.beta = np.zeros((3, state.which.size))
        state.w_beta[:] = 0.0
        dot_all(widened(problem), state.which, state.w, state.z)

    def advance(
        self, problem: Problem, state: HuberNewtonState, visits: int, goal: float
    ) -> Report:
        report = Report(0.0)
        k = 0
        while report.visits < visits and report.status == RUNNING and not report.look:
            if state.which.size != k:
                k = state.which.size
                bent = Bent.of(k)
            self._step(problem, state, bent, max(goal, 0.0), report)
        return report

    def _step(
        self, problem: Problem, state: HuberNewtonState, bent: Bent, goal: float, report: Report
    ) -> None:
        """Arrive where the last step leads, and find the next."""
        run, k = state.run, state.which.size
        primal, rest, rounding, count = self._arrive(problem, state, bent, report)
        gap = rest + rounding
        run[STEPS] += 1
        goal *= run[AIM]
        if state.full:
            report.gap_estimate = gap / (primal - gap) if gap < primal else math.inf
            run[IDLE] = 0 if gap < 0.9 * run[BEST] else run[IDLE] + 1
            run[BEST] = min(run[BEST], gap)
            report.look = report.gap_estimate <= 0.97 * goal
            if run[IDLE] > (WITH_KINKS if math.isinf(problem.loss.curvature) else PATIENCE):
                report.status, report.note = STALLED, "no smaller gap in the last steps"
            if report.look or report.status == STALLED:
                return
        else:
            # What is less than the sub-sample's own error is not worth a step.
            goal = max(0.5 * goal, SAMPLE_ERROR * state.w.size / k)
            near = rest <= 0.5 * rounding and rounding <= goal * primal
            if near or run[STEPS] >= MOST_STEPS:
                self._enter(problem, state, int(run[LEVEL]) + 1)
                report.visits += state.which.size
                return
        kinks = math.isinf(problem.loss.curvature)
        while kinks and rest <= rounding and run[WIDTH] > SMALLEST_WIDTH:
            share = 0.4 if state.full else 0.7
            shrink = math.sqrt(share * goal * primal / rounding) if rounding > 0 else 0.0
            run[WIDTH] *= min(max(shrink, 0.15), 0.6)
            primal, rest, rounding, count = self._arrive(problem, state, bent, report)
        if not self._turn(problem, state, bent.which[:count], bent.weights[:count], report):
            report.status, report.note = STALLED, "the Newton system cannot be solved"

    def _arrive(
        self, problem: Problem, state: HuberNewtonState, bent: Bent, report: Report
    ) -> tuple[float, float, float, int]:
        """z, β, Σ β x and the curvature after the step.

        Returns J, the two parts of the gap, and how many rows are on a kink.
        """
        run = state.run
        loss, rounding = _arrive(problem.loss, state.level, run[LENGTH], run[WIDTH], bent.bend)
        run[LENGTH] = 0.0
        moved, count = _add_moved(widened(problem), state.level, bent, state.w_beta)
        report.visits += moved
        w, short = state.w[: problem.d], (state.w - state.w_beta)[: problem.d]
        rest = 0.5 * float(short @ short)
        if problem.free_bias:
            rest += 0.5 * abs(state.w_beta[-1])
        return 0.5 * float(w @ w) + loss, rest, max(rounding, 0.0), count

    def _turn(
        self,
        problem: Problem,
        state: HuberNewtonState,
        which: np.ndarray,
        weights: np.ndarray,
        report: Report,
    ) -> bool:
        """Newton's direction from the rows on their kinks, and how far to go along it."""
        rows, level, size, width = widened(problem), state.level, state.w.size, state.run[WIDTH]
        penalty = np.ones(size)
        penalty[problem.d :] = 0.0
        hessian = np.zeros((size, size))
        add_gram(rows, which, weights, hessian)
        if problem.free_bias:  # with no row on its kink nothing would hold b
            hessian[-1, -1] = max(hessian[-1, -1], 1e-6 * float(level.cost.sum()) / width)
        gradient = penalty * state.w - state.w_beta
        factor = factored(hessian, penalty)
        state.run[FLOPS] += system_flops(rows, which.size, size)
        report.visits += which.size + level.which.size
        if factor is None:
            return False
        step = -cho_solve(factor, gradient, check_finite=False)
        dot_all(rows, level.which, step, level.along)
        p = penalty * step
        first, second = float(state.w @ p), float(p @ step)

        def slope(t: float) -> float:
            return first + t * second + _slope_along(problem.loss, level, t, width)

        t = where_it_is_level(slope, float(gradient @ step))
        state.w += t * step
        state.run[TURNS] += 1
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

    def steps_done(self, problem: Problem, state: HuberNewtonState) -> float:
        """Newton steps, those on sub-samples too."""
        return float(state.run[TURNS])

    def findings(self, problem: Problem, state: HuberNewtonState) -> dict[str, Any]:
        """``flops``: the work of all systems, their making and their factors."""
        return {"flops": float(state.run[FLOPS])}

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
            factor = cho_factor(matrix.T, check_finite=False)
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
    """out_k = ⟨w, x⟩ for row which_k, in ascending order."""
    for k in range(np.uint64(which.size)):
        out[k] = dot(rows, np.uint64(which[k]), w)


@kernel
def _arrive(loss, level, length, width, bend):
    """z, β and c ℓ_h″; what β has changed by stays in ``along``. Returns Σ c ℓ and the rounding."""
    total, rounding = 0.0, 0.0
    for k in range(np.uint64(level.z.size)):
        z = level.z[k] + length * level.along[k]
        y, c = level.y[k], level.cost[k]
        slope, curvature = smoothed(loss, z, y, width)
        beta = -c * slope
        lost = c * value(loss, z, y)
        total += lost
        rounding += lost - dual_value(loss, beta, y, c) + z * beta
        level.z[k] = z
        level.along[k] = beta - level.beta[k]
        level.beta[k] = beta
        bend[k] = c * curvature
    return total, rounding


@kernel
def _add_moved(rows, level, bent, w_beta):
    """Σ β x follows β, and the rows on a kink are listed; returns how many have moved, and bend."""
    moved, count = 0, np.uint64(0)
    for k in range(np.uint64(level.which.size)):
        if level.along[k] != 0.0:
            add(rows, np.uint64(level.which[k]), level.along[k], w_beta)
            moved += 1
        bent.which[count] = level.which[k]
        bent.weights[count] = bent.bend[k]
        if bent.bend[k] > 0.0:
            count += np.uint64(1)
    return moved, count


@kernel
def _slope_along(loss, level, t, width):
    """Σ c ℓ_h′(z + t · along) · along."""
    total = 0.0
    for k in range(np.uint64(level.z.size)):
        slope, _ = smoothed(loss, level.z[k] + t * level.along[k], level.y[k], width)
        total += level.cost[k] * slope * level.along[k]
    return total


@kernel
def _slopes(loss, y, cost, which, z, width, beta):
    """β = −c ℓ_h′."""
    for k in range(np.uint64(which.size)):
        i = np.uint64(which[k])
        slope, _ = smoothed(loss, z[k], np.float64(y[i]), width)
        beta[i] = -cost[i] * slope
