"""SVM-light's model files, written and read: the linear kernel.

    score(x) = Σ α_j y_j ⟨x_j, x⟩ − b           b has the opposite sign of our intercept

``svm_classify`` stores the values of support vectors in single precision, and the α y in double.
So each weight is written as a support vector of its own, ``w_j j:1``: then its scores are those of
our coefficients in double precision. The file knows no labels: a positive score is +1, else −1.
Nor does it say whether it is a classifier; a regression of ours puts the word ``regression`` where
SVM-light keeps a text for kernels of one's own (``-u``), which the linear kernel ignores.
"""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import BinaryIO

import numpy as np

from pegasos.estimators import LinearSVC
from pegasos.models.checked import Wrong
from pegasos.models.fitted import Model, coefficients, unproved
from pegasos.models.text import Lines, shown

BEGINNING = b"SVM-light Version"
LINEAR, REGRESSION = 0, b"regression"
NOTE = "an SVM-light file holds no certificate, no parameters and no names of features"

OF_REGRESSION: tuple[str, ...] = (
    "svm_classify does not know that this is a regression: it prints the predicted targets, and "
    "counts them as labels",
)

# Features that a file of any size may have (a vector of 32 MB); more need as many bytes in it.
FREE_FEATURES = 1 << 22


def write(model: Model, file: BinaryIO) -> tuple[str, ...]:
    """Put a fitted estimator into a file; notes of what was converted or left out."""
    w, b = coefficients(model)
    classifier = isinstance(model, LinearSVC)
    notes = _converted(model.classes_) if classifier else OF_REGRESSION
    chosen = np.flatnonzero(w[0])
    lines = [
        "SVM-light Version V6.02",
        f"{LINEAR} # kernel type",
        "3 # kernel parameter -d ",
        "1 # kernel parameter -g ",
        "1 # kernel parameter -s ",
        "1 # kernel parameter -r ",
        f"{'empty' if classifier else REGRESSION.decode()}# kernel parameter -u ",
        f"{w.shape[1]} # highest feature index ",
        "0 # number of training documents ",
        f"{chosen.size + 1} # number of support vectors plus 1 ",
        f"{-b[0]:.17g} # threshold b, each following line is a SV (starting with alpha*y)",
    ]
    file.writelines(f"{line}\n".encode() for line in lines)
    file.writelines(f"{w[0, j]:.17g} {j + 1}:1 #\n".encode() for j in chosen)
    if w.shape[1] > FREE_FEATURES + file.tell():
        raise ValueError(
            f"this model has {w.shape[1]} features, nearly all without weight: too many for the "
            "reader of an SVM-light file, which gives them room only as the file grows"
        )
    return (*notes, NOTE)


def _converted(classes: np.ndarray) -> tuple[str, ...]:
    if classes.size > 2:
        raise ValueError(
            f"an SVM-light file separates two classes, and this model has {classes.size}: save it "
            'as "pegasos" or "liblinear"'
        )
    low, high = classes.tolist()
    if (low, high) == (-1, 1) and classes.dtype.kind in "if":
        return ()
    return (f"the label {high!r} is written as +1 and {low!r} as -1: SVM-light knows no others",)


def read(path: Path) -> Model:
    """The estimator in a file. Raises Wrong where there is none."""
    with open(path, "rb") as file:
        lines = Lines(file)
        kind, n_features, n_vectors, threshold = _header(lines)
        size = path.stat().st_size
        if n_features > FREE_FEATURES + size:
            raise Wrong(
                f"its highest feature index is {n_features}, too many for a file of {size} bytes"
            )
        columns, values = array("q"), array("d")
        for _ in range(n_vectors):
            _take_vector(lines, n_features, columns, values)
        for line in lines:
            if line.strip():
                raise lines.wrong(f"more than the {n_vectors} support vectors that are announced")
    w, used = np.zeros(n_features), np.array(columns)
    with np.errstate(over="ignore", invalid="ignore"):
        np.add.at(w, used, np.array(values))  # one after the other
    if not np.isfinite(w[used]).all():
        raise Wrong("the sum of its support vectors overflows")
    classes = None if kind == REGRESSION else np.array([-1, 1])
    return unproved(w[None, :], np.array([-threshold]), "SVM-light", classes)


def _header(lines: Lines) -> tuple[bytes, int, int, float]:
    lines.next("the version")
    kernel = lines.whole(_field(lines, "kernel type"), "the kernel type")
    if kernel != LINEAR:
        raise lines.wrong(f"the kernel type is {kernel}, and only 0, the linear one, is known here")
    for name in "dgsr":
        _field(lines, f"kernel parameter -{name}")
    kind = _field(lines, "kernel parameter -u")
    n_features = lines.whole(_field(lines, "highest feature index"), "a feature index")
    _field(lines, "number of training documents")
    n_vectors = lines.whole(_field(lines, "number of support vectors plus 1"), "a count") - 1
    threshold = lines.number(_field(lines, "threshold b"))
    if n_features < 1 or n_vectors < 0:
        raise lines.wrong("the model has no features, or fewer than no support vectors")
    return kind, n_features, n_vectors, threshold


def _field(lines: Lines, name: str) -> bytes:
    """What stands before the comment that names it."""
    value, _, comment = lines.next(f"the {name}").partition(b"#")
    if not comment.strip().startswith(name.encode()):
        raise lines.wrong(f"{shown(comment.strip())} where the {name} belongs")
    return value.strip()


def _take_vector(lines: Lines, n_features: int, columns: array, values: array) -> None:
    """Append the columns of the next line, a support vector x, and its values α y x."""
    parts = lines.next("a support vector").partition(b"#")[0].split()
    if not parts:
        raise lines.wrong("an empty line where a support vector belongs")
    alpha, last = lines.number(parts[0]), 0
    for part in parts[1:]:
        index, colon, value = part.partition(b":")
        if not colon:
            raise lines.wrong(f"{shown(part)} is not a feature with its value, index:value")
        j = lines.whole(index, "a feature index")
        if not last < j <= n_features:
            raise lines.wrong(
                f"feature {j} after {last}: they ascend from 1 to the highest index, {n_features}"
            )
        columns.append(j - 1)
        values.append(alpha * lines.number(value))
        last = j
