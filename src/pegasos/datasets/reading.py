"""From the files of a set to rows and targets; and the sets that scikit-learn brings itself."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pegasos.data import Data, DataError, load_svmlight
from pegasos.data.kinds import kind_of_file
from pegasos.data.opened import open_binary
from pegasos.datasets.registry import DataSet

# KDD Cup 2004, particle physics: an id, the class, 78 measures. Its organisers name the columns
# 22–24 and 46–48 (999: not available) and 31 and 57 (9999), counted from 1 with the id.
_ID, _CLASS = 0, 1
_MISSING = (21, 22, 23, 45, 46, 47, 30, 56)


def svmlight(found: DataSet, paths: list[Path], dtype: Any) -> Data:
    """One file of svmlight text."""
    return load_svmlight(paths[0], dtype=dtype, n_features=found.features)


def numbers(found: DataSet, paths: list[Path], dtype: Any) -> Data:
    """A table of numbers: svmlight text, or commas with the target first; dense."""
    if kind_of_file(paths[0]) == "svmlight":
        data = svmlight(found, paths, dtype)
        return Data(X=data.X.toarray(), y=data.y)
    with open_binary(paths[0]) as file:
        table = np.loadtxt(file, delimiter=",")
    return Data(X=table[:, 1:].astype(dtype), y=table[:, 0].copy())


def images(found: DataSet, paths: list[Path], dtype: Any) -> Data:
    """Pictures and their classes as MNIST stores them (idx): grey from 0 to 1."""
    pixels, classes = _idx(paths[0]), _idx(paths[1])
    X = pixels.reshape(pixels.shape[0], -1).astype(dtype)
    X /= 255
    return Data(X=X, y=classes.astype(np.float64))


def _idx(path: Path) -> np.ndarray:
    """An array of bytes: 0, 0, the type (8: bytes), how many axes, their lengths, the bytes."""
    with open_binary(path) as file:
        head = file.read(4)
        if len(head) < 4 or head[:3] != b"\0\0\x08":
            raise DataError(f"{path} is no idx file of bytes")
        shape = np.frombuffer(file.read(4 * head[3]), ">i4")
        content = file.read()
    if shape.size != head[3] or shape.prod(dtype=np.int64) != len(content):
        raise DataError(f"{path} ends too early or too late for its {tuple(shape.tolist())} bytes")
    return np.frombuffer(content, np.uint8).reshape(shape)


def physics(found: DataSet, paths: list[Path], dtype: Any) -> Data:
    """The particles of KDD Cup 2004: the file itself, or the archive that it came in."""
    with open_binary(paths[0]) as file:
        content = file.read()
    if content[257:262] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            names = [n for n in archive.getnames() if n.split("/")[-1] == "phy_train.dat"]
            member = archive.extractfile(names[0]) if names else None
            if member is None:
                raise DataError(f"{paths[0]} has no phy_train.dat in it")
            content = member.read()
    table = np.loadtxt(io.BytesIO(content))
    X = np.delete(table, [_ID, _CLASS, *_MISSING], axis=1)
    return Data(X=X.astype(dtype), y=table[:, _CLASS].copy())


def cover_types(found: DataSet, paths: list[Path], dtype: Any) -> Data:
    """The table of forest cover, its last column the class from 1 to 7."""
    with open_binary(paths[0]) as file:
        table = np.lib.format.read_array(file, allow_pickle=False)
    return Data(X=table[:, :-1].astype(dtype), y=_is_first(table[:, -1]))


def _is_first(classes: np.ndarray) -> np.ndarray:
    return np.where(classes == 1, 1.0, -1.0)


# Through scikit-learn, which verifies what it brings and keeps it in its own folder.


def rcv1(found: DataSet, split: str, dtype: Any) -> Data:
    """RCV1, one topic against the rest; the papers' training rows are its authors' test rows."""
    from sklearn.datasets import fetch_rcv1

    theirs = fetch_rcv1(subset={"train": "test", "test": "train"}[split])
    topic = found.name.split("/")[1].upper()
    column = list(theirs.target_names).index(topic)
    y = np.where(theirs.target[:, [column]].toarray().ravel() == 1, 1.0, -1.0)
    return Data(X=_array(theirs.data, dtype), y=y)


def cover_types_online(found: DataSet, split: str, dtype: Any) -> Data:
    """Forest cover."""
    from sklearn.datasets import fetch_covtype

    theirs = fetch_covtype()
    return Data(X=theirs.data.astype(dtype), y=_is_first(theirs.target))


def newsgroups(found: DataSet, split: str, dtype: Any) -> Data:
    """Twenty newsgroups."""
    from sklearn.datasets import fetch_20newsgroups_vectorized

    theirs = fetch_20newsgroups_vectorized(subset=split)
    return Data(X=_array(theirs.data, dtype), y=theirs.target.astype(np.float64))


def _array(X: Any, dtype: Any) -> Any:
    from scipy.sparse import csr_array

    return csr_array(X, dtype=dtype)


READERS: dict[str, Callable[[DataSet, list[Path], Any], Data]] = {
    f.__name__: f for f in (svmlight, numbers, images, physics, cover_types)
}
FETCHERS: dict[str, Callable[[DataSet, str, Any], Data]] = {
    f.__name__: f for f in (rcv1, cover_types_online, newsgroups)
}
