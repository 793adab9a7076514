"""The store: what is written comes back, in order or shuffled; or one sentence and nothing."""

import contextlib
import copy
import errno
import itertools
import json
import os
import random
import re
import resource
import signal
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from pegasos.data import (
    Data,
    DataError,
    is_store,
    iter_store,
    open_store,
    pieces,
    shuffling,
    store,
    store_header,
    verify_store,
    write_store,
)
from pegasos.data.pieces import Intake, rows_of
from pegasos.rows import CSR

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]


def table_of(X):
    """X as a table: of a store, of SciPy, or as it is."""
    if hasattr(X, "rows"):
        rows = X.rows
        if isinstance(rows, CSR):
            found = sparse.csr_array(X.shape, dtype=X.dtype)
            found.data, found.indices, found.indptr = rows.values, rows.indices, rows.pointers
            return found.toarray()
        return np.asarray(rows.values)
    return X.toarray() if sparse.issparse(X) else X


def same(found, data):
    """Whether two Data hold the same, to the bit."""
    assert found.X.dtype == data.X.dtype
    assert found.X.shape == data.X.shape
    np.testing.assert_array_equal(table_of(found.X), table_of(data.X))
    for name in ("y", "weights", "groups"):
        ours, theirs = getattr(found, name), getattr(data, name)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert ours.dtype.kind == theirs.dtype.kind
            np.testing.assert_array_equal(ours, theirs)
    assert found.feature_names == data.feature_names


def part(data, rows):
    return Data(
        data.X[rows],
        *(None if a is None else a[rows] for a in (data.y, data.weights, data.groups)),
        data.feature_names,
        data.notes,
    )


def cut(data, cuts):
    """The data in chunks that begin at these rows."""
    bounds = [0, *sorted(cuts), data.X.shape[0]]
    return [part(data, slice(a, b)) for a, b in itertools.pairwise(bounds)]


def joined(chunks):
    first = chunks[0]
    stack = sparse.vstack if sparse.issparse(first.X) else np.concatenate
    columns = (
        None if getattr(first, name) is None else np.concatenate([getattr(c, name) for c in chunks])
        for name in ("y", "weights", "groups")
    )
    return Data(stack([c.X for c in chunks]), *columns, first.feature_names, first.notes)


def contents(path):
    return {file.name: file.read_bytes() for file in Path(path).iterdir()}


@st.composite
def some_data(draw):
    m, d = draw(st.integers(1, 40)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    table = rng.integers(0, 100, (m, d)) * (rng.random((m, d)) < draw(st.sampled_from([0.05, 0.6])))
    X = table.astype(draw(st.sampled_from(DTYPES)))
    kind = draw(st.sampled_from(["dense", "F", "csr", "csr64"]))
    if kind == "F":
        X = np.asfortranarray(X)
    elif kind != "dense":
        X = sparse.csr_array(X)
        index = np.int64 if kind == "csr64" else np.int32
        X.indptr, X.indices = X.indptr.astype(index), X.indices.astype(index)
    y = draw(
        st.sampled_from(
            [
                None,
                rng.integers(-1, 2, m).astype(float),
                rng.standard_normal(m),
                rng.choice(np.array(["zwölf", "b", "", "a b"]), m),
                np.arange(m).astype(str),
            ]
        )
    )
    weights = draw(st.sampled_from([None, rng.random(m)]))
    groups = draw(st.sampled_from([None, np.sort(rng.integers(0, 5, m))]))
    names = draw(st.sampled_from([None, tuple(f"column {j}" for j in range(d))]))
    return Data(X, y, weights, groups, names)


@contextlib.contextmanager
def folder():
    """A place in memory where there is one: the tests of much writing do not test the disk."""
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=memory) as name:
        yield Path(name)


@contextlib.contextmanager
def small_pieces(size):
    """Pieces of so many bytes, that the tests need not be large."""
    before = pieces.PIECE_BYTES
    pieces.PIECE_BYTES = size
    try:
        yield
    finally:
        pieces.PIECE_BYTES = before


# ---------------------------------------------------------------------------------- round trips


@settings(max_examples=120, deadline=None)
@given(data=some_data(), cuts=st.lists(st.integers(0, 40), max_size=4), size=st.integers(1, 4000))
def test_what_is_written_comes_back(data, cuts, size):
    m = data.X.shape[0]
    chunks = cut(data, [min(c, m) for c in cuts])
    with folder() as here, small_pieces(size):
        found = write_store(here / "rows", iter(chunks))
        same(found, data)
        assert not found.X.rows.values.flags.writeable
        assert found.X.rows.values.flags.aligned
        same(joined(list(iter_store(here / "rows", rows=1 + size % 7))), data)
        same(joined(list(iter_store(found))), data)
        verify_store(here / "rows")
        write_store(here / "again", found)
        assert contents(here / "again") == contents(here / "rows")
        write_store(here / "whole", data)
        assert contents(here / "whole") == contents(here / "rows")
        assert sorted(os.listdir(here)) == ["again", "rows", "whole"]


