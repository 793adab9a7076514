"""Rows in files, made without the store: plain arrays side by side in a folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from pegasos.rows import CSR, Dense, StoredRows, map_array


def stored(X, folder: Path, block_rows: int) -> StoredRows:
    """X in files of this folder."""
    if sp.issparse(X):
        X = sp.csr_array(X)
        arrays = {
            "pointers": X.indptr.astype(np.int64),
            "indices": X.indices.astype(np.int32),
            "values": X.data,
        }
    else:
        arrays = {"values": np.ascontiguousarray(X)}
    maps = []
    for name, array in arrays.items():
        path = Path(folder) / f"{name}.bin"
        array.tofile(path)
        maps.append(map_array(path, array.dtype, array.shape))
    views = [mapped.array for mapped in maps]
    rows = CSR(*views, 0.0) if sp.issparse(X) else Dense(*views, 0.0)
    return StoredRows(rows, X.shape[1], block_rows, maps)


def resident_file_bytes() -> int:
    """The file-backed memory of this process that is resident now."""
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith("RssFile"))
    return int(line.split()[1]) * 1024
