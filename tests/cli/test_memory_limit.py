"""How much memory rows will take, told from the beginning of their file."""

import numpy as np
import pytest

from pegasos.cli import memory
from pegasos.cli.outputs import stem_of
from pegasos.data import load, write_svmlight
from pegasos.datasets import text_like_chunks


@pytest.mark.parametrize("ending", ["svm", "svm.gz"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_of_text(tmp_path, monkeypatch, ending, dtype):
    path = tmp_path / f"text.{ending}"
    write_svmlight(path, text_like_chunks(2000, d=1000, per_row=30))
    monkeypatch.setattr(memory, "SAMPLE", 1 << 19)
    X = load(path, dtype=dtype).X
    bytes_in_memory = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes + 2000 * 8
    assert memory.needed(str(path), "svmlight", dtype) == pytest.approx(bytes_in_memory, rel=0.25)


def test_of_tables(tmp_path):
    pyarrow, parquet = (pytest.importorskip(name) for name in ("pyarrow", "pyarrow.parquet"))
    numbers = np.arange(4000.0)
    table = pyarrow.table(dict.fromkeys("abcde", numbers))
    parquet.write_table(table, tmp_path / "t.parquet")
    lines = [",".join("abcde"), *(",".join([f"{n}"] * 5) for n in numbers)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    for kind in ("parquet", "csv"):
        found = memory.needed(str(tmp_path / f"t.{kind}"), kind, "float64")
        assert found == pytest.approx(4000 * (5 * 8 + memory.PER_ROW), rel=0.01)


def test_some_memory_is_free():
    assert 0 < memory.available() < 1 << 50


@pytest.mark.parametrize(
    ("source", "stem"),
    [
        ("a9a.svm", "a9a"),
        ("folder/rcv1.t.svm.xz", "rcv1.t"),
        ("rows.store/", "rows"),
        ("dataset:rcv1/ccat", "ccat"),
        ("https://example.org/sets/w8a.bz2?raw=1", "w8a"),
        ("data", "data"),
        (".svm", ".svm"),
    ],
)
def test_a_model_is_called_as_its_data(source, stem):
    assert stem_of(source) == stem
