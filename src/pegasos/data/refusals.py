"""What is wrong with a line of svmlight text: where, what was expected, what was found."""

from __future__ import annotations

import re

import numpy as np

from pegasos.data import parsing
from pegasos.data.numerals import INFINITE

LAST_INDEX = 2**31 - 2  # so that the number of features is a 32-bit integer, whatever the base

_LONGEST = 24  # characters of what was found that are shown
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_NEWLINE = 10


def is_not_finite(word: str) -> bool:
    """Whether this is how programs write NaN or infinity."""
    return _NOT_FINITE.fullmatch(word) is not None


def token_at(text: np.ndarray, at: int, longest: int | None = 1000) -> bytes:
    """What stands here, up to the next blank, newline or comment."""
    limit = text.size if longest is None else min(at + longest, text.size)
    end = at
    while end < limit and int(text[end]) not in b" \t\r\n#":
        end += 1
    return text[at:end].tobytes()


def place(name: str, text: np.ndarray, first: int, at: int, line: int) -> str:
    """``name:line:column``, counted from 1, where the text begins (at ``first``) in this line."""
    newlines = np.flatnonzero(text[first:at] == _NEWLINE)
    start = first + int(newlines[-1]) + 1 if newlines.size else first
    column = len(text[start:at].tobytes().decode("utf-8", "replace")) + 1
    return f"{name}:{line + newlines.size}:{column}"


def found_at(text: np.ndarray, at: int) -> str:
    """What stands here, for a sentence."""
    token = token_at(text, at)
    if not token:
        c = int(text[at])
        return (
            "a comment" if c == ord("#") else "the end of the line" if c in b"\r\n" else "a blank"
        )
    try:
        word = token.decode()
    except UnicodeDecodeError as error:
        return _byte(token[error.start])
    strange = next((c for c in word if not c.isprintable()), None)
    if strange is not None:
        return _byte(ord(strange))
    return repr(word if len(word) <= _LONGEST else word[:_LONGEST] + "…")


def _byte(code: int) -> str:
    return f"the byte 0x{code:02x}; is this svmlight text?"


def refusal(
    status: int,
    text: np.ndarray,
    at: int,
    rules: parsing.Rules,
    decided: bool,
    n_features: int | None,
) -> str:
    """The sentence for what a kernel stopped at, without the place."""
    found = found_at(text, at)
    token = token_at(text, at).decode("utf-8", "replace")
    if status == parsing.NO_LABEL:
        return _label(token, found, rules, decided)
    if status == parsing.HUGE_LABEL:
        return f"expected a finite number as label, found {found}, which is beyond float64"
    if status == parsing.NO_GROUP:
        return f"expected a whole number of at most 17 digits behind qid:, found {found}"
    if status == parsing.GROUPS_DIFFER and token.startswith("qid:"):
        return f"expected no qid:, for the rows before have none, found {found}"
    if status == parsing.GROUPS_DIFFER:
        return f"expected qid:, as in the rows before, found {found}"
    if status == parsing.NO_ENTRY:
        return f"expected index:value, found {found}"
    if status == parsing.INDEX_ZERO:
        return (
            f"expected an index of at least 1, found {found}; if the indices count from 0, "
            "pass zero_based=True"
        )
    if status == parsing.INDEX_BEYOND:
        what = "the largest of 32 bits"
        if n_features is not None:
            what = f"with n_features={n_features} and indices that count from {rules.base}"
        return f"expected an index of at most {rules.last}, {what}; found {found}"
    if status == parsing.NOT_ASCENDING:
        return (
            f"expected an index above {_index_before(text, at)}, found {found}: the indices of a "
            "row ascend, and none stands twice"
        )
    if status == parsing.NO_VALUE:
        finite = "finite " if is_not_finite(token) else ""
        return f"expected a {finite}number, found {found}"
    value = float(token_at(text, at, longest=None))
    if rules.beyond < INFINITE and np.isfinite(value):
        return f"expected a number within float32, found {found}; read it with dtype='float64'"
    return f"expected a finite number, found {found}, which is beyond float64"


def _index_before(text: np.ndarray, at: int) -> str:
    """The index of the entry before this one, in the same row."""
    end = at
    while int(text[end - 1]) in b" \t\r":
        end -= 1
    begin = end
    while int(text[begin - 1]) not in b" \t\r":
        begin -= 1
    return text[begin:end].tobytes().split(b":")[0].decode()


def _label(token: str, found: str, rules: parsing.Rules, decided: bool) -> str:
    if not token or ":" in token or found.startswith("the byte"):
        return f"expected a label, found {found}"
    if "," in token:
        return (
            f"expected one label, found {found}: rows with several labels are not supported, "
            "keep one of them in each row"
        )
    if rules.words and is_not_finite(token):
        return f"expected a label, found {found}; if that is a word here, pass labels='words'"
    if rules.words:
        return f"expected a label of at most {parsing.LONGEST_WORD} bytes, found {found}"
    finite = "finite " if is_not_finite(token) else ""
    before = ", as in the rows before" if decided else ""
    return (
        f"expected a {finite}number as label{before}, found {found}; "
        "if the labels are words, pass labels='words'"
    )
