"""Where the rows come from: bad data are one sentence and exit code 2, and nothing is written."""

import gzip
import json
import os
import threading

import numpy as np
import pytest

from pegasos.cli import inputs
from pegasos.data import load, write_store

BAD = {
    "missing.svm": (None, "there is no such file"),
    "empty.svm": (b"", "empty"),
    "junk.svm": (bytes(range(256)) * 8, "binary"),
    "cut.svm.gz": (gzip.compress(b"1 1:1 2:2\n" * 5000)[:-20], "ends too early"),
    "mixed.svm": (b"1 0:1 1:1\n-1 1:1\n", ":1:3: "),
    "descending.svm": (b"1 1:1\n-1 3:1 2:1\n", ":2:8: "),
    "twice.svm": (b"1 1:1\n-1 3:1 3:1\n", ":2:8: "),
    "huge.svm": (b"1 1:1\n-1 3:1e400\n", ":2:6: "),
    "nan.svm": (b"1 1:1\n-1 3:nan\n", ":2:6: "),
    "many.svm": (b"1 1:1\n2,3 1:1\n", ":2:"),
    "colon.svm": (b"1 1:1\n1 2=3\n", ":2:3: "),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("command", ["train", "convert", "info"])
def test_bad_text(pegasos, tmp_path, command, name):
    content, sentence = BAD[name]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    words = {"train": ["-o", "m"], "convert": ["out.store"], "info": []}[command]
    base = ["--zero-based", "no"] if name == "mixed.svm" else []
    pegasos(command, name, *words, *base, "--quiet", code=2)
    assert name in pegasos.err
    assert sentence in pegasos.err
    assert pegasos.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ([name] if content is not None else [])


def test_a_folder_that_is_no_store(pegasos, tmp_path):
    (tmp_path / "folder").mkdir()
    pegasos("train", "folder", code=2)
    assert "folder is a folder and no store" in pegasos.err


def test_a_store_of_another_version(pegasos, two, tmp_path):
    write_store(tmp_path / "two.store", load(tmp_path / "two.svm"))
    header = tmp_path / "two.store" / "header.json"
    header.write_text(json.dumps(json.loads(header.read_text()) | {"version": 99}))
    pegasos("train", "two.store", "--quiet", code=2)
    assert "99" in pegasos.err
    assert pegasos.err.count("\n") == 1


def test_a_damaged_store_is_found_by_verify(pegasos, two, tmp_path):
    write_store(tmp_path / "two.store", load(tmp_path / "two.svm"))
    values = tmp_path / "two.store" / "values.bin"
    content = bytearray(values.read_bytes())
    content[5] ^= 1
    values.write_bytes(content)
    pegasos("info", "two.store", "--verify", "--quiet", code=2)
    assert "values.bin" in pegasos.err


def test_an_unknown_data_set(pegasos):
    pegasos("train", "dataset:nothing", code=2)
    assert "there is no set 'nothing'" in pegasos.err


def test_a_table_without_a_target(pegasos, houses):
    pegasos("train", "houses.csv", "--quiet", code=2)
    assert "houses.csv" in pegasos.err
    pegasos("train", "houses.csv", "--target", "prize", "--quiet", code=2)
    assert "no column 'prize'" in pegasos.err
    pegasos("train", "houses.csv", "--target", "price", "--quiet", code=2)
    assert "'town' holds text" in pegasos.err


def test_an_address(pegasos, two, tmp_path):
    address = (tmp_path / "two.svm").as_uri()
    answer = pegasos.answer("train", address)
    assert answer["model"] == "two.pegasos"
    assert answer["data"]["rows"] == 200
    pegasos("train", (tmp_path / "gone.svm").as_uri(), "--quiet", code=2)
    assert "gone.svm: there is no such file" in pegasos.err


# ------------------------------------------------------------------------------ pipes and stdin


@pytest.fixture
def stdin(tmp_path):
    """A pipe as the standard input, into which a file is written."""
    before, threads = os.dup(0), []

    def of(path):
        reading, writing = os.pipe()
        os.dup2(reading, 0)
        os.close(reading)

        def write():
            with open(writing, "wb") as file:
                file.write(path.read_bytes())

        threads.append(threading.Thread(target=write, daemon=True))
        threads[-1].start()

    yield of
    os.dup2(before, 0)
    os.close(before)


@pytest.fixture
def big(tmp_path):
    """More than a pipe holds, and than is looked at to find out what it is."""
    rng = np.random.default_rng(0)
    rows = [
        f"{1 if row[0] > 0 else -1} " + " ".join(f"{j}:{value!r}" for j, value in enumerate(row, 1))
        for row in rng.standard_normal((4000, 4)).tolist()
    ]
    path = tmp_path / "big.svm"
    path.write_text("\n".join(rows) + "\n")
    assert path.stat().st_size > 100_000
    return path


POSIX = pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="no /dev/stdin")


@POSIX
@pytest.mark.parametrize("words", [[], ["--zero-based", "no"], ["--memory", "100KB"]])
def test_a_pipe_is_trained_on_as_a_whole(pegasos, big, stdin, words):
    expected = pegasos.answer("train", big, "-o", "one", *words)
    stdin(big)
    found = pegasos.answer("train", "-", "-o", "two", *words)
    assert found["data"]["rows"] == 4000
    assert found["data"] | {"source": ""} == expected["data"] | {"source": ""}
    stdin(big)
    assert len(pegasos("predict", "one", "-").splitlines()) == 4000
    stdin(big)
    assert pegasos.answer("evaluate", "one", "-")["rows"] == 4000
    stdin(big)
    assert pegasos.answer("info", "-")["rows"] == 4000
    stdin(big)
    assert pegasos.answer("convert", "-", "rows.store")["data"]["rows"] == 4000


def test_an_empty_name(pegasos, two):
    for command in ("train", "info", "compare"):
        pegasos(command, "", code=2)
        assert "DATA is empty: name a file" in pegasos.err
    pegasos("train", "two.svm", "-o", "", code=2)
    assert "the name that --model gives is empty" in pegasos.err
    pegasos("convert", "two.svm", "", code=2)
    assert "the name that DEST gives is empty" in pegasos.err


def test_a_pace_is_told_where_it_means_something(pegasos, two, monkeypatch):
    pegasos("train", "two.svm")
    assert "B/s" not in pegasos.err
    monkeypatch.setattr(inputs, "PACE_BYTES", 1)
    monkeypatch.setattr(inputs, "PACE_SECONDS", 0)
    pegasos("train", "two.svm", "--force")
    assert "B/s" in pegasos.err
