"""The options of ``pegasos train`` alone: how they are spelled, explained and completed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from pegasos.cli import completion

LEARNING, LIMITS, OUTPUT = "Learning", "Limits", "Output"


def _option(
    panel: str,
    *names: str,
    metavar: str | None = None,
    words: Any = (),
    help: str,
) -> Any:
    complete: Callable | None = words if callable(words) else completion.among(words)
    return typer.Option(
        *names, metavar=metavar, help=help, rich_help_panel=panel, autocompletion=complete
    )


Task = Annotated[
    str,
    _option(
        LEARNING, "--task", metavar="TASK", words=completion.TASKS,
        help="classify (targets are labels) or regress (they are numbers).",
    ),
]  # fmt: skip
C = Annotated[
    float | None,
    _option(
        LEARNING, "-C", metavar="C",
        help="Weight of the summed loss against ½‖w‖²; 1 if neither C nor λ is given.",
    ),
]  # fmt: skip
Lam = Annotated[
    float | None,
    _option(
        LEARNING, "--lam", metavar="λ",
        help="Weight of ½‖w‖² against the mean loss: λ = 1/(C · rows).",
    ),
]  # fmt: skip
Loss = Annotated[
    str | None,
    _option(
        LEARNING, "--loss", metavar="LOSS", words=completion.LOSSES,
        help="hinge, squared_hinge or logistic; to regress epsilon_insensitive or "
        "squared_epsilon_insensitive. The first of each is the default.",
    ),
]  # fmt: skip
Epsilon = Annotated[
    float | None,
    _option(
        LEARNING, "--epsilon", metavar="ε",
        help="Errors up to this cost nothing (to regress); 0 if not given.",
    ),
]  # fmt: skip
Solver = Annotated[
    str,
    _option(
        LEARNING, "--solver", metavar="NAME", words=completion.solvers,
        help="The algorithm, such as dual-ascent or pegasos; auto chooses.",
    ),
]  # fmt: skip
Bias = Annotated[
    str,
    _option(
        LEARNING, "--bias", metavar="KIND", words=completion.BIASES,
        help="The intercept: free of penalty, a penalised feature (as in LIBLINEAR), or none.",
    ),
]  # fmt: skip
MultiClass = Annotated[
    str | None,
    _option(
        LEARNING, "--multi-class", metavar="SCHEME", words=completion.SCHEMES,
        help="Three and more classes: each against the rest (ovr, the default) or against each "
        "other (ovo).",
    ),
]  # fmt: skip
ClassWeight = Annotated[
    str | None,
    _option(
        LEARNING, "--class-weight", metavar="WEIGHTS", words=("balanced",),
        help='balanced, or spam=10,ham=1, or {"spam": 10}.',
    ),
]  # fmt: skip
Seed = Annotated[
    int,
    _option(LEARNING, "--seed", metavar="N", help="The same number gives the same bits."),
]
Jobs = Annotated[
    int | None,
    _option(
        LEARNING, "--jobs", "-j", metavar="N",
        help="Threads over the classes; -1: one per processor.",
    ),
]  # fmt: skip

Tol = Annotated[
    float,
    _option(
        LIMITS, "--tol", metavar="GAP",
        help="Stop when the model is proved to be within this share of the optimum.",
    ),
]  # fmt: skip
MaxPasses = Annotated[
    float,
    _option(LIMITS, "--max-passes", metavar="N", help="Stop after so many visits of each row."),
]
MaxSeconds = Annotated[
    str | None,
    _option(
        LIMITS, "--max-seconds", metavar="TIME",
        help="Stop training after this time: 90, 10min, 2h, 1h30m.",
    ),
]  # fmt: skip

ModelFile = Annotated[
    str | None,
    _option(
        OUTPUT, "--model", "-o", metavar="FILE",
        help="Where the model goes; otherwise DATA's name with .pegasos, in the current folder.",
    ),
]  # fmt: skip
Format = Annotated[
    str,
    _option(
        OUTPUT, "--format", metavar="FORMAT", words=completion.FORMATS,
        help="Of the model: pegasos, liblinear, svm-light or onnx.",
    ),
]  # fmt: skip
Checkpoint = Annotated[
    str | None,
    _option(
        OUTPUT, "--checkpoint", metavar="FILE",
        help="Save the run there at every look, and each half minute.",
    ),
]  # fmt: skip
Resume = Annotated[
    bool,
    _option(
        OUTPUT, "--resume",
        help="Go on from the checkpoint if it is there: the end has the same bits.",
    ),
]  # fmt: skip
Test = Annotated[
    str | None,
    _option(OUTPUT, "--test", metavar="DATA", help="Say how good the model is on these rows."),
]
