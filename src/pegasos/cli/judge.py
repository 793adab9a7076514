"""How good a model is on rows with known targets: shares, tables and means, nothing clever."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pegasos.cli.exits import Usage
from pegasos.cli.inputs import names_are_checked
from pegasos.cli.report import fits, label_text, label_value, print_facts, print_table
from pegasos.cli.values import count


@dataclass
class Judged:
    """What was found: ``facts`` in the order in which they are told, and counts per class."""

    rows: int
    facts: dict[str, float]
    classes: list[Any] = field(default_factory=list)
    per_class: list[dict[str, Any]] = field(default_factory=list)
    confusion: list[list[int]] = field(default_factory=list)
    unknown: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        answer: dict[str, Any] = {"rows": self.rows, **self.facts}
        if self.per_class:
            answer |= {"per_class": self.per_class, "confusion": self.confusion}
        if self.unknown:
            answer["unknown_labels"] = self.unknown
        return answer

    def sentence(self) -> str:
        """The one line that train prints."""
        if "accuracy" in self.facts:
            return f"{100 * self.facts['accuracy']:.2f} % of {count(self.rows)} rows right"
        return (
            f"mean absolute error {self.facts['mae']:.6g}, root mean square "
            f"{self.facts['rmse']:.6g}, R² {self.facts['r2']:.4f} on {count(self.rows)} rows"
        )

    def print(self) -> None:
        """All of it, for people."""
        print_facts("", [("rows", count(self.rows)), *map(_told, self.facts.items())])
        if self.per_class:
            print_table(
                ["class", "rows", "predicted", "precision", "recall", "F1"],
                [_row(of_class) for of_class in self.per_class],
                title="Per class",
            )
        names = [label_text(label) for label in self.classes]
        header = ["true \\ predicted", *names]
        rows = [[name, *map(count, line)] for name, line in zip(names, self.confusion)]
        if rows and fits(header, rows):
            print_table(header, rows, title="Confusion")
        elif rows:
            print("The table of confusions is too wide to show; --json has it.")


NAMES = {
    "accuracy": "accuracy",
    "error": "error",
    "hinge_loss": "mean hinge loss",
    "mae": "mean absolute error",
    "rmse": "root mean square error",
    "r2": "R²",
}


def _told(fact: tuple[str, float]) -> tuple[str, str]:
    name, value = fact
    shown = f"{100 * value:.2f} %" if name in ("accuracy", "error") else f"{value:.6g}"
    return NAMES[name], shown


def _row(of_class: dict[str, Any]) -> list[str]:
    shares = [f"{100 * of_class[name]:.2f} %" for name in ("precision", "recall", "f1")]
    return [
        label_text(of_class["class"]),
        count(of_class["rows"]),
        count(of_class["predicted"]),
        *shares,
    ]


def judge(model: Any, parts: Iterable[Any], allow_unknown: bool = False) -> Judged:
    """A model on rows that come in parts, each as ``Data`` with targets."""
    found: list[tuple[Any, ...]] = []
    for data in parts:
        if data.y is None:
            raise Usage("the rows have no targets to judge by: name their column with --target")
        labels = hasattr(model, "classes_")
        with names_are_checked():
            scores = model.decision_function(data.X) if labels else None
            found.append((data.y, model.predict(data.X), scores, data.weights))
    if not found:
        raise Usage("there are no rows to judge by")
    y, predicted, scores = (_joined([part[k] for part in found]) for k in range(3))
    weights = _joined([part[3] for part in found])
    if scores is None:
        return _of_numbers(y, predicted, weights)
    return _of_labels(model, y, predicted, scores, weights, allow_unknown)


def _joined(parts: list[Any]) -> Any:
    return None if parts[0] is None else np.concatenate(parts)


def _of_numbers(y: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> Judged:
    from sklearn import metrics

    if y.dtype.kind not in "biuf":
        raise Usage(f"this model predicts numbers, but the targets are words such as {str(y[0])!r}")
    pair = y, predicted
    facts = {
        "mae": float(metrics.mean_absolute_error(*pair, sample_weight=weights)),
        "rmse": float(metrics.mean_squared_error(*pair, sample_weight=weights)) ** 0.5,
        "r2": float(metrics.r2_score(*pair, sample_weight=weights)) if y.size > 1 else float("nan"),
    }
    return Judged(y.size, facts)


def _of_labels(
    model: Any,
    y: np.ndarray,
    predicted: np.ndarray,
    scores: np.ndarray,
    weights: np.ndarray | None,
    allow_unknown: bool,
) -> Judged:
    from sklearn import metrics

    classes = model.classes_
    refuse_other_kind(y, classes)
    known = np.isin(y, classes)
    unknown = _unknown(y[~known], classes, allow_unknown)
    facts = {"accuracy": float(metrics.accuracy_score(y, predicted, sample_weight=weights))}
    facts["error"] = 1.0 - facts["accuracy"]
    if classes.size == 2 and known.any():
        of_known = None if weights is None else weights[known]
        facts["hinge_loss"] = float(
            metrics.hinge_loss(y[known], scores[known], labels=classes, sample_weight=of_known)
        )
    table = metrics.confusion_matrix(y[known], predicted[known], labels=classes)
    precision, recall, f1, rows = metrics.precision_recall_fscore_support(
        y, predicted, labels=classes, zero_division=0.0, sample_weight=None
    )
    per_class = [
        {
            "class": label_value(classes[k]),
            "rows": int(rows[k]),
            "predicted": int((predicted == classes[k]).sum()),
            "precision": float(precision[k]),
            "recall": float(recall[k]),
            "f1": float(f1[k]),
        }
        for k in range(classes.size)
    ]
    labels = [label_value(label) for label in classes]
    return Judged(y.size, facts, labels, per_class, table.tolist(), unknown)


def refuse_other_kind(y: np.ndarray, classes: np.ndarray) -> None:
    """Words cannot be compared with numbers."""
    words, numbers = y.dtype.kind in "US", np.asarray(classes).dtype.kind in "biuf"
    if words == numbers and y.size:
        raise Usage(
            f"the labels of the rows are {'words' if words else 'numbers'} such as "
            f"{label_text(y[0])!r}, those of the model {'numbers' if numbers else 'words'} such "
            f"as {label_text(classes[0])!r}"
        )


def _unknown(labels: np.ndarray, classes: np.ndarray, allowed: bool) -> dict[str, int]:
    """Labels that the model was never shown, and how many rows have them."""
    names, counts = np.unique(labels, return_counts=True)
    found = {label_text(name): int(n) for name, n in zip(names, counts)}
    if found and not allowed:
        name, rows = next(iter(found.items()))
        more = "" if len(found) == 1 else f" and {len(found) - 1} more such labels"
        raise Usage(
            f"the label {name!r} ({count(rows)} rows){more} was not in the training data, whose "
            f"labels are {_some(classes)}: pegasos evaluate --allow-unknown counts such rows as "
            "errors"
        )
    return found


def _some(labels: np.ndarray) -> str:
    shown = [label_text(label) for label in labels[:6]]
    return ", ".join(shown) + (", …" if len(labels) > 6 else "")
