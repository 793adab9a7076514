"""SVM-light's model files: to the bit through our own reading, and as svm_classify computes."""

import math
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from some_models import SCORE, TWO, X, model, scores

from pegasos import LinearSVC, LinearSVR, load_model, save_model
from pegasos.data import DataError
from pegasos.models.svm_light import FREE_FEATURES

NAMES = ["two", "two squared", "two, no intercept", "two floats", "stream", "svr", "svr squared"]


def written(estimator, path):
    save_model(estimator, path, format="svm-light", force=True)
    return path


def svm_classify(path, rows):
    """A twin of ``svm_classify``: values in single precision, sums in double, 8 digits."""
    lines = path.read_text().splitlines()
    assert lines[0] == "SVM-light Version V6.02"
    n, vectors = int(lines[7].split()[0]), int(lines[9].split()[0]) - 1
    b = float(lines[10].split()[0])
    weights = [0.0] * (n + 1)
    assert len(lines) == 11 + vectors
    for line in lines[11:]:
        alpha, *pairs = line.split("#")[0].split()
        for pair in pairs:
            j, value = pair.split(":")
            weights[int(j)] += float(alpha) * float(np.float32(value))
    found = [
        math.fsum(weights[j + 1] * float(np.float32(v)) for j, v in enumerate(x)) for x in rows
    ]
    return np.array([float(f"{value - b:.8g}") for value in found])


@pytest.mark.parametrize("name", NAMES)
def test_our_reading_gives_the_same_bits(name, tmp_path):
    before = model(name)
    after = load_model(written(before, tmp_path / "m"))
    assert type(after) is type(before)
    assert np.array_equal(after.coef_, before.coef_)
    assert np.array_equal(scores(after), scores(before))
    assert np.array_equal(after.predict(X), before.predict(X))


@pytest.mark.parametrize("name", NAMES)
def test_svm_classify_would_print_our_scores(name, tmp_path):
    rows = X.astype(np.float32)
    expected = scores(model(name), rows)
    found = svm_classify(written(model(name), tmp_path / "m"), rows)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-14)


@pytest.mark.skipif(shutil.which("svm_classify") is None, reason="SVM-light is not installed")
@pytest.mark.parametrize("name", NAMES)
def test_svm_classify_prints_our_scores(name, tmp_path):
    rows = X.astype(np.float32)
    text = "".join(
        "1 " + " ".join(f"{j + 1}:{float(v):.9g}" for j, v in enumerate(x)) + "\n" for x in rows
    )
    (tmp_path / "rows").write_text(text)
    path, out = written(model(name), tmp_path / "m"), tmp_path / "out"
    subprocess.run(["svm_classify", tmp_path / "rows", path, out], check=True, capture_output=True)
    expected = scores(model(name), rows)
    np.testing.assert_allclose(np.loadtxt(out), expected, rtol=1e-7, atol=1e-14)


@pytest.mark.skipif(shutil.which("svm_learn") is None, reason="SVM-light is not installed")
@pytest.mark.parametrize("kind", ["c", "r"])
def test_we_score_as_svm_classify_does_from_svm_lights_file(kind, tmp_path):
    y = TWO if kind == "c" else SCORE
    text = "".join(
        f"{t:.9g} " + " ".join(f"{j + 1}:{float(v):.9g}" for j, v in enumerate(x)) + "\n"
        for t, x in zip(y, X)
    )
    (tmp_path / "rows").write_text(text)
    path, out = tmp_path / "m", tmp_path / "out"
    for command in (
        ["svm_learn", "-z", kind, "-t", "0", tmp_path / "rows", path],
        ["svm_classify", tmp_path / "rows", path, out],
    ):
        subprocess.run(command, check=True, capture_output=True)
    found = load_model(path).decision_function(X)
    np.testing.assert_allclose(found, np.loadtxt(out), rtol=1e-6, atol=1e-6)


def test_what_is_written(tmp_path):
    estimator = model("two")
    estimator.coef_ = np.array([[0.1, 0.0, -2.0, 1e-300]])
    estimator.intercept_ = np.array([1.0 / 3.0])
    notes = save_model(estimator, tmp_path / "m", format="svm-light")
    assert (tmp_path / "m").read_text().splitlines() == [
        "SVM-light Version V6.02",
        "0 # kernel type",
        "3 # kernel parameter -d ",
        "1 # kernel parameter -g ",
        "1 # kernel parameter -s ",
        "1 # kernel parameter -r ",
        "empty# kernel parameter -u ",
        "4 # highest feature index ",
        "0 # number of training documents ",
        "4 # number of support vectors plus 1 ",
        "-0.33333333333333331 # threshold b, each following line is a SV (starting with alpha*y)",
        "0.10000000000000001 1:1 #",
        "-2 3:1 #",
        "1e-300 4:1 #",
    ]
    assert notes == (
        "an SVM-light file holds no certificate, no parameters and no names of features",
    )


def test_any_number_of_support_vectors_is_summed_up(tmp_path):
    lines = [*GOOD[:9], "4 # number of support vectors plus 1 ", *GOOD[10:11]]
    lines += ["1 1:0.5 3:2 #", "-0.5 2:4 3:1 # a comment", "0.25 #"]
    (tmp_path / "m").write_text("\n".join(lines) + "\n")
    found = load_model(tmp_path / "m")
    assert found.coef_.tolist() == [[0.5, -2.0, 1.5]]
    assert found.intercept_.tolist() == [0.25]
    assert found.classes_.tolist() == [-1, 1]
    assert found.certificate_.how == "read from a file of SVM-light: nothing is proved"
    assert found.predict([[1.0, 0, 0], [0, 1.0, 0]]).tolist() == [1, -1]