@settings(max_examples=60, deadline=None)
@given(
    data=some_data(),
    cuts=st.lists(st.integers(0, 40), max_size=4),
    size=st.integers(1, 4000),
    seed=st.integers(0, 2**62),
)
def test_shuffled_is_a_permutation_drawn_by_seed_and_row_number_alone(data, cuts, size, seed):
    m = data.X.shape[0]
    data = Data(data.X, data.y, data.weights, np.arange(m))
    keys = np.random.PCG64(np.random.SeedSequence(seed)).random_raw(m)
    with folder() as here:
        with small_pieces(size):
            chunks = cut(data, [min(c, m) for c in cuts])
            found = write_store(here / "rows", chunks, shuffle=seed)
        np.testing.assert_array_equal(np.sort(found.groups), np.arange(m))
        np.testing.assert_array_equal(found.groups, np.argsort(keys))
        same(found, part(data, found.groups))
        write_store(here / "whole", data, shuffle=seed)
        assert contents(here / "whole") == contents(here / "rows")
        assert found.notes[-1].endswith(f"shuffled with seed {seed} when they were stored")
        assert store_header(here / "rows")["shuffled"] == seed


@settings(max_examples=30, deadline=None)
@given(data=some_data(), bucket=st.integers(0, 2000), size=st.integers(1, 4000))
def test_the_size_of_buckets_does_not_change_the_order(data, bucket, size):
    m = data.X.shape[0]
    data = Data(data.X, data.y, data.weights, np.arange(m))

    def order(**options):
        found = list(shuffling.shuffled(Intake().pieces([data]), 5, here / "buckets", **options))
        assert sum(map(rows_of, found)) == m
        assert not (here / "buckets").exists()
        return {name: np.concatenate([piece[name] for piece in found]) for name in found[0]}

    with folder() as here, small_pieces(size):
        few, many = order(), order(bucket_bytes=bucket)
    assert few.keys() == many.keys()
    for name in few:
        np.testing.assert_array_equal(few[name], many[name])


def test_every_order_is_drawn_alike(tmp_path):
    """Each of three rows is first as often as the others."""
    data = Data(np.eye(3), None, groups=np.arange(3))
    orders = [
        tuple(
            np.concatenate(
                [
                    p["groups"]
                    for p in shuffling.shuffled(Intake().pieces([data]), s, tmp_path / "b")
                ]
            )
        )
        for s in range(600)
    ]
    counts = [orders.count(order) for order in set(orders)]
    assert len(counts) == 6
    assert min(counts) > 60  # 100 expected, and 9 of deviation


