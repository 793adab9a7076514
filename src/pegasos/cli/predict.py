"""``pegasos predict``: a label, a number or scores for each row, one line each."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TextIO

import numpy as np
import typer

from pegasos.cli import options
from pegasos.cli.exits import FINE, Usage
from pegasos.cli.help import examples
from pegasos.cli.inputs import Reading, names_are_checked, read_parts
from pegasos.cli.outputs import check_can_write, refuse_clash
from pegasos.cli.report import label_text, label_value, print_json
from pegasos.cli.screen import Screen
from pegasos.cli.values import count, span

NAME = "predict"
HELP = "Predict a label or a number for each row."
EPILOG = examples(
    ("pegasos predict a9a.pegasos new.svm", "one label a line, on stdout"),
    ("pegasos predict a9a.pegasos new.svm -o labels.txt", "… or into a file"),
    ("pegasos predict a9a.pegasos new.svm --scores", "decision values: how far from the margin"),
    ("pegasos predict rcv1.model rcv1.store", "a model of LIBLINEAR on rows larger than memory"),
)


def command(
    model: options.Model,
    source: options.Source,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where the lines go."),
    ] = None,
    scores: Annotated[
        bool,
        typer.Option(
            "--scores",
            help="Decision values in place of labels; of several classes one value for each, in "
            "the order in which info lists them.",
        ),
    ] = False,
    dtype: options.Dtype = "float32",
    zero_based: options.ZeroBased = "auto",
    json: options.Json = False,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> int:
    """Read the rows in parts, and write a line for each."""
    reading = Reading.of(dtype=dtype, zero_based=zero_based)
    if output is not None:
        refuse_clash({"--output": output}, {"MODEL": model, "DATA": source})
        check_can_write(Path(output), force)
    from pegasos.models import load_model

    trained = load_model(model)
    if scores and not hasattr(trained, "classes_"):
        raise Usage(f"{model} predicts numbers: it has no other scores; leave --scores out")
    lines_on_screen = output is None and not json and sys.stdout.isatty()
    reading = reading.for_model(trained)
    screen = Screen(quiet, live=False if lines_on_screen else None)
    begun = time.perf_counter()
    found: list[np.ndarray] = []
    rows = 0
    with _lines(output, force, json) as out:
        for data in read_parts(source, reading, screen, trained, targets=False):
            with names_are_checked():
                part = trained.decision_function(data.X) if scores else trained.predict(data.X)
            rows += part.shape[0]
            if out is not None:
                out.write("".join(_line(row) for row in part))
            elif json:
                found.append(part)
    spent = time.perf_counter() - begun
    if json:
        print_json(_answer(model, source, output, rows, spent, found, scores))
    elif output is not None:
        screen.tell(f"{count(rows)} rows in {span(spent)}: {output}")
    return FINE


@contextlib.contextmanager
def _lines(output: str | None, force: bool, json: bool) -> Iterator[TextIO | None]:
    """Where the lines go; with --json and no file they are in the answer."""
    if output is None:
        yield None if json else sys.stdout
        return
    import io

    from pegasos.data.saving import saved_file

    with saved_file(output, force) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
        yield text
        text.flush()
        text.detach()


def _line(row: Any) -> str:
    if np.ndim(row):
        return " ".join(repr(float(score)) for score in row) + "\n"
    return label_text(row) + "\n"


def _answer(
    model: str,
    source: str,
    output: str | None,
    rows: int,
    seconds: float,
    found: list[np.ndarray],
    scores: bool,
) -> dict[str, Any]:
    answer: dict[str, Any] = {"model": model, "data": source, "rows": rows, "seconds": seconds}
    if output is not None:
        return {**answer, "output": output}
    name = "scores" if scores else "predictions"
    if scores:
        return {**answer, name: [row for part in found for row in part.tolist()]}
    return {**answer, name: [label_value(label) for part in found for label in part.tolist()]}
