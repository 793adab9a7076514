"""Labels that are words: each different one gets a number, and is kept once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pegasos.data.parsing import LONGEST_WORD, PLACE

_ROWS = 1 << 14  # at a time: their words stand side by side in a table as wide as the longest


def word_of(token: bytes) -> str | None:
    """The word that these bytes are; None if they are none."""
    try:
        word = token.decode()
    except UnicodeDecodeError:
        return None
    return word if word.isprintable() and word and not set(word) & set(",:#") else None


class Wording:
    """The words so far, and their numbers."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._words: list[str] = []

    def take(self, text: np.ndarray, packed: np.ndarray, is_word: Callable[[str], bool]) -> int:
        """Put the numbers of words in place of where they stand in the text.

        Returns the place of the first that is no word, or -1.
        """
        for begin in range(0, packed.size, _ROWS):
            part = packed[begin : begin + _ROWS]
            words, first, which = np.unique(
                _side_by_side(text, part), return_index=True, return_inverse=True
            )
            wrong = []
            numbers = np.empty(words.size, np.uint64)
            for k, token in enumerate(words.tolist()):
                number = self._numbers.get(token)
                if number is None:
                    word = word_of(token)
                    if word is None or not is_word(word):
                        wrong.append(int(first[k]))
                        continue
                    number = self._numbers[token] = len(self._words)
                    self._words.append(word)
                numbers[k] = number
            if wrong:
                return int(part[min(wrong)] >> PLACE)
            part[:] = numbers[which.ravel()]
        return -1

    def words(self, numbers: np.ndarray) -> np.ndarray:
        """The words that have these numbers."""
        return np.array(self._words, dtype=np.str_)[numbers]


def _side_by_side(text: np.ndarray, packed: np.ndarray) -> np.ndarray:
    """The words as an array of byte strings."""
    start = (packed >> PLACE).astype(np.int64)
    length = (packed & np.uint64(LONGEST_WORD)).astype(np.int64)
    column = np.arange(max(int(length.max()), 1))
    table = text[np.minimum(start[:, None] + column, text.size - 1)]
    table[column >= length[:, None]] = 0
    return table.view(f"S{column.size}").ravel()
