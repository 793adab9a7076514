"""scikit-learn's own checks of every estimator: nothing skipped, nothing expected to fail."""

from __future__ import annotations

from unittest import SkipTest

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pegasos.estimators import LinearSVC, LinearSVR

ESTIMATORS = [
    LinearSVC(),
    LinearSVC(multi_class="ovo"),
    LinearSVC(penalize_intercept=True),
    LinearSVC(loss="squared_hinge"),
    LinearSVC(loss="logistic"),
    LinearSVR(),
    LinearSVR(loss="squared_epsilon_insensitive"),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # without it the checks of array_api are skipped
    try:
        check(estimator)
    except (SkipTest, pytest.skip.Exception) as skipped:
        pytest.fail(f"skipped: {skipped}")
