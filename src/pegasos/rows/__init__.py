"""The training examples as stored, and a row's few verbs."""

from pegasos.rows.blocks import (
    AT_ONCE,
    Blocks,
    Mapped,
    StoredRows,
    bounds_of,
    in_order,
    map_array,
    part,
)
from pegasos.rows.gram import add_gram, scatters, system_flops
from pegasos.rows.intake import Intake, blocks_of, checked_parts, take_in
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
    "AT_ONCE",
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
    "blocks_of",
    "bounds_of",
    "checked_parts",
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
