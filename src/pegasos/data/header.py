"""The header of a store: written as JSON, read with distrust.

Whatever stands in a header that somebody else wrote, reading it ends with a ``Header`` whose sizes
are those of the files, or with one sentence; nothing is mapped or allocated before that.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import reprlib
import stat
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pegasos.data.examples import DataError
from pegasos.data.pieces import LONGEST_WORD, MOST_CLASSES
from pegasos.rows.intake import AS_STORED, MOST_ROWS

FORMAT = "pegasos-store"
VERSION = 1
NAME = "header.json"
MOST_BYTES = 64 << 20
DAMAGED = "the store is damaged: write it again"

VALUES = tuple(dtype.newbyteorder("<").str for dtype in AS_STORED)
INDICES = ("<i4", "<i8")
WORDS, NUMBERS = "<i4", "<f8"  # targets: codes of the classes, or the numbers themselves


@dataclass(frozen=True)
class StoredArray:
    """One file: an array in C order, little-endian, and nothing else."""

    file: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    crc32: int


@dataclass(frozen=True)
class Header:
    """What a store says of itself; the format is described in ``pegasos.data.store``."""

    rows: int
    features: int
    kind: str
    nnz: int
    block_rows: int
    shuffled: int | None
    classes: list[str] | list[float] | None
    class_counts: list[int] | None
    feature_names: list[str] | None
    notes: list[str]
    arrays: dict[str, StoredArray]
    made_with: str

    def text(self) -> bytes:
        """The file's content; DataError if it is larger than what would be read again."""
        first = {"format": FORMAT, "version": VERSION, "byte_order": "little", "index_base": 0}
        text = json.dumps(first | asdict(self), indent=1, allow_nan=False).encode()
        if len(text) > MOST_BYTES:
            raise DataError(
                "the names of the features and classes take more than "
                f"{MOST_BYTES >> 20} MB; leave the names out"
            )
        return text


def read_header(path: str | os.PathLike) -> Header:
    """The header of the store at this path, checked against the sizes of its files."""
    found = _json(Path(path))
    checked = _Checked(Path(path) / NAME, found)
    if found.get("format") != FORMAT:
        raise checked.wrong("format", f'"{FORMAT}"')
    if found.get("version") != VERSION or isinstance(found["version"], bool):
        raise DataError(
            f"{path} is a store of format version {reprlib.repr(found.get('version'))}, and this "
            f"pegasos reads version {VERSION}: install the pegasos that wrote it "
            f"({reprlib.repr(found.get('made_with'))}), or write the store again"
        )
    for name, expected in (("byte_order", "little"), ("index_base", 0)):
        if found.get(name) != expected or isinstance(found[name], bool):
            raise checked.wrong(name, json.dumps(expected))
    return _header(Path(path), checked)


def is_store(path: str | os.PathLike) -> bool:
    """Whether the path is a folder that says it is a store, of whatever version.

    Parameters
    ----------
    path : path
        Anything.

    Returns
    -------
    bool

    Examples
    --------
    >>> from pegasos.data import is_store
    >>> is_store("no such folder")
    False
    """
    try:
        return _json(Path(path)).get("format") == FORMAT
    except (DataError, OSError, ValueError):
        return False


def _json(path: Path) -> dict[str, Any]:
    """The object in the header file."""
    file = path / NAME
    try:
        if not path.is_dir():
            missing = "it is a file" if path.exists() else "there is nothing of this name"
            raise DataError(f"{path} is not a store: {missing}; write_store makes one")
        about = file.stat()
        if not stat.S_ISREG(about.st_mode) or about.st_size > MOST_BYTES:
            raise DataError(
                f"{file} is not the header of a store: "
                f"a regular file of at most {MOST_BYTES >> 20} MB is expected"
            )
        with open(file, "rb") as opened:
            found = json.loads(opened.read(about.st_size).decode())
    except FileNotFoundError:
        raise DataError(f"{path} is not a store: it has no {NAME}") from None
    except json.JSONDecodeError as error:
        raise DataError(
            f"{file}:{error.lineno}:{error.colno}: {error.msg} (in JSON); {DAMAGED}"
        ) from None
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}") from None
    except DataError:
        raise
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file} is not JSON in UTF-8 ({error}); {DAMAGED}") from None
    if not isinstance(found, dict):
        raise DataError(
            f"{file}:1:1: a JSON object is expected, not {reprlib.repr(found)}; {DAMAGED}"
        )
    return found


class _Checked:
    """Fields of a JSON object, each asked for with what it must be."""

    def __init__(self, file: Path, found: dict[str, Any], inside: str = ""):
        self.file, self.found, self.inside = file, found, inside

    def wrong(self, name: str, expected: str) -> DataError:
        said = reprlib.repr(self.found[name]) if name in self.found else "nothing"
        return DataError(
            f"{self.file}: {self.inside}{name} says {said} where {expected} is expected; "
            "the store is damaged: write it again"
        )

    def whole(self, name: str, low: int, high: int) -> int:
        value = self.found.get(name)
        if not _is_whole(value, low, high):
            raise self.wrong(name, f"a whole number from {low} to {high}")
        return value  # type: ignore[return-value]

    def one_of(self, name: str, choices: tuple[str, ...]) -> str:
        value = self.found.get(name)
        if not isinstance(value, str) or value not in choices:
            raise self.wrong(name, " or ".join(choices))
        return value

    def list_of(self, name: str, good: Callable[[Any], bool], expected: str) -> list[Any]:
        value = self.found.get(name)
        if not isinstance(value, list) or not all(map(good, value)):
            raise self.wrong(name, f"a list of {expected}")
        return value

    def absent(self, name: str) -> bool:
        """Whether the field is there and says null."""
        if name not in self.found:
            raise self.wrong(name, "a value or null")
        return self.found[name] is None


