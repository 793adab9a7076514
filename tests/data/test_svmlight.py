"""svmlight text in: every bit of every number, every kind of line, every fault with its place."""

import bz2
import gzip
import io
import itertools
import lzma
import math
import os

import numpy as np
import pytest
from data.naive_text import Bad, naive_svmlight
from hypothesis import given, settings
from hypothesis import strategies as st

from pegasos.data import DataError, arriving, iter_svmlight, load_svmlight, svmlight

NEWLINE = "\n"


def read(text, **options):
    text = text.encode() if isinstance(text, str) else text
    return load_svmlight(io.BytesIO(text), **options)


def read_or_refused(text, **options):
    """The data and None, or None and what is said."""
    try:
        return read(text, **options), None
    except DataError as error:
        return None, str(error)


def sentence(text, **options):
    """What is said about this text, without the name of the file."""
    with pytest.raises(DataError) as caught:
        read(text, **options)
    message = str(caught.value)
    assert NEWLINE not in message
    return message.removeprefix("the open file")


def values(tokens, dtype):
    lines = [f"0 1:{token}" for token in tokens]
    return read(NEWLINE.join(lines), dtype=dtype, n_features=1).X.data


def same_bits(found, wanted):
    assert found.dtype == wanted.dtype
    assert found.tobytes() == wanted.tobytes()


def assert_numbers(tokens):
    with np.errstate(over="ignore"):
        wanted = np.array([float(token) for token in tokens])
        narrow = wanted.astype(np.float32)
    same_bits(values(tokens, "float64"), wanted)
    finite = np.isfinite(narrow)
    if finite.any():
        same_bits(values([t for t, f in zip(tokens, finite) if f], "float32"), narrow[finite])
    labels = read(NEWLINE.join(tokens)).y
    same_bits(labels, wanted)


# --------------------------------------------------------------------------------- numbers


def doubles(count, seed=0):
    bits = np.random.default_rng(seed).integers(0, 2**64, count, dtype=np.uint64)
    numbers = bits.view(np.float64)
    return numbers[np.isfinite(numbers)]


@pytest.mark.parametrize("form", ["%r", "%.17g", "%.9g", "%.5g", "%.30e", "%.40f", "%.0f"])
def test_random_doubles_in_every_form(form):
    numbers = doubles(3000)
    if form.endswith("f"):
        numbers = numbers[abs(numbers) < 1e30]
    assert_numbers([form % v for v in numbers.tolist()])


@pytest.mark.parametrize("form", ["%r", "%.17g", "%.9f", "%.3f", "%.17f", "%.25f"])
def test_everyday_numbers(form):
    numbers = np.random.default_rng(1).standard_normal(4000) * 10.0 ** np.arange(-4, 4).repeat(500)
    assert_numbers([form % v for v in numbers.tolist()])


def test_numbers_of_few_digits_with_all_exponents():
    rng = np.random.default_rng(2)
    heads = rng.integers(1, 10 ** rng.integers(1, 19, 4000))
    tails = rng.integers(-345, 290, 4000)
    assert_numbers([f"{h}e{t}" for h, t in zip(heads.tolist(), tails.tolist())])


