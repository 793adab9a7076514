"""Decimal text to float64, exactly: ``[+-]?(digits[.digits]|.digits)([eE][+-]?digits)?``.

    text = ± w · 10^q   with w of at most 19 digits
    w · 10^q = (w 2^z) · (5^q 2^s) · 2^(q − z − s),   the two brackets being 64 and 128 bits

The upper bits of the product of the brackets are the float64, rounded to even; all is done in
integers, so that no compiler's idea of arithmetic can change a bit. Digits are read eight at a
time, from one machine word.

Lemire 2021, "Number parsing at a gigabyte per second", section 5; Mushtak & Lemire 2023, "Fast
number parsing without fallback". The words of eight digits: Lemire 2021, section 4.
"""

from __future__ import annotations

import numpy as np

from pegasos.compiled import inlined, kernel
from pegasos.compiled.wide import high_product, leading_zeros, trailing_zeros, word_at

FINE, NO_NUMBER, UNSURE = range(3)  # how the reading of a number ends
PADDING = 32  # bytes behind a text that a kernel may load, and ignores

LOWEST, HIGHEST = -342, 308  # below, w · 10^q rounds to zero; above, it is beyond every float64
LAST_POWER = 324  # that printing needs
SIGN = np.uint64(1 << 63)
INFINITE = np.uint64(0x7FF << 52)


def powers_of_five() -> np.ndarray:
    """The 128 leading bits of 5^q for each q, as two words.

    They are cut off, but rounded up for q from -27 to -1, where w · 10^q may be half way.
    """
    table = np.empty((LAST_POWER - LOWEST + 1, 2), np.uint64)
    for q in range(LOWEST, LAST_POWER + 1):
        five = 5 ** abs(q)
        if q >= 0:
            bits = (five << 128) >> five.bit_length()
        else:
            bits = (1 << (five.bit_length() + 127)) // five + (q >= -27)
        table[q - LOWEST] = bits >> 64, bits & (2**64 - 1)
    return table


# Constants of the compiled code: 10 KB, made in a millisecond.
FIVES = powers_of_five()
TENS = 10 ** np.arange(20, dtype=np.uint64)

# Unsigned numbers that kernels need: compiled code makes a float of a signed and an unsigned one.
_0, _1, _3, _4, _8, _9 = (np.uint64(k) for k in (0, 1, 3, 4, 8, 9))
_10, _16, _19, _32, _52 = (np.uint64(k) for k in (10, 16, 19, 32, 52))
_HUNDRED_MILLION = np.uint64(10**8)
_63 = np.uint64(63)
_BIAS = np.int64(-LOWEST)
_ZEROS = np.uint64(0x3030303030303030)
_BEYOND_9 = np.uint64(0x7676767676767676)
_TOPS = np.uint64(0x8080808080808080)
_LOW_PAIRS = np.uint64(0x000000FF000000FF)
_TO_HUNDREDS = np.uint64(0x000F424000000064)
_TO_ONES = np.uint64(0x0000271000000001)
_LAST_NINE = np.uint64(0x1FF)
_ALL = np.uint64(2**64 - 1)
_CASE = np.uint8(0x20)
_ZERO, _PLUS, _MINUS, _POINT, _E = (np.uint8(ord(c)) for c in "0+-.e")
_TEN = np.uint8(10)
_FAR = 100_000  # exponents beyond this are all alike


@inlined
def digits_at(text, p):
    """The word at p with its digits as numbers, and how many of its first bytes are digits."""
    word = word_at(text, p) ^ _ZEROS
    return word, trailing_zeros(((word + _BEYOND_9) | word) & _TOPS) >> _3


@inlined
def number_of(word, count):
    """The number that the first ``count`` digits of a word spell; no digits spell 0."""
    half = _4 * (_8 - count)  # in two halves, for no word can be shifted by 64
    return _eight_digits((word << half) << half)


@inlined
def _eight_digits(word):
    word = word * _10 + (word >> _8)
    hundreds = (word & _LOW_PAIRS) * _TO_HUNDREDS
    ones = ((word >> _16) & _LOW_PAIRS) * _TO_ONES
    return (hundreds + ones) >> _32


