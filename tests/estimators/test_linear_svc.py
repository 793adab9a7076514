"""LinearSVC: the model, its certificate, and how it behaves among scikit-learn's tools."""

from __future__ import annotations

import copy
import pickle
import signal
import sys
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
import sklearn.svm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pegasos
from pegasos.driver import Event
from pegasos.estimators import ConvergenceWarning, LinearSVC
from pegasos.estimators.progress import ProgressLine
from pegasos.losses import EpsilonInsensitive, Hinge
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.pegasos import Pegasos


@pytest.fixture(scope="module")
def two():
    X, y = make_classification(120, 6, n_informative=4, flip_y=0.1, random_state=3)
    return X, y


@pytest.fixture(scope="module")
def three():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def hinge_objective(X, y, w, b, C):
    return 0.5 * w @ w + C * np.maximum(0, 1 - y * (X @ w + b)).sum()


# The model


def test_it_is_the_true_svm_with_an_unpenalised_intercept(two):
    X, y = two
    ours = LinearSVC(C=0.7).fit(X, y)
    theirs = sklearn.svm.SVC(kernel="linear", C=0.7, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert ours.coef_.shape == (1, 6)
    assert ours.coef_.dtype == np.float64
    assert ours.intercept_.shape == (1,)
    assert ours.converged_
    sign = 2.0 * y - 1
    primal = hinge_objective(X, sign, ours.coef_[0], ours.intercept_[0], 0.7)
    assert ours.certificate_.primal == pytest.approx(primal, rel=1e-12)
    assert ours.certificate_.dual == pytest.approx(primal, rel=1e-9)


def test_a_penalised_intercept_is_liblinears_problem(two):
    X, y = two
    options = {"loss": "squared_hinge", "C": 0.3, "intercept_scaling": 2.0}
    ours = LinearSVC(penalize_intercept=True, **options).fit(X, y)
    theirs = sklearn.svm.LinearSVC(tol=1e-12, max_iter=100_000, dual=False, **options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)


def test_the_logistic_loss_is_logistic_regression(two):
    X, y = two
    ours = LinearSVC(C=0.3, loss="logistic").fit(X, y)
    theirs = LogisticRegression(C=0.3, tol=1e-12, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)


def test_without_an_intercept(two):
    X, y = two
    model = LinearSVC(fit_intercept=False).fit(X, y)
    assert model.intercept_ == 0.0
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_[0], atol=1e-12)


def test_C_and_lam_are_one_number_in_two_scales(two):
    X, y = two
    by_C = LinearSVC(C=0.5).fit(X, y)
    by_lam = LinearSVC(lam=1 / (0.5 * len(y))).fit(X, y)
    np.testing.assert_allclose(by_C.coef_, by_lam.coef_, atol=1e-9)
    np.testing.assert_allclose(
        LinearSVC().fit(X, y).coef_, LinearSVC(C=1.0).fit(X, y).coef_, atol=0
    )


def test_a_loss_object_is_its_name(two):
    X, y = two
    by_name, by_object = LinearSVC().fit(X, y), LinearSVC(loss=Hinge()).fit(X, y)
    assert np.array_equal(by_name.coef_, by_object.coef_)
    assert clone(by_object).loss == Hinge()


def test_liblinear_plateaus_above_us_at_large_C():
    """scikit-learn #22283: its hinge solver stops above what coordinate descent reaches."""
    X, y = make_classification(300, 10, n_informative=5, flip_y=0.2, random_state=0)
    sign = 2.0 * y - 1
    C = 1e4
    ours = LinearSVC(C=C, fit_intercept=False).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = sklearn.svm.LinearSVC(
            C=C, fit_intercept=False, loss="hinge", max_iter=20_000, random_state=0
        ).fit(X, y)
    mine = hinge_objective(X, sign, ours.coef_[0], 0.0, C)
    assert ours.converged_
    assert mine < hinge_objective(X, sign, theirs.coef_[0], 0.0, C)
    assert mine <= (1 + 1e-9) * ours.certificate_.dual


# Classes


