"""Files that a command writes: their names, and that nothing is lost or overwritten unasked."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pegasos.cli.exits import OutputError, Usage
from pegasos.cli.inputs import file_named

PACKED = (".gz", ".bz2", ".xz", ".zst")
KNOWN = (".svm", ".svmlight", ".libsvm", ".txt", ".dat", ".csv", ".tsv", ".parquet", ".arrow",
         ".feather", ".ipc", ".store")  # fmt: skip
ENDINGS = {"pegasos": ".pegasos", "liblinear": ".model", "svm-light": ".model", "onnx": ".onnx"}


def stem_of(source: str) -> str:
    """The name of data without folders, compression and the ending of its format."""
    name = source.removeprefix("dataset:").rstrip("/").split("?")[0]
    name = name.replace("\\", "/").rpartition("/")[2] or "data"
    for endings in (PACKED, KNOWN):
        for ending in endings:
            if name.lower().endswith(ending) and len(name) > len(ending):
                name = name[: -len(ending)]
                break
    return name


def model_path(source: str, given: str | None, format: str) -> Path:
    """Where the model goes: where it was said, or beside nothing else, in the current folder."""
    if given == "":
        raise Usage(EMPTY.format("--model"))
    return Path(given) if given is not None else Path(stem_of(source) + ENDINGS[format])


EMPTY = "the name that {} gives is empty: name a file"
CHECKPOINT = "--checkpoint"  # the one output that may be several files


def refuse_clash(
    outputs: Mapping[str, str | Path | None], inputs: Mapping[str, str | None]
) -> None:
    """Refuse to write over what is read, into a store, or two things under one name.

    Both come by what the help calls them. --force excuses none of it: it means what is there by
    chance, and not what the command itself needs.
    """
    for name, path in outputs.items():
        if path == "":
            raise Usage(EMPTY.format(name))
    written = {name: Path(path) for name, path in outputs.items() if path is not None}
    read = {name: file for name, source in inputs.items() if (file := file_named(source))}
    for name, path in written.items():
        store = _store_around(path)
        if store is not None:
            raise Usage(f"{name} would put {path} into the store {store}: give another folder")
        for source, file in read.items():
            lost = _written_at(name, path, Path(file))
            if lost is not None:
                raise Usage(f"{name} would overwrite {lost}, which is {source}: give another name")
    for (one, path), (other, its) in itertools.permutations(written.items(), 2):
        both = _written_at(one, path, its)
        if both is not None:
            raise Usage(f"{one} and {other} would both write {both}: give two names")


def _written_at(option: str, path: Path, place: Path) -> Path | None:
    """The file of an output that would come to lie at a place; None if none would."""
    files = [path]
    if option == CHECKPOINT:
        files = checkpoint_files(path)
        if _numbered(path).fullmatch(place.name):
            files.append(path.with_name(place.name))
    return next((file for file in files if _same(file, place)), None)


def _same(one: Path, other: Path) -> bool:
    """Whether two names mean the same file, or would."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    with contextlib.suppress(OSError):
        return os.path.samefile(one, other)
    return False


def _store_around(path: Path) -> Path | None:
    """The store in whose folder a file would lie."""
    from pegasos.data import is_store

    return next(filter(is_store, Path(os.path.realpath(path)).parents), None)


def checkpoint_files(path: Path) -> list[Path]:
    """FILE, and those of FILE.0, FILE.1, … that are there: one for each of several problems."""
    numbered, names = _numbered(path), []
    with contextlib.suppress(OSError):  # what is wrong with the folder is said elsewhere
        names = sorted(name for name in os.listdir(path.parent) if numbered.fullmatch(name))
    return [path, *(path.with_name(name) for name in names)]


def _numbered(path: Path) -> re.Pattern[str]:
    return re.compile(re.escape(path.name) + r"\.[0-9]+")


def check_checkpoint(checkpoint: str | None, resume: bool, force: bool) -> None:
    """An earlier run is neither lost nor gone on with unasked."""
    if checkpoint is None:
        return
    there = [file for file in checkpoint_files(Path(checkpoint)) if file.exists()]
    if there and not (resume or force):
        raise OutputError(f"{there[0]} exists: --resume goes on with that run, --force begins anew")
    check_can_write(Path(checkpoint), force=True)


def check_can_write(path: Path, force: bool, folder_too: bool = False) -> None:
    """Refuse, before any work, an output that could not be written after it."""
    if path.is_dir() and not folder_too:
        raise OutputError(f"{path} is a folder: give the name of a file")
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OutputError(f"{path} is not a regular file: give another name")
    if path.exists() and not force:
        raise OutputError(f"{path} exists: --force replaces it, or give another name")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise OutputError(f"{path} cannot be written: there is no folder {folder}; make it first")
    if not os.access(folder, os.W_OK):
        raise OutputError(f"{path} cannot be written: no permission in the folder {folder}")


def keep_model(
    model: Any, path: Path, format: str, force: bool, index_base: int | None = None
) -> None:
    """Save a model; where that fails, elsewhere: hours of training are not thrown away."""
    from pegasos.models import save_model

    base: Any = {} if format != "pegasos" else {"index_base": index_base}
    try:
        save_model(model, path, format=format, force=force, **base)
    except (OSError, ValueError) as error:
        other = Path(tempfile.mkdtemp(prefix="pegasos-")) / f"{path.stem}.pegasos"
        try:
            save_model(model, other, format="pegasos", **base)
        except (OSError, ValueError):
            other.parent.rmdir()
            raise OutputError(f"the model could not be saved: {error}") from error
        raise OutputError(f"{error}; the model is in {other} instead") from error