def halfway(v):
    """The number exactly between a double and the next, in all its digits."""
    low, high = (abs(x).as_integer_ratio() for x in (v, math.nextafter(v, math.inf)))
    top, bottom = low[0] * high[1] + high[0] * low[1], 2 * low[1] * high[1]
    places = bottom.bit_length()  # the denominator is a power of two
    return str(top * 10**places // bottom), -places


def test_numbers_half_way_between_two_doubles_and_just_beside():
    tokens = []
    for v in [*abs(doubles(100, 3)), 1.0, 2.0**53, 2.0**60, 5e-324, 2.2250738585072014e-308, 0.0]:
        if not 1e-300 < v < 1e300 and v not in (0.0, 5e-324, 2.2250738585072014e-308):
            continue
        digits, exponent = halfway(float(v))
        beside = [digits, digits + "0" * 30, digits + "0" * 30 + "1", str(int(digits) - 1)]
        for token, more in zip(beside, (0, 30, 31, 0)):
            tokens.append(f"{token}e{exponent - more}")
    assert_numbers(tokens)


_SPECIAL = (
    "0 -0 +0 0.0 -0.0 00 0e5 0e999999999 .0 .5 -.5 +.5e-3 007 1 10 1e0 1E5 1e+5 1e-5 1e05 1e00005 "
    "9007199254740993 9007199254740992 9007199254740991 -9007199254740993.0 "
    "1.00000000000000011102230246251565404236316680908203125 "
    "1.00000000000000011102230246251565404236316680908203124 "
    "1.00000000000000011102230246251565404236316680908203126 "
    "1e-400 -1e-400 1e-324 2.4703282292062327e-324 2.4703282292062328e-324 4.9e-324 5e-324 "
    "2.2250738585072011e-308 2.2250738585072014e-308 1.7976931348623157e308 "
    "1.7976931348623158e308 0.1 0.2 0.3 1e22 1e23 123456789012345678 1234567890123456789 "
    "12345678901234567890 18446744073709551615 18446744073709551616 1e-99999999999999999999 "
    "3.4028234663852886e38 3.4028235677973362e38 1.401298464324817e-45 7.006492321624085e-46 "
    "7.006492321624086e-46 1.1754943508222875e-38 16777217 33554435 0.00000000000000000000000001"
)
SPECIAL = _SPECIAL.split()


def test_special_numbers():
    long = ["0." + "0" * 300 + "123", "1" + "0" * 300, "0" * 200 + "7.5" + "0" * 200]
    long += ["1" * 100, "1" * 100 + "." + "1" * 100, "1" * 100 + "e-100", "." + "9" * 100]
    assert_numbers(SPECIAL + long)


@pytest.mark.parametrize("size", range(1, 26))
def test_numbers_of_every_length_and_every_place_of_the_point(size):
    digits = "92837465019283746501928374"[:size]
    tokens = [digits] + [f"{digits[:k]}.{digits[k:]}" for k in range(size)]
    tokens += [t + "e-7" for t in tokens] + ["-" + t for t in tokens] + ["0" + t for t in tokens]
    assert_numbers(tokens)


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 25))
@settings(max_examples=200, deadline=None)
def test_any_double_in_any_number_of_digits(v, digits):
    assert_numbers([repr(v)])
    token = f"{v:.{digits}e}"
    if math.isfinite(float(token)):
        assert_numbers([token])


GRAMMAR = r"[+-]?([0-9]{1,30}(\.[0-9]{1,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,3})?"


@given(st.from_regex(GRAMMAR, fullmatch=True))
@settings(max_examples=300, deadline=None)
def test_whatever_the_grammar_allows(token):
    if math.isfinite(float(token)):
        assert_numbers([token])


_NO_NUMBERS = ". + - e5 1. 1.e5 -1. 1e 1e+ 1e- --1 +-1 .e1 1..2 1.2.3 0x10 1_000 1e5.0 1f ½ ٣"
NO_NUMBERS = _NO_NUMBERS.split()


@pytest.mark.parametrize("token", NO_NUMBERS)
def test_what_is_no_number_is_refused_with_its_place(token):
    assert sentence(f"1 1:2\n-1 3:{token} 4:1") == f":2:6: expected a number, found {token!r}"
    assert sentence(f"{token} 1:1", labels="numbers").startswith(":1:1: expected a number as label")


@pytest.mark.parametrize("token", ["nan", "NaN", "-nan", "inf", "Inf", "+inf", "-Infinity"])
def test_nan_and_infinity_are_refused_with_their_place(token):
    assert sentence(f"1 1:{token}") == f":1:5: expected a finite number, found {token!r}"
    said = f":1:1: expected a finite number as label, found {token!r}; if the labels are words, "
    assert sentence(f"{token} 1:1") == said + "pass labels='words'"
    assert sentence(f"cat 1:1\n{token} 1:1").startswith(":2:1: expected a label, found")
    assert read(f"{token} 1:1", labels="words").y.tolist() == [token]


HUGE = ["1e400", "-1e309", "1" * 400, "1.7976931348623159e308", str(2**1024 - 2**970)]


@pytest.mark.parametrize("token", HUGE)
def test_numbers_beyond_float64_are_refused(token):
    assert math.isinf(float(token))
    for dtype in ("float32", "float64"):
        assert "which is beyond float64" in sentence(f"0\n1 1:{token} 2:x", dtype=dtype)
        assert sentence(f"0\n1 1:{token}", dtype=dtype).startswith(":2:5: expected a finite number")
    assert sentence(f"0\n{token}").startswith(":2:1: expected a finite number as label")


