"""ONNX: what onnxruntime computes is what our estimators do, to single precision."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from some_models import SCORE, THREE, TWO, WORDS, X, model

import pegasos.models.onnx
from pegasos import LinearSVC, LinearSVR, save_model

skl2onnx = pytest.importorskip("skl2onnx")
onnxruntime = pytest.importorskip("onnxruntime")

CLASSIFIERS = [
    *("two", "two, no intercept", "two words", "two booleans", "two floats", "two, ovo"),
    *("ovr", "ovr words", "ovr, no intercept", "ovo", "ovo four", "stream", "stream of words"),
]


def run(path, rows):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    assert [(i.name, i.type, i.shape) for i in session.get_inputs()] == [
        ("X", "tensor(float)", [None, rows.shape[1]])
    ]
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": rows.astype(np.float32)})))


def assert_close(found, expected):
    """Within 1e-5 of the size of the scores."""
    assert found.shape == expected.shape
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def apart(scores):
    """The rows whose best score is no tie in single precision: support vectors make exact ties."""
    if scores.ndim == 1:
        return np.abs(scores) > 1e-5 * np.abs(scores).max()
    best = np.sort(scores, axis=1)[:, -2:]
    return best[:, 1] - best[:, 0] > 1e-5 * np.abs(scores).max()


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_labels_are_equal_and_scores_close(name, tmp_path):
    ours, rows = model(name), X.astype(np.float32)
    notes = save_model(ours, tmp_path / "m.onnx")
    assert "single precision" in notes[-1]
    found = run(tmp_path / "m.onnx", rows)
    clear = apart(ours.decision_function(rows))
    assert clear.sum() > 50
    assert found["label"][clear].tolist() == ours.predict(rows)[clear].tolist()
    assert_close(found["scores"], ours.decision_function(rows))


@pytest.mark.parametrize("name", ["svr", "svr squared", "stream svr"])
def test_predicted_targets_are_close(name, tmp_path):
    ours, rows = model(name), X.astype(np.float32)
    save_model(ours, tmp_path / "m", format="onnx")
    assert_close(run(tmp_path / "m", rows)["variable"], ours.predict(rows))


@pytest.mark.parametrize("labels", [TWO, THREE, WORDS[THREE]])
def test_a_pipeline_is_saved_whole(labels, tmp_path):
    rows = (X * [1.0, 10.0, 0.1, 1.0] + 3).astype(np.float32)
    ours = make_pipeline(StandardScaler(), MinMaxScaler(), LinearSVC()).fit(rows, labels)
    save_model(ours, tmp_path / "m.onnx")
    found = run(tmp_path / "m.onnx", rows)
    assert found["label"].tolist() == ours.predict(rows).tolist()
    assert_close(found["scores"], ours.decision_function(rows))
    ours = make_pipeline(StandardScaler(), LinearSVR()).fit(rows, SCORE)
    save_model(ours, tmp_path / "m.onnx", force=True)
    assert_close(run(tmp_path / "m.onnx", rows)["variable"], ours.predict(rows))


def test_skl2onnx_converts_in_double_precision_where_asked():
    ours = make_pipeline(StandardScaler(), LinearSVC()).fit(X, THREE)
    pegasos.models.onnx.register()
    graph = skl2onnx.to_onnx(ours, X[:1])
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    label, scores = session.run(None, {"X": X})
    np.testing.assert_allclose(scores, ours.decision_function(X), rtol=1e-12, atol=1e-12)
    assert label.tolist() == ours.predict(X).tolist()


def test_rows_of_whole_numbers_are_taken():
    ours, rows = model("ovr"), np.arange(12, dtype=np.int64).reshape(3, 4)
    pegasos.models.onnx.register()
    graph = skl2onnx.to_onnx(ours, rows[:1])
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    label, _ = session.run(None, {"X": rows})
    assert label.tolist() == ours.predict(rows).tolist()


def test_ties_go_as_in_our_own_prediction(tmp_path):
    for name in ("two", "ovr", "ovo"):
        ours = model(name)
        ours.coef_, ours.intercept_ = np.zeros_like(ours.coef_), np.zeros_like(ours.intercept_)
        save_model(ours, tmp_path / "m.onnx", force=True)
        assert run(tmp_path / "m.onnx", X)["label"].tolist() == ours.predict(X).tolist()


def test_labels_that_are_converted_are_told(tmp_path):
    notes = save_model(model("two floats"), tmp_path / "a.onnx")
    assert notes[0] == "the labels are written as whole numbers"
    assert len(save_model(model("ovr words"), tmp_path / "b.onnx")) == 1


class Unknown(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return X


@pytest.mark.parametrize(
    ("estimator", "error", "sentence"),
    [
        (LinearSVC(), ValueError, "not fitted"),
        (
            StandardScaler(),
            TypeError,
            "holds a LinearSVC or a LinearSVR of pegasos, not a Standard",
        ),
        (make_pipeline(StandardScaler()), TypeError, "not a StandardScaler"),
        (
            make_pipeline(Unknown(), LinearSVC()).fit(X, TWO),
            ValueError,
            "skl2onnx cannot convert this pipeline",
        ),
        (
            make_pipeline(CountVectorizer(), LinearSVC()).fit(["one", "two"], [0, 1]),
            ValueError,
            "this pipeline does not begin with a table of numbers",
        ),
        (
            LinearSVC().fit(X, (TWO > 0).astype(np.uint64) * np.uint64(2**63 + 1)),
            ValueError,
            "has text or whole numbers as labels, and this model has",
        ),
    ],
)
def test_what_cannot_be_exported_is_refused(estimator, error, sentence, tmp_path):
    with pytest.raises(error, match=sentence) as caught:
        save_model(estimator, tmp_path / "m.onnx")
    assert "\n" not in str(caught.value)
    assert [*tmp_path.iterdir()] == []


def test_coefficients_beyond_single_precision_are_refused(tmp_path):
    ours = model("two")
    ours.coef_ = ours.coef_ * 1e300
    with pytest.raises(ValueError, match=r"coefficients beyond 3\.4e\+38"):
        save_model(ours, tmp_path / "m.onnx")


def test_importing_the_package_of_models_loads_no_optional_dependency():
    code = (
        "import sys, pegasos.models.onnx, pegasos.models.native\n"
        "print({'onnx', 'skl2onnx', 'safetensors', 'onnxruntime'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
