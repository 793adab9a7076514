"""Draw one of many with unequal chances: a tree of sums, where a draw or a change is O(log n).

    tree[1] = Σ chances,   tree[k] = tree[2k] + tree[2k + 1],   tree[size + i] = the chance of i

Only the ratios of chances count. A sum is made anew from its two parts whenever one of them
changes, so that nothing drifts, and what has no chance is never drawn.
"""

from __future__ import annotations

import numpy as np

from pegasos.compiled.kernel import inlined
from pegasos.compiled.random import next_bits

_DROP, _UNIT = np.uint64(11), 2.0**-53  # 53 random bits make a number in [0, 1)
_LEAST = 1e-300  # a chance that is lowered again and again stays above zero,
_SMALL, _LIFT = 1e-100, 2.0**300  # and where all have become small, all are lifted alike


def sum_tree(chances: np.ndarray) -> np.ndarray:
    """The tree of these chances, none of them negative."""
    size = 1 << (chances.size - 1).bit_length()
    tree = np.zeros(2 * size)
    tree[size : size + chances.size] = chances
    while size > 1:
        tree[size // 2 : size] = tree[size : 2 * size : 2] + tree[size + 1 : 2 * size : 2]
        size //= 2
    return tree


@inlined
def draw(tree, state):
    """One of those that have a chance, if any has."""
    size = tree.size // 2
    target = tree[1] * (np.float64(next_bits(state) >> _DROP) * _UNIT)
    k = 1
    while k < size:
        k *= 2
        if target >= tree[k] and tree[k + 1] > 0.0:
            target -= tree[k]
            k += 1
    return k - size


@inlined
def set_chance(tree, i, chance):
    """Give i this chance; zero takes it out."""
    k = tree.size // 2 + i
    tree[k] = chance
    while k > 1:
        k //= 2
        tree[k] = tree[2 * k] + tree[2 * k + 1]


@inlined
def lower_chance(tree, i, factor):
    """Multiply the chance of i by a factor between 0 and 1."""
    chance = tree[tree.size // 2 + i]
    if chance > 0.0:
        set_chance(tree, i, max(factor * chance, _LEAST))
        if tree[1] < _SMALL:
            for k in range(tree.size):
                tree[k] *= _LIFT
