"""One call for any source, found out by its content; options that do not fit are refused."""

import bz2
import functools
import gzip
import http.server
import lzma
import re
import threading

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
import scipy.sparse as sp
import zstandard

from pegasos.data import Data, DataError, iter_load, kind_of, load, write_store

SVMLIGHT = b"# made up\n+1 1:1 3:2.5 # first\n-1 2:4\n+1\n"
CSV = b"a,b,c,y\n1,0,2.5,1\n0,4,0,-1\n0,0,0,1\n"
X = np.array([[1, 0, 2.5], [0, 4, 0], [0, 0, 0]], np.float32)
Y = [1, -1, 1]


def table():
    return pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": Y})


def write_parquet(path):
    pa.parquet.write_table(table(), path)


def write_arrow(path):
    with pa.ipc.new_file(str(path), table().schema) as writer:
        writer.write_table(table())


def write_stream(path):
    with pa.ipc.new_stream(str(path), table().schema) as writer:
        writer.write_table(table())


PACK = {
    "plain": bytes,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor().compress,
}
SOURCES = {
    "svmlight": ("svmlight", lambda path: path.write_bytes(SVMLIGHT)),
    "csv": ("csv", lambda path: path.write_bytes(CSV)),
    "parquet": ("parquet", write_parquet),
    "arrow file": ("arrow", write_arrow),
    "arrow stream": ("arrow", write_stream),
    "dense store": ("store", lambda path: write_store(path, Data(X, np.array(Y, float)))),
    "csr store": (
        "store", lambda path: write_store(path, Data(sp.csr_array(X), np.array(Y, float))),
    ),
}  # fmt: skip
for packing, pack in PACK.items():
    for name, text in (("svmlight", SVMLIGHT), ("csv", CSV)):
        SOURCES[f"{name} {packing}"] = (
            name,
            lambda path, pack=pack, text=text: path.write_bytes(pack(text)),
        )


def dense(rows):
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)


def whole(data):
    """All rows of some data, a store's too."""
    from pegasos.data import iter_store
    from pegasos.rows import StoredRows

    if isinstance(data.X, StoredRows):
        return np.vstack([dense(chunk.X) for chunk in iter_store(data)])
    return dense(data.X)


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_same_rows(tmp_path, name):
    kind, write = SOURCES[name]
    path = tmp_path / "misleading.parquet.csv.gz"
    write(path)
    assert kind_of(path) == kind
    data = load(path)
    np.testing.assert_array_equal(whole(data), X)
    assert data.X.dtype == np.float32
    assert data.y.tolist() == Y
    if kind != "store":
        assert load(path, dtype="float64").X.dtype == np.float64


@pytest.mark.parametrize("name", SOURCES)
def test_chunks_of_every_source_are_the_whole(tmp_path, name):
    kind, write = SOURCES[name]
    path = tmp_path / "source"
    write(path)
    options = {"n_features": 3} if kind == "svmlight" else {}
    chunks = list(iter_load(path, chunk_bytes=16, **options))
    if kind != "svmlight":  # which may take a few lines at once
        assert len(chunks) > 1
    np.testing.assert_array_equal(np.vstack([dense(chunk.X) for chunk in chunks]), X)
    assert np.concatenate([chunk.y for chunk in chunks]).tolist() == Y


GIVEN = {
    "n_features": 3,
    "zero_based": False,
    "labels": "words",
    "threads": 1,
    "target": "y",
    "columns": ["a"],
    "weights": "b",
    "categorical": "auto",
    "categories": "hash",
    "hash_features": 8,
    "feature_names": ["a"],
    "delimiter": ";",
}
OF_TEXT = {"n_features", "zero_based", "labels", "threads"}
FITTING = {
    "svmlight": {*OF_TEXT},
    "csv": set(GIVEN) - OF_TEXT,
    "parquet": set(GIVEN) - OF_TEXT - {"delimiter"},
    "arrow file": set(GIVEN) - OF_TEXT - {"delimiter"},
    "dense store": set(),
}


