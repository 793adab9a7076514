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
SKIPPED = "skipped"


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
    with (disk / "ballast").open("ab") as file:
        file.write(bytes(max(about.f_bavail * about.f_frsize - left, 0)))


class FullDisk:
    """What is tried on such a disk. Each of ``CASES`` must leave it as it was."""

    CASES = (
        "write_store", "write_store_shuffled", "save_svmlight", "save_model", "save_over_another",
        "first_checkpoint", "later_checkpoint", "convert_command", "convert_to_text_command",
        "predict_command", "train_command", "train_checkpoint_command",
    )  # fmt: skip

    def __init__(self, disk: Path, size: float):
        from pegasos.data import load_svmlight

        self.disk, self.folder = disk, disk.parent
        self.solve = Solve(self.folder, size)
        self.rows = self.solve.make_rows()
        self.data = load_svmlight(self.rows)
        self.model = Save.models()[0]
        self.old = disk / "old.model"
        self.old.write_bytes(b"an older file")
        fill(disk)
        self.keeps = files_of(disk)

    def attempt(self, case: str) -> str:
        """The fault, or nothing."""
        try:
            getattr(self, case)()
            expect(files_of(self.disk) == self.keeps, f"the disk holds {os.listdir(self.disk)}")
        except Exception as error:
            for path in set(self.disk.iterdir()) - {self.disk / "ballast", self.old}:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            return f"{type(error).__name__}: {error}"
        return ""

    def write_store(self, shuffle: int | None = None) -> None:
        from pegasos.data import write_store

        refuses(lambda: write_store(self.disk / "s", self.data, shuffle=shuffle))

    def write_store_shuffled(self) -> None:
        self.write_store(shuffle=1)

    def save_svmlight(self) -> None:
        from pegasos.data.writing import save_svmlight

        refuses(lambda: save_svmlight(self.disk / "s", self.data.X, self.data.y))

    def save_model(self) -> None:
        from pegasos import save_model

        refuses(lambda: save_model(self.model, self.disk / "new"))

    def save_over_another(self) -> None:
        from pegasos import save_model

        refuses(lambda: save_model(self.model, self.old, force=True))

    def first_checkpoint(self) -> None:
        refuses(lambda: self.solve.train(self.disk / "run"))

    def later_checkpoint(self) -> None:
        """The disk fills up during a training: it goes on, and the last checkpoint is whole."""
        from pegasos import DualAscent, Problem, solve

        problem = Problem(self.data.X[:2000], self.data.y[:2000], lam=1e-5)
        ballast, run = self.disk / "ballast", self.disk / "run"
        size, told = ballast.stat().st_size, []
        os.truncate(ballast, size // 2)

        def event(happened: Any) -> None:
            if run.exists():
                fill(self.disk, 0)
            if happened.kind == "note":
                told.append(happened.text)

        options: dict[str, Any] = {"tol": 1e-14, "max_passes": 30}
        whole = solve(problem, DualAscent(), **options)
        found = solve(problem, DualAscent(), checkpoint=run, on_event=event, **options)
        expect(any("no space left" in text for text in told), f"not told: {told}")
        resumed = solve(problem, DualAscent(), resume=run, **options)
        same_bits([found.w, resumed.w], [whole.w, whole.w])
        alone(self.disk, "ballast", "old.model", "run")
        run.unlink()
        ballast.write_bytes(bytes(size))

    def convert_command(self) -> None:
        refused("convert", self.rows, self.disk / "s", "--quiet")

    def convert_to_text_command(self) -> None:
        refused("convert", self.rows, self.disk / "s.svm", "--quiet")

    def predict_command(self) -> None:
        trained = self.folder / "trained"
        command("train", self.rows, "-o", trained, "--tol", "0.1", "--quiet", "--force")
        refused("predict", trained, self.rows, "--scores", "-o", self.disk / "s", "--quiet")

    def train_command(self) -> None:
        """Hours of training are not lost: the model is put where there is room; that is said."""
        from pegasos import load_model

        wide = self.folder / "wide.svm"
        wide.write_text(self.rows.read_text().replace("\n", " 20000:1\n", 1))
        before = set(self.folder.rglob("*.pegasos"))
        refused("train", wide, "-o", self.disk / "m", "--tol", "0.1", "--quiet", tmp=self.folder)
        elsewhere = set(self.folder.rglob("*.pegasos")) - before
        expect(len(elsewhere) == 1, "the model is nowhere")
        load_model(elsewhere.pop())

    def train_checkpoint_command(self) -> None:
        run = self.disk / "run"
        refused("train", self.rows, "-o", self.folder / "m", "--checkpoint", run, "--quiet")


def full_disk(folder: Path, size: float) -> Iterator[tuple[str, str]]:
    """Each kind of output onto a full disk: what was tried, and how it went."""
    with small_disk(folder / "disk") as disk:
        if disk is None:
            yield "mounting a small disk is not allowed here: run this as root", SKIPPED
            return
        full = FullDisk(disk, size)
        for case in full.CASES:
            yield case.replace("_", " "), full.attempt(case)


def refused(*words: Any, tmp: Path | None = None) -> None:
    """The command ends with one sentence, and with the exit code for what cannot be written."""
    environment = os.environ if tmp is None else {**os.environ, "TMPDIR": str(tmp)}
    done = subprocess.run(
        [sys.executable, "-m", "pegasos", *map(str, words)],
        capture_output=True, text=True, env=environment,
    )  # fmt: skip
    expect(done.returncode == 3, f"exit code {done.returncode}: {done.stderr[-300:]}")
    expect(done.stderr.count("\n") == 1, f"not one sentence: {done.stderr[-500:]!r}")
    expect("no space left" in done.stderr, f"does not say why: {done.stderr!r}")
    expect(done.stdout == "", f"says something else: {done.stdout[-300:]!r}")


def refuses(what: Callable[[], Any]) -> None:
    """A function raises one sentence."""
    from pegasos.data import DataError

    try:
        what()
    except DataError as error:
        expect("no space left" in str(error), f"does not say why: {error}")
        expect(len(str(error).splitlines()) == 1, f"not one sentence: {error}")
    else:
        raise Fault("nothing was refused")
