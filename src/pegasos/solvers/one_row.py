"""What the methods share that read one row at a time: the loop, the order, the dual variables.

    present    row i with its product ⟨v, x_i⟩ is shown to the method's rule, which moves v
    state      w = scale · v;   counts_i is what row i has added to v, so β = scale · counts

A method is a rule, a NamedTuple of its numbers, and one function ``@present.of(Rule)`` that says
what a row does. The numbers of a row lie side by side on one cache line, and rows to come are asked
for ahead, so that a pass costs what a pass of dual ascent costs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pegasos.certificate import Answer, View
from pegasos.compiled import (
    aligned,
    below,
    fetch,
    generator,
    inlined,
    kernel,
    shuffle,
    shuffle_all,
    verb,
)
from pegasos.losses import clip, dual_value, value
from pegasos.problem import Problem
from pegasos.rows import add, dot, fetch_row, fetch_start
from pegasos.solvers.block_order import (
    block_bounds,
    check_block_rows,
    check_order,
    filled_blocks,
    visit_blocks,
)
from pegasos.solvers.contract import DIVERGED, FINISHED, Report, Solver, State

ORDERS = ("shuffle", "shuffle-once", "cycle", "iid", "blocks")

# The numbers of a row, side by side in one half of a cache line.
COUNT, WEIGHT, TARGET, NORM = range(4)

# The numbers of a run. T counts presentations; w = SCALE · v. OWN and those after it are the
# method's own.
T, SCALE, POSITION, STOP, PASSES, LOSS, ESTIMATE, RATIO, BEGUN, OWN = range(10)
ROOM = 16  # numbers in a run

BURST = 8192  # visits that go on without a look at the gap, however few the rows


class Work(NamedTuple):
    """The arrays of a run: v, the rows' numbers, one more vector, and the rows that count."""

    v: np.ndarray
    numbers: np.ndarray
    second: np.ndarray
    which: np.ndarray


@dataclass
class OneRowState(State):
    """v, the rows' numbers, a second vector, the order of visits, and the run's numbers."""

    v: np.ndarray
    numbers: np.ndarray
    second: np.ndarray
    order: np.ndarray
    blocks: np.ndarray  # the order of the blocks in this pass, where visits go by blocks
    rng: np.ndarray
    run: np.ndarray


