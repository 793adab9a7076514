"""Visits in blocks: of the blocks in random order always eight at once, their rows in random order.

Rows that lie in files are read so, with few blocks in memory. Which blocks meet is drawn anew in
each pass: where the same rows met again and again, dual ascent would take ten times the passes. In
memory the same blocks give the same path, and the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pegasos.compiled import kernel, shuffle
from pegasos.problem import Problem
from pegasos.rows import AT_ONCE, bounds_of


def block_bounds(problem: Problem, block_rows: int | None) -> np.ndarray:
    """Where the blocks begin: of so many rows, or as the rows lie; in memory they are one."""
    if block_rows is not None:
        return bounds_of(problem.intake.n_rows, block_rows)
    blocks = problem.intake.blocks
    return np.array([0, problem.intake.n_rows]) if blocks is None else blocks.bounds


def places_of(problem: Problem, bounds: np.ndarray) -> np.ndarray:
    """Where the blocks begin among the rows that count."""
    return np.searchsorted(problem.which, bounds.astype(problem.which.dtype))


def filled_blocks(problem: Problem, bounds: np.ndarray) -> np.ndarray:
    """The blocks with rows that count, in the order in which they lie."""
    return np.flatnonzero(np.diff(places_of(problem, bounds))).astype(np.uint32)


def check_block_rows(order: str | None, block_rows: Any) -> None:
    """Refuse what is not a number of rows, or goes with another order."""
    if block_rows is None:
        return
    whole = isinstance(block_rows, int | np.integer) and not isinstance(block_rows, bool)
    if not (whole and block_rows > 0):
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


def visit_blocks(
    problem: Problem,
    bounds: np.ndarray,
    state: Any,
    in_blocks: bool,
    visits: int,
    position: Callable[[], int],
    go: Callable[[int], int],
    over: Callable[[], bool],
) -> int:
    """Go on for about so many visits, with the blocks in memory that are visited.

    ``state`` has the order of the visits, that of the blocks, and the random generator; ``go``
    makes at most about so many visits from ``position`` on, ``over`` says whether to return.
    """
    done = 0
    while True:
        here = position()
        if here == 0 and in_blocks:
            shuffle_blocks(problem, bounds, state.blocks, state.order, state.rng)
        done += go(min(visits - done, _hold(problem, bounds, state.blocks, here) - here))
        if done >= visits or over():
            return done


def _hold(problem: Problem, bounds: np.ndarray, blocks: np.ndarray, position: int) -> int:
    """Have the blocks in memory whose rows are at this position; returns where theirs end."""
    sizes = np.diff(places_of(problem, bounds))[blocks]
    ends = np.add.reduceat(sizes, np.arange(0, sizes.size, AT_ONCE)).cumsum()
    group = int(np.searchsorted(ends, position, side="right"))
    hold_at(problem, bounds, blocks, group * AT_ONCE)
    return int(ends[group])


def hold_at(problem: Problem, bounds: np.ndarray, blocks: np.ndarray, turn: int) -> None:
    """Have the blocks in memory whose turn it is, and ask for those that come next."""
    files = problem.intake.blocks
    if files is not None:
        files.hold(_spans_at(bounds, blocks, turn), _spans_at(bounds, blocks, turn + AT_ONCE))


def _spans_at(bounds: np.ndarray, blocks: np.ndarray, turn: int) -> list[tuple[int, int]]:
    return [(int(bounds[k]), int(bounds[k + 1])) for k in blocks[turn : turn + AT_ONCE]]


def most_at_once(problem: Problem, bounds: np.ndarray) -> float:
    """The most rows of a batch: those that are in memory at any time, whichever blocks meet."""
    counts = np.diff(places_of(problem, bounds))[filled_blocks(problem, bounds)]
    if counts.size <= 2 * AT_ONCE:  # then no batch has whole turns within it
        return math.inf
    return float(np.sort(counts)[:AT_ONCE].sum())


def shuffle_blocks(
    problem: Problem, bounds: np.ndarray, blocks: np.ndarray, order: np.ndarray, rng: np.ndarray
) -> None:
    """The order of a pass, and of the blocks in it."""
    _shuffle_blocks(problem.which, places_of(problem, bounds), blocks, order, rng)


@kernel
def _shuffle_blocks(which, starts, blocks, order, rng):
    shuffle(blocks, blocks.size, rng)
    position, begin = 0, 0
    for k in range(blocks.size):
        for j in range(starts[blocks[k]], starts[blocks[k] + 1]):
            order[position] = which[j]
            position += 1
        if (k + 1) % AT_ONCE == 0 or k + 1 == blocks.size:
            shuffle(order[begin:position], position - begin, rng)
            begin = position
