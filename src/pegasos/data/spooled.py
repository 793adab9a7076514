"""What can be read only once, such as a pipe, as a file that can be read again: a temporary copy.

What a source is, is found out from its beginning, and some readers go over it twice. A pipe would
have lost that beginning by then. So it is copied first, as a whole, and the copy is read; sentences
name the pipe. ``copies_kept`` lets several calls share one copy.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from pegasos.data.examples import DataError

STDIN = "/dev/stdin"
_PART = 1 << 20  # bytes that are copied at a time


class Copy:
    """A temporary file with all that came out of a pipe. It goes when it is closed, or forgotten.

    Attributes
    ----------
    name : str
        What was copied.
    path : str
        The copy.
    """

    def __init__(self, name: str):
        self.name = name
        self._file: Any = tempfile.NamedTemporaryFile(prefix="pegasos-")  # noqa: SIM115
        self.path: str = self._file.name
        self._kept = False
        try:
            with _opened(name) as source:
                shutil.copyfileobj(source, self._file, _PART)
            self._file.flush()
        except OSError as error:
            self._file.close()
            raise DataError(
                f"{name} cannot be copied to {self.path}, from where it would be read: "
                f"{error.strerror or error}"
            ) from error
        except BaseException:
            self._file.close()
            raise

    def keep(self) -> Copy:
        """The same copy, which stays when a reader is done with it."""
        self._kept = True
        return self

    def done(self) -> None:
        """A reader needs it no more."""
        if not self._kept:
            self.close()

    def close(self) -> None:
        """Remove the copy."""
        self._file.close()


_KEPT: ContextVar[dict[str, Copy] | None] = ContextVar("copies that are kept", default=None)


@contextlib.contextmanager
def copies_kept() -> Iterator[None]:
    """Within the block, whatever can be read only once is copied once, however often it is read."""
    copies: dict[str, Copy] = {}
    token = _KEPT.set(copies)
    try:
        yield
    finally:
        _KEPT.reset(token)
        for copy in copies.values():
            copy.close()


def copy_of(path: str, alone: bool = True) -> Copy | None:
    """A copy of what can be read only once; None of a file, of a folder, and of nothing.

    ``alone``: also where it is for nobody else, and what was read would be lost with the copy.
    """
    kept = _KEPT.get()
    if kept is not None and path in kept:
        return kept[path]
    if not only_once(path) or not (alone or kept is not None):
        return None
    if kept is None:
        return Copy(path)
    return kept.setdefault(path, Copy(path).keep())


def only_once(path: str) -> bool:
    """Whether this is neither a file nor a folder, but there."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def refuse_only_once(path: str) -> None:
    """A sentence for what would be opened twice."""
    if only_once(path):
        raise DataError(f"{path} is no file, and can be read only once: pegasos.data.load reads it")


@contextlib.contextmanager
def named_rightly(copy: Copy) -> Iterator[None]:
    """Sentences about a copy are about what was copied."""
    try:
        yield
    except DataError as error:
        if copy.path not in str(error):
            raise
        raise DataError(str(error).replace(copy.path, copy.name)) from error.__cause__


def _opened(name: str) -> Any:
    """What can be read only once, open; a device that would never end is refused."""
    # The standard input itself: if it is a socket, no path leads to it.
    file = open(os.dup(0) if name == STDIN else name, "rb")  # noqa: SIM115
    mode = os.fstat(file.fileno()).st_mode
    endless = stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not file.isatty())
    if endless and not os.path.samefile(name, os.devnull):
        file.close()
        raise DataError(f"{name} is a device: name a file, a pipe or a store")
    return file