@inlined
def nearest(w, q):
    """The bits of the float64 nearest to w · 10^q, and whether that is certain."""
    if w == _0 or q < LOWEST:
        return _0, True
    if q > HIGHEST:
        return INFINITE, True
    z = leading_zeros(w)
    w = w << z
    row = np.uint64(q + _BIAS)
    high, low = high_product(w, FIVES[row, 0]), w * FIVES[row, 0]
    if high & _LAST_NINE == _LAST_NINE:  # what the lower half adds may carry into the result
        more = high_product(w, FIVES[row, 1])
        low = low + more
        if low < more:
            high = high + _1
    certain = low != _ALL or -27 <= q <= 55
    top = high >> _63
    shift = top + _9
    mantissa = high >> shift
    # ⌊q log2(10)⌋ = 217706 q / 2^16 in this range
    power = ((217706 * q) >> 16) + np.int64(63 + 1023) + np.int64(top) - np.int64(z)
    if power <= 0:
        return _subnormal(mantissa, np.uint64(min(1 - power, 63))), certain
    if low <= _1 and -4 <= q <= 23 and mantissa & _3 == _1 and mantissa << shift == high:
        mantissa = mantissa - _1  # exactly half way: to even
    mantissa = (mantissa + (mantissa & _1)) >> _1
    bits = (np.uint64(power - 1) << _52) + mantissa  # the hidden bit, and any carry, add to it
    return (bits if bits < INFINITE else INFINITE), certain


@inlined
def _subnormal(mantissa, shift):
    mantissa = mantissa >> shift
    return (mantissa + (mantissa & _1)) >> _1


@inlined
def read_number(text, p):
    """Read the number that begins at p: its float64 as bits, where it ends, how that went.

    This is the short way, for up to 7 digits before the point and 19 in all; what is longer, and
    what is no number, goes the long way.
    """
    start = p
    negative = np.uint64(text[p] == _MINUS)
    p += negative + np.uint64(text[p] == _PLUS)
    if text[p + _1] == _POINT:  # most often one digit, and the processor need not wait for how many
        w, short = np.uint64(text[p]) - np.uint64(_ZERO), np.uint8(text[p] - _ZERO) < _TEN
        size = _1 if w > _0 else _0
        p += _1
    else:
        word, count = digits_at(text, p)
        w, short = number_of(word, count), _0 < count < _8
        size = count
        p += count
    fraction = _0
    if text[p] == _POINT:
        p += _1
        word, count = digits_at(text, p)
        while count == _8 and fraction < _16:
            w = w * _HUNDRED_MILLION + _eight_digits(word)
            p += _8
            fraction += _8
            word, count = digits_at(text, p)
        w = w * TENS[count] + number_of(word, count)
        p += count
        fraction += count
        short = short and fraction > _0 and count < _8 and size + fraction <= _19
    if not short:
        return read_slowly(text, start)
    q, p, fine = _with_exponent(text, p, -np.int64(fraction))
    if not fine:
        return _0, p, NO_NUMBER
    bits, certain = nearest(w, q)
    return bits | (negative << _63), p, FINE if certain else UNSURE


@kernel
def read_slowly(text, p):
    """``read_number``, byte by byte, for numbers of any length."""
    negative = text[p] == _MINUS
    if negative or text[p] == _PLUS:
        p += _1
    w, size, q, dropped = _0, 0, 0, False
    before, after, point = 0, 0, False
    while True:
        digit = np.uint8(text[p] - _ZERO)
        if digit < _TEN:
            if size < 19:
                w = w * _10 + np.uint64(digit)
                size += 1 if w > _0 else 0
                q -= 1 if point else 0
            else:
                dropped = bool(dropped or digit > 0)
                q += 0 if point else 1
            if point:
                after += 1
            else:
                before += 1
        elif text[p] == _POINT and not point:
            point = True
        else:
            break
        p += _1
    if (point and after == 0) or before + after == 0:
        return _0, p, NO_NUMBER
    q, p, fine = _with_exponent(text, p, q)
    if not fine:
        return _0, p, NO_NUMBER
    bits, certain = nearest(w, q)
    if dropped:  # the number lies between w and w + 1
        upper, sure = nearest(w + _1, q)
        certain = certain and sure and upper == bits
    if negative:
        bits |= SIGN
    return bits, p, FINE if certain else UNSURE


@inlined
def _with_exponent(text, p, q):
    """q and the exponent that may stand at p; where that ends, and whether it has digits."""
    if text[p] | _CASE != _E:
        return q, p, True
    p += _1
    negative = text[p] == _MINUS
    if negative or text[p] == _PLUS:
        p += _1
    exponent, first = np.int64(0), p
    while np.uint8(text[p] - _ZERO) < _TEN:
        if exponent < _FAR:
            exponent = 10 * exponent + np.int64(text[p] - _ZERO)
        p += _1
    return q + (-exponent if negative else exponent), p, p > first
