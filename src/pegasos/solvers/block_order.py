"""Visits in blocks: blocks of rows in random order, and the rows of each in random order.

Rows that lie in files are read so, few blocks at a time. In memory the same blocks give the same
path, and the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.compiled import kernel, shuffle
from pegasos.problem import Problem
from pegasos.rows import bounds_of


def block_bounds(problem: Problem, block_rows: int | None) -> np.ndarray:
    """Where the blocks begin: of so many rows, or as the rows lie; in memory they are one."""
    if block_rows is not None:
        return bounds_of(problem.intake.n_rows, block_rows)
    blocks = problem.intake.blocks
    return np.array([0, problem.intake.n_rows]) if blocks is None else blocks.bounds


def places_of(problem: Problem, bounds: np.ndarray) -> np.ndarray:
    """Where the blocks begin among the rows that count."""
    return np.searchsorted(problem.which, bounds.astype(problem.which.dtype))


def check_block_rows(order: str | None, block_rows: Any) -> None:
    """Refuse what is not a number of rows, or goes with another order."""
    if block_rows is None:
        return
    if not (isinstance(block_rows, int | np.integer) and block_rows > 0):
        raise ValueError(f"block_rows must be a positive whole number, not {block_rows!r}")
    if order != "blocks":
        raise ValueError(f"block_rows is for order='blocks', not for order={order!r}")


def check_order(problem: Problem, order: str, block_rows: int | None) -> None:
    """Refuse an order of visits that reads a store here and there, and blocks without a size."""
    if problem.stored and order not in ("blocks", "cycle"):
        raise ValueError(
            f"order={order!r} would read a store from everywhere at once; order='blocks', the "
            "default for a store, reads it block by block"
        )
    if order == "blocks" and block_rows is None and not problem.stored:
        raise ValueError("order='blocks' needs block_rows for rows that lie in memory")


def hold(problem: Problem, bounds: np.ndarray, order: np.ndarray, position: int) -> int:
    """Have the block in memory that is visited at this position; returns where it ends there."""
    first, last = _block_of(bounds, order[position])
    ahead = order[position : position + last - first]
    outside = (ahead < first) | (ahead >= last)
    end = position + (int(np.argmax(outside)) if outside.any() else ahead.size)
    if problem.intake.blocks is not None:
        then = _block_of(bounds, order[end]) if end < order.size else None
        problem.intake.blocks.hold(first, last, then)
    return end


def _block_of(bounds: np.ndarray, row: Any) -> tuple[int, int]:
    k = int(np.searchsorted(bounds, row, side="right"))
    return int(bounds[k - 1]), int(bounds[k])


def shuffle_blocks(
    problem: Problem, bounds: np.ndarray, order: np.ndarray, rng: np.ndarray
) -> None:
    """The order of a pass."""
    starts = places_of(problem, bounds)
    sequence = np.arange(bounds.size - 1, dtype=np.uint32)
    _shuffle_blocks(problem.which, starts, sequence, order, rng)


@kernel
def _shuffle_blocks(which, starts, sequence, order, rng):
    shuffle(sequence, sequence.size, rng)
    position = 0
    for k in range(sequence.size):
        first, last = starts[sequence[k]], starts[sequence[k] + 1]
        size = last - first
        for j in range(size):
            order[position + j] = which[first + j]
        shuffle(order[position : position + size], size, rng)
        position += size
