"""The training examples as stored, and a row's few verbs."""

from pegasos.rows.blocks import (
    Blocks,
    Mapped,
    StoredRows,
    bounds_of,
    in_order,
    map_array,
    part,
)
from pegasos.rows.gram import add_gram, scatters, system_flops
from pegasos.rows.intake import Intake, take_in
from pegasos.rows.stored import CSR, Dense, Rows, n_rows
from pegasos.rows.verbs import (
    add,
    add_rescaled,
    dot,
    fetch_row,
    fetch_start,
    prefetch_ahead,
    scores,
    squared_norm,
)

__all__ = [
    "CSR",
    "Blocks",
    "Dense",
    "Intake",
    "Mapped",
    "Rows",
    "StoredRows",
    "add",
    "add_gram",
    "add_rescaled",
    "bounds_of",
    "dot",
    "fetch_row",
    "fetch_start",
    "in_order",
    "map_array",
    "n_rows",
    "part",
    "prefetch_ahead",
    "scatters",
    "scores",
    "squared_norm",
    "system_flops",
    "take_in",
]
