"""What a command answers: one JSON object for machines, or tables and sentences for people."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from typing import Any

import numpy as np

PLAIN_WIDTH = 160  # columns, where no terminal sets them


def print_json(answer: dict[str, Any]) -> None:
    """The one JSON object of a command, on stdout. What is not finite becomes null."""
    print(json.dumps(plain(answer), ensure_ascii=False, allow_nan=False))


def plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if isinstance(value, dict):
        return {str(label_text(k)): plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def label_text(label: Any) -> str:
    """A label as text: 1 for 1.0."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, float):
        return str(int(label)) if label.is_integer() and abs(label) < 1e15 else repr(label)
    return str(label)


def label_value(label: Any) -> Any:
    """A label for JSON: a whole number, a number, or text."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, float) and label.is_integer() and abs(label) < 1e15:
        return int(label)
    return label


def print_facts(title: str, facts: list[tuple[str, str]]) -> None:
    """Names and values below each other, on stdout."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(Text(name), Text(value))
    _show(Text(title, style="bold cyan"), table) if title else _show(table)


def print_table(
    header: list[str], rows: list[list[str]], title: str = "", left: tuple[int, ...] = (0,)
) -> None:
    """A table on stdout: numbers to the right, the columns of words to the left.

    Where a terminal is too narrow the last column is cut.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for k, name in enumerate(header):
        table.add_column(Text(name), justify="left" if k in left else "right", no_wrap=True)
    room = _width() - 1 - sum(3 + widest for widest in _widest(header, rows)[:-1])
    for row in rows:
        last = row[-1] if len(row[-1]) <= max(room, 4) else row[-1][: max(room, 4) - 1] + "…"
        table.add_row(*(Text(cell) for cell in [*row[:-1], last]))
    if title:
        print()
        _show(Text(title, style="bold cyan"))
    _show(table)


def fits(header: list[str], rows: list[list[str]]) -> bool:
    """Whether a table is not too wide for what it is shown on."""
    return sum(3 + widest for widest in _widest(header, rows)) < _width()


def _widest(header: list[str], rows: list[list[str]]) -> list[int]:
    return [max(len(row[k]) for row in [header, *rows]) for k in range(len(header))]


def _width() -> int:
    """Columns of the terminal, or of what is shown elsewhere."""
    from rich.console import Console

    return Console().width if sys.stdout.isatty() else PLAIN_WIDTH


def _show(*parts: Any) -> None:
    """On stdout: to a terminal in its width, and else wide and without spaces at the ends."""
    from rich.console import Console

    if sys.stdout.isatty():
        console = Console(highlight=False)
        for part in parts:
            console.print(part)
        return
    console = Console(highlight=False, width=PLAIN_WIDTH)
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    for line in captured.get().splitlines():
        print(line.rstrip())
