"""Tables: what becomes of each column, in every format, whole and in chunks; what is refused."""

import datetime
import decimal
import gzip
import re
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegasos.data import DataError, iter_table, load_table
from pegasos.data.growing import GrowingRows


def write(table, path, kind):
    """The table as a file of this kind."""
    if kind == "parquet":
        pa.parquet.write_table(table, path, row_group_size=7)
    elif kind == "csv":
        pa.csv.write_csv(table, path)
    else:
        new = pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream
        with new(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=5)
    return path


KINDS = ("parquet", "arrow", "stream", "csv")


def twin(table, numbers, categories, dtype):
    """The obvious way: a list for each row."""
    rows = []
    known = {name: sorted(set(table[name].to_pylist())) for name in categories}
    names = []
    for name in table.column_names:
        if name in numbers:
            names.append(name)
        elif name in categories:
            names += [f"{name}={value}" for value in known[name]]
    for row in table.to_pylist():
        found = []
        for name in table.column_names:
            if name in numbers:
                found.append(float(row[name]))
            elif name in categories:
                found += [float(value == row[name]) for value in known[name]]
        rows.append(found)
    return np.array(rows, dtype=dtype), tuple(names)


def mixed(m=23, seed=0):
    rng = np.random.default_rng(seed)
    colours = np.array(["red", "green", "blue, dark", "żółty"])
    return pa.table(
        {
            "whole": rng.integers(-5, 5, m),
            "colour": colours[rng.integers(0, 4, m)],
            "real": rng.standard_normal(m),
            "flag": rng.random(m) < 0.5,
            "shape": np.array(["a=b", "c"])[rng.integers(0, 2, m)],
            "s": rng.random(m),
            "class": np.array(["yes", "no"])[rng.integers(0, 2, m)],
        }
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_format_gives_what_the_obvious_way_gives(tmp_path, kind, dtype):
    table = mixed()
    path = write(table, tmp_path / "table", kind)
    data = load_table(path, weights="s", categorical=["colour", "shape"], dtype=dtype)
    X, names = twin(table, ("whole", "real", "flag"), ("colour", "shape"), dtype)
    assert data.feature_names == names
    assert data.X.dtype == dtype
    assert data.X.flags.c_contiguous
    np.testing.assert_array_equal(data.X, X)
    assert data.y.tolist() == table["class"].to_pylist()
    assert data.y.dtype.kind == "U"
    np.testing.assert_array_equal(data.weights, table["s"].to_numpy())
    assert any("the target is column 'class'" in note for note in data.notes)


@pytest.mark.parametrize("kind", KINDS)
def test_chunks_are_the_whole(tmp_path, kind):
    table = mixed(40)
    path = write(table, tmp_path / "table", kind)
    options = {"weights": "s", "categorical": "auto"}
    whole = load_table(path, **options)
    chunks = list(iter_table(path, chunk_bytes=200, **options))
    assert len(chunks) > 4
    assert {chunk.feature_names for chunk in chunks} == {whole.feature_names}
    np.testing.assert_array_equal(np.concatenate([c.X for c in chunks]), whole.X)
    np.testing.assert_array_equal(np.concatenate([c.y for c in chunks]), whole.y)
    np.testing.assert_array_equal(np.concatenate([c.weights for c in chunks]), whole.weights)


@pytest.mark.parametrize("kind", KINDS)
def test_many_categories_are_sparse_rows(tmp_path, kind):
    rng = np.random.default_rng(1)
    words = np.array([f"w{k:03}" for k in range(50)])[rng.integers(0, 50, 300)]
    table = pa.table({"a": rng.integers(0, 3, 300), "word": words, "y": rng.random(300)})
    data = load_table(write(table, tmp_path / "t", kind), categorical=["word"], dtype="float64")
    X, names = twin(table, ("a",), ("word",), "float64")
    assert data.feature_names == names
    assert data.X.format == "csr"
    assert data.X.has_canonical_format
    assert data.X.nnz == np.count_nonzero(X)
    np.testing.assert_array_equal(data.X.toarray(), X)
    assert data.y.dtype == np.float64
    assert any("CSR" in note for note in data.notes)


@pytest.mark.parametrize("size", [4, 1024])
def test_hashing_adds_what_meets(tmp_path, size):
    table = mixed()
    path = write(table, tmp_path / "t", "parquet")
    data = load_table(
        path, categorical=["colour", "shape"], categories="hash", hash_features=size,
        columns=["real", "colour", "shape"],
    )  # fmt: skip
    X = np.zeros((table.num_rows, 1 + size), np.float32)
    X[:, 0] = table["real"].to_numpy()
    for i, row in enumerate(table.to_pylist()):
        for name in ("colour", "shape"):
            X[i, 1 + zlib.crc32(f"{name}={row[name]}".encode()) % size] += 1
    found = data.X if size == 4 else data.X.toarray()
    np.testing.assert_array_equal(found, X)
    assert data.feature_names[:2] == ("real", "hash:0")
    assert len(data.feature_names) == 1 + size


def test_dictionary_columns_are_categories_without_being_named(tmp_path):
    coded = pa.array(["u", "v", "u"]).dictionary_encode()
    table = pa.table({"k": coded, "n": pa.array([3, 1, 3]).dictionary_encode(), "y": [1, 2, 3]})
    data = load_table(write(table, tmp_path / "t", "arrow"))
    assert data.feature_names == ("k=u", "k=v", "n=1", "n=3")
    assert data.X.tolist() == [[1, 0, 0, 1], [0, 1, 1, 0], [1, 0, 0, 1]]


def test_numbers_of_all_types(tmp_path):
    table = pa.table(
        {
            "u8": pa.array([0, 255], pa.uint8()),
            "i64": pa.array([-(2**40), 7]),
            "half": pa.array(np.array([0.5, 2], np.float16)),
            "money": pa.array([decimal.Decimal("1.25"), decimal.Decimal("-3.50")]),
            "flag": [True, False],
            "y": [True, False],
        }
    )
    data = load_table(write(table, tmp_path / "t", "arrow"), dtype="float64")
    assert data.X.tolist() == [[0, -(2.0**40), 0.5, 1.25, 1], [255, 7, 2, -3.5, 0]]
    assert data.y.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("target", "name"), [("real", "real"), (0, "whole"), (-1, "class"), (None, "class")]
)
def test_the_target_by_name_position_or_custom(tmp_path, target, name):
    path = write(mixed(), tmp_path / "t", "csv")
    data = load_table(path, target=target, columns=["s"])
    assert data.y.tolist() == mixed()[name].to_pylist()


