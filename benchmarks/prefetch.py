"""What prefetching is worth: one pass of dual ascent with it and without, interleaved.

The package is loaded a second time with ``fetch`` replaced by nothing, so that both variants are
the library's own code.
"""

from __future__ import annotations

import importlib
import os
import statistics
import sys
import tempfile
import time

import numpy as np
from data import text_like

ROWS, REPEATS = 200_000, 7


def load_variant(prefetch: bool):
    """A fresh copy of the package's modules."""
    kept = {name: module for name, module in sys.modules.items() if name.startswith("pegasos")}
    for name in kept:
        del sys.modules[name]
    try:
        compiled = importlib.import_module("pegasos.compiled")
        if not prefetch:
            compiled.fetch = compiled.inlined(lambda array, index: None)
        problem = importlib.import_module("pegasos.problem")
        ascent = importlib.import_module("pegasos.solvers.dual_ascent")
        return problem.Problem, ascent.DualAscent
    finally:
        for name in [name for name in sys.modules if name.startswith("pegasos")]:
            del sys.modules[name]
        sys.modules.update(kept)


def ratio_of_passes() -> str:
    X, y = text_like(ROWS)
    runs, seconds = {}, {}
    before = os.environ.get("NUMBA_CACHE_DIR")
    for prefetch in (True, False):
        import numba

        numba.config.CACHE_DIR = tempfile.mkdtemp()  # the two variants have the same sources
        Problem, DualAscent = load_variant(prefetch)
        problem, solver = Problem(X, y, C=1.0), DualAscent(shrink=float("inf"))
        state = solver.start(problem, np.random.SeedSequence(0))
        solver.advance(problem, state, problem.m, -1.0)
        runs[prefetch], seconds[prefetch] = (solver, problem, state), []
        numba.config.CACHE_DIR = before or ""
    for _ in range(REPEATS):
        for prefetch, (solver, problem, state) in runs.items():
            begun = time.perf_counter()
            solver.advance(problem, state, problem.m, -1.0)
            seconds[prefetch].append(time.perf_counter() - begun)
    with_it, without = (statistics.median(seconds[p]) for p in (True, False))
    return (
        f"a pass of dual ascent over {ROWS:,} × {X.shape[1]:,} rows in random order: "
        f"{1e3 * with_it:.0f} ms with prefetch, {1e3 * without:.0f} ms without, "
        f"{without / with_it:.1f} × as fast"
    )


if __name__ == "__main__":
    print(ratio_of_passes())