def test_what_is_converted_is_told(tmp_path):
    words = save_model(model("two words"), tmp_path / "a", format="svm-light")
    assert words[0] == (
        "the label 'yes, and a long one: ä' is written as +1 and 'no' as -1: SVM-light knows no "
        "others"
    )
    assert load_model(tmp_path / "a").classes_.tolist() == [-1, 1]
    regression = save_model(model("svr"), tmp_path / "b", format="svm-light")
    assert "does not know that this is a regression" in regression[0]
    assert isinstance(load_model(tmp_path / "b"), LinearSVR)


def test_what_svm_light_has_no_place_for_is_refused(tmp_path):
    for name in ("ovr", "ovo"):
        with pytest.raises(ValueError, match="separates two classes, and this model has 3"):
            save_model(model(name), tmp_path / "m", format="svm-light")
    wide = LinearSVC()
    wide.classes_, wide.n_features_in_ = np.array([-1, 1]), FREE_FEATURES + 10_000
    wide._scheme_of_fit, wide.intercept_ = "ovr", 0.0
    wide.coef_ = np.zeros((1, wide.n_features_in_))
    with pytest.raises(ValueError, match="features, nearly all without weight"):
        save_model(wide, tmp_path / "m", format="svm-light")
    assert [*tmp_path.iterdir()] == []


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6),
    st.floats(allow_nan=False, allow_infinity=False),
)
def test_random_models_come_back_to_the_bit(tmp_path_factory, w, b):
    before = model("two")
    before.n_features_in_, before.coef_ = len(w), np.array([w])
    before.intercept_ = np.array([b])
    after = load_model(written(before, tmp_path_factory.getbasetemp() / "light"))
    assert np.array_equal(after.coef_, before.coef_)
    assert after.intercept_.tobytes() == before.intercept_.tobytes()


GOOD = [
    "SVM-light Version V6.02",
    "0 # kernel type",
    "3 # kernel parameter -d ",
    "1 # kernel parameter -g ",
    "1 # kernel parameter -s ",
    "1 # kernel parameter -r ",
    "empty# kernel parameter -u ",
    "3 # highest feature index ",
    "7 # number of training documents ",
    "2 # number of support vectors plus 1 ",
    "-0.25 # threshold b, each following line is a SV (starting with alpha*y)",
    "1 1:0.5 3:2 #",
]
BAD = {
    "cut in the header": (5, None, "line 6: the file ends where the kernel parameter -r should be"),
    "cut in the vectors": (11, None, "line 12: the file ends where a support vector should be"),
    "another kernel": (1, "2 # kernel type", "line 2: the kernel type is 2, and only 0"),
    "a kernel in words": (1, "rbf # kernel type", "line 2: 'rbf' is not the kernel type, a whole"),
    "another line": (
        2,
        "1 # kernel parameter -g",
        "line 3: 'kernel parameter -g' where the kernel",
    ),
    "no comment": (7, "3", "line 8: '' where the highest feature index belongs"),
    "no features": (7, "0 # highest feature index", "line 11: the model has no features"),
    "too many features": (
        7,
        f"{10**15} # highest feature index",
        "too many for a file of 368 bytes",
    ),
    "endless features": (7, f"{10**30} # highest feature index", "is not a feature index, a whole"),
    "no vectors": (9, "0 # number of support vectors plus 1", "fewer than no support vectors"),
    "too many vectors": (
        9,
        "1 # number of support vectors plus 1",
        "line 12: more than the 0 supp",
    ),
    "too few vectors": (
        9,
        f"{10**15} # number of support vectors plus 1",
        "line 13: the file ends",
    ),
    "no threshold": (10, "nan # threshold b", "line 11: 'nan' is not a finite number"),
    "no alpha": (11, "#", "line 12: an empty line where a support vector belongs"),
    "alpha a pair": (11, "1:1 2:1 #", "line 12: '1:1' is not a finite number"),
    "no pair": (11, "1 0.5 #", "line 12: '0.5' is not a feature with its value, index:value"),
    "a query": (11, "1 qid:3 1:1 #", "line 12: 'qid' is not a feature index, a whole number"),
    "no value": (11, "1 1: #", "line 12: '' is not a finite number"),
    "beyond the last": (11, "1 4:1 #", "line 12: feature 4 after 0: they ascend from 1 to the hig"),
    "zero": (11, "1 0:1 #", "line 12: feature 0 after 0"),
    "descending": (11, "1 2:1 1:1 #", "line 12: feature 1 after 2"),
    "twice": (11, "1 2:1 2:1 #", "line 12: feature 2 after 2"),
    "overflow": (11, "1e300 1:1e300 #", "the sum of its support vectors overflows"),
    "infinite": (11, "1 1:1e999 #", "line 12: '1e999' is too large for a number"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_with_a_sentence(name, tmp_path):
    at, line, sentence = BAD[name]
    lines = GOOD[:at] if line is None else [*GOOD[:at], line, *GOOD[at + 1 :]]
    path = tmp_path / "m"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError) as caught:
        load_model(path)
    assert sentence in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")
