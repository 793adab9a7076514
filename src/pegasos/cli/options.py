"""Options that several commands share, each spelled and explained once."""

from __future__ import annotations

from typing import Annotated

import typer

from pegasos.cli import completion, values

READING = "Reading"

Source = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="svmlight text (plain, gz, bz2, xz, zst), CSV, Parquet, Arrow, a store, a URL, "
        "dataset:NAME, or - (stdin).",
        callback=values.source,
        show_default=False,
    ),
]
Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A model of pegasos, LIBLINEAR or SVM-light.",
        show_default=False,
    ),
]
Dtype = Annotated[
    str,
    typer.Option(
        "--dtype",
        metavar="TYPE",
        help="Values as float32 or float64.",
        autocompletion=completion.among(completion.DTYPES),
        rich_help_panel=READING,
    ),
]
Features = Annotated[
    int | None,
    typer.Option(
        "--features",
        metavar="N",
        help="How many features svmlight text has; otherwise the largest index says so.",
        rich_help_panel=READING,
    ),
]
ZeroBased = Annotated[
    str,
    typer.Option(
        "--zero-based",
        metavar="WHEN",
        help="Whether the indices of svmlight text begin with 0: yes, no, or auto (as when the "
        "model was trained, if it knows; otherwise where a 0 occurs).",
        autocompletion=completion.among(completion.BASES),
        rich_help_panel=READING,
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target", metavar="NAME", help="The target's column of a table.", rich_help_panel=READING
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="A,B,…",
        help="The columns of a table to learn from; otherwise all but the target.",
        rich_help_panel=READING,
    ),
]
Categorical = Annotated[
    str | None,
    typer.Option(
        "--categorical",
        metavar="A,B,…",
        help="Columns of a table that are categories, not numbers.",
        rich_help_panel=READING,
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="NAME",
        help="The column of a table that weighs the rows.",
        rich_help_panel=READING,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Answer with one JSON object on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]
AllowUnknown = Annotated[
    bool,
    typer.Option(
        "--allow-unknown", help="Count rows with labels that the model does not know as errors."
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="How much memory the data may take, such as 4GB; otherwise most of what is free. "
        "What is larger, as far as the first 4 MB of text tell, is trained on from the disk. The "
        "program itself and the solver take some besides.",
        rich_help_panel=READING,
    ),
]
Scratch = Annotated[
    str | None,
    typer.Option(
        "--scratch",
        metavar="DIR",
        help="Where data that exceed the memory lie meanwhile; otherwise the system's temporary "
        "folder.",
        rich_help_panel=READING,
    ),
]
