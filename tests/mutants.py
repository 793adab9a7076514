"""``make mutants``: faults put into a copy of the sources, each of which the checks must catch.

The copy runs in plain Python (NUMBA_DISABLE_JIT=1), so nothing compiles. A mutant survives if the
checks below still pass; then this command ends with an error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).resolve().parent
SOURCES = TESTS.parent / "src"


class Mutant(NamedTuple):
    """One line of the sources, and what it is turned into."""

    name: str
    file: str
    line: str
    fault: str


MUTANTS = [
    Mutant(
        "alpha 1 % past the box",
        "certificate.py",
        "clip(loss, given[i], y[i], cost[i])",
        "1.01 * clip(loss, given[i], y[i], cost[i])",
    ),
    Mutant(
        "sum of alpha y is not zero",
        "certificate.py",
        "_balance(problem, beta, z, w_beta)\n",
        "pass\n",
    ),
    Mutant(
        "w drifted by 1e-3",
        "driver.py",
        "w=w[: problem.intake.n_features].copy()",
        "w=1.001 * w[: problem.intake.n_features]",
    ),
    Mutant(
        "D from float32",
        "certificate.py",
        "dual = _total_dual(loss, beta, y, cost) - 0.5 * float(w_beta @ w_beta)",
        "dual = float(np.float32(_total_dual(loss, beta, y, cost) - 0.5 * (w_beta @ w_beta)))",
    ),
    Mutant(
        "T in place of T + 1 in mid-epoch (rows seen once more leave the box)",
        "certificate.py",
        "clip(loss, given[i], y[i], cost[i])",
        "given[i]",
    ),
    Mutant(
        "the iterate in place of a/(λt)",
        "certificate.py",
        "0.5 * float(w_beta @ w_beta)",
        "0.5 * float(answer.w @ answer.w)",
    ),
    Mutant(
        "weights dropped",
        "problem.py",
        "self.cost = self.C * weights",
        "self.cost = self.C * (weights > 0)",
    ),
    Mutant(
        "any b in place of the best",
        "certificate.py",
        "b = best_bias(loss, z, y, cost)",
        "b = answer.b",
    ),
    Mutant(
        "the best primal of one look with the w of another",
        "driver.py",
        "w, b, primal = self._best_or_zero()",
        "w, b, primal = self.view.w, self.view.b, self.best_primal",
    ),
]

CHECKS = """
from problems import make_case
from pegasos import DualAscent, Pegasos, solve

RUNS = [
    (DualAscent(), {"max_passes": 3}),
    (Pegasos(), {"max_passes": 2.5}),
    (Pegasos(batch=3, order="cycle"), {"max_passes": 1.4}),
]
for seed in range(8):
    for bias in ("none", "free"):
        loss = "squared_hinge" if seed % 4 == 3 else "hinge"
        case = make_case(seed, loss=loss, bias=bias, weighted=seed % 2 == 0, hard=seed > 4, m=25)
        for solver, options in RUNS:
            case.check(solve(case.problem, solver, tol=1e-3, **options))
"""


def passes_checks(sources: Path) -> tuple[bool, str]:
    """Whether the package in this folder passes, and what the first fault was."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(sources), str(TESTS))),
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", CHECKS], env=environment, capture_output=True, text=True
    )
    last = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else ""
    if done.returncode != 0 and not last.startswith("AssertionError"):
        raise RuntimeError(f"the checks broke down:\n{done.stderr}")
    return done.returncode == 0, last


def survives(mutant: Mutant | None) -> tuple[bool, str]:
    """Put the fault into a copy of the sources and run the checks."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "pegasos"
        shutil.copytree(SOURCES / "pegasos", copy, ignore=shutil.ignore_patterns("__pycache__"))
        if mutant is not None:
            file = copy / mutant.file
            text = file.read_text(encoding="utf-8")
            if text.count(mutant.line) < 1:
                raise RuntimeError(f"{mutant.file} no longer has the line {mutant.line!r}")
            file.write_text(text.replace(mutant.line, mutant.fault), encoding="utf-8")
        return passes_checks(Path(folder))


def main() -> int:
    healthy, fault = survives(None)
    if not healthy:
        print(f"the sources themselves fail: {fault}")
        return 1
    caught = 0
    for mutant in MUTANTS:
        alive, fault = survives(mutant)
        caught += not alive
        print(f"{'SURVIVES' if alive else 'caught  '}  {mutant.name}: {fault[:90]}")
    print(f"{caught} of {len(MUTANTS)} mutants caught")
    return 0 if caught == len(MUTANTS) else 1


if __name__ == "__main__":
    sys.exit(main())
