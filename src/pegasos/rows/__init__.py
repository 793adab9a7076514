"""The training examples as stored, and a row's few verbs."""

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
    "Dense",
    "Intake",
    "Rows",
    "add",
    "add_gram",
    "add_rescaled",
    "dot",
    "fetch_row",
    "fetch_start",
    "n_rows",
    "prefetch_ahead",
    "scatters",
    "scores",
    "squared_norm",
    "system_flops",
    "take_in",
]
