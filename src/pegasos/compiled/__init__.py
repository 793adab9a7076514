"""What Numba needs and no mathematics: ``@kernel``, verbs, prefetch, random numbers, selection."""

from pegasos.compiled.kernel import KERNELS, inlined, kernel, limit_blas, unsigned, verb
from pegasos.compiled.prefetch import fetch
from pegasos.compiled.random import below, generator, next_bits, shuffle
from pegasos.compiled.selection import weighted_crossing

__all__ = [
    "KERNELS",
    "below",
    "fetch",
    "generator",
    "inlined",
    "kernel",
    "limit_blas",
    "next_bits",
    "shuffle",
    "unsigned",
    "verb",
    "weighted_crossing",
]