@pytest.mark.parametrize("token", ["1e39", "-3.4028236e38", "3.4028235677973366e38"])
def test_numbers_beyond_float32_are_refused_for_float32(token):
    said = f":1:5: expected a number within float32, found {token!r}; read it with dtype='float64'"
    assert sentence(f"1 1:{token}") == said
    assert read(f"1 1:{token}", dtype="float64").X.data.tolist() == [float(token)]


def test_the_largest_numbers_are_read():
    assert_numbers([str(2**1024 - 2**970 - 1), str(2**128 - 2**103 - 1), str(-(2**128) + 2**104)])


def test_more_uncertain_numbers_than_there_is_room_for():
    digits, exponent = halfway(1.5)
    tokens = [f"{digits}{'0' * 20}e{exponent - 20}", f"{digits}{'0' * 20}1e{exponent - 21}"] * 700
    assert_numbers(tokens)


def test_plain_python_reads_and_writes_the_same_bits(run_python, tmp_path):
    tokens = [t for t in SPECIAL if abs(float(t)) < 3e38]
    tokens += [repr(v) for v in doubles(50, 5).tolist()]
    text = NEWLINE.join(f"{t} 1:{t} 3:{t}" for t in tokens) + "\n# 1:1\n\n7\t2:3 \r\n"
    (tmp_path / "numbers.svm").write_text(text)
    code = f"""
import json, numpy
from pegasos.data import load_svmlight, save_svmlight, iter_svmlight
folder = {str(tmp_path)!r}
data = load_svmlight(folder + "/numbers.svm", dtype="float64")
save_svmlight(folder + "/again.svm", data.X, data.y)
X = load_svmlight(folder + "/again.svm", dtype="float64").X
chunks = list(iter_svmlight(folder + "/numbers.svm", chunk_bytes=1000, dtype="float64"))
print(json.dumps({{
    "values": data.X.data.tolist(), "y": data.y.tolist(), "indices": data.X.indices.tolist(),
    "again": X.data.tobytes() == data.X.data.tobytes(), "rows": sum(c.X.shape[0] for c in chunks),
}}))
"""
    found = run_python(code, NUMBA_DISABLE_JIT="1")
    wanted = [float(t) for t in tokens for _ in range(2)] + [3.0]
    same_bits(np.array(found["values"]), np.array(wanted))
    same_bits(np.array(found["y"]), np.array([*map(float, tokens), 7.0]))
    assert found["indices"] == [0, 2] * len(tokens) + [1]
    assert found["again"]
    assert found["rows"] == len(tokens) + 1


# ----------------------------------------------------------------------------------- lines

BLANKS = st.sampled_from([" ", "\t", "  ", " \t "])
NUMBERS = st.sampled_from(["1", "-1", "0.25", "1e-3", "+7", "-.5", "123456789.125", "0", "-0"])


@st.composite
def rows(draw, label, grouped, base):
    steps = draw(st.lists(st.integers(1, 9), max_size=6))
    indices = list(itertools.accumulate(steps, initial=base - 1))[1:]
    entries = [f"{i}:{draw(NUMBERS)}" for i in indices]
    group = [f"qid:{draw(st.integers(0, 99))}"] if grouped else []
    parts = [draw(label), *group, *entries]
    text = parts[0] + "".join(draw(BLANKS) + part for part in parts[1:])
    text += draw(st.sampled_from(["", " ", "\t ", " # 1:2 0:3", "#x"]))
    return text + draw(st.sampled_from(["", "\r"]))


@st.composite
def texts(draw):
    words = draw(st.booleans())
    label = st.sampled_from(["cat", "dög", "x1", "1"]) if words else NUMBERS
    row = rows(label, draw(st.booleans()), draw(st.integers(0, 1)))
    line = st.one_of(row, row, row, st.sampled_from(["", "  ", "# a 0:1", "\t# qid:3", "\r"]))
    lines = draw(st.lists(line, max_size=30))
    lines.insert(draw(st.integers(0, len(lines))), draw(row))
    return NEWLINE.join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))


