"""``fetch(array, k)``: ask the memory for element k now, to use it a few rows later.

Rows in random order miss every cache. Asking for them eight rows ahead is worth a factor of three
to four in a pass; nothing is computed, and plain Python does nothing at all.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from pegasos.compiled.kernel import PLAIN

_TO_READ, _KEEP, _DATA = 0, 3, 1


@intrinsic
def _fetch(typing_context, array, index):
    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte = ir.IntType(8).as_pointer()
        flag = ir.IntType(32)
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [address, flag(_TO_READ), flag(_KEEP), flag(_DATA)])

    return types.void(array, index), codegen


def _plain_fetch(array, index):
    """Nothing to do."""


fetch: Any = _plain_fetch if PLAIN else _fetch