def test_the_files_are_what_the_format_says(tmp_path):
    """A reader in the ten lines that the module promises."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((30, 7), density=0.3, rng=rng, format="csr", dtype=np.float32)
    y = rng.choice(["no", "yes"], 30)
    write_store(tmp_path / "rows.store", Data(X, y, rng.random(30)))
    about = json.loads((tmp_path / "rows.store" / "header.json").read_text())
    arrays = {
        name: np.memmap(
            tmp_path / "rows.store" / one["file"], one["dtype"], "r", shape=tuple(one["shape"])
        )
        for name, one in about["arrays"].items()
    }
    found = sparse.csr_array((arrays["values"], arrays["indices"], arrays["pointers"]))
    np.testing.assert_array_equal(found.toarray(), X.toarray())
    np.testing.assert_array_equal(np.array(about["classes"])[arrays["targets"]], y)
    assert arrays["pointers"].dtype == np.int64
    assert (about["format"], about["version"], about["index_base"]) == ("pegasos-store", 1, 0)
    for name, one in about["arrays"].items():
        assert one["crc32"] == zlib.crc32(arrays[name].tobytes())
        assert one["bytes"] == arrays[name].nbytes


def test_rows_without_any_value_are_stored(tmp_path):
    data = Data(sparse.csr_array((3, 4), dtype=np.float32), np.zeros(3))
    same(write_store(tmp_path / "rows", data, shuffle=1), data)
    same(next(iter_store(tmp_path / "rows")), data)
    verify_store(tmp_path / "rows")


def test_sparse_chunks_may_differ_in_width_and_format(tmp_path):
    chunks = [Data(sparse.csr_array(np.eye(2)), None), Data(sparse.coo_array(np.eye(4)), None)]
    assert write_store(tmp_path / "a", chunks).X.shape == (6, 4)
    found = write_store(tmp_path / "b", chunks, n_features=9)
    assert found.X.shape == (6, 9)
    np.testing.assert_array_equal(table_of(found.X)[:, :4], np.vstack([np.eye(2, 4), np.eye(4)]))


def test_chunks_without_rows_say_nothing(tmp_path):
    data = Data(np.eye(3, dtype=np.float32), np.array(["a", "b", "a"]))
    empty = Data(np.empty((0, 5)), None, np.empty(0))
    same(write_store(tmp_path / "rows", [empty, data, empty]), data)


def test_wide_columns_have_wide_indices(tmp_path):
    X = sparse.csr_array((np.ones(2), (np.arange(2), np.array([3, 2**40]))), shape=(2, 2**40 + 1))
    found = write_store(tmp_path / "rows", Data(X, None), shuffle=0)
    assert found.X.shape == (2, 2**40 + 1)
    assert sorted(found.X.rows.indices.tolist()) == [3, 2**40]
    narrow = Data(sparse.csr_array(np.eye(2)), None)
    with pytest.raises(DataError, match=r"row 3 has column 1099511627776, .*; give n_features"):
        write_store(tmp_path / "late", [narrow, Data(X, None)])
    found = write_store(tmp_path / "late", [narrow, Data(X, None)], n_features=2**40 + 1)
    assert found.X.rows.indices.dtype == np.int64
    verify_store(tmp_path / "late")


def test_the_header_in_short(tmp_path):
    rng = np.random.default_rng(0)
    X = sparse.random_array((100, 7), density=0.3, rng=rng, format="csr", dtype=np.float32)
    y = np.repeat([-1.0, 1.0], [30, 70])
    write_store(tmp_path / "a", Data(X, y, notes=("indices start at 1",)), block_rows=7)
    about = store_header(tmp_path / "a")
    assert about["notes"] == ["indices start at 1"]
    expected = {"rows": 100, "features": 7, "nnz": X.nnz, "kind": "csr", "dtype": "float32"}
    expected |= {"index_dtype": "int32", "block_rows": 7, "labels": "numbers", "shuffled": None}
    expected |= {"classes": [-1.0, 1.0], "class_counts": [30, 70], "weights": False}
    assert expected.items() <= about.items()
    assert about["bytes"] == 8 * X.nnz + 8 * 101 + 8 * 100
    write_store(tmp_path / "b", Data(sparse.vstack([X, X]), rng.standard_normal(200)))
    assert store_header(tmp_path / "b")["classes"] is None
    write_store(tmp_path / "c", Data(X, None))
    assert store_header(tmp_path / "c")["labels"] is None


def test_the_maker_is_named_even_if_nothing_is_installed(tmp_path, monkeypatch):
    write_store(tmp_path / "a", Data(np.eye(2), None))
    assert re.fullmatch(r"pegasos \d.*", store_header(tmp_path / "a")["made_with"])

    def missing(name):
        raise store.PackageNotFoundError(name)

    monkeypatch.setattr(store, "version", missing)
    write_store(tmp_path / "b", Data(np.eye(2), None))
    assert store_header(tmp_path / "b")["made_with"] == "pegasos"


@pytest.mark.parametrize("kind", ["csr", "dense"])
def test_there_are_many_blocks_unless_given(tmp_path, kind, monkeypatch):
    X = np.ones((5000, 1000), dtype=np.float64)
    X = sparse.csr_array(X) if kind == "csr" else X
    size = 1000 * (12 if kind == "csr" else 8)
    assert write_store(tmp_path / "a", Data(X, None)).X.block_rows == (32 << 10) // size
    assert write_store(tmp_path / "b", Data(X[:9], None)).X.block_rows == (32 << 10) // size
    assert write_store(tmp_path / "c", Data(X[:9], None), block_rows=7).X.block_rows == 7
    assert write_store(tmp_path / "d", Data(X[:9, :2], None)).X.block_rows == 9
    monkeypatch.setattr("pegasos.data.store._BLOCKS", 100)
    assert write_store(tmp_path / "e", Data(X, None)).X.block_rows == 5000 // 100
    monkeypatch.setattr("pegasos.data.store._BLOCKS", 10)
    assert write_store(tmp_path / "f", Data(X, None)).X.block_rows == (1 << 20) // size


def test_progress_counts_up_to_all(tmp_path):
    data = Data(np.eye(50), None)
    said = []
    with small_pieces(1000):
        write_store(tmp_path / "rows", data, shuffle=1, on_progress=lambda *a: said.append(a))
        verify_store(tmp_path / "rows", on_progress=lambda *a: said.append(a))
    by_what = {what: [a[1:] for a in said if a[0] == what] for what, *_ in said}
    assert list(by_what) == ["rows read", "rows shuffled", "bytes checked"]
    assert by_what["rows read"][-1] == (50, None)
    assert by_what["rows shuffled"][-1] == (50, 50)
    done, total = zip(*by_what["bytes checked"])
    assert done[-1] == total[-1] == 2 * 50 * 50 * 8
    assert list(done) == sorted(done)


def test_memory_is_that_of_a_chunk_not_of_the_rows(tmp_path, run_python):
    """The peak hardly grows with eight times the rows, shuffled or not."""
    code = """
import json, resource, sys
import numpy as np
from scipy import sparse
from pegasos.data import Data, pieces, shuffling, verify_store, write_store

pieces.PIECE_BYTES = shuffling.PIECE_BYTES = 1 << 20
shuffling.shuffled.__defaults__ = (1 << 20,)

def chunks(count):
    for k in range(count):
        rng = np.random.default_rng(k)
        columns = np.arange(20, dtype=np.int32) * 50 + rng.integers(0, 50, (5000, 20), np.int32)
        X = (rng.random(100_000, np.float32), columns.ravel(), np.arange(0, 100_001, 20))
        yield Data(sparse.csr_array(X, shape=(5000, 1000)), rng.choice(["a", "b"], 5000))

def peak(count, **options):
    found = write_store(f"{sys.argv[1]}/{count}-{len(options)}", chunks(count), **options)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

