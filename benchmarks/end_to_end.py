"""``make end-to-end``: from a text file to a model file, as processes that start from nothing.

A text file shaped like RCV1 (800,000 rows, 76 nonzeros in each) is read, trained on at λ = 1e-4
without an intercept, and a model is saved: by ``pegasos train`` to a certified gap of 1e-3, by
LIBLINEAR's own program ``train -s 3``, and by scikit-learn's ``load_svmlight_file`` and
``LinearSVC(loss="hinge")``. The whole is the wall time of the process. All are judged afterwards by
their true objective, and the peers are given the coarsest of their tolerances that comes within
1e-3 of the optimum. Reading and training apart: ours and scikit-learn's as they say themselves,
LIBLINEAR's reading as what the same call takes with a tolerance that ends it after one iteration.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from reading import touch_memory

from pegasos import Problem, load_model, solve
from pegasos.certificate import Answer, certify
from pegasos.data import load_svmlight, write_svmlight
from pegasos.datasets import text_like_chunks

LAM, TOL = 1e-4, 1e-3
TOLERANCES = (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3)
SCIKIT_LEARN = """
import json, sys, time, warnings
import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.svm import LinearSVC
warnings.simplefilter("ignore")
file, C, tol, out = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
began = time.perf_counter()
X, y = load_svmlight_file(file)
X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # or fit refuses it
read = time.perf_counter()
model = LinearSVC(C=C, loss="hinge", tol=tol, fit_intercept=False, random_state=0).fit(X, y)
fitted = time.perf_counter()
np.save(out, model.coef_)
print(json.dumps({"read": read - began, "train": fitted - read}))
"""


def timed(command: list[str]) -> tuple[float, str]:
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stderr}")
    return seconds, done.stdout


class Ours:
    name = "pegasos"

    def __init__(self, file: Path, one_core: bool = False):
        self.file, self.model = file, file.with_suffix(".pegasos")
        self.where = ["taskset", "-c", "0"] if one_core else []
        if one_core:
            self.name = "pegasos, one core"

    def run(self) -> dict[str, float]:
        command = [*self.where, sys.executable, "-m", "pegasos", "train", str(self.file)]
        command += ["-o", str(self.model)]
        command += ["--lam", str(LAM), "--tol", str(TOL), "--bias", "none", "--force", "--json"]
        whole, said = timed(command)
        seconds = json.loads(said)["seconds"]
        return {"whole": whole, "read": seconds["reading"], "train": seconds["training"]}

    def coefficients(self) -> np.ndarray:
        return np.ravel(load_model(self.model).coef_)


class ScikitLearn:
    name = "scikit-learn"

    def __init__(self, file: Path, C: float):
        self.file, self.C, self.tol = file, C, TOLERANCES[0]
        self.out = file.with_suffix(".npy")

    def run(self) -> dict[str, float]:
        arguments = [str(self.file), str(self.C), str(self.tol), str(self.out)]
        whole, said = timed([sys.executable, "-c", SCIKIT_LEARN, *arguments])
        return {"whole": whole, **json.loads(said)}

    def coefficients(self) -> np.ndarray:
        return np.ravel(np.load(self.out))


class Liblinear:
    name = "liblinear train"

    def __init__(self, program: str, file: Path, C: float):
        self.program, self.file, self.C, self.tol = program, file, C, TOLERANCES[0]
        self.model = file.with_suffix(".liblinear")

    def _call(self, tol: float) -> float:
        command = [self.program, "-s", "3", "-c", str(self.C), "-e", str(tol), "-q"]
        return timed([*command, str(self.file), str(self.model)])[0]

    def run(self) -> dict[str, float]:
        read = self._call(1e30)
        whole = self._call(self.tol)
        return {"whole": whole, "read": read, "train": whole - read}

    def coefficients(self) -> np.ndarray:
        return np.ravel(load_model(self.model).coef_)


def main() -> None:
    from contest import machine

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=800_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", action="store_true", help="keep the text file in out/")
    options = parser.parse_args()
    print(machine())
    file = Path("out") / f"texts-{options.rows}.svm"
    file.parent.mkdir(exist_ok=True)
    if not file.exists():
        write_svmlight(file, text_like_chunks(options.rows))
    data = load_svmlight(file)
    assert data.y is not None
    problem = Problem(data.X, data.y, lam=LAM)
    best = solve(problem, tol=1e-6).certificate.dual
    size = file.stat().st_size / 1e9
    print(f"{file.name}: {size:.2f} GB, {options.rows:,} rows, C = {problem.C:g}")

    def above(contestant) -> float:
        w = contestant.coefficients()
        w = np.append(w, np.zeros(problem.d - w.size))
        return certify(problem, Answer(w, 0.0, None)).certificate.primal / best - 1.0

    peers: list = [ScikitLearn(file, problem.C)]
    program = shutil.which("liblinear-train") or shutil.which("train")
    if program is None:
        print("LIBLINEAR's program train is not on the path: left out")
    else:
        peers.append(Liblinear(program, file, problem.C))
    for peer in peers:
        for peer.tol in TOLERANCES:
            peer.run()
            if above(peer) <= TOL:
                break
        print(f"{peer.name}: tolerance {peer.tol:g} ends {above(peer):.1e} above the optimum")
    contestants = [Ours(file), Ours(file, one_core=True), *peers]
    for one in contestants[:2]:
        one.run()  # compiled code is loaded from here on
    found: dict[str, list[dict[str, float]]] = {one.name: [] for one in contestants}
    for _ in range(options.rounds):
        for one in contestants:
            touch_memory()
            found[one.name].append(one.run())
    median = {
        name: {part: statistics.median(run[part] for run in runs) for part in runs[0]}
        for name, runs in found.items()
    }
    print(f"\n{'medians, seconds':20}{'whole':>9}{'read':>9}{'train':>9}{'above':>10}")
    for one in contestants:
        parts = "".join(f"{median[one.name][part]:9.2f}" for part in ("whole", "read", "train"))
        print(f"{one.name:20}{parts}{above(one):10.1e}")
    print("\ntheirs ÷ ours")
    for ours in contestants[:2]:
        for peer in peers:
            ratios = "".join(
                f"{median[peer.name][part] / median[ours.name][part]:8.1f}×"
                for part in ("whole", "read", "train")
            )
            print(f"{peer.name + ' ÷ ' + ours.name:38}{ratios}")
    if not options.keep:
        file.unlink()


if __name__ == "__main__":
    main()
