"""``make passes``: what a pass of each method of the literature costs beside one of dual ascent.

Methods that read one row at a time, on sparse text in random order, interleaved in one run: the
yardstick is a pass of dual ascent without shrinking, over the same rows in the same order. Methods
that test the objective, by the step; cutting planes, by the plane, beside a compiled ``X @ w``.
"""

from __future__ import annotations

import statistics
import time
from functools import partial

import numpy as np
from contest import alone, machine
from data import labels, load, positive, text_like
from threadpoolctl import threadpool_limits

from pegasos import DoubtingPegasos, DualAscent, Problem, solve
from pegasos.solvers import as_solver
from pegasos.solvers.contract import Solver

ROWS, REPEATS, PASSES = 200_000, 7, 6
LATER = f"passes 2 to {PASSES}"
BY_ROW = (
    "pegasos",
    "norma",
    "norma-projected",
    "sgd-fixed",
    "svmsgd",
    "asgd",
    "sgd-qn",
    "sgd-r",
    "sgd-s",
    "sgd-m",
    "mpu",
    "passive-aggressive",
    "perceptron",
    "averaged-perceptron",
)
PLANES = 60


def passes_by_row() -> str:
    """Medians of passes, and their ratio to dual ascent's."""
    X, y = text_like(ROWS)
    problem = Problem(X, y, C=1.0)
    methods: dict[str, Solver] = {"dual-ascent": DualAscent(shrink=float("inf"))}
    methods |= {name: as_solver(name) for name in BY_ROW}
    seed = np.random.SeedSequence(0)
    first: dict[str, list[float]] = {name: [] for name in methods}
    later: dict[str, list[float]] = {name: [] for name in methods}
    for turn in range(REPEATS + 1):
        for name, method in methods.items():
            state = method.start(problem, seed)
            seconds = [one_pass(problem, method, state) for _ in range(PASSES)]
            if turn:  # the first has compiled
                first[name].append(seconds[0])
                later[name] += seconds[1:]
    lines = [f"text, {ROWS:,} × {X.shape[1]:,}, C = 1", f"  {'':20}{'pass 1':>19}{LATER:>19}"]
    for name in methods:
        cells = ""
        for spent in (first, later):
            middle, base = (statistics.median(spent[k]) for k in (name, "dual-ascent"))
            cells += f"{1e3 * middle:8.1f} ms{middle / base:6.2f} ×"
        lines.append(f"  {name:20}{cells}")
    return "\n".join(lines)


def one_pass(problem: Problem, method: Solver, state) -> float:
    """Seconds of the solver for a pass, however many calls it takes."""
    done, begun = 0.0, time.perf_counter()
    while done < problem.m:
        done += method.advance(problem, state, int(problem.m - done), -1.0).visits
    return time.perf_counter() - begun


def steps_with_tests() -> str:
    """Microseconds of a step of the methods that test the objective, exactly and on a sample."""
    found = labels(load("reuters2000"), positive)
    X, y = found or text_like(2_000, d=10_000)
    problem = Problem(X, y, lam=1e-3)
    lines = [f"{'reuters2000' if found else 'text'}, {X.shape[0]:,} × {X.shape[1]:,}: a step"]
    for sample in (None, 100):
        for name in ("undo", "two-out", "probability"):
            solver = DoubtingPegasos(**{**as_solver(name).get_params(), "sample": sample})
            solve(problem, solver, tol=None, max_passes=2)  # compiles
            passes = 2000 if sample is None else 100
            solution = solve(problem, solver, tol=None, max_passes=passes)
            each = solution.trace.seconds[-1] / solution.trace.steps[-1]
            how = "all rows" if sample is None else f"{sample} rows, ours"
            lines.append(f"  {name + ', f on ' + how:36}{1e6 * each:8.1f} µs")
    return "\n".join(lines)


def iterations_of_planes() -> str:
    """Seconds of an iteration of the cutting-plane methods, early and with many planes."""
    X, y = text_like(ROWS)
    problem = Problem(X, y, C=1.0)
    w = np.ones(X.shape[1], dtype=X.dtype)
    margins = statistics.median(_seconds(lambda: X @ w) for _ in range(REPEATS))
    lines = [f"text, {ROWS:,} × {X.shape[1]:,}, C = 1: an iteration; X @ w {1e3 * margins:.1f} ms"]
    for name in ("svm-perf", "ocas"):
        method = as_solver(name)
        state = method.start(problem, np.random.SeedSequence(0))
        spent = []
        for _ in range(PLANES):
            spent.append(_seconds(partial(method.advance, problem, state, 1, -1.0)))
        early, late = statistics.median(spent[5:15]), statistics.median(spent[-10:])
        lines.append(
            f"  {name:20}{1e3 * early:8.1f} ms about the 10th ({early / margins:.1f} ×),"
            f"{1e3 * late:8.1f} ms about the {PLANES - 5}th ({late / margins:.1f} ×)"
        )
    return "\n".join(lines)


def _seconds(work) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def main() -> None:
    print(machine())
    with threadpool_limits(1):
        for part in (passes_by_row, steps_with_tests, iterations_of_planes):
            print("\n" + str(alone(part)), flush=True)


if __name__ == "__main__":
    main()