def _is_whole(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _header(path: Path, checked: _Checked) -> Header:
    rows = checked.whole("rows", 1, MOST_ROWS)
    features = checked.whole("features", 1, 2**62)
    kind = checked.one_of("kind", ("csr", "dense"))
    nnz = checked.whole("nnz", 0, 2**62)
    if kind == "dense" and nnz != rows * features:
        raise checked.wrong("nnz", f"rows × features = {rows * features}")
    shapes: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
        "values": ((nnz,) if kind == "csr" else (rows, features), VALUES)
    }
    if kind == "csr":
        shapes |= {"indices": ((nnz,), INDICES), "pointers": ((rows + 1,), ("<i8",))}
    needed = tuple(shapes)
    shapes |= {
        "targets": ((rows,), (NUMBERS, WORDS)),
        "weights": ((rows,), (NUMBERS,)),
        "groups": ((rows,), ("<i8",)),
    }
    arrays = _arrays(path, checked, needed, shapes)
    if kind == "csr" and arrays["indices"].dtype == "<i4" and features > 2**31:
        raise checked.wrong("features", f"at most {2**31}, as the indices have 32 bits,")
    classes, counts = _classes(checked, arrays.get("targets"), rows)
    names = None
    if not checked.absent("feature_names"):
        names = checked.list_of("feature_names", _is_text, "strings")
        if len(names) != features:
            raise checked.wrong("feature_names", f"a list of {features} strings")
    return Header(
        rows=rows,
        features=features,
        kind=kind,
        nnz=nnz,
        block_rows=checked.whole("block_rows", 1, rows),
        shuffled=None if checked.absent("shuffled") else checked.whole("shuffled", 0, 2**128),
        classes=classes,
        class_counts=counts,
        feature_names=names,
        notes=checked.list_of("notes", _is_text, "strings"),
        arrays=arrays,
        made_with=str(checked.found.get("made_with")),
    )


def _arrays(
    path: Path,
    checked: _Checked,
    needed: tuple[str, ...],
    shapes: dict[str, tuple[tuple[int, ...], tuple[str, ...]]],
) -> dict[str, StoredArray]:
    said = checked.found.get("arrays")
    if not isinstance(said, dict) or not all(isinstance(one, dict) for one in said.values()):
        raise checked.wrong("arrays", "an object of objects")
    for name in needed:
        if name not in said:
            raise checked.wrong("arrays", f"an object with {', '.join(needed)}")
    if not set(said) <= set(shapes):
        raise checked.wrong("arrays", f"nothing but {', '.join(shapes)}")
    return {
        name: _array(path, _Checked(checked.file, one, f"arrays.{name}."), *shapes[name])
        for name, one in said.items()
    }


def _array(
    path: Path, checked: _Checked, shape: tuple[int, ...], dtypes: tuple[str, ...]
) -> StoredArray:
    file = checked.found.get("file")
    if not isinstance(file, str) or not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}", file):
        raise checked.wrong("file", "the plain name of a file in the same folder")
    dtype = checked.one_of("dtype", dtypes)
    said = checked.list_of("shape", lambda n: _is_whole(n, 0, 2**62), "sizes")
    if tuple(said) != shape:
        raise checked.wrong("shape", str(list(shape)))
    size = math.prod(shape) * np.dtype(dtype).itemsize
    checked.whole("bytes", size, size)
    _check_size(path / file, size)
    return StoredArray(file, dtype, shape, size, checked.whole("crc32", 0, 2**32 - 1))


def _check_size(file: Path, size: int) -> None:
    try:
        about = file.stat()
    except OSError as error:
        raise DataError(f"{file} is missing from the store ({error.strerror})") from None
    if not stat.S_ISREG(about.st_mode):
        raise DataError(f"{file} is not a regular file; the store is damaged: write it again")
    if about.st_size != size:
        raise DataError(
            f"{file} has {about.st_size} bytes where the header says {size}; "
            "the store is damaged: write it again"
        )


def _classes(
    checked: _Checked, targets: StoredArray | None, rows: int
) -> tuple[list[Any] | None, list[int] | None]:
    """The different labels and their counts, where the targets have few; of words, always."""
    words = targets is not None and targets.dtype == WORDS
    if checked.absent("classes") and not words:
        if not checked.absent("class_counts"):
            raise checked.wrong("class_counts", "null, as for classes,")
        return None, None
    if targets is None:
        raise checked.wrong("classes", "null, as there are no targets,")
    good, expected = (
        (_is_word, f"words of at most {LONGEST_WORD} characters")
        if words
        else (_is_finite, "finite numbers")
    )
    classes = checked.list_of("classes", good, expected)
    ascend = all(a < b for a, b in itertools.pairwise(classes))
    if not 1 <= len(classes) <= MOST_CLASSES or not ascend:
        raise checked.wrong("classes", f"an ascending list of {expected}")
    counts = checked.list_of("class_counts", lambda n: _is_whole(n, 0, rows), "counts")
    if len(counts) != len(classes) or sum(counts) != rows:
        raise checked.wrong("class_counts", f"{len(classes)} counts of {rows} rows")
    return classes, counts


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_WORD


def _is_finite(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value)