def test_no_target(tmp_path):
    path = write(mixed().drop_columns(["class"]), tmp_path / "t", "csv")
    data = load_table(path, target=False, columns=["whole", "s"])
    assert data.y is None
    assert data.X.shape == (23, 2)


def test_columns_are_taken_in_the_order_of_their_names(tmp_path):
    path = write(mixed(), tmp_path / "t", "parquet")
    data = load_table(path, columns=["s", "whole"], dtype="float64")
    assert data.feature_names == ("s", "whole")
    np.testing.assert_array_equal(data.X[:, 0], mixed()["s"].to_numpy())


def test_features_of_other_data_are_made_again(tmp_path):
    train = pa.table({"a": [1.0, 2.0], "c": ["x", "z"], "y": [0, 1]})
    test = pa.table({"c": ["z", "new", "x"], "other": ["1", "2", "3"], "a": [7.0, 8.0, 9.0]})
    seen = load_table(write(train, tmp_path / "train", "csv"), categorical="auto")
    path = write(test, tmp_path / "test", "csv")
    data = load_table(path, target=False, feature_names=seen.feature_names)
    assert data.feature_names == seen.feature_names == ("a", "c=x", "c=z")
    assert data.X.tolist() == [[7, 0, 1], [8, 0, 0], [9, 1, 0]]
    assert any(
        "column 'c': 1 row has a category that is no feature, such as 'new'" in n
        for n in data.notes
    )
    chunks = iter_table(path, target=False, feature_names=seen.feature_names, chunk_bytes=1)
    np.testing.assert_array_equal(np.vstack([chunk.X for chunk in chunks]), data.X)
    with pytest.raises(DataError, match="has no column for the feature 'b'"):
        load_table(path, target=False, feature_names=["a", "b"])
    with pytest.raises(DataError, match="leave columns and categorical out"):
        load_table(path, target=False, feature_names=["a"], columns=["a"])


