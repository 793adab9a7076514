"""Machine words against Python's integers, compiled and plain."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegasos.compiled import kernel, wide

WORDS = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63, 2**64 - 1]).map(int)


@kernel
def compiled(text, i, a, b):
    return (
        wide.word_at(text, i),
        wide.high_product(a, b),
        wide.leading_zeros(a),
        wide.trailing_zeros(a),
    )


def plain(text, i, a, b):
    return (
        wide._plain_word_at(text, i),
        wide._plain_high_product(a, b),
        wide._plain_leading_zeros(a),
        wide._plain_trailing_zeros(a),
    )


@pytest.mark.parametrize("way", [compiled, plain], ids=["compiled", "plain"])
@given(st.binary(min_size=8, max_size=40), st.data(), WORDS, WORDS)
@settings(max_examples=100, deadline=None)
def test_words_are_what_integers_say(way, content, data, a, b):
    i = data.draw(st.integers(0, len(content) - 8))
    text = np.frombuffer(content, np.uint8)
    found = way(text, np.uint64(i), np.uint64(a), np.uint64(b))
    word = int.from_bytes(content[i : i + 8], "little")
    bits = f"{a:064b}"
    zeros = (64 - len(bits.lstrip("0")), 64 - len(bits.rstrip("0")))
    assert tuple(int(x) for x in found) == (word, (a * b) >> 64, *zeros)
