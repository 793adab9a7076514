"""What must hold for every input, whoever reads it.

An answer, or one sentence; within a memory that is in proportion to the input; nothing executed,
nothing written. That it neither crashes nor hangs is watched from outside (``run.py``).
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import resource
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

FREE, PER_BYTE = 64 << 20, 50  # bytes of memory: for any input, and for each of its bytes
LONGEST_SENTENCE = 2000

# What reading never does: audit events of Python (a write is told by how a file is opened).
NEVER = {
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.system",
    "pickle.find_class",
    "socket.connect",
    "subprocess.Popen",
}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Finding(AssertionError):
    """Something that must never happen."""


class Limits:
    """Whether they hold: not while code is compiled, read from its cache, and imported."""

    hold = True


@contextlib.contextmanager
def no_limits() -> Iterator[None]:
    """Warm up: memory and what is executed do not count."""
    Limits.hold = False
    try:
        yield
    finally:
        Limits.hold = True


class _Watch:
    """An audit hook, which cannot be removed, and whether it listens."""

    def __init__(self) -> None:
        self.listens = False
        self.installed = False
        self.heard: list[str] = []

    def hear(self, event: str, arguments: tuple) -> None:
        if not self.listens:
            return
        if event in NEVER and not _of_the_cache():
            self.heard.append(f"{event}{arguments!r}"[:300])
        if event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITES:
            path = str(arguments[0])
            if "__pycache__" not in path and path != os.devnull:  # compiled code is kept there
                self.heard.append(f"open for writing: {path!r}"[:300])


def _of_the_cache() -> bool:
    """Whether Numba is reading compiled code, which it has pickled itself."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename.endswith(os.path.join("numba", "core", "caching.py")):
            return True
        frame = frame.f_back
    return False


_watch = _Watch()


@contextlib.contextmanager
def nothing_executed() -> Iterator[None]:
    """Finding if a process is started, a pickle opened, a file written, while this lasts."""
    if not _watch.installed:
        sys.addaudithook(_watch.hear)
        _watch.installed = True
    _watch.heard.clear()
    _watch.listens = True
    try:
        yield
    finally:
        _watch.listens = False
    if _watch.heard and Limits.hold:
        raise Finding("; ".join(_watch.heard[:5]))


@contextlib.contextmanager
def bounded_memory(size: int) -> Iterator[None]:
    """Let no more be allocated than is in proportion to an input of so many bytes."""
    if not Limits.hold:
        yield
        return
    room = FREE + PER_BYTE * size
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + room, hard))
    try:
        yield
    except (MemoryError, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.ENOMEM:
            raise
        raise Finding(f"more than {room >> 20} MB for {size} bytes") from error
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def check_sentence(error: BaseException) -> str:
    """The text of an error, which must be one printable line."""
    text = str(error)
    if len(text.splitlines()) != 1 or not text.isprintable():
        raise Finding(f"not one printable line: {text!r}") from error
    if len(text) > LONGEST_SENTENCE:
        raise Finding(f"a sentence of {len(text)} characters: {text[:200]!r}") from error
    return text


def signature(error: BaseException) -> str:
    """The same for all inputs that show the same fault: the kind, the sentence, and the place."""
    here = str(Path(__file__).parent)
    frames = traceback.extract_tb(error.__traceback__)
    if error.__cause__ is not None:
        frames += traceback.extract_tb(error.__cause__.__traceback__)
    places = [f for f in frames if "pegasos" in f.filename and not f.filename.startswith(here)]
    place = f"{Path(places[-1].filename).name}:{places[-1].name}" if places else "the harness"
    words = re.sub(r"/[^ :]*/", "", str(error))
    words = re.sub(r"0x[0-9a-f]+|[0-9]+", "0", words)
    words = re.sub(r"'[^']*'|\"[^\"]*\"", "'…'", words)
    return f"{type(error).__name__} in {place}: {words[:80]}"
