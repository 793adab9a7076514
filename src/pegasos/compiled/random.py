"""The random generator of the compiled loops: xorshift128 (Marsaglia 2003), two 64-bit words.

Only shifts and exclusive ors, so plain Python gives the same bits. The state is an array that the
caller owns: one private generator per run, saved and restored with it.
"""

from __future__ import annotations

import numpy as np

from pegasos.compiled.kernel import inlined, kernel

_A, _B, _C, _HALF = np.uint64(23), np.uint64(17), np.uint64(26), np.uint64(32)


def generator(seed: np.random.SeedSequence) -> np.ndarray:
    """A fresh state from a seed sequence."""
    state = seed.generate_state(2, np.uint64)
    state[0] |= np.uint64(1)  # the all-zero state is the one that never moves
    return state


@inlined
def next_bits(state):
    """The next 64 random bits."""
    x = state[0]
    y = state[1]
    x ^= x << _A
    x ^= (x >> _B) ^ y ^ (y >> _C)
    state[0] = y
    state[1] = x
    return x


@inlined
def below(state, bound):
    """A random integer in 0 … bound − 1, for bounds below 2³²."""
    return ((next_bits(state) >> _HALF) * np.uint64(bound)) >> _HALF


@inlined
def shuffle(order, count, state):
    """Shuffle the first ``count`` entries in place (Fisher and Yates)."""
    for k in range(count - 1, 0, -1):
        j = below(state, k + 1)
        order[k], order[j] = order[j], order[k]


@kernel
def draw_below(state, bound):
    """``below``, for callers in Python."""
    return below(state, bound)


@kernel
def shuffle_all(order, state):
    """``shuffle`` of all entries, for callers in Python."""
    shuffle(order, order.size, state)
