"""``pegasos convert``, ``info``, ``compare``, ``demo`` and ``datasets``."""

import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pegasos.data import load, open_store


def same(a, b):
    assert_array_equal(a.X.toarray(), b.X.toarray())
    assert_array_equal(a.y, b.y)


# --------------------------------------------------------------------------------------- convert


@pytest.mark.parametrize("name", ["a.csv", "a.PARQUET", "a.arrow", "a.csv.gz", "a.pegasos"])
def test_convert_promises_nothing_by_a_name(pegasos, two, tmp_path, name):
    pegasos("convert", "two.svm", name, code=2)
    assert f"{name} has the name of a file that convert cannot write" in pegasos.err
    assert not (tmp_path / name).exists()
    pegasos("convert", "two.svm", name, "--to", "store")
    assert open_store(tmp_path / name).X.shape == (200, 6)


def test_text_keeps_its_digits(pegasos, tmp_path):
    (tmp_path / "pi.svm").write_text("1 1:3.14159265358979\n-1 2:0.1\n")
    pegasos("convert", "pi.svm", "same.svm")
    assert (tmp_path / "same.svm").read_text() == "1 1:3.14159265358979\n-1 2:0.1\n"
    pegasos("convert", "pi.svm", "short.svm", "--dtype", "float32")
    assert "3.1415927" in (tmp_path / "short.svm").read_text()
    pegasos("convert", "pi.svm", "pi.store")
    assert open_store(tmp_path / "pi.store").X.dtype == np.float32
    pegasos("convert", "pi.store", "from-store.svm")
    assert "3.1415927" in (tmp_path / "from-store.svm").read_text()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_what_cannot_be_written_is_told_before_the_work(pegasos, two, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    pegasos("train", "two.svm", "-q")
    for words in ("convert two.svm pipe --to svmlight", "train two.svm -o pipe",
                  "predict two.pegasos two.svm -o pipe"):  # fmt: skip
        pegasos(*words.split(), "--force", code=3)
        assert pegasos.err == "pipe is not a regular file: give another name\n"


def test_to_a_store_and_back(pegasos, two, tmp_path):
    assert pegasos("convert", "two.svm", "two.store") == ""
    assert "200 rows × 6 features" in pegasos.err
    assert open_store(tmp_path / "two.store").X.shape == (200, 6)
    pegasos("convert", "two.store", "back.svm.gz")
    assert (tmp_path / "back.svm.gz").read_bytes()[:2] == b"\x1f\x8b"
    same(load(tmp_path / "back.svm.gz"), load(tmp_path / "two.svm"))


def test_the_kind_is_that_of_the_name_unless_said(pegasos, two, tmp_path):
    pegasos("convert", "two.svm", "rows.txt", "--to", "store")
    assert (tmp_path / "rows.txt").is_dir()
    pegasos("convert", "two.svm", "rows", "--to", "svmlight")
    same(load(tmp_path / "rows"), load(tmp_path / "two.svm"))


def test_shuffled_with_a_seed(pegasos, two, tmp_path):
    for name, words in (("a", "--seed 7"), ("b", "--seed 7"), ("c", "")):
        pegasos("convert", "two.svm", name, "--shuffle", *words.split(), "--block-rows", "20")
    a, b, c = (open_store(tmp_path / name) for name in "abc")
    assert_array_equal(a.y, b.y)
    assert not np.array_equal(a.y, c.y)
    assert a.X.block_rows == 20


def test_a_table_with_a_type(pegasos, houses, tmp_path):
    words = "--target price --categorical town --dtype float64"
    answer = pegasos.answer("convert", "houses.csv", "h", *words.split(), "--quiet")
    assert answer["kind"] == "store"
    assert answer["data"] == {"rows": 80, "features": 3, "nonzeros": 240}
    assert answer["bytes"] > 80 * 8
    assert open_store(tmp_path / "h").X.dtype == np.float64


def test_convert_overwrites_nothing(pegasos, two, tmp_path):
    (tmp_path / "mine.svm").write_text("mine")
    pegasos("convert", "two.svm", "mine.svm", code=3)
    assert "mine.svm exists" in pegasos.err
    assert (tmp_path / "mine.svm").read_text() == "mine"
    pegasos("convert", "two.svm", "s")
    pegasos("convert", "two.svm", "s", code=3)
    pegasos("convert", "two.svm", "s", "--force")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.txt").write_text("mine")
    pegasos("convert", "two.svm", "folder", "--force", code=3)
    assert (tmp_path / "folder" / "thesis.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("out.svm --shuffle", "--shuffle is for a store"),
        ("out.svm --block-rows 5", "--block-rows is for a store"),
        ("out --seed 5", "--seed means nothing without --shuffle"),
        ("out --to csv", "--to must be one of store, svmlight"),
    ],
)
def test_convert_refuses_what_it_would_ignore(pegasos, two, words, sentence):
    pegasos("convert", "two.svm", *words.split(), code=2)
    assert sentence in pegasos.err


