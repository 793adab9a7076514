"""From what DATA names to rows: a file, an address, a store, or ``dataset:NAME``.

For training all rows are wanted at once: in memory if they fit there, else in a store, which is
made in the scratch folder and removed at the end. For prediction they come in parts.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pegasos.cli import completion, memory
from pegasos.cli.exits import Usage
from pegasos.cli.screen import Screen
from pegasos.cli.values import bytes_of, count, listed, one_of, span
from pegasos.cli.views import Moving, View

BASE = re.compile(r"indices count from ([01])\b")
SMALLEST_CHUNK, LARGEST_CHUNK = 1 << 20, 32 << 20  # bytes that are read at a time
PACE_BYTES, PACE_SECONDS = 1e6, 0.2  # how much must have been read for its pace to mean something
SET, TEST = "dataset:", ":test"
TABLES = ("csv", "parquet", "arrow")

# How each option of ours is called in pegasos.data, and for which kinds of data it is.
OPTIONS = {
    "--features": ("n_features", ("svmlight",)),
    "--zero-based": ("zero_based", ("svmlight",)),
    "--target": ("target", TABLES),
    "--columns": ("columns", TABLES),
    "--categorical": ("categorical", TABLES),
    "--weights": ("weights", TABLES),
}
WORDS = {
    "store": "a store",
    "set": "a data set",
    "svmlight": "svmlight text",
    "csv": "a CSV table",
    "parquet": "a Parquet table",
    "arrow": "an Arrow table",
}


@dataclass(frozen=True)
class Reading:
    """How files are read, where the files themselves do not say so."""

    dtype: str = "float32"
    options: dict[str, Any] = field(default_factory=dict)  # by their names on the command line
    base: int | None = None  # of indices, for a model that knows; --zero-based knows better

    @classmethod
    def of(
        cls,
        *,
        dtype: str = "float32",
        features: int | None = None,
        zero_based: str = "auto",
        target: str | None = None,
        columns: str | None = None,
        categorical: str | None = None,
        weights: str | None = None,
    ) -> Reading:
        """From the options, as they were typed."""
        one_of("--dtype", dtype, completion.DTYPES)
        one_of("--zero-based", zero_based, completion.BASES)
        given = {
            "--features": features,
            "--zero-based": {"yes": True, "no": False, "auto": None}[zero_based],
            "--target": target,
            "--columns": listed(columns),
            "--categorical": "auto" if categorical == "auto" else listed(categorical),
            "--weights": weights,
        }
        return cls(dtype, {name: value for name, value in given.items() if value is not None})

    def for_test(self, source: str, base: int | None) -> Reading:
        """The same for test rows, which may be of another kind; their indices have the same base.

        ``base`` is that of the training rows.
        """
        kind = kind_of(source)
        kept = {name: v for name, v in self.options.items() if kind in OPTIONS[name][1]}
        return replace(self, options=kept, base=base)

    def for_model(self, model: Any) -> Reading:
        """The same for the rows of a model, which may know its index base."""
        return replace(self, base=getattr(model, "index_base_", None))

    def knows_base(self, kind: str) -> bool:
        """Whether the index base is known, and not from the options."""
        return kind == "svmlight" and self.base is not None and "--zero-based" not in self.options

    def for_kind(self, kind: str, source: str) -> dict[str, Any]:
        """The options of ``pegasos.data.load``; one that would be ignored is refused."""
        for option in self.options:
            if kind not in OPTIONS[option][1]:
                raise Usage(f"{option} means nothing for {source}, which is {WORDS[kind]}")
        found = {OPTIONS[option][0]: value for option, value in self.options.items()}
        if self.knows_base(kind):
            found["zero_based"] = self.base == 0
        return {"dtype": self.dtype, **found}

    def notes(self, kind: str, notes: Sequence[str]) -> list[str]:
        """What a reader notes, which believes that the index base was asked for."""
        if not self.knows_base(kind):
            return list(notes)
        why = f"indices count from {self.base}: as in the data that the model was trained on"
        return [why if BASE.match(note) else note for note in notes]


def index_base(notes: Sequence[str]) -> int | None:
    """From what the indices of rows count, if a note says so."""
    return next((int(found[1]) for note in notes if (found := BASE.match(note))), None)


def kind_of(source: str) -> str:
    """What a source is, by its content."""
    if source.startswith(SET):
        return "set"
    from pegasos.data import kind_of as of_file

    return of_file(source)


def _brought(source: str, screen: Screen) -> str:
    """What a source is; one from the net is fetched for that, and what a pipe gives is copied."""
    from pegasos.data.downloads import is_url
    from pegasos.data.spooled import only_once

    doing = "fetching" if is_url(source) else "receiving" if only_once(source) else ""
    if not doing:
        return kind_of(source)
    with screen.showing(View(f"{doing} {source}")):
        return kind_of(source)


@contextlib.contextmanager
def open_data(
    source: str,
    reading: Reading,
    screen: Screen,
    limit: int | None = None,
    scratch: str | None = None,
) -> Iterator[tuple[Any, float]]:
    """All rows of a source and the seconds of reading; from the disk if they are too many."""
    begun = time.perf_counter()
    kind = _brought(source, screen)
    options = reading.for_kind(kind, source)
    allowed = memory.SHARE * memory.available() if limit is None else limit
    needed = _needed(source, kind, reading.dtype, allowed)
    if needed <= allowed:
        data = _whole(source, kind, options, screen)
        seconds = time.perf_counter() - begun
        _tell_read(screen, source, kind, data, seconds)
        yield data, seconds
        return
    screen.note(
        f"{source} would take about {bytes_of(needed)} of memory, more than the "
        f"{bytes_of(allowed)} that it may: the rows go to a temporary store and are read from there"
    )
    chunk = {"chunk_bytes": int(min(max(allowed / 8, SMALLEST_CHUNK), LARGEST_CHUNK))}
    with _temporary_store(source, options | chunk, needed, scratch, screen) as data:
        seconds = time.perf_counter() - begun
        _tell_read(screen, source, kind, data, seconds)
        yield data, seconds


def _needed(source: str, kind: str, dtype: str, allowed: float) -> float:
    """About how many bytes the rows take in memory; 0 where that cannot matter."""
    if kind in ("set", "store"):
        return 0.0
    path = local(source)
    if os.path.getsize(path) * memory.UNPACKED <= allowed:
        return 0.0
    return memory.needed(path, kind, dtype)


def local(source: str) -> str:
    """The file of a source; of an address or a pipe, the copy that was made of it."""
    from pegasos.data.downloads import is_url, local_path
    from pegasos.data.spooled import copy_of

    if is_url(source):
        return local_path(source)[0]
    copy = copy_of(source)
    return source if copy is None else copy.path


def _whole(source: str, kind: str, options: dict[str, Any], screen: Screen) -> Any:
    """All rows in memory, or mapped."""
    from pegasos.data import load

    if kind == "set":
        return fetched(source, screen, options["dtype"])
    view = Moving(f"reading {source}", follows=file_of(source, kind))
    with screen.showing(view):
        return load(source, **options)


def fetched(source: str, screen: Screen, dtype: str) -> Any:
    """A set by its name; ``dataset:NAME:test`` are its test rows."""
    from pegasos.datasets import fetch

    name = source.removeprefix(SET)
    test = name.endswith(TEST)
    name = name.removesuffix(TEST)
    view = Moving(f"fetching {name}")
    with screen.showing(view):
        split: Any = "test" if test else "train"
        return fetch(name, split=split, dtype=dtype, on_progress=view.reached)


@contextlib.contextmanager
def _temporary_store(
    source: str, options: dict[str, Any], needed: float, scratch: str | None, screen: Screen
) -> Iterator[Any]:
    """The rows of a source in a store that exists as long as it is used."""
    from pegasos.data import iter_load, write_store

    if scratch is not None and not os.path.isdir(scratch):
        raise Usage(f"--scratch names {scratch}, which is no folder: make it first")
    folder = Path(tempfile.mkdtemp(prefix="pegasos-", dir=scratch))
    try:
        free = shutil.disk_usage(folder).free
        if free < needed:
            raise Usage(
                f"the temporary store of {source} needs about {bytes_of(needed)}, and "
                f"{folder.parent} has {bytes_of(free)} left: name a larger disk with --scratch, or "
                "allow more with --memory"
            )
        view = Moving(f"storing {source}", follows=file_of(source, "text"))
        with screen.showing(view):
            chunks = counted(iter_load(source, **options), view)
            data = write_store(folder / "rows.store", chunks)
        yield data
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def counted(parts: Iterable[Any], view: Moving) -> Iterator[Any]:
    """The same parts; the view hears how many rows there were."""
    for data in parts:
        yield data
        view.more_rows(data.X.shape[0])


def read_parts(
    source: str, reading: Reading, screen: Screen, model: Any = None, targets: bool = True
) -> Iterator[Any]:
    """The rows of a source in parts, in bounded memory; with the features of a model."""
    from pegasos.data import iter_load

    kind = _brought(source, screen)
    options = reading.for_kind(kind, source)
    if kind == "set":
        parts: Iterable[Any] = [fetched(source, screen, reading.dtype)]
    else:
        if model is not None:
            options = _features_of(model, kind, options, targets)
        parts = iter_load(source, **options)
    view = Moving(f"reading {source}", follows=file_of(source, kind))
    with screen.showing(view):
        rows = 0
        for data in counted(parts, view):
            for note in reading.notes(kind, data.notes):
                screen.note(f"  {note}")
            if model is None:
                yield data
            else:
                refuse_other_names(data.feature_names, model, source)
                yield replace(data, X=fitted(data.X, model, source, rows))
            rows += data.X.shape[0]


def _features_of(model: Any, kind: str, options: dict[str, Any], targets: bool) -> dict[str, Any]:
    """The options with what makes a reader give the features of a model."""
    if kind == "svmlight":
        return {**options, "n_features": model.n_features_in_}
    if kind not in TABLES:
        return options
    if not targets:
        options = {**options, "target": False}
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return options
    kept = {name: v for name, v in options.items() if name not in ("columns", "categorical")}
    return {**kept, "feature_names": [str(name) for name in names]}


def refuse_other_names(names: Sequence[str] | None, model: Any, source: str) -> None:
    """Refuse columns that have other names than those of the training, or another order."""
    for k, (name, wanted) in enumerate(zip(names or (), getattr(model, "feature_names_in_", ()))):
        if name != wanted:
            raise Usage(
                f"{source}: feature {k + 1} is {name!r}, where the model was trained on "
                f"{str(wanted)!r}: it is a model for other data, or for another order of columns"
            )


def fitted(X: Any, model: Any, source: str, first: int) -> Any:
    """Rows with as many features as the model has: of sparse ones the last may be missing."""
    m, d = X.shape
    wanted = model.n_features_in_
    if d == wanted:
        return X
    if hasattr(X, "tocsr"):
        from scipy.sparse import csr_array

        if d > wanted and X.nnz and X.indices.max() >= wanted:
            at = int((X.indices >= wanted).argmax())
            row = int(X.indptr.searchsorted(at, side="right"))
            raise Usage(
                f"{source}: row {first + row} has feature {X.indices[at] + 1}, counted from 1, and "
                f"the model was trained on {wanted}: it is a model for other data"
            )
        return csr_array((X.data, X.indices, X.indptr), shape=(m, wanted))
    raise Usage(
        f"{source} has {count(d)} features, and the model was trained on {count(wanted)}: it is a "
        "model for other data"
    )


def file_named(source: str | None) -> str | None:
    """The file or folder that a source names; None of a set, and of what comes from the net."""
    from pegasos.data.downloads import is_url

    if source is None or source.startswith(SET):
        return None
    if is_url(source):
        return local(source) if source.lower().startswith("file:") else None
    return source


def file_of(source: str, kind: str) -> str | None:
    """The file whose reading can be followed; a store and a set are none."""
    return None if kind in ("set", "store") else local(source)


def _tell_read(screen: Screen, source: str, kind: str, data: Any, seconds: float) -> None:
    if kind == "store":
        return
    file = file_of(source, kind)
    size = os.path.getsize(file) if file else 0
    told = size >= PACE_BYTES and seconds >= PACE_SECONDS
    pace = f" ({bytes_of(size / seconds)}/s)" if told else ""
    m, d = data.X.shape
    screen.tell(f"read {count(m)} rows × {count(d)} features in {span(seconds)}{pace}")
    for note in data.notes:
        screen.note(f"  {note}")


@contextlib.contextmanager
def names_are_checked() -> Iterator[None]:
    """The reader has made the features of the model: scikit-learn need not warn of lost names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield
