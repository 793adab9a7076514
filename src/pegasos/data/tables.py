"""Parquet, Arrow IPC and CSV: the columns of a table as features, target and weights.

Numbers are features as they are. Text is a feature only where it is meant as categories: where the
column is dictionary-typed, or named in ``categorical``. Whatever else a column holds is refused by
name: nothing is guessed, dropped or filled in.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from pegasos.data.encoding import Encoding, numbers, words
from pegasos.data.exact import WHY, first_inexact
from pegasos.data.examples import Data, DataError
from pegasos.data.growing import GrowingRows
from pegasos.data.table_files import FORMATS, TableFile, open_table

TARGETS = ("target", "label", "y", "class")  # what a target is called if nobody says
_OF_PANDAS = re.compile(r"__index_level_\d+__")  # an index that pandas stores as a column
_SIGNS = {";": "semicolons", "\t": "tabs"}
CHUNK_BYTES = 8 << 20
HASH_FEATURES = 1024


def load_table(
    path: str | os.PathLike,
    *,
    target: str | int | Literal[False] | None = None,
    columns: Sequence[str] | None = None,
    weights: str | None = None,
    dtype: Any = "float32",
    categorical: Sequence[str] | Literal["auto"] | None = None,
    categories: Literal["one-hot", "hash"] = "one-hot",
    hash_features: int = HASH_FEATURES,
    feature_names: Sequence[str] | None = None,
    delimiter: str = "auto",
    format: Literal["parquet", "arrow", "csv"] | None = None,
) -> Data:
    """Read a table: Parquet, Arrow IPC (file or stream) or CSV with a row of names.

    Parameters
    ----------
    path : path
        The file. CSV and Arrow streams may be compressed (gz, bz2, xz, zst).
    target : str, int or False, optional
        The name of the column that is predicted, or its position (-1: the last); False: there is
        none. By default the one column called target, label, y or class.
    columns : sequence of str, optional
        The columns that become features; by default all but target and weights.
    weights : str, optional
        The column that holds the weights of the rows.
    dtype : {"float32", "float64"}, default="float32"
        The type of the features.
    categorical : sequence of str or "auto", optional
        Columns of text that are categories; "auto": all columns of text. Dictionary-typed columns
        always are.
    categories : {"one-hot", "hash"}, default="one-hot"
        One feature for each category, named ``column=category``, for which the file is read
        twice; or ``hash_features`` features for all of them together.
    hash_features : int, default=1024
        How many features categories are hashed to: a power of 2.
    feature_names : sequence of str, optional
        The features of other data or of a model: these are made, in this order, and categories
        that are not among them set none.
    delimiter : str, default="auto"
        What stands between two fields of CSV; "auto" takes the one of ``,`` ``;`` and tab that the
        first line has most of.
    format : {"parquet", "arrow", "csv"}, optional
        How the table is stored; by default decided by the content.

    Returns
    -------
    data : Data
        ``X`` is dense, or CSR where less than half of each row is stored.

    Raises
    ------
    DataError
        If the file is no such table, a value is missing or not finite, or a column is no number.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from pegasos.data import load_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "flowers.csv"
    ...     _ = file.write_text("colour,height,class\\nred,1.5,rose\\nblue,0.5,iris\\n")
    ...     data = load_table(file, categorical=["colour"])
    >>> data.feature_names
    ('colour=blue', 'colour=red', 'height')
    >>> data.X.tolist(), data.y.tolist()
    ([[0.0, 1.0, 1.5], [1.0, 0.0, 0.5]], ['rose', 'iris'])
    """
    plan = _plan(
        path, format, delimiter, target, columns, weights, dtype, categorical, categories,
        hash_features, feature_names,
    )  # fmt: skip
    rows = GrowingRows(plan.encoding.sparse, len(plan.encoding.names), plan.encoding.dtype)
    rows.expect(plan.table.rows)
    y: list[np.ndarray] = []
    s: list[np.ndarray] = []
    for data in plan.chunks(CHUNK_BYTES):
        rows.append(data.X)
        if data.y is not None:
            y.append(data.y)
        if data.weights is not None:
            s.append(data.weights)
    if rows.m == 0:
        raise DataError(f"{plan.table.path} has no rows")
    return Data(
        X=rows.done(),
        y=np.concatenate(y) if y else None,
        weights=np.concatenate(s) if s else None,
        feature_names=plan.encoding.names,
        notes=(*plan.notes, *_unseen(plan.encoding)),
    )


def iter_table(
    path: str | os.PathLike,
    *,
    chunk_bytes: int = CHUNK_BYTES,
    target: str | int | Literal[False] | None = None,
    columns: Sequence[str] | None = None,
    weights: str | None = None,
    dtype: Any = "float32",
    categorical: Sequence[str] | Literal["auto"] | None = None,
    categories: Literal["one-hot", "hash"] = "one-hot",
    hash_features: int = HASH_FEATURES,
    feature_names: Sequence[str] | None = None,
    delimiter: str = "auto",
    format: Literal["parquet", "arrow", "csv"] | None = None,
) -> Iterator[Data]:
    """Read a table in chunks of rows, in bounded memory.

    What is wrong with the columns is said at once; what is wrong with a row, when it is reached.

    Parameters
    ----------
    path : path
        The file.
    chunk_bytes : int, default=8 MiB
        About how much memory the rows of a chunk take.
    target, columns, weights, dtype, categorical, categories, hash_features, feature_names, \
