"""Pegasos that doubts the rows of a step after which the objective is higher than before.

    minimise   f(w) = λ/2 ‖w‖² + (1/m) Σ s̃_i ℓ(y_i, ⟨w, x_i⟩)
    step t     w' is Pegasos' step from w_t with k rows A_t, each drawn from the training set S_t
               f(w') ≤ f(w_t):   w_{t+1} = w'
               f(w') > f(w_t):   undo           w_{t+1} = w_t, and t goes on
                                 two-out        the rows of A_t are flagged; S_{t+2} is without
                                                those that have two flags now
                                 probability    the chances of the rows of A_t are multiplied

A row that is flagged more often than others, of the times that it is drawn, may be an outlier; with
undo nearly every step is one that f rose after, and flags say little. The three combine in any way.
f is that of all m rows, also of those that have left S. A step counts once against a row, however
often the row is in it.

Ryu & Choi 2009, "Variants of Pegasos", section 2.2. It gives no rate at which chances fall and says
nothing of a test on some of the rows, or before the projection: these are ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pegasos.certificate import ROUNDING, Answer
from pegasos.compiled import below, draw, inlined, kernel, lower_chance, set_chance, sum_tree
from pegasos.losses import value
from pegasos.problem import Problem
from pegasos.rows import dot, prefetch_ahead
from pegasos.solvers.contract import DIVERGED, FINISHED, Report, Solver, Solves, State
from pegasos.solvers.pegasos import (
    NU,
    PHI,
    POSITION,
    SCALE,
    STEP,
    STOP,
    Pegasos,
    PegasosState,
    Rule,
    Work,
    batch_step,
    end_batch,
    is_whole,
    onto_ball,
    pull_towards,
    pulls,
    renew_norm,
)

TESTS = ("after", "before")
SUSPECT = np.dtype(
    [("row", np.int64), ("flags", np.int64), ("drawn", np.int64), ("removed", np.bool_)]
)

OBJECTIVE, LEAVING = range(2)  # f(w_t), and how many rows leave after the next draw


class DoubtRule(NamedTuple):
    """The numbers of a step, fixed for a run."""

    step: Rule  # without a ball,
    ball: Rule  # and with it: the test may come between the step and the projection
    exact: bool
    before: bool
    undo: bool
    flags: int  # 0: no row leaves
    decrease: float


class Doubts(NamedTuple):
    """The arrays beside those of Pegasos."""

    order: np.ndarray  # the rows that are drawn, a batch after the other
    rng: np.ndarray
    flags: np.ndarray  # how many steps a row was in that raised f,
    drawn: np.ndarray  # and how many steps at all,
    latest: np.ndarray  # and the last of them
    chances: np.ndarray  # a tree of sums
    leaving: np.ndarray
    tested: np.ndarray  # the rows on which f is tested
    tally: np.ndarray


@dataclass
class DoubtingState(State):
    """The state of Pegasos, and what is held against each row."""

    walk: PegasosState
    flags: np.ndarray
    drawn: np.ndarray
    latest: np.ndarray
    chances: np.ndarray
    leaving: np.ndarray
    tally: np.ndarray


@dataclass(frozen=True)
class DoubtingPegasos(Solver):
    """Pegasos that tests the objective after each step, and mistrusts the rows of a bad one.

    With no option it takes the steps of Pegasos and only keeps account of its suspects. These are
    ``findings["suspects"]`` of a solution, an array with the fields ``row``, ``flags`` (how many
    steps with this row raised the objective), ``drawn`` (how many steps it was in) and ``removed``;
    the most flagged come first.

    Parameters
    ----------
    batch : int, default=1
        k, the rows of a step, each drawn independently.
    steps : int, optional
        T: stop after this many steps. Without it only the driver's limits end a run.
    undo : bool, default=False
        Take a step back that raised the objective.
    flags : int, optional
        A row that has so many flags leaves the training set, in the step after the next. The run
        ends when no row is left.
    decrease : float, default=1.0
        Multiply the chance to be drawn of each row of a step that raised the objective by this.
    test : {"after", "before"}, default="after"
        Whether the objective is tested after the projection or before it.
    sample : int, optional
        Test the objective on so many rows, drawn anew for each step. Without it all rows are
        read in every step: a step then costs a whole pass.
    project : bool, default=True
        Project onto the ball that holds the optimum.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import DoubtingPegasos, Problem, solve
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice([-1.0, 1.0], 300)
    >>> X = rng.standard_normal((300, 4)) + 2 * y[:, None]
    >>> y[:5] *= -1  # wrong labels
    >>> solver = DoubtingPegasos(steps=5000)
    >>> solution = solve(Problem(X, y, lam=0.001), solver, tol=None, max_passes=10_000)
    >>> suspects = solution.findings["suspects"]
    >>> share = suspects["flags"] / suspects["drawn"]
    >>> bool(share[suspects["row"] < 5].mean() > 3 * share.mean())
    True
    """

    batch: int = 1
    steps: int | None = None
    undo: bool = False
    flags: int | None = None
    decrease: float = 1.0
    test: str = "after"
    sample: int | None = None
    project: bool = True

    name: ClassVar[str] = "doubting-pegasos"
    solves: ClassVar[Solves] = Solves(biases=frozenset({"none", "feature"}))

    def __post_init__(self) -> None:
        if self.batch == "all":
            raise ValueError(
                "batch must be a positive integer, not 'all': a step with every row speaks against "
                "none of them"
            )
        self._walker()  # refuses what Pegasos refuses
        if self.test not in TESTS:
            raise ValueError(f"test must be one of {', '.join(TESTS)}, not {self.test!r}")
        if self.test == "before" and not self.project:
            raise ValueError("test='before' the projection needs one: give project=True")
        for name in ("flags", "sample"):
            number = getattr(self, name)
            if number is not None and not (is_whole(number) and 0 < number < 2**32):
                raise ValueError(f"{name} must be a positive integer or None, not {number!r}")
        if not 0 < self.decrease <= 1:
            raise ValueError(
                f"decrease must be above 0 and at most 1, which is no decrease, not "
                f"{self.decrease!r}; flags=1 takes a row out at once"
            )

    def _walker(self) -> Pegasos:
        """The plain method, whose steps are taken."""
        return Pegasos(batch=self.batch, steps=self.steps, order="iid", project=self.project)

    def check(self, problem: Problem) -> None:
        super().check(problem)
        self._walker().check(problem)
        if self.sample is not None and self.sample > problem.m:
            raise ValueError(
                f"sample={self.sample} is more than the {problem.m} rows of the problem; "
                "sample=None tests on all of them"
            )

    def start(
        self, problem: Problem, seed: np.random.SeedSequence, warm: Answer | None = None
    ) -> DoubtingState:
        return DoubtingState(
            walk=self._walker().start(problem, seed, warm),
            flags=np.zeros(problem.y.size, dtype=np.int64),
            drawn=np.zeros(problem.y.size, dtype=np.int64),
            latest=np.zeros(problem.y.size),
            chances=sum_tree((problem.cost > 0).astype(np.float64)),
            leaving=np.zeros(self.batch, dtype=np.uint32),
            tally=np.array([math.nan, 0.0]),
        )

    def _rule(self, problem: Problem) -> DoubtRule:
        ball = self._walker().rule(problem)
        return DoubtRule(
            step=ball._replace(ball=math.inf),
            ball=ball,
            exact=self.sample is None,
            before=self.test == "before",
            undo=bool(self.undo),
            flags=int(self.flags or 0),
            decrease=float(self.decrease),
        )

    def advance(self, problem: Problem, state: DoubtingState, visits: int, goal: float) -> Report:
        walk, run = state.walk, state.walk.run
        scores, amounts = np.empty((2, self.batch))
        tested = problem.which
        if self.sample is not None:
            tested = np.empty(self.sample, dtype=np.uint32)
        done = _steps(
            problem.rows,
            problem.loss,
            problem.y,
            problem.weights,
            Work(walk.v, walk.counts, walk.past, problem.which, scores, amounts),
            run,
            Doubts(
                walk.order,
                walk.rng,
                state.flags,
                state.drawn,
                state.latest,
                state.chances,
                state.leaving,
                tested,
                state.tally,
            ),
            self._rule(problem),
            visits,
        )
        report = Report(done)
        if not (np.isfinite(run[NU] + state.tally[OBJECTIVE]) and np.isfinite(walk.v).all()):
            report.status = DIVERGED
            report.note = (
                f"diverged by step {run[STEP]:.0f}; the largest row has norm "
                f"{math.sqrt(problem.squared_norms.max()):g}: scale the features or raise lam"
            )
        elif run[STEP] >= run[STOP]:
            report.status = FINISHED
        elif state.chances[1] == 0.0:
            report.status = FINISHED
            report.note = (
                f"after step {run[STEP]:.0f} no row is left in the training set: give more than "
                f"flags={self.flags}, or fewer steps"
            )
        return report

    def answer(self, problem: Problem, state: DoubtingState) -> Answer:
        return self._walker().answer(problem, state.walk)

    def steps_done(self, problem: Problem, state: DoubtingState) -> float:
        return float(state.walk.run[STEP])

    def findings(self, problem: Problem, state: DoubtingState) -> dict[str, Any]:
        """The rows that were flagged: the most flagged first, and of equals the less drawn."""
        rows = np.flatnonzero(state.flags)
        rows = rows[np.lexsort((state.drawn[rows], -state.flags[rows]))]
        suspects = np.empty(rows.size, dtype=SUSPECT)
        suspects["row"] = rows
        suspects["flags"] = state.flags[rows]
        suspects["drawn"] = state.drawn[rows]
        suspects["removed"] = self.flags is not None and state.flags[rows] >= self.flags
        return {"suspects": suspects}


@kernel
def _steps(rows, loss, y, weights, walk, run, doubts, rule, visits):
    """Steps until the visits are spent, the last one is done, or no row is left to draw."""
    done, order, tested, tally = 0, doubts.order, doubts.tested, doubts.tally
    while done < visits and run[STEP] < run[STOP] and doubts.chances[1] > 0.0:
        first = np.int64(run[POSITION])
        if first == 0:
            renew_norm(walk, run)
        batch = order[first : first + rule.step.batch]
        for k in range(batch.size):
            batch[k] = draw(doubts.chances, doubts.rng)
        _leave(doubts)
        if not rule.exact:
            for k in range(tested.size):
                tested[k] = walk.which[below(doubts.rng, walk.which.size)]
        if not rule.exact or np.isnan(tally[OBJECTIVE]):  # else it is known from the last step
            tally[OBJECTIVE] = _objective(rows, loss, y, weights, tested, walk, run, rule, 1.0)[0]
            done += tested.size
        pulls(rows, loss, y, weights, batch, walk, run, rule.step)
        nu = run[NU]
        batch_step(rows, batch, walk.scores, walk.amounts, walk, run, rule.step)
        shrink = np.sqrt(rule.ball.ball / run[NU]) if run[NU] > rule.ball.ball else 1.0
        before, after = _objective(rows, loss, y, weights, tested, walk, run, rule, shrink)
        done += batch.size + tested.size
        # More than the sums have lost: no row is blamed for their rounding.
        rose = (before if rule.before else after) > tally[OBJECTIVE] * (1.0 + ROUNDING)
        _judge(batch, run[STEP], rose, doubts, rule)
        if rose and rule.undo:
            _take_back(rows, batch, nu, walk, run, rule.step)
            done += batch.size
        else:
            onto_ball(walk, run, rule.ball)
            tally[OBJECTIVE] = after
        end_batch(first + batch.size, order.size, run, rule.step)
    return done


@inlined
def _objective(rows, loss, y, weights, tested, walk, run, rule, shrink):
    """f at w and at shrink · w, from the losses of these rows."""
    plain, shrunk = 0.0, 0.0
    for k in range(tested.size):
        prefetch_ahead(rows, tested, k, tested.size)
        i = np.uint64(tested[k])
        z = run[SCALE] * dot(rows, i, walk.v)
        plain += weights[i] * value(loss, z, y[i])
        shrunk += weights[i] * value(loss, shrink * z, y[i])
    penalty = 0.5 * rule.step.lam * run[NU]
    return penalty + plain / tested.size, shrink * shrink * penalty + shrunk / tested.size


@inlined
def _leave(doubts):
    """Take those out that the step before has condemned, now that this step has drawn."""
    for k in range(int(doubts.tally[LEAVING])):
        set_chance(doubts.chances, np.int64(doubts.leaving[k]), 0.0)
    doubts.tally[LEAVING] = 0.0


@inlined
def _judge(batch, step, rose, doubts, rule):
    """Count the step for each of its rows and, if f rose, against them, and do what follows."""
    for k in range(batch.size):
        i = np.int64(batch[k])
        if doubts.latest[i] == step:
            continue
        doubts.latest[i] = step
        doubts.drawn[i] += 1
        if rose:
            doubts.flags[i] += 1
            if doubts.flags[i] == rule.flags:
                doubts.leaving[int(doubts.tally[LEAVING])] = i
                doubts.tally[LEAVING] += 1.0
            if rule.decrease < 1.0:
                lower_chance(doubts.chances, i, rule.decrease)


@inlined
def _take_back(rows, batch, nu, walk, run, rule):
    """Back to the old w, at the new t: Φ grows, so that the scale Φ/(λτ) is what it was."""
    for k in range(batch.size - 1, -1, -1):
        if walk.amounts[k] != 0.0:
            pull_towards(rows, np.uint64(batch[k]), -walk.amounts[k], walk, run, rule)
    time = run[STEP] + rule.offset
    if run[STEP] > 1.0:  # the first step began at w = 0, which has any scale
        run[PHI] *= time / (time - 1.0)
    run[SCALE] = run[PHI] / (rule.lam * time)
    run[NU] = nu
