"""The tree of sums: its sums, its draws against chance, and what has no chance any more."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from pegasos.compiled import draw, generator, lower_chance, set_chance, sum_tree

DRAWS = """
import json
import numpy as np
from pegasos.compiled import draw, generator, lower_chance, sum_tree
state, tree = generator(np.random.SeedSequence(7)), sum_tree(np.arange(1.0, 12.0))
drawn = []
for _ in range(60):
    drawn.append(int(draw(tree, state)))
    lower_chance(tree, drawn[-1], 0.7)
print(json.dumps([drawn, tree.tolist()]))
"""


def leaves(tree, n):
    return tree[tree.size // 2 :][:n]


@settings(max_examples=100, deadline=None)
@given(
    chances=st.lists(st.floats(0, 1e3), min_size=1, max_size=40),
    changes=st.lists(st.tuples(st.integers(0, 39), st.floats(0, 10)), max_size=30),
)
def test_every_sum_is_that_of_its_parts_after_any_changes(chances, changes):
    tree, kept = sum_tree(np.array(chances)), np.array(chances)
    for i, chance in changes:
        set_chance(tree, i % kept.size, chance)
        kept[i % kept.size] = chance
    np.testing.assert_array_equal(leaves(tree, kept.size), kept)
    assert not leaves(tree, tree.size)[kept.size :].any()
    for k in range(1, tree.size // 2):
        assert tree[k] == tree[2 * k] + tree[2 * k + 1]


@pytest.mark.parametrize("n", [1, 2, 3, 8, 11])
def test_each_is_drawn_as_often_as_its_chance_says(n):
    chances = np.random.default_rng(n).uniform(0.5, 4.0, n)
    chances[n // 2] *= 0.0 if n > 2 else 1.0
    tree, state = sum_tree(chances), generator(np.random.SeedSequence(3))
    draws = 20_000
    counts = np.bincount([draw(tree, state) for _ in range(draws)], minlength=n)
    assert counts.size == n
    assert not counts[chances == 0].any()
    expected = draws * (chances / chances.sum())[chances > 0]
    far = ((counts[chances > 0] - expected) ** 2 / expected).sum()
    assert n == 1 or far < chi2.isf(1e-6, expected.size - 1)


def test_what_is_taken_out_is_never_drawn_again_until_nothing_is_left():
    tree, state = sum_tree(np.full(13, 0.1)), generator(np.random.SeedSequence(3))
    out = set()
    while tree[1] > 0:
        i = int(draw(tree, state))
        assert i not in out
        set_chance(tree, i, 0.0)
        out.add(i)
    assert out == set(range(13))


def test_chances_that_are_lowered_without_end_keep_their_ratios_and_never_vanish():
    tree = sum_tree(np.array([1.0, 3.0, 2.0]))
    for _ in range(3000):
        for i in range(3):
            lower_chance(tree, i, 0.5)
    assert tree[1] > 0
    np.testing.assert_allclose(leaves(tree, 3) / tree[1], np.array([1, 3, 2]) / 6, rtol=1e-12)
    for _ in range(3000):
        lower_chance(tree, 1, 1e-5)
    assert 0 < leaves(tree, 3)[1] < 1e-180 * tree[1]
    set_chance(tree, 1, 0.0)
    lower_chance(tree, 1, 0.5)
    assert leaves(tree, 3)[1] == 0


def test_plain_python_draws_the_same_as_compiled_code(run_python):
    assert run_python(DRAWS) == run_python(DRAWS, NUMBA_DISABLE_JIT="1")
