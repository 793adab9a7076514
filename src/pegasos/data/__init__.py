"""Files in, files out: text, tables and the mapped store."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# Public name: the module that holds it. Nothing is imported before it is used.
_PUBLIC = {
    "Data": "examples",
    "DataError": "examples",
    "is_store": "header",
    "iter_load": "loading",
    "iter_store": "store",
    "iter_svmlight": "svmlight",
    "iter_table": "tables",
    "kind_of": "loading",
    "load": "loading",
    "load_svmlight": "svmlight",
    "load_table": "tables",
    "open_store": "store",
    "save_svmlight": "writing",
    "store_header": "store",
    "verify_store": "store",
    "write_store": "store",
    "write_svmlight": "writing",
}

__all__ = [*_PUBLIC]

if TYPE_CHECKING:
    from pegasos.data.examples import Data, DataError
    from pegasos.data.header import is_store
    from pegasos.data.loading import iter_load, kind_of, load
    from pegasos.data.store import iter_store, open_store, store_header, verify_store, write_store
    from pegasos.data.svmlight import iter_svmlight, load_svmlight
    from pegasos.data.tables import iter_table, load_table
    from pegasos.data.writing import save_svmlight, write_svmlight


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'pegasos.data' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"pegasos.data.{_PUBLIC[name]}"), name)
    globals()[name] = found
    return found
