"""pegasos' own model files: all that a fitted estimator holds, in one file that executes nothing.

Kept are the parameters, the coefficients, the classes with their type, the names of the features,
the certificates, what the fit says of itself (``summary_``, traces, findings), the dual variables
that ``store_dual`` and ``warm_start`` keep, and the streams of ``partial_fit``. Not kept is what
belongs to a session: callbacks, checkpoints, ``set_output`` and the routing of metadata.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pegasos import __version__
from pegasos.certificate import Certificate
from pegasos.driver import Trace
from pegasos.estimators import LinearSVC, LinearSVR
from pegasos.estimators.convergence import worst
from pegasos.estimators.multiclass import SCHEMES
from pegasos.models import container, streams
from pegasos.models.checked import Wrong, count, entries, finite, shortened, taken
from pegasos.models.classes import packed_classes, unpacked_classes
from pegasos.models.fitted import Model, coefficients, n_problems
from pegasos.models.plain import Arrays, named, number, packed, unpacked

FORMAT, VERSION = "pegasos-model", 1
CLASSES: dict[str, type[Model]] = {"LinearSVC": LinearSVC, "LinearSVR": LinearSVR}

# Parameters that belong to a session: a model that is loaded tells nobody, and writes nowhere.
SESSION = ("checkpoint", "resume", "on_event")

# What solvers find besides, as estimators name it.
FINDINGS = ("error_rates_", "eta0_", "eta_", "flops_", "suspects_")

_COLUMNS = ("passes", "steps", "seconds", "primal", "dual", "relative_gap")


def write(model: Model, file: BinaryIO, index_base: int | None = None) -> tuple[str, ...]:
    """Put a fitted estimator into a file."""
    arrays: Arrays = {}
    given = {k: v for k, v in model.get_params(False).items() if k not in SESSION}
    w, b = coefficients(model)
    arrays["coef"] = w
    header = {
        "format": FORMAT,
        "version": VERSION,
        "pegasos": __version__,
        "class": type(model).__name__,
        "parameters": {name: packed(value, name, arrays) for name, value in given.items()},
        "n_features": int(model.n_features_in_),
        "feature_names": _names(model),
        "index_base": index_base,
        "classes": packed_classes(model.classes_) if isinstance(model, LinearSVC) else None,
        "scheme": model._scheme_of_fit if isinstance(model, LinearSVC) else None,
        "intercept": not isinstance(model.intercept_, float),
        "certificates": [_packed_certificate(proof) for proof in model.certificates_],
        "converged": bool(model.converged_),
        "summary": model.summary_,
        "fit": _packed_fit(model, arrays) if hasattr(model, "traces_") else None,
        "stream": streams.packed_streams(model, arrays) if hasattr(model, "_streams") else None,
    }
    if header["intercept"]:
        arrays["intercept"] = b
    container.write(file, header, arrays)
    return ()


def read(path: Path) -> Model:
    """The estimator in a file. Raises Wrong where there is none that could be trusted to work."""
    header, arrays = container.read(path)
    _check_version(header)
    model = _unfitted(header, arrays)
    model.n_features_in_ = count(header, "n_features", least=1)
    _set_coefficients(model, header, arrays)
    _set_names(model, header)
    _set_index_base(model, header)
    _set_certificates(model, header)
    fit = taken(header, "fit", dict, type(None))
    if fit is not None:
        _set_fit(model, fit, arrays)
    stream = taken(header, "stream", dict, type(None))
    if stream is not None:
        streams.set_streams(model, stream, arrays)
    if arrays:
        raise Wrong(f"it holds an array {shortened(min(arrays))!r} that nothing in it uses")
    # As the estimators choose: a stream proves only its lower bound.
    proofs = model.certificates_
    k = proofs.index(min(proofs, key=lambda p: p.dual)) if stream is not None else worst(proofs)
    model.certificate_ = proofs[k]
    if fit is not None:
        model.trace_ = model.traces_[k]
    return model


def _check_version(header: dict[str, Any]) -> None:
    if header.get("format") != FORMAT:
        raise Wrong(f"its format is {shortened(header.get('format'))!r}, not {FORMAT!r}")
    version = count(header, "version", least=1)
    if version > VERSION:
        writer = shortened(taken(header, "pegasos", str))
        raise Wrong(
            f"pegasos {writer} has written it in version {version} of the format, and pegasos "
            f"{__version__} reads up to version {VERSION}: install a newer pegasos"
        )


def _unfitted(header: dict[str, Any], arrays: Arrays) -> Model:
    name = taken(header, "class", str)
    if name not in CLASSES:
        raise Wrong(f"there is no estimator {shortened(name)!r} in this version of pegasos")
    given = taken(header, "parameters", dict)
    parameters = {name: unpacked(value, arrays) for name, value in given.items()}
    unknown = set(parameters) - (set(CLASSES[name]._get_param_names()) - set(SESSION))
    if unknown:
        raise Wrong(f"{name} has no parameter {shortened(min(unknown))!r} in this version")
    return CLASSES[name](**parameters)


def _set_coefficients(model: Model, header: dict[str, Any], arrays: Arrays) -> None:
    shape = (1, model.n_features_in_)
    if isinstance(model, LinearSVC):
        scheme = taken(header, "scheme", str)
        if scheme not in SCHEMES:
            raise Wrong(f"there is no scheme {shortened(scheme)!r} for many classes")
        model.classes_ = unpacked_classes(taken(header, "classes", dict))
        model._scheme_of_fit = scheme
        shape = (n_problems(model.classes_.size, scheme), model.n_features_in_)
    model.coef_ = model._shaped(_floats("coef", shape, arrays))
    model.intercept_ = 0.0
    if taken(header, "intercept", bool):
        model.intercept_ = _floats("intercept", shape[:1], arrays)


def _floats(name: str, shape: tuple[int, ...], arrays: Arrays) -> np.ndarray:
    found = named(name, arrays)
    if found.dtype != np.float64 or found.shape != shape:
        raise Wrong(
            f"the array {name!r} is {found.dtype} of shape {found.shape}, and float64 of shape "
            f"{shape} belongs there"
        )
    return finite(f"the array {name!r}", found)


def _names(model: Model) -> list[str] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _set_names(model: Model, header: dict[str, Any]) -> None:
    if taken(header, "feature_names", list, type(None)) is None:
        return
    names = entries(header, "feature_names", str)
    if len(names) != model.n_features_in_:
        raise Wrong(f"it names {len(names)} features and has {model.n_features_in_}")
    model.feature_names_in_ = np.array(names, dtype=object)


def _set_index_base(model: Model, header: dict[str, Any]) -> None:
    base = taken(header, "index_base", int, type(None))
    if base not in (None, 0, 1):
        raise Wrong(f"its indices count from {shortened(base)}, and not from 0 or 1")
    if base is not None:
        model.index_base_ = base


def _packed_certificate(proof: Certificate) -> dict[str, Any]:
    return {k: v if k == "how" else number(float(v)) for k, v in proof.to_dict().items()}


def _set_certificates(model: Model, header: dict[str, Any]) -> None:
    wanted = np.atleast_2d(model.coef_).shape[0]
    found = entries(header, "certificates", dict)
    if len(found) != wanted:
        raise Wrong(f"it has {len(found)} certificates for {wanted} models")
    numbers = ("primal", "dual", "gap", "relative_gap")
    model.certificates_ = [
        Certificate(**{n: _number(proof, n) for n in numbers}, how=taken(proof, "how", str))
        for proof in found
    ]
    model.converged_ = taken(header, "converged", bool)
    model.summary_ = taken(header, "summary", str)


def _number(record: dict[str, Any], name: str) -> float:
    found = taken(record, name, float, dict)
    return found if isinstance(found, float) else unpacked({"float": found.get("float")}, {})


def _packed_fit(model: Model, arrays: Arrays) -> dict[str, Any]:
    """What ``fit`` leaves and ``partial_fit`` does not."""
    looks = [np.array([getattr(trace, c) for c in _COLUMNS]).T for trace in model.traces_]
    arrays["trace"] = np.vstack([part.reshape(-1, len(_COLUMNS)) for part in looks])
    betas = getattr(model, "_betas", None)
    warm = betas is not None and all(beta is not None for beta in betas)
    stored = hasattr(model, "dual_coef_")
    if warm:
        arrays["dual"] = np.array(betas)
    elif stored:
        arrays["dual"] = np.atleast_2d(model.dual_coef_)
    return {
        "n_passes": number(float(model.n_passes_)),
        "looks": [len(trace) for trace in model.traces_],
        "notes": [trace.notes for trace in model.traces_],
        "dual_coef": stored,
        "warm_start": warm,
        "findings": {name: packed(getattr(model, name), name, arrays) for name in model._found},
    }


def _set_fit(model: Model, fit: dict[str, Any], arrays: Arrays) -> None:
    model.n_passes_ = _number(fit, "n_passes")
    model.traces_ = _traces(model, fit, arrays)
    warm, stored = taken(fit, "warm_start", bool), taken(fit, "dual_coef", bool)
    if warm or stored:
        k, rows = len(model.certificates_), arrays.get("dual", np.empty((0, 0))).shape[-1:]
        dual = _floats("dual", (k, *rows), arrays)
        if stored:
            model.dual_coef_ = model._shaped(dual)
        if warm:
            model._betas = [*(dual.copy() if stored else dual)]
    findings = taken(fit, "findings", dict)
    for name, value in findings.items():
        if name not in FINDINGS:
            raise Wrong(f"no solver finds {shortened(name)!r} in this version of pegasos")
        setattr(model, name, unpacked(value, arrays))
    model._found = [*findings]


def _traces(model: Model, fit: dict[str, Any], arrays: Arrays) -> list[Trace]:
    looks, notes = entries(fit, "looks", int), entries(fit, "notes", list)
    table = named("trace", arrays)
    models = len(model.certificates_)
    if (
        not len(looks) == len(notes) == models
        or min(looks) < 0
        or table.dtype != np.float64
        or table.shape != (sum(looks), len(_COLUMNS))
        or any(type(note) is not str for part in notes for note in part)
    ):
        raise Wrong(f"its trace is not one of {models} models")
    parts = np.split(table, np.cumsum(looks)[:-1])
    return [
        Trace(**dict(zip(_COLUMNS, part.T.tolist())), notes=note)
        for part, note in zip(parts, notes)
    ]