def test_hashed_features_of_other_data_must_be_the_same(tmp_path):
    path = write(mixed(), tmp_path / "t", "parquet")
    options = {"categorical": "auto", "categories": "hash"}
    first = load_table(path, hash_features=64, **options)
    again = load_table(path, hash_features=64, feature_names=first.feature_names, **options)
    assert (first.X != again.X).sum() == 0
    with pytest.raises(DataError, match="other features than were asked for"):
        load_table(path, hash_features=32, feature_names=first.feature_names, **options)


@settings(max_examples=40, deadline=None)
@given(
    values=st.lists(
        st.tuples(
            st.floats(-(2.0**90), 2.0**90, width=32), st.sampled_from(["", "a", "b=", 'q"', "é,\n"])
        ),
        min_size=1,
        max_size=12,
    ),
    chunk_bytes=st.integers(1, 100),
    kind=st.sampled_from(KINDS),
)
def test_any_table_equals_its_twin_or_is_refused(tmp_path_factory, values, chunk_bytes, kind):
    numbers, texts = zip(*values)
    table = pa.table({"x": pa.array(numbers, pa.float64()), "t": texts, "y": numbers})
    path = write(table, tmp_path_factory.mktemp("t") / "t", kind)
    options = {"categorical": ["t"], "chunk_bytes": chunk_bytes, "dtype": "float64"}
    if "" in texts:
        with pytest.raises(DataError, match=rf"row {texts.index('') + 1}, column 't' is empty"):
            list(iter_table(path, **options))
        return
    chunks = [chunk.X for chunk in iter_table(path, **options)]
    X, _ = twin(table, ("x",), ("t",), "float64")
    found = np.vstack([c if isinstance(c, np.ndarray) else c.toarray() for c in chunks])
    np.testing.assert_array_equal(found, X)


def test_csv_numbers_may_get_fractions_further_down(tmp_path):
    path = tmp_path / "late.csv"
    lines = ["a,b,y"] + ["1,2,3"] * 2_000_000 + ["1.5,,3"]
    path.write_text("\n".join(lines) + "\n")
    chunks = iter_table(path)
    with pytest.raises(DataError, match=r"row 2000001, column 'b' is empty"):
        sum(chunk.X.shape[0] for chunk in chunks)


def test_csv_with_another_delimiter_compressed_and_with_a_mark(tmp_path):
    path = tmp_path / "t"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbfa;y\r\n1;2\r\n\r\n3;4\r\n"))
    data = load_table(path, delimiter=";")
    assert data.feature_names == ("a",)
    assert data.X.tolist() == [[1], [3]]


