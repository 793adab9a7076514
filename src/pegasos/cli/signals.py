"""Ctrl-C and SIGTERM: both stop a command in the same way."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def sigterm_as_ctrl_c() -> Iterator[list[int]]:
    """Let SIGTERM do what Ctrl-C does; the list tells afterwards whether one came."""
    came: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        came.append(number)
        listener = signal.getsignal(signal.SIGINT)
        if not callable(listener):
            raise KeyboardInterrupt
        listener(signal.SIGINT, frame)

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # not in the main thread: signals are none of our business
        yield came
        return
    try:
        yield came
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def ctrl_c_heard() -> Iterator[None]:
    """Let somebody listen to Ctrl-C also where the shell wants it ignored, as in ``command &``.

    It stays ignored, for it is held back; but who stops on Ctrl-C is there to be told of SIGTERM.
    Threads that begin within the block hold it back too: so let it be the first thing of all.
    """
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    here = threading.current_thread() is threading.main_thread()
    if not (ignored and here and hasattr(signal, "pthread_sigmask")):  # Windows has none
        yield
        return
    held = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # which drops what was held back
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