def assert_equals_twin(found, text, dtype=np.float32):
    (pointers, indices, numbers), y, groups, base = naive_svmlight(text, dtype)
    assert found.X.indptr.tolist() == pointers
    assert found.X.indices.tolist() == indices
    same_bits(found.X.data, numbers)
    assert found.X.shape == (len(pointers) - 1, max(indices, default=-1) + 1)
    assert found.y.tolist() == y.tolist()
    assert found.y.dtype.kind == y.dtype.kind
    assert (found.groups is None) == (groups is None)
    assert groups is None or found.groups.tolist() == groups
    assert found.notes[0].startswith(f"indices count from {base}")
    assert found.X.indices.dtype == found.X.indptr.dtype == np.int32


@given(texts(), st.sampled_from([np.float32, np.float64]))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read_as_its_twin_reads_it(text, dtype):
    assert_equals_twin(read(text, dtype=dtype), text, dtype)


@given(texts(), st.integers(1, 400), st.integers(1, 3))
@settings(max_examples=150, deadline=None)
def test_blocks_parts_and_threads_change_nothing(text, block, threads):
    kept = svmlight._BLOCK, svmlight._PART
    svmlight._BLOCK, svmlight._PART = block, 1
    try:
        assert_equals_twin(read(text, threads=threads), text)
    finally:
        svmlight._BLOCK, svmlight._PART = kept


@given(texts(), st.integers(1, 300))
@settings(max_examples=150, deadline=None)
def test_chunks_equal_the_whole(text, chunk_bytes):
    whole = read(text)
    labels = "words" if whole.y.dtype.kind == "U" else "auto"
    source = io.BytesIO(text.encode())
    chunks = list(iter_svmlight(source, chunk_bytes=chunk_bytes, threads=1, labels=labels))
    assert all(chunk.X.shape[0] > 0 for chunk in chunks)
    assert {chunk.notes for chunk in chunks} == {whole.notes}
    assert np.concatenate([chunk.y for chunk in chunks]).tolist() == whole.y.tolist()
    parts = [np.concatenate([getattr(c.X, a) for c in chunks]) for a in ("indices", "data")]
    assert parts[0].tolist() == whole.X.indices.tolist()
    same_bits(parts[1], whole.X.data)
    lengths = np.concatenate([np.diff(chunk.X.indptr) for chunk in chunks])
    assert lengths.tolist() == np.diff(whole.X.indptr).tolist()
    assert all(c.X.shape[1] == max(c.X.indices.tolist(), default=-1) + 1 for c in chunks)
    if whole.groups is not None:
        assert np.concatenate([c.groups for c in chunks]).tolist() == whole.groups.tolist()


def test_real_threads_read_a_file_of_several_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(svmlight, "_BLOCK", 1 << 16)
    monkeypatch.setattr(svmlight, "_PART", 1 << 12)
    rng = np.random.default_rng(0)
    lines = [
        f"{i % 3} " + " ".join(f"{j + 1}:{v:.6g}" for j, v in enumerate(rng.random(i % 40)))
        for i in range(4000)
    ]
    text = NEWLINE.join(lines)
    path = tmp_path / "rows"
    path.write_text(text)
    for threads in (None, 1, 2, 5):
        assert_equals_twin(load_svmlight(path, threads=threads), text)
    lines[3100] += " 2:1"
    path.write_text(NEWLINE.join(lines))
    for threads in (1, 2, 5):
        with pytest.raises(DataError, match=r"rows:3101:\d+: expected an index above"):
            load_svmlight(path, threads=threads)


@given(st.binary(max_size=200), st.booleans())
@settings(max_examples=400, deadline=None)
def test_junk_is_read_or_refused_in_one_sentence(junk, after_text):
    text = (b"1 1:2 5:3\n" if after_text else b"") + junk
    for dtype in ("float32", "float64"):
        data, said = read_or_refused(text, dtype=dtype)
        if data is None:
            assert said.isprintable()
        else:
            assert data.X.shape[0] == data.y.size > 0
            assert np.isfinite(data.X.data).all()


@given(st.text(alphabet="01 9:.e+-#\n\tq,nax\r", max_size=60))
@settings(max_examples=500, deadline=None)
def test_nearly_text_is_refused_where_the_twin_refuses_it(text):
    try:
        naive_svmlight(text)
        wrong = None
    except Bad as error:
        wrong = int(str(error))
    data, said = read_or_refused(text)
    if data is not None:
        assert wrong is None
    elif wrong is not None:  # the twin knows nothing of labels such as nan
        assert int(said.removeprefix("the open file").split(":")[1]) <= wrong