def test_the_index_of_pandas_is_no_feature(tmp_path):
    table = pa.table({"__index_level_0__": [4, 5], "a": [1, 2], "y": [0, 1]})
    data = load_table(write(table, tmp_path / "t", "parquet"))
    assert data.feature_names == ("a",)
    assert any("pandas" in note for note in data.notes)


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("a,y\n1,2\n3\n", {}, r"t: row 2: expected 2 columns, got 1; complete or remove the row$"),
        ("a,y\n1,2\nx,3\n", {}, r"t: row 2, column 'a'|column 'a' holds text; name it in cat"),
        ("a,y\n1,2\n,3\n", {}, r"t: row 2, column 'a' is empty; fill the value in, remove the r"),
        ("a,y\n1,2\nNaN,3\n", {}, r"t: row 2, column 'a' is empty"),
        ("a,y\n1,2\n1e39,3\n", {}, r"row 2, column 'a': 1e\+39 is too large for float32; repl"),
        ("a,y\n1,2\n-inf,3\n", {}, r"row 2, column 'a': -inf is no finite number; replace"),
        ("a,y\n1,2\n3,\n", {}, r"row 2, column 'y' is empty"),
        ("a,b\n1,2\n", {}, r"no column is called target, label, y or class; say with target=… w"),
        ("y,label\n1,2\n", {}, r"'y', 'label' are all called target, label, y or class"),
        ("a,y\n1,2\n", {"target": "z"}, r"has no column 'z' \(target\); its columns are 'a', 'y'"),
        ("a,y\n1,2\n", {"target": 2}, r"has 2 columns: target 2 is none"),
        ("a,y\n1,2\n", {"columns": ["b"]}, r"has no column 'b' \(columns\)"),
        ("a,y\n1,2\n", {"columns": ["a", "a"]}, r"column 'a' stands twice"),
        ("a,y\n1,2\n", {"columns": ["y"], "target": "y"}, r"'y' cannot be a feature and the tar"),
        ("a,y\n1,2\n", {"columns": []}, r"has no column left for features"),
        ("a,y\n1,2\n", {"weights": "w"}, r"has no column 'w' \(weights\)"),
        ("a,w,y\n1,-2,0\n", {"weights": "w"}, r"row 1, column 'w': the weight -2 is negative"),
        ("a,w,y\n1,x,0\n", {"weights": "w"}, r"column 'w' holds no numbers: it cannot be weights"),
        ("a,y\n2024-02-03,1\n", {}, r"column 'a' holds dates or times \(date32\[day\]\); turn t"),
        ("a,y\n1,2024-02-03\n", {}, r"column 'y' holds dates .* choose another target than 'y'"),
        ("a,y\nb,1\n", {}, r"name it in categorical=… to one-hot or hash it, or leave it out .*T"),
        ("a,y\nb,1\n", {"categorical": "a"}, r"categorical must be a list of columns or 'auto'"),
        ("a,y\nb,1\n", {"categorical": ["y"]}, r"named in categorical, but is the target or the"),
        ("a,y\n1,1\n", {"categories": "hash"}, r"has no categories to hash; name their columns"),
        ("a,y\n1,1\n", {"categories": "onehot"}, r"categories must be 'one-hot' or 'hash'"),
        ("a,y\n1,1\n", {"hash_features": 64}, r"says something about categories='hash' alone"),
        (
            "a,y\n1,1\n",
            {"categories": "hash", "hash_features": 1000},
            r"must be a power of 2, not 1000",
        ),
        ("a,y\n1,1\n", {"dtype": "int8"}, r"dtype must be float32 or float64, not int8"),
        ("a,a,y\n1,1,2\n", {}, r"two columns are called 'a'; rename one"),
        ("1,2\n3,4\n", {}, r"the first row holds numbers; the first row of CSV must hold the nam"),
        ("a,y\n", {}, r"t has no rows$"),
        ("a,y\n1,1\n", {"format": "xls"}, r"format must be one of parquet, arrow, csv"),
        ("1 1:1\n", {}, r"is no table but svmlight: use pegasos.data.load"),
    ],
)
def test_bad_tables_get_one_sentence(tmp_path, text, options, sentence):
    path = tmp_path / "t"
    path.write_text(text)
    with pytest.raises(DataError, match=sentence) as caught:
        load_table(path, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_labels_that_float64_cannot_hold_are_no_targets(tmp_path, kind):
    path = write(pa.table({"a": [1.0, 2.0], "y": [2**53, 2**53 + 1]}), tmp_path / "t", kind)
    said = r"t: row 2, column 'y': the target is 9007199254740993, which float64 cannot hold exact"
    with pytest.raises(DataError, match=said):
        load_table(path)
    path = write(pa.table({"a": [1.0, 2.0], "y": [2**53, 2**53 + 2]}), tmp_path / "u", kind)
    assert load_table(path).y.tolist() == [2**53, 2**53 + 2]


def test_a_word_far_below_numbers_has_its_row_and_column(tmp_path):
    path = tmp_path / "t"
    path.write_text("a,b,y\n" + "1,2,3\n" * 3_000_000 + "1,many,3\n")
    with pytest.raises(
        DataError, match=r"row 3000001: column 2: 'many' is no number, as the rows before had"
    ):
        load_table(path)
    assert load_table(path, categorical=["b"]).feature_names == ("a", "b=2", "b=many")


def test_text_that_is_not_utf8(tmp_path):
    path = tmp_path / "t"
    path.write_bytes(b"a,y\n\xff\xfe,1\n")
    with pytest.raises(DataError, match="'a' holds binary, no numbers"):
        load_table(path, format="csv")
    path.write_bytes(b"\xff\xfea,y\n1,1\n")
    with pytest.raises(DataError, match="not UTF-8"):
        load_table(path, format="csv")


@pytest.mark.parametrize("kind", KINDS[:3])
def test_other_columns_and_missing_values(tmp_path, kind):
    table = pa.table({"v": [[1.0], [2.0]], "when": [datetime.date(2024, 1, 1)] * 2, "y": [1, 2]})
    path = write(table, tmp_path / "t", kind)
    with pytest.raises(DataError, match=r"column 'v' holds list<.*>, no numbers; leave it out"):
        load_table(path)
    with pytest.raises(DataError, match=r"column 'when' holds dates"):
        load_table(path, columns=["when"])
    table = pa.table({"a": [1.0, None, 3.0], "c": ["x", "y", None], "y": [1, 2, 3]})
    path = write(table, tmp_path / "u", kind)
    with pytest.raises(DataError, match=r"u: row 2, column 'a' is empty"):
        load_table(path, columns=["a"])
    with pytest.raises(DataError, match=r"u: row 3, column 'c' is empty"):
        load_table(path, columns=["c"], categorical="auto")
    with pytest.raises(DataError, match=r"u is .*: delimiter is an option of CSV alone"):
        load_table(path, delimiter=";")


def complaint(path):
    """What is said of a table; nothing, if it can be read."""
    try:
        load_table(path, categorical="auto", weights="s")
    except DataError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("kind", KINDS[:3])
def test_a_truncated_or_broken_file_is_one_sentence(tmp_path, kind):
    whole = write(mixed(500), tmp_path / "whole", kind).read_bytes()
    rng = np.random.default_rng(0)
    path = tmp_path / "t"
    for size in (9, len(whole) // 2, len(whole) - 3):
        path.write_bytes(whole[:size])
        with pytest.raises(DataError) as caught:
            load_table(path, categorical="auto", weights="s")
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)
    for _ in range(100):  # whatever comes out, no other error does
        broken = np.frombuffer(whole, np.uint8).copy()
        broken[rng.integers(8, broken.size, 3)] ^= np.uint8(1 << rng.integers(8))
        path.write_bytes(broken.tobytes())
        assert "\n" not in complaint(path)


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    import sys

    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,2\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=re.escape("pip install 'pegasos[data]'")):
        load_table(path)


