"""``make memory``: the peak of fit and predict beside the data, for each solver by name.

Each in a process of its own: 1 GB of sparse rows for the solvers of sparse text, half a gigabyte
of a dense table of 50 features for those of few features, and both for ``auto``. The methods of the
literature: three passes over 0.2 GB of sparse rows.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import scipy.sparse as sp

from pegasos import LinearSVC
from pegasos.solvers import REGISTRY, as_solver

SPARSE = ("auto", "dual-ascent", "pegasos")
FEW = ("auto", "huber-newton", "interior-point", "interior-point-full")
FEATURES = {"sparse": 47_236, "dense": 50}
MODELS = {"sparse": {"C": 0.01, "tol": 1e-2}, "dense": {"lam": 1e-5, "tol": 1e-3}}


def resident() -> int:
    """Bytes of memory in use now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class Peak:
    """The highest resident memory while a block runs."""

    def __enter__(self) -> Peak:
        self.highest, self._running = resident(), True
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def _watch(self) -> None:
        while self._running:
            self.highest = max(self.highest, resident())
            time.sleep(0.002)

    def __exit__(self, *_: object) -> None:
        self._running = False
        self._watcher.join()


def sparse(gigabytes: float, per_row: int = 76):
    """Rows of 76 nonzeros out of 47,236 features, and their bytes."""
    rng, d = np.random.default_rng(0), FEATURES["sparse"]
    m = int(gigabytes * 1e9 / (8 * per_row + 4))
    columns = np.empty((m, per_row), dtype=np.int32)
    step = d // per_row
    for k in range(per_row):
        columns[:, k] = rng.integers(k * step, (k + 1) * step, m, dtype=np.int32)
    values = rng.random((m, per_row), dtype=np.float32)
    pointers = np.arange(0, m * per_row + 1, per_row, dtype=np.int32)
    X = sp.csr_array((values.ravel(), columns.ravel(), pointers), shape=(m, d))
    y = values[:, 0] > values[:, 1]
    return X, y, X.data.nbytes + X.indices.nbytes + X.indptr.nbytes


def dense(gigabytes: float):
    """A float32 table of 50 features, and its bytes; a tenth of the labels are noise."""
    rng, d = np.random.default_rng(0), FEATURES["dense"]
    X = rng.standard_normal((int(gigabytes * 1e9 / (4 * d)), d), dtype=np.float32)
    y = (X @ rng.standard_normal(d, dtype=np.float32) > 0) ^ (rng.random(X.shape[0]) < 0.1)
    return X, y, X.nbytes


def measure(solver: str, shape: str, gigabytes: float) -> None:
    """One line: in this process, which does nothing else."""
    generate = {"sparse": sparse, "dense": dense}[shape]
    options = dict(MODELS[shape])
    if solver not in SPARSE + FEW:
        known = as_solver(solver)
        options |= {"max_passes": 3, "penalize_intercept": "free" not in known.solves.biases}
        options["tol"] = 1e-2 if known.stops_on_gap else None
    model = LinearSVC(solver=solver, max_seconds=300, **options)
    small, few, _ = generate(0.001)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(small, few).predict(small)  # the compiled code is not what is measured
        X, y, data = generate(gigabytes)
        before, extra = resident(), []
        for work in (lambda: model.fit(X, y), lambda: model.predict(X)):
            with Peak() as peak:
                work()
            extra.append(peak.highest - before)
    cells = "".join(f"{(data + e) / data:9.3f} ×{e / 1e6:8.0f} MB" for e in extra)
    gap = model.certificate_.relative_gap
    print(f"{solver:26}{shape:8}{data / 1e9:7.2f} GB{cells}   {gap:.1e}", flush=True)


def main() -> None:
    print("Peak memory, and what it is beyond the data, in fit and in predict:")
    head = f"{'solver':26}{'rows':8}{'data':>10}{'fit':>11}{'beyond':>11}"
    print(f"{head}{'predict':>11}{'beyond':>11}   gap", flush=True)
    tasks = [(solver, "sparse", 1.0) for solver in SPARSE]
    tasks += [(solver, "dense", 0.5) for solver in FEW]
    tasks += [(name, "sparse", 0.2) for name in REGISTRY if name not in (*SPARSE, *FEW, "dcd")]
    for solver, shape, gigabytes in tasks:
        subprocess.run([sys.executable, __file__, solver, shape, str(gigabytes)], check=False)


if __name__ == "__main__":
    if sys.argv[1:]:
        measure(sys.argv[1], sys.argv[2], float(sys.argv[3]))
    else:
        main()
