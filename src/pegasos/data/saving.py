"""Files and folders that are complete or absent: whatever stops the writing, never half.

They are written under a temporary name in the same folder, ``.NAME.RANDOM.tmp``, forced to the
disk, and given their own name in one step. If the writing fails, or is interrupted, what was
written is removed. A process that is killed cannot remove anything, but it leaves nothing except
the temporary, and the next writer of the same name removes that: the living hold a lock on theirs.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from pegasos.data.examples import DataError

try:
    import fcntl
except ImportError:  # not on Windows: there what a killed process left stays where it is
    fcntl = None  # type: ignore[assignment]

# The errors of a full disk: nobody who only reads ever meets them.
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextlib.contextmanager
def saved_file(path: str | os.PathLike, force: bool = False) -> Iterator[BinaryIO]:
    """A binary file to write, which takes its name when the block ends without an error.

    Parameters
    ----------
    path : path
        Where the file will be. Behind a symbolic link, what it points to is replaced.
    force : bool, default=False
        Whether a file of this name may be replaced.

    Yields
    ------
    file : binary file
        The temporary file, at ``file.name``.

    Raises
    ------
    DataError
        If the file exists already and ``force`` is not set, if it cannot be made, or if the disk
        is full. Nothing is left behind.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from pegasos.data.saving import saved_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with saved_file(f"{folder}/answer") as file:
    ...         _ = file.write(b"42")
    ...     pathlib.Path(folder, "answer").read_bytes()
    b'42'
    """
    target = _target(path)
    _refuse_to_replace_file(target, force)
    _remove_leftovers(target)
    temporary = _temporary_name(target)
    with _sentence(target, temporary):
        with open(temporary, "xb") as file:
            _claim(file.fileno())
            yield file
            file.flush()
            os.fsync(file.fileno())
        _refuse_to_replace_file(target, force)
        os.replace(temporary, target)
        _force_to_disk(target.parent)


@contextlib.contextmanager
def saved_folder(
    path: str | os.PathLike,
    force: bool = False,
    objection: Callable[[Path], str | None] = lambda path: "it is a folder",
) -> Iterator[Path]:
    """A folder to fill with files, which takes its name when the block ends without an error.

    Parameters
    ----------
    path : path
        Where the folder will be.
    force : bool, default=False
        Whether a folder of this name may be replaced, if there is no objection.
    objection : callable, optional
        What speaks against the removal of the folder that is there, or None. By default anything
        does.

    Yields
    ------
    folder : Path
        The temporary folder.

    Raises
    ------
    DataError
        If something has the name that may not be replaced, if the folder cannot be made, or if the
        disk is full. Nothing is left behind.
    """
    target = _target(path)
    _bring_back(target)
    _refuse_to_replace_folder(target, force, objection)
    _remove_leftovers(target)
    temporary = _temporary_name(target)
    with _sentence(target, temporary):
        os.mkdir(temporary)
        with _claimed_folder(temporary):
            yield temporary
            for file in temporary.iterdir():
                _force_to_disk(file)
            _force_to_disk(temporary)
            _refuse_to_replace_folder(target, force, objection)
            _exchange(temporary, target)
            _force_to_disk(target.parent)


def _target(path: str | os.PathLike) -> Path:
    """The place itself, where the path is a link to it."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise DataError(f"cannot write {path}: there is no folder {target.parent}; make it first")
    return target


def _refuse_to_replace_file(target: Path, force: bool) -> None:
    if target.is_dir():
        raise DataError(f"cannot write {target}: it is a folder; give another name")
    if not target.exists():
        return
    if not target.is_file():
        raise DataError(f"cannot write {target}: it is not a regular file; give another name")
    if not force:
        raise _exists(target)


def _refuse_to_replace_folder(
    target: Path, force: bool, objection: Callable[[Path], str | None]
) -> None:
    if not os.path.lexists(target):
        return
    if not target.is_dir():
        raise DataError(f"cannot write {target}: it is a file; give another name")
    against = objection(target)
    if against is not None:
        raise DataError(f"{target} is not replaced: {against}; give another name")
    if not force:
        raise _exists(target)


def _exists(target: Path) -> DataError:
    return DataError(
        f"{target} exists already; give another name, or force=True (--force) to replace it"
    )


def _temporary_name(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")


def _relatives(target: Path, ending: str) -> Iterator[Path]:
    """What earlier writers of the target have left, or still write."""
    ours = re.compile(re.escape(f".{target.name}.") + "[0-9a-f]{16}" + re.escape(ending))
    for name in os.listdir(target.parent):
        if ours.fullmatch(name):
            yield target.parent / name


@contextlib.contextmanager
def _sentence(target: Path, temporary: Path) -> Iterator[None]:
    """Remove the temporary on any failure, and say it in a sentence if the disk is the cause."""
    try:
        yield
    except BaseException as error:
        _remove(temporary)
        if isinstance(error, OSError):
            if error.errno in _NO_ROOM:
                raise DataError(
                    f"no space left while writing {target}; nothing was left behind; "
                    "make room or give another place"
                ) from error
            if error.filename is not None and Path(os.fsdecode(error.filename)) == temporary:
                raise DataError(f"cannot write {target}: {error.strerror}") from error
        raise


def _remove(path: Path) -> None:
    """Remove a file or a folder with what is in it, as far as that goes."""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def _remove_leftovers(target: Path) -> None:
    """Remove the temporaries of processes that are gone."""
    with contextlib.suppress(OSError):
        for path in _relatives(target, ".tmp"):
            if _abandoned(path):
                _remove(path)


def _bring_back(target: Path) -> None:
    """Undo or finish the replacement of a folder that a killed process began."""
    with contextlib.suppress(OSError):
        for old in _relatives(target, ".old"):
            if not _abandoned(old):
                continue
            if os.path.lexists(target):
                _discard(old)
            else:
                os.rename(old, target)


def _exchange(temporary: Path, target: Path) -> None:
    """Give the temporary the target's name; a folder of that name is put aside, then removed."""
    if not target.is_dir():
        os.rename(temporary, target)
        return
    old = temporary.with_suffix(".old")
    with _claimed_folder(target):
        os.rename(target, old)
        try:
            os.rename(temporary, target)
        except BaseException:
            os.rename(old, target)
            raise
        _discard(old)


def _discard(old: Path) -> None:
    """Remove what was put aside, under a name from which nobody brings it back by half."""
    gone = old.with_suffix(".tmp")
    os.rename(old, gone)
    _remove(gone)


@contextlib.contextmanager
def _claimed_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of the living on a folder."""
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        _claim(handle)
        yield
    finally:
        os.close(handle)


def _claim(handle: int) -> None:
    """Hold the lock of the living until the handle is closed, or the process ends."""
    if fcntl is not None:
        with contextlib.suppress(OSError):  # where a file system has no locks, nobody removes
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)


def _abandoned(path: Path) -> bool:
    """Whether nobody holds the lock of the living on it."""
    if fcntl is None:
        return False
    try:
        if not stat.S_ISREG(path.lstat().st_mode) and not stat.S_ISDIR(path.lstat().st_mode):
            return False
        handle = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(handle)
    except OSError:
        return False
    return True


def _force_to_disk(path: Path) -> None:
    """Have what was written survive a power cut. (Windows cannot open a folder for that.)"""
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
