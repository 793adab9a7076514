"""``pegasos demo``: a certified model of generated text, to see how it goes without any file."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from pegasos.cli import options
from pegasos.cli.exits import FINE, INTERRUPTED, SHORT, say
from pegasos.cli.help import examples
from pegasos.cli.learning import Wish, fit, shape_of
from pegasos.cli.report import print_json
from pegasos.cli.screen import Screen
from pegasos.cli.trial import try_out
from pegasos.cli.values import count, in_words, span
from pegasos.cli.views import View

NAME = "demo"
HELP = "Train on generated text, with nothing needed: see how it goes."
EPILOG = examples(
    ("pegasos demo", "100,000 rows shaped like news text"),
    ("pegasos demo --rows 800000", "as many as RCV1 has; takes some GB of memory"),
)
TEST_SHARE = 0.1


def command(
    rows: Annotated[int, typer.Option("--rows", metavar="N", min=100, help="Rows.")] = 100_000,
    tol: Annotated[
        float, typer.Option("--tol", metavar="GAP", help="How near the optimum.")
    ] = 1e-4,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Generate, train on nine tenths, test on the rest."""
    from pegasos.data import Data
    from pegasos.datasets import text_like

    try_out(["auto"], "classify", bias="free", tol=tol)
    screen = Screen(quiet)
    screen.tell(f"Generating {count(rows)} rows shaped like news text …")
    with screen.showing(View("generating rows")):
        X, y = text_like(rows)
    cut = rows - round(TEST_SHARE * rows)
    data = Data(X[:cut], y[:cut])
    screen.tell(
        f"{count(cut)} rows × {count(X.shape[1])} features, {X.nnz / rows:.0f} values a row; "
        f"{count(rows - cut)} rows are kept to test on"
    )
    screen.tell("Problem: minimise ½‖w‖² + C Σ max(0, 1 − y(⟨w, x⟩ + b)),  C = 1")
    wish = Wish(options={"C": 1.0, "tol": tol})
    done = fit(wish.estimator(data.y, "demo"), data, screen, "training on generated text")
    if done.interrupted:
        say("interrupted")
        return INTERRUPTED
    model = done.model
    begun = time.perf_counter()
    accuracy = float(model.score(X[cut:], y[cut:]))
    spent = {"training": done.seconds, "testing": time.perf_counter() - begun}
    if json:
        print_json({"converged": model.converged_, "certificate": model.certificate_,
                    "passes": model.n_passes_, "accuracy": accuracy, "seconds": spent,
                    "data": shape_of(data)})  # fmt: skip
    proof = model.certificate_
    screen.tell(f"The objective is {in_words(proof.relative_gap)}.", "bold green")
    screen.tell(
        f"  primal {proof.primal:.8g} ≥ optimum ≥ dual {proof.dual:.8g}, after "
        f"{model.n_passes_:.1f} passes and {span(done.seconds)}"
    )
    screen.tell(f"  {100 * accuracy:.2f} % of the {count(rows - cut)} other rows are right")
    screen.tell("Next, on your own data (svmlight, CSV, Parquet or Arrow):")
    screen.tell("  pegasos train FILE          the model goes to FILE's name with .pegasos")
    screen.tell("  pegasos train dataset:a9a   a set that comes by name (pegasos datasets)")
    screen.tell("  pegasos train --help        every command teaches by example")
    return FINE if model.converged_ else SHORT
