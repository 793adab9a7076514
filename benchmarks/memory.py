"""``make memory``: the peak of fit and predict on 1 GB of CSR, in a process of its own."""

from __future__ import annotations

import resource
import sys
import threading
import time

import numpy as np
import scipy.sparse as sp

from pegasos import LinearSVC


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


def main(gigabytes: float = 1.0, per_row: int = 76, d: int = 47_236) -> None:
    rng = np.random.default_rng(0)
    small = sp.random(500, d, density=per_row / d, format="csr", dtype=np.float32, random_state=0)
    LinearSVC(tol=0.1, max_passes=2).fit(small, rng.random(500) < 0.5).predict(small)

    m = int(gigabytes * 1e9 / (8 * per_row + 4))
    columns = np.empty((m, per_row), dtype=np.int32)
    step = d // per_row
    for k in range(per_row):
        columns[:, k] = rng.integers(k * step, (k + 1) * step, m, dtype=np.int32)
    values = rng.random((m, per_row), dtype=np.float32)
    pointers = np.arange(0, m * per_row + 1, per_row, dtype=np.int32)
    X = sp.csr_array((values.ravel(), columns.ravel(), pointers), shape=(m, d))
    y = values[:, 0] > values[:, 1]
    data = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    before = resident()
    print(f"{m:,} rows, {data / 1e9:.2f} GB of CSR; in use before the fit: {before / 1e9:.2f} GB")
    model = LinearSVC(C=0.01, tol=1e-2)
    for name, work in (("fit", lambda: model.fit(X, y)), ("predict", lambda: model.predict(X))):
        with Peak() as peak:
            work()
        extra = peak.highest - before
        print(f"{name}: peak {(data + extra) / data:.3f} × the data ({extra / 1e6:.0f} MB more)")
    print(f"certificate: {model.certificate_}")


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