def test_a_line_longer_than_a_block_is_read(monkeypatch):
    monkeypatch.setattr(svmlight, "_BLOCK", 16)
    entries = " ".join(f"{i}:{i}" for i in range(1, 2000))
    data = read(f"1 1:1\n2 {entries}\n3 5:5")
    assert data.X.shape == (3, 1999)
    assert data.X.data.sum() == 1 + 1999 * 1000 + 5


def test_the_mark_at_the_beginning_of_utf_8_is_no_label():
    data = read("\ufeff1 1:2\n-1 1:3")
    assert data.y.tolist() == [1.0, -1.0]
    assert sentence("\ufeff1 x").startswith(":1:3: ")


def test_pointers_and_indices_become_64_bit_where_they_must(monkeypatch):
    monkeypatch.setattr(arriving, "MOST_SHORT", 5)
    monkeypatch.setattr(svmlight, "_BLOCK", 20)
    text = NEWLINE.join(f"1 {i}:1 {i + 1}:2" for i in range(1, 9))
    data = read(text)
    assert data.X.indptr.dtype == data.X.indices.dtype == np.int64
    assert data.X.indptr.tolist() == list(range(0, 17, 2))
    assert data.X.toarray().sum() == 24


# ----------------------------------------------------------------------- bases and labels


def test_indices_count_from_0_if_an_index_0_is_anywhere():
    data = read("1 3:1\n1 0:1\n")
    assert data.X.indices.tolist() == [3, 0]
    assert data.notes == ("indices count from 0: an index 0 was found",)
    data = read("1 3:1 # 0:1\n")
    assert data.X.indices.tolist() == [2]
    assert data.notes == ("indices count from 1: no index 0 was found",)
    assert read("1 3:1", zero_based=True).notes == ("indices count from 0: as asked",)


@pytest.mark.parametrize("zero", ["0:1", "00:1", "000000000:1"])
def test_a_late_zero_is_found_by_the_first_pass_over_chunks(zero):
    text = "1 3:1 # 0:0\n" * 50 + f"1\t{zero} 2:1"
    chunks = list(iter_svmlight(io.BytesIO(text.encode()), chunk_bytes=100))
    assert chunks[0].X.indices[0] == 3
    assert {chunk.notes[0] for chunk in chunks} == {"indices count from 0: an index 0 was found"}
    assert read(text).X.indices[0] == 3


def test_a_zero_where_indices_count_from_1():
    said = ":2:5: expected an index of at least 1, found '0:2'; if the indices count from 0, pass "
    assert sentence("1 1:1\n-1  0:2", zero_based=False) == said + "zero_based=True"


def test_labels_are_words_if_one_is_a_word():
    data = read("+1 1:1\n1.0 1:1\ncat 1:2\n")
    assert data.y.tolist() == ["+1", "1.0", "cat"]
    assert data.notes[1] == "labels are words"
    assert read("1 1:1\n2", labels="words").y.tolist() == ["1", "2"]


def test_words_that_come_late_in_chunks():
    text = "1 1:1\n" * 20 + "cat 1:1"

    def chunks(**options):
        source = io.BytesIO(text.encode())
        return list(iter_svmlight(source, chunk_bytes=30, zero_based=False, **options))

    said = (
        r"the open file:21:1: expected a number as label, as in the rows before, found 'cat'; if "
        r"the labels are words, pass labels='words'"
    )
    with pytest.raises(DataError, match=said):
        chunks()
    assert {str(w) for c in chunks(labels="words") for w in c.y} == {"1", "cat"}


def test_a_pipe_cannot_be_read_twice():
    def pipe(text):
        class Pipe(io.RawIOBase):
            left = io.BytesIO(text)

            def read(self, size=-1):
                return self.left.read(size)

        return Pipe()

    assert load_svmlight(pipe(b"1 1:2")).X.data.tolist() == [2.0]
    said = "the open file:1:3: an index 0 stands here, and this input can be read only once: pass "
    with pytest.raises(DataError, match=said + "zero_based=True"):
        load_svmlight(pipe(b"1 0:2"))
    with pytest.raises(DataError, match="can be read only once: pass labels='words'"):
        load_svmlight(pipe(b"1 1:2\nx 1:2"))
    with pytest.raises(DataError, match="pass zero_based=True or zero_based=False"):
        next(iter_svmlight(pipe(b"1 1:2")))
    assert next(iter_svmlight(pipe(b"1 1:2"), zero_based=False)).y.tolist() == [1.0]