delimiter, format
        As for :func:`load_table`.

    Yields
    ------
    data : Data
        The next rows, with the same features in each chunk.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from pegasos.data import iter_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "numbers.csv"
    ...     _ = file.write_text("a,b,y\\n1,2,-1\\n3,4,1\\n5,6,1\\n")
    ...     [len(chunk.y) for chunk in iter_table(file, chunk_bytes=16)]
    [2, 1]
    """
    plan = _plan(
        path, format, delimiter, target, columns, weights, dtype, categorical, categories,
        hash_features, feature_names,
    )  # fmt: skip
    if chunk_bytes < 1:
        raise DataError(f"chunk_bytes must be at least 1, not {chunk_bytes}")
    return plan.chunks(chunk_bytes)


def columns_of(path: str | os.PathLike, format: str) -> dict[str, str]:
    """The columns of a table: number, text, categories, dates, or the type of anything else."""
    table = open_table(path, format)
    kinds = {name: _kind(table, name) for name in table.schema.names}
    return {
        name: str(table.schema.field(name).type) if kind == "other" else kind
        for name, kind in kinds.items()
    }


@dataclass(frozen=True)
class _Plan:
    """What becomes of each column."""

    table: TableFile
    encoding: Encoding
    target: str | None
    target_is_text: bool
    weights: str | None
    notes: tuple[str, ...]

    def chunks(self, chunk_bytes: int) -> Iterator[Data]:
        """The rows, about so many bytes of them at a time; the last ones note what was unseen."""
        held = None
        for data in self._chunks(chunk_bytes):
            if held is not None:
                yield held
            held = data
        if held is not None:
            yield replace(held, notes=(*self.notes, *_unseen(self.encoding)))

    def _chunks(self, chunk_bytes: int) -> Iterator[Data]:
        encoding = self.encoding
        width = 2 * len(encoding.columns) if encoding.sparse else len(encoding.names)
        chunk_rows = max(1, chunk_bytes // (encoding.dtype.itemsize * width))
        others = [name for name in (self.target, self.weights) if name is not None]
        text = [*encoding.one_hot, *encoding.hashed]
        text += [self.target] if self.target and self.target_is_text else []
        first = 0
        for batch in self.table.batches([*encoding.columns, *others], chunk_rows, text):
            yield Data(
                X=encoding.rows(batch, first),
                y=self._y(batch, first),
                weights=self._weights(batch, first),
                feature_names=encoding.names,
                notes=self.notes,
            )
            first += batch.num_rows

    def _y(self, batch: Any, first: int) -> np.ndarray | None:
        if self.target is None:
            return None
        column = batch.column(self.target)
        if not self.target_is_text:
            found = numbers(column, self.target, self.table.path, first, np.float64)
            self._refuse_inexact(column, first)
            return found
        known, codes = words(column, self.target, self.table.path, first)
        return np.array(known, dtype=str)[codes]

    def _refuse_inexact(self, column: Any, first: int) -> None:
        labels = column.to_numpy(zero_copy_only=False)
        at = first_inexact(labels)
        if at is not None:
            raise DataError(
                f"{self.table.path}: row {first + at + 1}, column {self.target!r}: the target is "
                f"{labels[at]}, {WHY}"
            )

    def _weights(self, batch: Any, first: int) -> np.ndarray | None:
        if self.weights is None:
            return None
        path, name = self.table.path, self.weights
        found = numbers(batch.column(name), name, path, first, np.float64)
        if (found < 0).any():
            at = int(np.argmax(found < 0))
            raise DataError(
                f"{path}: row {first + at + 1}, column {name!r}: the weight {found[at]:g} is "
                "negative; weights are zero or more"
            )
        return found


def _plan(
    path: str | os.PathLike,
    format: str | None,
    delimiter: str,
    target: str | int | Literal[False] | None,
    columns: Sequence[str] | None,
    weights: str | None,
    dtype: Any,
    categorical: Sequence[str] | Literal["auto"] | None,
    categories: str,
    hash_features: int,
    feature_names: Sequence[str] | None,
) -> _Plan:
    """Look at the columns, and decide or refuse."""
    dtype = _float(dtype)
    if categories not in ("one-hot", "hash"):
        raise DataError(f"categories must be 'one-hot' or 'hash', not {categories!r}")
    if hash_features < 1 or hash_features & (hash_features - 1):
        raise DataError(f"hash_features must be a power of 2, not {hash_features}")
    format = _format(path, format, delimiter)
    if categories == "one-hot" and hash_features != HASH_FEATURES:
        raise DataError("hash_features says something about categories='hash' alone")
    if format != "csv" and delimiter != "auto":
        raise DataError(f"{os.fspath(path)} is {format}: delimiter is an option of CSV alone")
    table = open_table(path, format, delimiter)
    columns = None if columns is None else list(columns)
    target, notes = _target(table, target, columns or ())
    if table.delimiter != delimiter and table.delimiter != ",":
        notes.append(f"the fields stand between {_SIGNS[table.delimiter]}, as the first line says")
    if weights is not None:
        _must_exist(table, [weights], "weights")
    taken = [name for name in (target, weights) if name is not None]
    if feature_names is not None and categories == "one-hot":
        if columns is not None or categorical is not None:
            raise DataError("feature_names says which columns are read; leave columns and "
                            "categorical out")  # fmt: skip
        encoding = _named(table, feature_names, dtype)
    else:
        chosen = _columns(table, columns, taken, notes)
        text = _categorical(table, chosen, categorical, taken)
        encoding = _encoding(table, chosen, text, categories, hash_features, dtype)
        if feature_names is not None and tuple(feature_names) != encoding.names:
            raise DataError(
                f"{table.path} has other features than were asked for; name the same columns, "
                "categories and hash_features"
            )
    for name in taken:
        if name in encoding.columns:
            raise DataError(f"column {name!r} cannot be a feature and the target or the weights")
    _refuse_text(table, list(encoding.numbers))
    notes.append(
        "the rows are CSR: less than half of each is stored"
        if encoding.sparse
        else "the rows are dense: at least half of each is stored"
    )
    as_text = target is not None and _kind(table, target) == "text"
    if target is not None and _kind(table, target) not in ("number", "text"):
        _refuse_kind(table, target, f"leave it out, or choose another target than {target!r}")
    if weights is not None and _kind(table, weights) != "number":
        raise DataError(f"{table.path}: column {weights!r} holds no numbers: it cannot be weights")
    return _Plan(table, encoding, target, as_text, weights, tuple(notes))


def _float(dtype: Any) -> np.dtype:
    found = np.dtype(dtype)
    if found not in (np.float32, np.float64):
        raise DataError(f"dtype must be float32 or float64, not {found}")
    return found


def _format(path: str | os.PathLike, format: str | None, delimiter: str) -> str:
    """The format, found out if it is not given."""
    if format is None:
        from pegasos.data.kinds import kind_of_file

        format = kind_of_file(path, delimiter if delimiter != "auto" else None)
        if format not in FORMATS:
            raise DataError(f"{os.fspath(path)} is no table but {format}: use pegasos.data.load")
    elif format not in FORMATS:
        raise DataError(f"format must be one of {', '.join(FORMATS)}, not {format!r}")
    return format


def _must_exist(table: TableFile, names: Sequence[str], option: str) -> None:
    for name in names:
        if name not in table.schema.names:
            raise DataError(
                f"{table.path} has no column {name!r} ({option}); its columns are "
                f"{_listed(table.schema.names)}"
            )


def _listed(names: Sequence[str], most: int = 12) -> str:
    """Names in a sentence, not too many of them."""
    shown = ", ".join(map(repr, names[:most]))
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def _target(
    table: TableFile, target: str | int | Literal[False] | None, columns: Sequence[str]
) -> tuple[str | None, list[str]]:
    """The name of the target's column."""
    names = table.schema.names
    if target is False:
        return None, []
    if target is None:
        found = [name for name in names if name.lower() in TARGETS and name not in columns]
        if len(found) != 1:
            why = "no column is" if not found else f"{_listed(found)} are all"
            raise DataError(
                f"{table.path}: {why} called {', '.join(TARGETS[:-1])} or {TARGETS[-1]}; say with "
                f"target=… which is predicted, of {_listed(names)} (False: none)"
            )
        return found[0], [f"the target is column {found[0]!r}, by its name"]
    if isinstance(target, int):
        if not -len(names) <= target < len(names):
            raise DataError(f"{table.path} has {len(names)} columns: target {target} is none")
        return names[target], [f"the target is column {names[target]!r}, by its position"]
    _must_exist(table, [target], "target")
    return target, []