# ------------------------------------------------------------------------------------------ info


def test_info_of_text(pegasos, two):
    X, y = two
    answer = pegasos.answer("info", "two.svm", "--quiet")
    assert (answer["rows"], answer["features"]) == (200, 6)
    assert answer["nonzeros"] == np.count_nonzero(X[:200])
    assert answer["labels"] == {"-1": int((y[:200] < 0).sum()), "1": int((y[:200] > 0).sum())}
    assert answer["values"] == pytest.approx([X[:200].min(), X[:200].max()])
    norms = np.linalg.norm(X[:200], axis=1)
    assert answer["norms"] == pytest.approx([norms.min(), norms.max()], rel=1e-6)
    out = pegasos("info", "two.svm")
    assert "svmlight text" in out
    assert "labels" in out


def test_info_of_a_table(pegasos, houses):
    out = pegasos("info", "houses.csv", "--target", "price", "--categorical", "town")
    assert "town=x" in out
    answer = pegasos.answer("info", "houses.csv", "--target", "price", "--categorical", "auto")
    assert answer["kind"] == "CSV table"
    assert answer["feature_names"] == ["size", "town=x", "town=y"]


def test_info_of_a_table_that_is_not_ready(pegasos, tmp_path):
    (tmp_path / "t.csv").write_text("size;town\n1;a\n2;b\n")
    out = pegasos("info", "t.csv")
    assert "size: number" in out
    assert "town: text" in out
    assert "say with --target which is predicted" in out
    answer = pegasos.answer("info", "t.csv", "--target", "size")
    assert answer["columns"] == {"size": "number", "town": "text"}
    assert "holds text; name it in --categorical" in answer["notes"][0]
    ready = pegasos.answer("info", "t.csv", "--target", "size", "--categorical", "town")
    assert ready["features"] == 2
    assert "the fields stand between semicolons, as the first line says" in ready["notes"]


def test_info_of_a_checkpoint(pegasos, two, tmp_path):
    pegasos("train", "two.svm", "--checkpoint", "run")
    answer = pegasos.answer("info", "run")
    assert answer["kind"] == "checkpoint"
    assert answer["stopped"] == "converged"
    assert "the checkpoint of a run" in pegasos("info", "run")
    np.savez(tmp_path / "other.npz", header=np.zeros(3))
    pegasos("info", "other.npz", code=2)
    assert "a zip archive (or NumPy's npz)" in pegasos.err


@pytest.mark.parametrize(
    ("format", "what"),
    [
        ("pegasos", "a model of pegasos, not data"),
        ("liblinear", "a model of LIBLINEAR, not data"),
        ("svm-light", "a model of SVM-light, not data"),
        ("onnx", "an ONNX model, not data; onnxruntime runs it"),
    ],
)
def test_a_model_is_no_data(pegasos, two, format, what):
    pegasos("train", "two.svm", "-o", "model", "--format", format, "--bias", "none")
    pegasos("train", "model", "-o", "other", code=2)
    assert pegasos.err == f"model is {what}\n"


@pytest.mark.parametrize("content", [b"", b'{"rows": ', b"\xff\xfe", b"[]"])
def test_a_damaged_store_is_called_so(pegasos, two, tmp_path, content):
    pegasos("convert", "two.svm", "s")
    (tmp_path / "s" / "header.json").write_bytes(content)
    for command in ("info", "train"):
        pegasos(command, "s", code=2)
        assert "header.json" in pegasos.err
        assert "the store is damaged: write it again" in pegasos.err


def test_info_of_a_model_tells_the_weight_that_was_not_given(pegasos, two):
    pegasos("train", "two.svm")
    assert "C=1.0" in pegasos("info", "two.pegasos")
    pegasos("train", "two.svm", "--lam", "0.01", "--force")
    out = pegasos("info", "two.pegasos")
    assert "lam=0.01" in out
    assert "C=1.0" not in out


def test_labels_and_names_that_look_like_markup(pegasos, two, tmp_path):
    X, y = two
    lines = [f"{'[bold]' if label > 0 else '[/red]'} 1:{row[0]}" for row, label in zip(X, y)]
    (tmp_path / "[red]x.svm").write_text("\n".join(lines) + "\n")
    pegasos("train", "[red]x.svm")
    assert "[red]x.pegasos" in pegasos.err
    out = pegasos("evaluate", "[red]x.pegasos", "[red]x.svm")
    assert "true \\ predicted   [/red]   [bold]" in out
    assert "[/red], [bold]" in pegasos("info", "[red]x.pegasos")
    assert pegasos("info", "[red]x.svm").startswith("[red]x.svm\n")