# ---------------------------------------------------------------------------- bad input

BAD_LINES = {
    "1,3 5:1": ":1: expected one label, found '1,3': rows with several labels are not supported, "
    "keep one of them in each row",
    "cat,dog 5:1": ":1: expected one label, found 'cat,dog': rows with several labels are not "
    "supported, keep one of them in each row",
    "1:2 3:4": ":1: expected a label, found '1:2'",
    "x:y": ":1: expected a label, found 'x:y'",
    "1 5": ":3: expected index:value, found '5'",
    "1 5:": ":5: expected a number, found the end of the line",
    "1 5:#": ":5: expected a number, found a comment",
    "1 5: 3": ":5: expected a number, found a blank",
    "1 5:3x": ":5: expected a number, found '3x'",
    "1 5:3:4": ":5: expected a number, found '3:4'",
    "1 5:3,6:4": ":5: expected a number, found '3,6:4'",
    "1 a:3": ":3: expected index:value, found 'a:3'",
    "1 -1:3": ":3: expected index:value, found '-1:3'",
    "1 1:1 qid:3": ":7: expected index:value, found 'qid:3'",
    "1 2:1 2:3": ":7: expected an index above 2, found '2:3': the indices of a row ascend, and "
    "none stands twice",
    "1 12:1\t 11:3": ":9: expected an index above 12, found '11:3': the indices of a row ascend, "
    "and none stands twice",
    "1 4000000000:1": ":3: expected an index of at most 2147483646, the largest of 32 bits; found "
    "'4000000000:1'",
    "1 1:1 99999999999999999999999999:1": ":7: expected an index of at most 2147483646, the "
    "largest of 32 bits; found '999999999999999999999999…'",
    "1 1:1 \0": ":7: expected index:value, found the byte 0x00; is this svmlight text?",
    "\0\1\2": ":1: expected a label, found the byte 0x00; is this svmlight text?",
    "1 dög:1": ":3: expected index:value, found 'dög:1'",
    "dög 1:x": ":7: expected a number, found 'x'",
}


@pytest.mark.parametrize("line", BAD_LINES)
def test_what_is_wrong_with_a_line_is_said_with_its_place(line):
    said = BAD_LINES[line]
    assert sentence(line) == f":1{said}"
    assert sentence(f"7 1:1\r\n\n# \n{line}\n1 1:1\n") == f":4{said}"
    source = io.BytesIO(f"7 1:1\n8\n\n{line}\n1 1:1\n".encode())
    with pytest.raises(DataError) as caught:
        list(iter_svmlight(source, chunk_bytes=4, labels="words" if "ö" in line else "auto"))
    if not line.startswith("dög"):
        assert str(caught.value) == f"the open file:4{said}"


def test_groups_stand_in_all_rows_or_in_none():
    data = read("1 qid:3 1:1\n2 qid:12345678901234567 1:1\n")
    assert data.groups.tolist() == [3, 12345678901234567]
    assert read("1 1:1").groups is None
    assert (
        sentence("1 qid:3 1:1\n2 1:1") == ":2:3: expected qid:, as in the rows before, found '1:1'"
    )
    said = ":2:3: expected no qid:, for the rows before have none, found 'qid:1'"
    assert sentence("1 1:1\n2 qid:1 1:1") == said
    for wrong in ("qid:", "qid:x", "qid:-1", "qid:123456789012345678"):
        said = f":1:3: expected a whole number of at most 17 digits behind qid:, found {wrong!r}"
        assert sentence(f"1 {wrong}") == said


def test_groups_that_differ_between_parts(monkeypatch):
    monkeypatch.setattr(svmlight, "_PART", 1)
    text = "1 1:1 2:2 3:3 4:4\n" * 40
    said = ":41:3: expected no qid:, for the rows before have none, found 'qid:1'"
    assert sentence(text + "1 qid:1 1:1\n" * 40, threads=2) == said


def test_the_number_of_features():
    assert read("1 2:1", n_features=9).X.shape == (1, 9)
    said = ":1:7: expected an index of at most 5, with n_features=5 and indices that count from 1; "
    assert sentence("1 5:1 6:1", n_features=5) == said + "found '6:1'"
    assert ":1:3: expected an index of at most 4" in sentence(
        "1 5:1", n_features=5, zero_based=True
    )
    assert read("1 4:1 0:1".replace("4:1 0:1", "0:1 4:1"), n_features=5).X.shape == (1, 5)
    assert sentence("1 0:1 5:1", n_features=5).startswith(":1:7: ")


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "  \r\n"])
def test_no_rows(text):
    said = " has no rows: it is empty, or holds nothing but comments"
    assert sentence(text) == said
    with pytest.raises(DataError, match=said):
        list(iter_svmlight(io.BytesIO(text.encode())))


