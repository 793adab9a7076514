"""Parameters as plain values: JSON and named arrays out, the same objects back.

What JSON has is itself; all else is a record with one tag: ``{"float": "nan"}``,
``{"array": NAME}``, ``{"tuple": […]}``, ``{"dict": [[key, value], …]}``, ``{"solver": CLASS, …}``,
``{"loss": NAME, …}``, ``{"random_state": …}``, ``{"suspects": …}``. A name is only ever looked up
in a fixed table: nothing in a file can say what is imported or called.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pegasos.losses import LOSSES, as_loss
from pegasos.models.checked import Wrong, count, entries, shortened, taken
from pegasos.solvers import REGISTRY, Solver, solver_class
from pegasos.solvers.doubting import SUSPECT

Arrays = dict[str, np.ndarray]

# The class of a solver: one of the names under which the registry finds it.
SOLVERS = {cls: name for name, (_, cls, _) in reversed(REGISTRY.items())}
STORABLE = {
    np.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float32", "float64"),
    )
}
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_MT_WORDS = 624  # of the state of NumPy's RandomState


def packed(value: Any, name: str, arrays: Arrays) -> Any:
    """A value ready for JSON; the arrays in it are put among ``arrays``, by names made of ``name``.

    Raises ValueError with a sentence about ``name`` where a model file has no place for it.
    """
    if value is None:
        return None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return number(float(value))
    if isinstance(value, Solver):
        return _packed_solver(value, name, arrays)
    if type(value) in LOSSES.values():
        return {"loss": value.name, "parameters": _packed_parts(value._asdict(), name, arrays)}
    if isinstance(value, list | tuple):
        parts = [packed(part, f"{name}.{k}", arrays) for k, part in enumerate(value)]
        return parts if isinstance(value, list) else {"tuple": parts}
    if isinstance(value, Mapping):
        return {
            "dict": [
                [_packed_key(key, name), packed(part, f"{name}.{k}", arrays)]
                for k, (key, part) in enumerate(value.items())
            ]
        }
    if isinstance(value, np.ndarray) and value.dtype == SUSPECT:
        for field in SUSPECT.names or ():
            arrays[f"{name}.{field}"] = value[field]
        return {"suspects": name}
    if isinstance(value, np.ndarray) and value.dtype.newbyteorder("=") in STORABLE:
        arrays[name] = value
        return {"array": name}
    if isinstance(value, np.random.RandomState):
        return _packed_random_state(value, name, arrays)
    raise ValueError(f"a model file cannot hold {name}={shortened(value)}: {PLACE}")


PLACE = (
    "it has place for numbers, text, arrays of numbers, lists and dicts of these, and for the "
    "losses and solvers of pegasos"
)


def number(value: float) -> float | dict[str, str]:
    """A float, also one that JSON has no word for."""
    return value if math.isfinite(value) else {"float": str(value)}


def _packed_key(key: Any, name: str) -> Any:
    if not isinstance(key, str | int | float | np.number | np.bool_):
        raise ValueError(f"a model file cannot hold {name} with the key {shortened(key)}: {PLACE}")
    return packed(key, name, {})


def _packed_solver(solver: Solver, name: str, arrays: Arrays) -> dict:
    cls = type(solver)
    if cls.__name__ not in SOLVERS or solver_class(SOLVERS[cls.__name__]) is not cls:
        raise ValueError(
            f"a model file cannot hold {name}={shortened(solver)}: {cls.__name__} is not one of "
            "the solvers of pegasos"
        )
    return {
        "solver": cls.__name__,
        "parameters": _packed_parts(solver.get_params(), name, arrays),
    }


def _packed_parts(parts: dict[str, Any], name: str, arrays: Arrays) -> dict[str, Any]:
    return {k: packed(part, f"{name}.{k}", arrays) for k, part in parts.items()}


def _packed_random_state(random_state: np.random.RandomState, name: str, arrays: Arrays) -> dict:
    state: Any = random_state.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise ValueError(
            f"a model file cannot hold {name} with a {state['bit_generator']} generator: give a "
            "RandomState made from a seed, or the seed itself"
        )
    arrays[name] = state["state"]["key"]
    return {
        "random_state": name,
        "position": int(state["state"]["pos"]),
        "has_gauss": bool(state["has_gauss"]),
        "gauss": float(state["gauss"]),
    }


def unpacked(value: Any, arrays: Arrays) -> Any:
    """What ``packed`` was given; the arrays that belong to it are taken out of ``arrays``."""
    if isinstance(value, list):
        return [unpacked(part, arrays) for part in value]
    if not isinstance(value, dict):
        return value
    tags = [tag for tag in _UNPACK if tag in value]
    if len(tags) != 1:
        raise Wrong(f"its header holds a value of unknown kind, {shortened(value)}")
    return _UNPACK[tags[0]](value, arrays)


def _float(value: dict, arrays: Arrays) -> float:
    name = taken(value, "float", str)
    if name not in _NOT_FINITE:
        raise Wrong(f"{shortened(name)!r} in its header is not a number")
    return _NOT_FINITE[name]


def _array(value: dict, arrays: Arrays) -> np.ndarray:
    return named(taken(value, "array", str), arrays)


def named(name: str, arrays: Arrays) -> np.ndarray:
    """The array of a name, taken out: each belongs to one place."""
    if name not in arrays:
        raise Wrong(f"the array {shortened(name)!r} is missing")
    return arrays.pop(name)


def _tuple(value: dict, arrays: Arrays) -> tuple:
    return tuple(unpacked(part, arrays) for part in taken(value, "tuple", list))


def _dict(value: dict, arrays: Arrays) -> dict:
    found = {}
    for pair in entries(value, "dict", list):
        if len(pair) != 2 or not (isinstance(pair[0], dict | str | int | float)):
            raise Wrong("its header holds a dict whose entries are not keys with values")
        key = unpacked(pair[0], arrays)
        if not isinstance(key, str | int | float):
            raise Wrong("its header holds a dict with a key that is neither text nor a number")
        found[key] = unpacked(pair[1], arrays)
    return found


def _solver(value: dict, arrays: Arrays) -> Solver:
    name = taken(value, "solver", str)
    if name not in SOLVERS:
        raise Wrong(f"there is no solver {shortened(name)!r} in this version of pegasos")
    return _made(solver_class(SOLVERS[name]), f"the solver {name}", value, arrays)


def _loss(value: dict, arrays: Arrays) -> Any:
    name = taken(value, "loss", str)
    if name not in LOSSES:
        raise Wrong(f"there is no loss {shortened(name)!r} in this version of pegasos")
    return _made(lambda **parts: as_loss(LOSSES[name](**parts)), f"the loss {name}", value, arrays)


def _made(make: Callable[..., Any], what: str, value: dict, arrays: Arrays) -> Any:
    parts = {k: unpacked(v, arrays) for k, v in taken(value, "parameters", dict).items()}
    try:
        return make(**parts)
    except (TypeError, ValueError, OverflowError) as error:
        raise Wrong(f"{what} does not take its parameters ({shortened(str(error))})") from None


def _random_state(value: dict, arrays: Arrays) -> np.random.RandomState:
    words = named(taken(value, "random_state", str), arrays)
    position = count(value, "position")
    if words.dtype != np.uint32 or words.shape != (_MT_WORDS,) or position > _MT_WORDS:
        raise Wrong("its random_state is not the state of a generator")
    random_state = np.random.RandomState()
    random_state.set_state(
        {
            "bit_generator": "MT19937",
            "state": {"key": words, "pos": position},
            "has_gauss": int(taken(value, "has_gauss", bool)),
            "gauss": taken(value, "gauss", float),
        }
    )
    return random_state


def _suspects(value: dict, arrays: Arrays) -> np.ndarray:
    name = taken(value, "suspects", str)
    columns = {field: named(f"{name}.{field}", arrays) for field in SUSPECT.names or ()}
    for field, column in columns.items():
        if column.dtype != SUSPECT[field] or column.ndim != 1:
            raise Wrong(f"the array {shortened(f'{name}.{field}')!r} is no column of suspects")
    if len({column.size for column in columns.values()}) != 1:
        raise Wrong("the columns of its suspects differ in length")
    found = np.empty(columns["row"].size, dtype=SUSPECT)
    for field, column in columns.items():
        found[field] = column
    return found


_UNPACK: dict[str, Callable[[dict, Arrays], Any]] = {
    "float": _float,
    "array": _array,
    "tuple": _tuple,
    "dict": _dict,
    "solver": _solver,
    "loss": _loss,
    "random_state": _random_state,
    "suspects": _suspects,
}
