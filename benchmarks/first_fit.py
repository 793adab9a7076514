"""``make first-fit``: what a newcomer waits for: the import, and the first fit ever.

Each is measured in new processes, several times, with an empty cache of compiled code where it
says so.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

BASE = "import sklearn.base, numba, scipy.sparse"
OURS = f"{BASE}\nfrom pegasos import LinearSVC"
FIT = """
import numpy as np, scipy.sparse as sp, time
from pegasos import LinearSVC
X = sp.random(20_000, 200, density=0.1, format="csr", random_state=0)
y = np.where(np.random.default_rng(0).random(20_000) < 0.5, "no", "yes")
begun = time.perf_counter()
LinearSVC(tol=0.1).fit(X, y)
print(time.perf_counter() - begun)
"""
RUNS = 7


def seconds(code: str, cache: str) -> float:
    timed = f"import time\nbegun = time.perf_counter()\n{code}\nprint(time.perf_counter() - begun)"
    return float(run(timed if "begun" not in code else code, cache))


def run(code: str, cache: str) -> str:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip().splitlines()[-1]


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        seconds(OURS, cache)
        base, ours = [], []
        for _ in range(RUNS):
            base.append(seconds(BASE, cache))
            ours.append(seconds(OURS, cache))
        print(f"{BASE}: {statistics.median(base):.3f} s")
        print(f"and from pegasos import LinearSVC: {statistics.median(ours):.3f} s")
        print(
            f"difference of the medians: {statistics.median(ours) - statistics.median(base):.3f} s"
        )
    cold, warm = [], []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(seconds(FIT, cache))
            warm.append(seconds(FIT, cache))
    print(f"first LinearSVC fit ever, 20,000 × 200 CSR: {statistics.median(cold):.2f} s")
    print(f"the same in the next process: {statistics.median(warm):.2f} s")


if __name__ == "__main__":
    main()
