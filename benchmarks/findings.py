"""``make findings``: what the papers found, each as a small experiment, the claim beside it.

The result is printed whatever it is. Not all of the papers' data are to be had: money-fx (7,770
Reuters texts of unit norm) stands in for the abstracts of astro-ph, with their λ = 2e-4. Above the
optimum means J(w)/J* − 1, with J* the lower bound of a run that is certified to 1e-6. Medians over
three seeds.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Callable, Iterable

import numpy as np
from contest import machine
from data import cs229, labels, load, positive
from threadpoolctl import threadpool_limits

import pegasos
from pegasos import DoubtingPegasos, Norma, Pegasos, Problem, SGDFixed, solve
from pegasos.certificate import Answer, certify
from pegasos.solvers.contract import Solver

LAM = 2e-4
SEEDS = (0, 1, 2)
HORIZONS = (10**3, 10**4, 10**5, 10**6)
UNITS = ("seconds", "passes", "steps")
ETAS = (0.001, 0.01, 0.1, 1.0, 10.0)


# ------------------------------------------------------------------------------------- tools


def moneyfx() -> Problem:
    X, y = labels(load("reuters_moneyfx"), positive)
    return Problem(X, y, lam=LAM)


def spam(lam: float = 1e-2):
    """The spam texts of the report on variants: rows of word counts, for training and for test."""
    X, y = cs229("cs229_MATRIX.TRAIN")
    return Problem(X, y, lam=lam), *cs229("cs229_MATRIX.TEST")


def optimum(problem: Problem) -> float:
    return solve(problem, tol=1e-6).certificate.dual


def after(problem: Problem, make: Callable[[int], Solver], steps: Iterable[int]) -> list[float]:
    """J of the last iterate of a run of so many steps, the median over the seeds."""
    return [
        statistics.median(
            solve(problem, make(T), tol=None, max_passes=math.inf, seed=seed).certificate.primal
            for seed in SEEDS
        )
        for T in steps
    ]


def grid(corner: str, heads: Iterable, rows: dict[str, Iterable[float]], base: float) -> str:
    """How far above ``base`` each number of each row is."""
    lines = [f"  {corner:34}" + "".join(f"{head!s:>11}" for head in heads)]
    for name, numbers in rows.items():
        lines.append(f"  {name:34}" + "".join(f"{number / base - 1:11.2g}" for number in numbers))
    return "\n".join(lines)


def race(problem: Problem, solvers: Iterable, target: float = 1e-2) -> str:
    """Seconds, passes and steps to 1 % above the optimum, a line each."""
    table = pegasos.compare(
        problem,
        list(solvers),
        target=target,
        max_passes=2000,
        max_seconds=20.0,
        seeds=SEEDS,
        looks=16,
    )
    needed = {by: pegasos.time_to(table, (target,), by=by)[target] for by in UNITS}
    lines = [f"    {'':36}" + "".join(f"{by:>12}" for by in UNITS)]
    for label in needed["seconds"].index:
        cells = "".join(f"{needed[by][label]:12.3g}" for by in UNITS)
        status = ", ".join(table.loc[table["solver"] == label, "status"].unique())
        lines.append(f"    {label:36}{cells}   {status}")
    return "\n".join(lines)


# ------------------------------------------------------------------------------- experiments


def norma() -> str:
    """Pegasos is far ahead of NORMA at small λ, which has not converged after 10^6 steps.
    Projection helps both, most when T is small. (Pegasos, section 5)"""
    problem = moneyfx()
    kinds = {
        "Pegasos": lambda T: Pegasos(steps=T, order="iid"),
        "Pegasos without projection": lambda T: Pegasos(steps=T, order="iid", project=False),
        "NORMA": lambda T: Norma(steps=T, order="iid"),
        "NORMA with projection": lambda T: Norma(steps=T, order="iid", project=True),
    }
    rows = {name: after(problem, make, HORIZONS) for name, make in kinds.items()}
    return grid("above the optimum after T steps", HORIZONS, rows, optimum(problem))


def fixed_step() -> str:
    """A fixed η works as well as Pegasos for some values and fails for others. (section 5)"""
    problem = moneyfx()
    rows = {"Pegasos": after(problem, lambda T: Pegasos(steps=T, order="iid"), HORIZONS)}
    for eta in ETAS:
        rows[f"fixed η = {eta:g}"] = after(
            problem, lambda T, eta=eta: SGDFixed(eta=eta, steps=T, order="iid"), HORIZONS
        )
    return grid("above the optimum after T steps", HORIZONS, rows, optimum(problem))


def batch_size() -> str:
    """At fixed T the objective improves with k; at fixed kT it hardly depends on k over a wide
    range. (section 5, figure 3)"""
    problem = moneyfx()
    sizes = (1, 4, 16, 64, 256, 1024)

    def ends(steps_of: Callable[[int], int]) -> list[float]:
        return [
            after(problem, lambda T, k=k: Pegasos(batch=k, steps=T, order="iid"), [steps_of(k)])[0]
            for k in sizes
        ]

    rows = {
        "T = 1,000": ends(lambda k: 1000),
        "kT = 102,400": ends(lambda k: 102_400 // k),
        "kT = 1,024,000": ends(lambda k: 1_024_000 // k),
    }
    return grid("above the optimum at k =", sizes, rows, optimum(problem))


DOUBTS = {
    "Pegasos": {},
    "undo": {"undo": True},
    "two-out": {"flags": 2},
    "probability": {"decrease": 0.5},
    "undo and probability": {"undo": True, "decrease": 0.5},
    "undo, probability and two-out": {"undo": True, "decrease": 0.5, "flags": 2},
}


def doubts() -> str:
    """Undo is ahead early and behind near the optimum; with it the other two change nothing.
    Two-out and probability stay close to Pegasos. (Variants of Pegasos, section 3)"""
    parts = []
    for title, problem in (
        ("spam, word counts, λ = 1e-2", spam()[0]),
        ("reuters2000, λ = 1e-3", Problem(*labels(load("reuters2000"), positive), lam=1e-3)),
    ):
        steps = (10, 30, 100, 300, 1000, 3000)
        rows = {}
        for name, options in DOUBTS.items():
            rows[name] = after(
                problem,
                lambda T, options=options: (
                    DoubtingPegasos(batch=10, steps=T, **options)
                    if options
                    else Pegasos(batch=10, steps=T, order="iid")
                ),
                steps,
            )
        parts.append(
            f"  {title}, k = 10\n" + grid("above the optimum at T =", steps, rows, optimum(problem))
        )
    return "\n".join(parts)


def rows_taken_out() -> str:
    """Two flags take out about 80 of 2,144 rows, four flags none, one or two. (section 3.2)"""
    problem = spam()[0]
    lines = []
    for flags in (2, 4):
        for T in (1000, 3000):
            counts = []
            for seed in SEEDS:
                solver = DoubtingPegasos(batch=10, steps=T, flags=flags)
                found = solve(problem, solver, tol=None, max_passes=math.inf, seed=seed)
                counts.append(int(found.findings["suspects"]["removed"].sum()))
            lines.append(
                f"  {flags} flags, {T:,} steps of 10 rows: {counts} of {problem.m:,} taken out"
            )
    return "\n".join(lines)


def support_vectors_alone() -> str:
    """Training on the support vectors alone gives a worse test error, for outliers come with
    them. (section 4)"""
    problem, X_test, y_test = spam()
    lines = []
    for T in (300, 1000, 3000):
        whole = solve(problem, Pegasos(batch=10, steps=T), tol=None, max_passes=math.inf)
        margins = problem.y * certify(problem, Answer(whole.answer.w, 0.0, None)).z
        chosen = (margins <= 1.0).astype(float)
        alone = solve(
            problem.with_targets(problem.y, chosen),
            Pegasos(batch=10, steps=T),
            tol=None,
            max_passes=math.inf,
        )
        errors = [float(np.mean(y_test * (X_test @ fit.w) <= 0)) for fit in (whole, alone)]
        lines.append(
            f"  {T:,} steps: test error {errors[0]:.2%} from all {problem.m:,} rows, "
            f"{errors[1]:.2%} from the {int(chosen.sum()):,} on the margin or inside it"
        )
    return "\n".join(lines)


def sgd_family() -> str:
    """Training time falls from Pegasos to SGD-r to SGD-s to SGD-m, C = 1. (SGD for L1-SVMs,
    tables 2 and 3)"""
    parts = []
    for name in ("a9a", "ijcnn1", "reuters_moneyfx", "imdb"):
        X, y = labels(load(name), positive)
        order = (Pegasos(order="iid", project=False), "sgd-r", "sgd-s", "sgd-m")
        parts.append(f"  {name}\n{race(Problem(X, y, C=1.0), order)}")
    return "\n".join(parts)


def dual_methods() -> str:
    """Dual coordinate descent and MPU are ahead of SGD-m at C = 1, further at C = 10, and behind
    at C = 0.05. (the same, tables 2 to 7)"""
    parts = []
    for name in ("a9a", "reuters_moneyfx", "imdb"):
        X, y = labels(load(name), positive)
        for C in (0.05, 1.0, 10.0):
            found = race(Problem(X, y, C=C), ("sgd-m", "dcd", "mpu", "ocas", "svm-perf"))
            parts.append(f"  {name}, C = {C:g}\n{found}")
    return "\n".join(parts)


def single_precision() -> str:
    """In single precision SVMSGD is the slowest, MPU the fastest, SGD-m ahead of SGD-QN, C = 1.
    (the same, table 8)"""
    parts = []
    for name in ("a9a", "reuters_moneyfx", "imdb"):
        X, y = labels(load(name), positive)
        players = ("svmsgd", "sgd-qn", pegasos.SGDM(single=True), pegasos.MPU(single=True))
        parts.append(f"  {name}\n{race(Problem(X, y, C=1.0), players)}")
    return "\n".join(parts)


def planes() -> str:
    """Cutting planes need few iterations, and long ones. (Pegasos, section 5; SVM-Perf)"""
    X, y = labels(load("imdb"), positive)
    return "  imdb, λ = 1e-4\n" + race(
        Problem(X, y, lam=1e-4), ("svm-perf", "ocas", "dcd", "pegasos")
    )


EXPERIMENTS = (
    norma,
    fixed_step,
    batch_size,
    doubts,
    rows_taken_out,
    support_vectors_alone,
    sgd_family,
    dual_methods,
    single_precision,
    planes,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="names of experiments, with commas")
    chosen = set(filter(None, parser.parse_args().only.split(",")))
    unknown = chosen - {experiment.__name__ for experiment in EXPERIMENTS}
    if unknown:
        raise SystemExit(f"no such experiment: {', '.join(sorted(unknown))}")
    print(machine())
    with threadpool_limits(1):
        for experiment in EXPERIMENTS:
            if not chosen or experiment.__name__ in chosen:
                print(f"\n{experiment.__name__}: {experiment.__doc__}\n{experiment()}", flush=True)


if __name__ == "__main__":
    main()
