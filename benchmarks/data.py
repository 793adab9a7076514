"""The data of the benchmarks: real sets from the folder of PEGASOS_DATA, and made-up ones."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_svmlight_file,
    make_classification,
)

from pegasos import datasets

OPENERS = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}


def folder() -> Path | None:
    """Where the real sets lie: PEGASOS_DATA, or shared/data beside the checkout."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(os.environ.get("PEGASOS_DATA", beside))
    return path if path.is_dir() else None


def opened(name: str):
    """A file of the folder for reading, decompressed if need be, or None if it is not there."""
    home = folder()
    if home is None:
        return None
    for path in (home / name, *(home / (name + ending) for ending in OPENERS)):
        if path.exists():
            return OPENERS.get(path.suffix, open)(path, "rb")
    return None


def load(name: str, n_features: int | None = None):
    """(X, y) of an svmlight file as float32 CSR with 32-bit indices, or None if it is not there."""
    file = opened(name)
    if file is None:
        return None
    with file:
        X, y = load_svmlight_file(file, n_features=n_features, dtype=np.float32)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y


def labels(found, chosen: Callable[[np.ndarray], np.ndarray]):
    """The rows with +1 where ``chosen`` says so of y, else −1; None stays None."""
    return found and (found[0], np.where(chosen(found[1]), 1.0, -1.0))


def covtype(scale: float | None = None):
    """Forest cover, class 1 against the rest, as a float32 table: each feature scaled to [0, 1],
    or all multiplied by ``scale``."""
    file = opened("covtype.npy")
    if file is None:
        return None
    with file:
        table = np.load(file)
    X, y = table[:, :-1].astype(np.float32), np.where(table[:, -1] == 1, 1.0, -1.0)
    if scale is not None:
        return X * np.float32(scale), y
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.maximum(high - low, 1), y


def compressed(found):
    """The same rows as CSR."""
    return found and (sp.csr_matrix(found[0]), found[1])


def fashion():
    """Fashion-MNIST, class 0 against the rest: a dense float32 table in [0, 1]."""
    images = opened("fashion-train-images-idx3-ubyte")
    classes = opened("fashion-train-labels-idx1-ubyte")
    if images is None or classes is None:
        return None
    with images, classes:
        pixels = np.frombuffer(images.read(), dtype=np.uint8, offset=16).reshape(-1, 784)
        y = np.frombuffer(classes.read(), dtype=np.uint8, offset=8)
    return pixels.astype(np.float32) / np.float32(255), np.where(y == 0, 1.0, -1.0)


def cpusmall():
    """A regression set, its target (first column) cut at the median."""
    file = opened("cpusmall.csv")
    if file is None:
        return None
    with file:
        lines = file.read().decode().split("\n")
    rows = [line.replace(",", " ").split() for line in lines if line.strip()]
    table = np.array([row for row in rows if row[0][0] in "-.0123456789"], dtype=np.float64)
    return above_median(table[:, 1:], table[:, 0])


def abalone():
    found = load("abalone")
    return found and above_median(found[0].toarray(), found[1])


def above_median(X: np.ndarray, target: np.ndarray):
    """Standardised rows; is the target above its median?"""
    return standardised(X), np.where(target > np.median(target), 1.0, -1.0)


def standardised(X: np.ndarray) -> np.ndarray:
    deviation = X.std(axis=0)
    return ((X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1)).astype(np.float32)


def digits(times: int = 20):
    """scikit-learn's digits, even against odd, each image ``times`` times with noise."""
    X, y = load_digits(return_X_y=True)
    X, y = np.tile(X / 16.0, (times, 1)), np.tile(y, times)
    X += 0.1 * np.random.default_rng(0).standard_normal(X.shape)
    return X.astype(np.float32), np.where(y % 2 == 0, 1.0, -1.0)


def breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return standardised(X), np.where(y == 1, 1.0, -1.0)


def classification(m: int, d: int, density: float | None = None):
    """scikit-learn's generator, standardised; with a density, all else is dropped and X is CSR."""
    X, y = make_classification(
        m, d, n_informative=d // 5, n_redundant=d // 10, flip_y=0.05, class_sep=0.8, random_state=1
    )
    X = standardised(X)
    if density is None:
        return X, np.where(y == 1, 1.0, -1.0)
    X[np.random.default_rng(1).random(X.shape) >= density] = 0.0
    return sp.csr_matrix(X), np.where(y == 1, 1.0, -1.0)


def text_like(m: int, **options):
    """Rows shaped like RCV1, as the ``csr_matrix`` that every peer takes."""
    X, y = datasets.text_like(m, **options)
    return sp.csr_matrix(X), y


def cs229(name: str):
    """Word counts of spam and other mail, in the course's own format, or None.

    A title; the rows and columns; the words; then for each row its label (0 or 1) and pairs of a
    distance from the last column and a count, ended by −1.
    """
    file = opened(name)
    if file is None:
        return None
    with file:
        lines = file.read().decode().split("\n")
    m, d = map(int, lines[1].split())
    X, y = np.zeros((m, d), dtype=np.float32), np.empty(m)
    for i, line in enumerate(lines[3 : 3 + m]):
        label, *pairs = map(int, line.split())
        y[i] = 1.0 if label == 1 else -1.0
        X[i, np.cumsum(pairs[:-1:2])] = pairs[1::2]
    return sp.csr_matrix(X), y


def positive(y: np.ndarray) -> np.ndarray:
    return y > 0


SETS: dict[str, Callable] = {
    # the sets of linear.py
    "a9a": lambda: load("a9a", 123),
    "covtype": lambda: compressed(covtype()),
    "covtype-raw": lambda: compressed(covtype(scale=0.001)),
    "covtype-dense": covtype,
    "ijcnn1": lambda: load("ijcnn1"),
    "imdb": lambda: labels(load("imdb"), positive),
    "reuters_moneyfx": lambda: labels(load("reuters_moneyfx"), positive),
    "text-200k": lambda: text_like(200_000),
    "text-800k": lambda: text_like(800_000),
    # those of unseen.py
    "digits": digits,
    "breast_cancer": breast_cancer,
    "made-100k×50": lambda: classification(100_000, 50),
    "made-20k×500": lambda: classification(20_000, 500),
    "made-5k×2000": lambda: classification(5_000, 2_000, density=0.05),
    "reuters2000": lambda: labels(load("reuters2000"), positive),
    "rcv1_small": lambda: labels(load("rcv1_small"), positive),
    "20news-0": lambda: labels(load("20news"), lambda y: y == y.min()),
    "fashion-0": fashion,
    "cpusmall": cpusmall,
    "abalone": abalone,
}
