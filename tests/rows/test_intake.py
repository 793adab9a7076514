"""Taking X in: no copy where its type serves, a note where it does not, one sentence if wrong."""

import numpy as np
import pytest
from scipy import sparse

from pegasos.rows import Dense, take_in

X = np.array([[1.0, 0.0, -2.0], [0.0, 0.0, 0.0], [0.5, 3.0, 0.0], [0.0, -1.0, 4.0]])


def csr(data, indices, indptr, shape):
    """A CSR matrix as it is, without SciPy's checks."""
    found = sparse.csr_array(shape)
    found.data, found.indices, found.indptr = map(np.asarray, (data, indices, indptr))
    return found


def dense_of(rows, n_features):
    if isinstance(rows, Dense):
        return rows.values.astype(float)
    shape = (rows.pointers.size - 1, n_features)
    return sparse.csr_array((rows.values, rows.indices, rows.pointers), shape=shape).toarray()


def same(intake, table):
    np.testing.assert_array_equal(dense_of(intake.rows, intake.n_features), table)
    np.testing.assert_allclose(intake.squared_norms, (np.asarray(table, float) ** 2).sum(axis=1))


# ------------------------------------------------------------------------------ without a copy


@pytest.mark.parametrize(
    "dtype",
    ["f8", "f4", "?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"],
)
def test_dense_values_are_used_as_stored(dtype):
    mine = np.abs(X).astype(dtype)
    intake = take_in(mine)
    assert np.shares_memory(intake.rows.values, mine)
    assert intake.rows.values.dtype == mine.dtype
    assert intake.notes == ()
    same(intake, mine)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
def test_sparse_arrays_are_used_as_stored(kind, index, dtype):
    mine = kind(X.astype(dtype))
    mine.indptr, mine.indices = mine.indptr.astype(index), mine.indices.astype(index)
    intake = take_in(mine)
    rows = intake.rows
    for ours, theirs in (
        (rows.values, mine.data),
        (rows.indices, mine.indices),
        (rows.pointers, mine.indptr),
    ):
        assert np.shares_memory(ours, theirs)
        assert ours.dtype == theirs.dtype
    assert intake.notes == ()
    same(intake, X.astype(dtype))


@pytest.mark.parametrize("storage", ["csr", "dense"])
def test_our_views_are_read_only_and_the_users_arrays_stay_writable(storage):
    mine = X.copy() if storage == "dense" else sparse.csr_array(X)
    rows = take_in(mine).rows
    arrays = [part for part in rows if isinstance(part, np.ndarray)]
    assert arrays
    assert not any(array.flags.writeable for array in arrays)
    assert (mine if storage == "dense" else mine.data).flags.writeable


def test_read_only_arrays_are_used_as_stored():
    mine = X.copy()
    mine.flags.writeable = False
    assert np.shares_memory(take_in(mine).rows.values, mine)
    S = sparse.csr_array(X)
    for part in (S.data, S.indices, S.indptr):
        part.flags.writeable = False
    assert np.shares_memory(take_in(S).rows.values, S.data)


