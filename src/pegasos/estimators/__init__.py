"""The scikit-learn face: estimators, and nothing that solves."""

from pegasos.estimators.convergence import ConvergenceWarning
from pegasos.estimators.linear_svc import LinearSVC
from pegasos.estimators.linear_svr import LinearSVR

__all__ = ["ConvergenceWarning", "LinearSVC", "LinearSVR"]
