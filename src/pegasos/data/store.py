"""The store: rows on disk as they lie in memory, so that they can be mapped instead of read.

A store is a folder. Its arrays are files of numbers in C order, little-endian, with nothing before,
between or after them; ``header.json`` says what they are:

    format, version          "pegasos-store", 1
    byte_order, index_base   "little", 0: the first column is column 0
    rows, features, nnz      m, d, and how many values are stored (of a table: m × d)
    kind                     "csr" or "dense"
    block_rows               rows that make a block, to read at a time
    shuffled                 null, or the seed with which the rows were put in random order
    classes, class_counts    the different labels in order, and how many rows have each; null where
                             there are more than 100 different numbers, or no labels
    feature_names            null, or d strings
    notes                    what was decided when the rows were first read
    made_with                the pegasos that wrote it
    arrays                   name: {file, dtype, shape, bytes, crc32}, for

        values      (nnz,) or (m, d), bool, (u)int8 to 64, float32 or float64
        indices     (nnz,) int32 or int64: the column of each value, ascending in a row   csr only
        pointers    (m + 1,) int64: row i has the values from pointers[i] to pointers[i + 1]   ”
        targets     (m,) float64 numbers, or int32 places in ``classes`` where labels are words
        weights     (m,) float64                                               if the rows have any
        groups      (m,) int64                                                 if the rows have any

So this reads one without pegasos:

    about = json.load(open("rows.store/header.json"))
    arrays = {
        name: np.memmap(f"rows.store/{one['file']}", one["dtype"], "r", shape=tuple(one["shape"]))
        for name, one in about["arrays"].items()
    }
    X = scipy.sparse.csr_array((arrays["values"], arrays["indices"], arrays["pointers"]))
"""

from __future__ import annotations

import contextlib
import itertools
import mmap
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pegasos.data.examples import Data, DataError
from pegasos.data.header import NAME, WORDS, Header, StoredArray, is_store, read_header
from pegasos.data.pieces import PIECE_BYTES, Intake, Piece, check_columns, check_values, rows_of
from pegasos.data.saving import saved_folder
from pegasos.data.shuffling import shuffled
from pegasos.rows.blocks import Blocks, Mapped, StoredRows, bounds_of, map_array
from pegasos.rows.intake import MOST_ROWS
from pegasos.rows.stored import CSR, Dense, Rows

Progress = Callable[[str, int, "int | None"], None]

# Of these many blocks some meet at random in each pass, and eight are in memory at a time.
_BLOCKS = 2048
_LEAST_BLOCK, _MOST_BLOCK = 32 << 10, 1 << 20  # bytes: what a disk still reads in one go; enough
_FILES = ("values", "indices", "pointers", "targets", "weights", "groups")
_BUCKETS = "shuffling"  # a folder inside the temporary one
_STRIDE = 1 << 20  # numbers checked at a time
_DO_NOT_NEED = getattr(mmap, "MADV_DONTNEED", None)


# ------------------------------------------------------------------------------------- writing


