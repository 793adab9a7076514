"""What a file holds: rows, targets and what goes with them; and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


class DataError(ValueError):
    """A file that cannot be read as asked: where (``file:line:column``), what, and what to do."""


@dataclass(frozen=True)
class Data:
    """Rows with their targets, as they were read.

    Attributes
    ----------
    X : csr_array, ndarray or StoredRows of shape (m, d)
        The rows: what ``Problem`` and the estimators take.
    y : ndarray of shape (m,) or None
        The targets: numbers (float64), or words (an array of strings).
    weights : ndarray of shape (m,) or None
        The weights of the rows, where the file has them.
    groups : ndarray of shape (m,) or None
        The ``qid`` of each row, where the file has them (int64).
    feature_names : tuple of str or None
        The names of the columns, where the file or the store has them. An estimator that is
        fitted on ``X`` does not learn them: set its ``feature_names_in_``, and its model file has
        them too.
    notes : tuple of str
        What was decided while reading, such as which index base.
    """

    X: Any
    y: np.ndarray | None
    weights: np.ndarray | None = None
    groups: np.ndarray | None = None
    feature_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
