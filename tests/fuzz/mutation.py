"""Inputs changed a little: bytes, and trees of JSON. All choices are drawn from the generator."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Sequence
from typing import Any

WHOLE = [0, 1, 2, 3, 7, 8, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32]
WHOLE += [2**40, 2**53, 2**62, 2**63 - 1, 2**63, 2**64, 10**30, -1, -2, -(2**31), -(2**63)]
SCALARS: list[Any] = [
    *WHOLE, None, True, False, 0.0, -0.0, 0.5, -1.5, 1e300, -1e300, 5e-324,
    float("nan"), float("inf"), "", "x", "0", "nan", "null", "..", "../x", "/etc/passwd", "a" * 300,
    "a\nb", "a\0b", "\ud800", "é", "\u202e", "<f4", "<f8", "<i4", "<i8", "|u1", "|b1", "|O", "F64",
    [], {}, [None], [[]], {"a": 1}, [1, 2, 3], [0.5, -0.5], ["a", "b"],
]  # fmt: skip
BYTES = [b"\0", b"\n", b"\xff", b"\x80", b" ", b":", b"#", b"-", b".", b"0", b"9", b"{", b"}", b'"']


def changed_bytes(rng: random.Random, data: bytes, tokens: Sequence[bytes] = BYTES) -> bytes:
    """One change: bytes flipped, put in, taken out, repeated, or exchanged."""
    a = rng.randint(0, len(data))
    b = min(a + rng.choice([1, 1, 2, 4, 8, 40]), len(data))
    kind = rng.randrange(7)
    if kind == 0 and a < len(data):
        return data[:a] + bytes([data[a] ^ (1 << rng.randrange(8))]) + data[a + 1 :]
    if kind == 1:
        return data[:a] + data[b:]
    if kind == 2:
        return data[:b] + data[a:b] * rng.choice([1, 2, 10]) + data[b:]
    if kind == 3:
        return data[:a]
    if kind == 4:
        c = rng.randint(0, len(data))
        return data[:a] + data[c : c + b - a] + data[b:]
    if kind == 5:
        return data[:a] + rng.choice(tokens) + data[b:]
    return data[:a] + rng.choice(tokens) + data[a:]


def changed_json(rng: random.Random, tree: Any) -> Any:
    """The tree with one node changed, taken away, doubled or exchanged for another."""
    tree = copy.deepcopy(tree)
    places = _places(tree)
    if not places:
        return rng.choice(SCALARS)
    parent, key = rng.choice(places)
    kind = rng.randrange(6)
    if kind == 0:
        del parent[key]
    elif kind == 1:
        other, its_key = rng.choice(places)
        parent[key] = copy.deepcopy(other[its_key])
    elif kind == 2 and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]))
    elif kind == 2:
        parent[rng.choice(["x", "", "file", "float", "array", "dict", "solver"])] = parent.pop(key)
    elif kind == 3 and type(parent[key]) is int:
        parent[key] += rng.choice([-1, 1, 8, -8, 1 << 32])
    elif kind == 4 and isinstance(parent[key], str):
        text = parent[key]
        a = rng.randint(0, len(text))
        parent[key] = text[:a] + rng.choice(["", "a", "0", "\0", "\ud800", "/"]) + text[a + 1 :]
    else:
        parent[key] = copy.deepcopy(rng.choice(SCALARS))
    return tree


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Each node but the root: what holds it, and under which key."""
    found: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict | list):
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            found += [(node, key) for key in keys]
            waiting += [node[key] for key in keys]
    return found


def json_text(rng: random.Random, tree: Any) -> bytes:
    """A tree as text; seldom nested far too deeply, or with a key that stands twice."""
    text = json.dumps(tree)
    kind = rng.randrange(40)
    if kind == 0:
        text = text.replace("null", "[" * 100_000 + "]" * 100_000, 1)
    elif kind == 1:
        text = text.replace("{", '{"version": 7, "shape": [2], ', 1)
    elif kind == 2:
        text = text.replace("1", "1" + "0" * 5000, 1)
    return text.encode()
