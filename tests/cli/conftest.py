"""Small data in files, and the command line called in this process."""

import json

import numpy as np
import pytest

from pegasos.cli import main


@pytest.fixture
def pegasos(tmp_path, monkeypatch, capsys):
    """Call ``pegasos`` in a folder of its own: exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*words, code=0):
        found = main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert found == code, f"exit code {found}\n{out}\n{err}"
        assert "Traceback" not in err
        call.err = err
        return out

    def answer(*words, code=0):
        out = call(*words, "--json", code=code)
        assert out.count("\n") == 1
        return json.loads(out)

    call.answer = answer
    return call


def svmlight(X, y, write=str):
    """Rows as text, the indices from 1."""
    lines = [
        " ".join([write(label), *(f"{j + 1}:{value:.9g}" for j, value in enumerate(row) if value)])
        for row, label in zip(X, y)
    ]
    return "\n".join(lines) + "\n"


@pytest.fixture
def two(tmp_path):
    """Two classes that overlap: 200 rows to train on and 100 others."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 6)).astype(np.float32)
    X[rng.random(X.shape) < 0.3] = 0.0
    y = np.where(X[:, 0] - X[:, 1] + 0.7 * rng.standard_normal(300) > 0, 1, -1)
    (tmp_path / "two.svm").write_text(svmlight(X[:200], y[:200]))
    (tmp_path / "two.t.svm").write_text(svmlight(X[200:], y[200:]))
    return X, y


@pytest.fixture
def three(tmp_path):
    """Three classes with words as labels."""
    rng = np.random.default_rng(1)
    y = np.array(["red", "green", "blue"])[rng.integers(3, size=150)]
    centre = {"red": [2, 0, 0], "green": [0, 2, 0], "blue": [0, 0, 2]}
    X = np.array([centre[label] for label in y]) + rng.standard_normal((150, 3))
    (tmp_path / "three.svm").write_text(svmlight(X, y))
    return X, y


@pytest.fixture
def houses(tmp_path):
    """A table whose target is a number, with a column of categories."""
    rng = np.random.default_rng(2)
    size, town = rng.uniform(1, 3, 80), np.array(["x", "y"])[rng.integers(2, size=80)]
    price = 3 * size + (town == "y") + 0.1 * rng.standard_normal(80)
    lines = [f"{s:.6g},{t},{p:.6g}" for s, t, p in zip(size, town, price)]
    (tmp_path / "houses.csv").write_text("\n".join(["size,town,price", *lines]) + "\n")
    return size, town, price
