"""The two ways in which rows are stored in memory. All arrays are read-only views of the user's."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class CSR(NamedTuple):
    """Compressed sparse rows: row i holds values[p:q] in columns indices[p:q].

    p, q = pointers[i], pointers[i + 1]. ``constant`` is the value of one more feature that every
    row has (0: none); its coefficient is the last entry of w. So a penalised bias costs no copy,
    and no algorithm needs to know of it.
    """

    pointers: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    constant: float


class Dense(NamedTuple):
    """A C-contiguous table, one row after the other; ``constant`` as for CSR."""

    values: np.ndarray
    constant: float


Rows = CSR | Dense


def n_rows(rows: Rows) -> int:
    """How many rows there are."""
    return rows.pointers.size - 1 if isinstance(rows, CSR) else rows.values.shape[0]
