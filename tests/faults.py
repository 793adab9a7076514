"""``make faults``: long work is killed at random moments, and at each step it takes on the disk.

After each kill -9 the input is as it was, and what was written is complete or absent; the work is
then done again, or resumed, and ends with the same bits as if nothing had happened. Then the disk
is full: one sentence, and nothing is left behind. A fault ends this command with an error.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from drills import DRILLS, Drill, expect, files_of
from full_disk import SKIPPED, full_disk

HERE = Path(__file__).resolve()
_POLL = 5e-4  # seconds
_EARLY = 0.1  # of the kills come before anything is written
_STEPS = {"os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate", "shutil.rmtree"}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Tally(NamedTuple):
    """How a drill went."""

    before: int
    during: int
    after: int
    steps: int
    seconds: float
    faults: list[str]


def kill_at_step(number: int, out: Path, count_to: Path) -> None:
    """Let this process kill itself before its so-manieth step on the disk; 0: count them."""
    seen = 0

    def hear(event: str, arguments: tuple) -> None:
        nonlocal seen
        opened = event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITES
        if not opened and event not in _STEPS:
            return
        below = isinstance(arguments[-1], int) and arguments[-1] >= 0 and not opened  # by a handle
        if str(out) in str(arguments[0]) or below:
            seen += 1
            if seen == number:
                os.kill(os.getpid(), signal.SIGKILL)
            if number == 0:
                os.pwrite(counted, b"%d" % seen, 0)

    counted = os.open(count_to, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    sys.addaudithook(hear)


def start(drill: Drill, step: int | None = None) -> subprocess.Popen:
    """Begin the work in a process of its own."""
    shutil.rmtree(drill.out, ignore_errors=True)
    drill.out.mkdir()
    drill.begin()
    words = [sys.executable, str(HERE), "--work", drill.name, "--folder", str(drill.shared)]
    words += ["--size", str(drill.size)]
    words += [] if step is None else ["--step", str(step)]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def begun(drill: Drill, process: subprocess.Popen) -> bool:
    """Wait until something is written; False if the process ended before."""
    there = os.listdir(drill.out)
    while os.listdir(drill.out) == there:
        if process.poll() is not None:
            return False
        time.sleep(_POLL)
    return True


def unbroken(drill: Drill) -> tuple[float, float]:
    """Seconds until something is written, and from then to the end."""
    then = time.perf_counter()
    process = start(drill)
    began = begun(drill, process)
    first = time.perf_counter()
    _, said = process.communicate()
    expect(began and process.returncode in (0, None), f"the unbroken run fails: {said.decode()}")
    return first - then, time.perf_counter() - first


def killed(drill: Drill, early: float, late: float) -> str:
    """Kill the work at a moment: so long after its start, or after something is written."""
    process = start(drill)
    there = os.listdir(drill.out)
    if early:
        time.sleep(early)
    elif begun(drill, process):
        time.sleep(late)
    ended = process.poll() is not None
    process.kill()
    _, said = process.communicate()
    if ended:
        expect(process.returncode == 0, f"it fails by itself: {said.decode()[-500:]}")
        return "after"
    return "before" if os.listdir(drill.out) == there else "during"


def perform(drill: Drill, kills: int, steps: int, seed: int = 0) -> Tally:
    """Kill the work that often at random moments, and at so many of its steps."""
    drill.folder.mkdir(parents=True, exist_ok=True)
    drill.prepare()  # which has compiled all there is
    inputs = files_of(drill.inputs)
    to_begin, seconds = unbroken(drill)
    rng = np.random.default_rng(seed)
    when = {"before": 0, "during": 0, "after": 0}
    faults: list[str] = []

    def attempt(what: str, kill: Callable[[], str | None]) -> None:
        try:
            where = kill()
            if where is not None:
                when[where] += 1
            expect(files_of(drill.inputs) == inputs, "the input was changed")
            drill.check()
        except Exception as error:
            faults.append(f"{drill.name}, killed {what}: {type(error).__name__}: {error}")

    moments = (np.arange(kills) + rng.random(kills)) / kills  # spread over the whole run
    for moment in rng.permutation(moments):
        early = max(moment / _EARLY, 0.05) * to_begin if moment < _EARLY else 0.0
        late = (moment - _EARLY) / (1 - _EARLY) * seconds
        attempt(f"at {moment:.3f} of the run", lambda e=early, t=late: killed(drill, e, t))
    total = count_steps(drill) if steps else 0
    chosen = sorted({int(k) for k in np.linspace(1, total, min(steps, total))}) if total else []
    for step in chosen:
        attempt(f"at step {step} of {total}", lambda s=step: kill_step(drill, s))
    return Tally(**when, steps=len(chosen), seconds=seconds, faults=faults)


def count_steps(drill: Drill) -> int:
    """The steps that an unbroken run takes on the disk."""
    start(drill, 0).communicate()
    return int((drill.folder / "steps").read_text() or "0")


def kill_step(drill: Drill, step: int) -> None:
    start(drill, step).communicate()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50, help="at random moments, of each drill")
    parser.add_argument("--steps", type=int, default=25, help="kills at steps on the disk")
    parser.add_argument("--only", default="", help="drills, with commas; 'disk' is the full one")
    parser.add_argument("--size", type=float, default=1.0, help="of the data")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--step", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.work:
        return _work(args)
    known = [drill.name for drill in DRILLS] + ["disk"]
    chosen = args.only.split(",") if args.only else known
    for name in chosen:
        if name not in known:
            parser.error(f"{name!r} is none of {', '.join(known)}")
    with tempfile.TemporaryDirectory(prefix="pegasos-faults-", dir=args.folder) as folder:
        return _all(chosen, Path(folder), args)


def _work(args: argparse.Namespace) -> int:
    """In the process that is killed."""
    drill = next(drill for drill in DRILLS if drill.name == args.work)(args.folder, args.size)
    if args.step is not None:
        kill_at_step(args.step, drill.out, drill.folder / "steps")
    drill.work()
    return 0


def _all(chosen: list[str], folder: Path, args: argparse.Namespace) -> int:
    faults = []
    print(f"{'':26}{'before':>8}{'during':>8}{'after':>8}{'steps':>8}{'run':>8}{'faults':>8}")
    for drill in DRILLS:
        if drill.name in chosen:
            tally = perform(drill(folder, args.size), args.kills, args.steps)
            faults += tally.faults
            print(
                f"{drill.name:26}{tally.before:8}{tally.during:8}{tally.after:8}{tally.steps:8}"
                f"{tally.seconds:6.1f} s{len(tally.faults):8}",
                flush=True,
            )
    if "disk" in chosen:
        for name, fault in full_disk(folder, args.size):
            print(f"full disk: {name}: {fault or 'one sentence, nothing left behind'}", flush=True)
            faults += [f"full disk: {name}: {fault}"] if fault not in ("", SKIPPED) else []
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
