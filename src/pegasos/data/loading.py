"""One call for any source: what it is, is found out from its content."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from pegasos.data.downloads import is_url, local_path
from pegasos.data.examples import Data, DataError
from pegasos.data.kinds import kind_of_file
from pegasos.data.spooled import copy_of, named_rightly
from pegasos.data.store import iter_store, open_store
from pegasos.data.svmlight import iter_svmlight, load_svmlight
from pegasos.data.tables import iter_table, load_table

_STORE_BYTES = 32 << 20  # of a store at a time

# Each option: its default, and the kinds of source it says something about.
_TABLES = frozenset({"parquet", "arrow", "csv"})
_OPTIONS: dict[str, tuple[Any, frozenset[str]]] = {
    "n_features": (None, frozenset({"svmlight"})),
    "zero_based": ("auto", frozenset({"svmlight"})),
    "labels": ("auto", frozenset({"svmlight"})),
    "threads": (None, frozenset({"svmlight"})),
    "target": (None, _TABLES),
    "columns": (None, _TABLES),
    "weights": (None, _TABLES),
    "categorical": (None, _TABLES),
    "categories": ("one-hot", _TABLES),
    "hash_features": (1024, _TABLES),
    "feature_names": (None, _TABLES),
    "delimiter": ("auto", frozenset({"csv"})),
}


def load(
    source: str | os.PathLike,
    *,
    dtype: Any = "float32",
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    labels: Literal["auto", "numbers", "words"] = "auto",
    threads: int | None = None,
    target: str | int | Literal[False] | None = None,
    columns: Sequence[str] | None = None,
    weights: str | None = None,
    categorical: Sequence[str] | Literal["auto"] | None = None,
    categories: Literal["one-hot", "hash"] = "one-hot",
    hash_features: int = 1024,
    feature_names: Sequence[str] | None = None,
    delimiter: str = "auto",
) -> Data:
    """Read rows and targets from svmlight text, Parquet, Arrow, CSV, a store, or a URL of these.

    What the source is, is decided by its content; text may be compressed (gz, bz2, xz, zst). An
    option that says nothing about what was found is refused.

    Parameters
    ----------
    source : path or str
        A file, the folder of a store, or an address (http, https, file), which is fetched once
        into the user's cache. What can be read only once (a pipe, ``"/dev/stdin"``) is copied to
        a temporary file first, which is gone afterwards.
    dtype : {"float32", "float64"}, default="float32"
        The type of the features. A store keeps its own: any but the default must be it.
    n_features, zero_based, labels, threads
        Of svmlight text: see :func:`load_svmlight`.
    target, columns, weights, categorical, categories, hash_features, feature_names
        Of tables: see :func:`load_table`.
    delimiter : str, default="auto"
        Of CSV: what stands between two fields; "auto" takes the one of ``,`` ``;`` and tab that
        the first line has most of.

    Returns
    -------
    data : Data
        Rows, targets, and what was decided.

    Raises
    ------
    DataError
        In one sentence: what is wrong, where, and what to do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from pegasos.data import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "data"
    ...     _ = file.write_text("a,b,y\\n1,2,-1\\n3,4,1\\n")
    ...     table = load(file)
    ...     _ = file.write_text("-1 1:1 2:2\\n1 1:3 2:4\\n")
    ...     text = load(file)
    >>> bool((table.X == text.X.toarray()).all()), table.y.tolist()
    (True, [-1.0, 1.0])
    """
    given = {
        "n_features": n_features, "zero_based": zero_based, "labels": labels, "threads": threads,
        "target": target, "columns": columns, "weights": weights, "categorical": categorical,
        "categories": categories, "hash_features": hash_features, "feature_names": feature_names,
        "delimiter": delimiter,
    }  # fmt: skip
    with _at_hand(source) as (path, notes):
        kind, options = _found(path, given)
        if kind == "store":
            data = _of_type(open_store(path), path, dtype)
        elif kind == "svmlight":
            data = load_svmlight(path, dtype=dtype, **options)
        else:
            data = load_table(path, dtype=dtype, **options)
    return replace(data, notes=(*notes, *data.notes))


def iter_load(
    source: str | os.PathLike,
    *,
    chunk_bytes: int | None = None,
    dtype: Any = "float32",
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    labels: Literal["auto", "numbers", "words"] = "auto",
    threads: int | None = None,
    target: str | int | Literal[False] | None = None,
    columns: Sequence[str] | None = None,
    weights: str | None = None,
    categorical: Sequence[str] | Literal["auto"] | None = None,
    categories: Literal["one-hot", "hash"] = "one-hot",
    hash_features: int = 1024,
    feature_names: Sequence[str] | None = None,
    delimiter: str = "auto",
) -> Iterator[Data]:
    """Read a source in chunks of rows, in bounded memory: what :func:`load` would read at once.

    Parameters
    ----------
    source : path or str
        As for :func:`load`.
    chunk_bytes : int, optional
        About how much is read at a time; by default what suits the kind of the source.
    dtype, n_features, zero_based, labels, threads, target, columns, weights, categorical, \
