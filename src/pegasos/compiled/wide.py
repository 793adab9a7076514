"""Whole machine words: eight bytes at once, products of 128 bits, and where a word's ones begin.

Everything here is about unsigned 64-bit integers, so that nothing depends on floating point.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from pegasos.compiled.kernel import PLAIN

_WORD = ir.IntType(64)


@intrinsic
def _word_at(typing_context, text, index):
    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), _WORD.as_pointer())
        word = builder.load(address, align=1)
        return word if sys.byteorder == "little" else builder.bswap(word)

    return types.uint64(text, index), codegen


def _plain_word_at(text, index):
    """Little-endian, so that the first byte of the text is the lowest of the word."""
    start = int(index)
    return np.uint64(int.from_bytes(text[start : start + 8].tobytes(), "little"))


@intrinsic
def _high_product(typing_context, a, b):
    def codegen(context, builder, signature, arguments):
        double = ir.IntType(128)
        product = builder.mul(*(builder.zext(word, double) for word in arguments))
        return builder.trunc(builder.lshr(product, double(64)), _WORD)

    return types.uint64(types.uint64, types.uint64), codegen


def _plain_high_product(a, b):
    return np.uint64((int(a) * int(b)) >> 64)


@intrinsic
def _leading_zeros(typing_context, word):
    def codegen(context, builder, signature, arguments):
        return builder.ctlz(arguments[0], ir.IntType(1)(0))

    return types.uint64(types.uint64), codegen


def _plain_leading_zeros(word):
    return np.uint64(64 - int(word).bit_length())


@intrinsic
def _trailing_zeros(typing_context, word):
    def codegen(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.IntType(1)(0))

    return types.uint64(types.uint64), codegen


def _plain_trailing_zeros(word):
    word = int(word)
    return np.uint64((word & -word).bit_length() - 1 if word else 64)


# The eight bytes of a text that begin at an index; the caller knows that they are there.
word_at: Any = _plain_word_at if PLAIN else _word_at
# The upper 64 bits of a product; ``a * b`` gives the lower ones.
high_product: Any = _plain_high_product if PLAIN else _high_product
# How many zero bits stand above the highest one, and below the lowest; 64 for zero.
leading_zeros: Any = _plain_leading_zeros if PLAIN else _leading_zeros
trailing_zeros: Any = _plain_trailing_zeros if PLAIN else _trailing_zeros
