"""From what the user holds to rows: checked in one pass, without a copy where the type serves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.compiled import kernel, verb
from pegasos.rows.blocks import Blocks, StoredRows, bounds_of, part
from pegasos.rows.stored import CSR, Dense, Rows, n_rows
from pegasos.rows.verbs import squared_norm

# Used as stored. What is not here (float16, longdouble, objects) is converted once, and said.
AS_STORED = tuple(
    np.dtype(name)
    for name in (
        *("float64", "float32", "bool", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64"),
    )
)
MOST_ROWS = 2**32 - 1  # row numbers are 32-bit

_FINE, _BAD_POINTER, _BAD_COLUMN, _BAD_VALUE = range(4)


@dataclass(frozen=True)
class Intake:
    """Checked rows, their squared norms, and what was done to take them in.

    ``blocks`` says which rows are in memory, where they lie in files.
    """

    rows: Rows
    n_features: int
    squared_norms: np.ndarray
    notes: tuple[str, ...]
    blocks: Blocks | None = None

    @property
    def n_rows(self) -> int:
        return n_rows(self.rows)


def take_in(X: Any) -> Intake:
    """Check X and view it as rows. Raises ValueError with the row and column of what is wrong."""
    notes: list[str] = []
    if isinstance(X, Intake):
        return X
    if isinstance(X, StoredRows):
        return _from_files(X)
    rows, n_features = (_csr if _is_sparse(X) else _dense)(X, notes)
    _refuse_sizes(n_rows(rows), n_features)
    norms, ascending = _check(rows, n_features)
    if not ascending and _any_twice(rows, np.full(n_features, -1)):
        import scipy.sparse

        X = scipy.sparse.csr_array(
            (_summable(rows.values), rows.indices, rows.pointers),  # type: ignore[union-attr]
            shape=(n_rows(rows), n_features),
        ).copy()
        X.sum_duplicates()
        notes.append("X was copied: columns stand twice in a row and had to be summed")
        rows, n_features = _csr(X, notes)
        norms, _ = _check(rows, n_features)
    return Intake(rows, n_features, norms, tuple(notes))


def _refuse_sizes(m: int, n_features: int) -> None:
    if m == 0:
        raise ValueError("X has 0 rows; at least one training example is needed")
    if n_features == 0:
        raise ValueError("X has 0 features; at least one column is needed")
    if m > MOST_ROWS:
        raise ValueError(f"X has {m} rows; at most {MOST_ROWS} can be numbered")


def _from_files(X: StoredRows) -> Intake:
    """Check rows that lie in files, some at a time."""
    norms = np.empty(len(X))
    for first, last, of_these in checked_parts(X):
        norms[first:last] = of_these
    return Intake(X.rows, X.n_features, norms, (), blocks_of(X))


def blocks_of(X: StoredRows) -> Blocks:
    """The blocks of rows that lie in files."""
    return Blocks(X.rows, bounds_of(len(X), X.block_rows), X.maps)


def checked_parts(X: StoredRows) -> Iterator[tuple[int, int, np.ndarray]]:
    """Rows that lie in files, from … to before …, and their squared norms: checked, in memory."""
    m, n_features = X.shape
    _refuse_sizes(m, n_features)
    if isinstance(X.rows, CSR):
        _check_ends(X.rows)
    for first, last in blocks_of(X).in_order():
        if isinstance(X.rows, CSR):
            _check_pointers(X.rows, first, last)
        norms, ascending = _check(_by_itself(X.rows, first, last), n_features, first)
        if not ascending:
            raise ValueError(
                f"the columns of one of the rows {first} to {last - 1} of the store do not ascend, "
                "as they do in every store that is written whole: write it again"
            )
        yield first, last, norms


def _by_itself(rows: Rows, first: int, last: int) -> Rows:
    """Some rows as if there were no others."""
    if not isinstance(rows, CSR):
        return part(rows, first, last)
    pointers = rows.pointers[first : last + 1]
    start, stop = int(pointers[0]), int(pointers[-1])
    pointers = pointers - pointers[0]
    pointers.flags.writeable = False
    return CSR(pointers, rows.indices[start:stop], rows.values[start:stop], rows.constant)


def _check_pointers(rows: CSR, first: int, last: int) -> None:
    """Refuse rows that end before they begin, or elsewhere than in the values."""
    ends = rows.pointers[first : last + 1]
    wrong = (ends[1:] < ends[:-1]) | (ends[:-1] < 0) | (ends[1:] > rows.values.size)
    if wrong.any():
        _refuse_pointer(first + int(np.argmax(wrong)), rows.values.size)


def _summable(values: np.ndarray) -> np.ndarray:
    """Values whose sums cannot overflow."""
    return values.astype(np.float64) if values.dtype.kind in "bui" else values


def _is_sparse(X: Any) -> bool:
    return hasattr(X, "tocsr")


def _csr(X: Any, notes: list[str]) -> tuple[Rows, int]:
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and features, not {X.ndim}")
    if X.format != "csr":
        notes.append(f"X was converted from {X.format.upper()} to CSR: one copy")
        X = X.tocsr()
    pointers, indices = (
        _plain(a if a.dtype in (np.int32, np.int64) else a.astype(np.int64), "X", notes)
        for a in (X.indptr, X.indices)
    )
    return CSR(pointers, indices, _plain(X.data, "X", notes), 0.0), int(X.shape[1])


def refuse_masked(array: Any, name: str) -> None:
    """Raise ValueError where a masked array masks something: the values below are not meant."""
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        where = np.argwhere(np.ma.getmaskarray(array))[0]
        place = ", ".join(f"{axis} {k}" for axis, k in zip(("row", "column"), where))
        raise ValueError(
            f"{name} is masked in {place}; remove the row, or give it a value with filled()"
        )


def _dense(X: Any, notes: list[str]) -> tuple[Rows, int]:
    refuse_masked(X, "X")
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and features, not {X.ndim}")
    return Dense(_plain(X, "X", notes), 0.0), X.shape[1]


def _plain(array: np.ndarray, name: str, notes: list[str]) -> np.ndarray:
    """A read-only, aligned, C-contiguous view in native byte order, or else one copy of it."""
    array = np.asarray(array)
    dtype = array.dtype.newbyteorder("=")
    if dtype not in AS_STORED:
        if dtype.kind == "c":
            raise ValueError(f"Complex data not supported: {name} holds {array.dtype} numbers")
        if dtype.kind in "mM":
            raise ValueError(
                f"{name} holds dates or times ({array.dtype}), not numbers: subtract an origin "
                "and divide by a unit, such as np.timedelta64(1, 'D')"
            )
        dtype = np.dtype(np.float32 if dtype == np.float16 else np.float64)
    if array.dtype != dtype:
        notes.append(f"{name} was converted from {array.dtype} to {dtype}: one copy")
        array = array.astype(dtype, order="C")
    if not (array.flags.c_contiguous and array.flags.aligned):
        notes.append(f"{name} was copied to row-major order")
        array = np.require(array.copy(order="C"), requirements=["A", "C"])
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def _check_ends(rows: CSR) -> None:
    ends = int(rows.pointers[0]), int(rows.pointers[-1])
    if ends[0] != 0 or ends[1] != rows.values.size or rows.indices.size != rows.values.size:
        raise ValueError(
            f"the CSR pointers of X run from {ends[0]} to {ends[1]}, but it stores "
            f"{rows.values.size} values; with 2**31 or more of them indptr must be int64"
        )


def _refuse_pointer(row: int, size: int) -> None:
    raise ValueError(
        f"the CSR pointers of X decrease or leave its {size} values at row {row}; "
        "with 2**31 or more values indptr must be int64"
    )


def _check(rows: Rows, n_features: int, before: int = 0) -> tuple[np.ndarray, bool]:
    """Squared norms of all rows, and whether the columns of each ascend.

    ``before`` is the number of the first row, where these are not all.
    """
    if isinstance(rows, CSR):
        _check_ends(rows)
    norms = np.empty(n_rows(rows))
    fault, row, ascending = _scan(rows, n_features, norms)
    if fault == _FINE:
        return norms, ascending
    if fault == _BAD_POINTER:
        _refuse_pointer(row + before, rows.values.size)
    if fault == _BAD_COLUMN:
        raise ValueError(f"row {row + before} of X has a column outside 0 … {n_features - 1}")
    if isinstance(rows, CSR):
        inside = slice(int(rows.pointers[row]), int(rows.pointers[row + 1]))
        values, columns = rows.values[inside], rows.indices[inside]
    else:
        values, columns = rows.values[row], np.arange(n_features)
    if not np.isfinite(values).all():
        at = int(np.flatnonzero(~np.isfinite(values))[0])
        kind = "NaN" if np.isnan(values[at]) else "infinity (inf)"
        raise ValueError(
            f"Input X contains {kind}: row {row + before}, column {columns[at]}; "
            "remove the row or replace the value"
        )
    at = int(np.argmax(np.abs(values)))
    raise ValueError(
        f"row {row + before} of X is too large: its squared norm overflows (column {columns[at]} "
        f"holds {values[at]:g}); scale the features"
    )


@verb
def _all_ascend(rows, n_features):
    """Whether pointers and columns are in order and in range in all rows, in one quick sweep."""


@_all_ascend.of(CSR)
def _all_ascend_csr(rows, n_features):
    pointers, indices = rows.pointers, rows.indices
    size = np.int64(indices.size)
    before = np.int64(0)
    for i in range(np.uint64(pointers.size)):
        here = np.int64(pointers[i])
        if here < before or here > size:
            return False
        before = here
    smallest, largest = np.int64(0), np.int64(-1)
    for j in range(np.uint64(size)):
        smallest = min(smallest, np.int64(indices[j]))
        largest = max(largest, np.int64(indices[j]))
    if smallest < 0 or largest >= n_features:
        return False
    falls = np.int64(0)
    for j in range(np.uint64(1), np.uint64(size)):
        falls += np.int64(indices[j] <= indices[j - np.uint64(1)])
    for i in range(np.uint64(1), np.uint64(pointers.size - 1)):
        first = np.uint64(pointers[i])
        if pointers[i + np.uint64(1)] > pointers[i] > 0:  # the fall to a new row is none
            falls -= np.int64(indices[first] <= indices[first - np.uint64(1)])
    return falls == 0


@_all_ascend.of(Dense)
def _all_ascend_dense(rows, n_features):
    return True


@verb
def _scan_columns(rows, i, n_features):
    """Whether the pointers and columns of row i are in their range."""


@_scan_columns.of(CSR)
def _scan_columns_csr(rows, i, n_features):
    start, stop = rows.pointers[i], rows.pointers[i + 1]
    if stop < start or start < 0 or stop > rows.values.size:
        return _BAD_POINTER
    for j in range(start, stop):
        if not 0 <= rows.indices[j] < n_features:
            return _BAD_COLUMN
    return _FINE


@_scan_columns.of(Dense)
def _scan_columns_dense(rows, i, n_features):
    return _FINE


@kernel
def _scan(rows, n_features, norms):
    ascending = _all_ascend(rows, n_features)
    for i in range(np.uint64(norms.size)):
        if not ascending:  # which row is at fault, and how
            fault = _scan_columns(rows, np.int64(i), n_features)
            if fault != _FINE:
                return fault, np.int64(i), ascending
        norms[i] = squared_norm(rows, i)
        if not np.isfinite(norms[i]):
            return _BAD_VALUE, np.int64(i), ascending
    return _FINE, np.int64(0), ascending


@kernel
def _any_twice(rows, seen):
    """Whether a column stands twice in a row; seen[j] is the last row that had column j, or −1."""
    for i in range(rows.pointers.size - 1):
        for j in range(rows.pointers[i], rows.pointers[i + 1]):
            if seen[rows.indices[j]] == i:
                return True
            seen[rows.indices[j]] = i
    return False