@pytest.mark.parametrize(
    ("scheme", "meta", "shape"),
    [("ovr", OneVsRestClassifier, (3, 4)), ("ovo", OneVsOneClassifier, (3, 4))],
)
def test_three_classes(three, scheme, meta, shape):
    X, y = three
    ours = LinearSVC(C=0.5, multi_class=scheme).fit(X, y)
    theirs = meta(sklearn.svm.SVC(kernel="linear", C=0.5, tol=1e-10)).fit(X, y)
    reference = np.vstack([binary.coef_ for binary in theirs.estimators_])
    np.testing.assert_allclose(ours.coef_, reference, atol=1e-4)
    assert ours.coef_.shape == shape
    assert ours.decision_function(X).shape == (len(y), 3)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)


def test_four_classes_one_against_one():
    X, y = make_classification(200, 6, n_informative=5, n_redundant=0, n_classes=4, random_state=1)
    model = LinearSVC(multi_class="ovo").fit(X, y)
    assert model.coef_.shape == (6, 6)
    assert len(model.certificates_) == len(model.traces_) == 6
    assert model.decision_function(X).shape == (200, 4)
    assert model.score(X, y) > 0.5


def test_the_certificate_is_the_worst_one(three):
    X, y = three
    with pytest.warns(ConvergenceWarning):
        model = LinearSVC(max_passes=3).fit(X, y)
    gaps = [proof.relative_gap for proof in model.certificates_]
    assert model.certificate_.relative_gap == max(gaps)
    assert model.trace_ is model.traces_[int(np.argmax(gaps))]


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype=object),
        np.array([False, True]),
        np.array([-1, 1], dtype=np.int8),
        np.array([2.0, 7.0]),
    ],
    ids=["str", "object", "bool", "int8", "float"],
)
def test_labels_of_any_type(two, labels):
    X, y = two
    model = LinearSVC().fit(X, labels[y])
    assert model.classes_.dtype == labels.dtype
    assert np.array_equal(model.classes_, labels)
    assert np.array_equal(model.predict(X), labels[LinearSVC().fit(X, y).predict(X)])


# Weights


def test_a_weight_of_two_is_the_row_twice(two):
    X, y = two
    s = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    weighted = LinearSVC().fit(X, y, sample_weight=s)
    repeated = LinearSVC().fit(np.repeat(X, s.astype(int), axis=0), np.repeat(y, s.astype(int)))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-7)


def test_a_class_without_weight_does_not_exist(three):
    X, y = three
    weighted = LinearSVC().fit(X, y, sample_weight=(y != 1).astype(float))
    alone = LinearSVC().fit(X[y != 1], y[y != 1])
    assert np.array_equal(weighted.classes_, [0, 2])
    np.testing.assert_allclose(weighted.coef_, alone.coef_, atol=1e-7)


def test_class_weights_multiply_the_weights_of_the_rows(three):
    X, y = three
    s = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    by_class = LinearSVC(class_weight={0: 2.0, 2: 0.5}).fit(X, y, sample_weight=s)
    by_row = LinearSVC().fit(X, y, sample_weight=s * np.array([2.0, 1.0, 0.5])[y])
    assert np.array_equal(by_class.coef_, by_row.coef_)


def test_balanced_counts_the_weights(two):
    X, y = two
    s = np.where(y == 1, 3.0, 1.0)
    balanced = LinearSVC(class_weight="balanced").fit(X, y, sample_weight=s)
    total = np.bincount(y, weights=s)
    by_row = LinearSVC().fit(X, y, sample_weight=s * (total.sum() / (2 * total))[y])
    np.testing.assert_allclose(balanced.coef_, by_row.coef_, atol=1e-9)


# Dual variables, warm starts, limits


@pytest.mark.parametrize("scheme", ["ovr", "ovo"])
def test_the_dual_variables_rebuild_the_coefficients(three, scheme):
    X, y = three
    model = LinearSVC(multi_class=scheme, store_dual=True).fit(X, y)
    assert model.dual_coef_.shape == (3, len(y))
    np.testing.assert_allclose(model.dual_coef_ @ X, model.coef_, atol=1e-6)
    assert not hasattr(LinearSVC().fit(X, y), "dual_coef_")


