"""``pegasos compare``: what several solvers need to come near the optimum."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from pegasos.cli import completion, options
from pegasos.cli import training_options as given
from pegasos.cli.exits import FINE, Usage
from pegasos.cli.help import examples
from pegasos.cli.inputs import Reading, open_data
from pegasos.cli.outputs import check_can_write, refuse_clash
from pegasos.cli.report import label_text, print_json, print_table
from pegasos.cli.screen import Screen
from pegasos.cli.trial import try_out
from pegasos.cli.values import listed, one_of, seconds, size, span
from pegasos.cli.views import Training

NAME = "compare"
HELP = "Measure what several solvers need to come near the optimum of one problem."
EPILOG = examples(
    ("pegasos compare a9a.svm --solvers dual-ascent,pegasos,sgd-qn", "seconds to 10, 1 and 0.1 %"),
    ("pegasos compare a9a.svm --solvers auto,ocas --by passes --plot a9a.png", "with a picture"),
    ("pegasos compare letter.svm --solvers auto,smo --positive 7", "one class against the rest"),
)
MEASURES = ("seconds", "passes", "steps")


Solvers = Annotated[
    str,
    typer.Option(
        "--solvers", metavar="A,B,…", help="Their names.", autocompletion=completion.solver_list
    ),
]
Bias = Annotated[
    str,
    typer.Option(
        "--bias",
        metavar="KIND",
        help="none, feature or free. Not every solver can do every kind.",
        autocompletion=completion.among(completion.BIASES),
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive", metavar="LABEL", help="This class against the rest of several classes."
    ),
]
Targets = Annotated[
    str,
    typer.Option("--targets", metavar="A,B,…", help="How near: shares above the optimum."),
]
By = Annotated[
    str,
    typer.Option(
        "--by",
        metavar="WHAT",
        help="seconds, passes or steps.",
        autocompletion=completion.among(MEASURES),
    ),
]
Passes = Annotated[
    float, typer.Option("--passes", metavar="N", help="End each run after so many passes.")
]
Seeds = Annotated[
    int, typer.Option("--seeds", metavar="N", help="Runs of each solver; the median counts.")
]
Plot = Annotated[
    str | None,
    typer.Option("--plot", metavar="FILE", help="A picture of how they converge (png, svg)."),
]


def command(
    source: options.Source,
    solvers: Solvers = "dual-ascent,pegasos",
    C: given.C = None,
    lam: given.Lam = None,
    loss: given.Loss = None,
    bias: Bias = "none",
    positive: Positive = None,
    targets: Targets = "1e-1,1e-2,1e-3",
    by: By = "seconds",
    passes: Passes = 100.0,
    max_seconds: given.MaxSeconds = None,
    seeds: Seeds = 1,
    plot: Plot = None,
    dtype: options.Dtype = "float32",
    features: options.Features = None,
    zero_based: options.ZeroBased = "auto",
    target: options.Target = None,
    columns: options.Columns = None,
    categorical: options.Categorical = None,
    weights: options.Weights = None,
    memory: options.Memory = None,
    scratch: options.Scratch = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> int:
    """Read, run them all on one problem, and show when each came how near."""
    reading = Reading.of(
        dtype=dtype, features=features, zero_based=zero_based, target=target, columns=columns,
        categorical=categorical, weights=weights,
    )  # fmt: skip
    names, goals, limit = listed(solvers) or [], _goals(targets), seconds(max_seconds)
    one_of("--by", by, MEASURES)
    chosen = _chosen(C, lam, one_of("--bias", bias, completion.BIASES))
    try_out(names, bias=bias, C=C, lam=lam, loss=loss, max_passes=passes)
    if seeds < 1:
        raise Usage(f"--seeds must be at least 1, not {seeds}")
    if plot is not None:
        refuse_clash({"--plot": plot}, {"DATA": source})
        _check_picture(plot)
        check_can_write(Path(plot), force)
    screen = Screen(quiet)
    with open_data(source, reading, screen, size(memory), scratch) as (data, _):
        problem = _problem(data, source, loss, positive, chosen)
        table = _run(problem, names, goals, passes, limit, seeds, screen)
    if plot is not None:
        _draw(table, by, plot, force)
    answer = _answer(table, goals, by)
    if json:
        print_json({"data": source, "by": by, **answer, "plot": plot})
    else:
        _print(answer, goals, by)
        if plot is not None:
            screen.tell(f"picture: {plot}")
    return FINE


def _chosen(C: float | None, lam: float | None, bias: str) -> dict[str, Any]:
    """The options of the problem."""
    if C is not None and lam is not None:
        raise Usage("give -C or --lam, not both: they are the same (λ = 1/(C·rows))")
    return {"C": 1.0 if lam is None and C is None else C, "lam": lam, "bias": bias}


def _check_picture(plot: str) -> None:
    """Refuse a kind of picture that matplotlib cannot draw, before there is one."""
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise Usage("--plot needs matplotlib: pip install 'pegasos[plot]'") from None
    kinds = FigureCanvasBase.get_supported_filetypes()
    kind = Path(plot).suffix.lstrip(".").lower()
    if kind and kind not in kinds:
        raise Usage(f"--plot cannot draw {kind}: give a name that ends in .png, .svg or .pdf")


def _goals(text: str) -> list[float]:
    try:
        goals = sorted((float(part) for part in listed(text) or []), reverse=True)
    except ValueError:
        raise Usage(f"--targets is written as 1e-1,1e-2, not {text!r}") from None
    if not goals or not all(0 < goal < math.inf for goal in goals):
        raise Usage(f"--targets needs positive numbers, not {text!r}")
    return goals


def _problem(
    data: Any, source: str, loss: str | None, positive: str | None, chosen: dict[str, Any]
) -> Any:
    """One problem: of two classes, of one against the rest, or of numbers."""
    import numpy as np

    from pegasos.losses import as_loss
    from pegasos.problem import Problem

    if data.y is None:
        raise Usage(f"{source} has no targets: name their column with --target")
    y = data.y
    if as_loss(loss or "hinge").labels:
        labels = np.unique(y)
        names = [label_text(label) for label in labels]
        if positive is None and len(names) != 2:
            raise Usage(
                f"{source} has {len(names)} classes, and one problem has two: name the one that "
                "stands against the rest with --positive"
            )
        positive = names[-1] if positive is None else positive
        if positive not in names:
            more = ", …" if len(names) > 8 else ""
            raise Usage(
                f"--positive names {positive!r}, which is none of {', '.join(names[:8])}{more}"
            )
        y = np.where(y == labels[names.index(positive)], 1.0, -1.0)
    return Problem(data.X, y, weights=data.weights, loss=loss or "hinge", **chosen)


class _View(Training):
    """One run after the other."""

    def hear(self, label: str, seed: int, event: Any) -> None:
        title = f"comparing: {label}, seed {seed}"
        if title != self.title:
            self.restart(title)
        self(event)


def _run(
    problem: Any,
    names: list[str],
    goals: list[float],
    passes: float,
    limit: float | None,
    seeds: int,
    screen: Screen,
) -> Any:
    from pegasos.comparison import compare

    view = _View("finding the optimum to compare with", problem.m, min(goals))
    with screen.showing(view):
        return compare(
            problem,
            names,
            target=min(goals),
            max_passes=passes,
            max_seconds=limit,
            seeds=seeds,
            on_event=view.hear,
        )


def _answer(table: Any, goals: list[float], by: str) -> dict[str, Any]:
    from pegasos.comparison import time_to

    needed = time_to(table, goals, by=by)
    found = []
    for name, runs in table.groupby("solver", sort=False):
        last = runs.groupby("seed", sort=False).tail(1)
        found.append(
            {
                "solver": name,
                "needed": {f"{goal:g}": float(needed.loc[name, goal]) for goal in goals},
                "suboptimality": float(runs["suboptimality"].min()),
                "gap": float(last["gap"].median()),
                "status": last["status"].tolist()[0],
            }
        )
    return {"reference": table.attrs["reference"], "solvers": found}


def _print(answer: dict[str, Any], goals: list[float], by: str) -> None:
    header = ["solver", *[f"to {100 * goal:g} %" for goal in goals], "best", "proved", "end"]
    rows = []
    for one in answer["solvers"]:
        needed = [_amount(one["needed"][f"{goal:g}"], by) for goal in goals]
        best = f"{max(one['suboptimality'], 0.0):.1e}"
        proved = f"{one['gap']:.1e}" if math.isfinite(one["gap"]) else "–"
        rows.append([one["solver"], *needed, best, proved, one["status"]])
    print_table(
        header, rows, f"{by.capitalize()} to come near the optimum", left=(0, len(header) - 1)
    )


def _amount(number: float, by: str) -> str:
    if not math.isfinite(number):
        return "–"
    return span(number) if by == "seconds" else f"{number:.4g}"


def _draw(table: Any, by: str, path: str, force: bool) -> None:
    import matplotlib

    from pegasos.data.saving import saved_file
    from pegasos.displays import ConvergenceDisplay

    matplotlib.use("Agg")
    display = ConvergenceDisplay.from_comparison(table, x=by)
    with saved_file(path, force) as file:
        display.figure_.savefig(file, format=Path(path).suffix.lstrip(".") or "png", dpi=130)
