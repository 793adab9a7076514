"""Options tried out before anything is read: on a problem of two rows, which is not solved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pegasos.cli.completion import LOSSES
from pegasos.cli.exits import Usage

# The loss of each task where none is named.
FIRST = {"classify": "hinge", "regress": "epsilon_insensitive"}


def try_out(
    solvers: Sequence[str],
    task: str | None = None,
    *,
    bias: str,
    C: float | None = None,
    lam: float | None = None,
    loss: str | None = None,
    epsilon: float | None = None,
    seed: int = 0,
    jobs: int | None = None,
    tol: float | None = None,
    max_passes: float = 0.0,
) -> None:
    """Refuse what could not be trained on any data; without a task any loss will do."""
    import numpy as np
    from scipy.sparse import csr_array

    from pegasos.driver import as_limit, as_tolerance
    from pegasos.losses import as_loss
    from pegasos.problem import Problem
    from pegasos.solvers import as_solver

    chosen = [as_solver(name) for name in solvers]
    if not chosen:
        raise Usage("--solvers names none: give some, such as dual-ascent,pegasos")
    if len(set(solvers)) < len(chosen):
        raise Usage(f"--solvers names {_twice(solvers)} twice: name each once")
    fitting = [name for name in LOSSES if task is None or name in _of_task(task)]
    loss = FIRST[task or "classify"] if loss is None else loss
    if loss not in fitting:
        what = "--loss" if task is None else f"--loss for --task {task}"
        raise Usage(f"{what} must be one of {', '.join(fitting)}, not {loss!r}")
    if epsilon is not None and not 0 <= epsilon < math.inf:
        raise Usage(f"--epsilon must be zero or positive and finite, not {epsilon!r}")
    if seed < 0:
        raise Usage(f"--seed must be a whole number from 0 on, not {seed}")
    if jobs == 0:
        raise Usage("--jobs must be a whole number other than zero (-1: one per processor)")
    as_tolerance(tol)
    as_limit("max_passes", max_passes)
    weight: Any = {"C": 1.0 if C is None else C} if lam is None else {"lam": lam}
    y = [1.0, -1.0] if as_loss(loss).labels else [1.0, 2.0]
    rows = csr_array(np.eye(2, dtype=np.float32))  # the compiled code for them serves text, too
    problem = Problem(rows, y, loss=loss, bias=bias, **weight)
    for solver in chosen:
        solver.check(problem)


def _of_task(task: str) -> list[str]:
    regress = [name for name in LOSSES if "insensitive" in name]
    return regress if task == "regress" else [name for name in LOSSES if name not in regress]


def _twice(names: Sequence[str]) -> str:
    return next(name for name in names if names.count(name) > 1)
