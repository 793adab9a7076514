"""``make fuzz``: svmlight text, stores and model files under hypothesis and atheris.

Each target is a module with ``seeds``, ``changed`` (an input, a little different) and ``check``
(Finding if something is not as it must be). It runs in a process of its own, which may crash or
hang: the input at work is then kept, and the rest of the time goes to a fresh process.

    hypothesis   compiled code; text and stores lie in arrays that end where memory ends
    atheris      plain Python (NUMBA_DISABLE_JIT=1), where it sees which lines are reached
    replay       compiled code again, over all that atheris has kept
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import importlib.util
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from journal import Journal

HERE = Path(__file__).resolve().parent
OUT = HERE.parent.parent / "out" / "fuzz"
TARGETS = {"text": "text_files", "store": "store_folders", "models": "model_files"}
ENGINES = ("hypothesis", "atheris", "replay")
IN_MEMORY = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
_FEW = 300  # examples below which the seeds are few, too


class Row(NamedTuple):
    """What one engine did to one target."""

    target: str
    engine: str
    runs: int
    accepted: int
    seconds: float
    crashes: int


# --------------------------------------------------------------------------- in the child process


class Trial:
    """One input after the other; what is found is kept, and the run goes on."""

    def __init__(self, target: Any, out: Path, room: Path, hang: float):
        self.target, self.out, self.room, self.hang = target, out, room, hang
        self.journal = Journal(out / "journal")
        self.log = (out / "hang.log").open("w")
        crashes = (out.parent / "findings").glob("crash-*")
        self.deadly = {file.read_bytes() for file in crashes if file.suffix != ".txt"}

    def warm_up(self, seeds: list[bytes]) -> None:
        """Compile, import and read caches, which takes time and memory once."""
        from verdict import Finding, no_limits

        for data in seeds:
            if data in self.deadly:
                continue
            self.journal.begin(data)
            with no_limits():
                try:
                    self.target.check(data, self.room)
                except (Finding, Exception):
                    continue  # it comes again, with limits

    def __call__(self, data: bytes) -> None:
        if len(data) > self.target.LONGEST or data in self.deadly:
            return
        self.journal.begin(data)
        faulthandler.dump_traceback_later(self.hang, exit=True, file=self.log)
        accepted = False
        try:
            accepted = self.target.check(data, self.room)
        except Exception as error:
            keep(self.out.parent / "findings", data, error)
        finally:
            faulthandler.cancel_dump_traceback_later()
        self.journal.end(accepted)


def keep(folder: Path, data: bytes, error: Exception) -> None:
    """Save an input that shows a fault, unless a shorter one shows the same."""
    from verdict import signature

    folder.mkdir(exist_ok=True)
    name = folder / hashlib.sha256(signature(error).encode()).hexdigest()[:12]
    if name.exists() and name.stat().st_size <= len(data):
        return
    name.write_bytes(data)
    text = "".join(traceback.format_exception(error))
    name.with_suffix(".txt").write_text(f"{signature(error)}\n\n{text}", errors="backslashreplace")


def child(args: argparse.Namespace) -> int:
    """Run one engine over one target."""
    threading.stack_size(1 << 20)  # a thread's stack is no memory of the input
    faulthandler.enable()
    if args.engine == "atheris":
        import atheris
        import numba  # noqa: F401
        import scipy.sparse  # noqa: F401
        import sklearn.base  # noqa: F401

        with atheris.instrument_imports(include=["pegasos"]):
            target = importlib.import_module(TARGETS.get(args.target, args.target))
            importlib.import_module("pegasos.models")
    else:
        target = importlib.import_module(TARGETS.get(args.target, args.target))
    seeds = [file.read_bytes() for file in sorted((args.folder / "seeds").iterdir())]
    trial = Trial(target, args.folder / args.engine, args.room, args.hang)
    trial.warm_up(seeds)
    ENGINE[args.engine](args, trial, seeds)
    return 0


def with_hypothesis(args: argparse.Namespace, trial: Trial, seeds: list[bytes]) -> None:
    """Near-valid inputs, drawn by hypothesis, until the time or the examples are over."""
    import hypothesis
    import hypothesis.strategies as st

    def made(rng: Any, data: bytes, changes: int) -> bytes:
        for _ in range(changes):
            data = trial.target.changed(rng, data)
        return data

    random = st.randoms(use_true_random=True)  # its seed is drawn: ten times as fast
    near = st.builds(made, random, st.sampled_from(seeds), st.sampled_from([1, 1, 1, 2, 2, 3, 6]))
    until = time.monotonic() + args.seconds
    for data in seeds:
        trial(data)

    @hypothesis.settings(
        max_examples=min(args.examples or 1000, 1000),
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(st.one_of(near, near, near, st.binary(max_size=200)))
    def some(data: bytes) -> None:
        if time.monotonic() < until:
            trial(data)

    turn = args.seed
    while time.monotonic() < until:
        hypothesis.seed(turn)(some)()
        turn += 1
        if args.examples:
            return


def with_atheris(args: argparse.Namespace, trial: Trial, seeds: list[bytes]) -> None:
    """Inputs that reach lines which no input has reached before."""
    import atheris

    def mutator(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < 0.4:
            return atheris.Mutate(data, most)
        return trial.target.changed(rng, bytes(data))[:most]

    corpus = args.folder / "corpus"
    words = [sys.argv[0], str(corpus), str(args.folder / "seeds"), f"-seed={args.seed + 1}"]
    words += [f"-max_len={trial.target.LONGEST}", "-print_final_stats=1", "-rss_limit_mb=4096"]
    words += [f"-max_total_time={max(int(args.seconds), 1)}", f"-timeout={int(10 * args.hang)}"]
    words += [f"-runs={args.examples}"] if args.examples else []
    atheris.Setup(words, trial, custom_mutator=mutator)
    atheris.Fuzz()


def replay(args: argparse.Namespace, trial: Trial, seeds: list[bytes]) -> None:
    """All inputs that are kept, through compiled code."""
    for folder in ("corpus", "findings"):
        for file in sorted((args.folder / folder).glob("*")):
            if file.suffix != ".txt":
                trial(file.read_bytes())


ENGINE = {"hypothesis": with_hypothesis, "atheris": with_atheris, "replay": replay}


# -------------------------------------------------------------------------- in the parent process


def make_seeds(name: str, folder: Path, few: bool) -> None:
    """Write the inputs to begin with, by a process with compiled code."""
    shutil.rmtree(folder / "seeds", ignore_errors=True)
    for part in ("seeds", "corpus", "findings"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    words = f"import {TARGETS[name]} as t; from pathlib import Path\n"
    given = "small=True" if few and name == "models" else ""
    words += f"for k, data in enumerate(t.seeds({given})):\n"
    words += f"    Path({str(folder / 'seeds')!r}, f'{{k:04}}').write_bytes(data)"
    found = HERE / "found" / name
    subprocess.run([sys.executable, "-c", words], cwd=HERE, check=True)
    for file in found.glob("*") if found.is_dir() else ():
        shutil.copy(file, folder / "seeds" / file.name)


def run(name: str, engine: str, args: argparse.Namespace) -> Row:
    """One engine over one target, in as many processes as it takes."""
    folder = args.folder / name
    place = folder / engine
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    journal = Journal(place / "journal")
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("NUMBA_DISABLE_JIT", None)
    if engine == "atheris":
        environment["NUMBA_DISABLE_JIT"] = "1"
    begun, crashes = time.monotonic(), 0
    while (left := args.seconds - (time.monotonic() - begun)) > 0:
        words = [sys.executable, str(HERE / "run.py"), "--child", engine, "--only", name]
        words += ["--folder", str(folder), "--seconds", str(left), "--examples", str(args.examples)]
        words += ["--seed", str(args.seed + 1000 * crashes), "--hang", str(args.hang)]
        with (
            tempfile.TemporaryDirectory(prefix="pegasos-fuzz-", dir=IN_MEMORY) as room,
            (place / f"log{crashes}").open("wb") as log,
        ):
            words += ["--room", room]
            done = subprocess.run(
                words, cwd=HERE, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
        if done.returncode == 0:
            break
        crashes += 1
        _keep_crash(folder / "findings", place, done.returncode, journal, crashes)
        if crashes == 20:
            break
    found = journal.read()
    return Row(name, engine, found.runs, found.accepted, time.monotonic() - begun, crashes)


def _keep_crash(folder: Path, place: Path, code: int, journal: Journal, crashes: int) -> None:
    """Keep the input at which a process died."""
    how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
    hang = (place / "hang.log").read_text() if (place / "hang.log").exists() else ""
    if hang:
        how = f"took too long over one input\n{hang}"
    log = (place / f"log{crashes - 1}").read_text(errors="replace")[-4000:]
    data = journal.read().at_work
    name = folder / f"crash-{place.name}-{hashlib.sha256(data).hexdigest()[:12]}"
    name.write_bytes(data)
    name.with_suffix(".txt").write_text(f"the process {how}\n\n{log}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="for each target and engine")
    parser.add_argument("--examples", type=int, default=0, help="instead: so many for each")
    parser.add_argument("--only", default=",".join(TARGETS), help="targets, with commas")
    parser.add_argument("--engines", default=",".join(ENGINES), help="engines, with commas")
    parser.add_argument("--folder", type=Path, default=OUT, help="where corpora and findings lie")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--hang", type=float, default=20.0, help="seconds for one input")
    parser.add_argument("--jobs", type=int, default=1, help="targets at a time")
    parser.add_argument("--child", dest="engine", help=argparse.SUPPRESS)
    parser.add_argument("--room", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.engine:
        args.target = args.only
        return child(args)
    names, engines = args.only.split(","), args.engines.split(",")
    for name, known in [(n, TARGETS) for n in names] + [(e, ENGINES) for e in engines]:
        if name not in known:
            parser.error(f"{name!r} is none of {', '.join(known)}")
    if "atheris" in engines and importlib.util.find_spec("atheris") is None:
        parser.error("atheris is missing: pip install 'pegasos[fuzz]', or --engines hypothesis")
    return fuzz(names, engines, args)


def fuzz(names: list[str], engines: list[str], args: argparse.Namespace) -> int:
    """Run all, print a table and what was found; 1 if anything was."""

    def one(name: str) -> None:
        folder = args.folder / name
        shutil.rmtree(folder / "findings", ignore_errors=True)
        make_seeds(name, folder, 0 < args.examples <= _FEW)
        for engine in engines:
            row = run(name, engine, args)
            print(
                f"{name:8}{engine:12}{row.runs:>10,} inputs, {row.accepted:>9,} accepted, "
                f"{row.seconds:6.0f} s, {row.runs / max(row.seconds, 1e-9):7.0f}/s, "
                f"{row.crashes} crashes",
                flush=True,
            )

    with ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(one, names))
    findings = [file for name in names for file in (args.folder / name / "findings").glob("*.txt")]
    for file in findings:
        print(f"{file.with_suffix('')}: {file.read_text().splitlines()[0]}")
    print(f"{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
