"""The perceptron, and the mean of its w.

    present    row i; a mistake is y⟨w, x_i⟩ ≤ 0, a tie included
    mistake    w ← w + s̃_i y x_i
    averaged   w̄ = (1/T) Σ w_t, w_t as it is after presentation t

Rosenblatt 1958; Freund & Schapire 1999, "Large margin classification using the perceptron
algorithm": the averaged w weighs each w by how many rows it has survived, as their vote does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from pegasos.problem import Problem
from pegasos.solvers.contract import Solves
from pegasos.solvers.one_row import TARGET, WEIGHT, OneRowState, present
from pegasos.solvers.online import Online, learn


class Rule(NamedTuple):
    """A perceptron has no numbers of its own."""


@dataclass(frozen=True)
class Perceptron(Online):
    """The perceptron, plain or averaged.

    It has no regulariser and no margin, so the length of its w means nothing for the labels that
    it predicts. It is returned as the algorithm has it and not rescaled to suit the objective,
    which can therefore be larger than that of w = 0. Weights multiply what a mistake adds.

    Parameters
    ----------
    steps : int, optional
        Stop after this many presentations.
    order : {"shuffle", "shuffle-once", "cycle", "iid", "blocks"}, optional
        Each pass in a new random order (the default); all in one random order; as stored; each row
        drawn independently; or in blocks, as by default where the rows lie in files.
    block_rows : int, optional
        The rows of a block; those of a store by default.
    passes : int, optional
        Stop after this many presentations for each row; 10 where neither is given. Only a run that
        gets so far returns the last w: one that a limit ends returns the best model seen.
    average : bool, default=False
        The mean of w over all presentations, in place of the last.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import Perceptron, Problem, solve
    >>> X = np.random.default_rng(0).standard_normal((500, 4))
    >>> y = np.sign(X @ [1.0, -1.0, 0.5, 0.0])
    >>> solution = solve(Problem(X, y, lam=0.1), Perceptron(average=True))
    >>> solution.status
    'finished'
    >>> bool(np.mean(np.sign(X @ solution.w) == y) > 0.95)
    True
    """

    name: ClassVar[str] = "perceptron"
    solves: ClassVar[Solves] = Solves(
        losses=frozenset({"hinge"}), biases=frozenset({"none", "feature"})
    )

    def rule(self, problem: Problem, state: OneRowState) -> Rule:
        return Rule()


@present.of(Rule)
def _perceptron(rule, rows, loss, i, product, work, run):
    y = work.numbers[i, TARGET]
    if y * product <= 0.0:
        learn(rows, i, y * work.numbers[i, WEIGHT], work, run)
