"""Fuzzing the store: a header of anybody's making, over files that are cut, garbled or no files.

An input is a byte that names the store to begin with, a byte of options, the text of a header
(none: the store's own), a zero, and a program of damages, four bytes each.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import random
import shutil
import tempfile
import zlib
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from guarded import guarded_store
from mutation import BYTES, changed_bytes, changed_json, json_text
from verdict import Finding, bounded_memory, check_sentence, nothing_executed

from pegasos import DualAscent, Problem, solve
from pegasos.compiled.kernel import PLAIN
from pegasos.data import (
    Data,
    DataError,
    is_store,
    iter_store,
    open_store,
    store_header,
    verify_store,
    write_store,
)

NAME = "store"
LONGEST = 8000

SIGNED, GUARDED = 1, 2  # options: checksums made anew by the stranger; guarded arrays
HEADER = "header.json"
_NUMBERS = (0, 1, 2, 5, 100, 2**31 - 1, 2**31, 2**32 - 1, 2**62, -1, -2, -(2**31), -(2**63))
_FLOATS = (np.nan, np.inf, -np.inf, 1e300, -0.0, 5e-324, 3e38, -1e-300)
_TRAINED = ("<f4", "<f8")  # of which rows are trained on: the rest would take long to compile
_ROWS = 12


def _given() -> dict[str, Data]:
    rng = np.random.default_rng(0)
    table = np.round(rng.standard_normal((_ROWS, 5)), 2)
    table[rng.random(table.shape) < 0.4] = 0.0
    y, words = rng.choice([-1.0, 1.0], _ROWS), rng.choice(["ham", "spam", "ü"], _ROWS)
    counts, groups = rng.integers(0, 3, _ROWS).astype(float), rng.integers(0, 4, _ROWS)
    csr = sp.csr_array(table)
    wide = sp.csr_array((csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)))
    wide.indices[:] += 2**33
    names = tuple("abcde")
    return {
        "csr": Data(csr.astype(np.float32), y),
        "csr, words": Data(csr, words, weights=counts, groups=groups, feature_names=names),
        "csr, wide": Data(sp.csr_array(wide, shape=(_ROWS, 2**34)), y),
        "csr, bytes": Data(sp.csr_array(table * 9).astype(np.uint8), None),
        "csr, empty": Data(sp.csr_array((_ROWS, 5), dtype=np.float32), y),
        "dense": Data(table.astype(np.float32), y, notes=("a note",)),
        "dense, words": Data(table, words, weights=counts, feature_names=names),
        "dense, truths": Data(table > 0, y, groups=groups),
    }


@functools.cache
def stores() -> tuple[dict[str, bytes], ...]:
    """The stores to begin with: the content of each file."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for k, data in enumerate(_given().values()):
            path = Path(folder, str(k))
            write_store(path, data, block_rows=5, shuffle=7 if k == 1 else None)
            found.append({file.name: file.read_bytes() for file in sorted(path.iterdir())})
    return tuple(found)


def check(data: bytes, folder: Path) -> bool:
    """Whether the store could be opened. Finding if anything is as it must not be."""
    path = folder / "rows.store"
    _lay_out(data, path)
    options = data[1] if len(data) > 1 else 0
    size = sum(file.lstat().st_size for file in path.iterdir()) if path.is_dir() else 0
    guards = guarded_store() if options & GUARDED and not PLAIN else contextlib.nullcontext()
    try:
        with nothing_executed(), bounded_memory(size), guards:
            return _try_all(path)
    finally:
        if path.is_dir():
            shutil.rmtree(path)


def _try_all(path: Path) -> bool:
    """Open, verify, read and train: each gives an answer or a sentence."""
    is_store(path)
    about = _attempt(lambda: store_header(path), DataError)
    found = _attempt(lambda: open_store(path), DataError)
    sound = _attempt(lambda: verify_store(path) or True, DataError)
    if found is None:
        if sound:
            raise Finding("verified, and yet it does not open")
        return False
    if about is None:
        raise Finding("opened, though its header is refused")
    chunks = _attempt(lambda: list(iter_store(path)), DataError)
    if sound and (chunks is None or sum(chunk.X.shape[0] for chunk in chunks) != about["rows"]):
        raise Finding("verified, and yet its rows cannot be read")
    m = found.X.shape[0]
    y = np.where(np.arange(m) % 2, 1.0, -1.0)
    problem = _attempt(lambda: Problem(found.X, y, C=1.0, weights=found.weights), ValueError)
    small = found.X.dtype.str in _TRAINED and found.X.shape[1] <= 1000
    if problem is not None and small and about["index_dtype"] != "int64":
        _attempt(lambda: solve(problem, DualAscent(), tol=None, max_passes=2), ValueError)
    return True


def _attempt(what, kind):
    """The answer; None if it was refused in one sentence, by an error of this kind."""
    try:
        return what()
    except kind as error:
        check_sentence(error)
        return None


# ----------------------------------------------------------------------------------- laying out


