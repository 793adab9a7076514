"""SMO: decomposition into pairs of dual variables, for an unpenalised bias.

    minimise   ½ αᵀQα − Σ α_i   with 0 ≤ α_i ≤ C_i,  Σ y_i α_i = 0,   Q_ij = y_i y_j ⟨x_i, x_j⟩
    gradient   G = Qα − 1,   e_i = −y_i G_i = y_i − ⟨w, x_i⟩
    I_up       the rows whose y_i α_i may grow;   I_low   those whose y_i α_i may fall

    pair       i ∈ argmax { e_t : t ∈ I_up }
               j ∈ argmax { (e_i − e_t)²/a_it : t ∈ I_low, e_t < e_i }
               a_it = Q_ii + Q_tt − 2 y_i y_t Q_it
    step       y_i α_i grows and y_j α_j falls by (e_i − e_j)/a_ij, or as far as the box lets them
    optimal    where top = max { e_t : t ∈ I_up } ≤ bottom = min { e_t : t ∈ I_low }

The bias is the mean e of the free rows, or the middle of top and bottom where no row is free.
Without a free bias there is no equality to keep, and a step moves the one α_i that gains most.

Now and then rows at a bound are left out that no pair can move: those in I_up alone with
e < bottom, those in I_low alone with e > top. Every look at the certificate brings the gradient of
all rows, from scratch, and with it those that were left out in error; nothing is believed before.

A visit is a row of X that is read: to make a row of Q takes one for each active row. A step counts
as one more, so that a run comes to an end whose rows of Q are all at hand.

Platt 1998, "Fast training of support vector machines using sequential minimal optimization"; the
pairs as in Fan, Chen & Lin 2005, "Working set selection using second order information"; leaving
rows out as in Joachims 1999, "Making large-scale SVM learning practical"; single steps as in
Steinwart, Hush & Scovel 2011, "Training SVMs without offset".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from pegasos.certificate import Answer, View, add_all, certify
from pegasos.compiled import inlined, kernel
from pegasos.problem import Problem
from pegasos.solvers.contract import STALLED, Report, Solver, Solves, State
from pegasos.solvers.rows_of_q import RowsOfQ

# The numbers of a run.
STEPS, ACTIVE, SURVEY, DUAL, ESTIMATE, OWED, ENDED, LEAST, IDLE = range(9)

EVERY = 200  # steps between two surveys, or m where that is less
PATIENCE = 2  # looks that find no progress where no step was left

# Rounding: a curvature is taken to be no less than TINY of its terms; e that differ by no more
# than LEVEL of their size are equal; a step of no more than GRAIN of α does not move it.
_EPS = float(np.finfo(np.float64).eps)
TINY, LEVEL, GRAIN = 1e-12, 16 * _EPS, 2 * _EPS
LEAST_CURVATURE = 1e-290  # of two empty rows: a step that ends at the box

_SPENT, _LACKING, _LOOK, _NO_STEP = range(4)
_MOVED, _STUCK = -1, -2  # beside the number of a row that is lacking


class Work(NamedTuple):
    """The arrays of a run, by row; the numbers of the active rows, in ascending order, come first
    in ``active``."""

    alpha: np.ndarray
    gradient: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    norms: np.ndarray
    active: np.ndarray


@dataclass
class SMOState(State):
    """α and the gradient of the rows that count, which of them are active, and the rows of Q."""

    alpha: np.ndarray
    gradient: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    norms: np.ndarray
    active: np.ndarray
    run: np.ndarray
    rows: RowsOfQ
    note: str

    def work(self) -> Work:
        return Work(self.alpha, self.gradient, self.y, self.cost, self.norms, self.active)

    @property
    def now(self) -> np.ndarray:
        """The active rows."""
        return self.active[: int(self.run[ACTIVE])]


@dataclass(frozen=True)
class SMO(Solver):
    """Sequential minimal optimization, as in LIBSVM, for linear rows.

    It reads the data by rows of Q, each of which takes a pass over the active rows: a method for a
    few thousand rows. ``DualAscent`` moves w with every row that it reads, and goes much further.

    Parameters
    ----------
    cache_mb : float, default=200
        Megabytes for rows of Q, in float64; two rows are kept whatever the limit. Problems that
        are solved at once have a cache each.
    shrinking : bool, default=True
        Leave out rows at a bound that no step can move.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import SMO, Problem, solve
    >>> X = np.array([[1.0, 2.0], [2.0, 0.5], [-1.0, -1.0], [-2.0, 0.5]])
    >>> solution = solve(Problem(X, [1, 1, -1, -1], C=1.0, bias="free"), SMO(), tol=1e-9)
    >>> solution.converged
    True
    """

    cache_mb: float = 200.0
    shrinking: bool = True

    name: ClassVar[str] = "smo"
    solves: ClassVar[Solves] = Solves(losses=frozenset({"hinge"}), estimates=True)

    def __post_init__(self) -> None:
        if not (
            isinstance(self.cache_mb, int | float | np.number) and 0 < self.cache_mb < math.inf
        ):
            raise ValueError(f"cache_mb must be a positive number, not {self.cache_mb!r}")
        if not isinstance(self.shrinking, bool | np.bool_):
            raise ValueError(f"shrinking must be True or False, not {self.shrinking!r}")

    def start(
        self, problem: Problem, seed: np.random.SeedSequence, warm: Answer | View | None = None
    ) -> SMOState:
        which, m = problem.which, problem.m
        state = SMOState(
            alpha=np.zeros(m),
            gradient=np.full(m, -1.0),
            y=problem.y[which].astype(np.float64),
            cost=problem.cost[which],
            norms=problem.squared_norms[which],
            active=np.arange(m, dtype=np.uint32),
            run=np.zeros(9),
            rows=RowsOfQ.none_yet(problem, self.cache_mb),
            note="",
        )
        run, kept = state.run, state.rows.used.size
        run[ACTIVE], run[SURVEY] = m, min(m, EVERY)
        run[ESTIMATE] = run[LEAST] = math.inf
        if kept < m:
            state.note = f"the cache has room for {kept} of {m} rows of Q"
        if warm is not None and warm.beta is None:
            state.note = "the warm start has no dual variables: SMO starts at zero"
        elif warm is not None:
            view = warm if isinstance(warm, View) else certify(problem, warm)
            assert view.beta is not None
            state.alpha[:] = np.clip(state.y * view.beta[which], 0.0, state.cost)
            exact = certify(problem, Answer(view.w_beta, view.b, view.beta))
            state.gradient[:] = state.y * exact.z[which] - 1.0
            run[DUAL] = exact.certificate.dual
            run[OWED] = m  # the pass for these margins
        return state

    def advance(self, problem: Problem, state: SMOState, visits: int, goal: float) -> Report:
        run = state.run
        if run[IDLE] >= PATIENCE:
            why = "no step is left that rounding would not undo"
            return Report(0, look=True, status=STALLED, note=why)
        report = Report(0, note=state.note)
        state.note = ""
        while report.visits < visits and not report.look:
            left = int(visits - report.visits)
            if run[OWED] > 0.0:
                paid = min(left, int(run[OWED]))
                run[OWED] -= paid
                report.visits += paid
                continue
            done, event, row = _steps(
                state.work(),
                state.rows.kept(),
                run,
                left,
                goal,
                problem.free_bias,
                bool(self.shrinking),
            )
            report.visits += done
            if event == _LACKING:  # paid for after, in portions, so that no limit is passed
                run[OWED] = state.rows.make(problem, state.y, row, state.now)
            elif event != _SPENT:
                report.look = True
                run[ENDED] = event == _NO_STEP
        report.gap_estimate = float(run[ESTIMATE])
        return report

    def answer(self, problem: Problem, state: SMOState) -> Answer:
        beta, w = np.zeros(problem.y.size), np.zeros(problem.d)
        beta[problem.which] = state.alpha * state.y
        add_all(problem.rows, problem.which, beta, w)
        bias = _bias(state.work(), state.now.size) if problem.free_bias else 0.0
        return Answer(w, bias, beta)

    def steps_done(self, problem: Problem, state: SMOState) -> float:
        """Steps, of a pair or of one row."""
        return float(state.run[STEPS])

    def looked(self, problem: Problem, state: SMOState, view: View) -> None:
        """Take over the gradient of all rows, and choose the active ones anew."""
        run, gap = state.run, view.certificate.gap
        if run[ENDED]:
            run[IDLE] = 0.0 if gap < 0.9 * run[LEAST] else run[IDLE] + 1.0
            run[LEAST] = min(run[LEAST], gap)
        run[ENDED], run[ESTIMATE], run[DUAL] = 0.0, math.inf, view.certificate.dual
        state.gradient[:] = state.y * view.z[problem.which] - 1.0
        left_out = np.ones(problem.m, dtype=bool)
        left_out[state.now] = False
        state.active[:] = np.arange(problem.m)
        run[ACTIVE] = problem.m
        if self.shrinking:
            run[ACTIVE] = _leave_out(state.work(), problem.m, problem.free_bias)
        state.rows.came_back(state.now[left_out[state.now]])


@inlined
def _may_grow(work, i):
    """Whether y_i α_i may grow: I_up."""
    return work.alpha[i] < work.cost[i] if work.y[i] > 0.0 else work.alpha[i] > 0.0


@inlined
def _may_fall(work, i):
    """Whether y_i α_i may fall: I_low."""
    return work.alpha[i] > 0.0 if work.y[i] > 0.0 else work.alpha[i] < work.cost[i]


@inlined
def _error(work, i):
    """e_i."""
    return -work.y[i] * work.gradient[i]


@inlined
def _curvature(terms, product):
    """a_ij = Q_ii + Q_jj − 2 y_i y_j Q_ij, above zero."""
    return max(terms - 2.0 * product, TINY * terms, LEAST_CURVATURE)


@inlined
def _slot(kept, i):
    """Where row i of Q is, if it has all active columns; else −1."""
    slot = np.int64(kept.slot_of[i])
    return slot if slot >= 0 and kept.made[slot] == kept.era else np.int64(-1)


@kernel
def _steps(work, kept, run, visits, goal, free_bias, shrinking):
    """Steps until the visits are spent, a row of Q is lacking, or a look is due.

    Returns how many steps, what ended them, and the row that is lacking.
    """
    done = 0
    while done < visits:
        size = int(run[ACTIVE])
        if run[STEPS] >= run[SURVEY]:
            run[SURVEY] = run[STEPS] + min(EVERY, work.alpha.size)
            gap = _gap(work, size, free_bias)
            run[ESTIMATE] = gap / run[DUAL] if run[DUAL] > 0.0 else np.inf
            if run[ESTIMATE] <= 0.97 * goal:
                return done, _LOOK, 0
            if shrinking:
                size = _leave_out(work, size, free_bias)
                run[ACTIVE] = size
        if free_bias:
            found = _pair_step(work, kept, run, size)
        else:
            found = _single_step(work, kept, run, size)
        if found == _STUCK:
            return done, _NO_STEP, 0
        if found != _MOVED:
            return done, _LACKING, found
        run[STEPS] += 1.0
        done += 1
    return done, _SPENT, 0


@kernel
def _pair_step(work, kept, run, size):
    """Choose a pair and move it; or the row of Q that is lacking for that."""
    first, top, bottom = _extremes(work, size)
    if not top - bottom > LEVEL * max(abs(top), abs(bottom), 1.0):
        return _STUCK
    i = np.int64(work.active[first])
    slot = _slot(kept, i)
    if slot < 0:
        return i
    kept.used[slot] = 2.0 * run[STEPS]
    row = kept.table[slot]
    second = _second(work, row, size, i)
    if second < 0:
        return _STUCK
    j = np.int64(work.active[second])
    other = _slot(kept, j)
    if other < 0:
        return j
    kept.used[other] = 2.0 * run[STEPS] + 1.0

    y_i, y_j = work.y[i], work.y[j]
    curvature = _curvature(work.norms[i] + work.norms[j], y_i * y_j * row[j])
    step = (top - _error(work, j)) / curvature
    if not step > GRAIN * max(work.alpha[i], work.alpha[j]):
        return _STUCK
    room_i = work.cost[i] - work.alpha[i] if y_i > 0.0 else work.alpha[i]
    room_j = work.alpha[j] if y_j > 0.0 else work.cost[j] - work.alpha[j]
    step = min(step, room_i, room_j)
    by_i = _move(work, i, y_i * step, room_i)
    by_j = _move(work, j, -y_j * step, room_j)
    run[DUAL] -= by_i * (work.gradient[i] + 0.5 * work.norms[i] * by_i + row[j] * by_j)
    run[DUAL] -= by_j * (work.gradient[j] + 0.5 * work.norms[j] * by_j)
    following = kept.table[other]
    for k in range(size):
        n = np.uint64(work.active[k])
        work.gradient[n] += by_i * row[n] + by_j * following[n]
    return _MOVED


@kernel
def _single_step(work, kept, run, size):
    """Choose a row and move its α; or the row of Q that is lacking for that."""
    first = _gains_most(work, size)
    if first < 0:
        return _STUCK
    i = np.int64(work.active[first])
    step = abs(work.gradient[i]) / work.norms[i]
    if not (abs(work.gradient[i]) > LEVEL and step > GRAIN * work.alpha[i]):
        return _STUCK
    slot = _slot(kept, i)
    if slot < 0:
        return i
    kept.used[slot] = run[STEPS]
    side = -1.0 if work.gradient[i] > 0.0 else 1.0
    room = work.cost[i] - work.alpha[i] if side > 0.0 else work.alpha[i]
    by = _move(work, i, side * min(step, room), room)
    run[DUAL] -= by * (work.gradient[i] + 0.5 * work.norms[i] * by)
    row = kept.table[slot]
    for k in range(size):
        n = np.uint64(work.active[k])
        work.gradient[n] += by * row[n]
    return _MOVED


@inlined
def _move(work, i, step, room):
    """α_i moves, and lands on its bound exactly where that is all the room; returns by how much."""
    before = work.alpha[i]
    if abs(step) >= room:
        work.alpha[i] = work.cost[i] if step > 0.0 else 0.0
    else:
        work.alpha[i] = before + step
    return work.alpha[i] - before


@kernel
def _extremes(work, size):
    """The place of the row of I_up with the largest e, that e, and the smallest e of I_low."""
    first, top, bottom = -1, -np.inf, np.inf
    for k in range(size):
        i = np.uint64(work.active[k])
        e = _error(work, i)
        if e > top and _may_grow(work, i):
            first, top = k, e
        if e < bottom and _may_fall(work, i):
            bottom = e
    return first, top, bottom


@kernel
def _second(work, row, size, i):
    """The place of the row of I_low that gains most in a pair with i, whose row of Q is given."""
    second, most = -1, 0.0
    top, y_i, norm = _error(work, i), work.y[i], work.norms[i]
    for k in range(size):
        j = np.uint64(work.active[k])
        short = top - _error(work, j)
        if short > 0.0 and _may_fall(work, j):
            gain = short * short / _curvature(norm + work.norms[j], y_i * work.y[j] * row[j])
            if gain > most:
                second, most = k, gain
    return second


@kernel
def _gains_most(work, size):
    """The place of the row whose exact step in the box raises the dual most; −1 if none does."""
    first, most = -1, 0.0
    for k in range(size):
        i = np.uint64(work.active[k])
        gradient, norm, alpha = work.gradient[i], work.norms[i], work.alpha[i]
        by = min(max(alpha - gradient / norm, 0.0), work.cost[i]) - alpha
        gain = -by * (gradient + 0.5 * norm * by)
        if gain > most:
            first, most = k, gain
    return first


@kernel
def _bias(work, size):
    """The mean e of the free rows; without any, the middle of what the others leave."""
    _, top, bottom = _extremes(work, size)
    total, free = 0.0, 0
    for k in range(size):
        i = np.uint64(work.active[k])
        if 0.0 < work.alpha[i] < work.cost[i]:
            total += _error(work, i)
            free += 1
    if free > 0:
        return total / free
    if top == -np.inf or bottom == np.inf:  # a single class, which nothing can move
        return top if bottom == np.inf else bottom
    return 0.5 * (top + bottom)


@kernel
def _gap(work, size, free_bias):
    """Primal − dual = Σ C_i (−g_i)₊ + α_i g_i for g_i = G_i + y_i b; rows left out add nothing."""
    bias = _bias(work, size) if free_bias else 0.0
    gap = 0.0
    for k in range(size):
        i = np.uint64(work.active[k])
        g = work.gradient[i] + work.y[i] * bias
        gap += work.cost[i] * max(-g, 0.0) + work.alpha[i] * g
    return gap


@kernel
def _leave_out(work, size, free_bias):
    """Keep the rows that a step may still move first in ``active``; returns how many they are."""
    _, top, bottom = _extremes(work, size)
    if not free_bias:  # here 0 is what e of a free row comes to
        top = max(top, -bottom)
        bottom = -top
    if not top > bottom:
        return size
    left = 0
    for k in range(size):
        i = np.uint64(work.active[k])
        e, grows, falls = _error(work, i), _may_grow(work, i), _may_fall(work, i)
        if (grows or e <= top) and (falls or e >= bottom):
            work.active[left] = work.active[k]
            left += 1
    return left
