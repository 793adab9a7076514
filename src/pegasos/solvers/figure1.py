"""Pegasos in plain NumPy: the box of the paper's Figure 1, line by line.

    minimise   f(w) = λ/2 ‖w‖² + (1/m) Σ max(0, 1 − y⟨w, x⟩)
    step t     η = 1/(λt);   A⁺ = {(x, y) ∈ A : y⟨w, x⟩ < 1}
               w ← (1 − ηλ) w + (η/k) Σ_{A⁺} y x
               w ← min(1, (1/√λ)/‖w‖) w

Shalev-Shwartz, Singer & Srebro 2007, "Pegasos: Primal Estimated sub-GrAdient SOlver for SVM".
For reading and for testing; ``pegasos.Pegasos`` is the fast one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np


def figure1(
    X: np.ndarray, y: np.ndarray, lam: float, batches: Iterable[np.ndarray], project: bool = True
) -> Iterator[np.ndarray]:
    """Yield w after every step.

    Parameters
    ----------
    X : array of shape (m, d)
        The rows.
    y : array of shape (m,)
        Labels −1 and +1.
    lam : float
        λ.
    batches : iterable of index arrays
        The sets A_1, A_2, …, each of k row numbers.
    project : bool, default=True
        Whether to project onto the ball of radius 1/√λ.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import figure1
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 2))
    >>> y = np.sign(X[:, 0])
    >>> for w in figure1(X, y, lam=0.1, batches=rng.integers(100, size=(500, 1))):
    ...     pass
    >>> bool(np.mean(np.sign(X @ w) == y) > 0.9)
    True
    """
    w = np.zeros(X.shape[1])
    for t, A in enumerate(batches, start=1):
        eta = 1 / (lam * t)
        A_plus = [i for i in A if y[i] * (X[i] @ w) < 1]
        w = (1 - eta * lam) * w + (eta / len(A)) * sum(
            (y[i] * X[i] for i in A_plus), np.zeros_like(w)
        )
        norm = np.linalg.norm(w)
        if project and norm > 0:
            w = min(1, 1 / (np.sqrt(lam) * norm)) * w
        yield w
