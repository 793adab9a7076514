"""Files in, files out: text, tables and the mapped store."""

from __future__ import annotations

from pegasos.data.examples import Data, DataError
from pegasos.data.header import is_store
from pegasos.data.loading import iter_load, kind_of, load
from pegasos.data.store import iter_store, open_store, store_header, verify_store, write_store
from pegasos.data.svmlight import iter_svmlight, load_svmlight
from pegasos.data.tables import iter_table, load_table
from pegasos.data.writing import save_svmlight, write_svmlight

__all__ = [
    "Data",
    "DataError",
    "is_store",
    "iter_load",
    "iter_store",
    "iter_svmlight",
    "iter_table",
    "kind_of",
    "load",
    "load_svmlight",
    "load_table",
    "open_store",
    "save_svmlight",
    "store_header",
    "verify_store",
    "write_store",
    "write_svmlight",
]
