"""scikit-learn's own checks of every estimator: nothing skipped, nothing expected to fail."""

from __future__ import annotations

import pytest
from sklearn.exceptions import SkipTestWarning
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
@pytest.mark.filterwarnings(f"error::{SkipTestWarning.__module__}.SkipTestWarning")
def test_scikit_learn_check(estimator, check):
    try:
        check(estimator)
    except pytest.skip.Exception as skipped:
        pytest.fail(f"skipped: {skipped}")
