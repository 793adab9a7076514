"""How a command ends: the exit codes, and the one place where errors become sentences."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import typer

from pegasos.cli.signals import sigterm_as_ctrl_c
from pegasos.cli.spelling import for_shell

FINE, SHORT, USAGE, OUTPUT, BUG = 0, 1, 2, 3, 70
INTERRUPTED, PIPE_CLOSED, TERMINATED = 130, 141, 143

CODES = {
    FINE: "done",
    SHORT: "done, but not within the tolerance; the model is saved all the same",
    USAGE: "wrong usage, or input that cannot be read; one sentence says why",
    OUTPUT: "cannot write: it exists (--force), no space, no permission",
    BUG: "a mistake of pegasos itself; PEGASOS_DEBUG=1 shows where",
    INTERRUPTED: "Ctrl-C (SIGTERM: 143); train has saved the best model so far",
}

# What is said of files that are to be written, and of none that are read.
OF_OUTPUT = re.compile(r"cannot write |.* (exists already|is not replaced: .*); give another name")
ONLY_WRITING = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EEXIST}


class Usage(ValueError):
    """What was asked for cannot be done: one sentence that says what would work."""


class OutputError(Exception):
    """A file that cannot be written."""


def say(sentence: str) -> None:
    """Tell a person something, beside the result."""
    print(sentence, file=sys.stderr, flush=True)


def run(app: typer.Typer, arguments: Sequence[str] | None) -> int:
    """Run a command and return its exit code; every error becomes one sentence."""
    _open_what_is_closed()
    command = typer.main.get_command(app)
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = command.main(args=arguments, prog_name="pegasos", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else FINE
    except (KeyboardInterrupt, typer.Abort):
        say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        return _nobody_reads()
    except Exception as error:
        if os.environ.get("PEGASOS_DEBUG"):
            traceback.print_exc()
        sentence, code = told(error)
        if sentence:
            say(sentence)
        return code


def _open_what_is_closed() -> None:
    """A shell may close stdout or stderr (``>&-``): what is said there goes nowhere.

    Otherwise the next file that is opened would be taken for it.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _nobody_reads() -> int:
    """Whoever read stdout has gone, as ``head`` does; Python's own flush must not fail."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED


def told(error: Exception) -> tuple[str, int]:
    """An error as a sentence for its reader, and as an exit code."""
    if hasattr(error, "format_message"):  # typer's own: an unknown option, a word for a number
        return _of_usage(error), USAGE
    if isinstance(error, OutputError | FileExistsError):
        return _sentence(error), OUTPUT
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, OSError) and cause.errno in ONLY_WRITING:
        return _sentence(error), OUTPUT
    if isinstance(error, OSError):
        return _sentence(error), USAGE
    if isinstance(error, MemoryError):
        return (
            f"there is not enough memory ({_sentence(error)}): "
            "let --memory bound what the data may take, or convert the data to a store first",
            USAGE,
        )
    if isinstance(error, ValueError | ImportError | NotImplementedError):
        sentence = _sentence(error)
        if isinstance(error, Usage):
            return sentence, USAGE
        return for_shell(sentence), OUTPUT if OF_OUTPUT.match(sentence) else USAGE
    return (
        f"a mistake in pegasos: {type(error).__name__}: {error}. Please report it, with what "
        "PEGASOS_DEBUG=1 pegasos … prints",
        BUG,
    )


def _of_usage(error: Any) -> str:
    message = error.format_message()
    context = getattr(error, "ctx", None)
    if not message:  # no command was given: typer has printed the help
        return ""
    path = "pegasos" if context is None else context.command_path
    return f"{message.rstrip('.')} ({path} --help shows how)"


def _sentence(error: BaseException) -> str:
    """What an exception says, on one line."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
        return where + error.strerror[:1].lower() + error.strerror[1:]
    return " ".join(str(error).split()) or type(error).__name__


def stoppable(command: Callable[..., int]) -> Callable[..., int]:
    """A command that ends quietly on Ctrl-C and SIGTERM, and where nobody reads its output."""

    @functools.wraps(command)
    def stopped(*args: Any, **kwargs: Any) -> int:
        from pegasos.data.spooled import copies_kept

        with sigterm_as_ctrl_c() as told:
            try:
                with copies_kept():
                    code = command(*args, **kwargs)
            except KeyboardInterrupt:
                say("interrupted")
                code = INTERRUPTED
            except BrokenPipeError:
                code = _nobody_reads()
            return TERMINATED if code == INTERRUPTED and told else code

    return stopped