categories, hash_features, feature_names, delimiter
        As for :func:`load`.

    Yields
    ------
    data : Data
        The next rows. Those of svmlight text may have more features than the rows before, unless
        ``n_features`` is given.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from pegasos.data import iter_load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "data"
    ...     _ = file.write_text("a,b,y\\n1,2,-1\\n3,4,1\\n5,6,1\\n")
    ...     [chunk.y.tolist() for chunk in iter_load(file, chunk_bytes=16)]
    [[-1.0, 1.0], [1.0]]
    """
    given = {
        "n_features": n_features, "zero_based": zero_based, "labels": labels, "threads": threads,
        "target": target, "columns": columns, "weights": weights, "categorical": categorical,
        "categories": categories, "hash_features": hash_features, "feature_names": feature_names,
        "delimiter": delimiter,
    }  # fmt: skip
    if chunk_bytes is not None and chunk_bytes < 1:
        raise DataError(f"chunk_bytes must be at least 1, not {chunk_bytes}")
    with contextlib.ExitStack() as copied:
        path, notes = copied.enter_context(_at_hand(source))
        kind, options = _found(path, given)
        if kind == "store":
            chunks = _blocks(path, dtype, chunk_bytes or _STORE_BYTES)
        else:
            if chunk_bytes is not None:
                options["chunk_bytes"] = chunk_bytes
            read = iter_svmlight if kind == "svmlight" else iter_table
            chunks = read(path, dtype=dtype, **options)
        chunks = _noted(chunks, notes, copied.pop_all())
    return chunks


def kind_of(source: str | os.PathLike) -> str:
    """What a source is: store, svmlight, parquet, arrow or csv.

    Parameters
    ----------
    source : path or str
        As for :func:`load`.

    Returns
    -------
    kind : str
        Its kind, by its content.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from pegasos.data import kind_of
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "rows.csv"
    ...     _ = file.write_text("+1 3:0.5 7:1\\n")
    ...     kind_of(file)
    'svmlight'
    """
    with _at_hand(source, copying=False) as (path, _):
        return kind_of_file(path)


@contextlib.contextmanager
def _at_hand(
    source: str | os.PathLike, copying: bool = True
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The path where a source can be read, as often as needed, and notes; sentences name it."""
    if is_url(source):
        yield local_path(str(source))
        return
    path = os.fsdecode(source)
    copy = copy_of(path, copying)
    if copy is None:
        yield path, ()
        return
    try:
        with named_rightly(copy):
            yield copy.path, ()
    finally:
        copy.done()


def _noted(
    chunks: Iterator[Data], notes: tuple[str, ...], copied: contextlib.ExitStack
) -> Iterator[Data]:
    with copied:
        for chunk in chunks:
            yield replace(chunk, notes=(*notes, *chunk.notes))


def _found(path: str, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The kind, and the options that were given and fit it."""
    delimiter = given["delimiter"]
    kind = kind_of_file(path, delimiter if delimiter != "auto" else None)
    options = {k: value for k, value in given.items() if not _same(value, _OPTIONS[k][0])}
    for name in options:
        kinds = _OPTIONS[name][1]
        if kind not in kinds:
            raise DataError(
                f"{path} is {kind}: {name} is an option of {', '.join(sorted(kinds))} alone; "
                "leave it out"
            )
    if kind in _TABLES:
        options["format"] = kind
    return kind, options


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and value == default


def _blocks(path: str, dtype: Any, chunk_bytes: int) -> Iterator[Data]:
    """The rows of a store, about so many bytes of them at a time."""
    data = _of_type(open_store(path), path, dtype)
    m, d = data.X.shape
    entry = data.X.dtype.itemsize
    row_bytes = entry * d if data.X.nnz == m * d else (entry + 8) * data.X.nnz // m
    return iter_store(data, max(1, chunk_bytes // max(1, row_bytes)))


def _of_type(data: Data, path: str, dtype: Any) -> Data:
    """A store as it is, if it may be of this type."""
    if dtype != "float32" and np.dtype(dtype) != data.X.dtype:
        raise DataError(
            f"{path} is a store of {data.X.dtype}: it is read as it is, so leave dtype out, or "
            f"write it again as {np.dtype(dtype)}"
        )
    return data
