"""Files from the net, kept in the user's cache: pooch brings them whole or not at all."""

from __future__ import annotations

import contextlib
import logging
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from pegasos.data.examples import DataError

Progress = Callable[[int, "int | None"], None]

_URL = re.compile(r"(https?|file)://", re.IGNORECASE)


def is_url(source: str | os.PathLike) -> bool:
    """Whether this is an address (http, https or file) and no path."""
    return isinstance(source, str) and _URL.match(source) is not None


def cache() -> Path:
    """The folder of what was downloaded: the user's cache."""
    return Path(_pooch().os_cache("pegasos"))


def local_path(url: str) -> tuple[str, tuple[str, ...]]:
    """The file behind an address, fetched once, and a note that says so."""
    if url.lower().startswith("file:"):
        return url2pathname(urlsplit(url).path), ()
    folder = cache() / "urls"
    name = _pooch().utils.unique_file_name(url)
    was_there = (folder / name).exists()
    path = download(url, folder / name)
    if was_there:
        return path, (f"read from the copy of {url} in {path}; delete it to fetch it again",)
    return path, (f"{url} was fetched to {path}",)


def download(
    url: str,
    path: Path,
    checksum: str | None = None,
    *,
    on_progress: Progress | None = None,
    instead: str = "fetch it by other means and name the file",
) -> str:
    """Bring a file from the net, unless it is there already with this checksum.

    Parameters
    ----------
    url : str
        Where it is.
    path : Path
        Where it will be: under a temporary name in the same folder until it is complete.
    checksum : str, optional
        ``md5:…`` or ``sha256:…``; what has another one is not kept.
    on_progress : callable, optional
        Called with the bytes so far and the bytes in all (None: not known).
    instead : str
        What to do if it cannot be had, for the sentence of the error.

    Returns
    -------
    path : str
        The file.
    """
    pooch = _pooch()
    bar = _Bar(on_progress) if on_progress is not None else False
    try:
        with _quiet(pooch):
            return pooch.retrieve(
                url,
                checksum,
                fname=path.name,
                path=path.parent,
                downloader=pooch.HTTPDownloader(progressbar=bar, timeout=60),
            )
    except (OSError, ValueError) as error:  # requests' errors are OSErrors
        if isinstance(error, ValueError) and "hash" in str(error).lower():
            raise DataError(
                f"{url} is not what it was: its checksum is not {checksum}; nothing was kept; "
                f"try again later, or {instead}"
            ) from error
        if isinstance(error, PermissionError) or getattr(error, "filename", None) is not None:
            raise DataError(
                f"{url} cannot be kept in {path.parent} ({_why(error)}); make the folder "
                "writable, or fetch it by other means and name the file"
            ) from error
        raise DataError(f"{url} cannot be fetched ({_why(error)}); {instead}") from error


def _why(error: Exception) -> str:
    """What went wrong, short: requests wraps its reasons in one another."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server says {response.status_code}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, PermissionError):  # pooch's own words are three sentences
        return "no permission"
    return {"ConnectionError": "no connection", "ConnectTimeout": "no answer"}.get(
        type(error).__name__, type(error).__name__
    )


class _Bar:
    """What pooch takes for a progress bar."""

    def __init__(self, on_progress: Progress):
        self.total: int | None = None
        self._so_far = 0
        self._on_progress = on_progress

    def update(self, count: int) -> None:
        self._so_far += count
        self._on_progress(self._so_far, self.total or None)

    def reset(self) -> None:
        self._so_far = 0

    def close(self) -> None:
        pass


@contextlib.contextmanager
def _quiet(pooch: Any) -> Iterator[None]:
    """Without pooch's own lines: it advises on code that is not the user's."""
    logger = pooch.get_logger()
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(before)


def _pooch() -> Any:
    try:
        import pooch
    except ImportError:
        raise DataError("fetching files needs pooch: pip install 'pegasos[data]'") from None
    return pooch
