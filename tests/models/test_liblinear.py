"""LIBLINEAR's model files: to the bit through our own reading, and the same in its own program."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from some_models import SCORE, THREE, TWO, X, model, scores

from pegasos import LinearSVC, LinearSVR, load_model, save_model
from pegasos.data import DataError

LINEAR = [
    *("two", "two squared", "two logistic", "two, no intercept", "two, penalised", "two floats"),
    *("two, ovo", "ovr", "ovr, no intercept", "stream", "svr", "svr squared", "two booleans"),
]


def written(estimator, path):
    save_model(estimator, path, format="liblinear", force=True)
    return path


@pytest.mark.parametrize("name", LINEAR)
def test_our_reading_gives_the_same_bits(name, tmp_path):
    before = model(name)
    after = load_model(written(before, tmp_path / "m"))
    assert type(after) is type(before)
    assert np.array_equal(after.coef_, before.coef_)
    assert np.array_equal(after.intercept_, before.intercept_)
    assert np.array_equal(scores(after), scores(before))
    assert np.array_equal(after.predict(X), before.predict(X))
    assert after.fit_intercept == before.fit_intercept
    if isinstance(before, LinearSVC):
        assert after.classes_.dtype == np.int64


@pytest.mark.parametrize("name", LINEAR)
def test_liblinear_predicts_the_same_from_our_file(name, tmp_path):
    liblinear = pytest.importorskip("liblinear.liblinearutil")
    ours = model(name)
    theirs = liblinear.load_model(str(written(ours, tmp_path / "m")))
    labels, _, values = liblinear.predict([], X, theirs, "-q")
    found = scores(ours)
    np.testing.assert_allclose(
        np.reshape(values, (60, -1)), found.reshape(60, -1), rtol=1e-12, atol=1e-12
    )
    if isinstance(ours, LinearSVC):
        assert np.array_equal(labels, ours.predict(X).astype(float))
    else:
        np.testing.assert_allclose(labels, ours.predict(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("bias", [-1, 0, 1, 2.5])
@pytest.mark.parametrize("solver_type", [0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 13])
@pytest.mark.parametrize("classes", [2, 3])
def test_we_predict_the_same_from_liblinears_file(classes, solver_type, bias, tmp_path):
    liblinear = pytest.importorskip("liblinear.liblinearutil")
    path = str(tmp_path / "m")
    # The labels in which the first row's is neither the smallest nor the largest.
    y = SCORE if solver_type > 10 else np.array([7, 12, -3])[THREE if classes == 3 else TWO]
    theirs = liblinear.train(y, X, f"-s {solver_type} -B {bias} -q")
    liblinear.save_model(path, theirs)
    labels, _, values = liblinear.predict([], X, theirs, "-q")
    values = np.array(values)
    ours = load_model(path)
    if solver_type > 10:
        assert isinstance(ours, LinearSVR)
        np.testing.assert_allclose(ours.predict(X), values[:, 0], rtol=1e-12, atol=1e-12)
        return
    assert np.array_equal(ours.predict(X), labels)
    expected = values[:, np.argsort(theirs.get_labels())] if classes == 3 else values[:, 0]
    if classes == 2 and theirs.get_labels()[0] < theirs.get_labels()[1]:
        expected = -expected
    np.testing.assert_allclose(ours.decision_function(X), expected, rtol=1e-12, atol=1e-12)
    assert ours.fit_intercept is (bias >= 0)
    again = load_model(written(ours, tmp_path / "again"))
    assert np.array_equal(again.decision_function(X), ours.decision_function(X))


def test_what_is_written(tmp_path):
    estimator = model("two")
    estimator.coef_ = np.array([[0.1, 0.0, -2.0, 1e-300]])
    estimator.intercept_ = np.array([1.0 / 3.0])
    notes = save_model(estimator, tmp_path / "m", format="liblinear")
    assert (tmp_path / "m").read_text() == (
        "solver_type L2R_L1LOSS_SVC_DUAL\nnr_class 2\nlabel 1 -1\nnr_feature 4\nbias 1\nw\n"
        "0.10000000000000001 \n0 \n-2 \n1e-300 \n0.33333333333333331 \n"
    )
    assert notes == (
        "a LIBLINEAR file holds no certificate, no parameters and no names of features",
    )


def test_nothing_is_claimed_to_be_proved(tmp_path):
    for name in ("ovr", "svr"):
        found = load_model(written(model(name), tmp_path / "m"))
        assert found.certificate_.how.startswith("read from a file of LIBLINEAR, L2R_L1LOSS_SV")
        assert found.certificate_.relative_gap == np.inf
        assert np.isnan([found.certificate_.primal, found.certificate_.dual]).all()
        assert len(found.certificates_) == np.atleast_2d(found.coef_).shape[0]
        assert found.converged_ is False
        assert "nothing is proved" in found.summary_
        assert found._repr_html_()


def test_a_model_from_liblinear_warms_a_start_and_is_saved_as_ours(tmp_path):
    found = load_model(written(model("two"), tmp_path / "m"))
    save_model(found, tmp_path / "ours")
    again = load_model(tmp_path / "ours")
    assert np.array_equal(again.coef_, found.coef_)
    assert again.certificate_.how == found.certificate_.how
    again.set_params(warm_start=True).fit(X, TWO)
    assert again.certificate_.relative_gap <= 1e-3


def test_labels_that_are_converted_are_told(tmp_path):
    notes = save_model(model("two booleans"), tmp_path / "a", format="liblinear")
    assert notes[0] == "the labels False, True are written as 0, 1"
    notes = save_model(model("two floats"), tmp_path / "b", format="liblinear")
    assert notes[0] == "the labels -1.0, 1.0 are written as -1, 1"


@pytest.mark.parametrize(
    ("estimator", "sentence"),
    [
        (
            lambda: model("two words"),
            "has only whole numbers as labels, and this model has no: fit",
        ),
        (lambda: model("ovr words"), "has only whole numbers as labels"),
        (
            lambda: model("ovo"),
            "one against one, with a vote between 3 classes: fit it with multi_",
        ),
        (lambda: LinearSVC().fit(X, TWO * 2**40), "LIBLINEAR's labels go up to 2147483647"),
    ],
)
def test_what_liblinear_has_no_place_for_is_refused(estimator, sentence, tmp_path):
    with pytest.raises(ValueError, match=sentence):
        save_model(estimator(), tmp_path / "m", format="liblinear")
    assert [*tmp_path.iterdir()] == []


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_random_models_come_back_to_the_bit(tmp_path_factory, data):
    finite = st.floats(allow_nan=False, allow_infinity=False)
    d = data.draw(st.integers(1, 4))
    labels = st.lists(st.integers(1 - 2**31, 2**31 - 1), min_size=2, max_size=4, unique=True)
    classes = np.array(sorted(data.draw(labels)))
    k = 1 if classes.size == 2 else classes.size
    before = model("two" if k == 1 else "ovr")
    before.classes_, before.n_features_in_ = classes, d
    numbers = st.lists(finite, min_size=k, max_size=k)
    before.coef_ = np.array([data.draw(numbers) for _ in range(d)]).T.copy()
    before.intercept_ = np.array(data.draw(numbers))
    after = load_model(written(before, tmp_path_factory.getbasetemp() / "liblinear"))
    assert after.coef_.tobytes() == before.coef_.tobytes()
    assert after.intercept_.tobytes() == before.intercept_.tobytes()
    assert np.array_equal(after.classes_, classes)


GOOD = "solver_type L2R_LR\nnr_class 2\nlabel 7 3\nnr_feature 2\nbias 1\nw\n0.5 \n-1 \n2 \n"
BAD = {
    "cut in the header": (GOOD[:40], "line 4: the file ends where a line of the header"),
    "cut in the weights": (GOOD[:-3], "line 9: the file ends where row 3 of the 3 rows of w"),
    "cut early": (GOOD[:-9], "3 rows of 1 weights do not fit into the"),
    "endless features": (GOOD.replace("nr_feature 2", "nr_feature 123456789012345"), "do not fit"),
    "no features": (GOOD.replace("nr_feature 2", "nr_feature 0"), "its nr_feature is 0"),
    "too many rows": (GOOD + "1 \n", "line 10: more than the 3 rows of w"),
    "too many weights": (GOOD.replace("0.5", "0.5 1"), "line 7: 2 weights where 1 belong"),
    "no number": (GOOD.replace("0.5", "0,5"), "line 7: '0,5' is not a finite number"),
    "nan": (GOOD.replace("0.5", "nan"), "line 7: 'nan' is not a finite number"),
    "underscore": (GOOD.replace("0.5", "1_0"), "line 7: '1_0' is not a finite number"),
    "overflow": (GOOD.replace("0.5", "1e400"), "line 7: '1e400' is too large for a number"),
    "bias overflows": (
        GOOD.replace("bias 1", "bias 1e200").replace("\n2 ", "\n1e200 "),
        "its bias times the last row of w overflows",
    ),
    "unknown type": (GOOD.replace("L2R_LR", "L3"), "the solver_type 'L3' is none of LIBLINEAR's"),
    "one class": (GOOD.replace("L2R_LR", "ONECLASS_SVM"), "it is a one-class model"),
    "rho": (GOOD.replace("w\n", "rho 1\nw\n"), "it is a one-class model"),
    "unknown line": (GOOD.replace("bias", "biass"), "line 5: 'biass' is not known in the header"),
    "twice": (GOOD.replace("bias 1", "bias 1\nbias 1"), "line 6: bias stands twice"),
    "no bias": (GOOD.replace("bias 1\n", ""), "the header lacks bias"),
    "labels missing": (GOOD.replace("label 7 3\n", ""), "it has nr_class 2 and 0 labels"),
    "equal labels": (GOOD.replace("7 3", "3 3"), "it has nr_class 2 and 1 labels"),
    "labels in words": (GOOD.replace("7 3", "a b"), "line 3: 'a' is not a label, a whole number"),
    "long labels": (
        GOOD.replace("7 3", "7" * 99 + " 3"),
        "line 3: '777777777777777777777777777777777777777777777777777777777...' is not a label",
    ),
    "classes of a regression": (GOOD.replace("L2R_LR", "L2R_L2LOSS_SVR"), "a regression has nr_cl"),
    "junk": ("solver_type \xff\xfe\x00", "line 1: the solver_type '"),
    "minus classes": (GOOD.replace("nr_class 2", "nr_class -2"), "it has nr_class -2"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_with_a_sentence(name, tmp_path):
    text, sentence = BAD[name]
    path = tmp_path / "m"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError) as caught:
        load_model(path)
    assert sentence in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")


def test_windows_line_ends_and_missing_last_spaces_are_fine(tmp_path):
    (tmp_path / "m").write_bytes(GOOD.replace(" \n", "\n").replace("\n", "\r\n").encode())
    found = load_model(tmp_path / "m")
    assert found.coef_.tolist() == [[0.5, -1.0]]
    assert found.intercept_.tolist() == [2.0]
    assert found.classes_.tolist() == [3, 7]