@pytest.mark.parametrize(
    "bad", [b"\xff\xfe1\x00 \x00", b"caf\xe9 1:1", b"PK\x03\x04\x00", b"\x7fELF"]
)
def test_what_is_no_text_is_not_shown(bad):
    assert "the byte 0x" in sentence(bad)


def test_a_word_that_is_too_long():
    assert read("x" * 255 + " 1:1\ny 1:2").y.tolist() == ["x" * 255, "y"]
    assert "a label of at most 255 bytes" in sentence("x" * 256)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"dtype": "int32"}, "dtype must be float32 or float64, not int32"),
        ({"threads": 0}, "threads must be at least 1, not 0"),
        ({"n_features": -1}, "n_features must be between 0 and 2147483647, not -1"),
        ({"zero_based": "yes"}, "zero_based must be True, False or 'auto', not 'yes'"),
        ({"labels": "names"}, "labels must be 'auto', 'numbers' or 'words', not 'names'"),
    ],
)
def test_options_that_mean_nothing_are_refused(option, said):
    with pytest.raises(ValueError, match=said):
        read("1 1:1", **option)
    with pytest.raises(ValueError, match=said):
        next(iter_svmlight(io.BytesIO(b"1 1:1"), **option))


def test_chunks_of_no_size_are_refused():
    with pytest.raises(ValueError, match="chunk_bytes must be at least 1, not 0"):
        next(iter_svmlight(io.BytesIO(b"1 1:1"), chunk_bytes=0))


# ------------------------------------------------------------------------------ packed files

PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("packing", PACKERS)
def test_packed_files_equal_plain_ones_and_a_cut_one_is_refused(packing, tmp_path, monkeypatch):
    monkeypatch.setattr(svmlight, "_BLOCK", 5000)
    text = NEWLINE.join(f"{i % 2} {i + 1}:{i / 7!r}" for i in range(3000))
    path = tmp_path / "rows.txt"
    packed = PACKERS[packing](text.encode())
    path.write_bytes(packed)
    assert_equals_twin(load_svmlight(path), text)
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(DataError, match=rf"rows.txt: the {packing} data ends too early, after "):
        load_svmlight(path)
    with pytest.raises(DataError, match="the file is incomplete: fetch it again"):
        list(iter_svmlight(path, zero_based=False))


def test_room_is_made_once_and_given_back(tmp_path, monkeypatch):
    monkeypatch.setattr(svmlight, "_BLOCK", 4096)
    text = "1 1:1 2:2 3:3\n" * 5000 + "1\n" * 5000 + "1 1:1 2:2 3:3 4:4 5:5 6:6\n" * 2000
    path = tmp_path / "uneven"
    path.write_text(text)
    sizes = []
    real = arriving.Arriving._resize_entries

    def watched(rows, size):
        sizes.append(size)
        real(rows, size)

    monkeypatch.setattr(arriving.Arriving, "_resize_entries", watched)
    data = load_svmlight(path, threads=1)
    assert data.X.nnz == 27000 == sizes[-1]
    assert len(sizes) < 30
    assert max(sizes) < 1.5 * 27000
    assert data.X.data.size == data.X.indices.size == 27000
    assert data.X.indptr.size == 12001


def test_every_file_descriptor_is_given_back(tmp_path):
    path = tmp_path / "rows"
    path.write_text("1 1:1\n" * 1000)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    if before is None:
        pytest.skip("there is no /proc")
    load_svmlight(path)
    next(iter_svmlight(path, chunk_bytes=10)).X  # noqa: B018
    path.write_text("1 x\n")
    with pytest.raises(DataError):
        load_svmlight(path)
    assert len(os.listdir("/proc/self/fd")) <= before + 1


@pytest.mark.parametrize("threads", [1, 2])
def test_of_two_faults_the_first_is_told(threads):
    text = b"spam 1:1\n\xff 1:1\nham x\n"
    with pytest.raises(DataError, match=r":2:1: "):
        load_svmlight(io.BytesIO(text), threads=threads)
