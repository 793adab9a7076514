"""What all formats ask of a fitted estimator, and an estimator made of coefficients alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pegasos.certificate import Certificate
from pegasos.estimators import LinearSVC, LinearSVR
from pegasos.models.checked import shortened

Model = LinearSVC | LinearSVR


def fitted(model: Any, format: str) -> Model:
    """The model itself, if it is a fitted estimator of ours. Raises a sentence if not."""
    if type(model) not in (LinearSVC, LinearSVR):
        raise TypeError(
            f"a {format} file holds a LinearSVC or a LinearSVR of pegasos, not a "
            f"{type(model).__name__}"
            + ("; of a pipeline give the last step, or export it to ONNX" * hasattr(model, "steps"))
        )
    check_is_fitted(model)
    return model


def coefficients(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """One row of coefficients and one intercept for each binary problem."""
    w = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    b = np.array(np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), w.shape[0]))
    if not (np.isfinite(w).all() and np.isfinite(b).all()):
        raise ValueError("the model has coefficients that are not finite: there is nothing to save")
    return w, b


def n_problems(n_classes: int, scheme: str) -> int:
    """How many binary problems there are between so many classes."""
    if n_classes == 2:
        return 1
    return n_classes if scheme == "ovr" else n_classes * (n_classes - 1) // 2


def refuse_one_against_one(model: Model, format: str, what: str) -> None:
    """Raise ValueError for three and more classes that vote in pairs."""
    if isinstance(model, LinearSVC) and model._scheme_of_fit == "ovo" and model.classes_.size > 2:
        raise ValueError(
            f"{what}, and this model is one against one, with a vote between "
            f"{model.classes_.size} classes: fit it with multi_class='ovr' for a {format} file"
        )


def unproved(w: np.ndarray, b: np.ndarray, source: str, classes: np.ndarray | None, **parameters):
    """A fitted estimator of which only the coefficients are known: a classifier with classes,
    else a regression."""
    model: Model = LinearSVR(**parameters) if classes is None else LinearSVC(**parameters)
    model.n_features_in_ = w.shape[1]
    model.coef_ = model._shaped(w)
    model.intercept_ = b if model.fit_intercept else 0.0
    if classes is not None:
        model.classes_, model._scheme_of_fit = classes, "ovr"
    how = f"read from a file of {source}: nothing is proved"
    proof = Certificate(math.nan, math.nan, math.nan, math.inf, how)
    model.certificates_ = [proof] * w.shape[0]
    model.certificate_ = proof
    model.converged_ = False
    model.summary_ = f"{how}; fit with warm_start=True to start from it"
    return model


def labels_as_integers(classes: np.ndarray, format: str) -> tuple[list[int], tuple[str, ...]]:
    """Labels for a format that has only integers, and notes of what was converted."""
    values = classes.tolist()
    if not all(isinstance(v, bool | int | float) and float(v).is_integer() for v in values):
        raise ValueError(
            f"a {format} file has only whole numbers as labels, and this model has "
            f"{shortened(values[0])}: fit it with the labels encoded, such as "
            "np.unique(y, return_inverse=True)[1]"
        )
    integers = [int(value) for value in values]
    if classes.dtype.kind in "iu":
        return integers, ()
    return integers, (
        f"the labels {', '.join(map(repr, values[:3]))}{', …' * (len(values) > 3)} are written as "
        f"{', '.join(map(str, integers[:3]))}{', …' * (len(values) > 3)}",
    )