def write_store(
    path: str | os.PathLike,
    data: Data | Iterable[Data],
    *,
    shuffle: int | None = None,
    block_rows: int | None = None,
    n_features: int | None = None,
    force: bool = False,
    on_progress: Progress | None = None,
) -> Data:
    """Write rows to a store, in one pass and in memory for a chunk of them.

    The store is complete or absent, whatever stops the writing.

    Parameters
    ----------
    path : path
        The folder to make.
    data : Data or iterable of Data
        The rows, at once or in chunks: of one kind (CSR or dense), with values of one dtype, which
        is kept. Sparse chunks may differ in their number of columns.
    shuffle : int, optional
        Store the rows in random order, drawn with this seed: the same rows and seed give the same
        store, however the rows are cut into chunks. By default the order is kept.
    block_rows : int, optional
        How many rows make a block, of which eight are in memory at a time; by default as many as
        make a megabyte, or less where that would be fewer than 2048 blocks.
    n_features : int, optional
        The number of columns; by default the largest of the chunks. Give it where later chunks
        have columns that the first do not have, and there are more than 2**31.
    force : bool, default=False
        Whether a store that has this name is replaced. Nothing but a store ever is.
    on_progress : callable, optional
        Called with what is counted ("rows read" or "rows shuffled"), how many are done, and how
        many there are, or None where nobody knows.

    Returns
    -------
    data : Data
        The store, opened.

    Raises
    ------
    DataError
        If the rows are not finite numbers with ascending columns, or do not agree with each other;
        if something of this name is there already; or if the disk is full.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from pegasos.data import Data, write_store
    >>> X, y = np.eye(4, dtype=np.float32), np.array(["no", "yes", "no", "no"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = write_store(f"{folder}/rows.store", Data(X, y), shuffle=1, block_rows=2)
    ...     data.X, sorted(data.y.tolist())
    (<4 stored dense rows of 4 features, float32, 2 a block>, ['no', 'no', 'no', 'yes'])
    """
    for name, value, low in (
        ("shuffle", shuffle, 0),
        ("block_rows", block_rows, 1),
        ("n_features", n_features, 1),
    ):
        _check_option(name, value, low)
    with saved_folder(path, force, _objection) as folder:
        intake = Intake(n_features)
        pieces = _counted(intake.pieces(_chunks(data)), "rows read", None, on_progress)
        if shuffle is not None:
            pieces = shuffled(pieces, int(shuffle), folder / _BUCKETS)
        with _Writer(folder) as writer:
            for piece in pieces:
                writer.append(piece)
                if shuffle is not None and on_progress is not None:
                    on_progress("rows shuffled", writer.rows, intake.rows)
            header = _header(intake, writer, shuffle, block_rows)
        (folder / NAME).write_bytes(header.text())
    return open_store(path)


def _check_option(name: str, value: Any, low: int) -> None:
    if value is None:
        return
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not low <= value <= 2**62:
        raise DataError(f"{name} should be a whole number from {low} on, or None, not {value!r}")


def _objection(folder: Path) -> str | None:
    """What speaks against replacing the folder by a store."""
    if not is_store(folder):
        return "it is a folder that is not a store"
    ours = {NAME, *(f"{name}.bin" for name in _FILES)}
    others = sorted(set(os.listdir(folder)) - ours)
    if others:
        return f"the store's folder also holds {others[0]!r}, which is not part of it"
    return None


def _chunks(data: Data | Iterable[Data]) -> Iterator[Data]:
    for chunk in [data] if isinstance(data, Data) else data:
        if isinstance(chunk, Data) and isinstance(chunk.X, StoredRows):
            yield from iter_store(chunk)
        else:
            yield chunk


def _counted(
    pieces: Iterable[Piece], what: str, total: int | None, on_progress: Progress | None
) -> Iterator[Piece]:
    done = 0
    for piece in pieces:
        yield piece
        done += rows_of(piece)
        if on_progress is not None:
            on_progress(what, done, total)


