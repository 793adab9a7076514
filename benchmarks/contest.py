"""One contest: contestants side by side on one problem, and how its results are kept and shown.

Every fit happens in a forked child, so that a first fit is one, a run can be cut off, and no
contestant inherits another's memory. The parent loads data and contestants and fits nothing.
Results are JSON lines, written when a row is complete, and not measured again.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import json
import math
import multiprocessing
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from contestants import CONTESTANTS, OUR_SECONDS, Contestant, Pegasos
from data import SETS
from judge import Interval, fault, primal
from reference import WIDTH, reference

import pegasos
from pegasos.solvers import REGISTRY, solver_class

FOLDER = Path("out") / "bench"
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "liblinear-official", "snapml")

CAP = 60.0  # seconds that one run of a peer may take
SEARCH = 20.0  # after so many seconds no finer setting of a peer is begun on a problem
REPEATS = 5
ONCE, THRICE = 4.0, 1.0  # runs that take longer are not repeated, or are done three times
ITS_FINEST, TOO_LONG, CUT_OFF = "finest", "too long", "cut off"  # how a search may end
OFTEN, MANY = 0.1, 15  # shorter ones are done many times

for _name in REGISTRY:  # now, so that an edit of the sources does not reach a run half way
    solver_class(_name)


@dataclass(frozen=True)
class Task:
    """One row of a table: a set, C (or λ), the kind of bias, who takes part, how close."""

    data: str
    block: str  # "none", "feature", "free" (ours with and without it) or "called"
    contestants: tuple[str, ...]
    targets: tuple[float, ...]
    C: float = 1.0
    lam: float | None = None

    @property
    def title(self) -> str:
        return f"C = {self.C:g}" if self.lam is None else f"λ = {self.lam:g}"

    @property
    def name(self) -> str:
        return f"{self.data} | {self.title} | {self.block}"

    def strength(self, m: int) -> float:
        return self.C if self.lam is None else 1.0 / (self.lam * m)


# -------------------------------------------------------------------- results, kept on disk


def versions() -> dict[str, str]:
    found = {name: version(name) for name in PACKAGES}
    return {"python": platform.python_version(), **found, "processor": processor()}


def processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def stamp(with_ours: bool) -> str:
    """A hash of all versions, and of our sources: results of another are measured again."""
    digest = hashlib.sha256(json.dumps(versions()).encode())
    if with_ours:
        home = Path(pegasos.__file__).parent
        for source in sorted(home.rglob("*.py")):
            digest.update(source.relative_to(home).as_posix().encode() + source.read_bytes())
    return digest.hexdigest()[:16]


class Store:
    """Results by key, in a file of JSON lines; the last line of a key counts.

    The settings of the peers survive a change of our sources, the seconds do not: those of a row
    were measured side by side, and are measured again side by side.
    """

    def __init__(self, path: Path, fresh: bool):
        self.path = path
        self.stamps = {"setting": stamp(with_ours=False), "row": stamp(with_ours=True)}
        self.kept: dict[str, dict] = {}
        if path.exists() and not fresh:
            for line in path.read_text().splitlines():
                try:
                    entry = json.loads(line)
                except json.JSONDecodeError:  # the last line of a run that was killed
                    continue
                self.kept[entry["key"]] = entry["value"]

    def key(self, kind: str, task: Task, contestant: str) -> str:
        return " | ".join((kind, task.name, contestant, self.stamps[kind]))

    def get(self, kind: str, task: Task, contestant: str) -> dict | None:
        return self.kept.get(self.key(kind, task, contestant))

    def put(self, kind: str, task: Task, contestant: str, value: dict) -> None:
        key = self.key(kind, task, contestant)
        self.kept[key] = value
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps({"key": key, "value": value}) + "\n")


# --------------------------------------------------------------------------------- children


class CutOff(Exception):
    """A child was silent for too long."""


def in_child(work: Callable[[Callable], None], patience: float = 3600.0) -> Iterator:
    """What ``work(tell)`` tells, from a forked child."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_run, args=(work, there))
    child.start()
    there.close()
    try:
        while True:
            if not here.poll(patience):
                raise CutOff
            try:
                message = here.recv()
            except EOFError:
                child.join()
                if child.exitcode:
                    raise RuntimeError(f"a child ended with {child.exitcode}") from None
                return
            if isinstance(message, BaseException):
                raise message
            yield message
    finally:
        if child.is_alive():
            child.kill()
        child.join()
        here.close()


