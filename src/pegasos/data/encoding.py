"""From the columns of a table to features: numbers as they are, categories one-hot or hashed.

    number      one feature, named as the column
    one-hot     one feature for each category, named ``column=category``; categories in order
    hashed      crc32("column=category") mod 2**k: one of 2**k features, ``hash:0`` … , after the
                numbers. Two that meet in one feature of a row are added

The rows are dense where that takes less memory than CSR: where at least half of each is stored.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pegasos.data.examples import DataError


@dataclass(frozen=True)
class Encoding:
    """Which features the columns of a table become.

    Attributes
    ----------
    path : str
        The table's file, for the sentences of errors.
    numbers : mapping from column to feature
        The columns that are numbers.
    one_hot : mapping from column to (categories, features)
        The columns of categories; a category that is not among them sets no feature.
    hashed : sequence of str
        The columns that are hashed.
    first_hash, hash_features : int
        Where the hashed features begin, and how many there are.
    names : tuple of str
        The names of the features.
    dtype : dtype
        The type of the values.
    unseen : dict
        How many rows of a column had a category that is not among its categories, and the first
        of these.
    """

    path: str
    numbers: Mapping[str, int]
    one_hot: Mapping[str, tuple[list[str], np.ndarray]]
    hashed: Sequence[str]
    first_hash: int
    hash_features: int
    names: tuple[str, ...]
    dtype: np.dtype
    unseen: dict[str, tuple[int, str]] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        return [*self.numbers, *self.one_hot, *self.hashed]

    @property
    def sparse(self) -> bool:
        """Whether less than half of each row is stored."""
        return 2 * len(self.columns) < len(self.names)

    def rows(self, batch: Any, first: int) -> Any:
        """The rows of a batch, the first of which is row ``first`` of the table (from 0)."""
        return (self._csr if self.sparse else self._dense)(batch, first)

    def _dense(self, batch: Any, first: int) -> np.ndarray:
        X = np.zeros((batch.num_rows, len(self.names)), self.dtype)
        all_rows = np.arange(batch.num_rows)
        for where, values in self._entries(batch, first):
            if isinstance(where, int):
                X[:, where] = values
            else:
                X[all_rows, where] += values
        return X

    def _csr(self, batch: Any, first: int) -> Any:
        from scipy.sparse import csr_array

        shape = batch.num_rows, len(self.columns)
        features, values = np.empty(shape, np.int32), np.empty(shape, self.dtype)
        for k, (where, numbers) in enumerate(self._entries(batch, first)):
            features[:, k], values[:, k] = where, numbers
        pointers = np.arange(0, features.size + 1, shape[1], dtype=np.int32)
        X = csr_array(
            (values.ravel(), features.ravel(), pointers), shape=(shape[0], len(self.names))
        )
        X.sum_duplicates()
        X.eliminate_zeros()
        return X

    def _entries(self, batch: Any, first: int) -> Iterator[tuple[Any, Any]]:
        """Of one column after the other the feature, or that of each row, and the values."""
        for name, where in self.numbers.items():
            yield where, numbers(batch.column(name), name, self.path, first, self.dtype)
        for name, (categories, places) in self.one_hot.items():
            known, codes = words(batch.column(name), name, self.path, first)
            index = {category: k for k, category in enumerate(categories)}
            code = np.array([index.get(word, -1) for word in known], np.int32)[codes]
            if unseen := int(np.count_nonzero(code < 0)):
                example = known[codes[np.argmax(code < 0)]]
                before, example = self.unseen.get(name, (0, example))
                self.unseen[name] = before + unseen, example
            yield places[code], (code >= 0).astype(self.dtype)
        for name in self.hashed:
            known, codes = words(batch.column(name), name, self.path, first)
            hashes = [zlib.crc32(f"{name}={word}".encode()) for word in known]
            yield self.first_hash + (np.array(hashes) % self.hash_features)[codes], 1


def numbers(column: Any, name: str, path: str, first: int, dtype: Any) -> np.ndarray:
    """A column of numbers, all of them there and finite in this type."""
    from pyarrow import types

    _refuse_nulls(column, name, path, first)
    if types.is_decimal(column.type):
        column = column.cast("float64")
    found = column.to_numpy(zero_copy_only=False)
    with np.errstate(over="ignore"):
        values = found.astype(dtype)
    fine = np.isfinite(values)
    if not fine.all():
        at = int(np.argmin(fine))
        what = f"{found[at]} is too large for {np.dtype(dtype)}"
        if not np.isfinite(found[at]):
            what = f"{found[at]} is no finite number"
        raise DataError(
            f"{path}: row {first + at + 1}, column {name!r}: {what}; replace the value or remove "
            "the row"
        )
    return values


def words(column: Any, name: str, path: str, first: int) -> tuple[list[str], np.ndarray]:
    """A column of text: the words that occur in it, and for each row which of them it has."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    _refuse_nulls(column, name, path, first)
    coded = column.cast(pa.large_string()).dictionary_encode()
    known, codes = coded.dictionary.to_pylist(), coded.indices.to_numpy(zero_copy_only=False)
    if "" in known:
        _refuse_empty(name, path, first + int(np.argmax(codes == known.index(""))))
    return known, codes


def _refuse_nulls(column: Any, name: str, path: str, first: int) -> None:
    if column.null_count:
        nulls = column.is_null().to_numpy(zero_copy_only=False)
        _refuse_empty(name, path, first + int(np.argmax(nulls)))


def _refuse_empty(name: str, path: str, row: int) -> None:
    raise DataError(
        f"{path}: row {row + 1}, column {name!r} is empty; fill the value in, remove the row, or "
        "leave the column out of columns=…"
    )
