"""One file that cannot execute anything: arrays in the safetensors format, and a JSON header.

    8 bytes    the length of what follows
    JSON       name, type, shape and place of each array; ``__metadata__`` holds our own header
    bytes      the arrays, one after the other

The header is JSON in the strict sense: no NaN, no infinity.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pegasos.models.checked import Wrong, shortened
from pegasos.models.plain import Arrays

KEY = "pegasos"  # of our header among safetensors' metadata
LONGEST_HEADER = 64 << 20
DEEPEST_HEADER = 30  # records in lists in records …
MISSING = "model files need safetensors: pip install 'pegasos[models]'"

# What safetensors calls the types that we store.
_TYPES = {"BOOL", "F32", "F64", *(f"{kind}{bits}" for kind in "IU" for bits in (8, 16, 32, 64))}


def write(file: BinaryIO, header: dict[str, Any], arrays: Arrays) -> None:
    """Put a header and its arrays into a file."""
    try:
        from safetensors.numpy import save
    except ImportError:
        raise ImportError(MISSING) from None
    if _is_deep(header):
        raise ValueError("a model file cannot hold parameters that are nested so deeply")
    text = json.dumps(header, allow_nan=False)
    plain = {
        name: np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        for name, array in arrays.items()
    }
    content = save(plain, metadata={KEY: text})
    if int.from_bytes(content[:8], "little") > LONGEST_HEADER:
        raise ValueError(
            f"the header of this model would be {len(text) >> 20} MB of text, and a model file "
            f"takes {LONGEST_HEADER >> 20}: its names of features or classes are too many or long"
        )
    file.write(content)


def read(path: Path) -> tuple[dict[str, Any], Arrays]:
    """The header of a file and its arrays. Raises Wrong where it is not such a file."""
    _check_length(path)
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        raise ImportError(MISSING) from None
    try:
        with safe_open(path, framework="numpy") as file:  # checks shapes and places by itself
            text = (file.metadata() or {}).get(KEY)
            if text is None:
                raise Wrong("it is a safetensors file, but not a model of pegasos")
            header = _parsed(text)
            for name in file.keys():  # noqa: SIM118 (it is no dict)
                if file.get_slice(name).get_dtype() not in _TYPES:
                    raise Wrong(f"the array {shortened(name)!r} is of a type that is not in use")
            return header, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise Wrong(
            f"it is damaged or cut short ({shortened(str(error))}); fetch or write it again"
        ) from None


def looks_like(beginning: bytes) -> bool:
    """Whether a file that begins so may be in the safetensors format."""
    return beginning[8:9] == b"{" and int.from_bytes(beginning[:8], "little") < 2**40


def _check_length(path: Path) -> None:
    """Refuse, before anything is read, a header that cannot be."""
    size = os.stat(path).st_size
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
    if length > LONGEST_HEADER:
        raise Wrong(
            f"its header claims {length} bytes, and {LONGEST_HEADER} are the most: it is not a "
            "model of pegasos, or damaged"
        )
    if 8 + length > size:
        raise Wrong(
            f"it is cut short: its header claims {length} bytes, the file has {size}; fetch or "
            "write it again"
        )


def _parsed(text: str) -> dict[str, Any]:
    try:
        header = json.loads(text, parse_float=_finite, parse_constant=_no_constant)
    except RecursionError:
        raise Wrong("its header is nested too deeply for a model") from None
    except ValueError as error:
        raise Wrong(f"its header is not valid JSON ({shortened(str(error))})") from None
    if not isinstance(header, dict):
        raise Wrong("its header is not a JSON record")
    if _is_deep(header):
        raise Wrong("its header is nested too deeply for a model")
    return header


def _is_deep(header: dict[str, Any]) -> bool:
    """Whether there are more levels than anyone means, each of which costs a call to unpack."""
    level: list[Any] = [header]
    for _ in range(DEEPEST_HEADER):
        level = [
            part
            for value in level
            if isinstance(value, list | dict)
            for part in (value.values() if isinstance(value, dict) else value)
        ]
    return any(isinstance(value, list | dict) for value in level)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{shortened(text)} is too large for a number")
    return value


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")
