"""The contestants: each library behind the same few functions.

``take`` converts the data to what the library likes best, outside its clock; ``fit`` is the clock;
``read`` is outside again. ``knobs`` run from coarse to fine: tolerances with the iteration cap
raised, or for SGD, whose own tolerance watches the training loss, epochs. ``call`` is the fit as
people call it, all defaults, conversion and all, and ``called`` says what that minimises.
"""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import sklearn.linear_model
import sklearn.svm
from judge import primal
from liblinear import liblinearutil
from reference import reference
from snapml import SupportVectorMachine

import pegasos

TOLERANCES = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6)
OUR_SECONDS = 30.0  # the cap on one run of ours


class Contestant:
    """What all have in common."""

    name: ClassVar[str]
    knobs: ClassVar[tuple] = TOLERANCES
    biases: ClassVar[tuple[str, ...]] = ("none",)
    close: ClassVar[float] = 1e-3  # how near the optimum ``check_mappings`` may ask it to come

    def take(self, X, y, bias: str) -> Any:
        return X.astype(np.float64)

    def fit(self, taken, y, C: float, bias: str, knob) -> Any:
        raise NotImplementedError

    def read(self, model) -> tuple[np.ndarray, float]:
        return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])

    def call(self, X, y) -> Any:
        raise NotImplementedError

    def called(self, m: int) -> tuple[str, float]:
        """The bias and the C of what ``call`` minimises."""
        raise NotImplementedError


class Pegasos(Contestant):
    name = "pegasos"
    biases = ("none", "feature", "free")

    def take(self, X, y, bias):
        return X

    def fit(self, taken, y, C, bias, knob, **options):
        """The whole fit, with the validation of its input and the certificate."""
        model = pegasos.LinearSVC(
            C=C,
            tol=knob,
            fit_intercept=bias != "none",
            penalize_intercept=bias == "feature",
            max_seconds=OUR_SECONDS,
            **options,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a run that fell short is shown as one
            return model.fit(taken, y)

    def call(self, X, y):
        return pegasos.LinearSVC().fit(X, y)

    def called(self, m):
        return "free", 1.0


class ScikitLearn(Contestant):
    name = "scikit-learn"
    biases = ("none", "feature")

    def fit(self, taken, y, C, bias, knob):
        model = sklearn.svm.LinearSVC(
            C=C,
            tol=knob,
            loss="hinge",
            fit_intercept=bias == "feature",
            max_iter=10_000_000,
            random_state=0,
        )
        return model.fit(taken, y)

    def call(self, X, y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return sklearn.svm.LinearSVC(loss="hinge").fit(X, y)

    def called(self, m):
        return "feature", 1.0


class Liblinear(Contestant):
    """Its own package. Its 300 passes are compiled in; scikit-learn's copy can do more."""

    name = "LIBLINEAR"
    biases = ("none", "feature")

    def take(self, X, y, bias):
        problem = liblinearutil.problem(y, sp.csr_matrix(X, dtype=np.float64))
        problem.set_bias(1.0 if bias == "feature" else -1.0)
        return problem

    def fit(self, taken, y, C, bias, knob):
        constant = 1 if bias == "feature" else -1
        options = f"-s 3 -c {C!r} -e {knob!r} -B {constant} -q"
        return liblinearutil.train(taken, liblinearutil.parameter(options))

    def read(self, model):
        has_bias = model.bias >= 0
        w = np.ctypeslib.as_array(model.w, (model.nr_feature + has_bias,)).copy()
        return (w[:-1], float(w[-1] * model.bias)) if has_bias else (w, 0.0)

    def call(self, X, y):
        return liblinearutil.train(y, sp.csr_matrix(X), "-s 3 -B 1 -q")

    def called(self, m):
        return "feature", 1.0


class SnapML(Contestant):
    """IBM's; it takes float32 as ours does. Its default has no intercept."""

    name = "snapML"
    knobs = (0.1, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-7)

    def take(self, X, y, bias):
        return X

    def fit(self, taken, y, C, bias, knob):
        model = SupportVectorMachine(
            regularizer=1.0 / C, tol=knob, max_iter=1_000_000, random_state=0
        )
        return model.fit(taken, y)

    def call(self, X, y):
        return SupportVectorMachine().fit(X, y)

    def called(self, m):
        return "none", 1.0


class SGD(Contestant):
    """Averaged over the second half, or not at all: the better of the two counts."""

    name = "SGDClassifier"
    knobs = tuple(product((1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024), (0.0, 0.5)))
    close = 2e-2

    def fit(self, taken, y, C, bias, knob):
        epochs, averaged = knob
        m = taken.shape[0]
        model = sklearn.linear_model.SGDClassifier(
            alpha=1.0 / (C * m),
            fit_intercept=False,
            max_iter=epochs,
            tol=None,
            average=int((1 - averaged) * epochs * m) + 1 if averaged else False,
            random_state=0,
        )
        return model.fit(taken, y)

    def call(self, X, y):
        return sklearn.linear_model.SGDClassifier().fit(X, y)

    def called(self, m):
        return "free", 1.0 / (1e-4 * m)  # its alpha of 1e-4 is λ; the intercept is not penalised


CONTESTANTS = {c.name: c for c in (Pegasos(), ScikitLearn(), Liblinear(), SnapML(), SGD())}


def check_mappings(X, y) -> None:
    """Each contestant minimises what it is judged by, at two values of C and each kind of bias."""
    X, y = X[:2000], y[:2000]
    for C, bias in product((0.1, 2.0), ("none", "feature", "free")):
        truth = reference("check", X, y, C, bias)
        for contestant in CONTESTANTS.values():
            if bias in contestant.biases:
                taken = contestant.take(X, y, bias)
                least = np.inf
                for knob in contestant.knobs:
                    w, b = contestant.read(contestant.fit(taken, y, C, bias, knob))
                    least = min(least, truth.above(primal(X, y, C, w, b, bias)))
                    if least <= contestant.close:
                        break
                if not -1e-9 <= least <= contestant.close:
                    raise RuntimeError(
                        f"{contestant.name} with bias {bias!r} at C = {C:g} ends {least:.1e} from "
                        "the optimum: its C or its bias means something else"
                    )