peaks = [peak(20), peak(20, shuffle=1), peak(160), peak(160, shuffle=1)]
print(json.dumps(peaks))
"""
    peaks = run_python(code.replace("sys.argv[1]", repr(str(tmp_path))))
    rows = 160 * 5000
    assert peaks[3] - peaks[1] < 0.4 * rows * (20 * 8 + 24) / 2**20
    assert peaks[2] - peaks[1] < 0.4 * rows * (20 * 8 + 24) / 2**20


# ------------------------------------------------------------------------------------ bad rows


def csr(data, indices, indptr, shape):
    """A CSR matrix as it is, without SciPy's checks."""
    found = sparse.csr_array(shape)
    found.data, found.indices, found.indptr = map(np.asarray, (data, indices, indptr))
    return found


GOOD = sparse.csr_array(np.eye(3, 4))
ONES, RANGE = np.ones(3), np.arange(3)


@pytest.mark.parametrize(
    ("bad", "options", "sentence"),
    [
        (Data(csr(ONES, [0, 3, 1], [0, 1, 3, 3], (3, 4)), None), {}, "row 4 has column 1 after"),
        (Data(csr(ONES, [0, 2, 2], [0, 1, 3, 3], (3, 4)), None), {}, "row 4 has column 2 twice"),
        (Data(csr(ONES, [0, 4, 1], [0, 1, 2, 3], (3, 4)), None), {}, "row 4 has column 4, .*0 … 3"),
        (Data(csr(ONES, [0, -1, 1], [0, 1, 2, 3], (3, 4)), None), {}, "row 4 has column -1, which"),
        (Data(GOOD, None), {"n_features": 2}, "row 2 has column 2, which is outside 0 … 1"),
        (Data(csr(ONES, [0, 1, 2], [0, 2, 1, 3], (3, 4)), None), {}, "pointers of X decrease"),
        (Data(csr(ONES, [0, 1, 2], [0, 1, 2, 9], (3, 4)), None), {}, "pointers of X decrease"),
        (Data(csr([1, np.nan, 1], RANGE, [0, 1, 2, 3], (3, 4)), None), {}, "row 4, column 1 .*NaN"),
        (
            Data(csr([1, 1, -np.inf], RANGE, [0, 1, 1, 3], (3, 4)), None),
            {},
            "row 5, column 2 .*inf",
        ),
        (Data(np.eye(3, 4), None), {}, "row 3 begins a dense chunk after csr rows"),
        (Data(GOOD.astype("f4"), None), {}, "row 3 .* float32 values after float64 .*same dtype"),
        (Data(GOOD, ONES), {}, "begins at row 3 has targets, which the rows before it have not"),
        (Data(GOOD, None, ONES), {}, "begins at row 3 has weights"),
        (Data(GOOD, None, None, None, tuple("abc")), {}, "3 feature names for 4 features"),
        (GOOD, {}, "come as pegasos.data.Data, not as csr_array"),
    ],
)
def test_bad_sparse_rows_are_named(tmp_path, bad, options, sentence):
    with pytest.raises(DataError, match=sentence):
        write_store(tmp_path / "rows", [Data(GOOD, None), bad], **options)
    assert os.listdir(tmp_path) == []


def put(value, where, table):
    table = np.array(table)
    table[where] = value
    return table


