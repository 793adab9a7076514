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
    "norma": ("norma", "Norma", {}),
    "norma-projected": ("norma", "Norma", {"project": True}),
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