def _columns(
    table: TableFile, columns: list[str] | None, taken: Sequence[str], notes: list[str]
) -> list[str]:
    """The columns that become features."""
    if columns is None:
        found = [name for name in table.schema.names if name not in taken]
        columns = [name for name in found if not _OF_PANDAS.fullmatch(name)]
        notes += [f"column {name!r} is left out: pandas' index" for name in found
                  if name not in columns]  # fmt: skip
    _must_exist(table, columns, "columns")
    for name in columns:
        if columns.count(name) > 1:
            raise DataError(f"column {name!r} stands twice in columns")
    if not columns:
        raise DataError(f"{table.path} has no column left for features")
    return columns


def _categorical(
    table: TableFile,
    columns: Sequence[str],
    categorical: Sequence[str] | Literal["auto"] | None,
    taken: Sequence[str],
) -> list[str]:
    """Those of the columns that are categories."""
    always = [name for name in columns if _kind(table, name) == "categories"]
    if categorical is None:
        return always
    if isinstance(categorical, str):
        if categorical != "auto":
            raise DataError(f"categorical must be a list of columns or 'auto', not {categorical!r}")
        return [name for name in columns if _kind(table, name) in ("categories", "text")]
    _must_exist(table, categorical, "categorical")
    for name in categorical:
        if name not in columns:
            why = "the target or the weights" if name in taken else "not among columns"
            raise DataError(f"column {name!r} is named in categorical, but is {why}")
        if _kind(table, name) == "other":
            _refuse_kind(table, name, "leave it out of columns=…")
    return [name for name in columns if name in always or name in categorical]


