"""Chunks of rows become checked pieces: about 16 MB of rows each, as they will lie in a store.

A piece names its arrays as the store does, with ``lengths`` (values in each row) in place of
pointers, so that it can be cut, moved and put after any other. All chunks must agree on what they
hold; ``Intake`` keeps what they agreed on and what was found along the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from pegasos.data.exact import WHY, first_inexact
from pegasos.data.examples import Data, DataError
from pegasos.rows.intake import AS_STORED

Piece = dict[str, np.ndarray]

PIECE_BYTES = 16 << 20
PIECE_ROWS = 1 << 20
PER_ENTRY = ("indices", "values")  # of CSR; all other arrays have one entry for each row

LONGEST_WORD = 256
MOST_CLASSES = 1 << 20
_MOST_NUMBERS = 100  # more different targets than this are no classes
_MOST_NOTES = 100
_WIDEST_32 = 2**31 - 1


def rows_of(piece: Piece) -> int:
    """The number of rows in a piece."""
    return piece["lengths" if "lengths" in piece else "values"].shape[0]


class Intake:
    """What all chunks have in common, and what was found in them.

    Parameters
    ----------
    n_features : int, optional
        The number of columns; else of sparse rows the largest that a chunk has.
    """

    def __init__(self, n_features: int | None = None):
        self.asked = n_features
        self.kind: str | None = None
        self.features = n_features or 0
        self.rows = 0
        self.entries = 0
        self.dtype = np.dtype(np.float32)
        self.index_dtype: np.dtype = np.dtype(np.int32)
        self.held: dict[str, bool] = {}
        self.labels = Labels()
        self.feature_names: tuple[str, ...] | None = None
        self.notes: tuple[str, ...] = ()

    def pieces(self, chunks: Iterable[Data]) -> Iterator[Piece]:
        """The rows of the chunks, checked."""
        for chunk in chunks:
            if not isinstance(chunk, Data):
                raise DataError(
                    f"the rows of a store come as pegasos.data.Data, not as {type(chunk).__name__}"
                )
            X = self._agree_on_rows(chunk.X)
            per_row = self._agree_on_columns(chunk, X.shape[0])
            self._agree_on_names(chunk)
            for first, last in _cuts(X):
                piece = (self._csr if self.kind == "csr" else self._dense)(X, first, last)
                piece |= {name: array[first:last] for name, array in per_row.items()}
                yield piece
                self.rows += last - first

    # ------------------------------------------------------------------------------- agreement

    def _agree_on_rows(self, X: Any) -> Any:
        sparse = hasattr(X, "tocsr")
        kind = "csr" if sparse else "dense"
        X = X.tocsr() if sparse else _table(X, self.rows)
        if X.ndim != 2:
            raise DataError(f"X must have two dimensions, rows and features, not {X.ndim}")
        dtype = X.dtype.newbyteorder("=")
        if dtype not in AS_STORED:
            raise DataError(
                f"values of type {X.dtype} cannot be stored; convert X to float32 or float64"
            )
        if X.shape[0] == 0:
            return X
        if self.kind is None:
            self.kind, self.dtype = kind, dtype
            if max(X.shape[1], self.features) > _WIDEST_32:
                self.index_dtype = np.dtype(np.int64)
        self._refuse_other(kind, dtype, X.shape[1])
        if self.asked is None:
            self.features = max(self.features, X.shape[1])
        return X

    def _refuse_other(self, kind: str, dtype: np.dtype, width: int) -> None:
        if kind != self.kind:
            raise DataError(
                f"row {self.rows} begins a {kind} chunk after {self.kind} rows; "
                "a store holds rows of one kind"
            )
        if dtype != self.dtype:
            raise DataError(
                f"row {self.rows} begins a chunk of {dtype} values after {self.dtype} values; "
                "read all chunks with the same dtype"
            )
        if kind == "dense" and self.features and width != self.features:
            raise DataError(
                f"row {self.rows} has {width} features where {self.features} were expected"
            )

    def _agree_on_columns(self, chunk: Data, m: int) -> dict[str, np.ndarray]:
        """Targets, weights and groups: all chunks have them, or none has."""
        given = {"targets": chunk.y, "weights": chunk.weights, "groups": chunk.groups}
        if m == 0:
            return {}
        held = {name: array is not None for name, array in given.items()}
        for name, holds in held.items():
            if holds != self.held.get(name, holds):
                verb, before = ("has", "have not") if holds else ("has no", "have")
                raise DataError(
                    f"the chunk that begins at row {self.rows} {verb} {name}, "
                    f"which the rows before it {before}"
                )
        self.held = held
        found = {name: np.asarray(array) for name, array in given.items() if array is not None}
        for name, array in found.items():
            if array.shape != (m,):
                raise DataError(
                    f"{name} of shape {array.shape} do not fit {m} rows (from row {self.rows} on)"
                )
        return {name: self._column(name, array) for name, array in found.items()}

    def _column(self, name: str, array: np.ndarray) -> np.ndarray:
        if name == "targets":
            return self.labels.take(array, self.rows)
        if name == "groups":
            if array.dtype.kind not in "iu":
                raise DataError(f"groups must be whole numbers (int64), not {array.dtype}")
            return _groups(array, self.rows)
        return _finite_numbers(array, name, self.rows)

    def _agree_on_names(self, chunk: Data) -> None:
        names = None if chunk.feature_names is None else tuple(chunk.feature_names)
        if names is not None and self.feature_names not in (None, names):
            raise DataError(f"the columns have other names from row {self.rows} on")
        self.feature_names = names or self.feature_names
        new = tuple(note for note in chunk.notes if note not in self.notes)
        self.notes = (self.notes + new)[:_MOST_NOTES]

    # ---------------------------------------------------------------------------------- pieces

    def _csr(self, X: Any, first: int, last: int) -> Piece:
        pointers = X.indptr[first : last + 1].astype(np.int64)
        lengths = np.diff(pointers)
        start, stop = int(pointers[0]), int(pointers[-1])
        values, indices = X.data[start:stop], X.indices[start:stop]
        sizes = {stop - start, values.size, indices.size}
        if (pointers[1:] < pointers[:-1]).any() or start < 0 or len(sizes) > 1:
            raise DataError(f"the CSR pointers of X decrease or overrun after row {self.rows}")
        width = self.asked if self.asked is not None else X.shape[1]
        check_columns(indices, lengths, width, self.rows)
        if self.index_dtype == np.int32 and width > _WIDEST_32:
            check_columns(indices, lengths, _WIDEST_32, self.rows, "; give n_features beforehand")
        check_values(values, lengths, indices, self.rows)
        self.entries += values.size
        return {
            "lengths": lengths,
            "indices": np.ascontiguousarray(indices, self.index_dtype),
            "values": np.ascontiguousarray(values, self.dtype),
        }

    def _dense(self, X: np.ndarray, first: int, last: int) -> Piece:
        values = np.ascontiguousarray(X[first:last], self.dtype)
        check_values(values, None, None, self.rows)
        self.entries += values.size
        return {"values": values}


class Labels:
    """Targets as numbers, or words as codes in the order in which they were met."""

    def __init__(self) -> None:
        self.words: bool | None = None
        self.codes: dict[str, int] = {}
        self.counts: dict[str, int] | dict[float, int] | None = {}

    def take(self, y: np.ndarray, row: int) -> np.ndarray:
        """The numbers, or the codes of the words, of some more rows."""
        if y.dtype.kind not in "Ubiuf":
            raise DataError(
                f"labels of type {y.dtype} cannot be stored; "
                "convert them to numbers, or to strings with y.astype(str)"
            )
        words = y.dtype.kind == "U"
        if self.words is not None and words != self.words:
            kinds = ("words", "numbers") if words else ("numbers", "words")
            raise DataError(
                f"from row {row} on the labels are {kinds[0]}, before they are {kinds[1]}; "
                "write all of them in one way"
            )
        self.words = words
        return self._take_words(y, row) if words else self._take_numbers(y, row)

    def _take_words(self, y: np.ndarray, row: int) -> np.ndarray:
        found, inverse, counts = np.unique(y, return_inverse=True, return_counts=True)
        new = found.tolist()
        tally: Any = self.counts
        for word, count in zip(new, counts.tolist()):
            if len(word) > LONGEST_WORD:
                at = row + int(np.flatnonzero(y == word)[0])
                raise DataError(
                    f"the label of row {at} has {len(word)} characters; "
                    f"a word of at most {LONGEST_WORD} is expected"
                )
            self.codes.setdefault(word, len(self.codes))
            tally[word] = tally.get(word, 0) + count
        if len(self.codes) > MOST_CLASSES:
            raise DataError(f"there are more than {MOST_CLASSES} different words as labels")
        return np.array([self.codes[word] for word in new], dtype=np.int32)[inverse.ravel()]

    def _take_numbers(self, y: np.ndarray, row: int) -> np.ndarray:
        at = first_inexact(y)
        if at is not None:
            raise DataError(f"the label of row {row + at} is {y[at]}, {WHY}, as y.astype(str) does")
        numbers = _finite_numbers(y, "targets", row)
        if self.counts is not None:
            tally: Any = self.counts
            found, counts = np.unique(numbers, return_counts=True)
            if found.size <= _MOST_NUMBERS:
                for number, count in zip(found.tolist(), counts.tolist()):
                    tally[number] = tally.get(number, 0) + count
            if max(found.size, len(tally)) > _MOST_NUMBERS:
                self.counts = None
        return numbers

    def classes(self) -> tuple[list[str] | list[float] | None, list[int] | None]:
        """The different labels in order, and how many rows have each."""
        if not self.counts:
            return None, None
        found: Any = sorted(self.counts)
        return found, [self.counts[label] for label in found]

    def places(self) -> np.ndarray:
        """The place of each code among the words in order."""
        words = list(self.codes)
        places = np.empty(len(words), dtype=np.int32)
        places[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words))
        return places


# -------------------------------------------------------------------------------------- checks


def check_columns(
    indices: np.ndarray, lengths: np.ndarray, width: int, row: int, advice: str = ""
) -> None:
    """Refuse columns that are not from 0 to width − 1, or do not ascend within their row."""
    if indices.size == 0:
        return
    if indices.min() < 0 or indices.max() >= width:
        at = int(np.argmax((indices < 0) | (indices >= width)))
        raise DataError(
            f"row {row + _row_at(lengths, at)} has column {indices[at]}, "
            f"which is outside 0 … {width - 1}{advice}"
        )
    falls = indices[1:] <= indices[:-1]
    starts = np.cumsum(lengths)[:-1]
    falls[starts[(starts > 0) & (starts < indices.size)] - 1] = False
    if falls.any():
        at = int(np.argmax(falls)) + 1
        fault = "twice" if indices[at] == indices[at - 1] else f"after column {indices[at - 1]}"
        raise DataError(
            f"row {row + _row_at(lengths, at)} has column {indices[at]} {fault}; "
            "columns must ascend: call sum_duplicates() on X"
        )


def check_values(
    values: np.ndarray, lengths: np.ndarray | None, indices: np.ndarray | None, row: int
) -> None:
    """Refuse what is not a finite number, or not a truth value. Dense rows have no lengths."""
    if values.dtype.kind in "iu":
        return
    truth = values.dtype.kind == "b"
    finite = values.view(np.uint8) <= 1 if truth else np.isfinite(values)
    if finite.all():
        return
    at = int(np.argmin(finite.ravel()))
    if lengths is not None and indices is not None:
        place = row + _row_at(lengths, at), int(indices[at])
    else:
        place = row + at // values.shape[1], at % values.shape[1]
    kind = "NaN" if np.isnan(values.ravel()[at]) else "infinity"
    if truth:
        kind = "neither true nor false"
    raise DataError(
        f"row {place[0]}, column {place[1]} holds {kind}; remove the row or replace the value"
    )


def _row_at(lengths: np.ndarray, at: int) -> int:
    """The row that holds the entry."""
    return int(np.searchsorted(np.cumsum(lengths), at, side="right"))


def _finite_numbers(array: np.ndarray, name: str, row: int) -> np.ndarray:
    if array.dtype.kind not in "biuf":
        raise DataError(f"{name} must be numbers, not {array.dtype}")
    numbers = array.astype(np.float64)
    finite = np.isfinite(numbers)
    if not finite.all():
        at = int(np.argmin(finite))
        raise DataError(f"{name} of row {row + at} is {numbers[at]}; a finite number is expected")
    return numbers


def _groups(array: np.ndarray, row: int) -> np.ndarray:
    largest = np.iinfo(np.int64).max
    if array.dtype.kind == "u" and (array > largest).any():
        at = int(np.argmax(array > largest))
        raise DataError(
            f"the group of row {row + at} is {array[at]}, which int64 cannot hold; number the "
            "groups from 0 on"
        )
    return array.astype(np.int64)


def _table(X: Any, row: int) -> np.ndarray:
    if np.ma.is_masked(X):
        raise DataError(f"X is masked in the chunk that begins at row {row}; fill it or drop rows")
    return np.asarray(X)


def _cuts(X: Any) -> Iterator[tuple[int, int]]:
    """Where to cut a chunk, so that a piece has about ``PIECE_BYTES``, and at least a row."""
    m, first = X.shape[0], 0
    sparse = hasattr(X, "indptr")
    most = PIECE_BYTES // (X.dtype.itemsize + (X.indices.itemsize if sparse else 0))
    while first < m:
        if sparse:
            end = min(int(X.indptr[first]) + most, int(X.indptr[-1]))
            last = int(np.searchsorted(X.indptr, X.indptr.dtype.type(end), side="right")) - 1
        else:
            last = first + most // max(X.shape[1], 1)
        last = min(max(last, first + 1), first + PIECE_ROWS, m)
        yield first, last
        first = last
