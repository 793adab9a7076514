"""``pegasos evaluate``: how good a model is on rows with known targets."""

from __future__ import annotations

import time

from pegasos.cli import options
from pegasos.cli.exits import FINE
from pegasos.cli.help import examples
from pegasos.cli.inputs import Reading, read_parts
from pegasos.cli.judge import judge
from pegasos.cli.report import print_json
from pegasos.cli.screen import Screen

NAME = "evaluate"
HELP = "Say how good a model is on rows with known targets."
EPILOG = examples(
    ("pegasos evaluate a9a.pegasos a9a.t.svm", "accuracy, a table per class, and confusions"),
    ("pegasos evaluate houses.pegasos new.csv --target price", "a table; errors of a regression"),
    ("pegasos evaluate a9a.pegasos a9a.t.svm --json", "the same for machines"),
)


def command(
    model: options.Model,
    source: options.Source,
    allow_unknown: options.AllowUnknown = False,
    dtype: options.Dtype = "float32",
    zero_based: options.ZeroBased = "auto",
    target: options.Target = None,
    weights: options.Weights = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Read the rows in parts, and judge what the model says of them."""
    reading = Reading.of(dtype=dtype, zero_based=zero_based, target=target, weights=weights)
    from pegasos.models import load_model

    trained = load_model(model)
    reading = reading.for_model(trained)
    screen = Screen(quiet)
    begun = time.perf_counter()
    found = judge(trained, read_parts(source, reading, screen, trained), allow_unknown)
    spent = time.perf_counter() - begun
    if json:
        print_json({"model": model, "data": source, **found.to_dict(), "seconds": spent})
    else:
        found.print()
    return FINE
