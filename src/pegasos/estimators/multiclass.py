"""Many classes as binary problems: one against the rest, or one against one, over shared rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from pegasos.problem import Problem
from pegasos.rows import Intake

SCHEMES = ("ovr", "ovo")


class BinaryProblems(Sequence[Problem]):
    """The binary problems of a classifier, each built when it is asked for.

    They share the rows: where only two classes meet, all others have weight zero. The positive
    class is the later one in ``classes_``.

    Parameters
    ----------
    intake : Intake
        The rows of all problems.
    codes : array of shape (m,)
        The number of each row's class.
    n_classes : int
        How many classes there are; two give one problem.
    weights : array of shape (m,) or None
        The weights of the rows, class weights included.
    scheme : {"ovr", "ovo"}
        One against the rest, or one against one.
    options : dict
        What all problems have in common: λ or C, the loss, the bias.
    """

    def __init__(
        self,
        intake: Intake,
        codes: np.ndarray,
        n_classes: int,
        weights: np.ndarray | None,
        scheme: str,
        options: dict[str, Any],
    ):
        self.intake = intake
        self.codes = codes
        self.weights = weights
        self.options = options
        self.contests = contests(n_classes, scheme)

    def __len__(self) -> int:
        return len(self.contests)

    def __getitem__(self, k: int) -> Problem:  # type: ignore[override]
        y, weights = contestants(self.contests[k], self.codes, self.weights)
        return Problem(self.intake, y, weights=weights, **self.options)


def contestants(
    contest: tuple[int | None, int], codes: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """The labels -1 and +1 of all rows, and their weights, in one contest."""
    other, positive = contest
    y = np.where(codes == positive, np.int8(1), np.int8(-1))
    if other is None:
        return y, weights
    takes_part = np.isin(codes, (other, positive))
    return y, takes_part * (np.ones(codes.size) if weights is None else weights)


def contests(n_classes: int, scheme: str) -> list[tuple[int | None, int]]:
    """Pairs (other class, positive class); the other is None where it is the rest."""
    if n_classes == 2:
        return [(None, 1)]
    if scheme == "ovr":
        return [(None, k) for k in range(n_classes)]
    return list(combinations(range(n_classes), 2))


def refuse_mixed_labels(name: str, labels: Any) -> None:
    """Raise ValueError where strings stand among other labels: they have no common order."""
    labels = np.asarray(labels)
    if labels.dtype.kind != "O":
        return
    others = {type(label).__name__ for label in labels.flat if not isinstance(label, str)}
    if others and any(isinstance(label, str) for label in labels.flat):
        raise ValueError(
            f"{name} mixes strings with other labels ({', '.join(sorted(others))}): give all "
            "labels one type"
        )


def classes_of(y: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The classes that have weight, sorted, and the number of each row's class among them."""
    classes, codes = _two_classes(y) or np.unique(y, return_inverse=True)
    if weights is not None:
        present = np.bincount(codes, weights=weights) > 0
        classes, codes = classes[present], np.maximum(np.cumsum(present) - 1, 0)[codes]
    if classes.size < 2:
        raise ValueError(
            f"a classifier needs at least 2 classes, but the rows with weight hold one class, "
            f"{classes.tolist()[0]!r}"
        )
    return classes, codes.astype(np.min_scalar_type(classes.size))


def _two_classes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Classes and codes of numbers with two values, without sorting them all; else None."""
    if y.dtype.kind not in "biuf":
        return None
    low, high = y.min(), y.max()
    upper = y == high
    if low == high or not (upper | (y == low)).all():
        return None
    return np.array([low, high]), upper.view(np.uint8)


def with_class_weights(
    weights: np.ndarray | None, class_weight: Any, classes: np.ndarray, codes: np.ndarray
) -> np.ndarray | None:
    """The weights of the rows times those of their classes."""
    if class_weight is None:
        return weights
    if isinstance(class_weight, str) and class_weight == "balanced":
        total = np.bincount(codes, weights=weights, minlength=classes.size)
        of_class = total.sum() / (classes.size * total)
    elif isinstance(class_weight, Mapping):
        of_class = compute_class_weight(dict(class_weight), classes=classes, y=classes)
    else:
        raise ValueError(
            f'class_weight must be None, "balanced" or a dict of weights, not {class_weight!r}'
        )
    wrong = np.flatnonzero(~((of_class > 0) & np.isfinite(of_class)))
    if wrong.size:
        raise ValueError(
            f"class_weight must be positive and finite; class {classes.tolist()[wrong[0]]!r} has "
            f"{of_class[wrong[0]]} (to leave a class out, drop its rows)"
        )
    return of_class[codes] if weights is None else weights * of_class[codes]
