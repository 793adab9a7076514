"""What a fit says about how far it came."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import sklearn.exceptions

from pegasos import driver
from pegasos.certificate import Certificate
from pegasos.driver import Solution


class ConvergenceWarning(sklearn.exceptions.ConvergenceWarning, driver.ConvergenceWarning):
    """A fit ended before its relative gap fell below ``tol``: scikit-learn's warning and ours."""


def worst(certificates: Sequence[Certificate]) -> int:
    """The number of the certificate that proves least."""

    def gap(k: int) -> float:
        found = certificates[k].relative_gap
        return math.inf if math.isnan(found) else found

    return max(range(len(certificates)), key=gap)


def summary(solutions: Sequence[Solution]) -> str:
    """Where a fit ended and, if it fell short, what to do."""
    if len(solutions) == 1:
        return solutions[0].summary()
    short = sum(not solution.converged for solution in solutions)
    the_worst = solutions[worst([solution.certificate for solution in solutions])].summary()
    if short == 0:
        return f"all {len(solutions)} binary problems converged; the worst: {the_worst}"
    return f"{short} of {len(solutions)} binary problems fell short; the worst: {the_worst}"


def warn_if_short(solutions: Sequence[Solution]) -> None:
    """One warning for all problems of a fit that were to converge and did not."""
    if any(not solution.converged and solution.tol is not None for solution in solutions):
        warnings.warn(summary(solutions), ConvergenceWarning, stacklevel=4)
