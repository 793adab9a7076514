"""A disk that is nearly full (see faults.py): one sentence, and nothing left behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from drills import Fault, Save, Solve, alone, command, expect, files_of, same_bits

ROOM, LEFT = 4 << 20, 48 << 10  # bytes of the small disk, and those that are left on it


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path | None]:
    """A disk of four megabytes that is nearly full; None if mounting is not allowed."""
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(folder)]
    try:
        allowed = subprocess.run(mount, capture_output=True).returncode == 0
    except FileNotFoundError:
        allowed = False
    if not allowed:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(disk: Path, left: int = LEFT) -> None:
    """Leave so many bytes."""
    about = os.statvfs(disk)
    size = about.f_bavail * about.f_frsize - left
    (disk / "ballast").write_bytes(bytes(max(size, 0)))


def refused(disk: Path, words: list[Any], keeps: dict[str, str]) -> None:
    """The command ends with one sentence and an exit code, and the disk is as it was."""
    environment = {**os.environ, "TMPDIR": str(disk.parent)}
    done = subprocess.run(
        [sys.executable, "-m", "pegasos", *map(str, words)],
        capture_output=True, text=True, env=environment,
    )  # fmt: skip
    expect(done.returncode == 3, f"exit code {done.returncode}: {done.stderr[-300:]}")
    expect(done.stderr.count("\n") == 1, f"not one sentence: {done.stderr[-500:]!r}")
    expect("no space left" in done.stderr, f"does not say why: {done.stderr!r}")
    expect(done.stdout == "", f"says something else: {done.stdout[-300:]!r}")
    expect(files_of(disk) == keeps, f"the disk holds {os.listdir(disk)}")


def refuses(disk: Path, what: Callable[[], Any], keeps: dict[str, str]) -> None:
    """A function raises one sentence, and the disk is as it was."""
    from pegasos.data import DataError

    try:
        what()
    except DataError as error:
        expect("no space left" in str(error), f"does not say why: {error}")
        expect(len(str(error).splitlines()) == 1, f"not one sentence: {error}")
    else:
        raise Fault("nothing was refused")
    expect(files_of(disk) == keeps, f"the disk holds {os.listdir(disk)}")


def full_disk(folder: Path, size: float) -> list[tuple[str, str]]:
    """Each kind of output onto a full disk: what was tried, and the fault or nothing."""
    from pegasos import load_model, save_model
    from pegasos.data import load_svmlight, write_store
    from pegasos.data.writing import save_svmlight

    drill = Solve(folder, size)
    drill.folder.mkdir()
    rows, tried = drill.make_rows(), []
    data = load_svmlight(rows)
    small, large = Save._models()[0], folder / "large.model"
    save_model(small, large)
    with small_disk(folder / "disk") as disk:
        if disk is None:
            return [("mounting a small disk is not allowed here: run this as root", "skipped")]
        fill(disk)
        old = disk / "old.model"
        old.write_bytes(b"an older file")
        keeps = files_of(disk)
        command("train", rows, "-o", folder / "rows.model", "--tol", "0.1", "--quiet", "--force")
        trained = folder / "rows.model"
        cases: dict[str, Callable[[], Any]] = {
            "write_store": lambda: refuses(disk, lambda: write_store(disk / "s", data), keeps),
            "write_store, shuffled": lambda: refuses(
                disk, lambda: write_store(disk / "s", data, shuffle=1), keeps
            ),
            "save_svmlight": lambda: refuses(
                disk, lambda: save_svmlight(disk / "s", data.X, data.y), keeps
            ),
            "save_model": lambda: refuses(disk, lambda: save_model(small, disk / "new"), keeps),
            "save_model over another": lambda: refuses(
                disk, lambda: save_model(small, old, force=True), keeps
            ),
            "checkpoint": lambda: refuses(disk, lambda: drill._train(disk / "run"), keeps),
            "checkpoint, later": lambda: _full_later(drill, disk),
            "pegasos convert": lambda: refused(
                disk, ["convert", rows, disk / "s", "--quiet"], keeps
            ),
            "pegasos convert to text": lambda: refused(
                disk, ["convert", rows, disk / "s.svm", "--quiet"], keeps
            ),
            "pegasos predict": lambda: refused(
                disk, ["predict", trained, rows, "--scores", "-o", disk / "s", "--quiet"], keeps
            ),
            "pegasos train": lambda: _model_elsewhere(disk, rows, keeps, load_model),
            "pegasos train --checkpoint": lambda: refused(
                disk, ["train", rows, "-o", folder / "m", "--checkpoint", disk / "r", "--quiet"],
                keeps,
            ),
        }  # fmt: skip
        for name, case in cases.items():
            try:
                case()
                tried.append((name, ""))
            except Exception as error:
                tried.append((name, f"{type(error).__name__}: {error}"))
                for path in set(disk.iterdir()) - {disk / "ballast", old}:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
    return tried


def _full_later(drill: Solve, disk: Path) -> None:
    """The disk fills up during a training: it goes on, and the last checkpoint is whole."""
    from pegasos import DualAscent, Problem, solve
    from pegasos.data import load_svmlight

    data = load_svmlight(drill.inputs / "rows.svm")
    problem = Problem(data.X[:2000], data.y[:2000], lam=1e-5)
    ballast, run = disk / "ballast", disk / "run"
    kept = ballast.read_bytes()
    ballast.write_bytes(kept[: len(kept) // 2])
    told: list[str] = []

    def event(happened: Any) -> None:
        if run.exists() and ballast.stat().st_size < len(kept):
            fill(disk, 0)
        if happened.kind == "note":
            told.append(happened.text)

    options = {"tol": 1e-14, "max_passes": 30}
    try:
        whole = solve(problem, DualAscent(), **options)
        found = solve(problem, DualAscent(), checkpoint=run, on_event=event, **options)
        same_bits([found.w], [whole.w])
        expect(any("no space left" in text for text in told), f"not told: {told}")
        resumed = solve(problem, DualAscent(), resume=run, **options)
        same_bits([resumed.w], [whole.w])
        alone(disk, "ballast", "old.model", "run")
    finally:
        run.unlink(missing_ok=True)
        ballast.write_bytes(kept)


def _model_elsewhere(disk: Path, rows: Path, keeps: dict[str, str], load_model: Any) -> None:
    """Hours of training are not lost: the model is put where there is room, and that is said."""
    wide = disk.parent / "wide.svm"
    wide.write_text(rows.read_text().replace("\n", " 20000:1\n", 1))
    before = set(disk.parent.glob("*.pegasos"))
    refused(disk, ["train", wide, "-o", disk / "m", "--tol", "0.1", "--quiet"], keeps)
    (elsewhere,) = set(disk.parent.glob("*.pegasos")) - before
    load_model(elsewhere)