TABLE, WORDS = np.ones((3, 4)), np.array(["a", "b", "a"])


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (Data(put(np.nan, (1, 2), TABLE), ONES), "row 4, column 2 holds NaN; remove the row"),
        (Data(put(np.inf, (2, 0), TABLE), ONES), "row 5, column 0 holds infinity"),
        (Data(np.ma.masked_equal(put(0, (0, 0), TABLE), 0), ONES), "X is masked in the chunk .* 3"),
        (Data(TABLE[:, :2], ONES), "row 3 has 2 features where 4 were expected"),
        (Data(GOOD, ONES), "row 3 begins a csr chunk after dense rows"),
        (Data(TABLE.astype("f2"), ONES), "type float16 cannot be stored; convert X"),
        (Data(TABLE.astype(object), ONES), "type object cannot be stored"),
        (Data(TABLE.astype(complex), ONES), "type complex128 cannot be stored"),
        (Data(TABLE[0], ONES), "two dimensions"),
        (Data(TABLE, None), "row 3 has no targets, which the rows before it have"),
        (Data(TABLE, ONES[:2]), r"targets of shape \(2,\) do not fit 3 rows \(from row 3 on\)"),
        (Data(TABLE, WORDS), "from row 3 on the labels are words, before they are numbers"),
        (Data(TABLE, WORDS.astype(object)), r"type object cannot be stored; .*y.astype\(str\)"),
        (Data(TABLE, put(np.nan, 1, ONES)), "targets of row 4 is nan; a finite number"),
        (Data(TABLE, ONES, None, None, tuple("efgh")), "other names from row 3 on"),
    ],
)
def test_bad_tables_are_named(tmp_path, bad, sentence):
    with pytest.raises(DataError, match=sentence):
        write_store(tmp_path / "rows", [Data(TABLE, ONES, feature_names=tuple("abcd")), bad])
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("data", "options", "sentence"),
    [
        (Data(TABLE, ONES, put(np.inf, 2, ONES)), {}, "weights of row 2 is inf"),
        (Data(TABLE, ONES, WORDS), {}, "weights must be numbers, not <U1"),
        (Data(TABLE, ONES, None, ONES), {}, "groups must be whole numbers"),
        (
            Data(TABLE, ONES, None, np.array([0, 2**63 - 1, 2**63], np.uint64)),
            {},
            "the group of row 2 is 9223372036854775808, which int64 cannot hold",
        ),
        (
            Data(TABLE, np.array([2**53 + 2, 2**53, 2**53 + 1])),
            {},
            r"the label of row 2 is 9007199254740993, which float64 cannot hold .*y.astype\(str\)",
        ),
        (
            Data(TABLE, np.array([0, -(2**53) - 1, 1])),
            {},
            "the label of row 1 is -9007199254740993",
        ),
        (Data(TABLE, np.array([0, 1, 2**64 - 1], np.uint64)), {}, "row 2 is 18446744073709551615"),
        (Data(TABLE, np.array(["a", "b", "c" * 257])), {}, "label of row 2 has 257 characters"),
        (Data(TABLE, ONES), {"shuffle": -1}, "shuffle should be a whole number from 0 on"),
        (Data(TABLE, ONES), {"shuffle": True}, "shuffle should be a whole number"),
        (Data(TABLE, ONES), {"block_rows": 0}, "block_rows should be a whole number from 1 on"),
        (Data(TABLE, ONES), {"n_features": 2.5}, "n_features should be a whole number"),
        (Data(TABLE, ONES), {"n_features": 5}, "row 0 has 4 features where 5 were expected"),
        (Data(TABLE[:0], ONES[:0]), {}, "there are no rows to store"),
        ([], {}, "there are no rows to store"),
        (Data(TABLE[:, :0], ONES), {}, "the rows have no features"),
        (Data(sparse.csr_array((3, 0)), ONES), {}, "the rows have no features"),
        (Data(TABLE, ONES, feature_names=("x" * 2**26, *"abc")), {}, "take more than 64 MB"),
    ],
)
def test_other_bad_input_is_named(tmp_path, data, options, sentence):
    with pytest.raises(DataError, match=sentence):
        write_store(tmp_path / "rows", data, **options)
    assert os.listdir(tmp_path) == []


def test_large_whole_numbers_that_are_float64_are_stored(tmp_path):
    for name, labels, groups in (
        ("signed", np.array([-(2**63), 2**53 + 2, 2**62]), np.array([-(2**63), 0, 2**63 - 1])),
        ("unsigned", np.array([2**63, 2**53, 2**64 - 2**11], np.uint64), np.arange(3, dtype="u8")),
    ):
        found = write_store(tmp_path / name, Data(TABLE, labels, groups=groups))
        assert [int(label) for label in found.y] == labels.tolist()
        assert found.groups.tolist() == groups.tolist()


def test_numbers_after_words_and_too_many_words_are_refused(tmp_path, monkeypatch):
    with pytest.raises(DataError, match=r"from row 3 on the labels are numbers, before .* words"):
        write_store(tmp_path / "rows", [Data(TABLE, WORDS), Data(TABLE, ONES)])
    monkeypatch.setattr(pieces, "MOST_CLASSES", 2)
    with pytest.raises(DataError, match="more than 2 different words"):
        write_store(tmp_path / "rows", Data(TABLE, np.array(["a", "b", "c"])))
    assert os.listdir(tmp_path) == []


# ------------------------------------------------------------------------- complete or absent


def test_a_store_is_replaced_only_if_asked_and_nothing_else_ever(tmp_path):
    path = tmp_path / "rows"
    old, new = Data(np.eye(3), None), Data(np.eye(4), None)
    write_store(path, old)
    with pytest.raises(DataError, match=r"rows exists already; .*force=True"):
        write_store(path, new)
    same(open_store(path), old)
    same(write_store(path, new, force=True), new)
    same(write_store(path, open_store(path), shuffle=1, force=True), part(new, order_of(path)))
    (path / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match=r"is not replaced: .*also holds 'notes.txt'"):
        write_store(path, old, force=True)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "precious").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for name, sentence in (("folder", "is not a store"), ("file", "it is a file")):
        with pytest.raises(DataError, match=sentence):
            write_store(tmp_path / name, old, force=True)
    assert (tmp_path / "folder" / "precious").read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["file", "folder", "rows"]


def order_of(path):
    """The columns of the ones in a shuffled identity."""
    return np.argmax(np.asarray(open_store(path).X.rows.values), axis=1)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("the source broke")])
@pytest.mark.parametrize("shuffle", [None, 1])
def test_an_interrupted_store_is_absent_and_the_old_one_stays(tmp_path, error, shuffle):
    old = write_store(tmp_path / "old", Data(np.eye(3), None))

    def broken():
        yield Data(np.eye(4), None)
        raise error

    for name in ("old", "new"):
        with pytest.raises(type(error)):
            write_store(tmp_path / name, broken(), shuffle=shuffle, force=True)
    assert os.listdir(tmp_path) == ["old"]
    same(open_store(tmp_path / "old"), old)


