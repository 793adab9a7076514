"""What the shell can complete. Each list is imported only when the Tab key asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

LOSSES = (
    *("hinge", "squared_hinge", "logistic"),
    *("epsilon_insensitive", "squared_epsilon_insensitive"),
)
TASKS = ("classify", "regress")
BIASES = ("free", "feature", "none")
SCHEMES = ("ovr", "ovo")
FORMATS = ("pegasos", "liblinear", "svm-light", "onnx")
DTYPES = ("float32", "float64")
BASES = ("auto", "yes", "no")


def among(words: Iterable[str]) -> Callable[[str], list[str]]:
    """Complete one of a few words."""
    chosen = tuple(words)

    def complete(incomplete: str) -> list[str]:
        return [word for word in chosen if word.startswith(incomplete)]

    return complete


def solvers(incomplete: str) -> list[str]:
    """Complete the name of a solver."""
    from pegasos.solvers import REGISTRY

    return among(REGISTRY)(incomplete)


def solver_list(incomplete: str) -> list[str]:
    """Complete the last of several names."""
    before, comma, last = incomplete.rpartition(",")
    return [before + comma + name for name in solvers(last)]


def data_sets(incomplete: str) -> list[str]:
    """Complete the name of a data set."""
    from pegasos.datasets import names

    return among(names())(incomplete)
