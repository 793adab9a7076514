"""What Numba needs and no mathematics: ``@kernel``, verbs, prefetch, memory, random numbers."""

from pegasos.compiled.drawing import draw, lower_chance, set_chance, sum_tree
from pegasos.compiled.kernel import KERNELS, inlined, kernel, limit_blas, unsigned, verb
from pegasos.compiled.memory import LINE, aligned
from pegasos.compiled.prefetch import fetch
from pegasos.compiled.random import below, draw_below, generator, next_bits, shuffle, shuffle_all
from pegasos.compiled.selection import part, weighted_crossing

__all__ = [
    "KERNELS",
    "LINE",
    "aligned",
    "below",
    "draw",
    "draw_below",
    "fetch",
    "generator",
    "inlined",
    "kernel",
    "limit_blas",
    "lower_chance",
    "next_bits",
    "part",
    "set_chance",
    "shuffle",
    "shuffle_all",
    "sum_tree",
    "unsigned",
    "verb",
    "weighted_crossing",
]
