"""Fuzzing svmlight text: what the reader accepts, refuses and finds, beside its plain twin.

An input is two bytes of options and the content of a file.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import plain_reader
from guarded import guarded_text
from mutation import changed_bytes
from verdict import Finding, bounded_memory, check_sentence, nothing_executed

from pegasos.compiled.kernel import PLAIN
from pegasos.data import Data, DataError, iter_svmlight, load_svmlight

NAME = "text"
LONGEST = 600 if PLAIN else 20_000
MOST_CONTENT = 1 << 20  # of what is packed

_PLACE = re.compile(r":(\d+):(\d+): expected ")
_OF_THE_FILE = re.compile(
    r": the (gz|bz2|xz|zst) data (is damaged|ends too early)| has no rows: it is empty"
)
_WIDTHS = (None, None, None, 0, 1, 5, 1000, 2**31 - 1)
_PACK = {
    1: gzip.compress,
    2: bz2.compress,
    3: lzma.compress,
    4: lambda text: __import__("zstandard").compress(text),
}


class Options:
    """What the two bytes of an input choose."""

    def __init__(self, first: int, second: int):
        self.asked = plain_reader.Asked(
            dtype=("float32", "float64")[first & 1],
            zero_based=("auto", "auto", True, False)[first >> 1 & 3],
            labels=("auto", "auto", "numbers", "words")[first >> 3 & 3],
            n_features=_WIDTHS[first >> 5],
        )
        self.packing = second & 7
        self.threads = 1 if PLAIN else 1 + (second >> 3 & 1)
        self.block = (0, 1, 16, 100)[second >> 4 & 3]  # 0: the whole
        self.part = (1 << 18, 8)[second >> 6 & 1]

    def packed(self, text: bytes) -> bytes:
        return _PACK[self.packing](text) if self.packing in _PACK else text


def check(data: bytes, folder: Path) -> bool:
    """Whether the input was accepted. Finding if anything is as it must not be."""
    options = Options(*data[:2].ljust(2, b"\0"))
    path = folder / "text"
    path.write_bytes(options.packed(data[2:]))
    expected = _expected(path.read_bytes(), options.asked)
    whole = _guarded(options, lambda: load_svmlight(path, **_words(options)), path, data)
    _compare(whole, expected, path, "place" if options.asked.labels == "numbers" else "line")
    if isinstance(expected, plain_reader.Refusal) or options.asked.labels != "auto":
        chunks = _outcome(lambda: _in_chunks(path, options), path, data)
        _compare(chunks, expected, path, "yes or no")
    return isinstance(whole, Data)


def _words(options: Options) -> dict:
    return {**options.asked._asdict(), "threads": options.threads}


def _guarded(options: Options, read, path: Path, data: bytes) -> Data | DataError:
    """Read plainly; then with arrays that end where memory ends, which must not matter."""
    found = _outcome(read, path, data)
    if PLAIN:  # which looks at each index anyway
        return found
    size = options.block or max(len(data) - 2, 1)
    with guarded_text(size, options.part):
        again = _outcome(read, path, data)
    if isinstance(found, DataError) or isinstance(again, DataError):
        told = isinstance(found, DataError) and _OF_THE_FILE.search(str(found))  # after how much
        if str(found) != str(again) and not told:
            raise Finding(f"in one block {found}, in blocks of {size} bytes {again}")
    else:
        _same(again, found)
    return found


def _outcome(read, path: Path, data: bytes) -> Data | DataError:
    size = len(data) if len(data) > 1 and not data[1] & 7 else max(len(data), path.stat().st_size)
    with nothing_executed(), bounded_memory(max(size, _content(path))):
        try:
            return read()
        except DataError as error:
            _check_refusal(error, path)
            return error


def _content(path: Path) -> int:
    try:
        return len(plain_reader.unpacked(path.read_bytes(), MOST_CONTENT))
    except plain_reader.Refusal:
        return 0


def _check_refusal(error: DataError, path: Path) -> None:
    text = check_sentence(error)
    rest = text.removeprefix(str(path))
    if rest == text or not (_PLACE.match(rest) or _OF_THE_FILE.match(rest)):
        raise Finding(f"neither file:line:column nor about the file: {text}") from error


def _expected(content: bytes, asked: plain_reader.Asked):
    try:
        return plain_reader.read(plain_reader.unpacked(content, MOST_CONTENT), asked)
    except plain_reader.Refusal as refusal:
        return refusal


def _compare(found: Data | DataError, expected, path: Path, upto: str) -> None:
    """The reader and its twin agree: on yes or no, on the place, and on every bit.

    ``upto`` says how far they agree on the first fault. A label that may be a word is looked at
    after its line; in chunks, an index 0 anywhere changes what is told of the lines before.
    """
    if isinstance(found, DataError):
        if not isinstance(expected, plain_reader.Refusal):
            raise Finding(f"refused, where the twin accepts: {found}")
        place = _PLACE.match(str(found).removeprefix(str(path)))
        here = (int(place[1]), int(place[2])) if place else (0, 0)
        first = (expected.line, expected.column)
        if (upto == "place" and here != first) or (upto == "line" and here[0] != first[0]):
            raise Finding(f"the first fault is at {first[0]}:{first[1]}: {found}")
        return
    if isinstance(expected, plain_reader.Refusal):
        raise Finding(f"accepted, where the twin refuses {expected.line}:{expected.column}")
    X, m = found.X, len(expected.labels)
    y = np.array(expected.labels, dtype=np.str_ if expected.words else np.float64)
    groups = np.array(expected.groups, np.int64) if expected.groups else None
    for name, ours, twins in (
        ("shape", np.array(X.shape), np.array([m, expected.n_features])),
        ("pointers", X.indptr, np.array(expected.pointers)),
        ("indices", X.indices, np.array(expected.indices, np.int64)),
        ("values", _bits(X.data), _bits(expected.values)),
        ("labels", _bits(found.y), _bits(y)),
        ("groups", found.groups, groups),
    ):
        if not np.array_equal(ours, twins):
            raise Finding(f"{name} differ: {ours} where the twin has {twins}")
    if X.data.dtype != expected.values.dtype or found.y.dtype.kind != y.dtype.kind:
        raise Finding(f"types differ: {X.data.dtype}, {found.y.dtype}")


def _same(a: Data, b: Data) -> None:
    pairs = [(getattr(a.X, name), getattr(b.X, name)) for name in ("indptr", "indices")]
    pairs += [(_bits(a.X.data), _bits(b.X.data)), (_bits(a.y), _bits(b.y)), (a.groups, b.groups)]
    if a.X.shape != b.X.shape or not all(np.array_equal(*pair) for pair in pairs):
        raise Finding("other blocks give other rows")


def _bits(array: np.ndarray) -> np.ndarray:
    """Numbers as they are stored, so that 0 is not −0."""
    return array.view(f"u{array.itemsize}") if array.dtype.kind == "f" else array


def _in_chunks(path: Path, options: Options) -> Data:
    chunks = list(iter_svmlight(path, chunk_bytes=options.block or 1000, **_words(options)))
    import scipy.sparse as sp

    width = max(chunk.X.shape[1] for chunk in chunks)
    for chunk in chunks:
        chunk.X.resize(chunk.X.shape[0], width)
    groups = [chunk.groups for chunk in chunks]
    return Data(
        X=sp.csr_array(sp.vstack([chunk.X for chunk in chunks])),
        y=np.concatenate([chunk.y for chunk in chunks]),
        groups=None if groups[0] is None else np.concatenate(groups),
    )


# ------------------------------------------------------------------------------------- inputs

NUMBERS = [
    b"0", b"-0", b"+0.0", b"1", b"-1", b"+1", b".5", b"5.", b"-.25e-3", b"1e5", b"1E-5", b"1e+05",
    b"00012", b"0.1", b"1e400", b"-1e400", b"1e-400", b"1e99999999999", b"0e999999999999",
    b"nan", b"-inf", b"Infinity", b"0x1p3", b"1_0", b"1e", b"1e+", b"e5", b"--1", b"+-1", b"",
    b".", b"-", b"1.5.2", b"1,5", b"5e-324", b"2.4703282292062327e-324", b"2.47e-324",
    b"2.2250738585072011e-308", b"1.7976931348623157e308", b"1.7976931348623159e308",
    b"179769313486231580793e289", b"3.4028235e38", b"3.4028235677973366e38",
    b"340282356779733661637539395458142568447", b"340282356779733661637539395458142568448",
    b"-340282356779733661637539395458142568447.9999", b"9007199254740993", b"9007199254740992.5",
    b"1.00000000000000011102230246251565404236316680908203125",
    b"1.00000000000000011102230246251565404236316680908203126",
    b"1" + b"0" * 400, b"0." + b"0" * 400 + b"1", b"1" * 60 + b"e-60", b"0" * 500 + b"1.5",
]  # fmt: skip
INDICES = [b"0", b"00", b"01", b"2147483646", b"2147483647", b"4294967296", b"9" * 25, b"-1", b"+1",
           b"", b"1.0", b"a", b"0" * 30 + b"7", b"qid"]  # fmt: skip
LABELS = [b"+1", b"-1", b"1", b"0", b"spam", b"ham", "ü".encode(), b"1,2", b"a:b", b"\xff",
          b"\xc2\x85", b"x" * 255, b"x" * 256, b"nan", b"Infinity", b"1e400", b"\x7f",
          b"a\0b"]  # fmt: skip
BLANKS = [b"  ", b"\t", b"\r", b" \t ", b"\x0b", b"\x0c", b"\0", b"", b"\xc2\xa0"]
GROUPS = [b"qid:1", b"qid:2", b"qid:", b"qid:-1", b"qid:" + b"9" * 17, b"qid:" + b"9" * 18,
          b"qid:0000000000000000000001", b"qid:1.5", b"QID:1", b"qid :1",
          b"qid:1 qid:1"]  # fmt: skip
TOKENS = [*NUMBERS, *INDICES, *LABELS, *BLANKS, *GROUPS, b":", b"#", b"\n", b"\r\n", b"\n#\n",
          b"\xef\xbb\xbf", b" 0:1", b" 1:1", b"\x1f\x8b\x08", b"BZh91AY&SY"]  # fmt: skip


def seeds() -> list[bytes]:
    """Inputs to begin with: all sorts of good text, plain and packed, and some that is not."""
    rng = random.Random(0)
    found = [b"\0\0" + made_text(rng, wild) for wild in [0.0] * 12 + [0.05] * 6 + [0.3] * 4]
    found += [bytes([8 * k, 0]) + made_text(rng, 0.0) for k in range(4)]
    found += [bytes([32 * k, 16 * (k % 4) + 8]) + made_text(rng, 0.0) for k in range(8)]
    found += [bytes([1, packing]) + made_text(rng, 0.0) for packing in _PACK]
    found += [b"\0\0" + pack(made_text(rng, 0.0)) for pack in _PACK.values()]
    found += [b"\0\0" + pack(b"\n" * 20_000) for pack in _PACK.values()]
    found += [bytes([k, 0]) + b"1 1:" + b"\n-1 2:".join(NUMBERS[:13]) for k in (0, 1)]
    found += [
        b"\0\0",
        b"\0\0\n\n# nothing\n",
        b"\0\0\xef\xbb\xbf1 1:1\n",
        b"\0\x40" + b"1 1:1\n" * 300,
    ]
    return found


def changed(rng: random.Random, data: bytes) -> bytes:
    """An input changed a little, or made anew."""
    kind = rng.randrange(8)
    if kind == 0:
        return bytes([rng.randrange(256), rng.randrange(256)]) + data[2:]
    if kind == 1:
        wild = rng.choice([0.0, 0.0, 0.01, 0.05, 0.3])
        return data[:2] + made_text(rng, wild)
    if kind == 2:
        return data + made_text(rng, 0.0)
    return data[:2] + changed_bytes(rng, data[2:], TOKENS)


def made_text(rng: random.Random, wild: float) -> bytes:
    """Some lines; each part of them is with this probability not what it should be."""

    def some(good: bytes, bad: list[bytes]) -> bytes:
        return rng.choice(bad) if rng.random() < wild else good

    grouped, base = rng.random() < 0.2, rng.choice([0, 1, 1, 1])
    words = rng.random() < 0.2
    end = rng.choice([b"\n", b"\n", b"\r\n"])
    lines = []
    for _ in range(rng.choice([1, 1, 2, 3, 8])):
        good = rng.choice(["spam", "ham", "ü"]).encode() if words else made_number(rng)
        parts = [some(good, LABELS)]
        if rng.random() < (0.9 if wild else 1.0) and grouped:
            parts.append(some(b"qid:%d" % rng.randrange(10), GROUPS))
        index = base - 1
        for _ in range(rng.choice([0, 1, 2, 5])):
            index += rng.choice([1, 1, 1, 2, 17, 100_000])
            value = some(made_number(rng), NUMBERS)
            parts.append(
                some(b"%d" % index, INDICES) + some(b":", [b"", b"::", b" :", b": "]) + value
            )
        line = b"".join(part + some(b" ", BLANKS) for part in parts)
        lines.append(line + some(b"", [b"#", b"# a comment", b" #1 1:1", b"#\0\xff"]))
        lines.append(some(end, [b"\n\n", b"\r", b"\n#\n", b"\n \n", b""]))
    return b"".join(lines)[: rng.choice([None, None, None, -1])]


def made_number(rng: random.Random) -> bytes:
    """A number that can be read: short, of many digits, or as near as can be to half way."""
    kind = rng.randrange(6)
    if kind < 3:
        return b"%d" % rng.randrange(-9, 10) if kind else b"%.4g" % rng.uniform(-2, 2)
    if kind == 3:
        digits = "".join(rng.choice("0123456789") for _ in range(rng.choice([1, 8, 17, 19, 25])))
        whole = rng.choice(["", digits[: len(digits) // 2]])
        return f"{rng.choice(['', '-', '+'])}{whole}.{digits}e{rng.randint(-30, 20)}".encode()
    return _half_way(rng)


def _half_way(rng: random.Random) -> bytes:
    """The middle between two neighbours, exactly, or a little beside it."""
    mantissa = 2 * rng.getrandbits(rng.choice([24, 53])) + 1
    middle = Fraction(mantissa) * Fraction(2) ** rng.randint(-80, 40)
    places = rng.choice([0, 10, 30, 100])
    scaled = middle * 10**places
    return b"%de-%d" % (scaled.numerator // scaled.denominator + rng.choice([-1, 0, 0, 1]), places)