@dataclass(frozen=True)
class OneRow(Solver):
    """A method that reads one row at a time; the base of many.

    A subclass gives ``rule``, and ``prepare`` where a run does not begin at v = 0 and scale 1.
    """

    steps: int | None = None
    order: str | None = None
    block_rows: int | None = None

    usual_order: ClassVar[str] = "shuffle"  # of rows in memory

    def __post_init__(self) -> None:
        if self.order not in (None, *ORDERS):
            raise ValueError(f"order must be one of {', '.join(ORDERS)}, not {self.order!r}")
        check_block_rows(self.order, self.block_rows)
        if self.steps is not None and not (
            isinstance(self.steps, int | np.integer) and 0 < self.steps < 2**53
        ):
            raise ValueError(f"steps must be a positive whole number, not {self.steps!r}")

    def check(self, problem: Problem) -> None:
        super().check(problem)
        check_order(problem, self.order_of(problem), self.block_rows)

    def order_of(self, problem: Problem) -> str:
        """The order of visits: in blocks where the rows lie in files, unless another is given."""
        return self.order or ("blocks" if problem.stored else self.usual_order)

    def rule(self, problem: Problem, state: OneRowState) -> Any:
        """The numbers of a step, fixed for a run."""
        raise NotImplementedError

    def prepare(self, problem: Problem, state: OneRowState, warm: Answer | None) -> None:
        """Set what is the method's own before the first row."""

    def start(
        self, problem: Problem, seed: np.random.SeedSequence, warm: Answer | None = None
    ) -> OneRowState:
        numbers = aligned(problem.y.size, 4)
        numbers[:, WEIGHT] = problem.weights
        numbers[:, TARGET] = problem.y
        numbers[:, NORM] = problem.squared_norms
        state = OneRowState(
            v=np.zeros(problem.d),
            numbers=numbers,
            second=np.zeros(0),
            order=problem.which.copy(),
            blocks=filled_blocks(problem, block_bounds(problem, self.block_rows)),
            rng=generator(seed),
            run=np.zeros(ROOM),
        )
        if self.order_of(problem) == "shuffle-once":
            shuffle_all(state.order, state.rng)
        run = state.run
        run[SCALE], run[RATIO], run[STOP] = 1.0, 0.5, math.inf
        if warm is not None:  # as if one pass had been made
            state.v[:] = warm.w
            run[T] = run[BEGUN] = problem.m
            if warm.beta is not None:
                numbers[:, COUNT] = np.where(problem.cost > 0, warm.beta, 0.0)
                state.v[:] = 0.0
                for which in problem.in_order():
                    _sum_rows(problem.rows, problem.loss, which, numbers, problem.cost, state.v)
        if self.steps is not None:
            run[STOP] = run[T] + self.steps
        self.prepare(problem, state, warm)
        return state

    def advance(self, problem: Problem, state: OneRowState, visits: int, goal: float) -> Report:
        run = state.run
        burst = max(1, BURST // problem.m)
        report = Report(self._visit(problem, state, visits, burst))
        with np.errstate(over="ignore", invalid="ignore"):  # which is what is looked for
            length = float(run[SCALE]) * math.sqrt(float(state.v @ state.v))
        if not (math.isfinite(run[LOSS]) and math.isfinite(length)):
            report.status = DIVERGED
            report.note = (
                f"diverged by step {run[T]:.0f}; the largest row has norm "
                f"{math.sqrt(problem.squared_norms.max()):g}: scale the features or make the steps "
                "shorter"
            )
        elif run[T] >= run[STOP]:
            report.status = FINISHED
        elif run[POSITION] == 0 and run[PASSES] % burst == 0:
            report.gap_estimate = self._estimate(problem, state)
        return report

    def _visit(self, problem: Problem, state: OneRowState, visits: int, burst: int) -> int:
        """About so many visits, and of rows that lie in files one block after the other."""
        run, order = state.run, self.order_of(problem)
        work = Work(state.v, state.numbers, state.second, problem.which)
        rule = self.rule(problem, state)

        def go(count: int) -> int:
            reshuffle = {"shuffle": 1, "iid": -1}.get(order, 0)
            return _visits(
                problem.rows,
                problem.loss,
                state.order,
                state.rng,
                work,
                run,
                rule,
                count,
                reshuffle,
                burst,
            )

        if order != "blocks" and not problem.stored:
            return go(visits)
        return visit_blocks(
            problem,
            block_bounds(problem, self.block_rows),
            state,
            order == "blocks",
            visits,
            position=lambda: int(run[POSITION]),
            go=go,
            over=lambda: run[T] >= run[STOP] or (run[POSITION] == 0 and run[PASSES] % burst == 0),
        )

    def dual_factor(self, problem: Problem, state: OneRowState) -> float:
        """What turns counts into β."""
        return float(state.run[SCALE])

    def _estimate(self, problem: Problem, state: OneRowState) -> float:
        """The gap from the losses met in the last pass and the present dual variables."""
        run = state.run
        factor = self.dual_factor(problem, state)
        total, norm = _sums(
            problem.loss, state.numbers, problem.which, state.v, factor, problem.cost
        )
        primal = 0.5 * run[SCALE] ** 2 * norm + run[LOSS] / (problem.lam * problem.m)
        dual = total - 0.5 * factor**2 * norm
        run[ESTIMATE] = max(primal - dual, 0.0) / dual if dual > 0 else math.inf
        return float(run[ESTIMATE] * run[RATIO])

    def answer(self, problem: Problem, state: OneRowState) -> Answer:
        beta = self.dual_factor(problem, state) * state.numbers[:, COUNT]
        return Answer(state.run[SCALE] * state.v.astype(np.float64), 0.0, beta)

    def looked(self, problem: Problem, state: OneRowState, view: View) -> None:
        guess, truth = state.run[ESTIMATE], view.certificate.relative_gap
        if 0.0 < guess < math.inf and math.isfinite(truth):
            state.run[RATIO] = min(max(truth / guess, 0.01), 1e6)

    def steps_done(self, problem: Problem, state: OneRowState) -> float:
        return float(state.run[T])


@verb
def present(rule, rows, loss, i, product, work, run):
    """Show row i, whose ⟨v, x_i⟩ is given, to the rule; T counts it already."""


@inlined
def pull(rows, i, amount, work):
    """v += amount · x_i, and the row's count with it."""
    work.numbers[i, COUNT] += amount
    add(rows, i, amount, work.v)


@inlined
def rescaled(work, run):
    """Multiply a scale that has become tiny into v and the counts."""
    if abs(run[SCALE]) < 1e-100:
        for j in range(work.v.size):
            work.v[j] *= run[SCALE]
        for k in range(work.numbers.shape[0]):
            work.numbers[k, COUNT] *= run[SCALE]
        run[SCALE] = 1.0


@kernel
def _visits(rows, loss, order, rng, work, run, rule, visits, reshuffle, burst):
    """Present rows until the visits are spent, a pass ends, or the last one is done.

    ``reshuffle``: 1 in a new order each pass, 0 in the order as it is, −1 each drawn by itself.
    """
    done, size, position = 0, order.size, int(run[POSITION])
    numbers = work.numbers
    while done < visits and run[T] < run[STOP]:
        if position == 0:
            run[LOSS] = 0.0
            if reshuffle > 0:
                shuffle(order, size, rng)
            elif reshuffle < 0:
                for k in range(size):
                    order[k] = work.which[below(rng, work.which.size)]
        if position + 20 < size:
            q = np.uint64(order[position + 20])
            fetch_start(rows, q)
            fetch(numbers, q * np.uint64(4))
            fetch_row(rows, np.uint64(order[position + 8]))
        i = np.uint64(order[position])
        product = dot(rows, i, work.v)
        run[LOSS] += numbers[i, WEIGHT] * value(loss, run[SCALE] * product, numbers[i, TARGET])
        run[T] += 1.0
        present(rule, rows, loss, i, product, work, run)
        done += 1
        position += 1
        if position == size:
            position = 0
            run[PASSES] += 1.0
            if run[PASSES] % burst == 0.0:
                break
    run[POSITION] = position
    return done


@kernel
def _sums(loss, numbers, which, v, factor, cost):
    """Σ d(β_i) for β = factor · counts brought into its domain, and ‖v‖²."""
    total = 0.0
    for k in range(which.size):
        i = which[k]
        y, c = numbers[i, TARGET], cost[i]
        total += dual_value(loss, clip(loss, factor * numbers[i, COUNT], y, c), y, c)
    norm = 0.0
    for j in range(v.size):
        norm += v[j] * v[j]
    return total, norm


@kernel
def _sum_rows(rows, loss, which, numbers, cost, w):
    """w += Σ β_i x_i for the counts as β, brought into its domain."""
    for k in range(which.size):
        i = np.uint64(which[k])
        beta = clip(loss, numbers[i, COUNT], numbers[i, TARGET], cost[i])
        numbers[i, COUNT] = beta
        if beta != 0.0:
            add(rows, i, beta, w)
