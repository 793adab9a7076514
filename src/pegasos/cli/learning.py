"""One fit: the estimator from the options, its run on the screen, and what an interrupt leaves."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pegasos.cli.exits import Usage
from pegasos.cli.report import label_text
from pegasos.cli.screen import Screen
from pegasos.cli.values import count
from pegasos.cli.views import Training

BIASES = {
    "free": {"fit_intercept": True},
    "feature": {"fit_intercept": True, "penalize_intercept": True},
    "none": {"fit_intercept": False},
}


@dataclass
class Fit:
    """A model, and how it came about."""

    model: Any
    seconds: float
    interrupted: bool = False
    notes: list[str] = field(default_factory=list)


@dataclass
class Wish:
    """What is to be trained, as far as the data have no say in it."""

    task: str = "classify"
    bias: str = "free"
    class_weight: Any = None
    options: dict[str, Any] = field(default_factory=dict)  # of the estimator, by its names

    def estimator(self, y: np.ndarray | None, source: str) -> Any:
        """The estimator for these targets; a sentence if they do not fit."""
        from pegasos.estimators import LinearSVC, LinearSVR

        if y is None:
            raise Usage(f"{source} has no targets: name their column with --target")
        given = {**BIASES[self.bias], **self.options}
        if self.task == "classify":
            refuse_fractions(y, source)
            weights = weights_of(self.class_weight, y)
            return LinearSVC(class_weight=weights, **given)
        if y.dtype.kind not in "biuf":
            raise Usage(
                f"--task regress needs numbers as targets, and {source} has words such as "
                f"{str(y[0])!r}: --task classify learns them as labels"
            )
        return LinearSVR(**given)


def refuse_fractions(y: np.ndarray, source: str) -> None:
    """Numbers with fractions are no labels."""
    if y.dtype.kind == "f" and (broken := y != np.rint(y)).any():
        raise Usage(
            f"the targets of {source} are numbers such as {y[broken][0]:g} and not labels: "
            "--task regress learns to predict them"
        )


def weights_of(wanted: Any, y: np.ndarray) -> Any:
    """Class weights by the labels themselves, where they came as text."""
    if not isinstance(wanted, dict):
        return wanted
    by_text = {label_text(label): label for label in np.unique(y).tolist()}
    found = {}
    for text, weight in wanted.items():
        key = text if text in by_text else _as_number(text)
        if key not in by_text:
            raise Usage(
                f"--class-weight names the label {text!r}, which no row has; the labels are "
                f"{', '.join(list(by_text)[:8])}{', …' if len(by_text) > 8 else ''}"
            )
        found[by_text[key]] = float(weight)
    return found


def _as_number(text: str) -> str:
    """``+1`` and ``1.0`` as labels are written: 1."""
    try:
        return label_text(float(text))
    except ValueError:
        return text


def fit(model: Any, data: Any, screen: Screen, title: str) -> Fit:
    """Train, with the screen listening. After Ctrl-C the best model so far is there as well."""
    view = _view(model, data, title)
    model.set_params(on_event=_also_noting(view, screen))
    begun = time.perf_counter()
    interrupted = False
    with warnings.catch_warnings(record=True) as caught, screen.showing(view):
        warnings.simplefilter("always")
        try:
            model.fit(data.X, data.y, sample_weight=data.weights)
        except KeyboardInterrupt:
            if not hasattr(model, "coef_"):
                raise
            interrupted = True
    seconds = time.perf_counter() - begun
    for warning in caught:
        _forward(warning, screen)
    if data.feature_names is not None:
        model.feature_names_in_ = np.asarray(data.feature_names, dtype=object)
    return Fit(model, seconds, interrupted, _notes_of(model))


def _view(model: Any, data: Any, title: str) -> Training:
    """The view of a fit, which says which binary problem of how many is at work."""
    rows, problems = data.X.shape[0], [""]
    if hasattr(model, "multi_class"):
        from pegasos.estimators.multiclass import contests

        names = [label_text(label) for label in np.unique(data.y).tolist()]
        if len(names) > 2:
            pairs = contests(len(names), model.multi_class)
            problems = [
                f"{names[k]} against {'the rest' if j is None else names[j]}" for j, k in pairs
            ]
            rows = rows if model.multi_class == "ovr" else None
    return Training(title, rows, model.tol, problems)


def _also_noting(view: Training, screen: Screen) -> Any:
    """The view's ear; where there is one problem, its decisions are said as lines too."""
    if screen.live or len(view.problems) > 1:
        return view

    def hear(event: Any) -> None:
        view(event)
        if event.kind == "note":
            screen.tell(event.text)

    return hear


def _forward(warning: warnings.WarningMessage, screen: Screen) -> None:
    """A warning as a note; that a fit fell short is told by its summary."""
    from pegasos.driver import ConvergenceWarning

    if not issubclass(warning.category, ConvergenceWarning | DeprecationWarning):
        screen.note(" ".join(str(warning.message).split()))


def _notes_of(model: Any) -> list[str]:
    """What was decided in all binary problems, each thing once."""
    return list(dict.fromkeys(note for trace in model.traces_ for note in trace.notes))


def shape_of(data: Any) -> dict[str, Any]:
    """Rows, features, nonzeros and classes, for the summary."""
    m, d = data.X.shape
    answer = {"rows": m, "features": d, "nonzeros": nonzeros(data.X), "dtype": str(data.X.dtype)}
    return answer


def nonzeros(X: Any) -> int:
    """Stored values of sparse rows; of a table all."""
    return int(X.nnz) if hasattr(X, "nnz") else int(np.prod(X.shape))


def shape_text(data: Any) -> str:
    m, d = data.X.shape
    return f"{count(m)} rows × {count(d)} features"
