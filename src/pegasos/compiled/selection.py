"""Where does a sum of weights, taken in the order of their keys, pass a target? In linear time."""

from __future__ import annotations

import numpy as np

from pegasos.compiled.kernel import inlined, kernel

_EQUAL = 1e-12  # of the total weight: sums of the same weights in another order differ by rounding


@inlined
def part(keys, weights, first, last):
    """Put the keys from first to last in order about one of them: smaller, equal, larger.

    Returns it, where the equal and the larger begin, and the weights of the smaller and the equal.
    """
    a, b, c = keys[first], keys[(first + last) // 2], keys[last - 1]
    pivot = max(min(a, b), min(max(a, b), c))
    smaller, k, larger = first, first, last
    below, at = 0.0, 0.0
    while k < larger:
        if keys[k] < pivot:
            below += weights[k]
            keys[k], keys[smaller] = keys[smaller], keys[k]
            weights[k], weights[smaller] = weights[smaller], weights[k]
            smaller += 1
            k += 1
        elif keys[k] > pivot:
            larger -= 1
            keys[k], keys[larger] = keys[larger], keys[k]
            weights[k], weights[larger] = weights[larger], weights[k]
        else:
            at += weights[k]
            k += 1
    return pivot, smaller, larger, below, at


@kernel
def weighted_crossing(keys, weights, target):
    """Return ``(low, high)``: the keys between which the cumulative weight equals ``target``.

    ``low`` is the smallest key up to which the weights sum to at least ``target``. If they sum to
    exactly ``target``, ``high`` is the next larger key; otherwise ``high == low``. With no weight
    needed ``low`` is −∞; with all of it, ``high`` is +∞. Both arrays are permuted.
    """
    n = keys.size
    total = 0.0
    for k in range(n):
        total += weights[k]
    slack = _EQUAL * total
    if target <= slack:
        lowest = np.inf
        for k in range(n):
            lowest = min(lowest, keys[k])
        return -np.inf, lowest
    first, last, before = 0, n, 0.0
    while first < last:
        pivot, smaller, larger, below, at = part(keys, weights, first, last)
        if smaller > first and before + below >= target - slack:
            last = smaller
        elif before + below + at >= target - slack or larger == n:
            if before + below + at > target + slack:
                return pivot, pivot
            following = np.inf
            for k in range(larger, n):
                following = min(following, keys[k])
            return pivot, following
        else:
            before += below + at
            first = larger
    return np.inf, np.inf