def big():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 40))
    y = np.sign(X[:, 0] + 0.5 * X[:, 1] + rng.standard_normal(4000))
    return X, y


def test_a_warm_start_needs_fewer_passes():
    X, y = big()
    model = LinearSVC(C=0.1, warm_start=True, tol=1e-3).fit(X, y)
    cold = model.n_passes_
    model.fit(X, y)
    assert model.converged_
    assert model.n_passes_ <= 0.5 * cold


def test_a_warm_start_with_other_rows_features_or_classes(two, three):
    model = LinearSVC(warm_start=True)
    for X, y in (two, three, three, (three[0][:100], three[1][:100])):
        model.fit(X, y)
        fresh = LinearSVC().fit(X, y)
        np.testing.assert_allclose(model.coef_, fresh.coef_, atol=1e-6)


def test_a_fit_that_falls_short_says_what_to_do(two):
    X, y = two
    with pytest.warns(ConvergenceWarning, match="raise max_passes") as caught:
        model = LinearSVC(max_passes=2).fit(X, y)
    assert isinstance(caught[0].message, sklearn.exceptions.ConvergenceWarning)
    assert isinstance(caught[0].message, pegasos.ConvergenceWarning)
    assert not model.converged_
    assert model.certificate_.relative_gap > 1e-3
    assert str(caught[0].message) == model.summary_


def test_many_problems_give_one_warning(three):
    X, y = three
    with pytest.warns(ConvergenceWarning, match="3 of 3 binary problems fell short") as caught:
        LinearSVC(max_passes=1).fit(X, y)
    assert len(caught) == 1


def test_no_tolerance_no_warning(two):
    X, y = two
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearSVC(tol=None, max_passes=2).fit(X, y)
    assert not model.converged_
    assert model.n_passes_ == pytest.approx(2)


@dataclass(frozen=True)
class InterruptedAscent(DualAscent):
    """Ctrl-C during its first portion."""

    def advance(self, problem, state, visits, goal):
        report = super().advance(problem, state, visits, goal)
        signal.raise_signal(signal.SIGINT)
        return report


def test_an_interrupt_keeps_the_certified_model(two):
    X, y = two
    model = LinearSVC(solver=InterruptedAscent())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not model.converged_
    sign = 2.0 * y - 1
    primal = hinge_objective(X, sign, model.coef_[0], model.intercept_[0], 1.0)
    assert model.certificate_.primal == pytest.approx(primal, rel=1e-9)
    assert model.predict(X).shape == y.shape
    model.set_params(solver="auto", warm_start=True).fit(X, y)
    assert model.converged_


# Rows as they lie in memory


class SeenError(Exception):
    """Raised in place of all further work."""


@pytest.mark.parametrize("dtype", ["float64", "float32", "bool", "int8", "int64", "uint16"])
@pytest.mark.parametrize("method", ["fit", "predict", "partial_fit"])
@pytest.mark.parametrize("sparse", [False, True])
def test_no_copy_and_no_conversion(two, monkeypatch, dtype, method, sparse):
    X = (np.abs(two[0]) > 0.5).astype(dtype)
    X = sp.csr_array(X) if sparse else X
    model = LinearSVC().fit(*two)

    def look(taken):
        ours, given = (X.data, taken.data) if sparse else (X, taken)
        assert given.dtype == dtype
        assert np.shares_memory(ours, given)
        raise SeenError

    where = "_linear" if method == "predict" else "linear_svc"
    monkeypatch.setattr(f"pegasos.estimators.{where}.take_in", look)
    with pytest.raises(SeenError):
        getattr(model, method)(X) if method == "predict" else getattr(model, method)(X, two[1])


def test_int64_indices_and_float32_values(two):
    X, y = two
    small = X.astype(np.float32)
    csr = sp.csr_array(small)
    csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    dense = LinearSVC().fit(small.astype(np.float64), y)
    sparse = LinearSVC().fit(csr, y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-7)
    np.testing.assert_allclose(
        sparse.decision_function(csr), dense.decision_function(small), atol=1e-6
    )


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_and_their_names(two, frame):
    X, y = two
    table = frame({f"x{j}": X[:, j] for j in range(X.shape[1])})
    model = LinearSVC().fit(table, y)
    assert list(model.feature_names_in_) == [f"x{j}" for j in range(6)]
    np.testing.assert_allclose(model.coef_, LinearSVC().fit(X, y).coef_, atol=1e-12)
    assert np.array_equal(model.predict(table), LinearSVC().fit(X, y).predict(X))


