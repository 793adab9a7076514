"""``verbose``: one live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
from typing import TextIO

from pegasos.driver import Event


class ProgressLine:
    """Listens to the driver's events and keeps one line of text up to date.

    Parameters
    ----------
    n_problems : int
        How many binary problems there are; with more than one the line says which.
    notes : bool
        Whether to print the decisions of the solver too (``verbose=2``).
    """

    def __init__(self, n_problems: int, notes: bool):
        self.n_problems = n_problems
        self.notes = notes
        self.out: TextIO = sys.stderr
        self.live = self.out.isatty()
        self.width = 0  # of the live line that stands there now
        self.lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        with self.lock:
            if event.kind == "look":
                self._look(event)
            elif event.kind == "note" and self.notes:
                self._end_live_line()
                print(self._which(event) + event.text, file=self.out)

    def close(self) -> None:
        """Leave the last state standing."""
        with self.lock:
            self._end_live_line()

    def _look(self, event: Event) -> None:
        proof = event.certificate
        assert proof is not None
        text = (
            f"{self._which(event)}passes {event.passes:.1f}  primal {proof.primal:.8g}  "
            f"dual {proof.dual:.8g}  relative gap {proof.relative_gap:.2e}"
        )
        if not self.live:
            print(text, file=self.out)
            return
        print("\r" + text.ljust(self.width), end="", file=self.out, flush=True)
        self.width = len(text)

    def _which(self, event: Event) -> str:
        if self.n_problems == 1:
            return ""
        return f"problem {event.problem + 1}/{self.n_problems}  "

    def _end_live_line(self) -> None:
        if self.width:
            print(file=self.out)
            self.width = 0
