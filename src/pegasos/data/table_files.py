"""Tables in files, as batches of rows: Parquet, Arrow IPC (file or stream) and CSV.

Each of the three can be read as often as needed, a few columns and a few rows at a time. CSV says
nothing about its types: they are guessed from its beginning, numbers are then read as float64, and
the columns that are wanted as text are read as text.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pegasos.data.examples import DataError
from pegasos.data.opened import open_binary
from pegasos.data.spooled import refuse_only_once

FORMATS = ("parquet", "arrow", "csv")
ARROW_FILE = b"ARROW1"  # how an Arrow IPC file begins; a stream begins otherwise


def arrow() -> Any:
    """pyarrow, or a sentence that says how to get it."""
    try:
        import pyarrow
    except ImportError:
        raise DataError(
            "reading tables (Parquet, Arrow, CSV) needs pyarrow: pip install 'pegasos[data]'"
        ) from None
    return pyarrow


@dataclass(frozen=True)
class TableFile:
    """A table in a file.

    Attributes
    ----------
    path : str
        Where it is.
    format : {"parquet", "arrow", "csv"}
        How it is stored.
    schema : pyarrow.Schema
        The names and types of its columns.
    rows : int or None
        How many rows there are, where the file says so.
    delimiter : str
        What stands between two fields of CSV.
    """

    path: str
    format: str
    schema: Any
    rows: int | None
    delimiter: str = ","

    def batches(
        self, names: Sequence[str], chunk_rows: int, text: Sequence[str] = ()
    ) -> Iterator[Any]:
        """The columns of these names, at most so many rows at a time; ``text`` as strings."""
        read = {"parquet": _parquet_batches, "arrow": _arrow_batches, "csv": _csv_batches}
        with _one_sentence(self.path):
            for batch in read[self.format](self, list(names), chunk_rows, text):
                batch.validate(full=True)  # a damaged file has offsets that lead out of it
                for start in range(0, batch.num_rows, chunk_rows):
                    yield batch.slice(start, chunk_rows)


def open_table(path: str | os.PathLike, format: str, delimiter: str = "auto") -> TableFile:
    """The table in a file, its columns checked for names that stand twice.

    The delimiter of CSV is found in its first line where it is "auto".
    """
    arrow()
    path = os.fspath(path)
    refuse_only_once(path)
    if delimiter == "auto":
        delimiter = _delimiter(path) if format == "csv" else ","
    with _one_sentence(path):
        look = {"parquet": _parquet_schema, "arrow": _arrow_schema, "csv": _csv_schema}
        schema, rows = look[format](path, delimiter)
        names = schema.names
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{path}: two columns are called {name!r}; rename one")
    return TableFile(path, format, schema, rows, delimiter)


@contextlib.contextmanager
def _one_sentence(path: str) -> Iterator[None]:
    """What pyarrow complains of, in one sentence with the file and the row."""
    import pyarrow

    try:
        yield
    except DataError:
        raise
    except UnicodeDecodeError:
        raise DataError(f"{path}: the text is not UTF-8; convert it first") from None
    except MemoryError:
        raise DataError(f"{path} is damaged, or a batch of it is larger than memory") from None
    except (pyarrow.ArrowException, OSError, EOFError) as error:
        raise DataError(f"{path}: {_plainly(str(error))}") from error


def _plainly(complaint: str) -> str:
    """pyarrow's own words, on one line, its rows counted from the first one after the header."""
    found = re.search(r"Row #(\d+): (.*)", complaint, re.DOTALL)
    row = f"row {int(found[1]) - 1}: " if found else ""
    words = found[2] if found else complaint
    if bad := re.search(r"invalid value '(.*)'", words, re.DOTALL):
        words = (
            f"{bad[1][:60]!r} is no number, as the rows before had in this column; correct it, "
            "or name the column in categorical=… to read it as text"
        )
        if where := re.search(r"In CSV column #(\d+)", complaint):
            words = f"column {int(where[1]) + 1}: {words}"
    elif "Expected" in words:
        words = words[0].lower() + words[1:].split(":")[0] + "; complete or remove the row"
    elif "straddl" in words:
        words = "a row is longer than what is read at once; is this a table?"
    return row + "".join(
        c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(words.split())
    )