def _kind(table: TableFile, name: str) -> str:
    """What a column holds: number, text, categories, dates or other."""
    from pyarrow import types

    type = table.schema.field(name).type
    if types.is_dictionary(type):
        return "categories"
    if types.is_integer(type) or types.is_floating(type) or types.is_boolean(type):
        return "number"
    if types.is_decimal(type):
        return "number"
    if types.is_string(type) or types.is_large_string(type) or types.is_string_view(type):
        return "text"
    return "dates" if types.is_temporal(type) else "other"


def _refuse_text(table: TableFile, names: Sequence[str]) -> None:
    """Numbers were wanted: refuse whatever is none, with what to do."""
    for name in names:
        kind = _kind(table, name)
        if kind == "text":
            raise DataError(
                f"{table.path}: column {name!r} holds text; name it in categorical=… to one-hot "
                "or hash it, or leave it out of columns=…; prose is vectorised first, for example "
                "with scikit-learn's TfidfVectorizer"
            )
        if kind != "number":
            _refuse_kind(table, name, "leave it out of columns=…")


def _refuse_kind(table: TableFile, name: str, otherwise: str) -> None:
    type = table.schema.field(name).type
    if _kind(table, name) == "dates":
        raise DataError(
            f"{table.path}: column {name!r} holds dates or times ({type}); turn them into numbers "
            f"first, such as days since a first one, or {otherwise}"
        )
    raise DataError(f"{table.path}: column {name!r} holds {type}, no numbers; {otherwise}")


