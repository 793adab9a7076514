"""A primal-dual interior point on the dual's box, for few features: the last digits of the hinge.

    maximise   Σ α_i − ½‖w‖²,   w = Σ α_i y_i x_i,   0 ≤ α_i ≤ c_i   (and Σ α_i y_i = 0)
    optimum    y_i z_i − 1 = s_i − t_i,   α_i s_i = 0,   (c_i − α_i) t_i = 0,   s, t ≥ 0
    step       towards α s = (c − α) t = σμ, with δ_i = 1/(s_i/α_i + t_i/(c_i − α_i)):
               (I + Σ δ_i x_i x_iᵀ) Δw = Σ y_i δ_i r_i x_i − (w − Σ α_i y_i x_i)
               Δα_i = δ_i (r_i − y_i ⟨Δw, x_i⟩)
               r_i = 1 − y_i z_i + σμ (1/α_i − 1/(c_i − α_i)) − second-order terms

Each step solves two systems with one d × d matrix: a predictor (σ = 0) that chooses σ, and a
corrector. A free bias is one more coordinate of w, without a penalty: its equation is Σ α y = 0.

With a start that is already good only the rows near their margin take part (6 % and more). The
others are frozen at 0 or c; the certificate sees them all, and rows that were frozen on the wrong
side join for another round. From scratch, or with ``rows="all"``, every row takes part, which is
the plain method of the literature.

Mehrotra 1992 for the predictor and corrector; Ferris & Munson 2002, "Interior-point methods for
massive support vector machines", for the d × d system. Freezing rows is ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import cho_solve

from pegasos.certificate import Answer, View, add_all, certify
from pegasos.compiled import aligned, inlined, kernel
from pegasos.problem import Problem
from pegasos.rows import add, add_gram, dot, prefetch_ahead, system_flops
from pegasos.solvers.contract import STALLED, Report, Solver, Solves, State
from pegasos.solvers.huber_newton import factored, refuse_many_features, widened

ROWS = ("near", "all")
NEAR = 0.06  # the share of the rows that takes part in the first round
LEAST = 4  # rows to a feature, at least
SAMPLE = 8192  # rows by which it is told who is near
ROUNDS, MOST_STEPS = 8, 60
INSIDE = 1e-9  # an α closer than this to a bound, relative to c, is at it
EDGE = 1e-14  # no step goes nearer to a bound than this
BACK_OFF = 0.995  # the share of the way to the nearest bound that a step may take
START = 5.0  # times the gap of the start: where on the central path a round begins
SHORT_STEP, SHORT_STEPS = 0.02, 4  # so many steps as short as this end a round

# The numbers of a row that takes part, side by side; s = LOW and t = HIGH.
ALPHA, UPPER, LOW, HIGH, MARGIN, WEIGHT, LOW_STEP, HIGH_STEP = range(8)
# The numbers of a run.
ROUND, STEPS, SHARE, FROZEN, SHORT, AIM, ENDED, STUCK, TURNS, FLOPS = range(10)


@dataclass
class InteriorPointState(State):
    """w, what its equation leaves open, and the rows: those that take part, and β of all."""

    w: np.ndarray
    open: np.ndarray  # penalty · w − Σ α y x
    frozen: np.ndarray  # Σ c y x over the rows that are frozen at c
    which: np.ndarray
    numbers: np.ndarray
    beta: np.ndarray
    joined: np.ndarray  # rows that have taken part before
    run: np.ndarray


@dataclass(frozen=True)
class InteriorPoint(Solver):
    """The primal-dual interior point method on the box problem.

    Parameters
    ----------
    rows : {"near", "all"}, default="near"
        Which rows take part once there is a start to tell them by.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import InteriorPoint, Problem, solve
    >>> X = np.random.default_rng(0).standard_normal((5000, 4))
    >>> problem = Problem(X, np.sign(X @ [1.0, -1.0, 0.5, 0.0] + 0.2), C=1.0, bias="free")
    >>> solve(problem, InteriorPoint(), tol=1e-8).converged
    True
    """

    rows: str = "near"

    name: ClassVar[str] = "interior-point"
    solves: ClassVar[Solves] = Solves(losses=frozenset({"hinge"}), estimates=True)

    def __post_init__(self) -> None:
        if self.rows not in ROWS:
            raise ValueError(f"rows must be 'near' or 'all', not {self.rows!r}")

    def check(self, problem: Problem) -> None:
        super().check(problem)
        refuse_many_features(self.name, problem)

    def start(
        self, problem: Problem, seed: np.random.SeedSequence, warm: Answer | None = None
    ) -> InteriorPointState:
        size = problem.d + problem.free_bias
        state = InteriorPointState(
            w=np.zeros(size),
            open=np.zeros(size),
            frozen=np.zeros(size),
            which=problem.which,
            numbers=aligned(0, 8),
            beta=np.zeros(problem.y.size),
            joined=np.zeros(problem.y.size, dtype=bool),
            run=np.zeros(10),
        )
        state.run[[SHARE, AIM]] = NEAR, 0.3
        if warm is not None:
            view = warm if isinstance(warm, View) else certify(problem, warm)
            self._freeze(problem, state, view)
            return state
        # From scratch: the middle of the box.
        state.numbers = aligned(problem.m, 8)
        cost = problem.cost[problem.which]
        for field, value in ((ALPHA, 0.5 * cost), (UPPER, cost), (LOW, 1.0), (HIGH, 1.0)):
            state.numbers[:, field] = value
        state.joined[problem.which] = True
        middle = 0.5 * problem.y * problem.cost
        add_all(widened(problem), problem.which, middle, state.open)
        state.open *= -1.0
        return state

    def _freeze(self, problem: Problem, state: InteriorPointState, view: View) -> None:
        """Choose the rows of a round by their margins; the others keep the bound they are at."""
        state.w[: problem.d] = view.w
        state.frozen[: problem.d] = view.w_beta
        if problem.free_bias:
            state.w[-1] = view.b
        if view.beta is None:
            state.beta[:] = 0.0
        else:
            state.beta[:] = view.beta
            if problem.free_bias:
                state.frozen[-1] = view.beta.sum()
        near = self._near(problem, state, view)
        state.run[FROZEN] = _choose(
            widened(problem),
            problem.y,
            problem.cost,
            view.z,
            view.b,
            near,
            state.joined,
            state.beta,
            state.frozen,
        )
        state.which = np.flatnonzero(state.joined).astype(np.uint32)
        proof = view.certificate
        self._begin_round(problem, state, max(proof.gap, 1e-9 * proof.primal))

    def _near(self, problem: Problem, state: InteriorPointState, view: View) -> float:
        """How far from its margin a row may be to take part, by the margins of a sample."""
        count = max(int(state.run[SHARE] * problem.m), LEAST * state.w.size, 1000)
        if self.rows == "all" or count >= problem.m:
            return math.inf
        some = problem.which[:: max(problem.m // SAMPLE, 1)]
        margins = np.abs(problem.y[some] * (view.z[some] + view.b) - 1.0)
        place = min(count * some.size // problem.m, some.size - 1)
        return float(np.partition(margins, place)[place])

    def _begin_round(self, problem: Problem, state: InteriorPointState, gap: float) -> None:
        """The point of the central path that belongs to w, as far from the bounds as the gap."""
        k = state.which.size
        state.run[[STEPS, SHORT, ENDED]] = 0.0
        state.numbers = aligned(k, 8)
        state.numbers[:, UPPER] = problem.cost[state.which]
        sums = state.frozen.copy()
        mu = START * gap / (2 * k)
        _central(widened(problem), problem.y, state.which, state.numbers, state.w, mu, sums)
        state.open = self._penalty(problem) * state.w - sums

    def _penalty(self, problem: Problem) -> np.ndarray:
        penalty = np.ones(problem.d + problem.free_bias)
        penalty[problem.d :] = 0.0
        return penalty

    def advance(
        self, problem: Problem, state: InteriorPointState, visits: int, goal: float
    ) -> Report:
        report = Report(0.0)
        if state.run[STUCK]:
            report.look, report.status = True, STALLED
            report.note = "no row joins any more, or the steps have become too short"
            return report
        while report.visits < visits and not report.look:
            self._step(problem, state, max(goal, 0.0), report)
        return report

    def _step(
        self, problem: Problem, state: InteriorPointState, goal: float, report: Report
    ) -> None:
        """A predictor and a corrector, or the end of a round."""
        run, rows, penalty = state.run, widened(problem), self._penalty(problem)
        size, k = state.w.size, state.which.size
        right = np.zeros(size)
        loss, mu, total = _linearise(rows, problem.y, state.which, state.numbers, state.w, right)
        sums = penalty * state.w - state.open
        inside = sums[: problem.d]
        dual = run[FROZEN] + total - 0.5 * float(inside @ inside)
        primal = 0.5 * float(penalty @ state.w**2) - float(state.w @ state.frozen) + loss
        gap = primal - (dual - run[FROZEN])
        unbalanced = float(np.abs(state.open[problem.d :]).sum())
        goal *= run[AIM] * dual
        enough = gap <= goal and mu <= 2.0 * goal and unbalanced <= 1e-6 * total
        worn = run[STEPS] >= MOST_STEPS or run[SHORT] >= SHORT_STEPS
        report.visits += k
        if enough or worn or not math.isfinite(gap):
            report.look, run[ENDED] = True, 2.0 if not enough else 1.0
            return
        run[STEPS] += 1
        matrix = np.zeros((size, size))
        add_gram(rows, state.which, np.ascontiguousarray(state.numbers[:, WEIGHT]), matrix)
        factor = factored(matrix, penalty)
        run[FLOPS] += system_flops(rows, k, size)
        if factor is None:
            report.look, run[ENDED] = True, 2.0
            return
        predictor = cho_solve(factor, right - state.open, check_finite=False)
        mu /= 2 * k
        towards = np.zeros(size)
        right[:] = 0.0
        at_end = _predict(rows, problem.y, state.which, state.numbers, predictor, right, towards)
        sigma = max(max(at_end, 0.0) / (2 * k * mu), 1e-3) ** 3
        step = cho_solve(factor, right - state.open + sigma * mu * towards, check_finite=False)
        primal_step, dual_step = _correct(
            rows, problem.y, state.which, state.numbers, step, sigma * mu
        )
        # One length for both: w is primal and dual at once.
        length = min(1.0, BACK_OFF * primal_step, BACK_OFF * dual_step)
        _move(state.numbers, length)
        state.w += length * step
        run[TURNS] += 1
        state.open *= 1.0 - length
        run[SHORT] = run[SHORT] + 1 if length < SHORT_STEP else 0
        report.visits += 3 * k

    def answer(self, problem: Problem, state: InteriorPointState) -> Answer:
        beta = state.beta.copy()
        beta[state.which] = problem.y[state.which] * state.numbers[:, ALPHA]
        b = float(state.w[-1]) if problem.free_bias else 0.0
        return Answer(state.w[: problem.d], b, beta)

    def steps_done(self, problem: Problem, state: InteriorPointState) -> float:
        """Steps of a predictor and a corrector, in all rounds."""
        return float(state.run[TURNS])

    def findings(self, problem: Problem, state: InteriorPointState) -> dict[str, Any]:
        """``flops``: the work of all systems, their making and their factors."""
        return {"flops": float(state.run[FLOPS])}

    def looked(self, problem: Problem, state: InteriorPointState, view: View) -> None:
        """After a round that was not enough: let those join that were frozen on the wrong side."""
        run = state.run
        if not run[ENDED]:
            return
        run[ROUND] += 1
        margin = problem.y * (view.z + view.b) - 1.0
        wrong = ~state.joined & (problem.cost > 0) & ((margin < 0.0) != (state.beta != 0.0))
        if not wrong.any():
            if run[ENDED] == 2.0 or run[AIM] < 1e-3:
                run[STUCK] = 1.0
            run[AIM] *= 0.3
            run[[ENDED, STEPS, SHORT]] = 0.0
            return
        if run[ROUND] >= ROUNDS:
            run[STUCK] = 1.0
            return
        few = np.count_nonzero(wrong) <= 0.02 * state.which.size
        run[SHARE] *= 1.3 if few else 2.0
        state.joined |= wrong
        self._freeze(problem, state, view)


@inlined
def _centred(c, gap, mu):
    """The α with μ/α − μ/(c − α) = y z − 1."""
    root = np.sqrt(gap * gap * c * c + 4.0 * mu * mu)
    alpha = 2.0 * mu * c / (gap * c + 2.0 * mu + root)
    return min(max(alpha, 1e-12 * c), (1.0 - 1e-12) * c)


@kernel
def _choose(rows, y, cost, z, bias, near, joined, beta, frozen):
    """Join the rows near their margin; β of the others goes to the bound that they belong to.

    ``frozen``, which was Σ β x, becomes that of the rows left out; returns their Σ |β|.
    """
    total = 0.0
    for i in range(np.uint64(beta.size)):
        c = cost[i]
        if c == 0.0:
            continue
        margin, alpha = y[i] * (z[i] + bias) - 1.0, y[i] * beta[i]
        if abs(margin) <= near or INSIDE * c < alpha < (1.0 - INSIDE) * c:
            joined[i] = True
        target = y[i] * c if margin < 0.0 and not joined[i] else 0.0
        if target != beta[i]:
            add(rows, i, target - beta[i], frozen)
            beta[i] = target
        total += abs(target)
    return total


@kernel
def _central(rows, y, which, numbers, w, mu, sums):
    """α, s and t on the central path at w; sums += Σ α y x."""
    for k in range(which.size):
        prefetch_ahead(rows, which, k, which.size)
        i = np.uint64(which[k])
        c = numbers[k, UPPER]
        alpha = _centred(c, y[i] * dot(rows, i, w) - 1.0, mu)
        numbers[k, ALPHA], numbers[k, LOW], numbers[k, HIGH] = alpha, mu / alpha, mu / (c - alpha)
        add(rows, i, y[i] * alpha, sums)


@kernel
def _linearise(rows, y, which, numbers, w, right):
    """Margins and weights δ at w, and right += Σ y δ (1 − y z) x.

    Returns Σ c ℓ, Σ α s + (c − α) t, and Σ α.
    """
    loss, products, total = 0.0, 0.0, 0.0
    for k in range(which.size):
        prefetch_ahead(rows, which, k, which.size)
        i = np.uint64(which[k])
        alpha, c, low, high = (
            numbers[k, ALPHA],
            numbers[k, UPPER],
            numbers[k, LOW],
            numbers[k, HIGH],
        )
        margin = y[i] * dot(rows, i, w) - 1.0
        weight = 1.0 / (low / alpha + high / (c - alpha))
        numbers[k, MARGIN], numbers[k, WEIGHT] = margin, weight
        loss += c * max(-margin, 0.0)
        products += alpha * low + (c - alpha) * high
        total += alpha
        add(rows, i, -y[i] * weight * margin, right)
    return loss, products, total


@kernel
def _predict(rows, y, which, numbers, step, right, towards):
    """The step with σ = 0: its second-order terms, the right sides without and with σμ.

    Returns Σ α s + (c − α) t at the end of that step.
    """
    primal, dual = 1.0, 1.0
    now, by_alpha, by_slack, by_both = 0.0, 0.0, 0.0, 0.0
    for k in range(which.size):
        prefetch_ahead(rows, which, k, which.size)
        i = np.uint64(which[k])
        alpha, c, low, high = (
            numbers[k, ALPHA],
            numbers[k, UPPER],
            numbers[k, LOW],
            numbers[k, HIGH],
        )
        rest, margin, weight = c - alpha, numbers[k, MARGIN], numbers[k, WEIGHT]
        d_alpha = weight * (-margin - y[i] * dot(rows, i, step))
        d_low = -low - low / alpha * d_alpha
        d_high = -high + high / rest * d_alpha
        if d_alpha < 0.0:
            primal = min(primal, -alpha / d_alpha)
        elif d_alpha > 0.0:
            primal = min(primal, rest / d_alpha)
        if d_low < 0.0:
            dual = min(dual, -low / d_low)
        if d_high < 0.0:
            dual = min(dual, -high / d_high)
        now += alpha * low + rest * high
        by_alpha += d_alpha * (low - high)
        by_slack += alpha * d_low + rest * d_high
        by_both += d_alpha * (d_low - d_high)
        low_step, high_step = d_alpha * d_low, -d_alpha * d_high
        numbers[k, LOW_STEP], numbers[k, HIGH_STEP] = low_step, high_step
        pulled = y[i] * weight
        add(rows, i, pulled * (high_step / rest - low_step / alpha - margin), right)
        add(rows, i, pulled * (1.0 / alpha - 1.0 / rest), towards)
    return now + primal * by_alpha + dual * by_slack + primal * dual * by_both


@kernel
def _correct(rows, y, which, numbers, step, mu):
    """Δα, Δs and Δt of the corrector; returns how far α, and s and t, can go along them."""
    primal, dual = np.inf, np.inf
    for k in range(which.size):
        prefetch_ahead(rows, which, k, which.size)
        i = np.uint64(which[k])
        alpha, c, low, high = (
            numbers[k, ALPHA],
            numbers[k, UPPER],
            numbers[k, LOW],
            numbers[k, HIGH],
        )
        rest, low_step, high_step = c - alpha, numbers[k, LOW_STEP], numbers[k, HIGH_STEP]
        force = mu * (1.0 / alpha - 1.0 / rest) - low_step / alpha + high_step / rest
        force -= numbers[k, MARGIN] + y[i] * dot(rows, i, step)
        d_alpha = numbers[k, WEIGHT] * force
        d_low = (mu - low_step) / alpha - low - low / alpha * d_alpha
        d_high = (mu - high_step) / rest - high + high / rest * d_alpha
        if d_alpha < 0.0:
            primal = min(primal, -alpha / d_alpha)
        elif d_alpha > 0.0:
            primal = min(primal, rest / d_alpha)
        if d_low < 0.0:
            dual = min(dual, -low / d_low)
        if d_high < 0.0:
            dual = min(dual, -high / d_high)
        numbers[k, WEIGHT] = d_alpha
        numbers[k, LOW_STEP], numbers[k, HIGH_STEP] = d_low, d_high
    return primal, dual


@kernel
def _move(numbers, length):
    """Go along the corrector's step."""
    for k in range(numbers.shape[0]):
        c = numbers[k, UPPER]
        alpha = numbers[k, ALPHA] + length * numbers[k, WEIGHT]
        numbers[k, ALPHA] = min(max(alpha, EDGE * c), (1.0 - EDGE) * c)
        numbers[k, LOW] += length * numbers[k, LOW_STEP]
        numbers[k, HIGH] += length * numbers[k, HIGH_STEP]