def test_what_is_wrong_with_the_columns_is_said_before_the_first_row(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\nb,2\n")
    with pytest.raises(DataError, match="holds text"):
        iter_table(path)
    with pytest.raises(DataError, match="chunk_bytes must be at least 1"):
        iter_table(path, categorical="auto", chunk_bytes=0)


def test_rows_that_grow_are_the_rows_that_came():
    rng = np.random.default_rng(0)
    parts = [rng.standard_normal((k % 7, 3)) for k in range(50)]
    grown = GrowingRows(False, 3, np.float64)
    for part in parts:
        grown.append(part)
    np.testing.assert_array_equal(grown.done(), np.vstack(parts))


@pytest.mark.parametrize(("sign", "name"), [(";", "semicolons"), ("\t", "tabs")])
def test_the_delimiter_is_found(tmp_path, sign, name):
    text = '\n"a,b",c,y\n1,2,-1\n3,4,1\n'
    path = tmp_path / "t.csv"
    path.write_text(text.replace(",", sign).replace(f"a{sign}b", "a,,,,b"))
    note = f"the fields stand between {name}, as the first line says"
    for data in (load_table(path, target="y"), *iter_table(path, target="y")):
        assert data.feature_names == ("a,,,,b", "c")
        assert note in data.notes
    assert note not in load_table(path, target="y", delimiter=sign).notes
    with pytest.raises(DataError):
        load_table(path, target="y", delimiter=",")


def test_commas_need_no_note(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,2\n")
    assert not any("between" in note for note in load_table(tmp_path / "t.csv").notes)


def test_unseen_categories_are_told_once_with_an_example(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("town,n,y\n" + "".join(f"t{k % 3},{k},1\n" for k in range(30)))
    names = ["town=t0", "n"]
    told = "column 'town': 20 rows have a category that is no feature, such as 't1'"
    chunks = list(iter_table(path, feature_names=names, chunk_bytes=64))
    assert len(chunks) > 2
    assert [note for chunk in chunks for note in chunk.notes if "column 'town'" in note] == [told]
    assert told in chunks[-1].notes
    assert told in load_table(path, feature_names=names).notes
    assert sum(chunk.X.shape[0] for chunk in chunks) == 30
