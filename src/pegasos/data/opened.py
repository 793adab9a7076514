"""Files opened by what they hold: plain, or packed by gzip, bzip2, xz or Zstandard.

The first bytes say which, never the name. What is read is what was packed; whatever is wrong with
the file, or with its packing, is a ``DataError`` that names it.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO

from pegasos.data.examples import DataError

_BUFFER = 1 << 16
_LEAST_SIP, _MOST_SIP = 1 << 8, 1 << 10  # of zst at a time: each 4 bytes may become 128 kB,
_GULP = 1 << 20  # and this is enough

# How packed files begin, and what they are called in sentences and endings.
MAGIC = {
    b"\x1f\x8b\x08": "gz",
    b"BZh": "bz2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zst",
}
_BZIP2_BLOCKS = (b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90")  # one, or the end


def packing_of(head: bytes) -> str:
    """How a file is packed that begins with these bytes: gz, bz2, xz, zst, or "" for plain."""
    for magic, packing in MAGIC.items():
        if head.startswith(magic) and (packing != "bz2" or head[4:10] in _BZIP2_BLOCKS):
            return packing
    return ""


def open_binary(source: str | os.PathLike | BinaryIO) -> Opened:
    """Open a file, by its path or as an open binary file, and unpack it while it is read.

    Parameters
    ----------
    source : path or binary file
        An open file is read from where it stands, and is left open.

    Returns
    -------
    file : Opened
        A binary file: ``read``, ``readinto``, ``readline``, ``with``; only forwards.

    Raises
    ------
    DataError
        If there is no such file, if it cannot be opened, and, while it is read, if what is packed
        is damaged or ends too early.

    Examples
    --------
    >>> import gzip, io
    >>> from pegasos.data.opened import open_binary
    >>> with open_binary(io.BytesIO(gzip.compress(b"1 1:0.5"))) as file:
    ...     file.packing, file.read()
    ('gz', b'1 1:0.5')
    """
    if isinstance(source, (str, bytes, os.PathLike)):
        return Opened(_Unpacked(_open_path(source), os.fspath(source)))
    if not hasattr(source, "read"):
        raise TypeError(f"a path or an open binary file is needed, not {type(source).__name__}")
    return Opened(_Unpacked(io.BufferedReader(_Borrowed(source), _BUFFER), name_of(source)))


def name_of(source: Any) -> str:
    """What a source is called in sentences."""
    if isinstance(source, (str, bytes, os.PathLike)):
        return os.fsdecode(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "the open file"


def _open_path(path: Any) -> Any:
    name = os.fsdecode(path)
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            raise DataError(f"{name} is a folder, not a file; name a file in it")
        return open(path, "rb", buffering=_BUFFER)
    except FileNotFoundError:
        raise DataError(f"{name}: there is no such file") from None
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        why = getattr(error, "strerror", None) or error
        raise DataError(f"{name!a} cannot be opened: {why}") from None


class _Borrowed(io.RawIOBase):
    """An open file of somebody else, who will close it."""

    def __init__(self, file: BinaryIO):
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, view: Any) -> int:
        found = self._file.read(len(view))
        if isinstance(found, str):
            raise DataError(f"{name_of(self._file)} is open as text; open it with mode 'rb'")
        view[: len(found)] = found
        return len(found)


class _Zstandard(io.RawIOBase):
    """The content of a zst file. (The package's own reader takes a cut file for a whole one.)"""

    def __init__(self, file: io.BufferedReader):
        try:
            import zstandard
        except ImportError:
            raise DataError("reading zst needs zstandard: pip install 'pegasos[data]'") from None
        self._make = zstandard.ZstdDecompressor().decompressobj
        self._file = file
        self._frame: Any = None
        self._sip = _LEAST_SIP
        self._waiting = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, view: Any) -> int:
        given = 0
        while given < len(view) and (self._waiting or self._more()):
            part = self._waiting[: len(view) - given]
            view[given : given + len(part)] = part
            given += len(part)
            self._waiting = self._waiting[len(part) :]
        return given

    def _more(self) -> bool:
        """Unpack a little; False at the end of the file."""
        while not self._waiting:
            packed = b""
            if self._frame is not None and self._frame.eof:
                packed, self._frame = self._frame.unused_data, None
            packed = packed or self._file.read(self._sip)
            if not packed:
                if self._frame is not None:
                    raise EOFError
                return False
            if self._frame is None:
                self._frame = self._make()
            self._waiting = memoryview(self._frame.decompress(packed))
            sip = self._sip * 2 if len(self._waiting) < _GULP else self._sip // 2
            self._sip = min(max(sip, _LEAST_SIP), _MOST_SIP)
        return True


_UNPACK: dict[str, Callable[[Any], Any]] = {
    "": lambda file: file,
    "gz": lambda file: gzip.GzipFile(fileobj=file),
    "bz2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
    "zst": _Zstandard,
}


class _Unpacked(io.RawIOBase):
    """What a file holds, unpacked; failures become sentences."""

    def __init__(self, file: io.BufferedReader, name: Any):
        self._file = file
        self.name = os.fsdecode(name)
        self.given = 0
        try:
            self.packing = packing_of(file.peek(16))
            self._inner = _UNPACK[self.packing](file)
            self._size = self._length()
        except BaseException:
            file.close()
            raise

    def _length(self) -> int:
        """The length of the file as it lies there; 0 if it is none on a disk."""
        try:
            about = os.fstat(self._file.fileno())
        except OSError:
            return 0
        return about.st_size if stat.S_ISREG(about.st_mode) else 0

    def readable(self) -> bool:
        return True

    def readinto(self, view: Any) -> int:
        try:
            count = self._inner.readinto(view)
        except EOFError:
            raise DataError(
                f"{self.name}: the {self.packing} data ends too early, after {self.given:,} bytes "
                "of content; the file is incomplete: fetch it again"
            ) from None
        except DataError:
            raise
        except Exception as error:
            if not _is_damage(error):
                raise
            raise DataError(
                f"{self.name}: the {self.packing} data is damaged after {self.given:,} bytes of "
                f"content ({error}); fetch it again"
            ) from None
        self.given += count
        return count

    def fraction(self) -> float | None:
        """How much of the file has been read, from 0 to 1; None where that is not known."""
        return min(self._file.tell() / self._size, 1.0) if self._size else None

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
            self._file.close()
        super().close()


def _is_damage(error: Exception) -> bool:
    """Whether this is about what is packed, and not about the disk or a fault of ours."""
    if isinstance(error, OSError):
        return error.errno is None
    return isinstance(error, (zlib.error, lzma.LZMAError)) or type(error).__name__ == "ZstdError"


class Opened(io.BufferedReader):
    """The content of a file, whether packed or not.

    Attributes
    ----------
    name : str
        What the file is called in sentences.
    packing : {"", "gz", "bz2", "xz", "zst"}
        How it is packed.
    fraction : callable
        How much of the file has been read, from 0 to 1; None where that is not known.
    """

    def __init__(self, unpacked: _Unpacked):
        super().__init__(unpacked, _BUFFER)
        self.packing = unpacked.packing
        self.fraction = unpacked.fraction
