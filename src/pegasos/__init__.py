"""pegasos: support vector machines as fast as memory delivers the data, with a proof."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name: the module that holds it. Nothing is imported before it is used.
_PUBLIC = {
    "Auto": "pegasos.solvers.auto",
    "Certificate": "pegasos.certificate",
    "ConvergenceDisplay": "pegasos.displays",
    "ConvergenceWarning": "pegasos.driver",
    "DoubtingPegasos": "pegasos.solvers.doubting",
    "DualAscent": "pegasos.solvers.dual_ascent",
    "EpsilonInsensitive": "pegasos.losses",
    "Event": "pegasos.driver",
    "Hinge": "pegasos.losses",
    "HuberNewton": "pegasos.solvers.huber_newton",
    "InteriorPoint": "pegasos.solvers.interior_point",
    "LinearSVC": "pegasos.estimators",
    "LinearSVR": "pegasos.estimators",
    "Logistic": "pegasos.losses",
    "MPU": "pegasos.solvers.mpu",
    "Norma": "pegasos.solvers.norma",
    "OCAS": "pegasos.solvers.ocas",
    "PassiveAggressive": "pegasos.solvers.passive_aggressive",
    "Pegasos": "pegasos.solvers.pegasos",
    "Perceptron": "pegasos.solvers.perceptron",
    "Problem": "pegasos.problem",
    "SGDFixed": "pegasos.solvers.sgd_fixed",
    "SGDM": "pegasos.solvers.sgd_m",
    "SGDQN": "pegasos.solvers.sgd_qn",
    "SGDR": "pegasos.solvers.sgd_r",
    "SGDS": "pegasos.solvers.sgd_s",
    "SMO": "pegasos.solvers.smo",
    "SVMSGD": "pegasos.solvers.svmsgd",
    "SVMPerf": "pegasos.solvers.svm_perf",
    "Solution": "pegasos.driver",
    "SquaredEpsilonInsensitive": "pegasos.losses",
    "SquaredHinge": "pegasos.losses",
    "Trace": "pegasos.driver",
    "best_of": "pegasos.driver",
    "compare": "pegasos.comparison",
    "figure1": "pegasos.solvers.figure1",
    "load_model": "pegasos.models",
    "save_model": "pegasos.models",
    "solve": "pegasos.driver",
    "solve_many": "pegasos.driver",
    "time_to": "pegasos.comparison",
}

_ROOMS = ("data", "datasets")  # pegasos.data.load, pegasos.datasets.fetch

__all__ = [*_PUBLIC]

if TYPE_CHECKING:
    from pegasos.certificate import Certificate
    from pegasos.comparison import compare, time_to
    from pegasos.displays import ConvergenceDisplay
    from pegasos.driver import (
        ConvergenceWarning,
        Event,
        Solution,
        Trace,
        best_of,
        solve,
        solve_many,
    )
    from pegasos.estimators import LinearSVC, LinearSVR
    from pegasos.losses import (
        EpsilonInsensitive,
        Hinge,
        Logistic,
        SquaredEpsilonInsensitive,
        SquaredHinge,
    )
    from pegasos.models import load_model, save_model
    from pegasos.problem import Problem
    from pegasos.solvers.auto import Auto
    from pegasos.solvers.doubting import DoubtingPegasos
    from pegasos.solvers.dual_ascent import DualAscent
    from pegasos.solvers.figure1 import figure1
    from pegasos.solvers.huber_newton import HuberNewton
    from pegasos.solvers.interior_point import InteriorPoint
    from pegasos.solvers.mpu import MPU
    from pegasos.solvers.norma import Norma
    from pegasos.solvers.ocas import OCAS
    from pegasos.solvers.passive_aggressive import PassiveAggressive
    from pegasos.solvers.pegasos import Pegasos
    from pegasos.solvers.perceptron import Perceptron
    from pegasos.solvers.sgd_fixed import SGDFixed
    from pegasos.solvers.sgd_m import SGDM
    from pegasos.solvers.sgd_qn import SGDQN
    from pegasos.solvers.sgd_r import SGDR
    from pegasos.solvers.sgd_s import SGDS
    from pegasos.solvers.smo import SMO
    from pegasos.solvers.svm_perf import SVMPerf
    from pegasos.solvers.svmsgd import SVMSGD


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"pegasos.{name}")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'pegasos' has no attribute {name!r}")
    found = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC, *_ROOMS])
