"""The application: all commands under one name."""

from __future__ import annotations

from typing import Annotated

import typer

from pegasos.cli import compare, convert, datasets, demo, evaluate, info, predict, train
from pegasos.cli.exits import CODES, stoppable
from pegasos.cli.help import examples, paragraphs

app = typer.Typer(
    name="pegasos",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Train support vector machines, with a proof of how good each answer is.",
    epilog=examples(
        ("pegasos demo", "see it at work on generated text"),
        ("pegasos train a9a.svm", "train, and save the model as a9a.pegasos"),
        ("pegasos evaluate a9a.pegasos a9a.t.svm", "how good it is on other rows"),
        ("pegasos train --help", "every command teaches by example"),
    )
    + paragraphs("[bold]Exit codes[/]", *(f"{code:5}  {text}" for code, text in CODES.items())),
)


def _version(wanted: bool) -> None:
    if wanted:
        from pegasos import __version__

        print(f"pegasos {__version__}")
        raise typer.Exit


@app.callback()
def pegasos(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Say which one this is."),
    ] = False,
) -> None:
    """Only for --version; typer takes the help from the application."""


for module in (train, predict, evaluate, convert, info, compare, demo):
    app.command(module.NAME, help=module.HELP, epilog=module.EPILOG)(stoppable(module.command))
app.add_typer(datasets.app, name=datasets.NAME)