def _run(work, there) -> None:
    try:
        work(there.send)
    except BaseException as error:
        there.send(error if isinstance(error, Exception) else RuntimeError(repr(error)))
    there.close()


def timed(fit: Callable[[], object]) -> tuple[float, object]:
    gc.collect()
    begun = time.perf_counter()
    model = fit()
    return time.perf_counter() - begun, model


def alone(work: Callable[[], object]) -> object:
    """The result of a function that runs in a child."""
    return next(in_child(lambda tell: tell(work())))


# --------------------------------------------------------------------------------- contests


class Contest:
    """The rows of one set of data, which is loaded once and only if something is missing."""

    def __init__(self, store: Store, data: str):
        self.store = store
        self.data = data

    @functools.cached_property
    def found(self):
        return SETS[self.data]()

    def row(self, task: Task) -> dict[str, dict]:
        """The results of all contestants: kept ones, or measured now."""
        kept = {name: self.store.get("row", task, name) for name in task.contestants}
        if all(value is not None for value in kept.values()):
            return kept
        X, y = self.found
        C = task.strength(X.shape[0])
        measured = (self._called if task.block == "called" else self._measured)(task, X, y, C)
        shape = " × ".join(f"{n:,}" for n in X.shape)
        for name, value in measured.items():
            self.store.put("row", task, name, {**value, "shape": shape})
        return {name: self.store.get("row", task, name) for name in task.contestants}

    def _measured(self, task: Task, X, y, C: float) -> dict[str, dict]:
        """Seconds to each target, interleaved."""
        truth, bias = None, task.block
        if task.block != "free":  # ours alone: nobody else to judge
            truth = alone(lambda: reference(task.data, X, y, C, bias))
        entries: list[Entry] = []
        for name in task.contestants:
            contestant, own = player(name, task.block)
            taken = contestant.take(X, y, own)
            if isinstance(contestant, Pegasos):
                chosen = {target: {"knob": target, "seconds": 0.0} for target in task.targets}
            else:
                chosen = self._settings(task, contestant, taken, X, y, C, truth)
            entries += [
                Entry(name, contestant, taken, own, target, **chosen[target])
                for target in task.targets
            ]
        results: dict[str, dict] = {name: {"targets": {}} for name in task.contestants}
        for name in task.contestants:
            first = next(entry for entry in entries if entry.name == name)
            if first.knob is not None:
                results[name]["first fit"] = first_fit(first, y, C)
        for name, target, value in in_child(lambda tell: _side_by_side(entries, y, C, tell)):
            results[name]["targets"][f"{target:g}"] = value
        for name in task.contestants:
            contestant, own = player(name, task.block)
            if isinstance(contestant, Pegasos):
                seen = results[name]["targets"]
                judged = truth if own == task.block else None
                results[name]["faults"] = alone(
                    lambda own=own, seen=seen, judged=judged: _faults(X, y, C, own, seen, judged)
                )
            if truth is not None:
                results[name]["reference"] = truth.width
        return results

    def _settings(self, task, contestant, taken, X, y, C, truth) -> dict[float, dict]:
        """The fastest setting of a peer for each target, found once: knob None where never."""
        kept = self.store.get("setting", task, contestant.name)
        if kept is None:
            kept = {"tried": [], "ended": ITS_FINEST}

            def search(tell: Callable) -> None:
                history: list[tuple[float, float]] = []
                for knob in contestant.knobs:
                    if sum(seconds for seconds, _ in history) > SEARCH:
                        tell(None)
                        return
                    seconds, model = timed(
                        lambda knob=knob: contestant.fit(taken, y, C, task.block, knob)
                    )
                    w, b = contestant.read(model)
                    above = truth.above(primal(X, y, C, w, b, task.block))
                    tell({"knob": knob, "seconds": seconds, "above": above})
                    history.append((seconds, above))
                    if above <= min(task.targets) or at_its_end(history):
                        return

            try:
                for tried in in_child(search, patience=CAP + 5):
                    if tried is None:
                        kept["ended"] = TOO_LONG
                    else:
                        kept["tried"].append(tried)
            except CutOff:
                kept["ended"] = CUT_OFF
            self.store.put("setting", task, contestant.name, kept)
        chosen: dict[float, dict] = {}
        for target in task.targets:
            near = [tried for tried in kept["tried"] if tried["above"] <= target]
            if near:
                best = min(near, key=lambda tried: tried["seconds"])
                chosen[target] = {"knob": best["knob"], "seconds": best["seconds"]}
            else:
                longest = max((tried["seconds"] for tried in kept["tried"]), default=CAP)
                longest = {ITS_FINEST: -math.inf, CUT_OFF: CAP}.get(kept["ended"], longest)
                chosen[target] = {"knob": None, "seconds": -longest}
        return chosen

    def _called(self, task: Task, X, y, C: float) -> dict[str, dict]:
        """Each library's defaults: seconds, and how far above the optimum of its own objective."""
        players = [CONTESTANTS[name] for name in task.contestants]
        truths = {}
        for contestant in players:
            bias, strength = contestant.called(X.shape[0])
            truths[contestant.name] = alone(
                lambda bias=bias, strength=strength: reference(task.data, X, y, strength, bias)
            )

        def work(tell: Callable) -> None:
            spent: dict[str, list[float]] = {contestant.name: [] for contestant in players}
            models = {}
            CONTESTANTS["pegasos"].call(X, y)  # warm
            for turn in range(MANY):
                for contestant in players:
                    seconds = spent[contestant.name]
                    if turn < runs_of(min(seconds, default=0.0), at_least=1):
                        took, model = timed(lambda contestant=contestant: contestant.call(X, y))
                        seconds.append(took)
                        models[contestant.name] = model
            for contestant in players:
                name = contestant.name
                bias, strength = contestant.called(X.shape[0])
                w, b = contestant.read(models[name])
                above = truths[name].above(primal(X, y, strength, w, b, bias))
                value = {"bias": bias, "C": strength, "above": above}
                tell((name, {**summed_up(spent[name]), **value, "reference": truths[name].width}))

        return dict(in_child(work))


