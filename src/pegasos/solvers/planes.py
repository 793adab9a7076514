"""What the methods of cutting planes share: the planes, their small quadratic problem, their bits.

    planes     Σ c_i max(0, 1 − y_i⟨w, x_i⟩) ≥ b_p − ⟨a_p, w⟩   for every set of rows p, with
               b_p = Σ_{i ∈ p} c_i,   a_p = Σ_{i ∈ p} c_i y_i x_i;   the rows below their margin at
               some w give the plane that touches there
    problem    maximise   D(s) = Σ s_p b_p − ½‖Σ s_p a_p‖²,   s ≥ 0,   Σ s_p ≤ 1
    optimum    w = Σ s_p a_p minimises ½‖w‖² + max(0, max_p b_p − ⟨a_p, w⟩), and D(s) ≤ J*

It is the problem with one slack of Joachims 2006, whose C multiplies the mean loss. Σ s_p falls
short of one where the slack is zero. A plane is kept with one bit for each row, so that the dual
variables can be had at any time: α_i = c_i Σ_{p ∋ i} s_p lies in its box, and D(α) = D(s). Its
normal a_p is kept as it is, a number for each feature: the memory is planes × features.

The quadratic problem is solved by an active set: Newton's step on the planes in use goes as far as
the first share that falls to zero, whose plane leaves; after a whole step the plane joins whose
slope is the largest. Each run of it starts from the shares that were the best before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from pegasos.certificate import Answer, add_all
from pegasos.compiled import inlined
from pegasos.problem import Problem
from pegasos.rows import add
from pegasos.solvers.contract import DIVERGED, RUNNING, STALLED, Report, Solver, Solves, State

ROOM = 16  # planes for which there is room at first
EXACT = 1e-13  # × D: what the quadratic problem may leave
EPS = float(np.finfo(np.float64).eps)
RIDGES = (1e-13, 1e-11, 1e-9)  # × the diagonal: planes may depend on each other
REFUSED = 3  # planes that join and at once leave again: rounding decides
PATIENCE = 25  # iterations in which neither bound moves before a run is stalled

# The numbers of a run.
STEPS, PRIMAL, DUAL, LEAST, MOST, STILL = range(6)


@dataclass
class Planes(State):
    """The planes: the first ``count`` rows of each array.

    ``start`` is the β of a warm start, whose Σ β_i x_i and Σ |β_i| are plane 0; or it is empty.
    """

    normals: np.ndarray  # a_p
    offsets: np.ndarray  # b_p
    gram: np.ndarray  # ⟨a_p, a_q⟩
    bits: np.ndarray  # which rows are in the plane, eight to a byte
    shares: np.ndarray  # s_p
    idle: np.ndarray  # for how many iterations the share has been zero
    count: int
    start: np.ndarray

    @classmethod
    def none(cls, rows: int, d: int, room: int = ROOM) -> Planes:
        """No planes, and room for some."""
        return cls(
            normals=np.zeros((room, d)),
            offsets=np.zeros(room),
            gram=np.zeros((room, room)),
            bits=np.zeros((room, (rows + 7) // 8), dtype=np.uint8),
            shares=np.zeros(room),
            idle=np.zeros(room),
            count=0,
            start=np.zeros(0),
        )

    def add(self, normal: np.ndarray, offset: float, inside: np.ndarray) -> bool:
        """One more plane, of the rows that are ``inside``; false where its products overflow."""
        k = self.count
        if k == self.offsets.size:
            self._grow()
        self.normals[k] = normal
        with np.errstate(over="ignore", invalid="ignore"):
            products = self.normals[: k + 1] @ normal
        if not np.isfinite(products).all():
            return False
        self.gram[k, : k + 1] = self.gram[: k + 1, k] = products
        self.offsets[k] = offset
        self.bits[k] = np.packbits(inside)
        self.shares[k] = self.idle[k] = 0.0
        self.count = k + 1
        return True

    def _grow(self) -> None:
        old, k = self.gram, self.count
        for name in ("normals", "offsets", "bits", "shares", "idle"):
            array = getattr(self, name)
            wider = np.zeros((2 * k, *array.shape[1:]), dtype=array.dtype)
            wider[:k] = array
            setattr(self, name, wider)
        self.gram = np.zeros((2 * k, 2 * k))
        self.gram[:k, :k] = old

    def settle(self, w: np.ndarray, keep: int) -> float:
        """Solve the quadratic problem; w becomes its solution. Returns D.

        Planes that have not been in use for ``keep`` iterations are dropped.
        """
        k = self.count
        best_shares(self.gram[:k, :k], self.offsets[:k], self.shares[:k])
        np.matmul(self.shares[:k], self.normals[:k], out=w)
        dual = float(self.shares[:k] @ self.offsets[:k]) - 0.5 * float(w @ w)
        self.idle[:k] = np.where(self.shares[:k] > 0.0, 0.0, self.idle[:k] + 1.0)
        for p in np.flatnonzero(self.idle[:k] >= keep)[::-1]:
            if p > 0 or self.start.size == 0:
                self._drop(p)
        return dual

    def _drop(self, p: int) -> None:
        """The last plane takes the place of plane p."""
        last = self.count - 1
        for array in (self.normals, self.offsets, self.bits, self.shares, self.idle):
            array[p] = array[last]
        self.gram[p] = self.gram[last]
        self.gram[:, p] = self.gram[:, last]
        self.count = last

    def beta(self, y: np.ndarray, cost: np.ndarray) -> np.ndarray:
        """The coefficients of the rows, from the bits."""
        total = np.zeros(y.size)
        for p in np.flatnonzero(self.shares[: self.count]):
            total += self.shares[p] * np.unpackbits(self.bits[p], count=y.size)
        total *= cost * y
        if self.start.size > 0:
            total += self.shares[0] * self.start
        return total


def best_shares(gram: np.ndarray, offsets: np.ndarray, shares: np.ndarray) -> None:
    """Maximise ⟨offsets, s⟩ − ½ ⟨s, gram s⟩ over s ≥ 0, Σ s ≤ 1, from the shares given, in place.

    What is left is at most the largest slope (or 0, if that is more) minus the mean one.
    """
    used = shares > 0.0
    short = float(shares.sum()) < 1.0  # the sum may grow
    whole, before, refused = True, math.inf, 0
    for _ in range(20 + 10 * shares.size):
        slope = offsets - gram @ shares
        top = int(np.argmax(slope))
        mean = float(shares @ slope)
        left = max(float(slope[top]), 0.0) - mean
        rounding = 4.0 * EPS * float(offsets[used].max(initial=0.0))
        if left <= EXACT * 0.5 * (mean + float(shares @ offsets)) + rounding:
            break
        if whole or not used.any():
            joins = not used[top] if slope[top] > 0.0 else not short
            if not joins and left > 0.5 * before:
                break  # as near as these sums come
            before = left
            if slope[top] > 0.0:
                used[top] = True
            else:
                short = True
        payer = -1 if short else int(np.argmax(shares))
        step = _newton(gram, slope, np.flatnonzero(used), payer)
        if step is None:
            break
        length, leaver = _longest(shares, step, short)
        rise, bend = float((slope - (0.0 if short else mean)) @ step), float(step @ (gram @ step))
        aim = rise / bend if bend > 0.0 else math.inf
        whole = aim <= length
        length = min(aim, length)
        if math.isinf(length):
            length = 0.0  # one plane that has all: its step is zero
        shares += length * step
        np.maximum(shares, 0.0, out=shares)
        if whole:
            continue
        if leaver >= 0:
            shares[leaver], used[leaver] = 0.0, False
        else:
            short = False
        refused += length == 0.0
        if refused > REFUSED:
            break
    total = float(shares.sum())
    if total > 1.0:
        shares /= total


def _newton(
    gram: np.ndarray, slope: np.ndarray, active: np.ndarray, payer: int
) -> np.ndarray | None:
    """The step to the best shares of these planes; None where there is no solving for it.

    With a payer (−1: none) the sum stays: its share pays what the others get, so that a step is a
    sum of differences of planes.
    """
    others = active[active != payer]
    matrix, right = gram[np.ix_(others, others)], slope[others]
    scale = matrix.diagonal().copy()
    if payer >= 0:
        column, corner = gram[others, payer], gram[payer, payer]
        matrix -= column
        matrix -= column[:, None]
        matrix += corner
        right = right - slope[payer]
        scale += corner
    step = np.zeros(slope.size)
    if others.size == 0:
        return step
    scale[scale <= 0.0] = 1.0
    diagonal = np.diag_indices_from(matrix)
    for ridge in RIDGES:
        matrix[diagonal] += ridge * scale
        factor, failed = dpotrf(matrix.T)
        if failed == 0:
            step[others] = dpotrs(factor, right)[0]
            break
    else:
        return None
    if payer >= 0:
        step[payer] = -float(step.sum())
    return step if np.isfinite(step).all() else None


def _longest(shares: np.ndarray, step: np.ndarray, short: bool) -> tuple[float, int]:
    """How far to go before a share falls to zero, and whose; −1 where the sum comes to one."""
    length, leaver = math.inf, -1
    total = float(step.sum())
    if short and total > 0.0:
        length = max(1.0 - float(shares.sum()), 0.0) / total
    falls = np.flatnonzero(step < 0.0)
    if falls.size > 0:
        with np.errstate(over="ignore"):
            lengths = shares[falls] / -step[falls]
        first = int(np.argmin(lengths))
        if lengths[first] <= length:
            length, leaver = float(lengths[first]), int(falls[first])
    return length, leaver


@dataclass
class CuttingState(State):
    """The planes, the w that they have led to, and the plane that was made last."""

    w: np.ndarray
    planes: Planes
    inside: np.ndarray  # of each row: whether it is in the last plane
    normal: np.ndarray  # Σ c_i y_i x_i of these
    run: np.ndarray


@dataclass(frozen=True)
class CuttingPlanes(Solver):
    """A method of cutting planes; a subclass gives ``cut``.

    Parameters
    ----------
    keep : int, default=50
        A plane that has not been in use for so many iterations is dropped.
    """

    keep: int = 50

    solves: ClassVar[Solves] = Solves(
        losses=frozenset({"hinge"}), biases=frozenset({"none", "feature"}), estimates=True
    )

    def __post_init__(self) -> None:
        if not (isinstance(self.keep, int | np.integer) and self.keep > 0):
            raise ValueError(f"keep must be a positive whole number, not {self.keep!r}")

    def start(
        self, problem: Problem, seed: np.random.SeedSequence, warm: Answer | None = None
    ) -> CuttingState:
        rows = problem.y.size
        state = CuttingState(
            w=np.zeros(problem.d),
            planes=Planes.none(rows, problem.d),
            inside=np.zeros(rows, dtype=bool),
            normal=np.zeros(problem.d),
            run=np.zeros(6),
        )
        state.run[LEAST] = math.inf
        if warm is not None:
            state.w[:] = warm.w
            if warm.beta is not None:
                self._inherit(problem, state, warm.beta)
        return state

    def _inherit(self, problem: Problem, state: CuttingState, beta: np.ndarray) -> None:
        """The dual variables of a start make a plane: a mean of planes of their own."""
        planes = state.planes
        given = problem.y * np.clip(problem.y * beta, 0.0, problem.cost)
        normal = np.zeros(problem.d)
        add_all(problem.rows, problem.which, given, normal)
        if planes.add(normal, float(np.abs(given).sum()), state.inside):
            planes.start = given
            state.run[DUAL] = planes.settle(np.empty(problem.d), self.keep)

    def advance(self, problem: Problem, state: CuttingState, visits: int, goal: float) -> Report:
        report = Report(0.0)
        while report.visits < visits and report.status == RUNNING and not report.look:
            self._iterate(problem, state, goal, report)
        return report

    def _iterate(self, problem: Problem, state: CuttingState, goal: float, report: Report) -> None:
        """The solution over the planes so far, and one more plane."""
        run = state.run
        if run[STEPS] > 0:
            run[DUAL] = state.planes.settle(state.w, self.keep)
        run[PRIMAL], offset, visits = self.cut(problem, state)
        report.visits += visits
        run[STEPS] += 1
        fine = math.isfinite(run[PRIMAL]) and state.planes.add(state.normal, offset, state.inside)
        if not fine:
            report.status = DIVERGED
            report.note = (
                f"products of planes overflow in step {run[STEPS]:.0f}; the largest row has norm "
                f"{math.sqrt(problem.squared_norms.max()):g}: scale the features"
            )
            return
        gap, dual = max(float(run[PRIMAL] - run[DUAL]), 0.0), float(run[DUAL])
        report.gap_estimate = gap / dual if dual > 0.0 else math.inf
        report.look = report.gap_estimate <= 0.97 * goal
        moved = run[PRIMAL] < run[LEAST] or run[DUAL] > run[MOST]
        run[STILL] = 0 if moved else run[STILL] + 1
        run[LEAST], run[MOST] = min(run[LEAST], run[PRIMAL]), max(run[MOST], run[DUAL])
        if run[STILL] >= PATIENCE and goal >= 0.0:
            report.status, report.note = STALLED, "neither bound has moved in the last iterations"

    def cut(self, problem: Problem, state: CuttingState) -> tuple[float, float, float]:
        """Make a plane in ``state.inside`` and ``state.normal``, with the solution at ``state.w``.

        Returns J of the answer, the plane's offset, and the visits.
        """
        raise NotImplementedError

    def answer(self, problem: Problem, state: CuttingState) -> Answer:
        return Answer(state.w, 0.0, state.planes.beta(problem.y, problem.cost))

    def steps_done(self, problem: Problem, state: CuttingState) -> float:
        """Iterations, each of which has made a plane."""
        return float(state.run[STEPS])


@inlined
def turn(rows, i, force, now, inside, normal):
    """Row i, whose c_i y_i is the force, is in the plane or not: 1 where that is new."""
    if now == inside[i]:
        return 0.0
    inside[i] = now
    add(rows, i, force if now else -force, normal)
    return 1.0