@pytest.mark.parametrize("shuffle", [None, 1])
@pytest.mark.parametrize("most", [0, 100, 30_000, 399_000])
def test_when_no_more_can_be_written_nothing_is_left(tmp_path, shuffle, most):
    """The limit on the size of a file stands for a full disk: writing fails half-way in both."""
    data = Data(np.ones((1000, 50)), np.ones(1000))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        with pytest.raises(DataError) as caught:
            write_store(tmp_path / "rows", data, shuffle=shuffle)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert re.search(r"no space left while writing .*rows; nothing was left", str(caught.value))
    assert os.listdir(tmp_path) == []


def test_a_full_disk_at_the_last_moment_leaves_nothing(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match="no space left"):
        write_store(tmp_path / "rows", Data(np.eye(3), None))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("shuffle", [None, 3])
def test_killed_at_any_moment_the_store_is_complete_or_absent(tmp_path, shuffle):
    """Written again and again by a process that is killed; then the next writer cleans up."""
    path = tmp_path / "rows"
    chunks = [Data(np.full((200, 40), k, "f4"), np.full(200, f"{k}")) for k in range(20)]
    for k in range(6):
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                while True:
                    write_store(path, chunks, shuffle=shuffle, force=True)
            os._exit(1)
        time.sleep(random.Random(k).uniform(0.005, 0.2))
        os.kill(child, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        if path.exists():
            verify_store(path)
            assert len(open_store(path).X) == 4000
    verify = write_store(path, chunks, shuffle=shuffle, force=True)
    assert len(verify.X) == 4000
    assert os.listdir(tmp_path) == ["rows"]


# ---------------------------------------------------------------------------- damaged stores


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """A sparse store with everything, and a plain table."""
    here = tmp_path_factory.mktemp("stores")
    rng = np.random.default_rng(0)
    X = sparse.random_array((30, 7), density=0.4, rng=rng, format="csr", dtype=np.float32)
    names = tuple("abcdefg")
    y = rng.choice(["no", "yes", "or"], 30)
    write_store(here / "csr", Data(X, y, rng.random(30), np.arange(30), names), block_rows=4)
    write_store(here / "dense", Data(rng.random((9, 3)), np.sign(rng.standard_normal(9))))
    return {name: contents(here / name) for name in ("csr", "dense")}


@contextlib.contextmanager
def restored(files, **changed):
    """A store of these files, with some replaced."""
    with folder() as here:
        (here / "rows").mkdir()
        for name, content in (files | changed).items():
            (here / "rows" / name).write_bytes(content)
        yield here / "rows"


def with_header(files, change):
    header = json.loads(files["header.json"])
    change(header)
    return files | {"header.json": json.dumps(header).encode()}


def read_all(path):
    """Everything that can be done with a store; what it holds, or the sentence."""
    try:
        store_header(path)
        open_store(path)
        for chunk in iter_store(path):
            assert chunk.X.shape[0] > 0
        verify_store(path)
    except DataError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("format", "tar", "format says 'tar' where \"pegasos-store\" is expected"),
        ("version", 2, "format version 2, and this pegasos reads version 1: install the pegasos"),
        ("version", True, "format version True"),
        ("byte_order", "big", "byte_order says 'big' where \"little\""),
        ("index_base", 1, "index_base says 1 where 0 is expected"),
        ("rows", 0, "rows says 0 where a whole number from 1 to 4294967295"),
        ("rows", 29, r"arrays.\w+.shape says \[3.\] where \[..\] is expected"),
        ("rows", "30", "rows says '30'"),
        ("rows", 30.0, "rows says 30.0"),
        ("features", 2**31 + 1, "features says .*32 bits"),
        ("features", -1, "features says -1"),
        ("kind", "coo", "kind says 'coo' where csr or dense"),
        ("nnz", 10**30, "nnz says 10000"),
        ("block_rows", 31, "block_rows says 31 where a whole number from 1 to 30"),
        ("shuffled", -1, "shuffled says -1"),
        ("classes", None, "classes says None where a list of words"),
        ("classes", ["a", "a", "b"], "classes says .* an ascending list"),
        ("classes", ["a", "b", 3], "classes says"),
        ("class_counts", [30], "class_counts says"),
        ("feature_names", ["a"], "feature_names says .* a list of 7 strings"),
        ("notes", "none", "notes says 'none' where a list of strings"),
        ("arrays", [], "arrays says"),
        ("arrays", {}, "arrays says {} where an object with values, indices, pointers"),
    ],
)
def test_a_wrong_field_of_the_header_is_named(stores, field, value, sentence):
    with restored(with_header(stores["csr"], lambda h: h.update({field: value}))) as path:
        with pytest.raises(DataError, match=sentence):
            open_store(path)
        assert is_store(path) == (field != "format")
    if field not in ("version", "classes", "arrays"):
        without = with_header(stores["csr"], lambda h: h.pop(field))
        with restored(without) as path, pytest.raises(DataError, match=f"{field} says nothing"):
            open_store(path)


