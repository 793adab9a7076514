"""svmlight text out: read back to the same bits, complete or absent."""

import io

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pegasos.data import (
    Data,
    DataError,
    iter_svmlight,
    load_svmlight,
    open_store,
    save_svmlight,
    write_store,
    write_svmlight,
)
from pegasos.data.opened import open_binary


def tokens_of(values, path):
    """The values as they are written, each in a row of its own."""
    X = sp.csr_array(
        (values, np.zeros(values.size, np.int32), np.arange(values.size + 1)), (values.size, 1)
    )
    save_svmlight(path, X, np.zeros(values.size), force=True)
    return [line.split(":")[1] for line in path.read_text().splitlines()]


def wild(dtype, count=3000):
    unsigned = {np.float32: np.uint32, np.float64: np.uint64}[dtype]
    bits = np.random.default_rng(0).integers(0, 2 ** (8 * unsigned().itemsize), count, np.uint64)
    values = bits.astype(unsigned).view(dtype)
    everyday = (np.random.default_rng(1).standard_normal(count) * 100).astype(dtype)
    info = np.finfo(dtype)
    powers = 2.0 ** np.arange(np.log2(float(info.smallest_subnormal)), info.maxexp)
    tens = 10.0 ** np.arange(-44 if dtype is np.float32 else -323, np.log10(float(info.max)) // 1)
    edges = [0.0, -0.0, info.max, info.tiny, info.smallest_subnormal, 1 / 3, 123456, 0.1, 1e15]
    edges += [1e16, 1e17, 123456789012345678, 2**53 + 2, 0.0001, 0.00001, 0.00012345, -1.5e-7]
    exact = np.concatenate([powers, tens, edges]).astype(dtype)
    with np.errstate(over="ignore"):
        beside = np.concatenate([np.nextafter(exact, dtype(end)) for end in (np.inf, 0)])
    values = np.concatenate([values, everyday, exact, beside])
    return values[np.isfinite(values)]


def test_float64_is_written_as_python_does(tmp_path):
    values = wild(np.float64)
    wanted = [repr(v).removesuffix(".0") for v in values.tolist()]
    assert tokens_of(values, tmp_path / "values") == wanted


def test_float32_is_written_in_the_fewest_digits_that_give_it_back(tmp_path):
    values = wild(np.float32)
    tokens = tokens_of(values, tmp_path / "values")
    assert np.array([float(t) for t in tokens]).astype(np.float32).tobytes() == values.tobytes()
    for token, v in zip(tokens, values):
        short = np.format_float_scientific(v, unique=True, trim="-")
        digits, wanted = (t.lower().lstrip("-").split("e")[0] for t in (token, short))
        count = len(digits.replace(".", "").strip("0"))
        assert count == len(wanted.replace(".", "").strip("0"))
        assert float(token) == float(short)


@st.composite
def tables(draw):
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    width = 32 if dtype is np.float32 else 64
    numbers = st.floats(allow_nan=False, allow_infinity=False, width=width)
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 5)))
    return draw(arrays(dtype, shape, elements=numbers, fill=st.just(0)))


@given(tables(), st.booleans(), st.booleans(), st.booleans())
@settings(max_examples=100, deadline=None)
def test_what_was_written_is_read_back(tmp_path_factory, table, sparse, zero_based, grouped):
    path = tmp_path_factory.mktemp("rows") / "rows.svm"
    y = np.arange(table.shape[0]) - 1.5
    groups = np.arange(table.shape[0]) if grouped else None
    X = sp.csr_array(table) if sparse else table
    options = {"n_features": table.shape[1], "zero_based": zero_based, "dtype": table.dtype}
    save_svmlight(path, X, y, groups=groups, zero_based=zero_based, comment="made\nup")
    data = load_svmlight(path, **options)
    assert data.X.data.tobytes() == sp.csr_array(table).data.tobytes()
    assert np.array_equal(data.X.toarray(), table)
    assert data.y.tolist() == y.tolist()
    assert (data.groups is None) == (groups is None)
    assert path.read_text().startswith("# made\n# up\n")


