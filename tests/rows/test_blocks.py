"""Rows in files: the same numbers as in memory, few of them resident, and what is refused."""

from __future__ import annotations

import mmap
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from stored import resident_file_bytes, stored

from pegasos.rows import AT_ONCE, StoredRows, bounds_of, in_order, map_array, part, take_in
from pegasos.rows.blocks import Blocks

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def table(m=37, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, d)) * (rng.random((m, d)) < 0.6)


@given(m=st.integers(1, 50), block_rows=st.integers(1, 60))
def test_blocks_cover_all_rows_once(m, block_rows):
    bounds = bounds_of(m, block_rows)
    assert bounds[0] == 0
    assert bounds[-1] == m
    sizes = np.diff(bounds)
    assert (sizes[:-1] == block_rows).all()
    assert 0 < sizes[-1] <= block_rows


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 30), st.integers(1, 12), st.booleans(), st.integers(0, 99))
def test_taken_in_from_files_as_from_memory(tmp_path_factory, m, block_rows, sparse, seed):
    X = table(m, seed=seed)
    X = sp.csr_array(X) if sparse else X
    intake = take_in(stored(X, tmp_path_factory.mktemp("rows"), block_rows))
    np.testing.assert_array_equal(intake.squared_norms, take_in(X).squared_norms)
    assert intake.n_rows == m
    spans = list(in_order(intake.blocks, m))
    assert spans == intake.blocks.spans()
    assert [row for first, last in spans for row in range(first, last)] == list(range(m))
    assert all(last - first <= AT_ONCE * block_rows for first, last in spans)


def test_rows_in_memory_are_one_block():
    assert take_in(table()).blocks is None
    assert list(in_order(None, 37)) == [(0, 37)]


@pytest.mark.parametrize("sparse", [True, False])
def test_a_part_of_the_rows_is_a_view(sparse):
    X = table()
    rows = take_in(sp.csr_array(X) if sparse else X).rows
    some = take_in(sp.csr_array(X[4:9]) if sparse else X[4:9]).rows
    view = part(rows, 4, 9)
    assert np.shares_memory(view.values, rows.values)
    if sparse:
        for i in range(5):
            p, q = view.pointers[i], view.pointers[i + 1]
            a, b = some.pointers[i], some.pointers[i + 1]
            np.testing.assert_array_equal(view.values[p:q], some.values[a:b])
            np.testing.assert_array_equal(view.indices[p:q], some.indices[a:b])
    else:
        np.testing.assert_array_equal(view.values, some.values)


def test_stored_rows_say_what_they_are(tmp_path):
    X = stored(sp.csr_array(table()), tmp_path, 10)
    assert X.shape == (37, 5)
    assert len(X) == 37
    assert X.ndim == 2
    assert X.dtype == np.float64
    assert X.nnz == np.count_nonzero(table())
    assert repr(X) == "<37 stored CSR rows of 5 features, float64, 10 a block>"


def damaged(tmp_path, name, change):
    """Stored rows, one of whose files has been changed."""
    X = stored(sp.csr_array(table()), tmp_path, 10)
    old = next(m for m in X.maps if m.array is getattr(X.rows, name)).array.copy()
    change(old)
    path = tmp_path / "changed.bin"
    old.tofile(path)
    mapped = map_array(path, old.dtype, old.shape)
    maps = [mapped if m.array is getattr(X.rows, name) else m for m in X.maps]
    return StoredRows(X.rows._replace(**{name: mapped.array}), 5, 10, maps)


def put(at, value):
    def change(array):
        array[at] = value

    return change


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("pointers", put(0, 3), "pointers of X run from 3"),
        ("pointers", put(-1, 10**12), "pointers of X run from 0 to 1000000000000"),
        ("pointers", put(15, 10**15), "at row 14;"),
        ("pointers", put(15, -4), "at row 14;"),
        ("pointers", put(slice(15, 17), (2**63 - 1, -(2**63))), "at row 14;"),
        ("indices", put(60, 99), r"row \d+ of X has a column outside 0 … 4"),
        ("indices", put(60, -1), r"row \d+ of X has a column outside 0 … 4"),
        ("values", put(60, np.nan), r"contains NaN: row \d+, column"),
        ("values", put(60, np.inf), r"contains infinity \(inf\): row \d+, column"),
        ("values", put(60, 1e200), r"row \d+ of X is too large"),
    ],
)
def test_damaged_rows_are_refused_by_their_number(tmp_path, name, change, sentence):
    with pytest.raises(ValueError, match=sentence):
        take_in(damaged(tmp_path, name, change))


