"""Rows as svmlight text, each value in the fewest digits that give the same bits when read.

    v = c · 2^q    all numbers of the interval (c ± ½) · 2^q are read as v
    10^k ≤ 2^q     so that one or two multiples of 10^k, and perhaps one of 10^(k+1), lie in it

The ends of the interval and its middle are scaled to quarters of 10^k, "rounded to odd" (a bit says
that something was cut off), which is enough to compare them exactly. A multiple of 10^(k+1) is
shorter; else the nearer multiple of 10^k is taken.

Giulietti 2020, "The Schubfach way to render doubles", sections 8 and 9.
"""

from __future__ import annotations

import numpy as np

from pegasos.compiled import inlined, kernel
from pegasos.compiled.wide import high_product
from pegasos.data.numerals import FIVES, LOWEST, TENS

MOST_PER_ENTRY = 48  # bytes: a blank, the index, a colon and the value
MOST_PER_ROW = 32  # bytes: the group and the newline

_0, _1, _2, _4, _8, _10, _40 = (np.uint64(k) for k in (0, 1, 2, 4, 8, 10, 40))
_HUNDRED_MILLION = np.uint64(10**8)
_BIAS = np.int64(-LOWEST)
_BLANK, _NEWLINE, _COLON, _ZERO = (np.uint8(ord(c)) for c in " \n:0")
_MINUS, _PLUS, _POINT, _E = (np.uint8(ord(c)) for c in "-+.e")
_Q, _I, _D = (np.uint8(ord(c)) for c in "qid")


@inlined
def _scaled(high, low, c):
    """c · (high, low) / 2^128, rounded to odd."""
    cut = high_product(low, c)
    middle = high * c + cut
    whole = high_product(high, c) + np.uint64(middle < cut)
    return whole | np.uint64(middle > _1)


@inlined
def shortest(c, q, narrow):
    """The shortest d · 10^k that is read as c · 2^q: d and k.

    ``narrow`` says that the next smaller number is only half as far away as the next larger one.
    """
    odd = c & _1
    k = (q * 1262611 - (524031 if narrow else 0)) >> 22  # ⌊log10(2^q)⌋, or of ¾ 2^q
    shift = np.uint64(q + ((-k * 1741647) >> 19) + 1)
    row = np.uint64(_BIAS - k)
    high = FIVES[row, 0]
    low = FIVES[row, 1] + np.uint64(-k > 55 or -k < -27)  # rounded up, where it was cut off
    c = c << _2
    middle = _scaled(high, low, c << shift)
    lower = _scaled(high, low, (c - (_1 if narrow else _2)) << shift) + odd
    upper = _scaled(high, low, (c + _2) << shift) - odd
    d = middle >> _2
    tens = d // _10
    if tens > _0:
        below, above = lower <= _40 * tens, _40 * tens + _40 <= upper
        if below != above:
            return tens + np.uint64(above), k + 1
    below, above = lower <= _4 * d, _4 * d + _4 <= upper
    if below != above:
        return d + np.uint64(above), k
    half = _4 * d + _2
    up = middle > half or (middle == half and d & _1 == _1)
    return d + np.uint64(up), k


@inlined
def _split(bits, size):
    """A float of 4 or 8 bytes as sign, c, q and whether it is ``narrow``."""
    digits, top = (52, 2047) if size == 8 else (23, 255)
    sign = bits >> np.uint64(8 * size - 1)
    c = bits & ((_1 << np.uint64(digits)) - _1)
    exponent = np.int64((bits >> np.uint64(digits)) & np.uint64(top))
    narrow = c == _0 and exponent > 1
    if exponent > 0:
        c |= _1 << np.uint64(digits)
    return sign, c, exponent + np.int64(exponent == 0) - (top >> 1) - digits, narrow


@inlined
def _length(d):
    """How many digits a number has, of at most 19."""
    length = _1
    while length < np.uint64(19) and TENS[length] <= d:
        length += _1
    return length


@inlined
def _put_digits(text, p, d, length):
    """So many digits, the last of them at p + length - 1."""
    k = p + length
    while k > p:
        k -= _1
        rest = d // _10
        text[k] = _ZERO + np.uint8(d - _10 * rest)
        d = rest
    return p + length


@inlined
def _put_number(text, p, number):
    return _put_digits(text, p, number, _length(number))


@inlined
def _put_zeros(text, p, count):
    for _ in range(count):
        text[p] = _ZERO
        p += _1
    return p


@inlined
def _put_value(text, p, bits, size):
    """A value as Python writes it, without the ``.0`` behind whole numbers."""
    sign, c, q, narrow = _split(bits, size)
    text[p] = _MINUS
    p += sign
    if c == _0:
        return _put_zeros(text, p, 1)
    d, k = shortest(c, q, narrow)
    if d % _HUNDRED_MILLION == _0:
        d, k = d // _HUNDRED_MILLION, k + 8
    while d % _10 == _0:
        d, k = d // _10, k + 1
    length = _length(d)
    point = np.int64(length) + k  # the value is 0.ddd · 10^point
    if point > 16 or point <= -4:
        return _put_exponential(text, p, d, length, point - 1)
    if k >= 0:
        return _put_zeros(text, _put_digits(text, p, d, length), k)
    if point <= 0:
        p = _put_zeros(text, p, 1)
        text[p] = _POINT
        p = _put_zeros(text, p + _1, -point)
        return _put_digits(text, p, d, length)
    after = np.uint64(-k)
    whole = d // TENS[after]
    p = _put_digits(text, p, whole, np.uint64(point))
    text[p] = _POINT
    return _put_digits(text, p + _1, d - whole * TENS[after], after)


@inlined
def _put_exponential(text, p, d, length, exponent):
    """d.ddde±xx"""
    after = length - _1
    whole = d // TENS[after]
    p = _put_digits(text, p, whole, _1)
    if after > _0:
        text[p] = _POINT
        p = _put_digits(text, p + _1, d - whole * TENS[after], after)
    text[p] = _E
    text[p + _1] = _MINUS if exponent < 0 else _PLUS
    size = np.uint64(abs(exponent))
    return _put_digits(text, p + _2, size, max(_length(size), _2))


@kernel
def print_rows(pointers, indices, values, base, labels, starts, letters, groups, text):
    """Write rows and return how many bytes they take; ``text`` is large enough.

    Row i spans the entries ``pointers[i] - pointers[0]`` on. ``values`` are the bits of the floats.
    The label of a row is the piece ``labels[i]`` of ``letters``; there are groups, or none.
    """
    p, k = _0, _0
    for i in range(np.uint64(labels.size)):
        for j in range(np.uint64(starts[labels[i]]), np.uint64(starts[labels[i] + 1])):
            text[p] = letters[j]
            p += _1
        if groups.size > 0:
            text[p], text[p + _1], text[p + _2] = _BLANK, _Q, _I
            text[p + np.uint64(3)], text[p + _4] = _D, _COLON
            p = _put_number(text, p + np.uint64(5), np.uint64(groups[i]))
        for _ in range(np.uint64(pointers[i]), np.uint64(pointers[i + 1])):
            text[p] = _BLANK
            p = _put_number(text, p + _1, np.uint64(indices[k] + base))
            text[p] = _COLON
            p = _put_value(text, p + _1, np.uint64(values[k]), values.itemsize)
            k += _1
        text[p] = _NEWLINE
        p += _1
    return np.int64(p)
