"""The obvious twin of the svmlight reader: one regular expression, ``float``, and lists."""

import re

import numpy as np

NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
LINE = re.compile(
    rf"[ \t\r]*(?P<label>[^\s,:#]+)(?:[ \t\r]+qid:(?P<qid>[0-9]+))?"
    rf"(?P<entries>(?:[ \t\r]+[0-9]+:{NUMBER})*)[ \t\r]*"
)


class Bad(Exception):
    """A line that is not as it should be; its number."""


def naive_svmlight(text, dtype=np.float32, zero_based="auto"):
    """X as (pointers, indices, values), y, groups, the base; ``Bad`` for a line that is wrong."""
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.split("#")[0]
        if not line.strip(" \t\r"):
            continue
        found = LINE.fullmatch(line)
        if not found:
            raise Bad(number)
        entries = [part.split(":") for part in found["entries"].split()]
        rows.append((number, found["label"], found["qid"], entries))
    return assemble(rows, dtype, zero_based)


def assemble(rows, dtype, zero_based):
    every = [int(index) for _, _, _, entries in rows for index, _ in entries]
    base = 0 if zero_based is True or (zero_based == "auto" and 0 in every) else 1
    pointers, indices, values, groups = [0], [], [], []
    for number, _, qid, entries in rows:
        before = base - 1
        if (qid is None) != (rows[0][2] is None):
            raise Bad(number)
        for index, value in entries:
            with np.errstate(over="ignore"):
                value = dtype(float(value))
            if int(index) <= before or not np.isfinite(value):
                raise Bad(number)
            before = int(index)
            indices.append(before - base)
            values.append(value)
        pointers.append(len(values))
        groups.append(qid)
    X = (pointers, indices, np.array(values, dtype))
    y = np.array([label for _, label, _, _ in rows])
    if all(re.fullmatch(NUMBER, label) for label in y.tolist()):
        y = y.astype(np.float64)
    return X, y, None if not rows or rows[0][2] is None else [int(g) for g in groups], base
