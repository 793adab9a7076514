"""Where a set is looked for: the folder of PEGASOS_DATA, the user's cache, then the net.

What is fetched is verified. Where a checksum was published, the file must have it. Where none was,
it is trusted on first use: the rows, features and classes that were read must be those that are
known of the set, and the SHA-256 of the file is then written down beside it (``FILE.json``); from
there on the file must have that one. A file that turns out to be something else is put aside as
``FILE.wrong``. The files of PEGASOS_DATA are the user's: they must have the right shape, and are
never touched.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pegasos.data import Data, DataError
from pegasos.data.downloads import Progress, cache, download
from pegasos.data.saving import saved_file
from pegasos.datasets.reading import FETCHERS, READERS
from pegasos.datasets.registry import REGISTRY, DataSet, File

FOLDER = "PEGASOS_DATA"
_ENDINGS = ("", ".xz", ".gz", ".bz2", ".zst")


@dataclass(frozen=True)
class _Found:
    """A file, and what is still to be written down about it if it came from the net."""

    path: Path
    own: bool  # the user's, of PEGASOS_DATA
    unpinned: bool = False
    url: str | None = None


def fetch(
    name: str,
    *,
    split: Literal["train", "test"] | None = "train",
    dtype: Any = "float32",
    on_progress: Progress | None = None,
) -> Data:
    """A set by name: from the folder of PEGASOS_DATA, the user's cache, or the net.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    split : {"train", "test"} or None, default="train"
        The rows to train on, those to test on, or all of them, in this order.
    dtype : {"float32", "float64"}, default="float32"
        The type of the features.
    on_progress : callable, optional
        Called while a file is fetched, with the bytes so far and those in all (None: not known).

    Returns
    -------
    data : Data
        The targets are −1 and +1 where there are two classes.

    Raises
    ------
    DataError
        If there is no such set or split, if it cannot be had, or if it is not what it should be.

    Examples
    --------
    >>> import os, pathlib, tempfile
    >>> from pegasos.datasets import fetch
    >>> line = "1 1:0.5\\n-1 2:1\\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (pathlib.Path(folder) / "reuters2000").write_text(line * 1000)
    ...     before, os.environ["PEGASOS_DATA"] = os.environ.get("PEGASOS_DATA"), folder
    ...     data = fetch("reuters2000")
    ...     _ = os.environ.pop("PEGASOS_DATA") if before is None else os.environ.update(
    ...         PEGASOS_DATA=before)
    >>> data.X.shape, data.y[:2].tolist()
    ((2000, 9947), [1.0, -1.0])
    """
    found = describe(name)
    if split not in ("train", "test", None):
        raise DataError(f"split must be 'train', 'test' or None (all rows), not {split!r}")
    if split is not None and split not in found.rows:
        raise DataError(f"{name} has no {split} rows of its own; split its train rows")
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise DataError(f"dtype must be float32 or float64, not {dtype}")
    parts = [_part(found, part, dtype, on_progress) for part in ([split] if split else found.rows)]
    return parts[0] if len(parts) == 1 else _joined(parts)


def names() -> list[str]:
    """The names of all sets.

    Examples
    --------
    >>> from pegasos.datasets import names
    >>> names()[:3]
    ['20news', 'a9a', 'abalone']
    """
    return sorted(REGISTRY)


def describe(name: str) -> DataSet:
    """What is known of a set: what it is, its rows and features, where it comes from.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    found : DataSet
        See its attributes.

    Examples
    --------
    >>> from pegasos.datasets import describe
    >>> describe("a9a").rows, describe("a9a").features
    ({'train': 32561, 'test': 16281}, 123)
    """
    if name not in REGISTRY:
        raise DataError(f"there is no set {name!r}; there are {', '.join(names())}")
    return REGISTRY[name]


def home() -> Path:
    """The folder in the user's cache where fetched sets are kept.

    Examples
    --------
    >>> from pegasos.datasets import home
    >>> home().name
    'datasets'
    """
    return cache() / "datasets"


def folder() -> Path | None:
    """The folder that PEGASOS_DATA names, which is looked at first."""
    named = os.environ.get(FOLDER)
    if not named:
        return None
    if not Path(named).is_dir():
        raise DataError(f"{FOLDER} names {named}, which is no folder; correct or unset it")
    return Path(named)


def _part(found: DataSet, split: str, dtype: Any, on_progress: Progress | None) -> Data:
    """One split of a set, checked."""
    files = found.files.get(split, ())
    own = [_own(file) for file in files]
    if files and None not in own:
        return _checked(found, split, dtype, [_Found(path, True) for path in own if path])
    if found.unobtainable is not None:
        raise DataError(f"{found.unobtainable}; {_by_hand(files[0])}")
    if found.fetcher is not None:
        return _through_scikit_learn(found, split, dtype)
    return _checked(found, split, dtype, [_from_the_net(file, on_progress) for file in files])


def _own(file: File) -> Path | None:
    """A file of the folder of PEGASOS_DATA."""
    where = folder()
    if where is None:
        return None
    tried = [where / (name + ending) for name in file.names for ending in _ENDINGS]
    return next((path for path in tried if path.is_file()), None)


def _by_hand(file: File) -> str:
    named = f"the folder that {FOLDER} names"
    return f"put the file {file.names[0]} (plain, .xz, .gz, .bz2 or .zst) into {named}"


def _from_the_net(file: File, on_progress: Progress | None) -> _Found:
    if file.url is None:
        raise DataError(f"no public address of {file.names[0]} is known; {_by_hand(file)}")
    path = home() / file.url.rsplit("/", 1)[1]
    pin = path.with_name(path.name + ".json")
    checksum = file.checksum
    if checksum is None and pin.exists():
        checksum = _pinned(pin)
    download(file.url, path, checksum, on_progress=on_progress, instead=_by_hand(file))
    return _Found(path, False, checksum is None, file.url)


def _pinned(pin: Path) -> str:
    try:
        return f"sha256:{json.loads(pin.read_text())['sha256']}"
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{pin} holds no checksum; delete it and what lies beside it") from None


def _checked(found: DataSet, split: str, dtype: Any, files: list[_Found]) -> Data:
    """The rows in these files, if they are those of the set."""
    try:
        data = READERS[found.read](found, [file.path for file in files], dtype)
        data = _with_signs(found, _of_the_right_shape(found, split, data))
    except (DataError, ValueError, EOFError) as error:
        aside = [_put_aside(file.path) for file in files if not file.own]
        kept = f"; what was fetched is kept as {', '.join(map(str, aside))}" if aside else ""
        raise DataError(f"{files[0].path} is not {found.name}: {error}{kept}") from error
    for file in files:
        if file.unpinned:
            _pin(file)
    return replace(data, notes=(*data.notes, *(f"read from {file.path}" for file in files)))


def _of_the_right_shape(found: DataSet, split: str, data: Data) -> Data:
    known = found.rows[split], found.features
    if data.X.shape != known:
        raise DataError(f"it holds {data.X.shape[0]} × {data.X.shape[1]}, not {known[0]} × "
                        f"{known[1]}")  # fmt: skip
    assert data.y is not None
    if found.classes and (classes := np.unique(data.y).size) != found.classes:
        raise DataError(f"it has {classes} classes, not {found.classes}")
    return data


def _with_signs(found: DataSet, data: Data) -> Data:
    """−1 and +1 for two classes."""
    if found.classes != 2:
        return data
    return replace(data, y=np.where(data.y == np.max(data.y), 1.0, -1.0))  # type: ignore[arg-type]


def _put_aside(path: Path) -> Path:
    aside = path.with_name(path.name + ".wrong")
    os.replace(path, aside)
    return aside


def _pin(file: _Found) -> None:
    """Write the checksum down: from now on the file is known."""
    import hashlib

    with open(file.path, "rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    with saved_file(file.path.with_name(file.path.name + ".json"), force=True) as pin:
        pin.write(json.dumps({"url": file.url, "sha256": found}, indent=1).encode() + b"\n")


def _through_scikit_learn(found: DataSet, split: str, dtype: Any) -> Data:
    try:
        data = FETCHERS[str(found.fetcher)](found, split, dtype)
    except OSError as error:  # urllib's errors are OSErrors, a wrong checksum too
        raise DataError(
            f"{found.name} cannot be fetched by {found.source} ({error}); try again with a "
            "connection" + (f", or {_by_hand(found.files[split][0])}" if found.files else "")
        ) from error
    return replace(data, notes=(*data.notes, f"brought by {found.source}"))


def _joined(parts: list[Data]) -> Data:
    """All rows, one part after the other."""
    from scipy.sparse import vstack

    stack: Callable = np.concatenate if isinstance(parts[0].X, np.ndarray) else vstack
    X = stack([part.X for part in parts])
    return Data(
        X=X if isinstance(X, np.ndarray) else X.tocsr(),
        y=np.concatenate([part.y for part in parts]),
        notes=tuple(note for part in parts for note in part.notes),
    )
