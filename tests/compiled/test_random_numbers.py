"""The generator of the compiled loops, against big integers and against chance."""

import itertools

import numpy as np
import pytest
from scipy.stats import chi2

from pegasos.compiled import below, generator, next_bits, shuffle

DRAWS = """
import json
import numpy as np
from pegasos.compiled import below, generator, next_bits, shuffle
state = generator(np.random.SeedSequence(7))
bits = [int(next_bits(state)) for _ in range(60)]
numbers = [int(below(state, bound)) for bound in (1, 2, 3, 10, 1000, 2**32 - 1) for _ in range(20)]
order = np.arange(50, dtype=np.uint32)
shuffle(order, 40, state)
print(json.dumps([bits, numbers, order.tolist(), state.tolist()]))
"""


def surely_uniform(counts):
    """A test of χ² that fails once in a million for uniform draws (the seeds are fixed)."""
    counts = np.asarray(counts, dtype=float)
    expected = counts.sum() / counts.size
    return ((counts - expected) ** 2 / expected).sum() < chi2.isf(1e-6, counts.size - 1)


def test_bits_are_those_of_xorshift128_in_big_integers():
    state = generator(np.random.SeedSequence(3))
    x, y = (int(word) for word in state)
    mask = 2**64 - 1
    for _ in range(200):
        t = (x ^ (x << 23)) & mask
        x, y = y, t ^ (t >> 17) ^ y ^ (y >> 26)
        assert int(next_bits(state)) == y
    assert state.tolist() == [x, y]


def test_plain_python_draws_the_same_numbers_as_compiled_code(run_python):
    assert run_python(DRAWS) == run_python(DRAWS, NUMBA_DISABLE_JIT="1")


def test_generator_depends_on_the_seed_alone_and_is_never_all_zero():
    states = [generator(np.random.SeedSequence(k)) for k in (0, 1, 0)]
    assert states[0].tolist() == states[2].tolist() != states[1].tolist()

    class Zeros(np.random.SeedSequence):
        def generate_state(self, n_words, dtype=np.uint32):
            return np.zeros(n_words, dtype)

    assert generator(Zeros(0)).any()


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 10])
def test_below_reaches_every_number_alike(bound):
    state = generator(np.random.SeedSequence(bound))
    draws = np.array([below(state, bound) for _ in range(2000 * bound)])
    counts = np.bincount(draws.astype(np.int64), minlength=bound)
    assert counts.size == bound
    assert bound == 1 or surely_uniform(counts)


@pytest.mark.parametrize("bound", [2**31, 2**32 - 1])
def test_below_stays_in_range_for_large_bounds(bound):
    state = generator(np.random.SeedSequence(1))
    draws = np.array([int(below(state, bound)) for _ in range(1000)])
    assert draws.min() >= 0
    assert draws.max() < bound
    assert surely_uniform(np.bincount(draws * 8 // bound, minlength=8))


@pytest.mark.parametrize("count", [0, 1, 2, 17, 50])
def test_shuffle_permutes_the_first_entries_and_leaves_the_rest(count):
    order = np.arange(100, 150, dtype=np.uint32)
    shuffle(order, count, generator(np.random.SeedSequence(5)))
    assert sorted(order[:count]) == list(range(100, 100 + count))
    assert order[count:].tolist() == list(range(100 + count, 150))
    assert count < 10 or order.tolist() != list(range(100, 150))


def test_shuffle_gives_every_permutation_alike():
    state = generator(np.random.SeedSequence(11))
    counts = dict.fromkeys(itertools.permutations(range(4)), 0)
    for _ in range(12_000):
        order = np.arange(4, dtype=np.uint32)
        shuffle(order, 4, state)
        counts[tuple(order.tolist())] += 1
    assert surely_uniform(list(counts.values()))
