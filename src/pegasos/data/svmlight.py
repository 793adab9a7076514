"""Read svmlight (libsvm) text: all at once, or in chunks.

    label [qid:group] index:value index:value …   # comment

Blocks of whole lines are cut at newlines, and each part is counted and then parsed into its place
in the arrays, by several threads. What can only be known later (that the indices count from 0, that
labels are words) is assumed to be otherwise, and the file is read again if it turns out so.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

import numpy as np

from pegasos.data import parsing
from pegasos.data.arriving import Arriving
from pegasos.data.examples import Data, DataError
from pegasos.data.lines import Block, blocks_of_lines, cuts, read_ahead
from pegasos.data.numerals import INFINITE
from pegasos.data.opened import Opened, name_of, open_binary
from pegasos.data.refusals import LAST_INDEX, is_not_finite, place, refusal, token_at
from pegasos.data.wording import Wording, word_of

Source = str | os.PathLike | BinaryIO

_BLOCK = 8 << 20  # bytes that are read at a time: what stays in the processor's cache
_PART = 1 << 18  # less than this is not worth another thread
_BEYOND = {  # the bits of the smallest float64 that rounds to no finite value
    np.dtype(np.float32): np.float64(2.0**128 - 2.0**103).view(np.uint64),
    np.dtype(np.float64): INFINITE,
}


@dataclass(frozen=True)
class _Asked:
    """What the caller wants, and what has been found out since."""

    dtype: np.dtype
    n_features: int | None
    zero_based: bool | str
    labels: str
    found_zero: bool | None = None  # as long as nobody has looked, indices count from 1
    found_words: bool = False
    decided: bool = False  # numbers or words: not to be changed any more

    @property
    def rules(self) -> parsing.Rules:
        base = 0 if self.zero_based is True or self.found_zero else 1
        last = LAST_INDEX if self.n_features is None else self.n_features - 1 + base
        return parsing.Rules(np.int64(base), np.int64(last), _BEYOND[self.dtype], self.words)

    @property
    def words(self) -> np.bool_:
        return np.bool_(self.labels == "words" or self.found_words)

    @property
    def notes(self) -> tuple[str, ...]:
        base = self.rules.base
        why = "as asked"
        if self.zero_based == "auto":
            why = "an index 0 was found" if self.found_zero else "no index 0 was found"
        words = ("labels are words",) if self.words else ()
        return (f"indices count from {base}: {why}", *words)


class _Reconsider(Exception):
    """The text is not what was assumed; what it is instead, and where that was seen."""

    def __init__(self, found: str, option: str, where: str):
        self.found, self.option, self.where = found, option, where


def load_svmlight(
    path: Source,
    *,
    dtype: Any = "float32",
    n_features: int | None = None,
    zero_based: bool | str = "auto",
    labels: str = "auto",
    threads: int | None = None,
) -> Data:
    """Read svmlight (libsvm) text: ``label [qid:group] index:value … # comment`` in each line.

    The file may be packed (gz, bz2, xz, zst), whatever its name. Blank lines, comments, tabs and
    Windows line ends are fine.

    Parameters
    ----------
    path : path or binary file
        The file. An open file is read from where it stands.
    dtype : {"float32", "float64"}, default="float32"
        The type of the values: each is exactly ``dtype(float(text))``.
    n_features : int, optional
        The number of columns; larger indices are refused. Otherwise the largest index says it.
    zero_based : bool or "auto", default="auto"
        Whether indices count from 0. "auto" means: if an index 0 stands anywhere.
    labels : {"auto", "numbers", "words"}, default="auto"
        What the labels are. "auto" means: numbers, if all of them are.
    threads : int, optional
        How many threads read; by default one for each processor, and one for a small file.

    Returns
    -------
    data : Data
        ``X`` is a ``csr_array`` with 32-bit indices, ``y`` holds float64 numbers or words,
        ``groups`` the ``qid`` of each row, ``notes`` what was decided. Values that the text gives
        as 0 are stored.

    Raises
    ------
    DataError
        If there is no such file, if it is packed and incomplete, if it has no rows, or with
        ``file:line:column`` where a line is not as it should be.

    Examples
    --------
    >>> import io
    >>> from pegasos.data import load_svmlight
    >>> data = load_svmlight(io.BytesIO(b"1 1:0.5 3:2  # a comment" + bytes([10]) + b"-1 2:1e-3"))
    >>> data.X.shape, data.X.data.tolist(), data.y.tolist()
    ((2, 3), [0.5, 2.0, 0.0010000000474974513], [1.0, -1.0])
    >>> data.notes
    ('indices count from 1: no index 0 was found',)
    """
    asked = _asked(dtype, n_features, zero_based, labels)
    again = _again(path)
    with _workers(threads) as (pool, parts):
        while True:
            try:
                with open_binary(path) as file:
                    return _load(file, asked, pool, parts)
            except _Reconsider as error:
                asked = _reconsidered(asked, error, again)


def iter_svmlight(
    path: Source,
    *,
    chunk_bytes: int = 32 << 20,
    dtype: Any = "float32",
    n_features: int | None = None,
    zero_based: bool | str = "auto",
    labels: str = "auto",
    threads: int | None = None,
) -> Iterator[Data]:
    """Read svmlight text in chunks, in bounded memory, however large or packed the file is.

    Parameters
    ----------
    path : path or binary file
        As in :func:`load_svmlight`.
    chunk_bytes : int, default=32 MB
        How much text makes a chunk: so many bytes of whole lines.
    dtype, n_features, threads
        As in :func:`load_svmlight`.
    zero_based : bool or "auto", default="auto"
        "auto" takes a first quick pass over the file, which looks for an index 0.
    labels : {"auto", "numbers", "words"}, default="auto"
        What the labels are. "auto" lets the first chunk decide; words that come later are refused.

    Yields
    ------
    data : Data
        Some rows, never none. Without ``n_features`` each chunk is as wide as its largest index
        says, so that the widths differ.

    Raises
    ------
    DataError
        As :func:`load_svmlight`; lines are counted from the beginning of the file.

    Examples
    --------
    >>> import io
    >>> from pegasos.data import iter_svmlight
    >>> text = b"1 1:0.5 3:2" + bytes([10]) + b"-1 2:1" + bytes([10])
    >>> [data.X.shape for data in iter_svmlight(io.BytesIO(text), chunk_bytes=12)]
    [(1, 3), (1, 2)]
    """
    if chunk_bytes < 1:
        raise ValueError(f"chunk_bytes must be at least 1, not {chunk_bytes}")
    asked = _asked(dtype, n_features, zero_based, labels)
    with _workers(threads) as (pool, parts):
        if zero_based == "auto":
            again = _again(path)
            if again is None:
                raise DataError(
                    f"{name_of(path)} can be read only once, and it takes a pass to see whether "
                    "indices count from 0: pass zero_based=True or zero_based=False"
                )
            with open_binary(path) as file:
                asked = replace(asked, found_zero=_has_zero(file, chunk_bytes))
            again()
        with open_binary(path) as file:
            yield from _chunks(file, asked, chunk_bytes, pool, parts)


def _asked(dtype: Any, n_features: Any, zero_based: Any, labels: Any) -> _Asked:
    dtype = np.dtype(dtype)
    if dtype not in _BEYOND:
        raise ValueError(f"dtype must be float32 or float64, not {dtype}")
    if n_features is not None and not 0 <= n_features <= LAST_INDEX + 1:
        raise ValueError(f"n_features must be between 0 and {LAST_INDEX + 1}, not {n_features}")
    if not (isinstance(zero_based, (bool, np.bool_)) or zero_based == "auto"):
        raise ValueError(f"zero_based must be True, False or 'auto', not {zero_based!r}")
    if labels not in ("auto", "numbers", "words"):
        raise ValueError(f"labels must be 'auto', 'numbers' or 'words', not {labels!r}")
    return _Asked(
        dtype, n_features, zero_based if zero_based == "auto" else bool(zero_based), labels
    )


def _again(source: Source) -> Callable[[], Any] | None:
    """What to do before a source is read again; None if it can be read only once."""
    if isinstance(source, (str, bytes, os.PathLike)):
        return (lambda: None) if os.path.isfile(source) or not os.path.exists(source) else None
    try:
        start = source.tell()
        source.seek(start)
    except (AttributeError, OSError, ValueError):
        return None
    return lambda: source.seek(start)


def _reconsidered(asked: _Asked, error: _Reconsider, again: Callable | None) -> _Asked:
    if again is None:
        raise DataError(
            f"{error.where}, and this input can be read only once: pass {error.option}"
        ) from None
    again()
    known: dict[str, Any] = {error.found: True}
    return replace(asked, **known)


@contextlib.contextmanager
def _workers(threads: int | None) -> Iterator[tuple[ThreadPoolExecutor | None, int]]:
    """The threads that work, one more that reads, and into how many parts to cut a block."""
    if threads is None:
        threads = (
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        )
    if not threads or threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    if threads == 1:
        yield None, 1
        return
    with ThreadPoolExecutor(threads + 1) as pool:
        yield pool, 2 * threads


def _blocks(
    file: Opened, size: int, pool: ThreadPoolExecutor | None
) -> Generator[Block, None, None]:
    blocks = blocks_of_lines(file, size)
    return blocks if pool is None else read_ahead(blocks, pool)


def _load(file: Opened, asked: _Asked, pool: ThreadPoolExecutor | None, parts: int) -> Data:
    reader = _Reader(file.name, asked, pool, parts)
    with contextlib.closing(_blocks(file, _BLOCK, pool)) as blocks:
        for block in blocks:
            reader.take(block)
    if not reader.rows.m:
        raise _no_rows(file)
    return reader.data()


def _chunks(
    file: Opened, asked: _Asked, size: int, pool: ThreadPoolExecutor | None, parts: int
) -> Iterator[Data]:
    reader, empty = _Reader(file.name, asked, pool, parts), True
    with contextlib.closing(_blocks(file, size, pool)) as blocks:
        for block in blocks:
            block = replace(block, fraction=1.0)  # room for this chunk is all that is needed
            try:
                reader.take(block)
            except _Reconsider:
                reader.begin_chunk(replace(reader.asked, found_words=True))
                reader.take(block)
            if not reader.rows.m:
                continue
            empty = False
            yield reader.data()
            reader.begin_chunk(replace(reader.asked, decided=True))
    if empty:
        raise _no_rows(file)


def _no_rows(file: Opened) -> DataError:
    return DataError(f"{file.name} has no rows: it is empty, or holds nothing but comments")


def _has_zero(file: Opened, size: int) -> bool:
    for block in blocks_of_lines(file, size):
        if (
            parsing.first_zero(block.text, np.uint64(block.first), np.uint64(block.last))
            < block.last
        ):
            return True
    return False


class _Reader:
    """Takes blocks of lines, keeps what they hold, and knows the number of the next line."""

    def __init__(self, name: str, asked: _Asked, pool: ThreadPoolExecutor | None, parts: int):
        self.name = name
        self.line = 1
        self._grouped = parsing.UNKNOWN
        self._each: Callable = map if pool is None else pool.map
        self._parts = parts
        self.begin_chunk(asked)

    def begin_chunk(self, asked: _Asked) -> None:
        """Forget the rows so far."""
        self.asked = asked
        self._rules = asked.rules
        self.rows = Arriving(asked.dtype)
        self._words = Wording()

    def data(self) -> Data:
        """The rows."""
        import scipy.sparse

        rows = self.rows
        rows.done()
        n_features = self.asked.n_features
        X = scipy.sparse.csr_array(
            (rows.values, rows.indices, rows.pointers),
            shape=(rows.m, rows.n_features if n_features is None else n_features),
        )
        X.has_canonical_format = True  # the kernel has refused everything else
        y = rows.labels.view(np.float64)
        if self._rules.words:
            y = self._words.words(rows.labels)
        groups = rows.groups if self._grouped == parsing.WITH else None
        return Data(X=X, y=y, groups=groups, notes=self.asked.notes)

    def take(self, block: Block) -> None:
        """Add the rows of a block."""
        parts = max(1, min(self._parts, (block.last - block.first) // _PART))
        places = cuts(block, parts)
        each = self._each if len(places) > 2 else map
        counts = list(each(lambda a, b: _count(block, a, b), places[:-1], places[1:]))
        m, entries = (sum(column) for column in zip(*counts))
        self.rows.reserve(m, entries, block.fraction)
        runs, row, entry = [], self.rows.m, self.rows.entries
        for first, last, (m_part, entries_part) in zip(places[:-1], places[1:], counts):
            runs.append(_run(first, last, row, entry, self._grouped))
            row, entry = row + m_part, entry + entries_part
        starts = [run.copy() for run in runs]
        for start, run, noted in zip(starts, runs, each(lambda run: self._parse(block, run), runs)):
            self._settle(block, start, run, noted)
        self.line += m

    def _parse(self, block: Block, run: np.ndarray) -> np.ndarray:
        """Parse a part into its place; returns what Python must decide."""
        rows, start, room = self.rows, run.copy(), 64
        while True:
            noted = np.empty((room, 2), np.int64)
            with np.errstate(over="ignore"):  # plain Python minds what machine words do
                parsing.parse(
                    block.text,
                    self._rules,
                    rows.pointers,
                    rows.indices,
                    rows.values,
                    rows.labels,
                    rows.groups,
                    noted,
                    run,
                )
            if run[parsing.STATUS] != parsing.MANY_UNSURE:
                return noted[: run[parsing.NOTED]]
            run[:], room = start, 8 * room

    def _settle(self, block: Block, start: np.ndarray, run: np.ndarray, noted: np.ndarray) -> None:
        """Add what a part of a block holds, or refuse it."""
        if self._grouped == parsing.UNKNOWN:
            self._grouped = int(run[parsing.GROUPED])
        elif run[parsing.GROUPED] not in (parsing.UNKNOWN, self._grouped):
            run[:] = start  # it began in ignorance of the part before; it stops where they differ
            run[parsing.GROUPED] = self._grouped
            noted = self._parse(block, run)
        for what, at in noted.tolist():
            self._decide(block, what, at)
        row, entry = int(start[parsing.ROW]), int(start[parsing.ENTRY])
        end = int(run[parsing.ROW])
        if self._rules.words:  # before what stopped the parser, so that the first fault is told
            self._take_words(block, self.rows.labels[row:end])
        if run[parsing.STATUS] != parsing.DONE:
            self._refuse(block, int(run[parsing.STATUS]), int(run[parsing.AT]))
        entries = int(run[parsing.ENTRY]) - entry
        self.rows.settle(row, end - row, entry, entries, int(run[parsing.WIDTH]))

    def _decide(self, block: Block, what: int, at: int) -> None:
        """A number that lies so close to the middle of two that only all its digits can tell."""
        number = np.float64(float(token_at(block.text, at, longest=None)))
        beyond = abs(number).view(np.uint64) >= (self._rules.beyond if what >= 0 else INFINITE)
        if beyond:
            self._refuse(block, parsing.HUGE_VALUE if what >= 0 else parsing.HUGE_LABEL, at)
        if what >= 0:
            self.rows.values[what] = number
        else:
            self.rows.labels[-1 - what] = number.view(np.uint64)

    def _take_words(self, block: Block, packed: np.ndarray) -> None:
        finite = self.asked.labels == "auto"
        at = self._words.take(block.text, packed, lambda word: not (finite and is_not_finite(word)))
        if at >= 0:
            self._refuse(block, parsing.NO_LABEL, at)

    def _refuse(self, block: Block, status: int, at: int) -> None:
        """Raise what a part of a block was stopped by."""
        asked, text = self.asked, block.text
        where = place(self.name, text, block.first, at, self.line)
        if status == parsing.INDEX_ZERO and asked.zero_based == "auto" and asked.found_zero is None:
            raise _Reconsider("found_zero", "zero_based=True", f"{where}: an index 0 stands here")
        if status == parsing.NO_LABEL and asked.labels == "auto" and not self._rules.words:
            word = word_of(token_at(text, at))
            if word is not None and not is_not_finite(word) and not asked.decided:
                raise _Reconsider("found_words", "labels='words'", f"{where}: a word stands here")
        what = refusal(status, text, at, self._rules, asked.decided, asked.n_features)
        raise DataError(f"{where}: {what}")


def _count(block: Block, first: int, last: int) -> tuple[int, int]:
    m, entries = parsing.count(block.text, np.uint64(first), np.uint64(last))
    return int(m), int(entries)


def _run(first: int, last: int, row: int, entry: int, grouped: int) -> np.ndarray:
    run = np.zeros(parsing.SLOTS, np.int64)
    run[parsing.AT], run[parsing.END] = first, last
    run[parsing.ROW], run[parsing.ENTRY], run[parsing.GROUPED] = row, entry, grouped
    return run