@dataclass
class Entry:
    """One cell: a contestant with the setting for one target."""

    name: str
    contestant: Contestant
    taken: object
    bias: str
    target: float
    knob: object  # None: no setting reaches the target
    seconds: float  # in the search; infinite: never comes so close; −s: takes more than s

    @property
    def setting(self) -> tuple[str, str]:
        return self.name, repr(self.knob)

    def fit(self, y, C: float) -> object:
        return self.contestant.fit(self.taken, y, C, self.bias, self.knob)


def player(name: str, block: str) -> tuple[Contestant, str]:
    """The contestant of a name, and its kind of bias in a block."""
    if block == "free" and name == "without":
        return CONTESTANTS["pegasos"], "none"
    return CONTESTANTS[name], block


def at_its_end(history: list[tuple[float, float]]) -> bool:
    """Whether three finer settings in a row have taken no longer and come no closer: a limit on
    passes that is compiled in ends them all."""
    if len(history) < 4:
        return False
    *before, a, b, c = history
    longest, closest = max(s for s, _ in before), min(above for _, above in before)
    return all(s <= 1.1 * longest and above >= closest for s, above in (a, b, c))


def runs_of(seconds: float, at_least: int = 0) -> int:
    if seconds > ONCE:
        return at_least
    if seconds > THRICE:
        return 3
    return REPEATS if seconds > OFTEN else MANY