# Parquet: the columns and their types are in the footer.


def _parquet_schema(path: str, delimiter: str) -> tuple[Any, int]:
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path) as file:
        return file.schema_arrow, file.metadata.num_rows


def _parquet_batches(table: TableFile, names: list[str], chunk_rows: int, text: Any) -> Iterator:
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(table.path, buffer_size=1 << 16) as file:
        for group in range(file.num_row_groups):  # asked for at once, several are held at once
            yield from file.iter_batches(chunk_rows, [group], columns=names)


# Arrow IPC: a file has its batches in a directory, a stream one after the other.


@contextlib.contextmanager
def _arrow_reader(path: str) -> Iterator[Any]:
    import pyarrow.ipc

    with open(path, "rb") as file:
        magic = file.read(len(ARROW_FILE))
    if magic == ARROW_FILE:
        with pyarrow.memory_map(path) as source, pyarrow.ipc.open_file(source) as reader:
            yield reader
    else:
        with open_binary(path) as source, pyarrow.ipc.open_stream(source) as reader:
            yield reader


def _arrow_schema(path: str, delimiter: str) -> tuple[Any, None]:
    with _arrow_reader(path) as reader:
        return reader.schema, None


def _arrow_batches(table: TableFile, names: list[str], chunk_rows: int, text: Any) -> Iterator:
    with _arrow_reader(table.path) as reader:
        if hasattr(reader, "num_record_batches"):
            for k in range(reader.num_record_batches):
                yield reader.get_batch(k).select(names)
        else:
            for batch in reader:
                yield batch.select(names)


# CSV: one thread, so that an error has its row (more of them read a stream no faster).

DELIMITERS = (",", ";", "\t")
_LONGEST_LINE = 1 << 20  # that is looked at
_CSV_BLOCK = 2 << 20  # pyarrow reads many of them ahead; larger ones are slower, too


@contextlib.contextmanager
def _csv_reader(path: str, delimiter: str, **conversion: Any) -> Iterator[Any]:
    import pyarrow.csv

    with (
        open_binary(path) as source,
        pyarrow.csv.open_csv(
            source,
            read_options=pyarrow.csv.ReadOptions(use_threads=False, block_size=_CSV_BLOCK),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(**conversion),
        ) as reader,
    ):
        yield reader


def _delimiter(path: str) -> str:
    """The one of , ; and tab that the first line has most of, not counting what is quoted."""
    line = b""
    with open_binary(path) as file:
        while not line.strip(b"\r\n") and (line := file.readline(_LONGEST_LINE)):
            pass
    open_text = re.sub(rb'"[^"]*"', b"", line).decode("latin-1")
    return max(DELIMITERS, key=open_text.count)


def _csv_schema(path: str, delimiter: str) -> tuple[Any, None]:
    import pyarrow as pa

    with _csv_reader(path, delimiter) as reader:
        found = reader.schema
    if all(_is_number(name) for name in found.names):
        raise DataError(
            f"{path}: the first row holds numbers; the first row of CSV must hold the names of "
            "the columns, so add one"
        )
    types = [pa.float64() if _numeric(field.type) else field.type for field in found]
    return pa.schema(list(zip(found.names, types))), None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _numeric(type: Any) -> bool:
    """A number that may get a fraction further down, or nothing so far."""
    from pyarrow import types

    return types.is_integer(type) or types.is_floating(type) or types.is_null(type)


def _csv_batches(
    table: TableFile, names: list[str], chunk_rows: int, text: Sequence[str]
) -> Iterator[Any]:
    import pyarrow as pa

    as_read = {name: table.schema.field(name).type for name in names}
    as_read |= {name: pa.string() for name in text if name in as_read}
    with _csv_reader(
        table.path, table.delimiter, column_types=as_read, include_columns=names
    ) as reader:
        yield from reader
