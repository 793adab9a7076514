"""``pegasos``: the command line. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pegasos.cli.signals import ctrl_c_heard

USAGE = 2  # what a shell expects of wrong usage


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (``pegasos --help`` lists them).

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``pegasos``; those of the process if not given.

    Returns
    -------
    int
        The exit code.

    Examples
    --------
    >>> from pegasos.cli import main
    >>> main(["--version"])
    pegasos 0.1.0
    0
    """
    with ctrl_c_heard():
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        from pegasos.cli.app import app
        from pegasos.cli.exits import run
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("typer", "rich"):
            raise
        print("the command line needs typer and rich: pip install 'pegasos[cli]'", file=sys.stderr)
        return USAGE
    return run(app, arguments)