def test_the_number_of_a_bad_row_counts_from_the_first_of_all(tmp_path):
    X = table()
    X[23, 2] = np.nan
    with pytest.raises(ValueError, match="NaN: row 23, column 2"):
        take_in(stored(X, tmp_path, 10))


@pytest.mark.parametrize("columns", [[1, 1, 2], [2, 1, 2]])
def test_columns_that_do_not_ascend_are_refused(tmp_path, columns):
    X = sp.csr_array((np.ones(3), np.array(columns), np.array([0, 2, 3])), shape=(2, 4))
    with pytest.raises(ValueError, match="one of the rows 0 to 1 of the store do not ascend"):
        take_in(stored(X, tmp_path, 5))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_no_rows_or_no_features_are_refused(tmp_path, shape):
    with pytest.raises(ValueError, match="X has 0"):
        take_in(stored(np.zeros(shape), tmp_path, 5))


def test_a_file_that_is_too_short_is_refused(tmp_path):
    (tmp_path / "short.bin").write_bytes(b"1234567")
    with pytest.raises(ValueError, match="holds 7 bytes, too few"):
        map_array(tmp_path / "short.bin", np.float32, (2,))


def test_an_empty_file_is_an_empty_array(tmp_path):
    mapped = map_array(tmp_path / "never made", np.float32, (0,))
    assert mapped.array.size == 0
    assert mapped.map is None
    mapped.advise(mmap.PAGESIZE, 0, 1)


@linux
def test_few_blocks_are_in_memory_at_a_time(tmp_path):
    X = np.ones((12_000, 1024))  # 98 MB, blocks of 80 kB
    rows = stored(X, tmp_path, 10)
    blocks = Blocks(rows.rows, bounds_of(12_000, 10), rows.maps)
    before, total = resident_file_bytes(), 0.0
    for first, last in blocks.in_order():
        total += rows.rows.values[first:last].sum()
        assert resident_file_bytes() - before < 8e6
    assert total == X.sum()
    assert resident_file_bytes() - before < 3e6
    assert blocks.rows_read == 12_000
    blocks.hold([(30, 40), (3000, 3010), (40, 50)])
    assert blocks.held == ((30, 50), (3000, 3010))
    assert rows.rows.values[30:50].sum() == 20 * 1024
    assert resident_file_bytes() - before < 8e6
    blocks.release()
    assert resident_file_bytes() - before < 3e6


def test_each_thread_holds_its_own_blocks(tmp_path):
    rows = stored(table(), tmp_path, 5)
    blocks = Blocks(rows.rows, bounds_of(37, 5), rows.maps)
    blocks.hold([(0, 5)])
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: blocks.held).result() == ()
        pool.submit(blocks.hold, [(5, 10)]).result()
        assert pool.submit(lambda: blocks.held).result() == ((5, 10),)
    assert blocks.held == ((0, 5),)


@pytest.mark.parametrize("lacks", ["madvise", "knowledge"])
def test_a_system_without_advice_reads_all_the_same(tmp_path, monkeypatch, lacks):
    if lacks == "madvise":
        for name in ("_POPULATE_READ", "_WILL_NEED", "_DO_NOT_NEED"):
            monkeypatch.setattr(f"pegasos.rows.blocks.{name}", None)
    else:
        monkeypatch.setattr("pegasos.rows.blocks._POPULATE_READ", 12345)
    X = table()
    norms = take_in(stored(X, tmp_path, 5)).squared_norms
    np.testing.assert_array_equal(norms, take_in(X).squared_norms)
