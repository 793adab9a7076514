"""Files that a command writes: their names, and that nothing is lost or overwritten unasked."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from pegasos.cli.exits import OutputError

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
    return Path(given) if given is not None else Path(stem_of(source) + ENDINGS[format])


def check_can_write(path: Path, force: bool, folder_too: bool = False) -> None:
    """Refuse, before any work, an output that could not be written after it."""
    if path.is_dir() and not folder_too:
        raise OutputError(f"{path} is a folder: give the name of a file")
    if path.exists() and not force:
        raise OutputError(f"{path} exists: --force replaces it, or give another name")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise OutputError(f"{path} cannot be written: there is no folder {folder}; make it first")
    if not os.access(folder, os.W_OK):
        raise OutputError(f"{path} cannot be written: no permission in the folder {folder}")


def keep_model(model: Any, path: Path, format: str, force: bool) -> None:
    """Save a model; where that fails, elsewhere: hours of training are not thrown away."""
    from pegasos.models import save_model

    try:
        save_model(model, path, format=format, force=force)
    except (OSError, ValueError) as error:
        other = Path(tempfile.mkdtemp(prefix="pegasos-")) / f"{path.stem}.pegasos"
        try:
            save_model(model, other, format="pegasos")
        except (OSError, ValueError):
            other.parent.rmdir()
            raise OutputError(f"the model could not be saved: {error}") from error
        raise OutputError(f"{error}; the model is in {other} instead") from error
