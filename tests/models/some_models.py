"""Fitted estimators of every kind, small, for the tests of all formats."""

import functools
import pickle

import numpy as np

from pegasos import LinearSVC, LinearSVR
from pegasos.losses import EpsilonInsensitive, Logistic

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4)).round(3)
SCORE = X @ [1.0, -1.0, 0.5, 0.2] + 0.4 * RNG.standard_normal(60) + 0.2
TWO = np.where(SCORE > 0, 1, -1)
THREE = np.digitize(SCORE, [-0.6, 0.7])
WORDS = np.array(["no", "perhaps", "yes, and a long one: ä"])


def streamed(model, y, portions=3, **first):
    for k, part in enumerate(np.array_split(np.arange(60), portions)):
        model.partial_fit(X[part], y[part], **(first if k == 0 else {}))
    return model


BUILDERS = {
    "two": lambda: LinearSVC().fit(X, TWO),
    "two squared": lambda: LinearSVC(loss="squared_hinge", C=0.3).fit(X, TWO),
    "two logistic": lambda: LinearSVC(loss=Logistic(), lam=0.1).fit(X, TWO * 3),
    "two, no intercept": lambda: LinearSVC(fit_intercept=False).fit(X, TWO),
    "two, penalised": lambda: LinearSVC(penalize_intercept=True, intercept_scaling=3.0).fit(X, TWO),
    "two words": lambda: LinearSVC().fit(X, WORDS[(TWO > 0) * 2]),
    "two booleans": lambda: LinearSVC().fit(X, TWO > 0),
    "two floats": lambda: LinearSVC().fit(X, TWO * 1.0),
    "two, ovo": lambda: LinearSVC(multi_class="ovo").fit(X, TWO),
    "ovr": lambda: LinearSVC().fit(X, np.array([7, -3, 12])[THREE]),
    "ovr words": lambda: LinearSVC(class_weight={"no": 2.0, "perhaps": 1}).fit(
        X, WORDS[THREE].astype(object)
    ),
    "ovr, no intercept": lambda: LinearSVC(fit_intercept=False).fit(X, THREE.astype(np.uint8)),
    "ovo": lambda: LinearSVC(multi_class="ovo", random_state=None).fit(X, THREE),
    "ovo four": lambda: LinearSVC(multi_class="ovo").fit(X, np.digitize(SCORE, [-0.8, 0, 0.8])),
    "warm": lambda: LinearSVC(warm_start=True, store_dual=True).fit(X, THREE),
    "svr": lambda: LinearSVR(epsilon=0.1).fit(X, SCORE),
    "svr object": lambda: LinearSVR(loss=EpsilonInsensitive(0.2), store_dual=True).fit(X, SCORE),
    "svr squared": lambda: LinearSVR(
        loss="squared_epsilon_insensitive", fit_intercept=False, warm_start=True
    ).fit(X, SCORE),
    "stream": lambda: streamed(LinearSVC(), TWO, classes=[-1, 1]),
    "stream of words": lambda: streamed(
        LinearSVC(multi_class="ovo", penalize_intercept=True, lam=0.01), WORDS[THREE], classes=WORDS
    ),
    "stream svr": lambda: streamed(LinearSVR(epsilon=0.1), SCORE),
}


@functools.cache
def _built(name):
    return pickle.dumps(BUILDERS[name]())


def model(name):
    """A fitted estimator of one's own."""
    return pickle.loads(_built(name))


def scores(estimator, rows=X):
    """Decision values, or predictions where there are no others."""
    return getattr(estimator, "decision_function", estimator.predict)(rows)
