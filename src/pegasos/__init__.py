"""pegasos: support vector machines as fast as memory delivers the data, with a proof."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name: the module that holds it. Nothing is imported before it is used.
_PUBLIC = {
    "Auto": "pegasos.solvers.auto",
    "Certificate": "pegasos.certificate",
    "ConvergenceWarning": "pegasos.driver",
    "DualAscent": "pegasos.solvers.dual_ascent",
    "EpsilonInsensitive": "pegasos.losses",
    "Event": "pegasos.driver",
    "Hinge": "pegasos.losses",
    "HuberNewton": "pegasos.solvers.huber_newton",
    "InteriorPoint": "pegasos.solvers.interior_point",
    "LinearSVC": "pegasos.estimators",
    "LinearSVR": "pegasos.estimators",
    "Logistic": "pegasos.losses",
    "Norma": "pegasos.solvers.norma",
    "Pegasos": "pegasos.solvers.pegasos",
    "Problem": "pegasos.problem",
    "Solution": "pegasos.driver",
    "SquaredEpsilonInsensitive": "pegasos.losses",
    "SquaredHinge": "pegasos.losses",
    "Trace": "pegasos.driver",
    "best_of": "pegasos.driver",
    "figure1": "pegasos.solvers.figure1",
    "solve": "pegasos.driver",
    "solve_many": "pegasos.driver",
}

__all__ = [*_PUBLIC]

if TYPE_CHECKING:
    from pegasos.certificate import Certificate
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
    from pegasos.problem import Problem
    from pegasos.solvers.auto import Auto
    from pegasos.solvers.dual_ascent import DualAscent
    from pegasos.solvers.figure1 import figure1
    from pegasos.solvers.huber_newton import HuberNewton
    from pegasos.solvers.interior_point import InteriorPoint
    from pegasos.solvers.norma import Norma
    from pegasos.solvers.pegasos import Pegasos


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'pegasos' has no attribute {name!r}")
    found = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
