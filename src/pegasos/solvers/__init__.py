"""The solvers, one file each, and the registry that knows them by name."""

from __future__ import annotations

import importlib
from typing import Any

from pegasos.solvers.contract import Report, Solver, Solves, State

# name: (module, class, hyper-parameters that the name stands for)
REGISTRY: dict[str, tuple[str, str, dict[str, Any]]] = {
    "auto": ("auto", "Auto", {}),
    "dual-ascent": ("dual_ascent", "DualAscent", {}),
    "dcd": ("dual_ascent", "DualAscent", {}),
    "huber-newton": ("huber_newton", "HuberNewton", {}),
    "interior-point": ("interior_point", "InteriorPoint", {}),
    "interior-point-full": ("interior_point", "InteriorPoint", {"rows": "all"}),
    "pegasos": ("pegasos", "Pegasos", {}),
    "undo": ("doubting", "DoubtingPegasos", {"undo": True}),
    "two-out": ("doubting", "DoubtingPegasos", {"flags": 2}),
    "probability": ("doubting", "DoubtingPegasos", {"decrease": 0.5}),
    "undo-two-out": ("doubting", "DoubtingPegasos", {"undo": True, "flags": 2}),
    "undo-probability": ("doubting", "DoubtingPegasos", {"undo": True, "decrease": 0.5}),
    "undo-two-out-probability": (
        "doubting",
        "DoubtingPegasos",
        {"undo": True, "flags": 2, "decrease": 0.5},
    ),
    "norma": ("norma", "Norma", {}),
    "norma-projected": ("norma", "Norma", {"project": True}),
    "mpu": ("mpu", "MPU", {}),
    "passive-aggressive": ("passive_aggressive", "PassiveAggressive", {}),
    "perceptron": ("perceptron", "Perceptron", {}),
    "averaged-perceptron": ("perceptron", "Perceptron", {"average": True}),
    "svm-perf": ("svm_perf", "SVMPerf", {}),
    "ocas": ("ocas", "OCAS", {}),
    "smo": ("smo", "SMO", {}),
    "sgd-r": ("sgd_r", "SGDR", {}),
    "sgd-s": ("sgd_s", "SGDS", {}),
    "sgd-m": ("sgd_m", "SGDM", {}),
    "sgd-fixed": ("sgd_fixed", "SGDFixed", {}),
    "svmsgd": ("svmsgd", "SVMSGD", {}),
    "asgd": ("svmsgd", "SVMSGD", {"average": True}),
    "sgd-qn": ("sgd_qn", "SGDQN", {}),
}


def solver_class(name: str) -> type[Solver]:
    """The class of a registered solver."""
    if name not in REGISTRY:
        raise ValueError(f"there is no solver {name!r}; the solvers are {', '.join(REGISTRY)}")
    module, cls, _ = REGISTRY[name]
    return getattr(importlib.import_module(f"pegasos.solvers.{module}"), cls)


def as_solver(solver: str | Solver) -> Solver:
    """A solver from its name, or itself."""
    if isinstance(solver, str):
        cls = solver_class(solver)
        return cls(**REGISTRY[solver][2])
    if not isinstance(solver, Solver):
        raise TypeError(
            f"solver must be one of {', '.join(REGISTRY)} or a solver object, not {solver!r}"
        )
    return solver


__all__ = ["REGISTRY", "Report", "Solver", "Solves", "State", "as_solver", "solver_class"]
