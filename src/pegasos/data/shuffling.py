"""Rows in random order, in memory for one bucket: an external sort by random keys.

    key of row i     the i-th number of a generator: 64 random bits
    new order        the rows by ascending key                 [equal keys: as they came]

Rows are scattered to bucket files by the leading bits of their keys; then one bucket after the
other is read, sorted and handed on. A bucket that is too large is first scattered again, by the
bits that follow. The keys depend on the seed and the row's number alone, so neither the chunks in
which the rows come nor the size of the buckets changes the order.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from pegasos.data.pieces import PER_ENTRY, PIECE_BYTES, PIECE_ROWS, Piece, rows_of

BUCKET_BYTES = 64 << 20

_KEY = 64
_MOST_BITS = 7  # of the key at a time: 128 buckets, fewer than the files a process may open
_BUFFER = 1 << 16


def shuffled(
    pieces: Iterable[Piece], seed: int, folder: Path, bucket_bytes: int = BUCKET_BYTES
) -> Iterator[Piece]:
    """The same rows in random order; ``folder`` (made, and removed at the end) holds the buckets.

    Takes memory for one bucket. A bucket is removed before its rows are handed on, so that the
    disk holds the rows about once.
    """
    folder.mkdir()
    for bucket in _scatter(_keyed(pieces, seed), folder / "bucket", 0, _MOST_BITS):
        yield from _in_order(bucket, bucket_bytes)
    folder.rmdir()


def _keyed(pieces: Iterable[Piece], seed: int) -> Iterator[Piece]:
    bits = np.random.PCG64(np.random.SeedSequence(seed))
    for piece in pieces:
        yield {"keys": bits.random_raw(rows_of(piece)), **piece}


class _Bucket:
    """A file of packets: how many rows and entries they have, then their arrays one by one.

    The leading ``bits`` of all keys in it are the same.
    """

    def __init__(self, path: Path, bits: int):
        self.path, self.bits = path, bits
        self.rows = self.entries = self.bytes = 0
        self.layout: dict[str, tuple[np.dtype, tuple[int, ...]]] = {}
        self._file = path.open("wb", buffering=_BUFFER)

    def put(self, piece: Piece) -> None:
        self.layout = {name: (array.dtype, array.shape[1:]) for name, array in piece.items()}
        counts = np.array([rows_of(piece), piece["values"].shape[0]], dtype=np.int64)
        self._file.write(counts.data)
        for array in piece.values():
            self._file.write(array.reshape(-1).view(np.uint8).data)
            self.bytes += array.nbytes
        self.rows += int(counts[0])
        self.entries += int(counts[1])

    def close(self) -> None:
        self._file.close()

    def packets(self) -> Iterator[Piece]:
        """What was put, in the same order."""
        counts = np.empty(2, dtype=np.int64)
        with io.FileIO(self.path) as raw, io.BufferedReader(raw, _BUFFER) as file:
            while file.readinto(counts.data):
                piece = self._empty(*counts.tolist())
                for array in piece.values():
                    file.readinto(array.reshape(-1).view(np.uint8).data)
                yield piece

    def _empty(self, rows: int, entries: int) -> Piece:
        sparse = "lengths" in self.layout
        return {
            name: np.empty((entries if sparse and name in PER_ENTRY else rows, *tail), dtype)
            for name, (dtype, tail) in self.layout.items()
        }

    def whole(self) -> Piece:
        """All that was put, as one piece."""
        piece = self._empty(self.rows, self.entries)
        filled = dict.fromkeys(piece, 0)
        for packet in self.packets():
            for name, array in packet.items():
                piece[name][filled[name] : filled[name] + array.shape[0]] = array
                filled[name] += array.shape[0]
        return piece


def _scatter(pieces: Iterable[Piece], stem: Path, used: int, bits: int) -> list[_Bucket]:
    """Each row to a bucket by so many bits of its key, after those that were used before."""
    buckets: dict[int, _Bucket] = {}
    shift, count = np.uint64(_KEY - used - bits), 1 << bits
    with contextlib.ExitStack() as opened:
        for piece in _merged(pieces):
            places = ((piece["keys"] >> shift) & np.uint64(count - 1)).astype(np.uint8)
            grouped = taken(piece, np.argsort(places, kind="stable"))
            bounds = np.append(0, np.cumsum(np.bincount(places, minlength=count)))
            for k in np.flatnonzero(np.diff(bounds)).tolist():
                if k not in buckets:
                    buckets[k] = _Bucket(stem.with_name(f"{stem.name}-{k}"), used + bits)
                    opened.callback(buckets[k].close)
                buckets[k].put(_part(grouped, int(bounds[k]), int(bounds[k + 1])))
    return [buckets[k] for k in sorted(buckets)]


def _merged(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The same rows in pieces that are not small, so that the packets of buckets are not tiny."""
    waiting: list[Piece] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += sum(array.nbytes for array in piece.values())
        if size >= PIECE_BYTES // 2:
            yield _joined(waiting)
            waiting, size = [], 0
    if waiting:
        yield _joined(waiting)


def _joined(parts: list[Piece]) -> Piece:
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([piece[name] for piece in parts]) for name in parts[0]}


def _in_order(bucket: _Bucket, bucket_bytes: int) -> Iterator[Piece]:
    """The rows of a bucket by ascending key."""
    if bucket.bytes > bucket_bytes and bucket.rows > 1 and bucket.bits < _KEY:
        needed = (bucket.bytes // max(bucket_bytes, 1)).bit_length() + 1  # to be well below
        bits = min(needed, _MOST_BITS, _KEY - bucket.bits)
        parts = _scatter(bucket.packets(), bucket.path, bucket.bits, bits)
        bucket.path.unlink()
        for part in parts:
            yield from _in_order(part, bucket_bytes)
        return
    piece = bucket.whole()
    bucket.path.unlink()
    order = np.argsort(piece.pop("keys"), kind="stable")
    size = sum(array.nbytes for array in piece.values())
    rows = min(max(PIECE_BYTES * order.size // max(size, 1), 1), PIECE_ROWS)
    for first in range(0, order.size, rows):
        yield taken(piece, order[first : first + rows])


def taken(piece: Piece, order: np.ndarray) -> Piece:
    """The rows of a piece in another order, or some of them."""
    if "lengths" not in piece:
        return {name: array[order] for name, array in piece.items()}
    from scipy.sparse import csr_array

    indices = piece["indices"]
    pointers = np.append(0, np.cumsum(piece["lengths"])).astype(indices.dtype)
    shape = pointers.size - 1, int(np.iinfo(indices.dtype).max)  # the width that keeps the dtype
    X = csr_array((piece["values"], indices, pointers), shape=shape)[order]
    found = {name: array[order] for name, array in piece.items() if name not in PER_ENTRY}
    entries = {"values": X.data, "indices": X.indices.astype(indices.dtype, copy=False)}
    return {name: entries[name] if name in entries else found[name] for name in piece}


def _part(piece: Piece, first: int, last: int) -> Piece:
    """The rows from ``first`` to ``last``, as they lie."""
    if "lengths" not in piece:
        return {name: array[first:last] for name, array in piece.items()}
    start = int(piece["lengths"][:first].sum())
    stop = start + int(piece["lengths"][first:last].sum())
    return {
        name: array[start:stop] if name in PER_ENTRY else array[first:last]
        for name, array in piece.items()
    }