def test_info_of_a_store(pegasos, three, tmp_path):
    pegasos("convert", "three.svm", "s")
    answer = pegasos.answer("info", "s", "--verify")
    assert (answer["kind"], answer["rows"], answer["verified"]) == ("store", 150, True)
    assert set(answer["labels"]) == {"red", "green", "blue"}
    assert "every byte" in pegasos("info", "s", "--verify")
    pegasos("info", "three.svm", "--verify", code=2)
    assert "--verify is for a store" in pegasos.err


@pytest.mark.parametrize("format", ["pegasos", "liblinear", "svm-light"])
def test_info_of_a_model(pegasos, two, format):
    pegasos("train", "two.svm", "-o", "m", "--format", format)
    answer = pegasos.answer("info", "m")
    assert (answer["kind"], answer["features"]) == ("model", 6)
    assert answer["classes"] == [-1, 1]
    proved = answer["certificate"]["relative_gap"]
    assert proved is None if format != "pegasos" else proved <= 1e-3
    out = pegasos("info", "m")
    assert "nothing is proved" in out if format != "pegasos" else ": proved" in out


# --------------------------------------------------------------------------------------- compare


def test_compare_two_solvers(pegasos, two, tmp_path):
    words = "--solvers dual-ascent,pegasos --by passes --passes 20 --plot c.png"
    answer = pegasos.answer("compare", "two.svm", *words.split())
    assert [one["solver"] for one in answer["solvers"]] == ["dual-ascent", "pegasos"]
    assert answer["solvers"][0]["needed"]["0.001"] < 20
    assert answer["reference"]["relative_gap"] < 1e-3
    assert (tmp_path / "c.png").read_bytes()[:4] == b"\x89PNG"
    pegasos("compare", "two.svm", *words.split(), code=3)
    assert "c.png exists" in pegasos.err
    out = pegasos("compare", "two.svm", "--solvers", "dual-ascent", "--targets", "0.5,0.1")
    assert "dual-ascent" in out
    assert "to 50 %" in out


def test_compare_one_class_against_the_rest(pegasos, three):
    pegasos("compare", "three.svm", code=2)
    assert "name the one that stands against the rest with --positive" in pegasos.err
    answer = pegasos.answer(
        "compare", "three.svm", "--positive", "red", "--solvers", "dual-ascent", "--passes", "5"
    )
    assert answer["solvers"][0]["needed"]["0.1"] > 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--solvers nonsense", "there is no solver 'nonsense'"),
        ("--targets near", "--targets is written as"),
        ("--targets -1", "--targets needs positive numbers"),
        ("--by hours", "--by must be one of"),
        ("--positive 7", "--positive names '7'"),
        ("--solvers dual-ascent --bias free --loss hinge -C 1 --lam 1", "not both"),
    ],
)
def test_compare_refuses(pegasos, two, words, sentence):
    pegasos("compare", "two.svm", *words.split(), "--quiet", code=2)
    assert sentence in pegasos.err
    assert pegasos.err.count("\n") == 1


# ------------------------------------------------------------------------------ demo and data sets


def test_demo(pegasos, tmp_path):
    assert pegasos("demo", "--rows", "1000") == ""
    assert ": proved" in pegasos.err
    assert "Next, on your own data" in pegasos.err
    answer = pegasos.answer("demo", "--rows", "1000", "--quiet")
    assert answer["converged"] is True
    assert 0 < answer["accuracy"] <= 1
    assert pegasos.err == ""
    assert list(tmp_path.iterdir()) == []


def test_the_list_of_data_sets(pegasos, monkeypatch, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "reuters2000").write_text("1 1:0.5\n-1 2:1\n" * 1000)
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path / "data"))
    out = pegasos("datasets")
    assert "a9a" in out
    assert "reuters2000" in out
    found = {one["name"]: one for one in pegasos.answer("datasets")["datasets"]}
    assert found["reuters2000"]["here"] == "PEGASOS_DATA"
    assert found["a9a"]["rows"] == {"train": 32561, "test": 16281}


def test_a_data_set_by_its_name(pegasos, monkeypatch, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "reuters2000").write_text("1 1:0.5\n-1 2:1\n" * 1000)
    (tmp_path / "data" / "reuters600.t").write_text("1 1:0.5\n-1 2:1\n" * 300)
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path / "data"))
    answer = pegasos.answer("datasets", "fetch", "reuters2000")
    assert answer["parts"]["train"]["rows"] == 2000
    words = "train", "dataset:reuters2000", "--test", "dataset:reuters2000:test"
    answer = pegasos.answer(*words)
    assert answer["model"] == "reuters2000.pegasos"
    assert answer["test"] == answer["test"] | {"rows": 600, "accuracy": 1.0}
    pegasos("datasets", "fetch", "nothing", code=2)
    assert "there is no set 'nothing'" in pegasos.err