@pytest.mark.parametrize(
    ("kind", "change", "sentence"),
    [
        ("dense", {"nnz": 28}, "nnz says 28 where rows × features = 27 is expected"),
        ("dense", {"classes": None}, "class_counts says .* where null, as for classes,"),
        ("dense", {"classes": [1, 2]}, "classes says .* a list of finite numbers"),
        ("dense", {"arrays": {"more": {}}}, "arrays says .* where an object with values"),
        (
            "csr",
            {"arrays": {"values": {}, "indices": {}, "pointers": {}, "more": {}}},
            "but values",
        ),
        ("csr", {"arrays": {"values": 3}}, "arrays says .* an object of objects"),
    ],
)
def test_fields_that_do_not_go_together_are_named(stores, kind, change, sentence):
    files = with_header(stores[kind], lambda h: h.update(change))
    with restored(files) as path, pytest.raises(DataError, match=sentence):
        open_store(path)


def test_classes_without_targets_are_refused(stores):
    files = with_header(stores["dense"], lambda h: h["arrays"].pop("targets"))
    sentence = "classes says .* where null, as there are no targets, is expected"
    with restored(files) as path, pytest.raises(DataError, match=sentence):
        open_store(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("file", "../values.bin"),
        ("file", "/etc/passwd"),
        ("file", ".hidden"),
        ("file", "a\x00b"),
        ("file", ""),
        ("file", 3),
        ("dtype", "|O"),
        ("dtype", "<f2"),
        ("dtype", ">f4"),
        ("dtype", ["<f4"]),
        ("shape", [-1]),
        ("shape", [84, 1]),
        ("shape", [2**62]),
        ("shape", None),
        ("bytes", 1),
        ("crc32", -1),
        ("crc32", "0"),
    ],
)
def test_a_wrong_field_of_an_array_is_named(stores, field, value):
    def change(header):
        header["arrays"]["values"][field] = value

    sentence = rf"header\.json: arrays\.values\.{field} says"
    files = with_header(stores["csr"], change)
    with restored(files) as path, pytest.raises(DataError, match=sentence):
        open_store(path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", r"header\.json:1:1: Expecting value"),
        (b'{"format": "pegasos-store",\n "rows" 3}', r"header\.json:2:9: Expecting ':'"),
        (b"\xff\xfe", r"is not JSON in UTF-8"),
        (b"[" * 100_000, "is not JSON"),
        (b"[1]", "a JSON object is expected, not"),
        (b"9" * 5000, "is not JSON"),
        (b"{}", "format says nothing"),
        (b"NaN", "a JSON object is expected"),
    ],
)
def test_a_header_that_is_none(stores, content, sentence):
    with restored(stores["csr"], **{"header.json": content}) as path:
        with pytest.raises(DataError, match=sentence):
            open_store(path)
        assert not is_store(path)


def test_a_header_too_large_to_be_one_is_not_read(stores):
    with restored(stores["csr"]) as path:
        os.truncate(path / "header.json", 65 << 20)
        with pytest.raises(DataError, match="a regular file of at most 64 MB is expected"):
            open_store(path)


def test_what_is_no_store_is_said(tmp_path, stores):
    (tmp_path / "file").write_text("1 1:1")
    (tmp_path / "folder").mkdir()
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "header.json")
    for name, sentence in (
        ("nothing", "is not a store: there is nothing of this name"),
        ("file", "is not a store: it is a file"),
        ("folder", "is not a store: it has no header.json"),
        ("pipe", "is not the header of a store: a regular file"),
    ):
        assert not is_store(tmp_path / name)
        for work in (open_store, verify_store, store_header, lambda path: next(iter_store(path))):
            with pytest.raises(DataError, match=sentence):
                work(tmp_path / name)


@pytest.mark.parametrize("name", ["values.bin", "indices.bin", "pointers.bin", "targets.bin"])
def test_a_damaged_file_is_named(stores, name):
    content = stores["csr"][name]
    with restored(stores["csr"], **{name: content[:-1]}) as path:
        with pytest.raises(DataError, match=rf"{name} has {len(content) - 1} bytes where"):
            open_store(path)
        (path / name).unlink()
        with pytest.raises(DataError, match=rf"{name} is missing from the store"):
            open_store(path)
        os.mkfifo(path / name)
        with pytest.raises(DataError, match=rf"{name} is not a regular file"):
            open_store(path)
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 1
    sentence = rf"{name} has checksum \d+, not \d+; .*write it again"
    files = stores["csr"] | {name: bytes(flipped)}
    with restored(files) as path, pytest.raises(DataError, match=sentence):
        verify_store(path)


@pytest.mark.parametrize(
    ("name", "work", "change", "sentence"),
    [
        ("values.bin", open_store, Path.unlink, "values.bin cannot be mapped: .*No such file"),
        ("values.bin", open_store, lambda p: os.truncate(p, 8), "values.bin cannot be mapped"),
        ("weights.bin", open_store, Path.unlink, "weights.bin cannot be read: .*No such file"),
        ("weights.bin", open_store, lambda p: os.truncate(p, 8), "holds 1 numbers for 30 rows"),
        ("values.bin", verify_store, Path.unlink, "values.bin cannot be read: No such file"),
    ],
)
def test_files_that_change_after_the_header_was_read(
    stores, monkeypatch, name, work, change, sentence
):
    read = store.read_header

    def read_header(path):
        header = read(path)
        change(Path(path) / name)
        return header

    with restored(stores["csr"]) as path:
        monkeypatch.setattr(store, "read_header", read_header)
        with pytest.raises(DataError, match=sentence):
            work(path)


