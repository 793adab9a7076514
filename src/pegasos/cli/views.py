"""What there is to see of long work: facts gathered as it goes on, drawn as a panel or as a line.

A view never asks the work anything and holds no mathematics beyond the time that is left.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pegasos.cli.values import bytes_of, clock, count, many

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pegasos.driver import Event

SPEED_OVER = 2.0  # seconds over which a speed is measured
GETTING_READY = "the rows are checked, and compiled code is loaded"
LOOKS = 4  # the last looks, or guesses, through which log(gap) is drawn as a line


class View:
    """The shared part: a title, a clock, and the last note."""

    def __init__(self, title: str, now: Callable[[], float] = time.monotonic):
        self.title = title
        self.now = now
        self.begun = now()
        self.note = ""
        self.lock = threading.Lock()
        self.changed: Callable[[bool], None] = lambda important: None  # set by the screen

    @property
    def spent(self) -> float:
        return self.now() - self.begun

    def line(self) -> str:
        """Where the work stands, as one plain line."""
        return f"{self.title}  {clock(self.spent)}"

    def panel(self, width: int) -> RenderableType:
        """The same for a terminal."""
        return _boxed(self.title, [_shown(clock(self.spent))], width)


class Moving(View):
    """Work that goes through a file.

    Parameters
    ----------
    title : str
        What is done.
    follows : path, optional
        The file that is read: how far, this process's own position in it tells.
    """

    def __init__(
        self,
        title: str,
        follows: str | None = None,
        now: Callable[[], float] = time.monotonic,
    ):
        super().__init__(title, now)
        self.follows = follows
        self.total: float | None = None if follows is None else os.path.getsize(follows)
        self.speed = _Speed(now)
        self.done = 0.0
        self.rows = 0

    def reached(self, done: float, total: float | None = None) -> None:
        """So many bytes are done, of so many in all."""
        with self.lock:
            self.done, self.total = done, total or self.total
            self.speed.reached(done)
        self.changed(False)

    def more_rows(self, rows: int) -> None:
        """So many rows more have been dealt with."""
        with self.lock:
            self.rows += rows
        self.changed(False)

    def _facts(self) -> list[str]:
        if self.follows is not None:
            self.done = max(self.done, position_in(self.follows))
            if self.done:
                self.speed.reached(self.done)
        facts = []
        if self.done:
            facts.append(
                bytes_of(self.done) + (f" of {bytes_of(self.total)}" if self.total else "")
            )
            if self.speed.per_second():
                facts.append(f"{bytes_of(self.speed.per_second())}/s")
        elif self.total:
            facts.append(bytes_of(self.total))
        if self.rows:
            facts.append(f"{count(self.rows)} rows")
        return [*facts, f"{clock(self.spent)} spent"]

    def line(self) -> str:
        with self.lock:
            return "  ".join([self.title, *self._facts()])

    def panel(self, width: int) -> RenderableType:
        with self.lock:
            lines: list[Any] = [_shown("   ".join(self._facts()))]
            if self.done and self.total:
                lines.append(_bar(self.done / self.total, width - 4))
        return _boxed(self.title, lines, width)


def position_in(path: str) -> float:
    """How far this process has read a file: 0 where the system does not tell, or it is not open."""
    wanted = os.path.realpath(path)
    best = 0.0
    with contextlib.suppress(OSError, ValueError, IndexError):
        for number in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):  # closed meanwhile
                if os.readlink(f"/proc/self/fd/{number}") == wanted:
                    about = Path(f"/proc/self/fdinfo/{number}").read_text()
                    best = max(best, float(about.split()[1]))  # "pos:" and the position
    return best


class Training(View):
    """A run of a solver, or of several on many binary problems, from the driver's events.

    Parameters
    ----------
    title : str
        What is trained.
    rows : int or None
        Rows that a pass of one problem visits; None where problems differ: no rows/s then.
    tol : float or None
        The relative gap at which a run ends.
    problems : sequence of str
        What the binary problems are called, one for each; a single one needs no name.
    """

    def __init__(
        self,
        title: str,
        rows: int | None = None,
        tol: float | None = None,
        problems: Sequence[str] = ("",),
        now: Callable[[], float] = time.monotonic,
    ):
        super().__init__(title, now)
        self.rows = rows
        self.tol = tol
        self.problems = problems
        self.restart(title)

    def restart(self, title: str) -> None:
        """Another run begins."""
        with self.lock:
            self.title = title
            self.begun = self.now()
            self.note = ""
            self.speed = _Speed(self.now)
            self.passes: dict[int, float] = {}  # of each problem that has begun
            self.looks: dict[int, deque[tuple[float, float]]] = {}  # (time, relative gap)
            self.guesses: deque[tuple[float, float]] = deque(maxlen=LOOKS)  # of a single problem
            self.current = 0
            self.proof: Any = None  # the best certificate of the current problem

    def __call__(self, event: Event) -> None:
        """Listen to the driver."""
        with self.lock:
            if event.kind == "note":
                self.note = event.text
            else:
                self._heard(event)
        self.changed(event.kind == "look")

    def _heard(self, event: Event) -> None:
        if event.problem != self.current:
            self.current, self.proof = event.problem, None
        self.passes[event.problem] = event.passes
        if self.rows is not None:
            self.speed.reached(self.rows * sum(self.passes.values()))
        if event.certificate is None:
            self._guessed(event.estimate)
            return
        proof = event.certificate
        if self.proof is None or proof.relative_gap <= self.proof.relative_gap:
            self.proof = proof
        looks = self.looks.setdefault(event.problem, deque(maxlen=LOOKS))
        if 0 < proof.relative_gap < math.inf:
            looks.append((self.now(), proof.relative_gap))

    def _guessed(self, gap: float) -> None:
        """The solver guesses the gap, between two looks; it repeats itself until the next guess."""
        if 0.0 < gap < math.inf and (not self.guesses or self.guesses[-1][1] != gap):
            self.guesses.append((self.now(), gap))

    def seconds_left(self) -> float | None:
        """A guess: the line through log(gap) as the solver guesses it, or else as the last looks
        have found it; or the pace at which problems have ended."""
        if len(self.problems) == 1:
            known = self.guesses if len(self.guesses) == LOOKS else self.looks.get(0, ())
            return time_left(known, self.tol, self.now())
        ended = len(self.passes) - 1
        if ended < 1:
            return None
        return self.spent / ended * (len(self.problems) - ended)

    def _which(self) -> str:
        if len(self.problems) == 1:
            return ""
        return f"problem {self.current + 1} of {len(self.problems)}: {self.problems[self.current]}"

    def _pace(self) -> list[str]:
        facts = [f"passes {self.passes.get(self.current, 0.0):.1f}"]
        pace = self.speed.per_second()
        if pace:
            facts.append(f"{many(pace)} rows/s")
        facts.append(f"{clock(self.spent)} spent")
        left = self.seconds_left()
        if left is not None:
            facts.append(f"~{clock(left)} left")
        return facts

    def line(self) -> str:
        with self.lock:
            if not self.passes:
                return f"{self.title}  {GETTING_READY}"
            facts = [self.title]
            if self._which():
                facts.append(self._which())
            facts += self._pace()
            if self.proof is not None:
                facts.append(f"primal {self.proof.primal:.8g}  dual {self.proof.dual:.8g}")
                facts.append(f"gap {self.proof.relative_gap:.2e}{self._goal()}")
            return "  ".join(facts)

    def _goal(self) -> str:
        return "" if self.tol is None else f" of {self.tol:.0e}"

    def panel(self, width: int) -> RenderableType:
        from rich.text import Text

        with self.lock:
            lines: list[Any] = [_shown(self._which())] if self._which() else []
            lines.append(_shown("   ".join(self._pace())))
            if self.proof is None:
                waiting = "the first look at the gap is to come" if self.passes else GETTING_READY
                lines += [Text("primal –   dual –", style="dim"), Text(waiting, style="dim")]
            else:
                primal, dual = f"{self.proof.primal:.8g}", f"{self.proof.dual:.8g}"
                lines.append(_shown(f"primal {primal:<12}  dual {dual}"))
                lines.append(self._gap_line(self.proof.relative_gap, width - 4))
            if self.note:
                lines.append(Text(self.note, style="dim", no_wrap=True, overflow="ellipsis"))
        return _boxed(self.title, lines, width)

    def _gap_line(self, gap: float, width: int) -> RenderableType:
        """The gap, from 1 on the left to the tolerance on the right, each factor ten as wide."""
        from rich.table import Table
        from rich.text import Text

        said = "gap    none yet" if math.isinf(gap) else f"gap    {gap:.1e}"
        if self.tol is None:
            return _shown(said)
        said, goal = said.ljust(16), f" {self.tol:.0e}"
        line = Table.grid()
        bar = _bar(share_of_way(gap, self.tol), width - len(said) - len(goal))
        line.add_row(_shown(said), bar, Text(goal, style="dim"))
        return line


class _Speed:
    """How fast a count grows, over the last seconds."""

    def __init__(self, now: Callable[[], float]):
        self.now = now
        self.seen: deque[tuple[float, float]] = deque()

    def reached(self, amount: float) -> None:
        self.seen.append((self.now(), amount))
        while len(self.seen) > 2 and self.seen[1][0] < self.now() - SPEED_OVER:
            self.seen.popleft()

    def per_second(self) -> float:
        if len(self.seen) < 2:
            return 0.0
        (then, before), (last, after) = self.seen[0], self.seen[-1]
        return (after - before) / (last - then) if last > then else 0.0


def share_of_way(gap: float, tol: float) -> float:
    """How far a gap has come from 1 to the tolerance, on a logarithmic scale."""
    if gap <= tol or tol >= 1:
        return 1.0
    return max(0.0, math.log(min(gap, 1.0)) / math.log(max(tol, 1e-12)))


def time_left(looks: Sequence[tuple[float, float]], tol: float | None, now: float) -> float | None:
    """Seconds until log(gap), drawn as a line through the looks, comes down to the tolerance."""
    if tol is None or len(looks) < 2:
        return None
    looks = list(looks)
    when = [then for then, _ in looks]
    logs = [math.log(gap) for _, gap in looks]
    middle, height = sum(when) / len(when), sum(logs) / len(logs)
    spread = sum((t - middle) ** 2 for t in when)
    if spread == 0:
        return None
    slope = sum((t - middle) * (g - height) for t, g in zip(when, logs)) / spread
    if slope >= 0:
        return None
    end = middle + (math.log(max(tol, 1e-12)) - height) / slope
    return max(end - now, 0.0)


def _shown(line: str) -> Any:
    """A line of words and numbers, in which the numbers stand out."""
    from rich.text import Text

    text = Text(line, style="dim", no_wrap=True, overflow="ellipsis")
    text.highlight_regex(r"(?<![\w])~?\d[\d.,:]*(e[+-]\d+)?( [kMG]B?(?![a-z]))?", "not dim bold")
    return text


def _bar(share: float, width: int) -> RenderableType:
    from rich.progress_bar import ProgressBar

    return ProgressBar(
        total=1.0,
        completed=min(max(share, 0.0), 1.0),
        width=max(width, 1),
        complete_style="cyan",
        finished_style="green",
    )


def _boxed(title: str, lines: list[Any], width: int) -> RenderableType:
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    head = Text(title, no_wrap=True, overflow="ellipsis")
    return Panel(Group(*lines), title=head, title_align="left", width=width, border_style="cyan")
