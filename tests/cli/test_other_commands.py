"""``pegasos convert``, ``info``, ``compare``, ``demo`` and ``datasets``."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pegasos.data import load, open_store


def same(a, b):
    assert_array_equal(a.X.toarray(), b.X.toarray())
    assert_array_equal(a.y, b.y)


# --------------------------------------------------------------------------------------- convert


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
    pegasos("convert", "two.svm", "folder", "--force", code=2)
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
