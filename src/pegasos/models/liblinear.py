"""LIBLINEAR's model files, written and read.

    solver_type L2R_L1LOSS_SVC_DUAL       what it was trained with
    nr_class 2
    label 1 -1                            not for a regression; two classes: the first if ⟨w, x⟩ > 0
    nr_feature 3
    bias 1                                the value of a constant feature, negative for none
    w
    0.5                                   a line for each feature, the constant one last, and in it
    …                                     a number for each class; for two classes, one

17 digits are written, so that reading gives the same bits. Our intercept is the coefficient of a
constant feature 1. What the file does not hold is as in a new estimator: C, tol, epsilon, whether
the intercept was penalised. Reading sorts the labels, as ``classes_`` is: exact ties of scores go
to the smaller label, in LIBLINEAR to the one that the file names first.
"""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from pegasos.estimators import LinearSVC
from pegasos.losses import as_loss
from pegasos.models.checked import Wrong, shortened
from pegasos.models.fitted import (
    Model,
    coefficients,
    labels_as_integers,
    refuse_one_against_one,
    unproved,
)
from pegasos.models.text import Lines

BEGINNING = b"solver_type"
CRAMMER_SINGER = "MCSVM_CS"  # writes a column for each class even where there are two

# What LIBLINEAR was trained with: our loss, where there is one.
SOLVER_TYPES = {
    "L2R_LR": "logistic",
    "L2R_L2LOSS_SVC_DUAL": "squared_hinge",
    "L2R_L2LOSS_SVC": "squared_hinge",
    "L2R_L1LOSS_SVC_DUAL": "hinge",
    CRAMMER_SINGER: "hinge",
    "L1R_L2LOSS_SVC": "squared_hinge",
    "L1R_LR": "logistic",
    "L2R_LR_DUAL": "logistic",
    "L2R_L2LOSS_SVR": "squared_epsilon_insensitive",
    "L2R_L2LOSS_SVR_DUAL": "squared_epsilon_insensitive",
    "L2R_L1LOSS_SVR_DUAL": "epsilon_insensitive",
}
_WRITTEN = {
    "hinge": "L2R_L1LOSS_SVC_DUAL",
    "squared_hinge": "L2R_L2LOSS_SVC_DUAL",
    "logistic": "L2R_LR",
    "epsilon_insensitive": "L2R_L1LOSS_SVR_DUAL",
    "squared_epsilon_insensitive": "L2R_L2LOSS_SVR",
}
_LARGEST_LABEL = 2**31 - 1  # an int of C
NOTE = "a LIBLINEAR file holds no certificate, no parameters and no names of features"


def write(model: Model, file: BinaryIO) -> tuple[str, ...]:
    """Put a fitted estimator into a file; notes of what was converted or left out."""
    refuse_one_against_one(model, "LIBLINEAR", "a LIBLINEAR file holds one model for each class")
    w, b = coefficients(model)
    loss = model.loss if isinstance(model.loss, str) else as_loss(model.loss).name
    lines = [f"solver_type {_WRITTEN[loss]}", f"nr_class {max(w.shape[0], 2)}"]
    notes: tuple[str, ...] = ()
    if isinstance(model, LinearSVC):
        labels, notes = labels_as_integers(model.classes_, "LIBLINEAR")
        for label in labels:
            if abs(label) > _LARGEST_LABEL:
                raise ValueError(
                    f"LIBLINEAR's labels go up to {_LARGEST_LABEL}, and this model has {label}: "
                    "fit it with smaller ones"
                )
        if len(labels) == 2:
            labels.reverse()
        lines.append(f"label {' '.join(map(str, labels))}")
    has_bias = not isinstance(model.intercept_, float)
    lines += [f"nr_feature {w.shape[1]}", f"bias {1 if has_bias else -1}", "w", ""]
    file.write("\n".join(lines).encode())
    for row in (*w.T, *[b] * has_bias):
        file.write(("%.17g " * row.size % tuple(row)).encode() + b"\n")
    return (*notes, NOTE)


class Header(NamedTuple):
    """What stands above the weights."""

    solver_type: str
    nr_class: int
    nr_feature: int
    bias: float
    label: list[int] | None


