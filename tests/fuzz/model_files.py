"""Fuzzing model files: pegasos' own, LIBLINEAR's, SVM-light's, and what only pretends to be one.

An input is the content of a file. A model that loads must predict, and be saved and loaded again
with the same scores.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import pickle
import random
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from mutation import BYTES, WHOLE, changed_bytes, changed_json, json_text
from verdict import Finding, bounded_memory, check_sentence, nothing_executed

from pegasos import load_model, save_model
from pegasos.data import DataError

sys.path.append(str(Path(__file__).parent.parent / "models"))

NAME = "models"
LONGEST = 100_000
CANARY = Path(tempfile.gettempdir()) / f"pegasos-canary-{os.getpid()}"
KEY = "pegasos"  # of our header among the metadata of safetensors
_SMALL = ("two", "ovr words", "ovo", "svr object", "stream")


def check(data: bytes, folder: Path) -> bool:
    """Whether the model was loaded. Finding if anything is as it must not be."""
    path, again = folder / "model", folder / "again"
    path.write_bytes(data)
    CANARY.unlink(missing_ok=True)
    with nothing_executed(), bounded_memory(len(data)):
        model = _loaded(path)
    if CANARY.exists():
        raise Finding("the file has executed something")
    if model is None:
        return False
    with bounded_memory(2 * len(data)):
        scores = _scores(model)
        save_model(model, again, force=True)
        if not np.array_equal(_scores(load_model(again)), scores, equal_nan=True):
            raise Finding("saved and loaded again it gives other scores")
    return True


def _loaded(path: Path):
    try:
        return load_model(path)
    except DataError as error:
        text = check_sentence(error)
        if not text.startswith(str(path)):
            raise Finding(f"the sentence does not name the file: {text}") from error
        return None


def _scores(model) -> np.ndarray:
    """Decision values and predictions of a few rows."""
    n = model.n_features_in_
    X = sp.csr_array(
        (np.array([1.0, -2.0, 0.5]), np.array([0, 0, n - 1]), np.array([0, 1, 2, 3])), shape=(3, n)
    )
    rows = X if n > 1000 else X.toarray()
    with np.errstate(all="ignore"):
        predicted = model.predict(rows)
    if predicted.shape != (3,):
        raise Finding(f"3 rows have {predicted.shape} predictions")
    if not hasattr(model, "classes_"):
        return predicted
    if not np.isin(predicted, model.classes_).all():
        raise Finding(f"predicts {predicted}, which are none of its classes")
    with np.errstate(all="ignore"):
        return model.decision_function(rows)


# -------------------------------------------------------------------------------------- inputs


class _Payload:
    """What a pickle can do to whoever opens it."""

    def __reduce__(self):
        return open, (str(CANARY), "w")


def seeds(small: bool = False) -> list[bytes]:
    """Models of every kind and format, and files that would execute something."""
    import some_models

    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        for name in _SMALL if small else some_models.BUILDERS:
            model = some_models.model(name)
            for format in ("pegasos", "liblinear", "svm-light"):
                with contextlib.suppress(ValueError):  # the format cannot hold it
                    save_model(model, path, format=format, force=True)
                    found.append(path.read_bytes())
    return found + _payloads()


def _payloads() -> list[bytes]:
    found = [pickle.dumps(_Payload(), protocol) for protocol in range(6)]
    for save in (np.save, np.savez):
        file = io.BytesIO()
        save(file, np.array([_Payload()], dtype=object))
        found.append(file.getvalue())
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(_Payload(), 2))
    found.append(file.getvalue())
    for text in (found[3], b"open('%b', 'w')" % os.fsencode(CANARY)):
        tree = {"x": {"dtype": "U8", "shape": [len(text)], "data_offsets": [0, len(text)]}}
        tree["__metadata__"] = {KEY: json.dumps({"format": "pegasos-model", "class": text.hex()})}
        found.append(_sealed(json.dumps(tree).encode(), text))
    return found


def changed(rng: random.Random, data: bytes) -> bytes:
    """A file changed a little, in the terms of its format."""
    if rng.random() < 0.1:
        return changed_bytes(rng, data)
    opened = _opened(data)
    if opened is None:
        return _changed_text(rng, data)
    tree, content = opened
    kind = rng.randrange(8)
    with contextlib.suppress(Exception):
        if kind < 5:
            inner = changed_json(rng, json.loads(tree["__metadata__"][KEY]))
            tree["__metadata__"][KEY] = json_text(rng, inner).decode()
        elif kind == 5:
            tree = changed_json(rng, tree)
        elif kind == 6:
            content = _changed_numbers(rng, content)
        else:
            content = changed_bytes(rng, content)
            tree = _fitted(tree, len(content))
    return _sealed(json.dumps(tree).encode(), content)


def _opened(data: bytes):
    """The header of a file in the safetensors format, and its bytes; None if it is none."""
    length = int.from_bytes(data[:8], "little")
    if length > len(data):
        return None
    try:
        tree = json.loads(data[8 : 8 + length])
    except (ValueError, RecursionError):
        return None
    return (tree, data[8 + length :]) if isinstance(tree, dict) else None


def _sealed(header: bytes, content: bytes) -> bytes:
    return len(header).to_bytes(8, "little") + header + content


def _fitted(tree, size: int):
    """The last array ends where the file ends."""
    last = max((one for name, one in tree.items() if name != "__metadata__"),
               key=lambda one: one["data_offsets"][1])  # fmt: skip
    last["data_offsets"][1] = size
    last["shape"] = [max(size - last["data_offsets"][0], 0) // 8]
    return tree


def _changed_numbers(rng: random.Random, content: bytes) -> bytes:
    at = rng.randrange(len(content) // 8 + 1) * 8
    number = rng.choice([np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -0.0, 1e200, -1.0])
    if rng.random() < 0.3:
        whole = rng.choice(WHOLE) % 2**64
        return content[:at] + whole.to_bytes(8, "little") + content[at + 8 :]
    return content[:at] + np.float64(number).tobytes() + content[at + 8 :]


_TOKENS = [
    b"0", b"-1", b"1", b"2", b"3", b"1000000", b"16777216", b"16777217", b"2147483647",
    b"99999999999", b"9" * 18, b"9" * 19, b"1e308", b"-1e308", b"1e400", b"nan", b"inf", b"0x10",
    b"1_0", b"", b"label", b"w", b"rho 1", b"nr_class 0", b"solver_type MCSVM_CS", b"bias -1",
    b"1:1", b"0:1", b"2:1e308", b"a:b", b"#", b"\xff", b"\0", b"regression# kernel parameter -u",
    b"L2R_L1LOSS_SVR", b"ONECLASS_SVM", b"svm_type c_svc", b"SVM-light Version V6.02", *BYTES,
]  # fmt: skip


def _changed_text(rng: random.Random, data: bytes) -> bytes:
    """A word or a line changed, doubled, taken out, or moved."""
    lines = data.split(b"\n")
    k, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(6)
    if kind < 3:
        words = lines[k].split(b" ")
        words[rng.randrange(len(words))] = rng.choice(_TOKENS)
        lines[k] = b" ".join(words)
    elif kind == 3:
        del lines[k]
    elif kind == 4:
        lines.insert(other, lines[k])
    else:
        lines[k], lines[other] = lines[other], lines[k]
    return b"\n".join(lines)
