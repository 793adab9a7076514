"""What a file is, by its content and never by its name."""

from __future__ import annotations

import os
import re

from pegasos.data.examples import DataError
from pegasos.data.header import NAME
from pegasos.data.opened import open_binary
from pegasos.data.spooled import refuse_only_once
from pegasos.data.table_files import ARROW_FILE

PARQUET = b"PAR1"
ARROW_STREAM = b"\xff\xff\xff\xff"  # then the length of the schema
_LOOK = 1 << 16
_LINES = 20  # so many lines tell text from text
_NOT_OURS = {
    b"\x93NUMPY": "a NumPy array; load it with numpy and pass it to the estimator",
    b"PK\x03\x04": "a zip archive (or NumPy's npz); unpack it first",
    b"%PDF": "a PDF document",
    b"7z\xbc\xaf": "a 7z archive; unpack it first",
    b"solver_type": "a model of LIBLINEAR, not data",
    b"SVM-light Version": "a model of SVM-light, not data",
    b"svm_type": "a model of LIBSVM, not data",
}
# A label, perhaps a query, then index:value … ; whatever follows a # is a comment.
_ENTRY = re.compile(r"(\d+|qid):[^\s:,;]+$")


def kind_of_file(path: str | os.PathLike, delimiter: str | None = None) -> str:
    """The kind of a file or folder: store, parquet, arrow, csv or svmlight.

    Parameters
    ----------
    path : path
        The file, compressed or not, or the folder of a store.
    delimiter : str, optional
        What stands between the fields, if it is known to be CSV in case it is text.
    """
    path = os.fspath(path)
    if os.path.isdir(path):
        if os.path.lexists(os.path.join(path, NAME)):
            return "store"  # or a damaged one: who opens it will say
        raise DataError(f"{path} is a folder and no store (it has no {NAME}); name a file")
    refuse_only_once(path)
    with open_binary(path) as file:
        head = file.read(_LOOK)
    if not head:
        raise DataError(f"{path} is empty")
    if head.startswith(PARQUET):
        return "parquet"
    if head.startswith((ARROW_FILE, ARROW_STREAM)):
        return "arrow"
    for magic, what in _NOT_OURS.items():
        if head.startswith(magic):
            raise DataError(f"{path} is {what}")
    if head[8:9] == b"{" and b"__metadata__" in head[:64] and b"pegasos" in head:
        raise DataError(f"{path} is a model of pegasos, not data")
    if head.startswith(b"\x08") and b"onnx" in head[:64]:
        raise DataError(f"{path} is an ONNX model, not data; onnxruntime runs it")
    return _kind_of_text(path, head, delimiter)


def _kind_of_text(path: str, head: bytes, delimiter: str | None) -> str:
    """svmlight or CSV, by the first lines that hold anything."""
    try:
        if b"\0" in head:
            raise ValueError
        text = head.decode("utf-8-sig", errors="strict" if len(head) < _LOOK else "ignore")
    except ValueError:
        raise DataError(
            f"{path} is binary, and neither Parquet, Arrow nor compressed text"
        ) from None
    lines = text.split("\n")
    if len(lines) > 1 and len(head) == _LOOK:
        lines.pop()  # cut off
    held = [line.split("#")[0].split() for line in lines]
    held = [fields for fields in held if fields][:_LINES]
    if not held:
        raise DataError(f"{path} has no rows: there is nothing in it but comments and empty lines")
    if any(len(row) > 1 and all(map(_ENTRY.match, row[1:])) for row in held):
        return "svmlight"
    first = next(line for line in lines if line.strip())
    if delimiter is not None or any(sign in first for sign in ",;\t"):
        return "csv"
    if all(len(fields) == 1 for fields in held):
        return "svmlight"  # labels of rows that are all zero
    raise DataError(
        f"{path} is neither svmlight text (label index:value …) nor CSV (a row of names, then "
        "fields between commas; another sign is named with delimiter=…)"
    )