def test_read_only_rows_stay_as_they_are(two):
    X, y = (array.copy() for array in two)
    before = X.copy()
    X.flags.writeable = y.flags.writeable = False
    LinearSVC().fit(X, y).predict(X)
    assert np.array_equal(X, before)


# Bad input: one sentence that says what to do


def with_value(X, value):
    X = X.copy()
    X[3, 2] = value
    return X


def negative(X):
    weights = np.ones(len(X))
    weights[5] = -1
    return weights


BAD = {
    "NaN": ({}, lambda X, y: (with_value(X, np.nan), y), "NaN: row 3, column 2"),
    "infinity": ({}, lambda X, y: (with_value(X, np.inf), y), r"inf.*row 3, column 2"),
    "enormous": ({}, lambda X, y: (with_value(X, 1e200), y), "scale the features"),
    "one class": ({}, lambda X, y: (X, 0 * y), "at least 2 classes.*one class"),
    "one class with weight": (
        {},
        lambda X, y: (X, y, (y == 1).astype(float)),
        "at least 2 classes.*one class",
    ),
    "no rows": ({}, lambda X, y: (X[:0], y[:0]), "0 sample"),
    "no features": ({}, lambda X, y: (X[:, :0], y), "0 feature"),
    "numbers as labels": ({}, lambda X, y: (X, X[:, 0]), "Unknown label type"),
    "strings and numbers as labels": (
        {},
        lambda X, y: (X, np.array([1, "b"], dtype=object)[y]),
        r"y mixes strings with other labels \(int\)",
    ),
    "masked": ({}, lambda X, y: (np.ma.masked_less(X, -2), y), "X is masked in row"),
    "masked labels": ({}, lambda X, y: (X, np.ma.masked_equal(y, 1)), "y is masked in row"),
    "masked weights": (
        {},
        lambda X, y: (X, y, np.ma.masked_array(np.ones(120), y)),
        "sample_weight is masked in row",
    ),
    "dates": ({}, lambda X, y: (X.astype("M8[D]"), y), "X holds dates or times"),
    "NaN label": ({}, lambda X, y: (X, np.where(y == 1, np.nan, 0.0)), "NaN"),
    "negative weight": ({}, lambda X, y: (X, y, negative(X)), "row 5 has -1"),
    "no weight": ({}, lambda X, y: (X, y, 0.0 * y), "zero for all rows"),
    "NaN weight": ({}, lambda X, y: (X, y, np.nan * y), "sample_weight contains NaN"),
    "few weights": ({}, lambda X, y: (X, y, np.ones(3)), r"shape \(3,\), but X has 120"),
    "both": ({"C": 1.0, "lam": 0.1}, lambda X, y: (X, y), "C or lam, not both"),
    "C": ({"C": 0.0}, lambda X, y: (X, y), "C must be positive"),
    "lam": ({"lam": -1.0}, lambda X, y: (X, y), "lam must be positive"),
    "loss": ({"loss": "huber"}, lambda X, y: (X, y), "'hinge', 'squared_hinge', 'logistic'"),
    "regression loss": ({"loss": "epsilon_insensitive"}, lambda X, y: (X, y), "'hinge'"),
    "regression object": ({"loss": EpsilonInsensitive()}, lambda X, y: (X, y), "'hinge'"),
    "scheme": ({"multi_class": "all"}, lambda X, y: (X, y), "'ovr' or 'ovo'"),
    "solver": ({"solver": "magic"}, lambda X, y: (X, y), "no solver 'magic'; the solvers are"),
    "class weight": ({"class_weight": 3}, lambda X, y: (X, y), "balanced"),
    "class weight zero": ({"class_weight": {0: 0.0}}, lambda X, y: (X, y), "class .*0.* has 0"),
    "penalty without intercept": (
        {"fit_intercept": False, "penalize_intercept": True},
        lambda X, y: (X, y),
        "needs fit_intercept=True",
    ),
    "scaling without penalty": (
        {"intercept_scaling": 10.0},
        lambda X, y: (X, y),
        "only with penalize_intercept=True",
    ),
    "tol": ({"tol": -1.0}, lambda X, y: (X, y), "tol must be"),
    "max_passes": ({"max_passes": -1}, lambda X, y: (X, y), "max_passes must be"),
    **{
        f"{name}={value!r}": ({name: value}, lambda X, y: (X, y), f"{name} must be .*{value!r}")
        for name, value in (
            ("max_seconds", -1),
            ("max_seconds", "1"),
            ("n_jobs", "a"),
            ("n_jobs", 0),
            ("n_jobs", 2.0),
            ("fit_intercept", "no"),
            ("penalize_intercept", "no"),
            ("warm_start", 1),
            ("store_dual", None),
        )
    },
    "Pegasos steps": (
        {"solver": Pegasos(steps=100, output="random")},
        lambda X, y: (X, y),
        "tol=None",
    ),
}


