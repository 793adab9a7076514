"""Pegasos: stochastic sub-gradient steps of length 1/(λt), each followed by a projection.

    minimise   f(w, b) = λ/2 ‖w‖² + (1/m) Σ s̃_i ℓ(y_i, ⟨w, x_i⟩ + b)
    step t     A = the next k rows,  τ = t + t₀,  g_i ∈ ∂ℓ at z_i = ⟨w, x_i⟩ + b
               w ← (1 − 1/τ) w − 1/(λτk) Σ_A s̃_i g_i x_i
               w ← min(1, r/‖w‖) w,    λr² the loss's own bound on λ‖w*‖²

w is stored as scale · v with ν = ‖w‖², so that a step touches only the nonzeros of its rows. The
scale is Φ/(λτ), where Φ is the product of all projections: without them it is the margin
perceptron, whose threshold λt grows (v ← v + yx where y⟨v, x⟩ < λt). counts_i is −Σ s̃_i g_i
under the same factor as v, so β = scale · counts are dual variables, and Pegasos has a certificate.

In epochs, B = ⌈m/k⌉ batches make a pass and each is divided by m/B, the last and shorter one too;
then α lies in its box by itself after whole epochs. I.i.d. batches are divided by k.
t₀ = 0, except for losses of unbounded slope: t₀ = ℓ″ R²/λ, without which they overflow.

Shalev-Shwartz, Singer & Srebro 2007, figure 1, and section 4 for the three biases; the margin form
and the dual variables after Panagiotakopoulos & Tsampouka 2013, section 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pegasos.certificate import Answer, View
from pegasos.compiled import (
    below,
    draw_below,
    fetch,
    generator,
    inlined,
    kernel,
    shuffle,
    shuffle_all,
)
from pegasos.losses import best_bias, clip, dual_value, slopes, subgradient, value
from pegasos.problem import Problem
from pegasos.rows import add, dot, fetch_row, fetch_start, squared_norm
from pegasos.solvers.block_order import (
    block_bounds,
    check_block_rows,
    check_order,
    filled_blocks,
    most_at_once,
    visit_blocks,
)
from pegasos.solvers.contract import DIVERGED, FINISHED, Report, Solver, Solves, State
from pegasos.solvers.guarantees import Guarantee, guarantee, measured_bound, steps_for

ORDERS = ("iid", "cycle", "shuffle-once", "shuffle", "blocks")
OUTPUTS = ("last", "average", "random")
BIAS_STEPS = ("subgradient", "exact")

# The numbers of a run.
STEP, SCALE, PHI, NU, BIAS, POSITION, STOP = range(7)
LARGEST, SCALES, BIASES, LOSS, ESTIMATE, RATIO, EPOCHS, BEGUN = range(7, 15)

BURST = 8192  # visits that go on without a look at the gap, however few the rows
# Φ below this is multiplied into v: before an overflow or, where an average is kept, before
# SCALES · v and past are so much larger than their difference that its digits are lost.
SMALLEST, SMALLEST_OF_AVERAGE = 1e-100, 1e-2


class Rule(NamedTuple):
    """The numbers of a step, fixed for a run."""

    lam: float
    offset: float  # t₀
    ball: float  # r², infinite without projection
    batch: int
    divisor: float
    bias_rate: float  # 0 where b is not learnt by its sub-gradient
    iid: bool
    reshuffle: bool
    average: bool
    burst: int  # passes between two returns to Python


class Work(NamedTuple):
    """The vectors of a run."""

    v: np.ndarray
    counts: np.ndarray
    past: np.ndarray  # Σ_t w_t = SCALES · v − past, for the average
    which: np.ndarray  # the rows to draw from
    scores: np.ndarray  # room for a batch: ⟨w, x⟩,
    amounts: np.ndarray  # and −s̃ g over the divisor


@dataclass
class PegasosState(State):
    """v, one number for each row, the order of visits, and the run's numbers."""

    v: np.ndarray
    counts: np.ndarray
    past: np.ndarray
    order: np.ndarray
    blocks: np.ndarray  # the order of the blocks in this pass, where visits go by blocks
    rng: np.ndarray
    run: np.ndarray