def complaint(read, path, **options):
    """What is said of it; nothing, if it can be read."""
    try:
        read(path, **options)
    except DataError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", FITTING)
@pytest.mark.parametrize("option", GIVEN)
def test_an_option_that_says_nothing_about_the_source_is_refused(tmp_path, name, option):
    path = tmp_path / "source"
    SOURCES[name][1](path)
    given = {option: GIVEN[option]}
    if option in FITTING[name]:
        assert "is an option of" not in complaint(load, path, **given)
        return
    for read in (load, iter_load):
        with pytest.raises(DataError, match=rf"source is \w+: {option} is an option of .* alone"):
            read(path, **given)


def test_chunks_are_of_a_byte_or_more(tmp_path):
    (tmp_path / "t").write_bytes(CSV)
    with pytest.raises(DataError, match="chunk_bytes must be at least 1, not 0"):
        iter_load(tmp_path / "t", chunk_bytes=0)
    assert len(list(iter_load(tmp_path / "t"))) == 1


def test_all_options_reach_their_reader(tmp_path):
    path = tmp_path / "t"
    path.write_bytes(b"0:a;w;k;n;y\nx;2;u;1;5\nz;3;v;2;6\n")
    options = {
        "target": "n", "columns": ["k", "y"], "weights": "w", "categorical": ["k"],
        "delimiter": ";", "dtype": "float64",
    }  # fmt: skip
    data = load(path, **options)
    assert data.feature_names == ("k=u", "k=v", "y")
    assert data.X.tolist() == [[1, 0, 5], [0, 1, 6]]
    assert data.y.tolist() == [1, 2]
    assert data.weights.tolist() == [2, 3]
    (chunk,) = iter_load(path, **options)
    assert chunk.X.tolist() == data.X.tolist()
    hashed = {**options, "categories": "hash", "hash_features": 4}
    assert load(path, **hashed).X.shape == (2, 5)
    path.write_bytes(b"1 0:1 2:5\n")
    assert load(path, n_features=9, zero_based=True, threads=1).X[[0], [2]] == 5
    assert load(path, n_features=9).X.shape == (1, 9)


def test_a_store_keeps_its_type(tmp_path):
    write_store(tmp_path / "s", Data(X.astype(np.float64), None))
    assert load(tmp_path / "s").X.dtype == np.float64
    assert load(tmp_path / "s", dtype=np.float64).X.dtype == np.float64
    write_store(tmp_path / "t", Data(X, None))
    for read in (load, iter_load):
        with pytest.raises(DataError, match="t is a store of float32: it is read as it is, so le"):
            read(tmp_path / "t", dtype="float64")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "source is empty$"),
        (gzip.compress(b"", mtime=0), "source is empty$"),
        (b"# nothing\n\n", "has no rows: there is nothing in it but comments and empty lines"),
        (b"\x89PNG\r\n\0\0", "is binary, and neither Parquet, Arrow nor compressed text"),
        (bytes(range(128, 256)), "is binary"),
        (b"PK\x03\x04....", "is a zip archive .or NumPy's npz.; unpack it first"),
        (b"\x93NUMPY\x01\0", "is a NumPy array; load it with numpy"),
        (b"the quick brown fox\njumps over\n", "is neither svmlight text .* nor CSV"),
        (gzip.compress(SVMLIGHT, mtime=0)[:-12], "ends too early"),
        (b"PAR1 and no more", "source: "),
        (b"ARROW1\0\0 and no more", "source: "),
        (b"\xff\xff\xff\xff\x10\0\0\0", "source: "),
    ],
)
def test_what_cannot_be_read_gets_one_sentence(tmp_path, content, sentence):
    path = tmp_path / "source"
    path.write_bytes(content)
    for read in (load, lambda path: list(iter_load(path))):
        with pytest.raises(DataError, match=sentence) as caught:
            read(path)
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(DataError, match="nowhere: there is no such file"):
        load(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"is a folder and no store .it has no header.json.; name"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"1 1:2\n", "svmlight"),
        (b"spam qid:3 7:1e-3\n", "svmlight"),
        (b"1\n-1\n", "svmlight"),
        (b"+1\n-1 4:1\n", "svmlight"),
        (b"1,2 3:4\n", "svmlight"),
        (b"# a, b\n1 3:4\n", "svmlight"),
        (b"\xef\xbb\xbf1 3:4\r\n", "svmlight"),
        (b"a,y\n1,2\n", "csv"),
        (b"when,y\n2024-01-01 12:30,5\n", "csv"),
        (b"a;y\n1;2\n", "csv"),
        (b"a b\ty\n1\t2\n", "csv"),
        (b'"a, b",y\n1,2\n', "csv"),
    ],
)
def test_text_is_told_from_text(tmp_path, text, kind):
    (tmp_path / "t").write_bytes(text)
    assert kind_of(tmp_path / "t") == kind


