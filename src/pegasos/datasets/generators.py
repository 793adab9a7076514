"""Made-up data in the shapes of real sets, of any size: text like RCV1, a table like covtype.

The same seed and size give the same numbers on every machine with the same NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pegasos.data import Data

BLOCK = 10_000  # rows of text_like_chunks that are drawn with one generator
_SAMPLE = 3  # blocks on which its threshold is estimated
_POSITIVE, _NOISE = 0.47, 0.5
_TOPIC = 2**32 - 1  # the number of no block


def text_like(m: int, d: int = 47_236, per_row: int = 76, seed: int = 0) -> tuple[Any, np.ndarray]:
    """Rows shaped like RCV1: unit norm, about ``per_row`` of d words, 47 % positive, some noise.

    Parameters
    ----------
    m : int
        The number of rows.
    d : int, default=47236
        The number of words, the first ones the most frequent.
    per_row : int, default=76
        Words drawn for each row; a few fewer are different.
    seed : int, default=0
        Of the random generator.

    Returns
    -------
    X : csr_array of shape (m, d)
        The rows, float32.
    y : ndarray of shape (m,)
        The targets, −1 and +1.

    Examples
    --------
    >>> from pegasos.datasets import text_like
    >>> X, y = text_like(1_000, d=5_000, per_row=20)
    >>> X.shape, float((y > 0).mean())
    ((1000, 5000), 0.47)
    """
    rng = np.random.default_rng(seed)
    X = _texts(rng, m, d, per_row)
    score = X @ _topic(rng, d)
    score += _NOISE * score.std() * rng.standard_normal(m)
    return X, np.where(score > np.quantile(score, 1 - _POSITIVE), 1.0, -1.0)


def text_like_chunks(
    m: int, rows_per_chunk: int = 50_000, d: int = 47_236, per_row: int = 76, seed: int = 0
) -> Iterator[Data]:
    """Rows like those of :func:`text_like`, in chunks: for data larger than memory.

    Row i is the same for every ``m`` above it and every size of the chunks. What is positive is
    decided by a threshold that is estimated on the first 30,000 rows.

    Parameters
    ----------
    m : int
        The number of rows in all.
    rows_per_chunk : int, default=50000
        The number of rows in a chunk.
    d, per_row, seed
        As for :func:`text_like`; the rows of the same seed are others.

    Yields
    ------
    data : Data
        The next rows.

    Examples
    --------
    >>> from pegasos.datasets import text_like_chunks
    >>> [chunk.X.shape for chunk in text_like_chunks(25_000, 10_000, d=1_000, per_row=5)]
    [(10000, 1000), (10000, 1000), (5000, 1000)]
    """
    topic = _topic(_block_generator(seed, _TOPIC), d)
    first = [_block(seed, k, d, per_row, topic) for k in range(_SAMPLE)]
    scores = np.concatenate([score for _, score, _ in first])
    spread = scores.std()
    noisy = np.concatenate([score + _NOISE * spread * noise for _, score, noise in first])
    threshold = np.quantile(noisy, 1 - _POSITIVE)
    del first
    return _text_chunks(m, rows_per_chunk, d, per_row, seed, topic, spread, threshold)


def _text_chunks(
    m: int,
    rows_per_chunk: int,
    d: int,
    per_row: int,
    seed: int,
    topic: np.ndarray,
    spread: float,
    threshold: float,
) -> Iterator[Data]:
    from scipy.sparse import vstack

    held, block = -1, None
    for start in range(0, m, rows_per_chunk):
        stop = min(start + rows_per_chunk, m)
        X, y = [], []
        for k in range(start // BLOCK, (stop - 1) // BLOCK + 1):
            if k != held:
                held, block = k, _block(seed, k, d, per_row, topic)
            rows, score, noise = block  # type: ignore[misc]
            part = slice(max(start - k * BLOCK, 0), min(stop - k * BLOCK, BLOCK))
            X.append(rows[part])
            score = score[part] + _NOISE * spread * noise[part]
            y.append(np.where(score > threshold, 1.0, -1.0))
        yield Data(X=vstack(X, format="csr") if len(X) > 1 else X[0], y=np.concatenate(y))


def _block_generator(seed: int, k: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(k,)))


def _block(seed: int, k: int, d: int, per_row: int, topic: np.ndarray) -> tuple[Any, Any, Any]:
    """The rows of block k, their scores without noise, and the noise."""
    rng = _block_generator(seed, k)
    X = _texts(rng, BLOCK, d, per_row)
    return X, X @ topic, rng.standard_normal(BLOCK)


def _texts(rng: np.random.Generator, m: int, d: int, per_row: int) -> Any:
    """Rows of unit norm: few words are frequent, and rare ones weigh more."""
    from scipy.sparse import csr_array

    words = (d * rng.random((m, per_row)) ** 2.5).astype(np.int32)
    words.sort(axis=1)
    weight = (1 + rng.exponential(size=(m, per_row))) * (1 + np.log(1 + words))
    wide = np.int32 if m * per_row < 2**31 else np.int64
    pointers = np.arange(0, m * per_row + 1, per_row, dtype=wide)
    X = csr_array((weight.astype(np.float32).ravel(), words.ravel(), pointers), shape=(m, d))
    X.sum_duplicates()
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(norms, np.diff(X.indptr)).astype(np.float32)
    return X


def _topic(rng: np.random.Generator, d: int) -> np.ndarray:
    """The weights of the words: seven of ten say nothing."""
    return rng.standard_normal(d) * (rng.random(d) < 0.3)


def cover_like(m: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A table shaped like covtype: 10 numbers in [0, 1], one of 4 and one of 40 as ones.

    Parameters
    ----------
    m : int
        The number of rows.
    seed : int, default=0
        Of the random generator.

    Returns
    -------
    X : ndarray of shape (m, 54)
        The rows, float32.
    y : ndarray of shape (m,)
        The targets, −1 and +1: 36 % positive.

    Examples
    --------
    >>> from pegasos.datasets import cover_like
    >>> X, y = cover_like(1_000)
    >>> X.shape, float((y > 0).mean())
    ((1000, 54), 0.36)
    """
    rng = np.random.default_rng(seed)
    X = np.zeros((m, 54), dtype=np.float32)
    soil = (40 * rng.random(m) ** 2).astype(np.intp)
    X[:, :10] = rng.beta(2.0, 3.0, (m, 10))
    X[:, 0] = 0.6 * X[:, 0] + 0.01 * soil  # height and soil go together
    X[np.arange(m), 10 + (soil * 4) // 40] = 1.0
    X[np.arange(m), 14 + soil] = 1.0
    pull = np.random.default_rng(1).standard_normal(54)  # the same for every m
    score = X @ pull + 2.0 * np.cos(6.0 * X[:, 0]) + 0.7 * rng.standard_normal(m)
    return X, np.where(score > np.quantile(score, 0.64), 1.0, -1.0)
