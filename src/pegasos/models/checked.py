"""What a stranger's model file claims, believed only after a look."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


class Wrong(ValueError):
    """What is wrong with the content of a model file; the loader adds the file's name."""


def taken(record: dict[str, Any], name: str, *kinds: type) -> Any:
    """An entry of a record that must be there and of one of these types."""
    if name not in record:
        raise Wrong(f"its header lacks {name!r}")
    value = record[name]
    if type(value) not in kinds:
        wanted = " or ".join(_WORDS[kind] for kind in kinds)
        raise Wrong(f"{name!r} in its header is not {wanted}")
    return value


_WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "a record",
    type(None): "null",
}


def entries(record: dict[str, Any], name: str, kind: type) -> list:
    """A list whose entries are all of one type."""
    found = taken(record, name, list)
    if any(type(entry) is not kind for entry in found):
        raise Wrong(f"an entry of {name!r} in its header is not {_WORDS[kind]}")
    return found


def count(record: dict[str, Any], name: str, least: int = 0) -> int:
    """A whole number of at least so much."""
    found = taken(record, name, int)
    if not least <= found < 2**63:
        raise Wrong(f"{name!r} in its header is {shortened(found)}, not a count")
    return found


def finite(name: str, array: np.ndarray) -> np.ndarray:
    """The same array, of which every value is finite."""
    if not np.isfinite(array).all():
        raise Wrong(f"{name} holds a value that is not finite")
    return array


def positive(record: dict[str, Any], name: str) -> float:
    """A number above zero."""
    found = taken(record, name, float)
    if not 0.0 < found < math.inf:
        raise Wrong(f"{name!r} in its header must be positive, not {found!r}")
    return found


def shortened(value: Any) -> str:
    """A value as text that fits into a sentence, whatever a stranger has put there."""
    if isinstance(value, int) and abs(value) >= 2**63:
        return "a whole number of too many digits"
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
