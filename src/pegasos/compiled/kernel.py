"""``@kernel`` and ``@verb``: the only two ways in which this library compiles anything.

A *kernel* is a free function over arrays, compiled at its first call and cached on disk.
A *verb* is a small operation (``dot``, ``value``) with one implementation for each type of its
first argument. Both are ordinary Python functions underneath: with ``NUMBA_DISABLE_JIT=1`` all of
them run, slowly and with the same results.
"""

from __future__ import annotations

import functools
import hashlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.extending import intrinsic, overload

log = logging.getLogger("pegasos")

# Sums may be reordered and fused; NaN and infinity keep their meaning: no "nnan", "ninf", "afn",
# and no "nsz", with which "reassoc" folds the x − x of np.isfinite(x) to zero.
FAST = {"reassoc", "contract", "arcp"}
OPTIONS: Any = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": FAST,
    # Kernels allocate nothing, so nothing is counted: each array that a verb takes out of its rows
    # would else cost two atomic operations, a row of text half its time.
    "_nrt": False,
    "no_cfunc_wrapper": True,  # nobody calls from C, and each costs a fiftieth of a second
}
INLINED = OPTIONS | {"forceinline": True}

# The rooms that a kernel may reach; those above them hold no compiled code.
COMPILED_ROOMS = (
    *("compiled", "rows", "losses.py", "data"),
    *("problem.py", "certificate.py", "solvers"),
)

PLAIN: bool = getattr(numba.config, "DISABLE_JIT", False)  # NUMBA_DISABLE_JIT=1
KERNELS: list[Any] = []
_NO_CACHE_SAID: list[str] = []


@functools.cache
def source_stamp() -> str:
    """A hash of every source file that a kernel may inline.

    Numba stamps a cache with the file of the decorated function alone, so an edit to a verb in
    another file would leave stale machine code running.
    """
    home = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for room in COMPILED_ROOMS:
        path = home / room
        for source in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(source.relative_to(home).as_posix().encode() + b"\0")
            digest.update(source.read_bytes() + b"\0")
    return digest.hexdigest()


class KeyedFiles(IndexDataCacheFile):
    """Cache files named by what they hold.

    Numba numbers them, so that two processes that compile at once may give one name to two
    different functions, and a third that loads it crashes.
    """

    def save(self, key, data):
        name = hashlib.sha256(repr((self._source_stamp, key)).encode()).hexdigest()[:20] + ".nbc"
        name = f"{self._index_name.removesuffix('.nbi')}.{name}"
        self._save_data(name, data)
        overloads = self._load_index()
        overloads[key] = name
        self._save_index(overloads)

    def _load_index(self):
        """What is stored: nothing where it cannot be read, which the next save then mends.

        An index of earlier sources may name classes that are gone.
        """
        try:
            return super()._load_index()
        except Exception:
            return {}


class SourceCache(FunctionCache):
    """Numba's on-disk cache, valid for exactly the sources that it was compiled from."""

    def __init__(self, function: Callable):
        super().__init__(function)
        self._cache_file = KeyedFiles(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=source_stamp(),
        )

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # a damaged cache file costs a compilation, never a fit
            _no_cache(str(error))
            return None

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except Exception as error:
            _no_cache(str(error))


def _no_cache(why: str) -> None:
    """Say once that there is no cache, whatever the reasons are."""
    if not _NO_CACHE_SAID:
        _NO_CACHE_SAID.append(why)
        log.warning(
            "compiled code is not cached, so every new process compiles it again; "
            "set NUMBA_CACHE_DIR to a writable folder (%s)",
            why,
        )


def kernel(function: Callable) -> Any:
    """Compile at the first call: without the GIL, cached, fast-math with honest NaN."""
    compiled = numba.njit(**OPTIONS)(function)
    if compiled is not function:
        source_stamp()
        try:
            compiled._cache = SourceCache(function)
        except (RuntimeError, OSError):
            _no_cache("no cache folder is writable")
        KERNELS.append(compiled)
    return compiled


def inlined(function: Callable) -> Any:
    """A small function for kernels to call, copied into each of them."""
    return numba.njit(**INLINED)(function)


def verb(declaration: Callable) -> Any:
    """A function with one implementation for each type of its first argument.

    ``@verb def dot(rows, i, w)`` declares it, ``@dot.of(CSR)`` implements it for a NamedTuple.
    Compiled callers choose when they are typed, plain Python callers when they call.
    """
    table: dict[type, Callable] = {}

    @functools.wraps(declaration)
    def plain(*arguments):
        return table[type(arguments[0])](*arguments)

    def choose(*argument_types):
        # A NamedTuple whose fields all have one type is a different Numba type, so ask for the
        # class it was made from.
        first: Any = argument_types[0]
        if isinstance(first, types.BaseNamedTuple):
            return table.get(first.instance_class)  # type: ignore[attr-defined]
        return None

    overload(plain, jit_options=INLINED, strict=False)(choose)

    def of(cls: type) -> Callable:
        twins = [c for c in table if c is not cls and _alike(c, cls)]
        if twins:
            raise TypeError(
                f"{cls.__name__} of {cls.__module__} and of {twins[0].__module__} have as many "
                "fields, and compiled code cannot tell them apart: rename one"
            )

        def register(implementation: Callable) -> Callable:
            table[cls] = implementation
            return implementation

        return register

    plain.of = of  # type: ignore[attr-defined]
    return plain


def _alike(one: Any, other: Any) -> bool:
    """Whether compiled code may take one NamedTuple for the other: it does not look at modules,
    nor at the names of fields where all of them have one type."""
    return (one.__name__, len(one._fields)) == (other.__name__, len(other._fields))


@intrinsic
def _unsigned(typing_context, index):
    size = index.bitwidth
    result = types.Integer.from_bitwidth(size, signed=False)

    def codegen(context, builder, signature, arguments):
        return arguments[0]

    return result(index), codegen


def _plain_unsigned(index):
    return int(index)


# An index that is known not to be negative: compiled code then skips the wrap-around, which costs
# half the speed of a loop. (An intrinsic, and not an overload, because it compiles in no time.)
unsigned: Any = _plain_unsigned if PLAIN else _unsigned


@functools.cache
def _thread_pools() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def limit_blas():
    """One BLAS thread for a block of code: it runs its own threads, and the bits stay the same."""
    return _thread_pools().limit(limits=1, user_api="blas")
