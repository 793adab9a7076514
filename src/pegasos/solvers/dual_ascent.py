"""Dual coordinate ascent: one dual variable at a time, solved exactly, in random order.

    maximise   D(β) = Σ d(β_i) − ½‖w‖²,  w = Σ β_i x_i        (d of each loss: pegasos.losses)
    visit i    β_i ← argmax along β_i;   w ← w + Δβ_i x_i
               hinge: α_i ← clip(α_i − (y_i z_i − 1)/‖x_i‖², 0, C_i),  β_i = α_i y_i

Each pass visits the rows in a new random order. Rows that sit at a bound and would have to be
pulled harder than 1.5 times the root mean square of the last pass's gradients are left out
(shrinking) until the next look at the certificate, which sees all of them.

Rows that lie in files are visited in blocks: of the blocks in random order always eight at once,
and the active rows of these in random order, up to four times where few are active.

A free bias is the multiplier of Σ β = 0: b acts as one more coordinate with a proximal weight of
κ = 0.1 × the median ‖x‖², recentred after each pass (method of multipliers).

Tight tolerances, and runs that would take long, end with Newton steps on the free variables, direct
or by conjugate gradients, with a few passes of coordinates between them (free_set.py; for the
logistic loss, whose variables are all free, in the primal: smooth_newton.py).

Hsieh, Chang, Lin, Keerthi & Sundararajan 2008, "A dual coordinate descent method for large-scale
linear SVM", algorithms 1 and 3; the losses after Yu, Huang & Lin 2011 and Ho & Lin 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from pegasos.certificate import FINEST_TOLERANCE, Answer, View
from pegasos.compiled import (
    aligned,
    below,
    fetch,
    generator,
    inlined,
    kernel,
    shuffle,
    shuffle_all,
)
from pegasos.losses import Logistic, clip, dual_step, dual_value, pull, value
from pegasos.problem import Problem
from pegasos.rows import AT_ONCE, add, dot, fetch_row, fetch_start
from pegasos.solvers.block_order import (
    block_bounds,
    check_block_rows,
    check_order,
    filled_blocks,
    hold_at,
    places_of,
)
from pegasos.solvers.contract import SMALL, STALLED, Report, Solver, Solves, State
from pegasos.solvers.free_set import BETA, COST, NORM, TARGET, Finish, newton_is_cheap, newton_step
from pegasos.solvers.smooth_newton import smooth_newton

# The numbers of a run.
ACTIVE, POSITION, BIAS, KAPPA, SUM, THRESHOLD = range(6)
PULLS, PULLED, GAP, DUAL, RATIO, ESTIMATE, PASSES, UNTIL, GAP_NOW, SHRINKING = range(6, 16)
GAP_THEN, PASSES_THEN, NEWTON_LEFT, OWED, CONJUGATE, TURN, LIVE, END, SWEEPS = range(16, 25)

NEW_PASS = -1.0  # a position: shuffle and start the next pass

_SPENT, _LOOK, _PAUSE, _NEXT, _SAMPLE = 0, 1, 2, 3, 4

ORDERS = ("rows", "blocks")

SAMPLED = 8  # blocks from which it is estimated, where there are several
SAMPLE = 4096  # rows from which the gap is estimated
TIGHT = 3e-5  # below this the run ends with Newton steps where they are cheap
NEAR, PATIENCE = 1e-6, 8  # looks without progress, this near the optimum, before a run is stalled
NEWTON_STEPS = 20  # in a row, while they run into bounds
PAUSE, SHORT_PAUSE = 10.0, 3.0  # passes before the next pause, and after a finish
LONG = 100.0  # passes: where the goal seems to be further away, conjugate gradients begin
FAR, HOPELESS = 2e-3, 1000.0  # a gap above this is left to coordinates, unless they take so many
MOST_SWEEPS = 4  # over the active rows of the blocks in memory
LOOK_EVERY = 8  # finishes by conjugate gradients, where the sampled gap asks for no look before


class Order(NamedTuple):
    """The order of visits: all rows, the active ones first; or those of the blocks at work."""

    rows: np.ndarray
    starts: np.ndarray  # where the rows of each block begin, and where the last ones end
    active: np.ndarray  # how many of each block are active
    blocks: np.ndarray  # in the order of this pass, those with active rows first
    asleep: np.ndarray  # whether a row is left out; with several blocks alone
    size: int  # the rows of a block


@dataclass
class DualAscentState(State):
    """w, the rows' numbers, the order of visits, and the run's numbers."""

    w: np.ndarray
    numbers: np.ndarray
    order: np.ndarray
    starts: np.ndarray
    active: np.ndarray
    blocks: np.ndarray
    asleep: np.ndarray
    rng: np.ndarray
    run: np.ndarray
    best_primal: float
    best_dual: float
    idle_looks: int
    note: str
    finish: Finish


@dataclass(frozen=True)
class DualAscent(Solver):
    """Dual coordinate ascent.

    Parameters
    ----------
    shrink : float, default=1.5
        Leave out rows whose pull exceeds this many root mean squares; ``inf`` for never.
    order : {"rows", "blocks"}, optional
        Each pass in a new random order of all rows; or blocks of rows in random order, and the
        rows of each in random order. Blocks are for rows that lie in files, and the default for
        them. In memory they take the same path.
    block_rows : int, optional
        The rows of a block with ``order="blocks"``; those of a store by default.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import DualAscent, Problem, solve
    >>> X = np.array([[1.0, 2.0], [2.0, 0.5], [-1.0, -1.0], [-2.0, 0.5]])
    >>> solution = solve(Problem(X, [1, 1, -1, -1], C=1.0, bias="free"), DualAscent(), tol=1e-9)
    >>> solution.converged
    True
    """

    shrink: float = 1.5
    order: str | None = None
    block_rows: int | None = None

    name: ClassVar[str] = "dual-ascent"
    solves: ClassVar[Solves] = Solves(stores=True, exact=True, estimates=True)

    def __post_init__(self) -> None:
        if not self.shrink > 0:
            raise ValueError(f"shrink must be positive, not {self.shrink!r}")
        if self.order not in (None, *ORDERS):
            raise ValueError(f"order must be 'rows' or 'blocks', not {self.order!r}")
        check_block_rows(self.order, self.block_rows)

    def check(self, problem: Problem) -> None:
        super().check(problem)
        if self.order is not None:
            check_order(problem, self.order, self.block_rows)

    def _bounds(self, problem: Problem) -> np.ndarray:
        """Where the blocks of rows begin; one block where the order is of all rows."""
        return block_bounds(problem, self.block_rows)

    def start(
        self, problem: Problem, seed: np.random.SeedSequence, warm: Answer | View | None = None
    ) -> DualAscentState:
        norms = problem.squared_norms
        numbers = aligned(problem.y.size, 4)
        if warm is not None and warm.beta is not None:
            numbers[:, BETA] = warm.beta
        numbers[:, NORM] = norms
        numbers[:, TARGET] = problem.y
        numbers[:, COST] = problem.cost
        w = np.zeros(problem.d)
        run = np.zeros(25)
        run[ACTIVE], run[POSITION] = problem.m, NEW_PASS
        bounds = self._bounds(problem)
        starts, several = places_of(problem, bounds), bounds.size > 2
        run[THRESHOLD] = np.inf
        run[SHRINKING] = self.shrink
        run[RATIO] = 0.01
        run[UNTIL] = 10.0
        run[GAP_NOW] = run[ESTIMATE] = np.inf
        if problem.free_bias:
            used = norms[problem.which]
            run[KAPPA] = 0.1 * float(np.median(used[used > 1e-12 * used.max()]))
            run[BIAS] = 0.0 if warm is None else warm.b
        note = ""
        if warm is not None and warm.beta is None:
            note = "the warm start has no dual variables: dual ascent starts at zero"
        elif warm is not None:
            _begin_all(problem, numbers, w, run)
        return DualAscentState(
            w=w,
            numbers=numbers,
            order=problem.which.copy(),
            starts=starts,
            active=np.diff(starts),
            blocks=filled_blocks(problem, bounds),
            asleep=np.zeros(problem.y.size if several else 0, dtype=np.uint8),
            rng=generator(seed),
            run=run,
            best_primal=np.inf,
            best_dual=-np.inf,
            idle_looks=0,
            note=note,
            finish=Finish.idle(problem.y.size, problem.d),
        )

    def advance(self, problem: Problem, state: DualAscentState, visits: int, goal: float) -> Report:
        if state.idle_looks >= PATIENCE and goal >= 0.0:
            return Report(0, look=True, status=STALLED, note="no progress in the last looks")
        if state.run[OWED] > 0.0:
            paid = min(visits, int(state.run[OWED]))
            state.run[OWED] -= paid
            return Report(paid, float(state.run[ESTIMATE]))
        if state.finish.at_work:
            return self._conjugate(problem, state, visits)
        if state.run[NEWTON_LEFT] > 0.0:
            return self._newton(problem, state)
        done, event = 0, _NEXT
        while event == _NEXT:
            if state.run[POSITION] != NEW_PASS:
                hold_at(problem, self._bounds(problem), state.blocks, int(state.run[TURN]))
            more, event = _passes(
                problem.rows,
                problem.loss,
                problem.which,
                state.numbers,
                self._order(problem, state),
                state.w,
                state.rng,
                state.run,
                visits - done,
                goal,
            )
            done += more
        if event == _SAMPLE:
            event = self._sample(problem, state, goal)
        report = Report(done, float(state.run[ESTIMATE]), event == _LOOK, note=state.note)
        state.note = ""
        if event == _PAUSE:
            report.look = self._pause(problem, state, goal)
        return report

    def _order(self, problem: Problem, state: DualAscentState) -> Order:
        bounds = self._bounds(problem)
        size = int(bounds[1] - bounds[0])
        return Order(state.order, state.starts, state.active, state.blocks, state.asleep, size)

    def _sample(self, problem: Problem, state: DualAscentState, goal: float) -> int:
        """At the end of a pass, a better guess of the gap from a few blocks; what follows."""
        blocks = filled_blocks(problem, self._bounds(problem))
        shuffle_all(blocks, state.rng)
        chosen = np.sort(blocks[:SAMPLED])
        hold_at(problem, self._bounds(problem), chosen, 0)
        which = np.concatenate(
            [problem.which[state.starts[k] : state.starts[k + 1]] for k in chosen]
        )
        _sample_of_blocks(
            problem.rows,
            problem.loss,
            which,
            state.numbers,
            state.w,
            state.rng,
            state.run,
            which.size / problem.m,
        )
        if state.run[ESTIMATE] <= 0.97 * goal:
            return _LOOK
        return _PAUSE if state.run[PASSES] >= state.run[UNTIL] else _SPENT

    def _pause(self, problem: Problem, state: DualAscentState, goal: float) -> bool:
        """Begin a finish where the goal is tight or far away; returns whether to look.

        A finish reads the free rows wherever they lie, so that there is none with blocks, but for
        small problems.
        """
        run = state.run
        if state.blocks.size > 1 and problem.m * problem.d >= SMALL:
            run[UNTIL] = np.inf
            return False
        slow = bool(run[CONJUGATE]) or self._slow(state, goal)
        run[UNTIL] = run[PASSES] + PAUSE
        if not (goal < TIGHT or slow):
            return False
        if isinstance(problem.loss, Logistic):
            look = self._finish_logistic(problem, state)
            run[UNTIL] = run[PASSES] + (SHORT_PAUSE if look else PAUSE)
            return look
        if newton_is_cheap(problem, state.numbers):
            run[NEWTON_LEFT] = NEWTON_STEPS
        elif slow:
            state.finish.begin(problem, state.numbers, state.w)
        return False

    def _slow(self, state: DualAscentState, goal: float) -> bool:
        """Whether, at the pace since the last pause, the goal is more than so many passes away."""
        run = state.run
        dual = run[DUAL] - 0.5 * float(state.w @ state.w)
        gap = run[GAP_NOW] / dual if dual > 0.0 else np.inf
        then, passes = run[GAP_THEN], run[PASSES] - run[PASSES_THEN]
        run[GAP_THEN], run[PASSES_THEN] = gap, run[PASSES]
        goal = max(goal, FINEST_TOLERANCE)
        if not (goal < gap < np.inf and then > 0.0):
            return False
        long = LONG if gap < FAR else HOPELESS
        return bool(np.log(gap / goal) * passes > long * np.log(max(then / gap, 1.0)))

    def _conjugate(self, problem: Problem, state: DualAscentState, visits: int) -> Report:
        """Conjugate gradients on the free variables: as much as the visits allow."""
        run = state.run
        done, moved = state.finish.advance(
            problem, state.numbers, state.w, float(run[BIAS]), visits
        )
        report = Report(done, float(run[ESTIMATE]))
        if moved is not None:
            rise, change, bias_step = moved
            run[DUAL] += rise
            run[SUM] += change if problem.free_bias else 0.0
            run[BIAS] += bias_step
            run[UNTIL] = run[PASSES] + SHORT_PAUSE
            run[CONJUGATE] += 1.0
            report.look = run[CONJUGATE] % LOOK_EVERY == 0.0
        return report

    def _newton(self, problem: Problem, state: DualAscentState) -> Report:
        """One direct Newton step on the free variables; the last is one that meets no bound."""
        run = state.run
        beta = np.ascontiguousarray(state.numbers[:, BETA])
        step = newton_step(
            problem, beta, state.w, float(run[BIAS]), float(run[SUM]), float(run[KAPPA])
        )
        left, whole = run[NEWTON_LEFT], True
        if step is not None:
            rows, new, rise, bias, whole = step
            beta[rows] = new
            state.numbers[:, BETA] = beta
            run[DUAL] += rise
            run[BIAS] = bias
            run[SUM] = float(beta.sum()) if problem.free_bias else 0.0
            left -= 1.0
            run[OWED] = rows.size  # visits that the next calls report, so that no limit is passed
        run[NEWTON_LEFT] = 0.0 if whole else left
        report = Report(0, float(run[ESTIMATE]))
        if run[NEWTON_LEFT] == 0.0:
            report.look = left < NEWTON_STEPS
            run[UNTIL] = run[PASSES] + (SHORT_PAUSE if report.look else PAUSE)
        return report

    def _finish_logistic(self, problem: Problem, state: DualAscentState) -> bool:
        found = smooth_newton(problem, state.w, float(state.run[BIAS]))
        if found is None:
            return False
        state.numbers[:, BETA], bias = found
        state.w[:] = 0.0
        state.run[[SUM, DUAL]] = 0.0
        _begin_all(problem, state.numbers, state.w, state.run)
        if problem.free_bias:
            state.run[BIAS] = bias
        return True

    def answer(self, problem: Problem, state: DualAscentState) -> Answer:
        bias = float(state.run[BIAS]) if problem.free_bias else 0.0
        return Answer(state.w, bias, state.numbers[:, BETA])

    def steps_done(self, problem: Problem, state: DualAscentState) -> float:
        """Passes over the active rows."""
        return float(state.run[PASSES])

    def looked(self, problem: Problem, state: DualAscentState, view: View) -> None:
        """Take over the float64 sums of the look, and bring back rows that were left out.

        Where a look with a free bias shows no progress, β and b stay as they are: taking over the
        balanced β again and again could lead round in a circle. All rows then come back.
        """
        gap = view.certificate.gap
        before = state.best_primal - state.best_dual
        state.best_primal = min(state.best_primal, view.certificate.primal)
        state.best_dual = max(state.best_dual, view.certificate.dual)
        now = state.best_primal - state.best_dual
        near = now < NEAR * state.best_dual
        progress = now <= 0.9 * before
        run = state.run
        at_work = state.finish.at_work  # then β and w are what its sums belong to
        if not at_work:
            state.idle_looks = state.idle_looks + 1 if near and not progress else 0
        assert view.beta is not None
        if not at_work and (progress or not problem.free_bias):
            state.numbers[:, BETA] = view.beta
            state.w[:] = view.w_beta
        if not at_work and problem.free_bias and progress:
            run[BIAS] = view.b
            run[SUM] = float(view.beta.sum())
        if not progress:
            run[THRESHOLD] = np.inf
        run[RATIO] = min(max(gap / max(run[GAP_NOW], 1e-300), 0.005), 3.0)
        run[ESTIMATE] = np.inf
        order = self._order(problem, state)
        _reactivate(problem.loss, problem.which, state.numbers, view.z, order, run)


def _begin_all(problem: Problem, numbers: np.ndarray, w: np.ndarray, run: np.ndarray) -> None:
    """w = Σ β_i x_i over all rows."""
    for which in problem.in_order():
        _begin(problem.rows, problem.loss, which, numbers, w, run)


@kernel
def _begin(rows, loss, which, numbers, w, run):
    """w = Σ β_i x_i and the sums that go with it, for a β brought into its domain."""
    for k in range(which.size):
        i = np.uint64(which[k])
        beta, y, c = numbers[i, BETA], numbers[i, TARGET], numbers[i, COST]
        beta = clip(loss, beta, y, c)
        numbers[i, BETA] = beta
        run[DUAL] += dual_value(loss, beta, y, c)
        if beta != 0.0:
            run[SUM] += beta
            add(rows, i, beta, w)


@kernel
def _passes(rows, loss, which, numbers, order, w, rng, run, visits, goal):
    """Visits in random order until they are spent, a look is promising, a pause is due, or, with
    several blocks, others are at work."""
    done, several = 0, order.blocks.size > 1
    kappa, sequence = run[KAPPA], order.rows
    while True:
        if run[POSITION] < 0.0:
            run[TURN] = run[PULLS] = run[PULLED] = run[GAP] = 0.0
            if several:
                run[LIVE] = _shuffle_live(order, rng)
            _begin_turn(which, order, rng, run)
            if several:
                return done, _NEXT
        t, end = int(run[POSITION]), int(run[END])
        bias, total, threshold = run[BIAS], run[SUM], run[THRESHOLD]
        pulls, pulled, gap, dual = run[PULLS], run[PULLED], run[GAP], run[DUAL]
        while t < end and done < visits:
            if t + 20 < end:
                q = np.uint64(sequence[t + 20])
                fetch_start(rows, q)
                fetch(numbers, q * np.uint64(4))
                fetch_row(rows, np.uint64(sequence[t + 8]))
            i = np.uint64(sequence[t])
            beta, norm = numbers[i, BETA], numbers[i, NORM]
            y, c = numbers[i, TARGET], numbers[i, COST]
            z = dot(rows, i, w) + bias
            done += 1
            gap += c * value(loss, z, y) - dual_value(loss, beta, y, c) + z * beta
            gradient, stuck = pull(loss, z, y, c, beta)
            if stuck > threshold:
                end -= 1
                sequence[t], sequence[end] = sequence[end], sequence[t]
                order.active[np.int64(i) // order.size] -= 1
                if several:
                    order.asleep[i] = 1
                continue
            t += 1
            if gradient != 0.0:
                pulls += 1.0
                pulled += gradient * gradient
                new = dual_step(loss, z, y, c, norm + kappa, beta)
                step = new - beta
                if step != 0.0:
                    dual += dual_value(loss, new, y, c) - dual_value(loss, beta, y, c)
                    numbers[i, BETA] = new
                    total += step
                    bias += kappa * step
                    add(rows, i, step, w)
        run[ACTIVE] -= run[END] - end
        run[BIAS], run[SUM], run[POSITION], run[END] = bias, total, t, end
        run[PULLS], run[PULLED], run[GAP], run[DUAL] = pulls, pulled, gap, dual
        if t < end:
            return done, _SPENT
        run[SWEEPS] -= 1.0
        if run[SWEEPS] > 0.0 and end > 0:
            shuffle(sequence[:end], end, rng)
            run[POSITION] = 0.0
            continue
        run[TURN] += AT_ONCE
        if several and run[TURN] < run[LIVE]:
            _begin_turn(which, order, rng, run)
            return done, _NEXT if done < visits else _SPENT
        event = _end_of_pass(rows, loss, which, numbers, w, rng, run, goal, several)
        if event != _SPENT or done >= visits:
            return done, event


@inlined
def _shuffle_live(order, rng):
    """The blocks of this pass: those with active rows, in random order. Returns how many."""
    blocks, live = order.blocks, 0
    for k in range(blocks.size):
        if order.active[blocks[k]] > 0:
            blocks[k], blocks[live] = blocks[live], blocks[k]
            live += 1
    shuffle(blocks, live, rng)
    return live


@inlined
def _begin_turn(which, order, rng, run):
    """Shuffle the active rows: of all; or of the blocks whose turn it is, put side by side."""
    count, seen = int(run[ACTIVE]), 0
    if order.blocks.size > 1:
        count, first = 0, int(run[TURN])
        for k in range(first, min(first + AT_ONCE, int(run[LIVE]))):
            block = order.blocks[k]
            seen += order.starts[block + 1] - order.starts[block]
            for j in range(order.starts[block], order.starts[block + 1]):
                if order.asleep[which[j]] == 0:
                    order.rows[count] = which[j]
                    count += 1
    shuffle(order.rows[:count], count, rng)
    run[POSITION], run[END] = 0.0, count
    run[SWEEPS] = min(max(seen // max(count, 1), 1), MOST_SWEEPS)


@kernel
def _end_of_pass(rows, loss, which, numbers, w, rng, run, goal, several):
    """Set the next pass up, and guess the gap; the guess decides when to look, nothing else.

    With several blocks a sample of all rows would be read from everywhere: it is left to Python.
    """
    run[POSITION] = NEW_PASS
    run[PASSES] += 1.0
    run[THRESHOLD] = run[SHRINKING] * np.sqrt(run[PULLED] / max(run[PULLS], 1.0))
    if run[KAPPA] > 0.0:
        run[BIAS] += run[KAPPA] * run[SUM]
    norm = 0.0
    for j in range(w.size):
        norm += w[j] * w[j]
    dual = run[DUAL] - 0.5 * norm
    off_balance = 0.5 * abs(run[SUM]) if run[KAPPA] > 0.0 else 0.0
    run[GAP_NOW] = run[GAP] + off_balance
    run[ESTIMATE] = run[GAP_NOW] * run[RATIO] / dual if dual > 0.0 else np.inf
    if run[ACTIVE] < 1.0:
        return _LOOK
    if 0.6 * run[ESTIMATE] <= goal:
        if several:
            return _SAMPLE
        _improve_estimate(run, _sampled_gap(rows, loss, which, numbers, w, run[BIAS], rng), dual)
        if run[ESTIMATE] <= 0.97 * goal:
            return _LOOK
    if run[PASSES] >= run[UNTIL]:
        return _PAUSE
    return _SPENT


@inlined
def _improve_estimate(run, sampled, dual):
    """A guess from a sample; its ratio to the free one corrects the next of those."""
    gap = sampled + (0.5 * abs(run[SUM]) if run[KAPPA] > 0.0 else 0.0)
    run[RATIO] = min(max(gap / max(run[GAP_NOW], 1e-300), 0.005), 3.0)
    run[ESTIMATE] = gap / dual


@kernel
def _sample_of_blocks(rows, loss, which, numbers, w, rng, run, share):
    """A guess from some rows, which are this share of all."""
    norm = 0.0
    for j in range(w.size):
        norm += w[j] * w[j]
    sampled = _sampled_gap(rows, loss, which, numbers, w, run[BIAS], rng) / share
    _improve_estimate(run, sampled, run[DUAL] - 0.5 * norm)


@kernel
def _sampled_gap(rows, loss, which, numbers, w, bias, rng):
    """The duality gap at the present w, estimated from rows at even steps."""
    m = which.size
    count = max(min(SAMPLE, m // 8), min(m, 256))
    step = m // count
    first = np.int64(below(rng, step))
    total = 0.0
    for k in range(count):
        if k + 8 < count:
            fetch_row(rows, np.uint64(which[first + (k + 8) * step]))
        i = np.uint64(which[first + k * step])
        beta, y, c = numbers[i, BETA], numbers[i, TARGET], numbers[i, COST]
        z = dot(rows, i, w) + bias
        total += c * value(loss, z, y) - dual_value(loss, beta, y, c) + z * beta
    return total * m / count


@kernel
def _reactivate(loss, which, numbers, z, order, run):
    """Bring all rows back but those that are pulled hard against their bound; the active first."""
    several, threshold = order.blocks.size > 1, run[THRESHOLD]
    active, last, dual = 0, which.size, 0.0
    for block in range(order.active.size):
        order.active[block] = 0
    for k in range(which.size):
        i = np.uint64(which[k])
        beta, y, c = numbers[i, BETA], numbers[i, TARGET], numbers[i, COST]
        dual += dual_value(loss, beta, y, c)
        _, stuck = pull(loss, z[i] + run[BIAS], y, c, beta)
        if stuck > threshold:
            last -= 1
            order.rows[last] = which[k]
        else:
            order.rows[active] = which[k]
            order.active[np.int64(i) // order.size] += 1
            active += 1
        if several:
            order.asleep[i] = stuck > threshold
    if active == 0:
        active = which.size
        run[THRESHOLD] = np.inf
        for k in range(which.size):
            order.active[which[k] // order.size] += 1
            if several:
                order.asleep[which[k]] = 0
    run[ACTIVE], run[POSITION], run[DUAL] = active, NEW_PASS, dual