class _Writer:
    """Appends pieces to the files of a folder, with their checksums."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.rows = self.entries = 0
        self.shapes: dict[str, tuple[np.dtype, tuple[int, ...]]] = {}
        self.crcs: dict[str, int] = {}
        self._files: dict[str, BinaryIO] = {}

    def __enter__(self) -> _Writer:
        self._open = contextlib.ExitStack()
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.close()

    def append(self, piece: Piece) -> None:
        for name, array in piece.items():
            if name != "lengths":
                self._append(name, array)
        if "lengths" in piece:
            if self.rows == 0:
                self._append("pointers", np.zeros(1, dtype=np.int64))
            self._append("pointers", self.entries + np.cumsum(piece["lengths"]))
            self.entries += piece["values"].size
        self.rows += rows_of(piece)

    def _append(self, name: str, array: np.ndarray) -> None:
        array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        if name not in self._files:
            file = self._open.enter_context((self.folder / f"{name}.bin").open("wb"))
            self._files[name], self.crcs[name] = file, 0
            self.shapes[name] = (array.dtype, (0, *array.shape[1:]))
        dtype, shape = self.shapes[name]
        self.shapes[name] = (dtype, (shape[0] + array.shape[0], *shape[1:]))
        content = array.reshape(-1).view(np.uint8).data
        self.crcs[name] = zlib.crc32(content, self.crcs[name])
        self._files[name].write(content)

    def recode_targets(self, places: np.ndarray) -> None:
        """Replace the codes of the words by their places in order."""
        self._files["targets"].flush()
        crc = 0
        with open(self.folder / "targets.bin", "r+b") as file:
            while content := file.read(4 * _STRIDE):
                fresh = places[np.frombuffer(content, WORDS)].astype(WORDS).tobytes()
                file.seek(-len(content), os.SEEK_CUR)
                file.write(fresh)
                crc = zlib.crc32(fresh, crc)
        self.crcs["targets"] = crc

    def arrays(self) -> dict[str, StoredArray]:
        return {
            name: StoredArray(
                f"{name}.bin",
                dtype.str,
                shape,
                int(np.prod(shape, dtype=object)) * dtype.itemsize,
                self.crcs[name],
            )
            for name, (dtype, shape) in self.shapes.items()
        }


def _header(intake: Intake, writer: _Writer, shuffle: int | None, block_rows: int | None) -> Header:
    _refuse_unfit(intake)
    places = intake.labels.places()
    if (places != np.arange(places.size)).any():
        writer.recode_targets(places)
    classes, counts = intake.labels.classes()
    arrays = writer.arrays()
    if block_rows is None:
        size = sum(arrays[name].bytes for name in ("values", "indices") if name in arrays)
        block_bytes = min(max(size // _BLOCKS, _LEAST_BLOCK), _MOST_BLOCK)
        block_rows = block_bytes * intake.rows // max(size, 1)
    return Header(
        rows=intake.rows,
        features=intake.features,
        kind=str(intake.kind),
        nnz=intake.entries,
        block_rows=min(max(int(block_rows), 1), intake.rows),
        shuffled=None if shuffle is None else int(shuffle),
        classes=classes,
        class_counts=counts,
        feature_names=None if intake.feature_names is None else list(intake.feature_names),
        notes=list(intake.notes),
        arrays=arrays,
        made_with=_made_with(),
    )


def _made_with() -> str:
    try:
        return f"pegasos {version('pegasos')}"
    except PackageNotFoundError:  # sources that run without being installed
        return "pegasos"


def _refuse_unfit(intake: Intake) -> None:
    if intake.rows == 0:
        raise DataError("there are no rows to store")
    if intake.rows > MOST_ROWS:
        raise DataError(f"there are {intake.rows} rows; a store holds at most {MOST_ROWS}")
    if intake.features == 0:
        raise DataError("the rows have no features; at least one column is needed")
    names = intake.feature_names
    if names is not None and len(names) != intake.features:
        raise DataError(f"there are {len(names)} feature names for {intake.features} features")


# ------------------------------------------------------------------------------------- reading


def open_store(path: str | os.PathLike) -> Data:
    """Open a store: its rows are mapped, not read.

    Parameters
    ----------
    path : path
        The folder.

    Returns
    -------
    data : Data
        ``X`` is a ``StoredRows``, which ``Problem`` and the estimators take; targets, weights and
        groups are read.

    Raises
    ------
    DataError
        If the folder is not a complete store of this version.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from pegasos.data import Data, open_store, write_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_store(f"{folder}/rows.store", Data(np.eye(3), np.array([1.0, 2.0, 2.0])))
    ...     open_store(f"{folder}/rows.store").y
    array([1., 2., 2.])
    """
    header = read_header(path)
    folder = Path(path)
    rows, maps = _rows(folder, header)
    notes = tuple(header.notes)
    if header.shuffled is not None:
        notes += (f"the rows were shuffled with seed {header.shuffled} when they were stored",)
    return Data(
        X=StoredRows(rows, header.features, header.block_rows, maps),
        y=_targets(folder, header),
        weights=_column(folder, header, "weights"),
        groups=_column(folder, header, "groups"),
        feature_names=None if header.feature_names is None else tuple(header.feature_names),
        notes=notes,
    )


def _rows(folder: Path, header: Header) -> tuple[Rows, tuple[Mapped, ...]]:
    """The rows over the files, and what maps them."""
    values = _mapped(folder, header.arrays["values"])
    if header.kind == "dense":
        return Dense(values.array, 0.0), (values,)
    pointers = _mapped(folder, header.arrays["pointers"])
    indices = _mapped(folder, header.arrays["indices"])
    if pointers.array[0] != 0 or pointers.array[-1] != header.nnz:
        file = folder / header.arrays["pointers"].file
        raise _damaged(file, f"does not run from 0 to {header.nnz}")
    rows = CSR(pointers.array, indices.array, values.array, 0.0)
    return rows, (pointers, indices, values)


def _damaged(file: Path, fault: str) -> DataError:
    return DataError(f"{file} {fault}; the store is damaged: write it again")


def _mapped(folder: Path, about: StoredArray) -> Mapped:
    try:
        return map_array(folder / about.file, about.dtype, about.shape)
    except (OSError, ValueError) as error:
        raise DataError(f"{folder / about.file} cannot be mapped: {error}") from None


def _column(folder: Path, header: Header, name: str) -> np.ndarray | None:
    """One number for each row, read."""
    if name not in header.arrays:
        return None
    about = header.arrays[name]
    try:
        array = np.fromfile(folder / about.file, about.dtype, header.rows)
    except OSError as error:
        raise DataError(f"{folder / about.file} cannot be read: {error}") from None
    if array.size != header.rows:
        raise _damaged(folder / about.file, f"holds {array.size} numbers for {header.rows} rows")
    return array


def _targets(folder: Path, header: Header) -> np.ndarray | None:
    codes = _column(folder, header, "targets")
    if codes is None or header.arrays["targets"].dtype != WORDS:
        return codes
    words = np.array(header.classes, dtype=str)
    if codes.min() < 0 or codes.max() >= words.size:
        at = int(np.argmax((codes < 0) | (codes >= words.size)))
        file = folder / header.arrays["targets"].file
        raise _damaged(file, f"holds code {codes[at]} for row {at}, of {words.size} classes")
    return words[codes]


def store_header(path: str | os.PathLike) -> dict[str, Any]:
    """What a store says of itself, without opening its arrays.

    Parameters
    ----------
    path : path
        The folder.

    Returns
    -------
    about : dict
        ``rows``, ``features``, ``nnz``, ``kind``, ``dtype``, ``index_dtype`` (None if dense),
        ``bytes`` of all arrays, ``block_rows``, ``shuffled``, ``labels`` ("words", "numbers" or
        None), ``classes``, ``class_counts``, ``weights`` and ``groups`` (whether there are any),
        ``feature_names``, ``notes`` and ``made_with``.

    Raises
    ------
    DataError
        If the folder is not a complete store of this version.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from pegasos.data import Data, store_header, write_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_store(f"{folder}/rows.store", Data(np.eye(3), np.array([1.0, 2.0, 2.0])))
    ...     about = store_header(f"{folder}/rows.store")
    >>> about["rows"], about["dtype"], about["classes"], about["class_counts"]
    (3, 'float64', [1.0, 2.0], [1, 2])
    """
    header = read_header(path)
    arrays = header.arrays
    targets = arrays.get("targets")
    index = arrays.get("indices")
    return {
        "rows": header.rows,
        "features": header.features,
        "nnz": header.nnz,
        "kind": header.kind,
        "dtype": np.dtype(arrays["values"].dtype).name,
        "index_dtype": None if index is None else np.dtype(index.dtype).name,
        "bytes": sum(one.bytes for one in arrays.values()),
        "block_rows": header.block_rows,
        "shuffled": header.shuffled,
        "labels": None if targets is None else "words" if targets.dtype == WORDS else "numbers",
        "classes": header.classes,
        "class_counts": header.class_counts,
        "weights": "weights" in arrays,
        "groups": "groups" in arrays,
        "feature_names": header.feature_names,
        "notes": header.notes,
        "made_with": header.made_with,
    }


def iter_store(store: str | os.PathLike | Data, rows: int | None = None) -> Iterator[Data]:
    """The rows of a store in order, chunk by chunk in memory.

    Parameters
    ----------
    store : path or Data
        The folder, or what ``open_store`` returned.
    rows : int, optional
        Rows in a chunk; by default those of eight blocks.

    Yields
    ------
    chunk : Data
        Copies: ``X`` is a csr_array or an ndarray.

    Raises
    ------
    DataError
        If the store is damaged.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from pegasos.data import Data, iter_store, write_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_store(f"{folder}/rows.store", Data(np.eye(3), None))
    ...     [chunk.X.shape for chunk in iter_store(f"{folder}/rows.store", rows=2)]
    [(2, 3), (1, 3)]
    """
    _check_option("rows", rows, 1)
    data = store if isinstance(store, Data) else open_store(store)
    X: StoredRows = data.X
    _check_pointers(X)
    blocks = Blocks(X.rows, bounds_of(len(X), rows or X.block_rows), X.maps)
    spans = None if rows is None else list(itertools.pairwise(map(int, blocks.bounds)))
    for first, last in blocks.in_order(spans):
        part = slice(first, last)
        yield Data(
            X=_copied(X, first, last),
            y=None if data.y is None else data.y[part],
            weights=None if data.weights is None else data.weights[part],
            groups=None if data.groups is None else data.groups[part],
            feature_names=data.feature_names,
            notes=data.notes,
        )


def _copied(X: StoredRows, first: int, last: int) -> Any:
    from scipy.sparse import csr_array

    rows = X.rows
    if not isinstance(rows, CSR):
        return np.array(rows.values[first:last])
    pointers = rows.pointers[first : last + 1]
    part = slice(int(pointers[0]), int(pointers[-1]))
    indices, lengths = np.array(rows.indices[part]), np.diff(pointers)
    check_columns(indices, lengths, X.n_features, first)
    pointers = pointers - pointers[0]
    if pointers[-1] < 2**31:
        pointers = pointers.astype(indices.dtype)
    return csr_array(
        (np.array(rows.values[part]), indices, pointers), shape=(last - first, X.n_features)
    )


def _check_pointers(X: StoredRows) -> None:
    """Refuse pointers that decrease, before anything is read where they point."""
    if not isinstance(X.rows, CSR):
        return
    pointers = X.rows.pointers
    for first in range(0, len(X), _STRIDE):
        part = pointers[first : first + _STRIDE + 1]
        falls = part[1:] < part[:-1]  # differences might overflow
        if falls.any():
            at = first + int(np.argmax(falls))
            raise DataError(f"the pointers decrease at row {at}; the store is damaged")
        X.maps[0].advise(_DO_NOT_NEED, first, first + part.size)


# ----------------------------------------------------------------------------------- verifying


def verify_store(path: str | os.PathLike, on_progress: Progress | None = None) -> None:
    """Read all of a store and compare it with what its header says.

    Parameters
    ----------
    path : path
        The folder.
    on_progress : callable, optional
        Called with "bytes checked", how many are done, and how many there are.

    Raises
    ------
    DataError
        With the name of the damaged file, or the row of a bad value.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from pegasos.data import Data, verify_store, write_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_store(f"{folder}/rows.store", Data(np.eye(3), None))
    ...     verify_store(f"{folder}/rows.store")
    """
    header = read_header(path)
    folder = Path(path)
    total = 2 * sum(about.bytes for about in header.arrays.values())  # read once more as rows
    done = 0
    for about in header.arrays.values():
        crc = 0
        for content in _contents(folder / about.file):
            crc = zlib.crc32(content, crc)
            done += len(content)
            if on_progress is not None:
                on_progress("bytes checked", done, total)
        if crc != about.crc32:
            raise _damaged(folder / about.file, f"has checksum {crc}, not {about.crc32}")
    _verify_content(folder, header, total, on_progress)


def _contents(file: Path) -> Iterator[bytes]:
    try:
        with open(file, "rb") as opened:
            while content := opened.read(PIECE_BYTES // 4):
                yield content
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}") from None


def _verify_content(folder: Path, header: Header, total: int, on_progress: Progress | None) -> None:
    """Whether the numbers make sense, where the checksums were made by somebody else."""
    row = 0
    for chunk in iter_store(folder):
        X = chunk.X
        if header.kind == "csr":
            check_values(X.data, np.diff(X.indptr), X.indices, row)
        else:
            check_values(X, None, None, row)
        for name, numbers in (("targets", chunk.y), ("weights", chunk.weights)):
            if numbers is not None and numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
                file = folder / header.arrays[name].file
                raise _damaged(file, f"holds a number that is not finite, from row {row} on")
        row += X.shape[0]
        if on_progress is not None:
            on_progress("bytes checked", total // 2 + total // 2 * row // header.rows, total)
