"""Newton steps on the free dual variables: the last digits of dual coordinate ascent.

With the rows at bounds and kinks held where they are, the optimum of the others solves

    (X_F X_Fᵀ + diag(bend)) δ + 1 δb = target − z_F − bend · β_F,     Σ δ = −Σ β  (free bias)

with z = ⟨w, x⟩ + b and d′, d″ from ``losses.kink``. There are two ways.

Small systems are solved directly, in the smaller of their two sizes, |F| or d. Where it is singular
(more free rows than features) the tiny proximal term turns δ into a long climb. Either way the step
goes at least to the first bound that it meets, where the dual must have risen, and on, projected,
in doubling lengths while the dual still rises.

Large ones are solved by conjugate gradients, preconditioned by the diagonal, with Σ δ = 0:

    p ← (r − μ)/(‖x‖² + bend) + κ p,   r ← r − α A p,   α = ⟨r, p⟩ / ⟨p, A p⟩

⟨p, A p⟩ = ‖X_Fᵀ p‖² + … is known before the products A p are, so that one visit of a row gives its
product and adds its share of the next X_Fᵀ p. What leaves its domain is projected back; the rows
that then sit on a bound are held there too, and the others are solved again. At last the best
fraction of the whole way is taken: the dual is quadratic along it, and cannot fall. A proximal
term of rms(r)/c_i, which vanishes with the residual, keeps steps along directions without
curvature (repeated rows) as short as the domain is wide; it grows tenfold after a bad finish.

Moré & Toraldo 1991, "On the solution of large quadratic programming problems with bound
constraints"; Fan & Yuan 2005 for the vanishing proximal term.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from pegasos.compiled import kernel
from pegasos.losses import clip, dual_value, kink
from pegasos.problem import Problem
from pegasos.rows import add, dot, prefetch_ahead
from pegasos.solvers.contract import State

LARGEST = 512  # the size of a system that is still solved directly
MOST_WORK = 2e8  # multiplications for one system: some hundredths of a second
TRIALS = 64  # the most products with the rows that a search along a step may take, roughly

# The numbers of a row, side by side in one half of a cache line.
BETA, NORM, TARGET, COST = range(4)

# Conjugate gradients. The numbers of a free row: where its β has come to, the step from there, the
# direction, the residual, the curvature beside X Xᵀ, and one over the diagonal of all of it.
NOW, STEP, ALONG, MISSING, SOFT, INVERSE = range(6)

# Vectors in the space of w: w itself for the β that have been reached, Xᵀ times the direction,
# the sum that a pass builds up, and Xᵀ times the inverse diagonal.
POINT, IMAGE, SUMS, ONES = range(4)

# The numbers of a finish: its stage, the rows that are still free and those that were, the place in
# the present pass, how many rounds and turns, how many turns are allowed, the first and the last
# squared residual, μ, α, whether a round begins, and the factor of the proximal term.
STAGE, SIZE, COLLECTED, PLACE, ROUND, TURNS, LIMIT = range(7)
FIRST, SQUARE, SHIFT, STRIDE, FRESH, DAMPING = range(7, 13)

IDLE, RESIDUALS, TURN, ROUND_STEP = range(4)  # stages; each is a pass, but the first

ACCURACY = 0.1  # a round ends at this fraction of the first residual
FEWEST, MOST = 10.0, 240.0  # turns: twice as many after a good finish, half as many after a bad one
MOST_DAMPING = 1e6  # a third of it after a good finish, ten times after a bad one; at least 1
ROUNDS = 6


def newton_is_cheap(problem: Problem, numbers: np.ndarray) -> bool:
    """Whether the system is small enough to be solved directly."""
    return _is_cheap(_count(problem.loss, problem.which, numbers), problem.d)


def _is_cheap(size: int, d: int) -> bool:
    least = min(size, d)
    return 0 < least <= LARGEST and size * d * (least + TRIALS) <= MOST_WORK


def newton_step(
    problem: Problem, beta: np.ndarray, w: np.ndarray, bias: float, total: float, kappa: float
) -> tuple[np.ndarray, np.ndarray, float, float, bool] | None:
    """Move w; return the free rows, their new β, the change of Σ d(β), the new b, and whether the
    whole step fitted between the bounds.

    None where the system is too large or no step raises the dual.
    """
    free, target, bend = _free_set(problem, beta)
    size, d = free.size, problem.d
    if not _is_cheap(size, d):
        return None
    table = np.zeros((size, d))
    expand(problem.rows, free, table)
    old = beta[free]
    residual = target - (table @ w + bias) - bend * old
    solved = _solve(table, bend, residual, total, problem.free_bias)
    if solved is None:
        return None
    direction, bias_step = solved
    y, cost = problem.y[free], problem.cost[free]
    best: tuple[float, np.ndarray, np.ndarray, float, float] | None = None
    fraction = min(1.0, _first_bound(problem.loss, old, direction, y, cost))
    fits = fraction >= 1.0
    while True:
        new = np.empty(size)
        rise = _along(problem.loss, old, direction, fraction, y, cost, new)
        step = new - old
        w_step = table.T @ step
        b = bias + fraction * bias_step
        change = float(step.sum())
        gain = rise - float(w @ w_step) - 0.5 * float(w_step @ w_step) - b * change
        gain -= 0.5 * kappa * ((total + change) ** 2 - total**2)
        if not np.isfinite(gain) or (best is not None and gain <= best[0]):
            break
        best = gain, new, w_step, rise, b
        if fraction >= 1.0:
            break
        fraction = min(1.0, 2.0 * fraction)
    if best is None or best[0] < 0.0:
        return None
    _, new, w_step, rise, b = best
    w += w_step
    return free, new, rise, b, fits


def _free_set(problem: Problem, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    which = problem.which
    target, bend = np.empty(which.size), np.empty(which.size)
    _kinks(problem.loss, which, beta, problem.y, problem.cost, target, bend)
    inside = bend >= 0.0
    return which[inside], target[inside], bend[inside]


def _solve(
    table: np.ndarray, bend: np.ndarray, residual: np.ndarray, total: float, free_bias: bool
) -> tuple[np.ndarray, float] | None:
    """δ and δb of the system above; a tiny proximal term keeps it positive definite."""
    size, d = table.shape
    scale = float(np.einsum("ij,ij->", table, table)) / size
    if scale == 0.0:  # empty rows alone
        return None
    right = np.column_stack((residual, np.ones(size))) if free_bias else residual[:, None]
    try:
        if size <= d:
            system = table @ table.T
            system[np.diag_indices(size)] += bend + 1e-13 * scale
            solved = cho_solve(cho_factor(system, check_finite=False), right, check_finite=False)
        else:
            weight = 1.0 / np.maximum(bend, 1e-9 * scale)
            weighted = table * weight[:, None]
            system = table.T @ weighted
            system[np.diag_indices(d)] += 1.0
            factor = cho_factor(system, check_finite=False)
            inner = cho_solve(factor, weighted.T @ right, check_finite=False)
            solved = weight[:, None] * (right - table @ inner)
    except LinAlgError:
        return None
    if not np.isfinite(solved).all():
        return None
    if not free_bias:
        return solved[:, 0], 0.0
    along = float(solved[:, 1].sum())
    bias_step = (float(solved[:, 0].sum()) + total) / along if along > 0 else 0.0
    return solved[:, 0] - bias_step * solved[:, 1], bias_step


@kernel
def _kinks(loss, which, beta, y, cost, target, bend):
    for k in range(which.size):
        i = np.uint64(which[k])
        target[k], bend[k] = kink(loss, y[i], cost[i], beta[i])


@kernel
def expand(rows, which, table):
    """Add the rows to a table of zeros."""
    for k in range(which.size):
        add(rows, np.uint64(which[k]), 1.0, table[k])


@kernel
def _along(loss, old, direction, fraction, y, cost, new):
    """β + fraction · δ kept in its domain and on its side of zero; returns the change of Σ d(β)."""
    rise = 0.0
    for k in range(old.size):
        moved = clip(loss, old[k] + fraction * direction[k], y[k], cost[k])
        if moved * old[k] < 0.0:
            moved = 0.0
        new[k] = moved
        rise += dual_value(loss, moved, y[k], cost[k]) - dual_value(loss, old[k], y[k], cost[k])
    return rise


@kernel
def _first_bound(loss, old, direction, y, cost):
    """The largest fraction of the step at which every β is still inside its domain."""
    fraction = np.inf
    for k in range(old.size):
        moved = clip(loss, old[k] + direction[k], y[k], cost[k])
        if moved * old[k] < 0.0:
            moved = 0.0
        if moved != old[k] + direction[k] and direction[k] != 0.0:
            fraction = min(fraction, (moved - old[k]) / direction[k])
    return max(fraction, 1e-12)


@dataclass
class Finish(State):
    """Conjugate gradients at work, to be interrupted after any visit."""

    free: np.ndarray
    table: np.ndarray
    vectors: np.ndarray
    run: np.ndarray

    @classmethod
    def idle(cls, rows: int, d: int) -> Finish:
        """Untouched zeros: they cost no memory before the first finish."""
        run = np.zeros(16)
        run[LIMIT], run[DAMPING] = 2.0 * FEWEST, 1.0
        return cls(np.zeros(rows, np.uint32), np.zeros((rows, 6)), np.zeros((4, d)), run)

    @property
    def at_work(self) -> bool:
        return bool(self.run[STAGE] != IDLE)

    def begin(self, problem: Problem, numbers: np.ndarray, w: np.ndarray) -> None:
        """Collect the free rows; the visits are left to ``advance``."""
        run = self.run
        kept = run[LIMIT], run[DAMPING]
        run[:] = 0.0
        run[LIMIT], run[DAMPING] = kept
        size = _collect(problem.loss, problem.which, numbers, self.free, self.table)
        if size > 0:
            run[SIZE] = run[COLLECTED] = size
            run[STAGE] = RESIDUALS
            self.vectors[POINT] = w
            self.vectors[1:] = 0.0

    def advance(
        self, problem: Problem, numbers: np.ndarray, w: np.ndarray, bias: float, visits: int
    ) -> tuple[int, tuple[float, float, float] | None]:
        """Go on for so many visits; return how many it were and, at the end, the changes of
        Σ d(β), Σ β and b. β, in ``numbers``, and w move at the end alone."""
        run, table, vectors = self.run, self.table, self.vectors
        done = 0
        while done < visits:
            stage, size = run[STAGE], int(run[SIZE])
            if stage == RESIDUALS:
                done += _residuals(
                    problem.rows,
                    problem.loss,
                    self.free,
                    numbers,
                    table,
                    vectors,
                    run,
                    bias,
                    visits - done,
                    problem.free_bias,
                )
            elif stage == TURN:
                done += _turn(problem.rows, self.free, table, vectors, run, visits - done)
            else:
                done += _image(problem.rows, self.free, table, vectors, run, visits - done)
            if run[PLACE] < size:
                break
            run[PLACE] = 0.0
            if stage == ROUND_STEP:
                vectors[POINT] += vectors[SUMS]
                left = _hold(problem.loss, self.free, numbers, table, size)
                run[ROUND] += 1.0
                spent = run[ROUND] >= ROUNDS or run[TURNS] >= run[LIMIT]
                if left == size or left == 0 or spent:
                    return done, self._end(problem, numbers, w, bias)
                run[SIZE], run[STAGE] = left, RESIDUALS
                vectors[1:] = 0.0
                continue
            part = table[:size]
            if stage == RESIDUALS:
                run[FRESH] = 1.0
                _soften(problem.loss, self.free, numbers, part, float(run[DAMPING]))
            if _direction(part, vectors, run, problem.free_bias):
                run[STAGE] = TURN
            else:
                run[STAGE] = ROUND_STEP
                vectors[SUMS] = 0.0
                _project(problem.loss, self.free, numbers, part, problem.free_bias)
        return done, None

    def _end(
        self, problem: Problem, numbers: np.ndarray, w: np.ndarray, bias: float
    ) -> tuple[float, float, float]:
        """Take the best fraction of the way."""
        run, vectors = self.run, self.vectors
        table = self.table[: int(run[COLLECTED])]
        run[STAGE] = IDLE
        way = vectors[POINT] - w
        slope, curve = _along_the_way(problem.loss, self.free, numbers, table, bias)
        slope -= float(w @ way)
        curve += float(way @ way)
        fraction = slope / curve if slope > 0.0 and curve > 0.0 else 0.0
        if fraction > 1.0:
            fraction = min(fraction, _reach(problem.loss, self.free, numbers, table))
        if fraction > 0.5:
            run[LIMIT] = min(2.0 * run[LIMIT], MOST)
            run[DAMPING] = max(run[DAMPING] / 3.0, 1.0)
        else:
            run[LIMIT] = max(0.5 * run[LIMIT], FEWEST)
            run[DAMPING] = min(10.0 * run[DAMPING], MOST_DAMPING)
        if not fraction > 0.0:
            return 0.0, 0.0, 0.0
        w += fraction * way
        rise, change = _take(problem.loss, self.free, numbers, table, fraction)
        return rise, change, fraction * float(run[SHIFT])


@kernel
def _count(loss, which, numbers):
    """How many rows are free."""
    size = 0
    for k in range(which.size):
        i = np.uint64(which[k])
        _, bend = kink(loss, numbers[i, TARGET], numbers[i, COST], numbers[i, BETA])
        if bend >= 0.0:
            size += 1
    return size


@kernel
def _collect(loss, which, numbers, free, table):
    """The free rows, where they are; returns how many."""
    size = 0
    for k in range(which.size):
        i = np.uint64(which[k])
        beta = numbers[i, BETA]
        _, bend = kink(loss, numbers[i, TARGET], numbers[i, COST], beta)
        if bend >= 0.0:
            free[size] = which[k]
            table[size, NOW] = beta
            table[size, INVERSE] = 1.0 / (numbers[i, NORM] + bend)
            size += 1
    return size


@kernel
def _residuals(rows, loss, free, numbers, table, vectors, run, bias, visits, free_bias):
    """A pass: the residual r of each row; the sums Xᵀ r/M and Xᵀ 1/M, M the diagonal."""
    size, first = int(run[SIZE]), int(run[PLACE])
    last = min(size, first + visits)
    point, sums, ones = vectors[POINT], vectors[SUMS], vectors[ONES]
    for k in range(first, last):
        prefetch_ahead(rows, free, k, size)
        i = np.uint64(free[k])
        target, bend = kink(loss, numbers[i, TARGET], numbers[i, COST], table[k, NOW])
        missing = target - (dot(rows, i, point) + bias) - bend * table[k, NOW]
        table[k, MISSING] = missing
        add(rows, i, missing * table[k, INVERSE], sums)
        if free_bias:
            add(rows, i, table[k, INVERSE], ones)
    run[PLACE] = last
    return last - first


@kernel
def _turn(rows, free, table, vectors, run, visits):
    """A pass: r ← r − α A p, and the sum Xᵀ r/M of the new residual."""
    size, first = int(run[SIZE]), int(run[PLACE])
    last = min(size, first + visits)
    image, sums, stride = vectors[IMAGE], vectors[SUMS], run[STRIDE]
    for k in range(first, last):
        prefetch_ahead(rows, free, k, size)
        i = np.uint64(free[k])
        product = dot(rows, i, image) + table[k, SOFT] * table[k, ALONG]
        table[k, MISSING] -= stride * product
        add(rows, i, table[k, MISSING] * table[k, INVERSE], sums)
    run[PLACE] = last
    return last - first


@kernel
def _image(rows, free, table, vectors, run, visits):
    """A pass: the sum Xᵀ p."""
    size, first = int(run[SIZE]), int(run[PLACE])
    last = min(size, first + visits)
    sums = vectors[SUMS]
    for k in range(first, last):
        prefetch_ahead(rows, free, k, size)
        if table[k, ALONG] != 0.0:
            add(rows, np.uint64(free[k]), table[k, ALONG], sums)
    run[PLACE] = last
    return last - first


@kernel
def _soften(loss, free, numbers, table, damping):
    """bend and the proximal term of each row, at the beginning of a round."""
    squares = 0.0
    for k in range(table.shape[0]):
        squares += table[k, MISSING] * table[k, MISSING]
    typical = np.sqrt(squares / table.shape[0])
    for k in range(table.shape[0]):
        i = np.uint64(free[k])
        c = numbers[i, COST]
        _, bend = kink(loss, numbers[i, TARGET], c, table[k, NOW])
        table[k, SOFT] = bend + damping * typical / c
        table[k, STEP] = table[k, ALONG] = 0.0


@kernel
def _direction(table, vectors, run, free_bias):
    """The next p and, at once, the step along it; false where the round is at its end."""
    shift = 0.0
    if free_bias:
        weighted, weights = 0.0, 0.0
        for k in range(table.shape[0]):
            weighted += table[k, MISSING] * table[k, INVERSE]
            weights += table[k, INVERSE]
        shift = weighted / weights
    square = 0.0
    for k in range(table.shape[0]):
        missing = table[k, MISSING] - shift
        square += missing * missing * table[k, INVERSE]
    run[SHIFT] = shift
    if run[FIRST] == 0.0:
        run[FIRST] = square
    elif square <= ACCURACY * ACCURACY * run[FIRST]:
        return False
    if square == 0.0 or run[TURNS] >= run[LIMIT]:
        return False
    keep = 0.0 if run[FRESH] > 0.0 else square / run[SQUARE]
    run[FRESH], run[SQUARE] = 0.0, square
    curve = 0.0
    for k in range(table.shape[0]):
        missing = table[k, MISSING] - shift
        along = missing * table[k, INVERSE] + keep * table[k, ALONG]
        table[k, ALONG] = along
        curve += table[k, SOFT] * along * along
    image, sums, ones = vectors[IMAGE], vectors[SUMS], vectors[ONES]
    for j in range(image.size):
        here = sums[j] - shift * ones[j] + keep * image[j]
        image[j] = here
        sums[j] = 0.0
        curve += here * here
    if not curve > 0.0:
        return False
    stride = square / curve
    for k in range(table.shape[0]):
        table[k, STEP] += stride * table[k, ALONG]
    run[STRIDE] = stride
    run[TURNS] += 1.0
    return True


@kernel
def _project(loss, free, numbers, table, free_bias):
    """p ← the step, kept in its domain and, with a free bias, at a sum of zero.

    With M the diagonal, δ − μ/M for the right μ: the nearest such point in the metric of M.
    """
    change = _clipped(loss, free, numbers, table, 0.0)
    if not free_bias or change == 0.0:
        return
    far = 0.0
    for k in range(table.shape[0]):
        far = max(far, abs(table[k, STEP] / table[k, INVERSE]))
    low, high = (0.0, far) if change > 0.0 else (-far, 0.0)
    for _ in range(100):
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        change = _clipped(loss, free, numbers, table, middle)
        if change > 0.0:
            low = middle
        elif change < 0.0:
            high = middle
        else:
            break


@kernel
def _clipped(loss, free, numbers, table, shift):
    """p ← δ − shift/M, kept in its domain and on its side of zero; returns Σ p."""
    change = 0.0
    for k in range(table.shape[0]):
        i = np.uint64(free[k])
        now = table[k, NOW]
        new = now + table[k, STEP] - shift * table[k, INVERSE]
        new = clip(loss, new, numbers[i, TARGET], numbers[i, COST])
        if new * now < 0.0:
            new = 0.0
        table[k, ALONG] = new - now
        change += new - now
    return change


@kernel
def _hold(loss, free, numbers, table, size):
    """Take the step; put the rows that now sit on a bound or kink last; returns the others."""
    k = 0
    while k < size:
        i = np.uint64(free[k])
        y, c = numbers[i, TARGET], numbers[i, COST]
        new = clip(loss, table[k, NOW] + table[k, ALONG], y, c)
        table[k, NOW] = new
        _, bend = kink(loss, y, c, new)
        if bend >= 0.0:
            k += 1
            continue
        size -= 1
        free[k], free[size] = free[size], free[k]
        for n in range(table.shape[1]):
            table[k, n], table[size, n] = table[size, n], table[k, n]
    return size


@kernel
def _along_the_way(loss, free, numbers, table, bias):
    """The slope and the curvature of D from β to where it has come, without the part of w."""
    slope, curve = 0.0, 0.0
    for k in range(table.shape[0]):
        i = np.uint64(free[k])
        beta = numbers[i, BETA]
        target, bend = kink(loss, numbers[i, TARGET], numbers[i, COST], beta)
        way = table[k, NOW] - beta
        slope += (target - bias - bend * beta) * way
        curve += bend * way * way
    return slope, curve


@kernel
def _reach(loss, free, numbers, table):
    """How many times the way fits into the domain, on the present side of zero: at least once."""
    reach = np.inf
    for k in range(table.shape[0]):
        i = np.uint64(free[k])
        beta, now = numbers[i, BETA], table[k, NOW]
        if now != beta:
            far = clip(loss, beta + 1e6 * (now - beta), numbers[i, TARGET], numbers[i, COST])
            if far * beta < 0.0:
                far = 0.0
            reach = min(reach, (far - beta) / (now - beta))
    return max(reach, 1.0)


@kernel
def _take(loss, free, numbers, table, fraction):
    """β moves a fraction of the way; returns the changes of Σ d(β) and Σ β."""
    rise, change = 0.0, 0.0
    for k in range(table.shape[0]):
        i = np.uint64(free[k])
        beta, y, c = numbers[i, BETA], numbers[i, TARGET], numbers[i, COST]
        new = table[k, NOW]
        if fraction != 1.0:
            new = clip(loss, beta + fraction * (new - beta), y, c)
        rise += dual_value(loss, new, y, c) - dual_value(loss, beta, y, c)
        change += new - beta
        numbers[i, BETA] = new
    return rise, change
