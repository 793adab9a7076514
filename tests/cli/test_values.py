"""Words as values, and numbers as words."""

import math

import pytest

from pegasos.cli import values
from pegasos.cli.exits import Usage


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90", 90), ("45s", 45), ("10min", 600), ("2h", 7200), ("1h30m", 5400), ("1.5h", 5400),
     ("1d", 86400), ("2m 5s", 125), (".5", 0.5), (None, None)],
)  # fmt: skip
def test_durations(text, expected):
    assert values.seconds(text) == expected


@pytest.mark.parametrize("text", ["", "h", "2 weeks", "-3", "1h30x", "1e3"])
def test_what_is_no_duration(text):
    with pytest.raises(Usage, match="a duration is written as"):
        values.seconds(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("4GB", 4e9), ("512MB", 512e6), ("1.5GiB", 1.5 * 2**30), ("2G", 2**31), ("100", 100),
     ("7b", 7), ("3kb", 3000), (None, None)],
)  # fmt: skip
def test_sizes(text, expected):
    assert values.size(text) == expected


@pytest.mark.parametrize("text", ["", "0", "much", "4GBs", "-1GB"])
def test_what_is_no_size(text):
    with pytest.raises(Usage, match="a size is written as"):
        values.size(text)


def test_class_weights():
    assert values.class_weights(None) is None
    assert values.class_weights("balanced") == "balanced"
    assert values.class_weights("a=2,b=.5") == {"a": 2.0, "b": 0.5}
    assert values.class_weights("a=b=2") == {"a=b": 2.0}
    assert values.class_weights('{"a": 2, "b": 0.5}') == {"a": 2, "b": 0.5}


@pytest.mark.parametrize("text", ["a", "a=", "a=x", '{"a": "x"}', '{"a": true}', "{a: 1}"])
def test_what_is_no_class_weight(text):
    with pytest.raises(Usage, match="--class-weight"):
        values.class_weights(text)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "0.00 s"), (0.0073, "7.3 ms"), (0.34, "0.34 s"), (12.06, "12.1 s"), (59.96, "1 min 00 s"),
     (185, "3 min 05 s"), (7800, "2 h 10 min")],
)  # fmt: skip
def test_spans(seconds, expected):
    assert values.span(seconds) == expected


def test_other_numbers_as_words():
    assert [values.clock(s) for s in (0, 75, 7800)] == ["0:00", "1:15", "2:10:00"]
    assert [values.bytes_of(b) for b in (5, 2.33e6, 9.35e8)] == ["5 B", "2.33 MB", "935 MB"]
    assert [values.many(n) for n in (7, 1234, 3.2e6)] == ["7", "1.23 k", "3.2 M"]
    assert values.count(804414) == "804,414"
    assert values.in_words(8.7e-4) == "at most 0.087 % above the optimum: proved"
    assert values.in_words(0.0) == "at the optimum, to rounding: proved"
    assert values.in_words(1.5) == "at most 2.5 times the optimum: proved"
    assert "nothing is proved" in values.in_words(math.inf)