@dataclass(frozen=True)
class Pegasos(Solver):
    """Pegasos, with every variant of the paper.

    Parameters
    ----------
    batch : int or "all", default=1
        k, the rows of a step.
    steps : int, optional
        T: stop after this many steps. Without it only the driver's limits end a run.
    order : {"shuffle", "shuffle-once", "cycle", "iid", "blocks"}, optional
        Each pass in a new random order (the default); all in one random order; as stored; each row
        drawn independently, as in the paper's theorems; or in blocks, as by default where the rows
        lie in files.
    project : bool, default=True
        Project onto the ball that holds the optimum.
    w1 : array of shape (d,), optional
        The starting vector; zero if not given.
    output : {"last", "average", "random"}, default="last"
        w_{T+1}, the average of w_1 … w_T, or w_r for a random r in 1 … T (needs ``steps``).
    bias_step : {"subgradient", "exact"}, default="subgradient"
        How a free bias is learnt: by its own sub-gradient, or as the best one for each batch.
    bias_rate : float, default=1.0
        The free bias steps by this times 1/(λt).
    block_rows : int, optional
        The rows of a block; those of a store by default.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import Pegasos, Problem, solve
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 4))
    >>> problem = Problem(X, np.sign(X @ [1.0, -1.0, 0.5, 0.0]), lam=0.05)
    >>> solution = solve(problem, Pegasos(), tol=0.01)
    >>> solution.certificate.relative_gap <= 0.01
    True
    """

    batch: int | str = 1
    steps: int | None = None
    order: str | None = None
    project: bool = True
    w1: Any = None
    output: str = "last"
    bias_step: str = "subgradient"
    bias_rate: float = 1.0
    block_rows: int | None = None

    name: ClassVar[str] = "pegasos"
    solves: ClassVar[Solves] = Solves(stores=True)

    def __post_init__(self) -> None:
        for name, has, can in (
            ("order", self.order, (None, *ORDERS)),
            ("output", self.output, OUTPUTS),
            ("bias_step", self.bias_step, BIAS_STEPS),
        ):
            if has not in can:
                names = ", ".join(filter(None, can))
                raise ValueError(f"{name} must be one of {names}, not {has!r}")
        check_block_rows(self.order, self.block_rows)
        if self.batch != "all" and not (is_whole(self.batch) and int(self.batch) > 0):
            raise ValueError(f"batch must be a positive integer or 'all', not {self.batch!r}")
        if self.steps is not None and not (is_whole(self.steps) and 0 < self.steps < 2**32):
            raise ValueError(f"steps must be an integer from 1 to 2**32 - 1, not {self.steps!r}")
        if self.output == "random" and self.steps is None:
            raise ValueError("output='random' draws its stopping time from 1 … steps: give steps")
        if not 0 < self.bias_rate < math.inf:
            raise ValueError(f"bias_rate must be positive and finite, not {self.bias_rate!r}")

    @property
    def stops_on_gap(self) -> bool:
        return self.output != "random"

    def size(self, problem: Problem) -> int:
        """k for this problem."""
        return problem.m if self.batch == "all" else int(self.batch)

    def check(self, problem: Problem) -> None:
        super().check(problem)
        k = self.size(problem)
        if k > problem.m:
            raise ValueError(f"batch={k} is more than the {problem.m} rows of the problem")
        check_order(problem, self.order_of(problem), self.block_rows)
        if problem.stored and k > (most := most_at_once(problem, self._bounds(problem))):
            raise ValueError(
                f"batch={k} is more than the {most:.0f} rows of the store that are in memory at "
                "once: give a smaller batch, or write the store with a larger block_rows"
            )
        if self.bias_step == "exact" and not problem.free_bias:
            raise ValueError("bias_step='exact' is for a free bias; this problem has none")
        if self.bias_step == "exact" and k == 1:
            raise ValueError(
                "bias_step='exact' learns nothing from batches of one row, which a bias fits by "
                "itself: give batch=2 or more, or bias_step='subgradient'"
            )
        if self.w1 is not None:
            w1 = np.asarray(self.w1, dtype=np.float64)
            if w1.shape != (problem.d,) or not np.isfinite(w1).all():
                raise ValueError(
                    f"w1 must hold {problem.d} finite numbers; its shape is {w1.shape}"
                )
            ball = self.rule(problem).ball
            if float(w1 @ w1) > ball * (1 + 1e-12):
                raise ValueError(
                    f"w1 has norm {np.linalg.norm(w1):g}, outside the ball of radius "
                    f"{math.sqrt(ball):g} that steps are projected onto"
                )

    def order_of(self, problem: Problem) -> str:
        """The order of visits: in blocks where the rows lie in files, unless another is given."""
        return self.order or ("blocks" if problem.stored else "shuffle")

    def _bounds(self, problem: Problem) -> np.ndarray:
        return block_bounds(problem, self.block_rows)

    def rule(self, problem: Problem) -> Rule:
        k = self.size(problem)
        curved = math.isinf(problem.loss.lipschitz)
        learns = problem.free_bias and self.bias_step == "subgradient"
        reach = problem.reach
        if learns:  # b is one more coordinate, of curvature bias_rate
            reach += float(self.bias_rate) * float(problem.weights.max())
        return Rule(
            lam=problem.lam,
            offset=problem.loss.curvature * reach / problem.lam if curved else 0.0,
            ball=problem.radius / problem.lam if self.project else math.inf,
            batch=k,
            divisor=float(k) if self.order == "iid" else problem.m / math.ceil(problem.m / k),
            bias_rate=float(self.bias_rate) if learns else 0.0,
            iid=self.order == "iid",
            reshuffle=self.order_of(problem) == "shuffle",
            average=self.output == "average",
            burst=max(1, BURST // problem.m),
        )

    def start(
        self, problem: Problem, seed: np.random.SeedSequence, warm: Answer | None = None
    ) -> PegasosState:
        rule = self.rule(problem)
        rng = generator(seed)
        batches = math.ceil(problem.m / rule.batch)
        order = problem.which.copy()
        if rule.iid:
            order = np.empty(batches * rule.batch, dtype=np.uint32)
        elif self.order == "shuffle-once":
            shuffle_all(order, rng)
        run = np.zeros(15)
        run[PHI], run[RATIO], run[SCALE] = 1.0, 0.5, 1.0
        state = PegasosState(
            v=np.zeros(problem.d),
            counts=np.zeros(problem.y.size),
            past=np.zeros(problem.d if rule.average else 0),
            order=order,
            blocks=filled_blocks(problem, self._bounds(problem)),
            rng=rng,
            run=run,
        )
        w = np.zeros(problem.d) if self.w1 is None else np.array(self.w1, dtype=np.float64)
        if warm is not None:
            # As if one pass had been made: the next steps are as long as those of a second one.
            w, run[STEP] = warm.w.copy(), batches
            run[BIAS] = warm.b if problem.free_bias else 0.0
            run[BEGUN] = batches
            if warm.beta is not None:
                beta = np.where(problem.cost > 0, warm.beta, 0.0)
                w[:] = 0.0
                for which in problem.in_order():
                    _clip_and_add(
                        problem.rows, problem.loss, which, problem.y, problem.cost, beta, w
                    )
                state.counts[:] = beta * (rule.lam * (batches + rule.offset))
        time = run[STEP] + rule.offset
        if time > 0:
            run[SCALE] = 1.0 / (rule.lam * time)
        state.v[:] = w / run[SCALE]
        run[NU] = float(w @ w)
        run[STOP] = math.inf
        if self.steps is not None:
            run[STOP] = run[STEP] + self.steps
            if self.output == "random":  # w_r is there after r − 1 steps
                run[STOP] = run[STEP] + float(draw_below(rng, self.steps))
        return state

    def advance(self, problem: Problem, state: PegasosState, visits: int, goal: float) -> Report:
        rule = self.rule(problem)
        run = state.run
        report = Report(self._visit(problem, state, rule, visits))
        if not np.isfinite(run[[NU, BIAS, SCALES]]).all():
            report.status = DIVERGED
            report.note = (
                f"diverged at step {run[STEP]:.0f}; the largest row has norm "
                f"{math.sqrt(problem.squared_norms.max()):g}"
            )
        elif run[STEP] >= run[STOP]:
            report.status = FINISHED
        elif run[POSITION] == 0 and run[EPOCHS] % rule.burst == 0:
            report.gap_estimate = self._estimate(problem, state)
        return report

    def _visit(self, problem: Problem, state: PegasosState, rule: Rule, visits: int) -> int:
        """About so many visits, and of rows that lie in files one block after the other."""
        run, order = state.run, self.order_of(problem)
        scores, amounts = np.empty((2, rule.batch))
        work = Work(state.v, state.counts, state.past, problem.which, scores, amounts)
        if order != "blocks" and not problem.stored:
            return self._go(problem, state, work, rule, visits)
        return visit_blocks(
            problem,
            self._bounds(problem),
            state,
            order == "blocks",
            visits,
            position=lambda: int(run[POSITION]),
            go=lambda count: self._go(problem, state, work, rule, count),
            over=lambda: (
                run[STEP] >= run[STOP] or (run[POSITION] == 0 and run[EPOCHS] % rule.burst == 0)
            ),
        )

    def _go(
        self, problem: Problem, state: PegasosState, work: Work, rule: Rule, visits: int
    ) -> int:
        if problem.free_bias and self.bias_step == "exact":
            return _steps_with_exact_bias(problem, state, work, rule, visits)
        steps = _single_steps if rule.batch == 1 else _batch_steps
        return steps(
            problem.rows,
            problem.loss,
            problem.y,
            problem.weights,
            state.order,
            state.rng,
            work,
            state.run,
            rule,
            visits,
        )

    def _estimate(self, problem: Problem, state: PegasosState) -> float:
        """The gap from the losses met in the last pass and the present dual variables."""
        run = state.run
        primal = 0.5 * run[NU] + run[LOSS] / (problem.lam * problem.m)
        factor = self._dual_factor(state, self.rule(problem))
        dual, total = _dual_sum(problem.loss, state.counts, factor, problem.y, problem.cost)
        dual -= 0.5 * run[NU]
        if problem.free_bias:
            dual -= abs(run[BIAS] * total)
        run[ESTIMATE] = max(primal - dual, 0.0) / dual if dual > 0 else math.inf
        return float(run[ESTIMATE] * run[RATIO])

    def _dual_factor(self, state: PegasosState, rule: Rule) -> float:
        """What turns counts into β: the scale, with t in place of t + t₀ once t₀ is behind."""
        run = state.run
        late = rule.offset > 0 and run[STEP] >= rule.offset
        return float(run[SCALE] * ((run[STEP] + rule.offset) / run[STEP] if late else 1.0))

    def answer(self, problem: Problem, state: PegasosState) -> Answer:
        run = state.run
        w, b = run[SCALE] * state.v, run[BIAS]
        steps = run[STEP] - run[BEGUN]
        if self.output == "average" and steps > 0:
            w = (run[SCALES] * state.v - state.past) / steps
            b = run[BIASES] / steps
        beta = self._dual_factor(state, self.rule(problem)) * state.counts
        return Answer(w, float(b), beta)

    def looked(self, problem: Problem, state: PegasosState, view: View) -> None:
        guess = state.run[ESTIMATE]
        truth = view.certificate.relative_gap
        if 0.0 < guess < math.inf and math.isfinite(truth):
            state.run[RATIO] = min(max(truth / guess, 0.01), 1e6)

    def steps_done(self, problem: Problem, state: PegasosState) -> float:
        return float(state.run[STEP])

    def guarantee(
        self, problem: Problem, steps: int, delta: float | None = None, boosted: bool = False
    ) -> Guarantee:
        """What the theorems promise after ``steps`` steps (see ``pegasos.solvers.guarantees``)."""
        return guarantee(self, problem, steps, delta, boosted)

    def steps_for(
        self, problem: Problem, epsilon: float, delta: float | None = None, boosted: bool = False
    ) -> int:
        """The fewest steps after which the theorems promise f ≤ f* + epsilon."""
        return steps_for(self, problem, epsilon, delta, boosted)

    def measured_bound(self, problem: Problem, state: PegasosState) -> float:
        """A bound on the regret of the run so far, from the largest sub-gradient it has met."""
        if problem.free_bias or math.isinf(problem.loss.lipschitz) or state.run[BEGUN] > 0:
            raise ValueError(
                "the bound holds for runs from their first step, without a free bias, and for "
                "losses of bounded slope"
            )
        return measured_bound(problem.lam, float(state.run[LARGEST]), float(state.run[STEP]))


def is_whole(number: Any) -> Any:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


@kernel
def _clip_and_add(rows, loss, which, y, cost, beta, w):
    """w += Σ β_i x_i for β brought into its domain, in place."""
    for k in range(which.size):
        i = np.uint64(which[k])
        beta[i] = clip(loss, beta[i], y[i], cost[i])
        if beta[i] != 0.0:
            add(rows, i, beta[i], w)


@kernel
def _dual_sum(loss, counts, factor, y, cost):
    """Σ d(β_i) and Σ β_i for β = factor · counts brought into its domain."""
    total, plain = 0.0, 0.0
    for i in range(counts.size):
        if cost[i] > 0.0:
            beta = clip(loss, factor * counts[i], y[i], cost[i])
            total += dual_value(loss, beta, y[i], cost[i])
            plain += beta
    return total, plain


@inlined
def _begin_pass(order, rng, work, run, rule):
    """Make the order of the next pass, and renew ν, which was kept by increments."""
    if rule.iid:
        for k in range(order.size):
            order[k] = work.which[below(rng, work.which.size)]
    elif rule.reshuffle:
        shuffle(order, order.size, rng)
    run[LOSS] = 0.0
    if run[STEP] > 0.0:
        renew_norm(work, run)


@inlined
def renew_norm(work, run):
    """ν from w itself."""
    norm = 0.0
    for j in range(work.v.size):
        norm += work.v[j] * work.v[j]
    run[NU] = run[SCALE] * run[SCALE] * norm


@inlined
def _begin_step(work, run, rule):
    """Count the step and shrink w by 1 − 1/τ; with τ = 1 the factor is 0: reset, do not divide."""
    if rule.average:
        run[SCALES] += run[SCALE]
        run[BIASES] += run[BIAS]
    run[STEP] += 1.0
    time = run[STEP] + rule.offset
    if time == 1.0:
        for j in range(work.v.size):
            if rule.average:
                work.past[j] -= run[SCALES] * work.v[j]
            work.v[j] = 0.0
    run[SCALE] = run[PHI] / (rule.lam * time)
    return time


@inlined
def pull_towards(rows, i, amount, work, run, rule):
    """Add amount · x_i / Φ to v."""
    step = amount / run[PHI]
    work.counts[i] += step
    add(rows, i, step, work.v)
    if rule.average:
        add(rows, i, run[SCALES] * step, work.past)


@inlined
def onto_ball(work, run, rule):
    """Onto the ball: Φ and the scale shrink, v stays."""
    if run[NU] > rule.ball:
        factor = np.sqrt(rule.ball / run[NU])
        run[PHI] *= factor
        run[SCALE] *= factor
        run[NU] = rule.ball
    if run[PHI] < (SMALLEST_OF_AVERAGE if rule.average else SMALLEST):
        for j in range(work.v.size):
            if rule.average:
                work.past[j] -= run[SCALES] * work.v[j]
            work.v[j] *= run[PHI]
        for i in range(work.counts.size):
            work.counts[i] *= run[PHI]
        run[SCALE] /= run[PHI]
        run[SCALES] = 0.0
        run[PHI] = 1.0


@kernel
def _single_steps(rows, loss, y, weights, order, rng, work, run, rule, visits):
    """Steps of one row each, until the visits are spent, a pass ends, or the last step is done."""
    done = 0
    size = order.size
    position = int(run[POSITION])
    while done < visits and run[STEP] < run[STOP]:
        if position == 0:
            _begin_pass(order, rng, work, run, rule)
        if position + 20 < size:
            q = np.uint64(order[position + 20])
            fetch_start(rows, q)
            fetch(work.counts, q)
            fetch(y, q)
            fetch(weights, q)
            fetch_row(rows, np.uint64(order[position + 8]))
        i = np.uint64(order[position])
        z = run[SCALE] * dot(rows, i, work.v)
        score = z + run[BIAS]
        run[LOSS] += weights[i] * value(loss, score, y[i])
        amount = -weights[i] * subgradient(loss, score, y[i])
        time = _begin_step(work, run, rule)
        nu = run[NU]
        steeper = 0.0
        if amount != 0.0:
            norm = amount * amount * squared_norm(rows, i)
            steeper = norm - 2.0 * rule.lam * amount * z
            keep = 1.0 - 1.0 / time
            length = 1.0 / (rule.lam * time)
            run[NU] = keep * keep * nu + length * (2.0 * keep * amount * z + length * norm)
            pull_towards(rows, i, amount, work, run, rule)
            run[BIAS] += rule.bias_rate * length * amount
        else:
            run[NU] = (1.0 - 1.0 / time) * (1.0 - 1.0 / time) * nu
        run[LARGEST] = max(run[LARGEST], rule.lam * rule.lam * nu + steeper)
        onto_ball(work, run, rule)
        done += 1
        position += 1
        if position == size:
            position = 0
            run[EPOCHS] += 1.0
            if run[EPOCHS] % rule.burst == 0.0:
                break
    run[POSITION] = position
    return done


@kernel
def _batch_steps(rows, loss, y, weights, order, rng, work, run, rule, visits):
    """Steps of a batch each, as above; the last batch of a pass may be shorter."""
    done = 0
    while done < visits and run[STEP] < run[STOP]:
        first = np.int64(run[POSITION])
        if first == 0:
            _begin_pass(order, rng, work, run, rule)
        batch = order[first : min(first + rule.batch, order.size)]
        pulls(rows, loss, y, weights, batch, work, run, rule)
        batch_step(rows, batch, work.scores, work.amounts, work, run, rule)
        done += batch.size
        if end_batch(first + batch.size, order.size, run, rule):
            break
    return done


@inlined
def pulls(rows, loss, y, weights, batch, work, run, rule):
    """The scores of a batch, and the amounts by which its rows pull."""
    margins(rows, batch, work, run, work.scores)
    for k in range(batch.size):
        i = np.uint64(batch[k])
        score = work.scores[k] + run[BIAS]
        run[LOSS] += weights[i] * value(loss, score, y[i])
        work.amounts[k] = -weights[i] * subgradient(loss, score, y[i]) / rule.divisor


@inlined
def margins(rows, batch, work, run, scores):
    """⟨w, x_i⟩ for the rows of a batch, without b."""
    for k in range(batch.size):
        if k + 8 < batch.size:
            fetch_row(rows, np.uint64(batch[k + 8]))
        scores[k] = run[SCALE] * dot(rows, np.uint64(batch[k]), work.v)


@inlined
def batch_step(rows, batch, scores, amounts, work, run, rule):
    """w ← (1 − 1/τ) w + h/(λτ), h = Σ amounts_i x_i; ν and the largest ‖λw − h‖ with it."""
    nu, scale = run[NU], run[SCALE]
    time = _begin_step(work, run, rule)
    before_v = 0.0 if time == 1.0 else 1.0 / scale
    along, length, total = 0.0, 0.0, 0.0  # ⟨w, h⟩, ‖h‖², Σ amounts
    for k in range(batch.size):
        amount = amounts[k]
        if amount != 0.0:
            i = np.uint64(batch[k])
            # ⟨h so far, x_i⟩ from v, which has moved by h/Φ
            moved = run[PHI] * (dot(rows, i, work.v) - before_v * scores[k])
            length += amount * (2.0 * moved + amount * squared_norm(rows, i))
            along += amount * scores[k]
            total += amount
            pull_towards(rows, i, amount, work, run, rule)
    keep, eta = 1.0 - 1.0 / time, 1.0 / (rule.lam * time)
    run[NU] = max(keep * keep * nu + eta * (2.0 * keep * along + eta * length), 0.0)
    run[BIAS] += rule.bias_rate * eta * total
    steepest = rule.lam * rule.lam * nu - 2.0 * rule.lam * along + length
    run[LARGEST] = max(run[LARGEST], steepest)
    onto_ball(work, run, rule)


@inlined
def end_batch(position, size, run, rule):
    """Move on; true where Python should have a look."""
    if position < size:
        run[POSITION] = position
        return False
    run[POSITION] = 0.0
    run[EPOCHS] += 1.0
    return run[EPOCHS] % rule.burst == 0.0


def _steps_with_exact_bias(
    problem: Problem, state: PegasosState, work: Work, rule: Rule, visits: int
) -> int:
    """Steps in which b is the best one for the batch, and the pull on the rows sums to zero."""
    run, order, done = state.run, state.order, 0
    while done < visits and run[STEP] < run[STOP]:
        first = int(run[POSITION])
        if first == 0:
            _begin_exact_pass(order, state.rng, work, run, rule)
        batch = order[first : min(first + rule.batch, order.size)]
        scores = np.empty(batch.size)
        _exact_margins(problem.rows, batch, work, run, scores)
        amounts = _balanced_amounts(problem, batch, scores, run) / rule.divisor
        _exact_step(problem.rows, batch, scores, amounts, work, run, rule)
        done += batch.size
        if _exact_end(first + batch.size, order.size, run, rule):
            break
    return done


@kernel
def _begin_exact_pass(order, rng, work, run, rule):
    _begin_pass(order, rng, work, run, rule)


@kernel
def _exact_margins(rows, batch, work, run, scores):
    margins(rows, batch, work, run, scores)


@kernel
def _exact_step(rows, batch, scores, amounts, work, run, rule):
    batch_step(rows, batch, scores, amounts, work, run, rule)


@kernel
def _exact_end(position, size, run, rule):
    return end_batch(position, size, run, rule)


def _balanced_amounts(
    problem: Problem, batch: np.ndarray, scores: np.ndarray, run: np.ndarray
) -> np.ndarray:
    """−s̃ g for g ∈ ∂ℓ at the batch's best b, with fractions at the kinks so that they sum to 0."""
    y, weights, loss = problem.y[batch], problem.weights[batch], problem.loss
    if loss.labels and (y == y[0]).all():
        return np.zeros(batch.size)  # a batch of one class pulls nothing and keeps the old b
    run[BIAS] = b = best_bias(loss, scores, y, weights)
    slack = 1e-10 * (1.0 + float(np.abs(scores + b).max()))
    left, right = np.empty(batch.size), np.empty(batch.size)
    run[LOSS] += _one_sided(loss, scores + b, y, weights, slack, left, right)
    low, high = float(weights @ left), float(weights @ right)
    fraction = min(max(-low / (high - low), 0.0), 1.0) if high > low else 0.0
    return -weights * (left + fraction * (right - left))


@kernel
def _one_sided(loss, scores, y, weights, slack, left, right):
    total = 0.0
    for k in range(scores.size):
        left[k], right[k] = slopes(loss, scores[k], y[k], slack)
        total += weights[k] * value(loss, scores[k], y[k])
    return total