def test_memory_mapped_arrays_are_used_as_stored(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mine = np.load(tmp_path / "X.npy", mmap_mode="r")
    intake = take_in(mine)
    assert np.shares_memory(intake.rows.values, mine)
    assert type(intake.rows.values) is np.ndarray
    same(intake, X)
    S = sparse.csr_array(X)
    np.save(tmp_path / "data.npy", S.data)
    S.data = np.load(tmp_path / "data.npy", mmap_mode="r")
    assert np.shares_memory(take_in(S).rows.values, S.data)


@pytest.mark.parametrize("rows", [slice(1, 3), slice(0, 1)])
def test_a_block_of_rows_is_a_view(rows):
    mine = X[rows]
    intake = take_in(mine)
    assert np.shares_memory(intake.rows.values, X)
    same(intake, mine)


def test_columns_in_any_order_are_used_as_stored():
    mine = csr(
        [4.0, -1.0, 2.0], np.array([2, 1, 0], np.int32), np.array([0, 2, 3], np.int32), (2, 3)
    )
    intake = take_in(mine)
    assert intake.notes == ()
    assert np.shares_memory(intake.rows.indices, mine.indices)
    assert intake.rows.indices.tolist() == [2, 1, 0]
    np.testing.assert_allclose(intake.squared_norms, [17.0, 4.0])


def test_an_intake_is_taken_in_as_it_is():
    intake = take_in(X)
    assert take_in(intake) is intake


def test_lists_and_empty_rows_work():
    intake = take_in(X.tolist())
    same(intake, X)
    assert intake.squared_norms[1] == 0.0
    empty = take_in(sparse.csr_array((5, 2)))
    assert empty.squared_norms.tolist() == [0.0] * 5
    assert (empty.n_rows, empty.n_features) == (5, 2)


# --------------------------------------------------------------------------- a copy, and a note


IDS = ["fortran", "strided", "reversed", "half", "longdouble", "big-endian", "object"]
IDS += ["csc", "coo", "lil", "longdouble-csr"]


@pytest.mark.parametrize(
    ("mine", "note"),
    [
        (np.asfortranarray(X), "row-major"),
        (np.repeat(X, 2, axis=1)[:, ::2], "row-major"),
        (X[::-1].copy()[::-1], "row-major"),
        (X.astype(np.float16), "float16 to float32"),
        (X.astype(np.longdouble), "to float64"),
        (X.astype(">f8"), "float64"),
        (X.astype(object), "object to float64"),
        (sparse.csc_array(X), "CSC to CSR"),
        (sparse.coo_array(X), "COO to CSR"),
        (sparse.lil_matrix(X), "LIL to CSR"),
        (sparse.csr_array(X.astype(np.longdouble)), "to float64"),
    ],
    ids=[
        "fortran",
        "strided",
        "reversed",
        "half",
        "longdouble",
        "big-endian",
        "object",
        "csc",
        "coo",
        "lil",
        "longdouble-csr",
    ],
)
def test_what_cannot_be_used_as_stored_is_copied_once_and_said(mine, note):
    intake = take_in(mine)
    assert len(intake.notes) == 1
    assert note in intake.notes[0]
    same(intake, X)
    for array in intake.rows:
        if isinstance(array, np.ndarray):
            assert array.flags.c_contiguous
            assert array.flags.aligned
            assert array.dtype.isnative
            assert not array.flags.writeable


def test_an_unaligned_array_is_copied_and_said():
    mine = np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    assert not mine.flags.aligned
    intake = take_in(mine)
    assert len(intake.notes) == 1
    assert intake.rows.values.flags.aligned
    same(intake, X)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_columns_that_stand_twice_are_summed_in_a_copy(index):
    data, columns = np.array([1.0, 5.0, 2.0, 4.0, 7.0]), np.array([2, 0, 2, 1, 1], index)
    mine = csr(data, columns, np.array([0, 3, 4, 5], index), (3, 3))
    intake = take_in(mine)
    same(intake, [[5.0, 0.0, 3.0], [0.0, 4.0, 0.0], [0.0, 7.0, 0.0]])
    assert len(intake.notes) == 1
    assert "twice" in intake.notes[0]
    assert mine.data is data
    assert mine.data.tolist() == [1.0, 5.0, 2.0, 4.0, 7.0]
    assert mine.indices.tolist() == [2, 0, 2, 1, 1]
    assert mine.indptr.tolist() == [0, 3, 4, 5]
    assert not np.shares_memory(intake.rows.values, data)


def test_a_column_that_stands_twice_in_different_rows_is_no_duplicate():
    mine = csr([1.0, 2.0], np.array([1, 1], np.int32), np.array([0, 1, 2], np.int32), (2, 2))
    assert take_in(mine).notes == ()


# -------------------------------------------------------------------------------- what is wrong


def with_value(value, row=2, column=1, storage="dense", dtype=np.float64):
    table = X.astype(dtype)
    table[row, column] = value
    return table if storage == "dense" else sparse.csr_array(table)


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")])
def test_nan_and_infinity_are_named_with_row_and_column(storage, dtype, value, word):
    with pytest.raises(ValueError, match=f"{word}.*row 2, column 1"):
        take_in(with_value(value, storage=storage, dtype=dtype))


def test_nan_is_found_in_the_last_entry_and_behind_unsorted_columns():
    with pytest.raises(ValueError, match=r"NaN.*row 3, column 2"):
        take_in(with_value(np.nan, 3, 2))
    unsorted = csr([1.0, np.nan], np.array([2, 0], np.int32), np.array([0, 2], np.int32), (1, 3))
    with pytest.raises(ValueError, match=r"NaN.*row 0, column 0"):
        take_in(unsorted)


@pytest.mark.filterwarnings("ignore:overflow")  # which NumPy mentions in plain-Python mode
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_a_row_whose_squared_norm_overflows_is_named(storage):
    with pytest.raises(ValueError, match=r"row 2 .*too large.*column 1 holds -1e\+200.*scale"):
        take_in(with_value(-1e200, storage=storage))


@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_a_row_of_enormous_norm_is_accepted(storage):
    intake = take_in(with_value(1e150, storage=storage))
    assert intake.squared_norms[2] == pytest.approx(1e300)


@pytest.mark.parametrize("mine", [X + 1j, sparse.csr_array(X + 1j)], ids=["dense", "csr"])
def test_complex_numbers_are_refused(mine):
    with pytest.raises(ValueError, match="Complex data not supported"):
        take_in(mine)


@pytest.mark.parametrize("dtype", ["M8[D]", "m8[s]"])
def test_dates_and_times_are_refused(dtype):
    with pytest.raises(ValueError, match="X holds dates or times"):
        take_in(X.astype(dtype))


def test_masked_values_are_refused_and_a_mask_of_nothing_is_not():
    with pytest.raises(ValueError, match=r"X is masked in row 2, column 1; remove the row"):
        take_in(np.ma.masked_array(np.ones((3, 2)), [[0, 0], [0, 0], [0, 1]]))
    assert take_in(np.ma.masked_array(np.ones((3, 2)))).n_rows == 3


@pytest.mark.parametrize(
    ("mine", "sentence"),
    [
        (np.zeros((0, 3)), "0 rows"),
        (sparse.csr_array((0, 3)), "0 rows"),
        (np.zeros((3, 0)), "0 features"),
        (sparse.csr_array((3, 0)), "0 features"),
        (np.zeros(3), "two dimensions.*not 1"),
        (np.zeros((2, 2, 2)), "two dimensions.*not 3"),
        (np.float64(1.0), "two dimensions.*not 0"),
        (sparse.coo_array(np.ones(3)), "two dimensions.*not 1"),
    ],
)
def test_shapes_without_rows_and_features_are_refused(mine, sentence):
    with pytest.raises(ValueError, match=sentence):
        take_in(mine)


@pytest.mark.parametrize("mine", [[["a", "b"]], [[{}, 1.0]], "text"])
def test_what_is_not_a_table_of_numbers_is_refused(mine):
    with pytest.raises((ValueError, TypeError)):
        take_in(mine)


@pytest.mark.parametrize(
    ("indices", "indptr", "sentence"),
    [
        ([0, 1, 2], [0, 2, 1, 3], "decrease or leave"),
        ([0, 1, 2], [0, -1, 2, 3], "pointers"),
        ([0, 1, 2], [0, 1, 2, 2], r"run from 0 to 2.*3 values.*int64"),
        ([0, 1, 2], [0, 1, 2, 4], r"run from 0 to 4.*3 values"),
        ([0, 1, 2], [1, 1, 2, 3], r"run from 1 to 3"),
        ([0, 1, 2], [0, 1, 2, -3], r"run from 0 to -3"),
        ([0, 1], [0, 1, 2, 3], "run from 0 to 3"),
        ([0, 1, 3], [0, 1, 2, 3], r"row 2 .*column outside 0 … 2"),
        ([0, -1, 2], [0, 1, 2, 3], r"row 1 .*column outside 0 … 2"),
        ([2, 1, 7], [0, 0, 3, 3], r"row 1 .*column outside 0 … 2"),
    ],
)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_broken_csr_arrays_are_refused(indices, indptr, sentence, index):
    mine = csr([1.0, 2.0, 3.0], np.array(indices, index), np.array(indptr, index), (3, 3))
    with pytest.raises(ValueError, match=sentence):
        take_in(mine)


def test_a_pointer_far_beyond_the_values_is_refused_and_not_followed(run_python):
    found = run_python(
        """
import json
import numpy as np
from scipy import sparse
from pegasos.rows import take_in
mine = sparse.csr_array((3, 3))
mine.data, mine.indices = np.ones(3), np.array([0, 1, 2])
mine.indptr = np.array([0, 2**40, 2**40, 3])
try:
    take_in(mine)
    print(json.dumps("accepted"))
except ValueError as error:
    print(json.dumps(str(error)))
"""
    )
    assert "pointers" in found