@pytest.mark.parametrize(("options", "spoil", "sentence"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_a_sentence(two, options, spoil, sentence):
    with pytest.raises(ValueError, match=sentence):
        LinearSVC(**options).fit(*spoil(*two))


def test_prediction_refuses_what_is_masked(two):
    X, y = two
    with pytest.raises(ValueError, match="X is masked in row"):
        LinearSVC().fit(X, y).predict(np.ma.masked_less(X, -2))


def test_numpys_own_bools_are_bools(two):
    assert LinearSVC(fit_intercept=np.bool_(False)).fit(*two).intercept_ == 0.0


def test_one_weight_for_all_rows_may_be_an_array(two):
    X, y = two
    one, other = (LinearSVC().fit(X, y, sample_weight=s) for s in (2.0, np.array(2.0)))
    assert np.array_equal(one.coef_, other.coef_)


def test_no_model_is_kept_that_is_worse_than_none(two):
    X, y = two
    X = X[:, :5] * 10.0 ** np.array([-8, -4, 0, 4, 8])
    model = LinearSVC(loss="logistic", max_passes=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    assert model.certificate_.primal <= np.log(2) * len(y)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_prediction_refuses_what_is_not_finite(two, value):
    X, y = two
    model = LinearSVC().fit(X, y)
    with pytest.raises(ValueError, match=r"NaN|inf"):
        model.predict(with_value(X, value))


# Seeds and threads


def test_the_same_seed_gives_the_same_bits(three):
    X, y = three
    models = [LinearSVC(max_passes=2, tol=None, random_state=seed) for seed in (0, 0, 1)]
    first, again, other = (model.fit(X, y).coef_ for model in models)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_random_state_may_be_a_generator_or_none(three):
    X, y = three
    LinearSVC(random_state=None).fit(X, y)
    models = [
        LinearSVC(max_passes=2, tol=None, random_state=np.random.RandomState(4)) for _ in range(2)
    ]
    assert np.array_equal(models[0].fit(X, y).coef_, models[1].fit(X, y).coef_)


@pytest.mark.parametrize("scheme", ["ovr", "ovo"])
def test_two_threads_give_the_bits_of_one(three, scheme):
    X, y = three
    one, both = (LinearSVC(multi_class=scheme, n_jobs=n).fit(X, y) for n in (1, 2))
    assert np.array_equal(one.coef_, both.coef_)
    assert np.array_equal(one.intercept_, both.intercept_)
    assert one.certificates_ == both.certificates_


# Among scikit-learn's tools


def test_pickle_and_copy(three):
    X, y = three
    model = LinearSVC(warm_start=True, solver=DualAscent(shrink=2.0)).fit(X, y)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(twin.decision_function(X), model.decision_function(X))
        assert twin.certificate_ == model.certificate_
        twin.fit(X, y)


def test_the_solvers_parameters_are_parameters():
    model = LinearSVC(solver=DualAscent())
    assert model.get_params()["solver__shrink"] == 1.5
    twin = clone(model).set_params(solver__shrink=3.0)
    assert twin.solver == DualAscent(shrink=3.0)
    assert model.solver == DualAscent()
    with pytest.raises(ValueError, match="shrink must be positive"):
        twin.set_params(solver__shrink=-1.0)


def test_grid_search_over_the_solvers_parameters(two):
    X, y = two
    grid = {"solver__shrink": [1.0, float("inf")], "C": [0.1, 1.0]}
    search = GridSearchCV(LinearSVC(solver=DualAscent()), grid, cv=3).fit(X, y)
    assert set(search.best_params_) == set(grid)
    assert search.best_score_ > 0.6
    assert search.best_estimator_.converged_


def test_pipeline_and_calibration(three):
    X, y = three
    pipeline = make_pipeline(StandardScaler(), LinearSVC()).fit(X, y)
    assert pipeline.score(X, y) > 0.9
    calibrated = CalibratedClassifierCV(pipeline, cv=3).fit(X, y)
    chances = calibrated.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert calibrated.score(X, y) > 0.85


def test_metadata_routing_brings_the_weights(two):
    X, y = two
    s = np.where(y == 1, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = LinearSVC().set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, model).fit(X, y, sample_weight=s)
    scaled = StandardScaler().fit_transform(X)
    weighted = LinearSVC().fit(scaled, y, sample_weight=s)
    assert np.array_equal(pipeline[-1].coef_, weighted.coef_)


def test_set_output_of_a_pipeline(two):
    X, y = two
    pipeline = make_pipeline(StandardScaler(), LinearSVC()).set_output(transform="pandas")
    pipeline.fit(pd.DataFrame(X, columns=list("abcdef")), y)
    assert list(pipeline[-1].feature_names_in_) == list("abcdef")


# What it shows


def test_html_shows_the_certificate(two):
    X, y = two
    assert "pegasos-certificate" not in LinearSVC()._repr_html_()
    model = LinearSVC().fit(X, y)
    page = model._repr_html_()
    assert page.count("pegasos-certificate") == 1
    for text in ("relative gap", f"{model.certificate_.primal:.8g}", "converged", "passes"):
        assert text in page
    assert model._repr_mimebundle_()["text/html"].count("pegasos-certificate") == 1


def test_html_is_escaped(two):
    X, y = two
    model = LinearSVC().fit(X, y)
    model.certificate_ = type(model.certificate_)(1.0, 1.0, 0.0, 0.0, "<script>")
    assert "<script>&" not in model._repr_html_()
    assert "&lt;script&gt;</td>" in model._repr_html_()


def test_verbose_prints_a_line_for_each_look(three, capsys):
    X, y = three
    model = LinearSVC(verbose=1).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == sum(len(trace) for trace in model.traces_)
    assert lines[0].startswith("problem 1/3  passes ")
    assert all(word in lines[-1] for word in ("primal", "dual", "relative gap"))
    LinearSVC().fit(X, y)
    assert capsys.readouterr().err == ""


def test_verbose_2_also_prints_decisions(two, capsys):
    LinearSVC(verbose=2).fit(*two)
    assert "auto chose" in capsys.readouterr().err


def test_the_line_on_a_terminal_is_live(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    line = ProgressLine(1, notes=True)
    proof = pegasos.Certificate(123456.0, 100000.0, 23456.0, 0.23456, "")
    line(Event("look", 0, 10.0, 0.1, proof))
    line(Event("look", 0, 11.0, 0.1, pegasos.Certificate(1.0, 1.0, 0.0, 0.0, "")))
    line(Event("note", 0, 11.0, 0.1, text="a note"))
    line.close()
    _, first, second = capsys.readouterr().err.split("\r")
    second, note, end = second.split("\n")
    assert first.startswith("passes 10.0  primal 123456")
    assert second.startswith("passes 11.0  primal 1 ")
    assert len(second) == len(first)  # nothing of the longer line is left
    assert (note, end) == ("a note", "")


# scikit-learn's callbacks

callbacks = pytest.importorskip("sklearn.callback")


class Recorder:
    """Counts what it is told."""

    def __init__(self):
        self.told = []

    def setup(self, estimator, context):
        self.told.append(("setup", context.task_name))

    def teardown(self, estimator, context):
        self.told.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context):
        self.told.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context):
        self.told.append(("end", context.task_name, context.task_id))


def test_no_callbacks_no_import(run_python):
    code = "import json, sys; import pegasos.estimators; print(json.dumps([*sys.modules]))"
    assert "sklearn.callback" not in run_python(code)


def test_callbacks_see_each_look_of_one_problem(two):
    recorder = Recorder()
    model = LinearSVC().set_callbacks(recorder).fit(*two)
    looks = len(model.trace_)
    assert recorder.told[0] == ("setup", "fit")
    assert recorder.told[-1] == ("teardown", "fit")
    for which in ("begin", "end"):
        assert [t[2] for t in recorder.told if t[:2] == (which, "look")] == [*range(looks)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_callbacks_see_each_of_many_problems(three, n_jobs):
    recorder = Recorder()
    LinearSVC(multi_class="ovo", n_jobs=n_jobs).set_callbacks(recorder).fit(*three)
    for which in ("begin", "end"):
        seen = [t[2] for t in recorder.told if t[:2] == (which, "binary-problem")]
        assert sorted(seen) == [0, 1, 2]


def test_callbacks_are_torn_down_after_an_error(two):
    recorder = Recorder()
    with pytest.raises(ValueError, match="no solver"):
        LinearSVC(solver="magic").set_callbacks(recorder).fit(*two)
    assert recorder.told[-1] == ("teardown", "fit")


def test_the_progress_bar_and_the_score(two, three, capsys):
    pytest.importorskip("rich")
    monitor = callbacks.ScoringMonitor(scoring="accuracy")
    for X, y in (two, three):
        model = LinearSVC().set_callbacks(callbacks.ProgressBar(), monitor).fit(X, y)
        assert monitor.get_logs().data[-1]["accuracy"] == model.score(X, y)
        assert "LinearSVC - fit" in capsys.readouterr().out


def test_callbacks_through_a_pipeline(two):
    pytest.importorskip("rich")
    pipeline = make_pipeline(StandardScaler(), LinearSVC()).set_callbacks(callbacks.ProgressBar())
    assert pipeline.fit(*two).score(*two) > 0.7


# Streams


def test_partial_fit_learns(two):
    X, y = two
    model = LinearSVC(lam=0.01)
    for _ in range(50):
        model.partial_fit(X, y, classes=[0, 1])
    assert model.t_ == 50 * len(y)
    assert model.score(X, y) >= LinearSVC(lam=0.01).fit(X, y).score(X, y) - 0.05
    proof = model.certificate_
    assert proof.how == "stream"
    assert np.isnan(proof.primal)
    assert not model.converged_
    sign = 2.0 * y - 1
    w, b = model.coef_[0], model.intercept_[0]
    J = hinge_objective(np.tile(X, (50, 1)), np.tile(sign, 50), w, b, 1 / (0.01 * model.t_))
    assert 0 <= proof.dual <= J
    assert "stream" in model._repr_html_()


def test_a_stream_goes_on_after_a_pickle(three):
    X, y = three
    kept = LinearSVC(solver=Pegasos(), n_jobs=2).partial_fit(X, y, classes=[0, 1, 2])
    twin = pickle.loads(pickle.dumps(kept)).set_params(n_jobs=1)
    for model in (kept, twin):
        model.partial_fit(X[::2], y[::2], sample_weight=np.linspace(0, 1, 75))
    assert kept.coef_.shape == (3, 4)
    assert np.array_equal(kept.coef_, twin.coef_)
    assert kept.t_ == twin.t_ == 150 + 74  # the row of weight zero does not exist


def test_a_stream_of_one_against_one(three):
    X, y = three
    model = LinearSVC(multi_class="ovo", lam=0.01)
    for _ in range(20):
        model.partial_fit(X, y, classes=[0, 1, 2])
    model.partial_fit(X[y == 0], y[y == 0])
    assert model.coef_.shape == (3, 4)
    assert model.t_ == 20 * 100 + 50
    assert model.score(X, y) > 0.9


def test_the_stream_keeps_the_lam_of_its_first_call(two):
    X, y = two
    model = LinearSVC(C=2.0).partial_fit(X, y, classes=[0, 1])
    assert model.lam_ == pytest.approx(1 / (2.0 * len(y)))
    model.partial_fit(X[:10], y[:10])
    assert model.lam_ == pytest.approx(1 / (2.0 * len(y)))


@pytest.mark.parametrize(
    "change",
    [
        {"loss": "logistic"},
        {"fit_intercept": False},
        {"penalize_intercept": True},
        {"lam": 9.0},
        {"C": 2.0},
        {"multi_class": "ovo"},
        {"solver": Pegasos(project=False)},
        {"store_dual": True},
    ],
    ids=lambda change: "-".join(change),
)
def test_what_a_stream_learns_cannot_change(three, change):
    X, y = three
    model = LinearSVC().partial_fit(X, y, classes=[0, 1, 2])
    before = model.coef_.copy(), model.get_params(), model.predict(X)
    model.set_params(**change)
    (name,) = change
    with pytest.raises(ValueError, match=f"the stream began with {name}=.* with {name}="):
        model.partial_fit(X, y)
    assert np.array_equal(model.coef_, before[0])
    assert np.array_equal(model.predict(X), before[2])
    model.set_params(**before[1]).partial_fit(X, y)
    assert model.t_ == 300


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_the_scheme_is_that_of_the_fit(three, method):
    X, y = three
    for scheme, other in (("ovr", "ovo"), ("ovo", "ovr")):
        model = LinearSVC(multi_class=scheme)
        model.fit(X, y) if method == "fit" else model.partial_fit(X, y, classes=[0, 1, 2])
        before = model.decision_function(X)
        model.set_params(multi_class=other)
        assert np.array_equal(model.decision_function(X), before)


def test_a_stream_may_begin_with_one_class(two):
    X, y = two
    model = LinearSVC(loss="logistic", lam=0.01).partial_fit(X[y == 0], y[y == 0], classes=[0, 1])
    assert (model.partial_fit(X, y).predict(X[y == 1]) == 1).any()


def test_the_stream_and_the_constant_feature(two):
    X, y = two
    model = LinearSVC(penalize_intercept=True, lam=0.1).partial_fit(X, y, classes=[0, 1])
    wide = np.column_stack([X, np.ones(len(y))])
    twin = LinearSVC(fit_intercept=False, lam=0.1).partial_fit(wide, y, classes=[0, 1])
    np.testing.assert_allclose(model.coef_[0], twin.coef_[0, :-1], rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, twin.coef_[0, -1:], rtol=1e-9)


def test_fit_and_partial_fit_do_not_mix_their_attributes(two):
    X, y = two
    model = LinearSVC(store_dual=True).fit(X, y)
    model.set_params(store_dual=False).partial_fit(X, y)
    assert not {"trace_", "n_passes_", "dual_coef_"} & set(vars(model))
    model.fit(X, y)
    assert not {"lam_", "t_", "_streams"} & set(vars(model))


@pytest.mark.parametrize(
    ("options", "classes", "sentence"),
    [
        ({"solver": "dual-ascent"}, [0, 1], "Pegasos alone"),
        ({"class_weight": "balanced"}, [0, 1], "needs all rows"),
        ({"store_dual": True}, [0, 1], "no dual variables"),
        ({"multi_class": "all"}, [0, 1], "'ovr' or 'ovo'"),
        ({"C": 1.0, "lam": 1.0}, [0, 1], "not both"),
        ({}, None, "classes must be passed"),
        ({}, [1], "at least 2 classes"),
        ({}, [0, 2], "the class .*1.*not in classes"),
    ],
)
def test_partial_fit_refuses(two, options, classes, sentence):
    with pytest.raises(ValueError, match=sentence):
        LinearSVC(**options).partial_fit(*two, classes=classes)


def test_what_a_solver_finds_besides_becomes_an_attribute(two):
    X, y = two
    model = LinearSVC(solver="interior-point").fit(X, y)
    assert model.flops_ > 0.0
    model.set_params(solver="dual-ascent").fit(X, y)
    assert not hasattr(model, "flops_")
    many = LinearSVC(solver="interior-point").fit(X, np.arange(len(y)) % 3)
    assert len(many.flops_) == 3