def test_more_rows_than_can_be_numbered_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "MOST_ROWS", 2)
    with pytest.raises(DataError, match="there are 3 rows; a store holds at most 2"):
        write_store(tmp_path / "rows", Data(np.eye(3), None))
    assert os.listdir(tmp_path) == []


def resealed(files, name, change):
    """The files with one array changed, and a checksum that agrees with it."""
    header = json.loads(files["header.json"])
    about = next(one for one in header["arrays"].values() if one["file"] == name)
    array = np.frombuffer(files[name], about["dtype"]).copy()
    change(array)
    about["crc32"] = zlib.crc32(array.tobytes())
    return files | {name: array.tobytes(), "header.json": json.dumps(header).encode()}


@pytest.mark.parametrize(
    ("kind", "name", "at", "value", "sentence"),
    [
        ("csr", "pointers.bin", 0, 1, r"pointers.bin does not run from 0 to 84"),
        ("csr", "pointers.bin", -1, 83, r"pointers.bin does not run from 0 to 84"),
        ("csr", "pointers.bin", 5, 2**62, "the pointers decrease at row 5"),
        ("csr", "pointers.bin", 5, -1, "the pointers decrease at row 4"),
        ("csr", "pointers.bin", slice(8, 10), [3 << 61, -(3 << 61)], "decrease at row 8"),
        ("csr", "indices.bin", 5, 7, "has column 7, which is outside 0 … 6"),
        ("csr", "indices.bin", 5, -3, "has column -3"),
        ("csr", "values.bin", 5, np.nan, "holds NaN"),
        ("csr", "targets.bin", 5, 3, "targets.bin holds code 3 for row 5, of 3 classes"),
        ("csr", "targets.bin", 5, -1, "targets.bin holds code -1 for row 5"),
        ("csr", "weights.bin", 5, np.inf, "weights.bin holds a number that is not finite"),
        ("dense", "values.bin", 5, np.inf, "row 1, column 2 holds infinity"),
        ("dense", "targets.bin", 5, np.nan, "targets.bin holds a number that is not finite"),
    ],
)
def test_bad_numbers_under_a_good_checksum_are_found(stores, kind, name, at, value, sentence):
    files = resealed(stores[kind], name, lambda a: a.__setitem__(at, value))
    with restored(files) as path, pytest.raises(DataError, match=sentence):
        verify_store(path)


def test_truth_values_are_true_or_false(tmp_path):
    write_store(tmp_path / "rows", Data(np.eye(3, dtype=bool), None))
    files = resealed(contents(tmp_path / "rows"), "values.bin", lambda a: None)
    content = bytearray(files["values.bin"])
    content[4] = 7
    header = json.loads(files["header.json"])
    header["arrays"]["values"]["crc32"] = zlib.crc32(bytes(content))
    files |= {"values.bin": bytes(content), "header.json": json.dumps(header).encode()}
    with restored(files) as path, pytest.raises(DataError, match="row 1, column 1 holds neither"):
        verify_store(path)


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-3, 100),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["<f4", "<i4", "<i8", "values.bin", "targets.bin", "..", "dense", "csr"]),
    st.lists(st.integers(-3, 100), max_size=3),
    st.just({}),
)


@settings(max_examples=300, deadline=None)
@given(kind=st.sampled_from(["csr", "dense"]), data=st.data())
def test_a_header_with_junk_ends_in_a_sentence(stores, kind, data):
    def change(header):
        for _ in range(data.draw(st.integers(1, 3))):
            place = header
            while True:
                key = data.draw(st.sampled_from(sorted(place)))
                if not (isinstance(place[key], dict) and place[key] and data.draw(st.booleans())):
                    break
                place = place[key]
            if data.draw(st.integers(0, 5)) == 0:
                del place[key]
            else:
                place[key] = data.draw(JUNK)
            if not header:
                break

    with restored(with_header(stores[kind], change)) as path:
        read_all(path)


@settings(max_examples=150, deadline=None)
@given(kind=st.sampled_from(["csr", "dense"]), data=st.data())
def test_flipped_bytes_end_in_a_sentence(stores, kind, data):
    files = copy.copy(stores[kind])
    name = data.draw(st.sampled_from(sorted(files)))
    content = bytearray(files[name])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    files[name] = bytes(content)
    with restored(files) as path:
        sentence = read_all(path)
        assert "\n" not in (sentence or "")
        assert sentence or name == "header.json" or files[name] == stores[kind][name]
    if name != "header.json":
        with restored(resealed(files, name, lambda a: None)) as path:
            read_all(path)


@settings(max_examples=50, deadline=None)
@given(content=st.binary(max_size=40))
@example(b'{"format": "pegasos-store", "version": 1}')
def test_a_header_of_any_bytes_ends_in_a_sentence(stores, content):
    with restored(stores["csr"], **{"header.json": content}) as path:
        assert read_all(path)
