"""Rows of Q, made when they are asked for and kept in a cache of limited size.

    Q_ij = y_i y_j ⟨x_i, x_j⟩        row i: x_i is laid out densely, then met with each x_j once

This is all that a decomposition method reads of the data. A row is made for the active columns
alone; when there is no room for it, the row that was used longest ago gives way.

No step depends on what is kept: an entry that is made again has the same bits. The *directory*,
which says what is kept, is part of a run's state, because it decides what a step costs in visits,
and so when the driver looks. The entries are not: a checkpoint stays small, and a run that is
resumed makes them again as it meets them, without counting them twice.

Columns leave the active set and come back. ``era`` counts how often some came back, and back_j is
the era in which column j did, so that a row made in era e lacks the columns with back_j > e.

Joachims 1999, "Making large-scale SVM learning practical", on caching.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pegasos.compiled import kernel
from pegasos.problem import Problem
from pegasos.rows import add, dot
from pegasos.solvers.contract import State

NOWHERE, NEVER = -1, -1  # a slot; an era

FEWEST = 2  # rows of Q that a step needs at once


class Kept(NamedTuple):
    """What a step reads: the entries, where each row stands, and when it was made and used."""

    table: np.ndarray
    slot_of: np.ndarray
    made: np.ndarray
    used: np.ndarray
    era: int


@dataclass(init=False)
class Entries(State):
    """What can be made again: a state without fields, of which nothing is saved."""

    def __init__(self, slots: int, m: int, d: int) -> None:
        self.table = np.empty((slots, m))  # costs memory only where it is written
        self.made = np.full(slots, NEVER)  # the era in which the entries of a slot were made
        self.dense = np.zeros(d)


@dataclass
class RowsOfQ(State):
    """The directory of the rows that are kept, and their entries."""

    slot_of: np.ndarray
    row_of: np.ndarray
    used: np.ndarray
    paid: np.ndarray  # the era up to which a slot has been counted in visits
    back: np.ndarray
    era: int
    entries: Entries

    @classmethod
    def none_yet(cls, problem: Problem, megabytes: float) -> RowsOfQ:
        """An empty cache of so many megabytes, and of two rows at least."""
        m = problem.m
        slots = int(min(max(megabytes * 1e6 // (8 * m), FEWEST), m))
        return cls(
            slot_of=np.full(m, NOWHERE, np.int32),
            row_of=np.full(slots, NOWHERE, np.int32),
            used=np.full(slots, -1.0),
            paid=np.full(slots, NEVER),
            back=np.zeros(m, np.int64),
            era=0,
            entries=Entries(slots, m, problem.d),
        )

    def kept(self) -> Kept:
        entries = self.entries
        return Kept(entries.table, self.slot_of, entries.made, self.used, self.era)

    def make(self, problem: Problem, y: np.ndarray, i: int, columns: np.ndarray) -> int:
        """Make what row i lacks in these columns; returns the visits that this counts for."""
        entries = self.entries
        slot = int(self.slot_of[i])
        if slot == NOWHERE:
            slot = int(np.argmin(self.used))
            if self.row_of[slot] != NOWHERE:
                self.slot_of[self.row_of[slot]] = NOWHERE
            self.slot_of[i], self.row_of[slot] = slot, i
            self.paid[slot] = entries.made[slot] = NEVER
        back = self.back[columns]
        visits = int(np.count_nonzero(back > self.paid[slot]))
        lacking = columns[back > entries.made[slot]]
        _linear_row(problem.rows, problem.which, y, i, lacking, entries.dense, entries.table[slot])
        self.paid[slot] = entries.made[slot] = self.era
        return visits

    def came_back(self, columns: np.ndarray) -> None:
        """These columns are active again: the rows that are kept lack them."""
        if columns.size > 0:
            self.era += 1
            self.back[columns] = self.era


@kernel
def _linear_row(rows, which, y, i, columns, dense, out):
    """out_j = y_i y_j ⟨x_i, x_j⟩ for the columns j; ``dense`` is zero before and after."""
    row = np.uint64(which[i])
    add(rows, row, y[i], dense)
    for k in range(columns.size):
        j = np.uint64(columns[k])
        out[j] = y[j] * dot(rows, np.uint64(which[j]), dense)
    add(rows, row, -y[i], dense)