def _parted(data: bytes) -> tuple[int, int, bytes, bytes]:
    first, second = data[:2].ljust(2, b"\0")
    header, _, damages = data[2:].partition(b"\0")
    return first % len(stores()), second, header, damages[:40]


def _lay_out(data: bytes, path: Path) -> None:
    which, options, header, damages = _parted(data)
    files = dict(stores()[which])
    if header:
        files[HEADER] = header
    names = sorted(files)
    strange: list[tuple[int, str]] = []
    for k in range(0, len(damages) - 3, 4):
        kind, which, where, what = damages[k : k + 4]
        name = names[which % len(names)]
        if kind % 8 < 6:
            files[name] = _damaged(files[name], kind % 8, where, what)
        elif name != HEADER or kind % 16 == 6:  # else nothing but a missing header would be seen
            strange.append((what, name))
    if options & SIGNED:
        files[HEADER] = _signed(files)
    path.mkdir()
    for name, content in files.items():
        (path / name).write_bytes(content)
    for what, name in strange:
        _make_strange(path, name, what)


def _damaged(content: bytes, kind: int, where: int, what: int) -> bytes:
    at = where * len(content) // 256
    if kind == 0:
        return content[:at]
    if kind == 1:
        return content + bytes([what]) * (where + 1)
    if kind == 2:
        return content[:at] + bytes([what]) + content[at + 1 :]
    width = (4, 8, 4, 8)[kind - 2] if kind < 6 else 8
    at = at // width * width
    if what % 2:
        number = np.array(_NUMBERS[what // 2 % len(_NUMBERS)]).astype(f"<i{width}").tobytes()
    else:
        with np.errstate(over="ignore"):
            number = np.array(_FLOATS[what // 2 % len(_FLOATS)]).astype(f"<f{width}").tobytes()
    return content[:at] + number + content[at + width :]


def _signed(files: dict[str, bytes]) -> bytes:
    """The header with the checksums of the files as they are; as it is, if it is beyond that."""
    with contextlib.suppress(Exception):
        tree = json.loads(files[HEADER])
        for about in tree["arrays"].values():
            about["crc32"] = zlib.crc32(files[about["file"]])
        return json.dumps(tree).encode()
    return files[HEADER]


def _make_strange(path: Path, name: str, what: int) -> None:
    """A folder, a pipe, a link or nothing in place of a file."""
    file = path / name
    if file.is_dir():
        return
    file.unlink(missing_ok=True)
    if what % 6 == 0:
        file.mkdir()
    elif what % 6 == 1:
        os.mkfifo(file)
    elif what % 6 == 2:
        file.symlink_to(name)
    elif what % 6 == 3:
        file.symlink_to("/dev/zero")
    elif what % 6 == 4:
        file.symlink_to("values.bin" if name != "values.bin" else "targets.bin")


# -------------------------------------------------------------------------------------- inputs


def seeds() -> list[bytes]:
    """Each of the stores as it is, with its header written out, and with a damage."""
    found = []
    for k, files in enumerate(stores()):
        found += [bytes([k, 0]), bytes([k, GUARDED])]
        found.append(bytes([k, SIGNED]) + files[HEADER] + b"\0")
        found.append(bytes([k, SIGNED | GUARDED]) + b"\0" + bytes([3, 2, 40, 9]))
    for what in range(6):
        found += [bytes([0, 0, 0, 6, 3, 0, what]), bytes([0, 0, 0, 6, 0, 0, what])]
    return found


def changed(rng: random.Random, data: bytes) -> bytes:
    """An input with a header, an option or a file changed."""
    which, options, header, damages = _parted(data)
    kind = rng.randrange(8)
    if kind == 0:
        which, options = rng.randrange(len(stores())), rng.choice([0, 1, 1, 2, 3, 3])
    elif kind <= 3:
        text = header or stores()[which][HEADER]
        with contextlib.suppress(ValueError, RecursionError):
            tree = changed_json(rng, json.loads(text))
            if rng.random() < 0.3:
                tree = _made_consistent(tree)
            header = json_text(rng, tree).replace(b"\0", b"")
    elif kind == 4:
        header = changed_bytes(rng, header or stores()[which][HEADER], BYTES).replace(b"\0", b"")
    elif kind == 5:
        damages = changed_bytes(rng, damages)
    else:
        damages += bytes([rng.randrange(8), *(rng.randrange(256) for _ in range(3))])
    return bytes([which, options]) + header + b"\0" + damages


def _made_consistent(tree):
    """A header of which the sizes agree with each other again, after one of them was changed."""
    with contextlib.suppress(Exception):
        rows, nnz = tree["rows"], tree["nnz"]
        shapes = {"values": [nnz], "indices": [nnz], "pointers": [rows + 1]}
        if tree["kind"] == "dense":
            shapes["values"] = [rows, tree["features"]]
            tree["nnz"] = rows * tree["features"]
        for name, about in tree["arrays"].items():
            about["shape"] = shapes.get(name, [rows])
            count = int(np.prod(about["shape"], dtype=object))
            about["bytes"] = count * np.dtype(about["dtype"]).itemsize
    return tree