def _encoding(
    table: TableFile,
    columns: Sequence[str],
    text: Sequence[str],
    categories: str,
    hash_features: int,
    dtype: np.dtype,
) -> Encoding:
    """The features of the chosen columns, in their order; hashed ones after all others."""
    hashed = list(text) if categories == "hash" else []
    if categories == "hash" and not hashed:
        raise DataError(
            f"{table.path} has no categories to hash; name their columns in categorical=…, or "
            "leave categories out"
        )
    _refuse_text(table, [name for name in columns if name not in text])
    found = _categories(table, [name for name in text if name not in hashed])
    places: dict[str, int] = {}
    one_hot: dict[str, tuple[list[str], np.ndarray]] = {}
    names: list[str] = []
    for name in columns:
        if name in found:
            one_hot[name] = found[name], np.arange(len(names), len(names) + len(found[name]))
            names += [f"{name}={category}" for category in found[name]]
        elif name not in hashed:
            places[name] = len(names)
            names.append(name)
    size = hash_features if hashed else 0
    names_of_hashes = [f"hash:{k}" for k in range(size)]
    return Encoding(
        table.path, places, one_hot, hashed, len(names), size, (*names, *names_of_hashes), dtype
    )


def _categories(table: TableFile, names: Sequence[str]) -> dict[str, list[str]]:
    """All categories of these columns, in order: one pass over them alone."""
    if not names:
        return {}
    found: dict[str, set[str]] = {name: set() for name in names}
    first = 0
    for batch in table.batches(names, 1 << 16, names):
        for name in names:
            found[name].update(words(batch.column(name), name, table.path, first)[0])
        first += batch.num_rows
    return {name: sorted(seen) for name, seen in found.items()}


def _named(table: TableFile, feature_names: Sequence[str], dtype: np.dtype) -> Encoding:
    """The features of these names: ``column``, or ``column=category``."""
    places: dict[str, int] = {}
    seen: dict[str, tuple[list[str], list[int]]] = {}
    for k, feature in enumerate(feature_names):
        if feature in table.schema.names:
            places[feature] = k
            continue
        parts = feature.split("=")
        cuts = ["=".join(parts[:i]) for i in range(1, len(parts))]
        column = next((cut for cut in cuts if cut in table.schema.names), None)
        if column is None:
            raise DataError(
                f"{table.path} has no column for the feature {feature!r}; its columns are "
                f"{_listed(table.schema.names)}"
            )
        categories, where = seen.setdefault(column, ([], []))
        categories.append(feature[len(column) + 1 :])
        where.append(k)
    one_hot = {name: (found, np.array(where)) for name, (found, where) in seen.items()}
    return Encoding(table.path, places, one_hot, [], 0, 0, tuple(feature_names), dtype)


def _unseen(encoding: Encoding) -> list[str]:
    return [
        f"column {name!r}: {count:,} row{'s have' if count > 1 else ' has'} a category that is no "
        f"feature, such as {example!r}"
        for name, (count, example) in encoding.unseen.items()
    ]