def read(path: Path) -> Model:
    """The estimator in a file. Raises Wrong where there is none."""
    with open(path, "rb") as file:
        lines = Lines(file)
        header = _header(lines)
        left = path.stat().st_size - file.tell()
        W = _weights(lines, header, left)
    w, b = W[:, : header.nr_feature], np.zeros(W.shape[0])
    if header.bias >= 0.0:
        with np.errstate(over="ignore"):
            b = header.bias * W[:, -1]
        if not np.isfinite(b).all():
            raise Wrong("its bias times the last row of w overflows")
    classes = None
    if header.label is not None:
        classes, w, b = _by_label(np.array(header.label), w, b)
    return unproved(
        np.ascontiguousarray(w),
        b,
        f"LIBLINEAR, {header.solver_type}",
        classes,
        loss=SOLVER_TYPES[header.solver_type],
        fit_intercept=header.bias >= 0.0,
    )


def _by_label(labels: np.ndarray, w: np.ndarray, b: np.ndarray):
    """Classes in ascending order, and the models in theirs; of two, the second is positive."""
    order = np.argsort(labels)
    if labels.size > 2:
        return labels[order], w[order], b[order]
    sign = 1.0 if labels[0] > labels[1] else -1.0
    return labels[order], sign * w[:1], sign * b[:1]


def _header(lines: Lines) -> Header:
    found: dict[str, Any] = {}
    while True:
        key, _, value = lines.next("a line of the header, or w,").strip().partition(b" ")
        name = key.decode("ascii", "backslashreplace")
        if name == "w" and not value:
            break
        if name in found:
            raise lines.wrong(f"{name} stands twice in the header")
        found[name] = _header_value(lines, name, value)
    for name in ("solver_type", "nr_class", "nr_feature", "bias"):
        if name not in found:
            raise lines.wrong(f"the header lacks {name}")
    header = Header(**{"label": None, **found})
    _check(header)
    return header


def _header_value(lines: Lines, name: str, text: bytes) -> Any:
    """What one line of the header says."""
    if name in ("nr_class", "nr_feature"):
        return lines.whole(text, name)
    if name == "label":
        return [lines.whole(part, "a label") for part in text.split()]
    if name == "bias":
        return lines.number(text)
    if name == "rho" or text == b"ONECLASS_SVM":
        raise Wrong("it is a one-class model, and pegasos has none")
    if name != "solver_type":
        raise lines.wrong(f"{shortened(name)!r} is not known in the header of a LIBLINEAR model")
    solver_type = text.decode("ascii", "backslashreplace")
    if solver_type not in SOLVER_TYPES:
        raise lines.wrong(f"the solver_type {shortened(solver_type)!r} is none of LIBLINEAR's")
    return solver_type


def _check(header: Header) -> None:
    """Refuse what the lines of a header say in contradiction to each other."""
    n = header.nr_class
    if header.nr_feature < 1:
        raise Wrong(f"its nr_feature is {header.nr_feature}: a model needs at least one")
    if as_loss(SOLVER_TYPES[header.solver_type]).labels:
        labels = header.label or []
        if n < 2 or len(labels) != n or len(set(labels)) != n:
            raise Wrong(
                f"it has nr_class {n} and {len(set(labels))} labels: a classifier has one label "
                "for each of at least two classes"
            )
    elif n != 2 or header.label is not None:
        raise Wrong("a regression has nr_class 2 and no labels in a LIBLINEAR file")


def _weights(lines: Lines, header: Header, left: int) -> np.ndarray:
    """A row for each model; the file has ``left`` bytes for them."""
    one = header.nr_class == 2 and header.solver_type != CRAMMER_SINGER
    columns, rows = 1 if one else header.nr_class, header.nr_feature + (header.bias >= 0.0)
    if 2 * rows * columns - 1 > left:
        raise Wrong(
            f"it is cut short: {rows} rows of {columns} weights do not fit into the {left} bytes "
            "that follow the header"
        )
    W = array("d")
    for k in range(rows):
        numbers = lines.next(f"row {k + 1} of the {rows} rows of w").split()
        if len(numbers) != columns:
            raise lines.wrong(f"{len(numbers)} weights where {columns} belong")
        W.extend(map(lines.number, numbers))
    for line in lines:
        if line.strip():
            raise lines.wrong(f"more than the {rows} rows of w that the header announces")
    return np.array(W).reshape(rows, columns).T
