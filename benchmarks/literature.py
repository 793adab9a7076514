"""``make literature``: every algorithm of the papers on the same problems, with the same judge.

Passes and seconds to 10, 1 and 0.1 % above the optimum, and for the methods that work on the dual
or with matrices, to 0.01 %; the optimum is certified. Three seeds, medians; "." where a method did
not get there within its budget. What was run is kept in out/literature and not run again. The
methods that test the objective in each step run on reuters2000 alone.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from contest import machine
from data import labels, load, positive
from threadpoolctl import threadpool_limits

from pegasos import ConvergenceDisplay, Pegasos, Problem, compare, solve, time_to
from pegasos.solvers import as_solver
from pegasos.solvers.contract import Solver

FOLDER = Path("out") / "literature"
SETS = {"a9a": 123, "ijcnn1": 22, "reuters2000": None}
TARGETS = (1e-1, 1e-2, 1e-3, 1e-4)
SEEDS = (0, 1, 2)
EPOCHS: dict[str, str | Solver] = {
    "pegasos": "pegasos",
    "pegasos, no projection": Pegasos(project=False),
    "pegasos, i.i.d.": Pegasos(order="iid"),
    **{
        name: name
        for name in (
            *("norma", "norma-projected", "sgd-fixed", "svmsgd", "asgd", "sgd-qn", "sgd-r"),
            *("sgd-s", "sgd-m", "mpu", "passive-aggressive", "perceptron", "averaged-perceptron"),
        )
    },
}
PRECISE = (
    *("dual-ascent", "smo", "svm-perf", "ocas", "huber-newton", "interior-point"),
    "interior-point-full",
)
MATRICES = ("huber-newton", "interior-point", "interior-point-full")
DOUBTING = ("undo", "two-out", "probability", "undo-two-out", "undo-probability")
MOST_SECONDS = 60.0


def problem_of(name: str) -> Problem:
    X, y = labels(load(name, SETS[name]), positive)
    return Problem(X, y, C=1.0)


def able(problem: Problem, name: str) -> bool:
    """Whether a method takes the problem."""
    try:
        as_solver(name).check(problem)
    except ValueError:
        return False
    return True


def table(name: str) -> str:
    problem = problem_of(name)
    precise = {method: method for method in PRECISE if able(problem, method)}
    common = {"seeds": SEEDS, "max_seconds": MOST_SECONDS, "path": FOLDER / f"{name}.jsonl"}
    runs = [
        compare(problem, EPOCHS, target=1e-3, max_passes=300, **common),
        compare(problem, precise, target=1e-4, max_passes=1e5, **common),
    ]
    if name == "reuters2000":
        runs.append(compare(problem, DOUBTING, target=1e-3, max_passes=20_000, **common))
    lines = [f"{name}, {problem.m:,} × {problem.d:,}, C = 1"]
    heads = "".join(f"{f'{100 * target:g} %':>9}" for target in TARGETS)
    width = len(heads)
    lines.append(f"  {'':24}{'passes to':>{width}}{'seconds to':>{width}}")
    lines.append(f"  {'above the optimum:':24}{heads}{heads}   ended")
    for found in runs:
        passes, seconds = (time_to(found, TARGETS, by=by) for by in ("passes", "seconds"))
        for label in passes.index:
            of_label = found[found["solver"] == label]
            lines.append(
                f"  {label:24}"
                + "".join(cell(count) for count in passes.loc[label])
                + "".join(cell(count) for count in seconds.loc[label])
                + "   "
                + ", ".join(of_label["status"].unique())
            )
    draw(name, runs)
    return "\n".join([*lines, flops(problem)])


def cell(number: float) -> str:
    return f"{'.' if math.isnan(number) else f'{number:.3g}':>9}"


def flops(problem: Problem) -> str:
    """Floating-point operations of the matrix methods, those of their systems and products."""
    lines = []
    for name in MATRICES:
        if able(problem, name):
            counts = [solve(problem, name, tol=target).findings["flops"] for target in TARGETS]
            lines.append(f"  {name:24}" + "".join(f"{count:9.2g}" for count in counts) + "   flops")
    return "\n".join(lines)


def draw(name: str, runs: list) -> None:
    import matplotlib
    import pandas

    matplotlib.use("Agg")
    shown = ConvergenceDisplay.from_comparison(pandas.concat(runs, ignore_index=True), x="passes")
    shown.figure_.savefig(FOLDER / f"{name}.png", dpi=130, bbox_inches="tight")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="names of sets, with commas between them")
    chosen = set(filter(None, parser.parse_args().only.split(","))) or set(SETS)
    if chosen - set(SETS):
        raise SystemExit(f"no such set: {', '.join(sorted(chosen - set(SETS)))}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    print(machine())
    with threadpool_limits(1):
        for name in SETS:
            if name in chosen:
                print("\n" + table(name), flush=True)
    print(f"\nPictures: {FOLDER}")


if __name__ == "__main__":
    main()
