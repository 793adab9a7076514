"""Long work that is killed (see faults.py), and what must hold of what is left.

Each drill can do its work, from the beginning or from wherever a kill has left it, and look at what
lies on the disk.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import warnings
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

WIDTH, PER_ROW = 5_000, 40


class Fault(AssertionError):
    """Something that a kill, or a full disk, must not do."""


def expect(holds: Any, fault: str) -> None:
    if not holds:
        raise Fault(fault)


def file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def files_of(folder: Path) -> dict[str, str]:
    """The files of a folder, each by its hash."""
    return {
        str(path.relative_to(folder)): file_hash(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def alone(folder: Path, *names: str) -> None:
    """Nothing else lies in the folder."""
    found = sorted(os.listdir(folder))
    expect(found == sorted(names), f"left behind: {set(found) - set(names)} beside {names}")


def same_bits(found: list[Any], whole: list[Any]) -> None:
    """What was resumed is what an unbroken run gives."""
    for a, b in zip(found, whole, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        expect(
            a.dtype == b.dtype and a.tobytes() == b.tobytes(),
            f"resumed, it ends elsewhere: {a} in place of {b}",
        )


def command(*words: Any, code: int = 0) -> None:
    """Run the command line in this process."""
    from pegasos.cli import main

    found = main([str(word) for word in words])
    expect(
        found == code, f"exit code {found} in place of {code}: pegasos {' '.join(map(str, words))}"
    )


class Drill:
    """Work that is killed. Its input is in ``inputs``, what it writes in ``out``."""

    name: ClassVar[str]

    def __init__(self, folder: Path, size: float):
        self.shared, self.size = folder, size
        self.inputs = folder / "in"
        self.folder = folder / self.name.replace(" ", "-")  # of its own
        self.out = self.folder / "out"

    def prepare(self) -> None:
        """Make the input, and what an unbroken run gives; ``folder`` is there."""

    def begin(self) -> None:
        """Put into ``out`` what lies there before each run."""

    def work(self) -> Any:
        """What is killed; done once more, it goes on from there."""
        raise NotImplementedError

    def check(self) -> None:
        """Look at what a kill has left, and end the work."""
        raise NotImplementedError

    def passes(self, full: int) -> int:
        """How long a training is."""
        return max(3, int(full * self.size))

    def make_rows(self) -> Path:
        """Rows as svmlight text, made once for all drills of a folder."""
        path = self.inputs / "rows.svm"
        if not path.exists():
            from pegasos.data.writing import save_svmlight
            from pegasos.datasets import text_like

            self.inputs.mkdir(exist_ok=True)
            X, y = text_like(int(60_000 * self.size), d=WIDTH, per_row=PER_ROW)
            save_svmlight(path, X, y)
        return path


# -------------------------------------------------------------------------------------- convert


class Convert(Drill):
    """Text to a store."""

    name = "convert"
    shuffle: int | None = None
    over = False

    def prepare(self) -> None:
        self.make_rows()
        self.older = self.newer = None
        if self.over:
            self._write(self.folder / "older.store", None)
            self.older = files_of(self.folder / "older.store")
        self._write(self.folder / "newer.store", self.shuffle)
        self.newer = files_of(self.folder / "newer.store")

    def begin(self) -> None:
        if self.over:
            shutil.copytree(self.folder / "older.store", self.out / "rows.store")

    def _write(self, path: Path, shuffle: int | None) -> None:
        from pegasos.data import iter_svmlight, write_store

        chunks = iter_svmlight(
            self.inputs / "rows.svm", chunk_bytes=1 << 20, zero_based=False, n_features=WIDTH
        )
        write_store(path, chunks, shuffle=shuffle, force=self.over)

    def work(self) -> None:
        self._write(self.out / "rows.store", self.shuffle)

    def check(self) -> None:
        target = self.out / "rows.store"
        if target.exists():
            self._check_whole(target)
        elif self.over:
            put_aside = [p for p in self.out.iterdir() if p.name.endswith(".old")]
            expect(put_aside and files_of(put_aside[0]) == self.older, "the older store is lost")
        if self.over or not target.exists():
            self.work()
        expect(files_of(target) == self.newer, "done again, the store is another one")
        alone(self.out, "rows.store")

    def _check_whole(self, target: Path) -> None:
        from pegasos.data import open_store, verify_store

        open_store(target)
        verify_store(target)
        expect(files_of(target) in (self.newer, self.older), "the store is neither old nor new")


class Shuffle(Convert):
    """Text to a store in random order."""

    name = "convert, shuffled"
    shuffle = 7


class Replace(Convert):
    """A store takes the place of another."""

    name = "convert over a store"
    shuffle, over = 3, True


class ConvertCommand(Convert):
    """``pegasos convert``."""

    name = "pegasos convert"

    def _write(self, path: Path, shuffle: int | None) -> None:
        command("convert", self.inputs / "rows.svm", path, "--shuffle", "--seed", "5", "--quiet")


class TextCommand(Drill):
    """``pegasos convert`` to text."""

    name = "pegasos convert to text"

    def prepare(self) -> None:
        self.make_rows()
        self._write(self.folder / "text.svm")
        self.whole = file_hash(self.folder / "text.svm")

    def _write(self, path: Path) -> None:
        command("convert", self.inputs / "rows.svm", path, "--quiet")

    def work(self) -> None:
        self._write(self.out / "text.svm")

    def check(self) -> None:
        target = self.out / "text.svm"
        if not target.exists():
            self.work()
        expect(file_hash(target) == self.whole, "the text is another one")
        alone(self.out, "text.svm")


# ---------------------------------------------------------------------------------------- train


class Solve(Drill):
    """``solve`` with a checkpoint, which is resumed."""

    name = "solve"

    def prepare(self) -> None:
        self.make_rows()
        self.whole = self.train()

    def work(self) -> None:
        self.train(self.out / "run")

    def check(self) -> None:
        same_bits(self.train(self.out / "run"), self.whole)
        alone(self.out, "run")

    def train(self, checkpoint: Path | None = None) -> list[Any]:
        from pegasos import DualAscent, Problem, solve

        resume = checkpoint if checkpoint is not None and checkpoint.exists() else None
        X, y = self._rows()
        found = solve(
            Problem(X, y, lam=1e-5), DualAscent(), tol=1e-14, max_passes=self.passes(90),
            checkpoint=checkpoint, resume=resume,
        )  # fmt: skip
        return [found.w, found.b, found.answer.beta, found.trace.passes, found.trace.dual]

    def _rows(self) -> tuple[Any, np.ndarray]:
        from pegasos.data import load_svmlight

        data = load_svmlight(self.inputs / "rows.svm")
        return data.X, data.y


class SolveStore(Solve):
    """The same on a store."""

    name = "solve on a store"

    def prepare(self) -> None:
        from pegasos.data import load_svmlight, write_store

        data = load_svmlight(self.make_rows())
        write_store(self.inputs / "rows.store", data, block_rows=data.X.shape[0] // 7, force=True)
        self.whole = self.train()

    def _rows(self) -> tuple[Any, np.ndarray]:
        from pegasos.data import open_store

        data = open_store(self.inputs / "rows.store")
        return data.X, data.y


class Fit(Drill):
    """An estimator of three classes, with a checkpoint for each."""

    name = "LinearSVC"

    def prepare(self) -> None:
        self.make_rows()
        self.whole = self._fit()

    def work(self) -> None:
        self._fit(self.out / "run")

    def check(self) -> None:
        same_bits(self._fit(self.out / "run"), self.whole)
        alone(self.out, "run.0", "run.1", "run.2")

    def _fit(self, checkpoint: Path | None = None) -> list[Any]:
        from pegasos import LinearSVC
        from pegasos.data import load_svmlight

        data = load_svmlight(self.inputs / "rows.svm")
        y = (np.arange(data.y.size) % 3 == 0) + (data.y > 0) * 2
        y[y == 3] = 2
        model = LinearSVC(
            tol=1e-14, solver="dual-ascent", max_passes=self.passes(12), fit_intercept=False,
            checkpoint=checkpoint, resume=checkpoint is not None,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(data.X, y)
        return [model.coef_, model.intercept_]


class TrainCommand(Drill):
    """``pegasos train --checkpoint --resume``."""

    name = "pegasos train"

    def prepare(self) -> None:
        self.make_rows()
        self._train("whole", self.folder)
        self.whole = self._model(self.folder / "whole")

    def work(self) -> None:
        self._train("model", self.out, "--checkpoint", self.out / "run", "--resume", "--force")

    def check(self) -> None:
        from pegasos import load_model

        if (self.out / "model").exists():
            load_model(self.out / "model")
        self.work()
        same_bits(self._model(self.out / "model"), self.whole)
        alone(self.out, "model", "run")

    def _train(self, name: str, folder: Path, *more: Any) -> None:
        words = "--quiet --lam 1e-5 --bias none --solver dual-ascent --tol 1e-14 --max-passes"
        command(
            "train", self.inputs / "rows.svm", "-o", folder / name,
            *words.split(), self.passes(60), *more, code=1,
        )  # fmt: skip

    def _model(self, path: Path) -> list[Any]:
        from pegasos import load_model

        model = load_model(path)
        return [model.coef_, model.intercept_]


# ----------------------------------------------------------------------------------------- save


class Save(Drill):
    """A model is saved over another, again and again."""

    name = "save_model"

    def prepare(self) -> None:
        self.inputs.mkdir(exist_ok=True)

    def work(self) -> None:
        from pegasos import save_model

        models = self.models()
        for k in range(int(120 * self.size) + 2):
            save_model(models[k % 2], self.out / "model", force=True)

    def check(self) -> None:
        from pegasos import load_model, save_model

        models = self.models()
        target = self.out / "model"
        if target.exists():
            found = load_model(target).coef_
            expect(any(np.array_equal(found, m.coef_) for m in models), "neither old nor new")
        save_model(models[0], target, force=True)
        expect(np.array_equal(load_model(target).coef_, models[0].coef_), "not what was saved")
        alone(self.out, "model")

    @staticmethod
    def models() -> list[Any]:
        from pegasos.models.fitted import unproved

        return [
            unproved(
                np.random.default_rng(seed).standard_normal((1, 100_000)), np.zeros(1), "nothing",
                np.array([-1, 1]),
            )
            for seed in (1, 2)
        ]  # fmt: skip


DRILLS: list[type[Drill]] = [
    Convert, Shuffle, Replace, ConvertCommand, TextCommand, Solve, SolveStore, Fit, TrainCommand,
    Save,
]  # fmt: skip
