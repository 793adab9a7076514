"""LinearSVR: the model, its certificate, and what differs from classification."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from sklearn.base import clone
from sklearn.datasets import make_regression
from sklearn.model_selection import GridSearchCV

from pegasos.estimators import ConvergenceWarning, LinearSVR
from pegasos.losses import EpsilonInsensitive, Hinge, SquaredEpsilonInsensitive
from pegasos.solvers.dual_ascent import DualAscent


@pytest.fixture(scope="module")
def data():
    X, y = make_regression(100, 5, noise=5.0, random_state=0)
    return X, y / 10 + 3


def objective(X, y, model, C, epsilon, power=1):
    w, b = model.coef_, model.intercept_
    return 0.5 * w @ w + C * (np.maximum(0, np.abs(y - X @ w - b) - epsilon) ** power).sum()


def test_it_is_the_true_svr_with_an_unpenalised_intercept(data):
    X, y = data
    ours = LinearSVR(C=0.5, epsilon=0.3).fit(X, y)
    theirs = sklearn.svm.SVR(kernel="linear", C=0.5, epsilon=0.3, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_[0], atol=1e-5)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)
    assert ours.coef_.shape == (5,)
    assert ours.intercept_.shape == (1,)
    assert ours.certificate_.primal == pytest.approx(objective(X, y, ours, 0.5, 0.3), rel=1e-12)
    assert ours.converged_


def test_a_penalised_intercept_and_squares_are_liblinears_problem(data):
    X, y = data
    options = {"loss": "squared_epsilon_insensitive", "C": 0.3, "epsilon": 0.2}
    ours = LinearSVR(penalize_intercept=True, **options).fit(X, y)
    theirs = sklearn.svm.LinearSVR(dual=False, tol=1e-12, max_iter=100_000, **options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    assert ours.certificate_.how.startswith("dual variables")


def test_a_loss_object_brings_its_epsilon(data):
    X, y = data
    by_name = LinearSVR(epsilon=0.3).fit(X, y)
    by_object = LinearSVR(loss=EpsilonInsensitive(0.3)).fit(X, y)
    agreed = LinearSVR(loss=EpsilonInsensitive(0.3), epsilon=0.3).fit(X, y)
    assert np.array_equal(by_name.coef_, by_object.coef_)
    assert np.array_equal(by_name.coef_, agreed.coef_)
    assert clone(by_object).loss == EpsilonInsensitive(0.3)


def test_a_weight_of_two_is_the_row_twice(data):
    X, y = data
    s = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = LinearSVR(epsilon=0.1).fit(X, y, sample_weight=s)
    repeated = LinearSVR(epsilon=0.1).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)


def test_the_dual_variables_rebuild_the_coefficients(data):
    X, y = data
    model = LinearSVR(epsilon=0.1, store_dual=True).fit(X, y)
    assert model.dual_coef_.shape == y.shape
    np.testing.assert_allclose(model.dual_coef_ @ X, model.coef_, atol=1e-6)


def test_sparse_equals_dense(data):
    X, y = data
    dense, sparse = LinearSVR().fit(X, y), LinearSVR().fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-6)
    np.testing.assert_allclose(dense.predict(X), sparse.predict(sp.csr_matrix(X)), atol=1e-5)


def test_warm_start(data):
    X, y = data
    model = LinearSVR(warm_start=True).fit(X, y)
    first = model.coef_.copy()
    model.fit(X, y)
    np.testing.assert_allclose(model.coef_, first, atol=1e-6)
    model.fit(X[:50], y[:50])
    np.testing.assert_allclose(model.coef_, LinearSVR().fit(X[:50], y[:50]).coef_, atol=1e-6)


def test_a_fit_that_falls_short_says_so(data):
    with pytest.warns(ConvergenceWarning, match="raise max_passes"):
        model = LinearSVR(max_passes=2).fit(*data)
    assert not model.converged_


def test_pickle_and_grid_search(data):
    X, y = data
    model = LinearSVR().fit(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    grid = {"solver__shrink": [1.0, 2.0], "epsilon": [0.0, 0.5]}
    search = GridSearchCV(LinearSVR(solver=DualAscent()), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.8


def test_html_and_verbose(data, capsys):
    model = LinearSVR(verbose=1).fit(*data)
    assert "relative gap" in model._repr_html_()
    assert capsys.readouterr().err.startswith("passes ")


def test_partial_fit(data):
    X, y = data
    model = LinearSVR(lam=1e-3, epsilon=0.1)
    for _ in range(100):
        model.partial_fit(X, y)
    assert model.coef_.shape == (5,)
    assert model.score(X, y) > 0.8
    J = objective(np.tile(X, (100, 1)), np.tile(y, 100), model, 1 / (1e-3 * model.t_), 0.1)
    assert 0 <= model.certificate_.dual <= J
    assert model.t_ == 100 * len(y)
    assert model.lam_ == 1e-3


BAD = {
    "NaN": ({}, lambda X, y: (X * np.nan, y), "NaN: row 0, column 0"),
    "NaN target": ({}, lambda X, y: (X, y * np.nan), "NaN"),
    "strings": ({}, lambda X, y: (X, np.full(len(y), "a")), "must hold numbers"),
    "text as epsilon": ({"epsilon": "a"}, lambda X, y: (X, y), "epsilon must be .*'a'"),
    "no epsilon": ({"epsilon": None}, lambda X, y: (X, y), "epsilon must be .*None"),
    "epsilon": ({"epsilon": -1.0}, lambda X, y: (X, y), "epsilon must be"),
    "epsilon twice": (
        {"epsilon": 0.2, "loss": SquaredEpsilonInsensitive(0.1)},
        lambda X, y: (X, y),
        "give epsilon once",
    ),
    "loss": ({"loss": "hinge"}, lambda X, y: (X, y), "'epsilon_insensitive'"),
    "loss object": ({"loss": Hinge()}, lambda X, y: (X, y), "'epsilon_insensitive'"),
    "both": ({"C": 1.0, "lam": 0.1}, lambda X, y: (X, y), "C or lam, not both"),
    "weights": ({}, lambda X, y: (X, y, -np.ones(len(y))), "row 0 has -1"),
}


@pytest.mark.parametrize(("options", "spoil", "sentence"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_a_sentence(data, options, spoil, sentence):
    with pytest.raises(ValueError, match=sentence):
        LinearSVR(**options).fit(*spoil(*data))


def test_strings_get_no_advice_for_labels(data):
    X, y = data
    with pytest.raises(ValueError, match=r"^y must hold numbers, not <U1$"):
        LinearSVR().fit(X, np.full(len(y), "a"))


def test_epsilon_cannot_change_within_a_stream(data):
    model = LinearSVR().partial_fit(*data).set_params(epsilon=0.5)
    with pytest.raises(ValueError, match="the stream began with epsilon="):
        model.partial_fit(*data)


@pytest.mark.parametrize("norm", [1e75, 1e150])
def test_one_enormous_row_does_not_make_the_model_worse_than_none(data, norm):
    X, y = data
    X = X.copy()
    X[0] *= norm / np.linalg.norm(X[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LinearSVR(fit_intercept=False, max_passes=50).fit(X, y)
    assert model.certificate_.primal <= np.abs(y).sum() * (1 + 1e-12)


def test_no_tolerance_no_warning(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not LinearSVR(tol=None, max_passes=1).fit(*data).converged_