def summed_up(seconds: list[float]) -> dict:
    return {"seconds": statistics.median(seconds), "runs": len(seconds), "all": seconds}


def first_fit(entry: Entry, y, C: float) -> float:
    """Seconds of the first fit of a process; of ours the second such process, so that compiled
    code is in its cache (``make first-fit`` measures the very first)."""
    if entry.seconds > ONCE:
        return entry.seconds
    seconds = alone(lambda: timed(lambda: entry.fit(y, C))[0])
    if isinstance(entry.contestant, Pegasos) and seconds < OUR_SECONDS:
        seconds = alone(lambda: timed(lambda: entry.fit(y, C))[0])
    return seconds


def _side_by_side(entries: list[Entry], y, C: float, tell: Callable) -> None:
    """Every setting once, then every one again, and so on; then the medians are told."""
    spent: dict[tuple, list[float]] = {}
    runs: dict[tuple, int] = {}
    fell_short: dict[tuple, float] = {}
    distinct = {entry.setting: entry for entry in entries if entry.knob is not None}
    for setting, entry in distinct.items():
        if isinstance(entry.contestant, Pegasos):
            entry.seconds, model = timed(lambda entry=entry: entry.fit(y, C))  # warm
            if not model.converged_:
                fell_short[setting] = model.certificate_.relative_gap
        runs[setting] = runs_of(entry.seconds)
        spent[setting] = [] if runs[setting] else [entry.seconds]
    for turn in range(MANY):
        for setting, entry in distinct.items():
            if turn < runs[setting]:
                spent[setting].append(timed(lambda entry=entry: entry.fit(y, C))[0])
    for entry in entries:
        value = {"seconds": entry.seconds, "runs": 0}
        if entry.knob is not None:
            value = {**summed_up(spent[entry.setting]), "knob": entry.knob}
        if entry.setting in fell_short:
            value["fell short"] = fell_short[entry.setting]
        tell((entry.name, entry.target, value))


def _faults(X, y, C, bias: str, seen: dict, truth: Interval | None) -> list[str]:
    """Each certificate of ours recomputed, from an untimed fit with the same seed."""
    ours, faults = CONTESTANTS["pegasos"], []
    for target in map(float, seen):
        model = ours.fit(X, y, C, bias, target, store_dual=True)
        wrong = fault(X, y, C, bias, model, target, truth)
        if not wrong and model.converged_:  # where time has cut it off, the bits may differ
            plain = ours.fit(X, y, C, bias, target)
            if not np.array_equal(plain.coef_, model.coef_):
                wrong = "the same seed gave other bits"
        if wrong:
            faults.append(f"at {target:g}: {wrong}")
    return faults


# -------------------------------------------------------------------------------- on paper


def machine() -> str:
    """The processor and all versions."""
    found = versions()
    cores = f"{found.pop('processor')}, {os.cpu_count()} processors, one thread is used"
    packages = ", ".join(f"{name} {number}" for name, number in found.items())
    return f"{cores}\npegasos {version('pegasos')} (with sources {stamp(True)}), {packages}"


def preamble() -> str:
    return (
        f"{machine()}\n"
        "Seconds, medians, fits of all contestants interleaved. pegasos: to a certified relative\n"
        "gap, input validation and certificate included. The others: the fastest of their own\n"
        "settings whose true objective is that close to the optimum, found and judged outside the\n"
        "clock, which starts after their input is converted. × is their time ÷ ours.\n"
        f"Runs: {REPEATS}, or {MANY} of what takes less than {OFTEN:g} s; [3] marks 3, for more\n"
        f"than {THRICE:g} s, and [1] a single one, not interleaved, for more than {ONCE:g} s.\n"
        f"∞: no setting comes so close. >: none that takes less; a run is cut off at {CAP:g} s,\n"
        f"and no finer setting is tried once those before have taken {SEARCH:g} s. gap: what ours\n"
        f"has proved in 1,000 passes or {OUR_SECONDS:g} s. First fit: of a process, its code\n"
        "compiled by an earlier one, to the coarsest gap. WRONG: a certificate that does not hold\n"
        "when it is recomputed."
    )


