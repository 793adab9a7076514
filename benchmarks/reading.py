"""``make reading``: a text file shaped like RCV1, read by us and by scikit-learn, in turns.

    reading.py [--megabytes 550] [--rounds 6] [--wide]

The file is made once and kept in ``out/``. Each round reads it with one thread of ours, with all
of them, and with scikit-learn's ``load_svmlight_file``; the medians are compared. ``--wide`` writes
the values with 17 digits, as those of float64 are. Then the arrays are compared bit by bit, in
float32 and in float64, and in processes of their own the peak of memory is measured, and what the
first file costs where nothing is compiled yet.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from pegasos.data import load_svmlight, write_svmlight
from pegasos.datasets import text_like_chunks

FOLDER = Path("out") / "reading"
PER_ROW = {False: 1120, True: 1770}  # bytes of a row, about
SMALL = 2_000  # rows of the file on which everything is compiled


def make(path: Path, rows: int, wide: bool) -> None:
    """Write the file, unless it is there."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    chunks = text_like_chunks(rows)
    if wide:  # the same rows, and digits behind those of float32
        chunks = (replace(c, X=c.X * (1.0 + 1e-9 * rng.random())) for c in widened(chunks))
    begun = time.perf_counter()
    write_svmlight(path, chunks)
    spent, size = time.perf_counter() - begun, path.stat().st_size / 1e6
    print(f"made {path}: {rows:,} rows, {size:.0f} MB in {spent:.0f} s", flush=True)


def widened(chunks):
    return (replace(c, X=c.X.astype(np.float64)) for c in chunks)


def peer(path: Path, dtype: str = "float32"):
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(str(path), dtype=np.dtype(dtype))


def touch_memory() -> None:
    """Have the machine own the memory that is used next.

    What one contestant gives back a virtual machine may give back to its host, and who comes next
    would wait for it: here some 7 seconds for each gigabyte.
    """
    np.ones(1 << 27)


def race(path: Path, rounds: int) -> None:
    """Seconds of each, in turns."""
    size = path.stat().st_size / 1e6
    contestants: dict[str, Callable] = {
        "pegasos, 1 thread": lambda: load_svmlight(path, threads=1),
        "pegasos": lambda: load_svmlight(path),
        "scikit-learn": lambda: peer(path),
    }
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _, order in zip(range(rounds), itertools.cycle(itertools.permutations(contestants))):
        for name in order:
            touch_memory()
            begun = time.perf_counter()
            contestants[name]()
            seconds[name].append(time.perf_counter() - begun)
    slowest = statistics.median(seconds["scikit-learn"])
    print(f"\n{size:.0f} MB, medians of {rounds} rounds (the quickest and the slowest):")
    for name, times in seconds.items():
        middle = statistics.median(times)
        span = f"({min(times):.2f}–{max(times):.2f})"
        rate, ratio = size / middle, slowest / middle
        print(f"{name:20}{middle:8.2f} s {span} {rate:6.0f} MB/s{ratio:8.1f} ×", flush=True)


def compare(path: Path) -> None:
    """Whether both read the same arrays, to the bit."""
    for dtype in ("float32", "float64"):
        ours, (X, y) = load_svmlight(path, dtype=dtype), peer(path, dtype)
        same = {
            "values": ours.X.data.tobytes() == X.data.tobytes(),
            "indices": np.array_equal(ours.X.indices, X.indices),
            "pointers": np.array_equal(ours.X.indptr, X.indptr),
            "labels": ours.y.tobytes() == y.tobytes(),
        }
        told = ", ".join(f"{name} {'equal' if yes else 'DIFFER'}" for name, yes in same.items())
        print(f"{dtype}: {told} ({X.nnz:,} values)", flush=True)


# ---------------------------------------------------------------- in processes of their own


def anonymous() -> int:
    """Bytes of memory that belong to this process alone."""
    with open("/proc/self/status") as file:
        lines = dict(line.split(":", 1) for line in file)
    return int(lines["RssAnon"].split()[0]) * 1024


def peak_of(path: str, small: str, threads: int | None) -> None:
    """The highest anonymous memory while the file is read, beyond what was there before."""
    load_svmlight(small, threads=threads)
    before, highest, running = anonymous(), [0], [True]

    def watch() -> None:
        while running:
            highest[0] = max(highest[0], anonymous())
            time.sleep(0.001)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    data = load_svmlight(path, threads=threads)
    running.clear()
    watcher.join()
    arrays = sum(a.nbytes for a in (data.X.data, data.X.indices, data.X.indptr, data.y))
    print(json.dumps({"peak": highest[0] - before, "arrays": arrays}))


def first_of(small: str) -> None:
    """The first file of a process."""
    begun = time.perf_counter()
    load_svmlight(small)
    print(json.dumps(time.perf_counter() - begun))


def child(*arguments: str, **variables: str):
    command = [sys.executable, __file__, "--child", *arguments]
    environment = os.environ | variables
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def costs(path: Path, small: Path) -> None:
    for threads in ("1", "all"):
        found = child("peak", str(path), str(small), threads)
        ratio = found["peak"] / found["arrays"]
        print(
            f"peak memory, {threads} thread{'s' * (threads != '1')}: {found['peak'] / 1e6:.0f} MB "
            f"for arrays of {found['arrays'] / 1e6:.0f} MB: {ratio:.2f} ×",
            flush=True,
        )
    with tempfile.TemporaryDirectory() as cache:
        cold = child("first", str(small), NUMBA_CACHE_DIR=cache)
        warm = child("first", str(small), NUMBA_CACHE_DIR=cache)
    size = small.stat().st_size / 1e6
    print(f"a first file of {size:.1f} MB: {cold:.1f} s, {warm:.2f} s once it is compiled")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=550)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child and asked.child[0] == "peak":
        _, path, small, threads = asked.child
        peak_of(path, small, None if threads == "all" else int(threads))
        return
    if asked.child:
        first_of(asked.child[1])
        return
    rows = asked.megabytes * 1_000_000 // PER_ROW[asked.wide]
    kind = "wide" if asked.wide else "narrow"
    path, small = FOLDER / f"{kind}-{rows}.svm", FOLDER / f"{kind}-{SMALL}.svm"
    make(small, SMALL, asked.wide)
    make(path, rows, asked.wide)
    load_svmlight(small, threads=1)  # the compiled code is measured apart
    race(path, asked.rounds)
    compare(path)
    costs(path, small)


if __name__ == "__main__":
    main()
