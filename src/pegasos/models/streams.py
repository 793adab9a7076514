"""The streams of ``partial_fit``: kept whole, so that they go on with the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.estimators.stream import WHAT_IS_LEARNED
from pegasos.models.checked import Wrong, entries, finite, positive, taken
from pegasos.models.fitted import Model
from pegasos.models.plain import Arrays, named, packed, unpacked
from pegasos.solvers.pegasos import Pegasos
from pegasos.solvers.stream import Stream


def packed_streams(model: Model, arrays: Arrays) -> dict[str, Any]:
    """What all streams of a model have in common; what each has of its own goes into arrays."""
    streams = model._streams
    arrays["stream.vectors"] = np.array([stream._v for stream in streams])
    arrays["stream.run"] = np.array([stream._run for stream in streams])
    arrays["stream.random"] = np.array([stream._rng for stream in streams])
    first = streams[0]
    return {
        "solver": packed(first.solver, "stream.solver", arrays),
        "loss": packed(first.loss, "stream.loss", arrays),
        "lam": float(first.lam),
        "free_bias": bool(first.free_bias),
        "constant": float(first.constant),
        "steps": [int(stream.t) for stream in streams],
        # None: the parameters are still those that the stream began with.
        "begun_with": None if model._begun_with == model._what_is_learned() else model._begun_with,
    }


def set_streams(model: Model, record: dict[str, Any], arrays: Arrays) -> None:
    """Put the streams back."""
    k, d = np.atleast_2d(model.coef_).shape
    steps = entries(record, "steps", int)
    if len(steps) != k or min(steps) < 0:
        raise Wrong(f"its streams are not those of {k} models")
    model._streams = [_begun(model, record, arrays) for _ in steps]
    width = d + (model._streams[0].constant != 0.0)
    vectors = _array("stream.vectors", (k, 2, width), np.float64, arrays)
    run = _array("stream.run", (k, 10), np.float64, arrays)
    random = _array("stream.random", (k, 2), np.uint64, arrays)
    for j, stream in enumerate(model._streams):
        stream.t = steps[j]
        stream._v, stream._run, stream._rng = vectors[j], run[j], random[j]
    model.lam_, model.t_ = model._streams[0].lam, max(steps)
    model._begun_with = _begun_with(model, record)


def _begun(model: Model, record: dict[str, Any], arrays: Arrays) -> Stream:
    """A stream of this kind before its first row."""
    solver, loss = (unpacked(taken(record, name, dict), arrays) for name in ("solver", "loss"))
    if not isinstance(solver, Pegasos):
        raise Wrong("its stream does not learn by Pegasos")
    if getattr(loss, "labels", None) is not hasattr(model, "classes_"):
        raise Wrong("the loss of its stream does not belong to this estimator")
    free_bias, constant = taken(record, "free_bias", bool), taken(record, "constant", float)
    lam, seed = positive(record, "lam"), np.random.SeedSequence(0)
    try:
        return Stream(model.n_features_in_, lam, solver, loss, free_bias, constant, seed)
    except ValueError as error:
        raise Wrong(f"its stream cannot go on ({error})") from None


def _array(name: str, shape: tuple[int, ...], dtype: type, arrays: Arrays) -> np.ndarray:
    found = named(name, arrays)
    if found.dtype != dtype or found.shape != shape:
        raise Wrong(f"the array {name!r} does not fit the model")
    return finite(f"the array {name!r}", found)


def _begun_with(model: Model, record: dict[str, Any]) -> dict[str, str]:
    if taken(record, "begun_with", dict, type(None)) is None:
        return model._what_is_learned()
    begun = record["begun_with"]
    if set(begun) != set(model._what_is_learned()) or set(map(type, begun.values())) != {str}:
        raise Wrong("what its stream began with are not the parameters of this estimator")
    return {name: begun[name] for name in WHAT_IS_LEARNED if name in begun}
