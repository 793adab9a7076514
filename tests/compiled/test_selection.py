"""``weighted_crossing`` against sorting and summing."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st

from pegasos.compiled import weighted_crossing

SLACK = Fraction(1, 10**12)  # of the total weight, as the function's own


def crossing(keys, weights, target):
    """The definition, in exact arithmetic; None where the answer hangs on rounding."""
    pairs = sorted(zip(keys, map(Fraction, weights)))
    total, target = sum(weight for _, weight in pairs), Fraction(target)
    slack = SLACK * total
    distinct = sorted(set(keys))
    reached = [sum(w for key, w in pairs if key <= bound) for bound in distinct]
    if any(slack / 10 < abs(sums - target) < 10 * slack for sums in (*reached, Fraction(0))):
        return None
    if target <= slack:
        return -math.inf, distinct[0]
    for k, sums in enumerate(reached):
        if abs(sums - target) <= slack:
            return distinct[k], distinct[k + 1] if k + 1 < len(distinct) else math.inf
        if sums > target:
            return distinct[k], distinct[k]
    return math.inf, math.inf


def check(keys, weights, target):
    expected = crossing(keys, weights, target)
    if expected is None:
        reject()
    moved_keys, moved_weights = np.array(keys, dtype=float), np.array(weights, dtype=float)
    assert weighted_crossing(moved_keys, moved_weights, float(target)) == expected
    assert sorted(zip(moved_keys, moved_weights)) == sorted(zip(keys, weights))


@settings(max_examples=400, deadline=None)
@given(
    pairs=st.lists(st.tuples(st.integers(-6, 6), st.integers(1, 9)), min_size=1, max_size=40),
    share=st.integers(0, 1000),
)
@example(pairs=[(2, 3)], share=0)
@example(pairs=[(2, 3)], share=1000)
@example(pairs=[(1, 2), (0, 2), (1, 2), (0, 2)], share=500)
def test_integer_weights_with_many_ties(pairs, share):
    keys, weights = [float(k) for k, _ in pairs], [float(w) for _, w in pairs]
    check(keys, weights, math.floor(sum(weights) * share / 1000))


@settings(max_examples=300, deadline=None)
@given(
    pairs=st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e3)), min_size=1, max_size=40),
    share=st.floats(0, 1),
)
def test_float_weights_and_any_target(pairs, share):
    keys, weights = [k + 0.0 for k, _ in pairs], [w for _, w in pairs]
    check(keys, weights, share * math.fsum(weights))


@settings(max_examples=300, deadline=None)
@given(
    pairs=st.lists(st.tuples(st.integers(-9, 9), st.floats(1e-3, 1e3)), min_size=1, max_size=40),
    count=st.integers(0, 40),
)
def test_target_that_a_sum_of_weights_meets_but_for_rounding(pairs, count):
    pairs.sort()
    keys, weights = [float(k) for k, _ in pairs], [w for _, w in pairs]
    check(keys, weights, float(sum(weights[:count])))


@pytest.mark.parametrize("order", ["ascending", "descending", "equal", "sawtooth"])
@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
def test_orders_that_are_hard_for_a_pivot(order, share):
    keys = {
        "ascending": np.arange(64.0),
        "descending": np.arange(64.0)[::-1],
        "equal": np.full(64, 3.0),
        "sawtooth": np.arange(64.0) % 7,
    }[order]
    check(keys.tolist(), [2.0] * 64, 128 * share)