def test_a_kind_is_told_from_the_beginning_alone(tmp_path):
    path = tmp_path / "t"
    path.write_bytes(b"1 1:1 2:2\n" * 20_000 + b"\0\xff")
    assert kind_of(path) == "svmlight"
    path.write_bytes(b"a,y\n" + "é,1\n".encode() * 40_000)
    assert kind_of(path) == "csv"


@pytest.fixture
def site(tmp_path, monkeypatch):
    """An address that serves a folder; the user's cache is another."""
    import pooch

    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache" / name)
    (tmp_path / "site").mkdir()
    handler = functools.partial(
        http.server.SimpleHTTPRequestHandler, directory=str(tmp_path / "site")
    )
    monkeypatch.setattr(handler.func, "log_message", lambda *args: None)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_an_address_is_fetched_once_and_kept(tmp_path, site):
    served = tmp_path / "site" / "rows.txt"
    served.write_bytes(bz2.compress(CSV))
    data = load(f"{site}/rows.txt", target="y")
    np.testing.assert_array_equal(data.X, X)
    assert any("was fetched to" in note for note in data.notes)
    served.unlink()
    assert kind_of(f"{site}/rows.txt") == "csv"
    again = load(f"{site}/rows.txt")
    np.testing.assert_array_equal(again.X, X)
    assert any("delete it to fetch it again" in note for note in again.notes)
    (chunk,) = iter_load(f"{site}/rows.txt")
    assert any("delete it" in note for note in chunk.notes)


def test_an_address_without_an_answer_is_one_sentence(tmp_path, site):
    with pytest.raises(DataError, match=r"none cannot be fetched .the server says 404.; fetch it"):
        load(f"{site}/none")
    with pytest.raises(DataError, match=r"9/a cannot be fetched .no connection."):
        load("http://127.0.0.1:9/a")
    kept = tmp_path / "cache" / "pegasos" / "urls"
    assert not kept.exists() or list(kept.iterdir()) == []


def test_an_address_of_a_file(tmp_path):
    path = tmp_path / "with space"
    path.write_bytes(CSV)
    np.testing.assert_array_equal(load(path.as_uri()).X, X)
    with pytest.raises(DataError, match="no such file"):
        load((tmp_path / "none").as_uri())


def test_without_pooch_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DataError, match=re.escape("pip install 'pegasos[data]'")):
        load("https://example.org/a")


def test_importing_loads_no_extra_and_no_scikit_learn(run_python):
    loaded = run_python(
        "import json, sys, pegasos.data, pegasos.datasets; print(json.dumps(sorted(sys.modules)))"
    )
    extras = {"pyarrow", "pooch", "requests", "zstandard", "sklearn", "pandas", "rich", "typer"}
    assert {name.split(".")[0] for name in loaded} & extras == set()


def test_a_cache_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr("pegasos.data.downloads.cache", lambda: tmp_path / "file")
    with pytest.raises(DataError, match=r"cannot be kept in .*file.urls \(Not a directory\)"):
        load("http://localhost:9/rows.svm")