def table(task: Task, row: dict[str, dict]) -> str:
    """The lines of one row."""
    if task.block == "called":
        return _called_lines(task, row)
    some = next(iter(row.values()))
    head = f"{task.data} ({some['shape']}), {task.title}"
    if some.get("reference", 0.0) > WIDTH:
        head += f", optimum known to {some['reference']:.0e}"
    lines = [head]
    base = row["without" if task.block == "free" else "pegasos"]["targets"]
    for name, result in row.items():
        cells = "".join(_cell(result, base, f"{target:g}") for target in task.targets)
        first = result.get("first fit")
        lines.append(f"  {name:14}{cells}{'' if first is None else f'{first:10.3f}'}")
        lines += [f"  WRONG {wrong}" for wrong in result.get("faults", ())]
    return "\n".join(lines)


def heading(task: Task) -> str:
    if task.block == "called":
        return f"{'':31}{'seconds':>9}{'×':>8}  above its optimum"
    cells = "".join(f"{f'{target:g}':>9}{'×':>10} " for target in task.targets)
    return f"{'':16}{cells}{'first fit':>10}"


def _cell(result: dict, base: dict, target: str) -> str:
    found, mine = result["targets"][target], base[target]["seconds"]
    seconds = found["seconds"]
    if "fell short" in found:
        first, second = "gap", f"{found['fell short']:.0e}"
    elif math.isinf(seconds):
        first, second = "∞", ""
    elif seconds < 0:
        first, second = f">{-seconds:.0f}", f">{-seconds / mine:.0f}"
    else:
        first = f"{seconds:.4f}"
        second = "" if found is base[target] else f"{seconds / mine:.1f}{_runs(found)}"
    return f"{first:>9}{second:>10} "


def _runs(found: dict) -> str:
    return "" if found["runs"] >= REPEATS else f"[{found['runs']}]"


def _called_lines(task: Task, row: dict[str, dict]) -> str:
    lines = [f"{task.data} ({next(iter(row.values()))['shape']})"]
    mine = row["pegasos"]["seconds"]
    for name, found in row.items():
        bias = {"none": "no", "feature": "penalised", "free": "free"}[found["bias"]]
        times = f"{found['seconds'] / mine:.1f}{_runs(found)}"
        lines.append(
            f"  {name:14} {bias + ' intercept':>19} {found['seconds']:8.3f}{times:>9}"
            f"  {100 * found['above']:.4f} %"
        )
    return "\n".join(lines)


def run(tasks: list[Task], blocks: dict[str, str], fresh: bool, only: set[str]) -> None:
    """Measure what is missing, set by set, then print all tables, block by block."""
    store = Store(FOLDER / "results.jsonl", fresh)
    unknown = only - {task.data for task in tasks}
    if unknown:
        raise SystemExit(f"no such data: {', '.join(sorted(unknown))}")
    tasks = [task for task in tasks if not only or task.data in only]
    rows, begun = {}, time.perf_counter()
    for data in dict.fromkeys(task.data for task in tasks):
        contest = Contest(store, data)
        mine = [task for task in tasks if task.data == data]
        complete = all(store.get("row", task, name) for task in mine for name in task.contestants)
        if not complete and contest.found is None:
            print(f"{data}: not in the folder of PEGASOS_DATA, left out", flush=True)
            continue
        for task in mine:
            seconds = time.perf_counter() - begun
            print(f"\n{heading(task)}   ({task.block}, at {seconds:.0f} s)", flush=True)
            rows[task] = contest.row(task)
            print(table(task, rows[task]), flush=True)
    print("\n" + preamble())
    for block, title in blocks.items():
        some = [task for task in rows if task.block == block]
        if some:
            print(f"\n{title}\n{heading(some[0])}")
            print("\n".join(table(task, rows[task]) for task in some))