def test_labels_are_written_as_they_are(tmp_path):
    path, X = tmp_path / "rows", np.eye(4)
    save_svmlight(path, X, [1, -1, 0, 12345678])
    assert [line.split()[0] for line in path.read_text().splitlines()] == "1 -1 0 12345678".split()  # noqa: SIM905
    labels = np.array([0.1, -0.0, 1e300, 1 / 3])
    save_svmlight(path, X, labels, force=True)
    assert load_svmlight(path).y.tobytes() == labels.tobytes()
    words = np.array(["cat", "dög", "a+b", "cat"])
    save_svmlight(path, X, words, force=True)
    assert load_svmlight(path).y.tolist() == words.tolist()
    save_svmlight(path, X, np.array(["1", "2", "1", "nan"], dtype=object), force=True)
    assert load_svmlight(path, labels="words").y.tolist() == ["1", "2", "1", "nan"]
    save_svmlight(path, X, np.array([True, False, True, True]), force=True)
    assert load_svmlight(path).y.tolist() == [1.0, 0.0, 1.0, 1.0]


def test_values_of_other_types(tmp_path):
    path, table = tmp_path / "rows", np.array([[1, 0, 3], [0, 200, 0]])
    for dtype in (bool, np.int8, np.uint8, np.int32, np.int64, np.float16):
        save_svmlight(path, table.astype(dtype), [1, 2], force=True)
        assert np.array_equal(load_svmlight(path).X.toarray(), table.astype(dtype).astype(float))
    with pytest.raises(DataError, match=r"whole numbers of 2\*\*53 and more"):
        save_svmlight(path, np.array([[2**53 + 1]]), [1], force=True)
    with pytest.raises(DataError, match="X holds complex128, not numbers"):
        save_svmlight(path, np.array([[1j]]), [1], force=True)


def test_columns_out_of_order_or_twice_are_put_right(tmp_path):
    X = sp.csr_array(
        (np.array([1.0, 2.0, 3.0, 4.0, 5.0]), [3, 1, 0, 2, 2], [0, 2, 2, 5]), shape=(3, 4)
    )
    save_svmlight(tmp_path / "rows", X, [1, 2, 3])
    assert (tmp_path / "rows").read_text() == "1 2:2 4:1\n2\n3 1:3 3:9\n"
    assert X.indices.tolist() == [3, 1, 0, 2, 2]
    save_svmlight(tmp_path / "columns", sp.csc_array(X), [1, 2, 3])
    assert (tmp_path / "columns").read_text() == (tmp_path / "rows").read_text()


def test_large_rows_and_many_rows(tmp_path, monkeypatch):
    from pegasos.data import writing

    monkeypatch.setattr(writing, "_ENTRIES", 50)
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 200), density=0.1, rng=rng, format="csr", dtype=np.float32)
    X = sp.csr_array(sp.vstack([X, sp.csr_array((200, 200), dtype=np.float32), X.copy()]))
    y = rng.integers(0, 3, X.shape[0])
    for table in (X, X.toarray()):
        save_svmlight(tmp_path / "rows", table, y, groups=np.sort(y), force=True)
        data = load_svmlight(tmp_path / "rows", n_features=200)
        assert (abs(data.X - X)).nnz == 0
        assert data.y.tolist() == y.tolist()
        assert data.groups.tolist() == np.sort(y).tolist()


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_a_file_is_packed_as_its_name_says(ending, tmp_path):
    path = tmp_path / f"rows.svm{ending}"
    chunks = (Data(np.full((2, k + 1), 0.1), y=np.array([1, -1])) for k in range(3))
    assert write_svmlight(path, chunks) == (6, 3)
    with open_binary(path) as file:
        assert file.packing == ending[1:]
    assert [c.X.shape[0] for c in iter_svmlight(path, chunk_bytes=10)] == [1] * 6
    again = tmp_path / f"again.svm{ending}"
    save_svmlight(again, load_svmlight(path, dtype="float64").X, [1, -1] * 3)
    assert again.read_bytes() == path.read_bytes()


