"""Write svmlight (libsvm) text: a few rows at a time, the file complete or absent."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np

from pegasos.data import printing
from pegasos.data.exact import WHY, first_inexact
from pegasos.data.examples import Data, DataError
from pegasos.data.parsing import LONGEST_WORD, MOST_GROUP
from pegasos.data.saving import saved_file
from pegasos.data.wording import word_of
from pegasos.rows import CSR
from pegasos.rows.blocks import Blocks, StoredRows, bounds_of

_PACK: dict[str, Callable[[BinaryIO], Any]] = {
    # without name and time, so that the same rows give the same file
    "gz": lambda file: gzip.GzipFile("", "wb", 6, file, 0),
    "bz2": lambda file: bz2.BZ2File(file, "wb"),
    "xz": lambda file: lzma.LZMAFile(file, "wb"),  # noqa: SIM115
}
_ENTRIES = 1 << 16  # that are written at a time
_EXACT = 2**53  # from here on, whole numbers may have no float64


def save_svmlight(
    path: str | os.PathLike,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    zero_based: bool = False,
    comment: str = "",
    force: bool = False,
) -> None:
    """Write rows and their labels as svmlight (libsvm) text.

    Each value is written in the fewest digits that give the same bits when it is read in its own
    type. The number of columns is not in the text: where the last ones are empty, give
    ``n_features`` when you read it.

    Parameters
    ----------
    path : path
        The file. A name that ends with .gz, .bz2, .xz or .zst is packed.
    X : sparse matrix, array or StoredRows of shape (m, d)
        The rows. Of dense ones the zeros are left out; of sparse ones those that are stored are
        written. Columns that stand twice in a row are summed.
    y : array of shape (m,)
        The labels: numbers, or words without blanks, commas, colons and #. (Words that look like
        numbers are read as words with ``labels="words"``.)
    groups : array of shape (m,), optional
        The ``qid`` of each row.
    zero_based : bool, default=False
        Whether indices count from 0.
    comment : str, default=""
        What to say at the beginning of the file.
    force : bool, default=False
        Whether a file of this name may be replaced.

    Raises
    ------
    DataError
        If the file exists already, if it cannot be written, or if something has no place in this
        format. There is then no new file, and none is changed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from pegasos.data import save_svmlight
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "two.svm")
    ...     save_svmlight(path, np.array([[0.5, 0.0, 2.0], [0.0, 0.1, 0.0]]), [1, -1])
    ...     path.read_text().splitlines()
    ['1 1:0.5 3:2', '-1 2:0.1']
    """
    data = Data(X=X, y=y, groups=groups)
    write_svmlight(path, data, zero_based=zero_based, comment=comment, force=force)


def write_svmlight(
    path: str | os.PathLike,
    chunks: Data | Iterable[Data],
    *,
    zero_based: bool = False,
    comment: str = "",
    force: bool = False,
) -> tuple[int, int]:
    """Write data, or chunks of it, as svmlight text, in bounded memory.

    Parameters
    ----------
    path, zero_based, comment, force
        As in :func:`save_svmlight`.
    chunks : Data or iterable of Data
        What to write, in this order.

    Returns
    -------
    shape : tuple of two int
        How many rows were written, and how many columns the widest chunk had.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from pegasos.data import Data, write_svmlight
    >>> chunks = (Data(np.full((2, 3), k / 4), y=np.array([1, -1])) for k in range(3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_svmlight(pathlib.Path(folder, "six.svm.gz"), chunks)
    (6, 3)
    """
    m, n_features = 0, 0
    with saved_file(path, force) as plain, _packed(os.fspath(path), plain) as file:
        for line in comment.splitlines():
            file.write(f"# {line}\n".encode())
        for chunk in [chunks] if isinstance(chunks, Data) else chunks:
            for text in _texts(chunk, m, 0 if zero_based else 1):
                file.write(text)
            m, n_features = m + chunk.X.shape[0], max(n_features, chunk.X.shape[1])
        if m == 0:
            raise DataError(f"there is nothing to write to {os.fspath(path)}: the data has no rows")
    return m, n_features


@contextlib.contextmanager
def _packed(name: str, file: BinaryIO) -> Iterator[Any]:
    """A file that packs what is written to it, as its name says."""
    ending = name.rpartition(".")[2].lower()
    if ending in _PACK:
        packer = _PACK[ending](file)
    elif ending == "zst":
        try:
            import zstandard
        except ImportError:
            raise DataError("writing zst needs zstandard: pip install 'pegasos[data]'") from None
        packer = zstandard.ZstdCompressor(write_checksum=True).stream_writer(file, closefd=False)
    else:
        yield file
        return
    with packer:
        yield packer


def _texts(data: Data, before: int, base: int) -> Iterator[memoryview]:
    """The rows of a chunk as text, some at a time; ``before`` rows have been written."""
    y, groups = _checked(data, before)
    for first, last, (pointers, indices, values) in _few_rows(data.X):
        finite = np.isfinite(values)
        if not finite.all():
            k = int(np.argmin(finite))
            row = first + int(np.searchsorted(pointers - pointers[0], k, side="right")) - 1
            raise DataError(
                f"row {before + row} has {values[k]} in column {indices[k]}, which svmlight text "
                "cannot hold: remove the row, or replace the value"
            )
        labels, starts, letters = _labels(y[first:last], before + first)
        group = groups[first:last]
        label = int(np.diff(starts).max())
        room = (last - first) * (label + printing.MOST_PER_ROW)
        text = np.empty(room + values.size * printing.MOST_PER_ENTRY, np.uint8)
        with np.errstate(over="ignore"):  # plain Python minds what machine words do
            size = printing.print_rows(
                *_frozen(pointers, indices, values.view(f"u{values.itemsize}")),
                np.int64(base),
                *_frozen(labels, starts, letters, group),
                text,
            )
        yield text[:size].data


def _frozen(*arrays: np.ndarray) -> list[np.ndarray]:
    views = [array.view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return views


# ------------------------------------------------------------------- what goes with the rows


def _checked(data: Data, before: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels and groups; no groups are an empty array."""
    m = data.X.shape[0]
    if data.weights is not None:
        raise DataError("svmlight text has no place for weights: write them to a file of their own")
    if data.y is None:
        raise DataError("svmlight text needs a label in each row: give zeros if there are none")
    y = np.asarray(data.y)
    groups = np.empty(0, np.int64) if data.groups is None else np.asarray(data.groups)
    for name, array in (("y", y), ("groups", groups)):
        if array.shape != (m,) and (name == "y" or data.groups is not None):
            raise DataError(f"{name} must have one entry for each of {m} rows, not {array.shape}")
    if data.groups is not None:
        fine = groups.dtype.kind in "iu" and (groups >= 0).all() and (groups < MOST_GROUP).all()
        if not fine:
            raise DataError("groups must be whole numbers from 0, of at most 17 digits")
    if y.dtype.kind in "biuf":
        at = first_inexact(y)
        if at is not None:
            raise DataError(f"the label of row {before + at} is {y[at]}, {WHY}")
        y = y.astype(np.float64)
        if not np.isfinite(y).all():
            row = int(np.argmin(np.isfinite(y)))
            raise DataError(f"the label of row {before + row} is {y[row]}, which is no number")
    elif not all(isinstance(label, str) for label in y.tolist()):
        raise DataError(f"the labels must be numbers or words, and are {y.dtype}")
    else:
        y = y.astype(np.str_)
    return y, groups.astype(np.int64, copy=False)


def _labels(y: np.ndarray, before: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The label of each row as the number of a piece of text, where the pieces begin, the text."""
    numbers = y.dtype.kind == "f"
    # bits, for 0 and -0 are different texts
    different, which = np.unique(y.view(np.uint64) if numbers else y, return_inverse=True)
    if numbers:
        texts = [repr(v).removesuffix(".0").encode() for v in different.view(np.float64).tolist()]
    else:
        texts = [_word(word, y, before) for word in different.tolist()]
    starts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    letters = np.frombuffer(b"".join(texts), np.uint8)
    return which.ravel().astype(np.int64, copy=False), starts, letters


def _word(word: str, y: np.ndarray, before: int) -> bytes:
    """A label that is a word, if it can be one in this format."""
    text = word.encode("utf-8", "replace")
    if word_of(text) != word or len(text) > LONGEST_WORD or any(c.isspace() for c in word):
        row = before + int(np.argmax(y == word))
        raise DataError(
            f"the label of row {row}, {word!r}, cannot stand in svmlight text: it must be a word "
            f"of 1 to {LONGEST_WORD} bytes without blanks, commas, colons and #"
        )
    return text


# ---------------------------------------------------------------------------------- the rows

_Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # pointers, indices, values


def _few_rows(X: Any) -> Iterator[tuple[int, int, _Rows]]:
    """Rows from ``first`` to ``last`` as CSR, some at a time, in order and each column once."""
    if isinstance(X, StoredRows):
        blocks = Blocks(X.rows, bounds_of(X.shape[0], X.block_rows), X.maps)
        for first, last in blocks.in_order():
            if isinstance(X.rows, CSR):
                parts = _few_sparse(*X.rows[:3], first, last)
            else:
                parts = _few_dense(X.rows.values, first, last)
            yield from parts
    elif hasattr(X, "tocsr"):
        X = X.tocsr()
        yield from _few_sparse(X.indptr, X.indices, X.data, 0, X.shape[0])
    else:
        X = np.asarray(X)
        if X.ndim != 2:
            raise DataError(f"X must have two dimensions, rows and features, not {X.ndim}")
        yield from _few_dense(X, 0, X.shape[0])


def _few_dense(X: np.ndarray, begin: int, end: int) -> Iterator[tuple[int, int, _Rows]]:
    step = max(_ENTRIES // max(X.shape[1], 1), 1)
    for first in range(begin, end, step):
        part = X[first : min(first + step, end)]
        i, j = np.nonzero(part)
        pointers = np.searchsorted(i, np.arange(part.shape[0] + 1)).astype(np.int64)
        yield first, first + part.shape[0], (pointers, j.astype(np.int32), _floats(part[i, j]))


def _few_sparse(
    pointers: np.ndarray, indices: np.ndarray, values: np.ndarray, begin: int, end: int
) -> Iterator[tuple[int, int, _Rows]]:
    first = begin
    while first < end:
        enough = int(pointers[first]) + _ENTRIES
        last = int(np.searchsorted(pointers, enough, side="right")) - 1
        last = min(max(last, first + 1), first + _ENTRIES, end)
        here = slice(int(pointers[first]), int(pointers[last]))
        yield first, last, _in_order(pointers[first : last + 1], indices[here], values[here])
        first = last


def _in_order(pointers: np.ndarray, indices: np.ndarray, values: np.ndarray) -> _Rows:
    """The same rows with ascending columns; those that stand twice are summed."""
    falls = np.flatnonzero(indices[1:] <= indices[:-1]) + 1
    inside = ~np.isin(falls, pointers - pointers[0])  # the fall to a new row is none
    values = _floats(values)
    if not inside.any():
        return pointers.astype(np.int64), indices, values
    import scipy.sparse

    part = scipy.sparse.csr_array(
        (values.copy(), indices.copy(), pointers - pointers[0]),
        shape=(pointers.size - 1, int(indices.max()) + 1),
    )
    part.sum_duplicates()
    return part.indptr.astype(np.int64), part.indices, part.data


def _floats(values: np.ndarray) -> np.ndarray:
    """Values as float32 or float64, the same in every bit."""
    if values.dtype in (np.float32, np.float64):
        return np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    if values.dtype == np.float16:
        return values.astype(np.float32)
    if values.dtype.kind not in "biu":
        raise DataError(f"X holds {values.dtype}, not numbers that svmlight text can hold")
    floats = values.astype(np.float64)
    if values.dtype.itemsize == 8 and (abs(floats) >= _EXACT).any():
        raise DataError(
            "X holds whole numbers of 2**53 and more, which no reader would get back exactly"
        )
    return floats
