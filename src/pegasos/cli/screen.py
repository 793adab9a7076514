"""The screen while work goes on: a small live panel, plain lines where no terminal is, or nothing.

All of it goes to stderr; what a command was asked for has stdout to itself.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from pegasos.cli.views import View

PER_SECOND = 8  # how often the panel is drawn
WIDEST = 100  # columns
ECHO = 3  # columns to the right of the panel, where the terminal writes ^C: a line that is full
# would be broken by it, and the panel be taken away one line too low
EVERY = 5.0  # seconds between two plain lines
LOOK_EVERY = 1.0  # … where the second tells of a look


class Screen:
    """Shows views of long work, one after the other, and notes between them.

    Parameters
    ----------
    quiet : bool
        Show nothing.
    live : bool, optional
        A live panel; by default where stderr is a terminal that can move its cursor.
    """

    def __init__(self, quiet: bool = False, live: bool | None = None):
        self.quiet = quiet
        self.live = not quiet and (_can_move() if live is None else live)
        self.notes: list[str] = []
        self._display: Any = None
        self._console: Any = None

    @contextlib.contextmanager
    def showing(self, view: Any) -> Iterator[Any]:
        """Show a view of what is done in the ``with`` block."""
        if self.quiet:
            yield view
        elif self.live:
            yield from self._panel(view)
        else:
            view.changed = _Lines(view)
            yield view
            view.changed = lambda important: None

    def _panel(self, view: View) -> Iterator[View]:
        from rich.live import Live

        console = self.console

        def draw() -> Any:
            return view.panel(min(console.width - ECHO, WIDEST))

        display = Live(
            get_renderable=draw,
            console=console,
            refresh_per_second=PER_SECOND,
            transient=True,
            redirect_stdout=False,  # it has the result
        )
        with display:
            yield view

    def note(self, text: str) -> None:
        """Say something that is worth keeping: once, above the panel."""
        if text in self.notes:
            return
        self.notes.append(text)
        self.tell(text)

    def tell(self, text: str, style: str = "") -> None:
        """Say something to a person."""
        if self.quiet:
            return
        if self.live:
            self.console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)
        else:
            print(text, file=sys.stderr, flush=True)

    @property
    def console(self) -> Any:
        """rich's console on stderr."""
        if self._console is None:
            from rich.console import Console

            self._console = Console(stderr=True)
        return self._console


class _Lines:
    """Plain lines about a view: one every few seconds, and after a look somewhat sooner."""

    def __init__(self, view: View, now: Callable[[], float] = time.monotonic):
        self.view = view
        self.now = now
        self.last = now() - EVERY + LOOK_EVERY  # short work needs no line

    def __call__(self, important: bool) -> None:
        if self.now() - self.last >= (LOOK_EVERY if important else EVERY):
            self.last = self.now()
            print(self.view.line(), file=sys.stderr, flush=True)


def _can_move() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