def test_stored_rows_are_written_block_by_block(tmp_path):
    X = sp.random_array((100, 20), density=0.3, rng=np.random.default_rng(0), dtype=np.float64)
    for name, rows in (("sparse", sp.csr_array(X)), ("dense", X.toarray())):
        y = np.arange(100.0)
        write_store(tmp_path / name, Data(rows, y=y), block_rows=30)
        store = open_store(tmp_path / name)
        save_svmlight(tmp_path / f"{name}.svm", store.X, store.y)
        data = load_svmlight(tmp_path / f"{name}.svm", dtype="float64", n_features=20)
        assert np.array_equal(data.X.toarray(), X.toarray())
        assert data.y.tolist() == y.tolist()


REFUSED = {
    "weights": (Data(np.eye(2), np.ones(2), weights=np.ones(2)), "has no place for weights"),
    "no labels": (Data(np.eye(2), None), "needs a label in each row"),
    "lengths": (Data(np.eye(2), np.ones(3)), r"y must have one entry for each of 2 rows, not \(3,"),
    "inexact": (Data(np.eye(2), np.array([0, 2**53 + 1])), "label of row 1 is 9007199254740993, "),
    "groups": (Data(np.eye(2), np.ones(2), groups=np.ones(3, int)), "groups must have one entry"),
    "negative": (Data(np.eye(2), np.ones(2), groups=np.array([0, -1])), "whole numbers from 0"),
    "halves": (Data(np.eye(2), np.ones(2), groups=np.array([0, 0.5])), "whole numbers from 0"),
    "nan": (Data(np.diag([1, np.nan]), np.ones(2)), "row 1 has nan in column 1, which"),
    "inf": (Data(sp.csr_array(np.diag([1, -np.inf])), np.ones(2)), "row 1 has -inf in column 1"),
    "label": (Data(np.eye(2), np.array([1, np.inf])), "the label of row 1 is inf, which is no num"),
    "axes": (Data(np.ones(2), np.ones(2)), "X must have two dimensions"),
    "rows": (Data(np.ones((0, 2)), np.ones(0)), "the data has no rows"),
    "blank": (Data(np.eye(2), np.array(["a", "a b"])), "the label of row 1, 'a b', cannot stand"),
    "comma": (Data(np.eye(2), np.array(["a,b", "a"])), "the label of row 0, 'a,b', cannot stand"),
    "empty": (Data(np.eye(2), np.array(["a", ""])), "the label of row 1, '', cannot stand"),
    "long": (Data(np.eye(2), np.array(["a", "b" * 256])), "it must be a word of 1 to 255 bytes"),
    "objects": (Data(np.eye(2), np.array([None, None], object)), "numbers or words, and are obj"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_place_in_the_format_is_refused_and_nothing_is_left(case, tmp_path):
    data, said = REFUSED[case]
    with pytest.raises(DataError, match=said):
        write_svmlight(tmp_path / "rows", data)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_replaced_unless_asked(tmp_path):
    path = tmp_path / "rows"
    save_svmlight(path, np.eye(2), [1, 2])
    before = path.read_bytes()
    with pytest.raises(DataError, match="rows"):
        save_svmlight(path, np.ones((2, 2)), [1, 2])
    with pytest.raises(DataError, match="nan"):
        save_svmlight(path, np.full((2, 2), np.nan), [1, 2], force=True)
    assert path.read_bytes() == before
    save_svmlight(path, np.ones((2, 2)), [1, 2], force=True)
    assert path.read_bytes() != before
    assert list(tmp_path.iterdir()) == [path]


def test_chunks_that_fail_leave_nothing(tmp_path):
    def chunks():
        yield Data(np.eye(2), y=np.ones(2))
        yield Data(np.array([[1.0], [np.inf]]), y=np.ones(2))

    with pytest.raises(DataError, match="row 3 has inf in column 0"):
        write_svmlight(tmp_path / "rows.gz", chunks())
    assert list(tmp_path.iterdir()) == []


def test_what_python_reads_back(tmp_path):
    """A line is what ``split`` and ``float`` make of it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 7))
    save_svmlight(tmp_path / "rows", X, X[:, 0])
    table = np.zeros_like(X)
    for i, line in enumerate(io.StringIO((tmp_path / "rows").read_text())):
        label, *entries = line.split()
        assert float(label) == X[i, 0]
        for entry in entries:
            index, value = entry.split(":")
            table[i, int(index) - 1] = float(value)
    assert table.tobytes() == X.tobytes()
