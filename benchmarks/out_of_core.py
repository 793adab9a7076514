"""``make out-of-core``: a store of four times the memory that a process may use, against memory.

Rows shaped like RCV1 are written to a store, chunk by chunk. Then, in turns and each in a process
of its own, the same problem is solved from the store under a limit of a quarter of its size, and
with all rows in memory. The limit is a control group where the system lets us make one (then the
page cache counts too, and rows do come from the disk), and the resident memory of the process,
anonymous and file-backed, is watched every 2 ms either way.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pegasos import Problem, solve
from pegasos.data import open_store, write_store
from pegasos.datasets import text_like_chunks
from pegasos.rows import CSR

BYTES_PER_ROW = 612  # of text_like: about 76 values and columns, and a pointer
LAM = 1e-4
GROUPS = Path("/sys/fs/cgroup")


# ------------------------------------------------------------------------------ in the child


def run(store: str, where: str, bias: str, tol: float) -> None:
    """Solve once, and print what it took as JSON."""
    began = time.perf_counter()
    data = open_store(store)
    assert data.y is not None
    X = data.X if where == "store" else in_memory(data.X)
    loaded = time.perf_counter()
    problem = Problem(X, data.y, lam=LAM, bias=bias)
    checked = time.perf_counter()
    solution = solve(problem, tol=tol)
    ended = time.perf_counter()
    print(
        json.dumps(
            {
                "load": loaded - began,
                "check": checked - loaded,
                "solve": ended - checked,
                "passes": solution.n_passes,
                "readings": readings_of(solution) if where == "store" else 0.0,
                "looks": len(solution.trace),
                "gap": solution.certificate.relative_gap,
                "primal": solution.certificate.primal,
            }
        )
    )


def readings_of(solution) -> float:
    """How often the store was read, looks included."""
    note = solution.trace.notes[-1]
    return float(note.removeprefix("the store was read ").split()[0])


def in_memory(X):
    """The same rows, read."""
    from scipy.sparse import csr_array

    rows = X.rows
    assert isinstance(rows, CSR)
    small = rows.pointers[-1] < 2**31
    pointers = rows.pointers.astype(np.int32 if small else np.int64)
    return csr_array((rows.values.copy(), rows.indices.copy(), pointers), shape=X.shape)


# ----------------------------------------------------------------------------- in the parent


def watched(command: list[str], limit: int | None) -> tuple[dict, int]:
    """What a process prints, and its highest anonymous and file-backed resident memory."""
    with group(limit) as join:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=join)
        highest = 0
        while child.poll() is None:
            highest = max(highest, resident(child.pid))
            time.sleep(0.002)
    assert child.stdout is not None
    if child.returncode:
        sys.exit(f"the run was ended by {child.returncode} with {highest / 1e6:.0f} MB resident")
    return json.loads(child.stdout.read()), highest


def resident(pid: int) -> int:
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        kinds = dict(line.split(":", 1) for line in lines if line.startswith("Rss"))
        return 1024 * sum(int(kinds.get(k, "0").split()[0]) for k in ("RssAnon", "RssFile"))
    return 0


@contextlib.contextmanager
def group(limit: int | None) -> Iterator:
    """A control group of so much memory for the process that joins it; None without the right."""
    folder = made = None
    if limit is not None:
        for parent, name in ((GROUPS / "memory", "memory.limit_in_bytes"), (GROUPS, "memory.max")):
            if (parent / "cgroup.procs").exists():
                folder = parent / f"pegasos-{os.getpid()}"
                with contextlib.suppress(OSError):
                    folder.mkdir()
                    (folder / name).write_text(str(limit))
                    made = folder
                break

    def join() -> None:
        (folder / "cgroup.procs").write_text(str(os.getpid()))

    try:
        yield join if made is not None else None
    finally:
        if folder is not None:
            with contextlib.suppress(OSError):
                folder.rmdir()


def main() -> None:
    from contest import machine  # not in the children: it loads the peers

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=4.0, help="the size of the store")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="keep the store in out/")
    options = parser.parse_args()
    print(machine())
    store = Path("out") / f"texts-{options.gigabytes:g}.store"
    store.parent.mkdir(exist_ok=True)
    if not store.exists():
        m = int(options.gigabytes * 1e9 / BYTES_PER_ROW)
        began = time.perf_counter()
        write_store(store, text_like_chunks(m))
        print(f"drawn and written in {time.perf_counter() - began:.0f} s")
    size = sum(file.stat().st_size for file in store.iterdir())
    limit, about = size // 4, open_store(store).X
    print(f"{about}: {size / 1e9:.2f} GB; allowed: {limit / 1e6:.0f} MB")
    with group(limit) as join:
        print(f"under a control group: {'yes' if join else 'no, the process is watched alone'}\n")
    head = f"{'bias':6}{'goal':6}{'rows in':>8}{'load':>8}{'check':>8}{'solve':>8}{'passes':>8}"
    print(f"{head}{'readings':>10}{'gap':>10}{'peak':>10}   of the allowed", flush=True)
    for bias, tol in itertools.product(("none", "free"), (1e-2, 1e-3)):
        seconds: dict[str, list[float]] = {"store": [], "memory": []}
        for _ in range(options.rounds):
            for where, allowed in (("store", limit), ("memory", None)):
                command = [sys.executable, __file__, "--child", str(store), where, bias, str(tol)]
                found, peak = watched(command, allowed)
                seconds[where].append(found["check"] + found["solve"])
                times = "".join(f"{found[part]:7.2f}s" for part in ("load", "check", "solve"))
                share = f"{peak / limit:6.2f} ×" if where == "store" else ""
                print(
                    f"{bias:6}{tol:<6g}{where:>8}{times}{found['passes']:8.2f}"
                    f"{found['readings']:10.1f}{found['gap']:10.1e}{peak / 1e6:7.0f} MB  {share}",
                    flush=True,
                )
                if where == "store" and peak > limit:
                    print("  THE LIMIT WAS EXCEEDED")
        of_store, of_memory = (statistics.median(seconds[w]) for w in ("store", "memory"))
        print(f"  check and solve: {of_store / of_memory:.2f} × the time in memory (medians)")
    if not options.keep:
        shutil.rmtree(store)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        run(sys.argv[2], sys.argv[3], sys.argv[4], float(sys.argv[5]))
    else:
        main()
