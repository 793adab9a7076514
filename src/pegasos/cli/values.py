"""Words on the command line as values: durations, sizes, class weights; and numbers as words."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from pegasos.cli.exits import Usage

SECONDS = {"s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
BYTES = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def seconds(text: str | None) -> float | None:
    """``90``, ``45s``, ``10min``, ``2h``, ``1h30m`` as seconds."""
    if text is None:
        return None
    parts = re.findall(r"(\d+(?:\.\d+)?|\.\d+)\s*(sec|min|[smhd])?\s*", text)
    whole = re.fullmatch(r"(?:(?:\d+(?:\.\d+)?|\.\d+)\s*(?:sec|min|[smhd])\s*)+", text)
    if not whole and not re.fullmatch(r"\d+(?:\.\d+)?|\.\d+", text):
        raise Usage(f"a duration is written as 90, 45s, 10min, 2h or 1h30m, not {text!r}")
    return sum(float(number) * SECONDS[unit or "s"] for number, unit in parts)


def size(text: str | None) -> int | None:
    """``4GB``, ``512MiB``, ``1.5G`` as bytes: KB is 1000, KiB and K are 1024."""
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*([KMGT]?)(i?B|)\s*", text, re.IGNORECASE)
    if not found or float(found[1]) == 0:
        raise Usage(f"a size is written as 4GB, 512MB or 1.5GiB, not {text!r}")
    base = 1000 if found[3].lower() == "b" and found[2] else 1024
    return int(float(found[1]) * base ** BYTES[found[2].upper()])


def class_weights(text: str | None) -> Any:
    """``balanced``; ``spam=10,ham=1``; or a JSON object. The labels are still text."""
    if text is None or text == "balanced":
        return text
    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except json.JSONDecodeError as error:
            raise Usage(f"--class-weight is no JSON object ({error})") from None
    else:
        found = dict(_pair(part) for part in text.split(","))
    wrong = [v for v in found.values() if isinstance(v, bool) or not isinstance(v, int | float)]
    if wrong:
        raise Usage(f"--class-weight gives numbers to labels, not {wrong[0]!r}")
    for label, weight in found.items():
        if not 0 < weight < math.inf:
            raise Usage(
                f"--class-weight gives positive numbers to labels, and {label} has {weight:g} (to "
                "leave a class out, drop its rows)"
            )
    return found


def _pair(text: str) -> tuple[str, float]:
    label, equals, weight = text.rpartition("=")
    try:
        return label, float(weight if equals else "")
    except ValueError:
        raise Usage(
            '--class-weight is written as balanced, label=weight,label=weight or {"label": weight},'
            f" not {text!r}"
        ) from None


def source(text: str) -> str:
    """What DATA names; ``-`` is the standard input."""
    if not text:
        raise Usage("DATA is empty: name a file, a store, a URL or dataset:NAME (- is stdin)")
    return "/dev/stdin" if text == "-" else text


def listed(text: str | None) -> list[str] | None:
    """``a,b,c`` as a list."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def one_of(option: str, value: str, choices: tuple[str, ...]) -> str:
    """A word that must be one of a few."""
    if value not in choices:
        raise Usage(f"{option} must be one of {', '.join(choices)}, not {value!r}")
    return value


def count(number: float) -> str:
    """A number of things, with commas: 804,414."""
    return f"{round(number):,}"


def many(number: float) -> str:
    """A rough number of things: 12.3 M."""
    for unit, power in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= power:
            return f"{number / power:.3g} {unit}"
    return f"{number:.3g}"


def bytes_of(number: float) -> str:
    """A number of bytes: 935 MB."""
    for unit, power in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= power:
            return f"{number / power:.3g} {unit}"
    return f"{int(number)} B"


def span(seconds: float) -> str:
    """A length of time: 7.3 ms, 0.34 s, 12.1 s, 3 min 05 s, 2 h 10 min."""
    if 0 < seconds < 0.0995:
        return f"{1e3 * seconds:.2g} ms"
    if seconds < 1:
        return f"{seconds:.2f} s"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def clock(seconds: float) -> str:
    """A running time of constant width: 0:12, 3:05, 2:10:00."""
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02d}"
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def in_words(gap: float) -> str:
    """What a relative gap proves."""
    if gap == 0:
        return "at the optimum, to rounding: proved"
    if not math.isfinite(gap):
        return "near the optimum or not: nothing is proved"
    if gap >= 1:
        return f"at most {1 + gap:.3g} times the optimum: proved"
    return f"at most {100 * gap:.2g} % above the optimum: proved"
