"""The data of the benchmarks: real sets from the folder of PEGASOS_DATA, and a generator."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

OPENERS = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}


def folder() -> Path | None:
    """Where the real sets lie: PEGASOS_DATA, or shared/data beside the checkout."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(os.environ.get("PEGASOS_DATA", beside))
    return path if path.is_dir() else None


def load(name: str, n_features: int | None = None):
    """(X, y) of an svmlight file as float32 CSR with 32-bit indices, or None if it is not there."""
    home = folder()
    if home is None:
        return None
    for path in (home / name, *(home / (name + ending) for ending in OPENERS)):
        if path.exists():
            with OPENERS.get(path.suffix, open)(path, "rb") as file:
                X, y = load_svmlight_file(file, n_features=n_features, dtype=np.float32)
            X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
            return X, y
    return None


def text_like(m: int, d: int = 47_236, per_row: int = 76, seed: int = 0):
    """Rows shaped like RCV1: unit norm, about ``per_row`` of d words, 47 % positive, some noise."""
    rng = np.random.default_rng(seed)
    words = (d * rng.random((m, per_row)) ** 2.5).astype(np.int32)
    words.sort(axis=1)
    weight = (1 + rng.exponential(size=(m, per_row))) * (1 + np.log(1 + words))
    X = sp.csr_matrix(
        (
            weight.astype(np.float32).ravel(),
            words.ravel(),
            np.arange(0, m * per_row + 1, per_row, dtype=np.int32),
        ),
        shape=(m, d),
    )
    X.sum_duplicates()
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(norms, np.diff(X.indptr)).astype(np.float32)
    topic = rng.standard_normal(d) * (rng.random(d) < 0.3)
    score = X @ topic
    score += 0.5 * score.std() * rng.standard_normal(m)
    y = np.where(score > np.quantile(score, 0.53), 1.0, -1.0)
    return X, y
