"""``@kernel`` and ``@verb``: what they promise to the code that is written with them."""

import math
from collections import namedtuple
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache

from pegasos.compiled import KERNELS, fetch, kernel, unsigned, verb

compiled_only = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="there is no compiled code in plain-Python mode"
)


@pytest.fixture
def a_kernel():
    """``kernel`` for functions of this file: not cached, and forgotten afterwards."""
    made = []

    def make(function):
        made.append(kernel(function))
        made[-1]._cache = NullCache()
        return made[-1]

    yield make
    for one in made:
        KERNELS.remove(one)


class Pair(NamedTuple):
    first: float
    second: float


class Twin(NamedTuple):
    first: float
    second: float


class Empty(NamedTuple):
    pass


class Stranger(NamedTuple):
    first: float


@verb
def size_of(thing, factor):
    """How large a thing is."""


@size_of.of(Pair)
def _size_of_pair(thing, factor):
    return factor * (thing.first + thing.second)


@size_of.of(Twin)
def _size_of_twin(thing, factor):
    return -factor * thing.first


@size_of.of(Empty)
def _size_of_empty(thing, factor):
    return 0.5 * factor


@numba.njit
def compiled_size_of(thing, factor):
    return size_of(thing, factor)


@pytest.mark.parametrize("call", [size_of, compiled_size_of], ids=["plain", "compiled"])
@pytest.mark.parametrize(
    ("thing", "size"), [(Pair(1.0, 2.0), 30.0), (Twin(1.0, 2.0), -10.0), (Empty(), 5.0)]
)
def test_a_verb_is_chosen_by_the_class_of_its_first_argument(call, thing, size):
    assert call(thing, 10.0) == size


def test_a_verb_keeps_its_name_and_its_description():
    assert (size_of.__name__, size_of.__doc__) == ("size_of", "How large a thing is.")


def test_a_verb_refuses_a_class_that_it_does_not_know():
    with pytest.raises(KeyError):
        size_of(Stranger(1.0), 1.0)


def test_a_verb_refuses_a_namesake_that_compiled_code_could_not_tell_apart():
    @verb
    def size(thing):
        """How large it is."""

    size.of(Pair)(lambda thing: 2)
    with pytest.raises(TypeError, match="compiled code cannot tell them apart"):
        size.of(namedtuple("Pair", ("first", "second")))
    size.of(namedtuple("Pair", ("first",)))(lambda thing: 1)


@compiled_only
@pytest.mark.parametrize("thing", [Stranger(1.0), (1.0, 2.0), 3.0])
def test_compiled_code_refuses_what_a_verb_does_not_know(thing):
    with pytest.raises(numba.TypingError, match="size_of"):
        compiled_size_of(thing, 1.0)


@compiled_only
def test_kernels_release_the_gil_and_run_in_one_thread():
    assert KERNELS
    for one in KERNELS:
        assert one.targetoptions["nogil"], one
        assert not one.targetoptions.get("parallel"), one


@compiled_only
def test_fast_math_keeps_nan_and_infinity_honest(a_kernel):
    @a_kernel
    def judge(x, y):
        return np.isnan(x), np.isfinite(y), x != x, 1.0 / y - 1.0 / y

    assert judge(math.nan, math.inf)[:3] == (True, False, True)
    assert judge(1.0, 2.0) == (False, True, False, 0.0)


@compiled_only
@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_a_sum_that_is_not_finite_is_seen(a_kernel, wrong):
    @a_kernel
    def judge(x, sums):
        for i in range(x.shape[0]):
            sums[i] = 0.0
            for j in range(x.shape[1]):
                sums[i] += x[i, j]
            if not np.isfinite(sums[i]):
                return i
        return -1

    table = np.ones((4, 3))
    assert judge(table, np.empty(4)) == -1
    table[2, 1] = wrong
    assert judge(table, np.empty(4)) == 2


@compiled_only
def test_division_by_zero_is_infinite_as_in_numpy(a_kernel):
    @a_kernel
    def quotient(x, y):
        return x / y

    assert quotient(1.0, 0.0) == math.inf
    assert math.isnan(quotient(0.0, 0.0))


@compiled_only
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32])
def test_unsigned_and_fetch_change_no_value(dtype):
    @numba.njit
    def ahead(array, index):
        fetch(array, unsigned(index[0]))
        return array[unsigned(index[0])]

    assert ahead(np.array([1.0, 2.0, 3.0]), np.array([2], dtype=dtype)) == 3.0
