"""Lines of svmlight text into CSR arrays, straight into place.

    label [qid:group] index:value index:value …   # comment

A piece of text begins at the start of a line and ends with a newline; behind it stand ``PADDING``
bytes that may be looked at. The kernel reads each byte once, never checks for the end (a newline
stops everything), and leaves at the first thing that it does not understand, saying what and where.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pegasos.compiled import inlined, kernel
from pegasos.compiled.wide import word_at
from pegasos.data.numerals import (
    INFINITE,
    NO_NUMBER,
    SIGN,
    UNSURE,
    digits_at,
    number_of,
    read_number,
)

# What a kernel stopped at.
(
    DONE,
    NO_LABEL,  # a label that is no number, or, of words, that is no word
    HUGE_LABEL,  # a label beyond float64
    NO_GROUP,  # a qid that is no number
    GROUPS_DIFFER,  # a qid in some rows alone
    NO_ENTRY,  # something that is no index with its colon, where one should be
    INDEX_ZERO,  # where indices count from one
    INDEX_BEYOND,
    NOT_ASCENDING,
    NO_VALUE,
    HUGE_VALUE,  # beyond what the values can hold
    MANY_UNSURE,  # more uncertain numbers than there is room to note
) = range(12)

# The numbers of a run: where it is and what it found.
AT, END, ROW, ENTRY, STATUS, NOTED, WIDTH, GROUPED = range(8)
SLOTS = 8
UNKNOWN, WITHOUT, WITH = range(3)  # of GROUPED

LONGEST_WORD = 255  # bytes; a word is packed as its place and its length
PLACE = np.uint64(8)

_0, _1, _8 = np.uint64(0), np.uint64(1), np.uint64(8)
_TAB, _NEWLINE, _RETURN, _SPACE, _HASH = (np.uint8(ord(c)) for c in "\t\n\r #")
_COMMA, _COLON, _ZERO, _DELETE = (np.uint8(ord(c)) for c in ",:0\x7f")
_TEN = np.uint8(10)
_QID, _FOUR = np.uint64(int.from_bytes(b"qid:", "little")), np.uint64(2**32 - 1)
MOST_GROUP = np.int64(10**17)  # whole numbers stop growing here


class Rules(NamedTuple):
    """What the text may hold."""

    base: np.int64  # the first index: 0 or 1
    last: np.int64  # the largest index
    beyond: np.uint64  # the bits of the smallest float64 that is too large for a value
    words: np.bool_  # whether labels are words


@kernel
def count(text, first, last):
    """Newlines and colons: no more rows and no more values can there be."""
    rows, entries = _0, _0
    p = np.uint64(first)
    while p + np.uint64(128) <= last:
        a, b = np.uint8(0), np.uint8(0)
        for k in range(np.uint64(128)):
            a = np.uint8(a + np.uint8(text[p + k] == _NEWLINE))
            b = np.uint8(b + np.uint8(text[p + k] == _COLON))
        rows += np.uint64(a)
        entries += np.uint64(b)
        p += np.uint64(128)
    while p < last:
        rows += np.uint64(text[p] == _NEWLINE)
        entries += np.uint64(text[p] == _COLON)
        p += _1
    return rows, entries


@kernel
def first_zero(text, first, last):
    """Where an index 0 stands outside of comments; ``last`` if nowhere."""
    p = np.uint64(first)
    comment = False
    while p < last:
        c = text[p]
        if c == _NEWLINE:
            comment = False
        elif c == _HASH:
            comment = True
        elif c == _COLON and not comment and p > first and text[p - _1] == _ZERO:
            k = p - _1
            while k > first and text[k] == _ZERO:
                k -= _1
            if _is_blank(text[k]):
                return k + _1
        p += _1
    return np.uint64(last)


@inlined
def _is_blank(c):
    return (c == _SPACE) | (c == _TAB) | (c == _RETURN)


@inlined
def _is_end(c):
    """Whether this ends a label or a value."""
    return (c == _SPACE) | (c == _NEWLINE) | (c == _RETURN) | (c == _TAB) | (c == _HASH)


@inlined
def _next_line(text, p):
    while text[p] != _NEWLINE:
        p += _1
    return p + _1


@inlined
def _whole_number(text, p):
    """The number that digits spell, which stops growing when it is very large, and its end."""
    word, size = digits_at(text, p)
    if size < _8:
        return np.int64(number_of(word, size)), p + size
    number = np.int64(0)
    while np.uint8(text[p] - _ZERO) < _TEN:
        if number < MOST_GROUP:
            number = 10 * number + np.int64(text[p] - _ZERO)
        p += _1
    return number, p


@inlined
def _word_end(text, p):
    """Where a word ends."""
    while text[p] > _SPACE and text[p] != _DELETE:
        if text[p] == _COMMA or text[p] == _COLON or text[p] == _HASH:
            break
        p += _1
    return p


@inlined
def _read_label(text, p, rules, noted, run):
    """A label as bits of a float64, or the place and the length of a word; its end; the status."""
    if rules.words:
        end = _word_end(text, p)
        fine = p < end <= p + np.uint64(LONGEST_WORD) and _is_end(text[end])
        return p << PLACE | (end - p), end, DONE if fine else NO_LABEL
    bits, end, how = read_number(text, p)
    if how == NO_NUMBER or not _is_end(text[end]):
        return bits, end, NO_LABEL
    if how == UNSURE:
        return bits, end, _note(noted, run, -1 - run[ROW], p)
    return bits, end, DONE if bits & ~SIGN < INFINITE else HUGE_LABEL


@inlined
def _note(noted, run, what, p):
    """Note a number that Python must decide."""
    if run[NOTED] == noted.shape[0]:
        return MANY_UNSURE
    noted[run[NOTED], 0] = what
    noted[run[NOTED], 1] = p
    run[NOTED] += 1
    return DONE


@inlined
def _read_group(text, p, groups, run):
    """The ``qid`` of a row, if it has one; its end; the status."""
    grouped = word_at(text, p) & _FOUR == _QID
    if run[GROUPED] == UNKNOWN:
        run[GROUPED] = WITH if grouped else WITHOUT
    if grouped != (run[GROUPED] == WITH):
        return p, GROUPS_DIFFER
    if not grouped:
        return p, DONE
    group, end = _whole_number(text, p + np.uint64(4))
    if end == p + np.uint64(4) or group >= MOST_GROUP or not _is_end(text[end]):
        return p, NO_GROUP
    groups[run[ROW]] = group
    return end, DONE


@inlined
def _read_entries(text, p, k, rules, indices, values, noted, run):
    """The entries of a row: where they stop, how many there are by then, the last index, why."""
    before = rules.base - 1
    while True:
        index, end = _whole_number(text, p)
        if end == p:
            if _is_blank(text[p]):
                p += _1
                continue
            fine = text[p] == _NEWLINE or text[p] == _HASH
            return p, k, before, DONE if fine else NO_ENTRY
        if text[end] != _COLON:
            return p, k, before, NO_ENTRY
        if index <= before or index > rules.last:
            return p, k, before, _wrong(index, rules)
        p = end + _1
        bits, end, how = read_number(text, p)
        if how == NO_NUMBER or not _is_end(text[end]):
            return p, k, before, NO_VALUE
        if how == UNSURE:
            status = _note(noted, run, np.int64(k), p)
            if status != DONE:
                return p, k, before, status
        elif bits & ~SIGN >= rules.beyond:
            return p, k, before, HUGE_VALUE
        indices[k] = index - rules.base
        values[k] = np.uint64(bits).view(np.float64)
        before = index
        k += _1
        p = end + np.uint64(text[end] == _SPACE)


@inlined
def _wrong(index, rules):
    if index < rules.base:
        return INDEX_ZERO
    return INDEX_BEYOND if index > rules.last else NOT_ASCENDING


@kernel
def parse(text, rules, pointers, indices, values, labels, groups, noted, run):
    """Read the lines from ``run[AT]`` to ``run[END]`` into the places from ``run[ROW]`` on."""
    p, k = np.uint64(run[AT]), np.uint64(run[ENTRY])
    end, status = np.uint64(run[END]), DONE
    while p < end:
        if text[p] == _NEWLINE or _is_blank(text[p]):
            p += _1
            continue
        if text[p] == _HASH:
            p = _next_line(text, p)
            continue
        labels[run[ROW]], after, status = _read_label(text, p, rules, noted, run)
        if status != DONE:
            break
        p = after
        while _is_blank(text[p]):
            p += _1
        p, status = _read_group(text, p, groups, run)
        if status != DONE:
            break
        p, k, last, status = _read_entries(text, p, k, rules, indices, values, noted, run)
        if status != DONE:
            break
        run[ROW] += 1
        pointers[run[ROW]] = k
        run[WIDTH] = max(run[WIDTH], last + 1 - rules.base)
        p = _next_line(text, p)
    run[AT], run[ENTRY], run[STATUS] = p, k, status
