"""How much memory there is, and how much of it the rows will take: estimated before they are read.

Text is judged by its first 4 MB. The rows alone are meant: what the program and the solver need
besides is left over by ``SHARE``, and is not in what the user allows.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

SHARE = 0.7  # of what is available: the solver, the labels and the system need some too
SAMPLE = 4 << 20  # bytes of text that are looked at
UNPACKED = 50  # a file grows by less than this when it is unpacked and parsed
PER_ROW = 40  # bytes besides the values: target, pointer, norm, dual variable, order


def available() -> int:
    """Bytes that this process may still take, by the system and by its control group."""
    limits = [_of_system()]
    for usage, limit in (
        ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.max"),
        (
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        ),
    ):
        with contextlib.suppress(OSError, ValueError):
            limits.append(int(Path(limit).read_text()) - int(Path(usage).read_text()))
    return max(min(limits), 0)


def _of_system() -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return 4 << 30


def needed(path: str, kind: str, dtype: str) -> float:
    """About how many bytes all rows of a file take in memory, looking at its beginning alone."""
    import numpy as np

    item = np.dtype(dtype).itemsize
    if kind in ("parquet", "arrow"):
        rows, columns = _of_table(path, kind)
        return rows * (columns * item + PER_ROW)
    text, total = _beginning(path)
    scale = total / max(len(text), 1)
    rows = text.count(b"\n") + 1
    if kind == "csv":
        return scale * rows * (_fields(text) * item + PER_ROW)
    return scale * (text.count(b":") * (item + 4) + rows * PER_ROW)


def _beginning(path: str) -> tuple[bytes, float]:
    """The beginning of what a file holds, and about how many bytes it holds in all."""
    from pegasos.data.opened import open_binary

    with open_binary(path) as file:
        text = file.read(SAMPLE)
        share = file.fraction()
    if len(text) < SAMPLE:
        return text, float(len(text))
    return text, len(text) / share if share else float(os.path.getsize(path))


def _fields(text: bytes) -> int:
    first = text.partition(b"\n")[0]
    return 1 + max(first.count(sign) for sign in (b",", b";", b"\t"))


def _of_table(path: str, kind: str) -> tuple[float, int]:
    """Rows and columns of a table; where it does not say how many rows it has, by its size."""
    from pegasos.data.table_files import open_table

    table = open_table(path, kind)
    columns = len(table.schema.names)
    return table.rows or os.path.getsize(path) / (4 * columns), columns
