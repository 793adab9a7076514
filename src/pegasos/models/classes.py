"""The classes of a classifier as plain values, and back with their type."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from pegasos.models.checked import Wrong, finite, shortened, taken
from pegasos.models.plain import STORABLE

# Text in an array takes the room of the longest for each; beyond this it stays objects.
_ROOM = 1 << 20


def packed_classes(classes: np.ndarray) -> dict[str, Any]:
    """Values and type: numbers, truth values, text, or text as objects."""
    name = {"U": "str", "O": "object"}.get(classes.dtype.kind, classes.dtype.name)
    values = classes.tolist()
    text = all(isinstance(value, str) for value in values)
    if not (text if name in ("str", "object") else classes.dtype.newbyteorder("=") in STORABLE):
        raise ValueError(
            f"a model file cannot hold classes such as {shortened(values[0])} ({classes.dtype}): "
            "it has place for text, whole numbers, numbers and truth values"
        )
    return {"type": name, "values": [str(v) for v in values] if text else values}


def unpacked_classes(record: dict[str, Any]) -> np.ndarray:
    """The array that ``packed_classes`` was given: at least two classes in ascending order."""
    name, values = taken(record, "type", str), taken(record, "values", list)
    known = {dtype.name: dtype for dtype in STORABLE}
    if name in ("str", "object"):
        kind: type = str
    elif name in known:
        kind = {"b": bool, "i": int, "u": int, "f": float}[known[name].kind]
    else:
        raise Wrong(f"there are no classes of type {shortened(name)!r}")
    if any(type(value) is not kind for value in values):
        raise Wrong(f"its classes are not all of type {name}")
    if len(values) < 2 or any(a >= b for a, b in pairwise(values)):
        raise Wrong("its classes are not at least two in ascending order")
    if kind is str:
        longest = max(map(len, values))
        wasteful = longest * len(values) > max(_ROOM, 8 * sum(map(len, values)))
        return np.array(values, dtype=object if name == "object" or wasteful else str)
    try:
        found = np.array(values, dtype=known[name])
    except OverflowError:
        raise Wrong(f"its classes do not fit into {name}") from None
    return finite("the list of its classes", found)
