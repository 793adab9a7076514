"""``pegasos predict`` and ``pegasos evaluate``: what the estimator itself would say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics

from pegasos import LinearSVC
from pegasos.data import Data, load, write_store
from pegasos.models import load_model, save_model


@pytest.fixture
def model(two, tmp_path):
    """A model of the 200 rows, in a file, and the 100 other rows."""
    data = load(tmp_path / "two.svm")
    fitted = LinearSVC().fit(data.X, data.y)
    save_model(fitted, tmp_path / "m")
    return fitted, load(tmp_path / "two.t.svm", n_features=6)


@pytest.fixture
def colours(three, tmp_path):
    data = load(tmp_path / "three.svm")
    fitted = LinearSVC().fit(data.X, data.y)
    save_model(fitted, tmp_path / "m")
    return fitted, data


def numbers(text):
    return np.array([[float(word) for word in line.split()] for line in text.splitlines()])


def test_one_label_a_line(pegasos, model):
    fitted, data = model
    out = pegasos("predict", "m", "two.t.svm")
    assert set(out.split()) == {"1", "-1"}
    assert_array_equal(numbers(out)[:, 0], fitted.predict(data.X))


def test_scores_to_the_last_digit(pegasos, model):
    fitted, data = model
    out = pegasos("predict", "m", "two.t.svm", "--scores")
    assert_array_equal(numbers(out)[:, 0], fitted.decision_function(data.X))


def test_words_and_a_score_for_each_class(pegasos, colours):
    fitted, data = colours
    assert pegasos("predict", "m", "three.svm").split() == fitted.predict(data.X).tolist()
    scores = numbers(pegasos("predict", "m", "three.svm", "--scores"))
    assert_array_equal(scores, fitted.decision_function(data.X))


def test_into_a_file_that_is_not_overwritten(pegasos, model, tmp_path):
    fitted, data = model
    assert pegasos("predict", "m", "two.t.svm", "-o", "out") == ""
    assert "100 rows" in pegasos.err
    before = (tmp_path / "out").read_text()
    assert_array_equal(numbers(before)[:, 0], fitted.predict(data.X))
    pegasos("predict", "m", "two.t.svm", "-o", "out", "--scores", code=3)
    assert "out exists" in pegasos.err
    assert (tmp_path / "out").read_text() == before
    pegasos("predict", "m", "two.t.svm", "-o", "out", "--scores", "--force")
    assert (tmp_path / "out").read_text() != before


def test_bad_data_leaves_no_file(pegasos, model, tmp_path):
    (tmp_path / "bad.svm").write_text("1 1:1\n1 2:nan\n")
    pegasos("predict", "m", "bad.svm", "-o", "out", code=2)
    assert "bad.svm:2:" in pegasos.err
    assert not [path for path in tmp_path.iterdir() if "out" in path.name]


def test_json(pegasos, model):
    fitted, data = model
    answer = pegasos.answer("predict", "m", "two.t.svm")
    assert answer["rows"] == 100
    assert answer["predictions"] == fitted.predict(data.X).tolist()
    answer = pegasos.answer("predict", "m", "two.t.svm", "--scores")
    assert_array_equal(answer["scores"], fitted.decision_function(data.X))
    answer = pegasos.answer("predict", "m", "two.t.svm", "-o", "out")
    assert answer["output"] == "out"
    assert "predictions" not in answer


def test_a_store_and_a_table_for_the_same_model(pegasos, model, two, tmp_path):
    fitted, data = model
    write_store(tmp_path / "t.store", data, block_rows=7)
    assert_array_equal(numbers(pegasos("predict", "m", "t.store"))[:, 0], fitted.predict(data.X))
    lines = [",".join(map(repr, row)) for row in two[0][200:].astype(float).tolist()]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,d,e,f", *lines]) + "\n")
    assert_array_equal(numbers(pegasos("predict", "m", "t.csv"))[:, 0], fitted.predict(data.X))


def test_features_that_the_rows_lack_count_as_zero(pegasos, model, tmp_path):
    fitted, _ = model
    (tmp_path / "few.svm").write_text("1 1:1\n1 2:0.5\n")
    out = numbers(pegasos("predict", "m", "few.svm", "--scores"))[:, 0]
    assert_allclose(out, fitted.decision_function([[1, 0, 0, 0, 0, 0], [0, 0.5, 0, 0, 0, 0]]))


@pytest.mark.parametrize("kind", ["svm", "store", "csv"])
def test_features_that_the_model_lacks_are_refused(pegasos, model, tmp_path, kind):
    text = tmp_path / "many.svm"
    text.write_text("1 1:1\n1 2:0.5 9:1\n")
    if kind == "store":
        write_store(tmp_path / "many.store", load(text))
    if kind == "csv":
        (tmp_path / "many.csv").write_text("a,b,c,d,e,f,g,y\n1,2,3,4,5,6,7,1\n")
    for command in ("predict", "evaluate"):
        pegasos(command, "m", f"many.{kind}", "--quiet", code=2)
        assert "many." in pegasos.err
        assert pegasos.err.count("\n") == 1
        assert {"svm": "2:9", "store": "row 2 has feature 9", "csv": "features"}[kind] in (
            pegasos.err
        )


def test_a_table_is_encoded_as_it_was_for_the_training(pegasos, houses, tmp_path):
    words = "--task regress --target price --categorical town"
    pegasos("train", "houses.csv", *words.split())
    (tmp_path / "new.csv").write_text("town,size\ny,2\nx,2\nz,2\n")
    y, x, unknown = numbers(pegasos("predict", "houses.pegasos", "new.csv"))[:, 0]
    fitted = load_model(tmp_path / "houses.pegasos")
    expected = fitted.coef_ @ [[2, 2, 2], [0, 1, 0], [1, 0, 0]] + fitted.intercept_
    assert_allclose([y, x, unknown], expected)
    (tmp_path / "new.csv").write_text("town,price\ny,2\n")
    pegasos("predict", "houses.pegasos", "new.csv", code=2)
    assert "no column for the feature 'size'" in pegasos.err


def test_no_scores_of_a_regression(pegasos, houses):
    words = "--task regress --target price --columns size"
    pegasos("train", "houses.csv", *words.split())
    pegasos("predict", "houses.pegasos", "houses.csv", "--scores", code=2)
    assert "predicts numbers" in pegasos.err


def test_evaluate_agrees_with_scikit_learn(pegasos, model):
    fitted, data = model
    predicted, scores = fitted.predict(data.X), fitted.decision_function(data.X)
    answer = pegasos.answer("evaluate", "m", "two.t.svm")
    assert answer["rows"] == 100
    assert answer["accuracy"] == pytest.approx(np.mean(predicted == data.y))
    assert answer["error"] == pytest.approx(np.mean(predicted != data.y))
    assert answer["hinge_loss"] == pytest.approx(np.maximum(0, 1 - data.y * scores).mean())
    assert answer["confusion"] == metrics.confusion_matrix(data.y, predicted).tolist()
    by_class = {one["class"]: one for one in answer["per_class"]}
    assert by_class[1]["recall"] == pytest.approx(metrics.recall_score(data.y, predicted))
    assert by_class[1]["precision"] == pytest.approx(metrics.precision_score(data.y, predicted))
    assert by_class[1]["f1"] == pytest.approx(metrics.f1_score(data.y, predicted))


def test_evaluate_for_people(pegasos, colours):
    out = pegasos("evaluate", "m", "three.svm")
    for word in ("accuracy", "precision", "blue", "Confusion"):
        assert word in out


def test_evaluate_a_regression(pegasos, houses):
    words = "--task regress --target price --categorical town"
    pegasos("train", "houses.csv", *words.split())
    answer = pegasos.answer("evaluate", "houses.pegasos", "houses.csv", "--target", "price")
    out = numbers(pegasos("predict", "houses.pegasos", "houses.csv"))[:, 0]
    price = np.array([float(f"{p:.6g}") for p in houses[2]])
    assert answer["mae"] == pytest.approx(np.abs(out - price).mean())
    assert answer["rmse"] == pytest.approx(np.sqrt(np.mean((out - price) ** 2)))
    assert answer["r2"] == pytest.approx(1 - np.mean((out - price) ** 2) / price.var())
    assert "R²" in pegasos("evaluate", "houses.pegasos", "houses.csv", "--target", "price")


def test_labels_that_were_not_trained_on(pegasos, colours, tmp_path):
    (tmp_path / "t.svm").write_text("pink 1:1\nred 1:9\n")
    pegasos("evaluate", "m", "t.svm", "--quiet", code=2)
    assert "the label 'pink' (1 rows) was not in the training data" in pegasos.err
    assert "--allow-unknown" in pegasos.err
    answer = pegasos.answer("evaluate", "m", "t.svm", "--allow-unknown")
    assert answer["accuracy"] == 0.5
    assert answer["unknown_labels"] == {"pink": 1}


def test_unknown_labels_after_a_training_keep_the_model(pegasos, two, tmp_path):
    (tmp_path / "t.svm").write_text("7 1:1\n1 1:9\n")
    pegasos("train", "two.svm", "--test", "t.svm", code=2)
    assert "the model is saved, but not tested: the label '7'" in pegasos.err
    assert load_model(tmp_path / "two.pegasos").converged_


def test_words_cannot_be_compared_with_numbers(pegasos, model, tmp_path):
    (tmp_path / "t.svm").write_text("spam 1:1\n")
    pegasos("evaluate", "m", "t.svm", "--quiet", code=2)
    assert "are words such as 'spam', those of the model numbers such as '-1'" in pegasos.err


def test_test_rows_have_the_index_base_of_the_training_rows(pegasos, tmp_path):
    (tmp_path / "zero.svm").write_text("1 0:1 2:1\n-1 1:1 2:1\n")
    (tmp_path / "t.svm").write_text("1 2:1\n")  # by itself it would count from 1
    pegasos("train", "zero.svm", "--test", "t.svm")
    (tmp_path / "t.svm").write_text("1 3:1\n")
    pegasos("train", "zero.svm", "--test", "t.svm", "--force", code=2)
    assert "t.svm:1:3" in pegasos.err


@pytest.mark.parametrize("trained_on", ["zero.svm", "zero.store"])
def test_a_model_knows_from_what_its_indices_count(pegasos, tmp_path, trained_on):
    (tmp_path / "zero.svm").write_text("1 0:1 2:1\n-1 1:1 2:1\n1 0:2\n-1 1:3\n")
    (tmp_path / "t.svm").write_text("1 1:1\n-1 2:1\n")  # by itself it would count from 1
    pegasos("convert", "zero.svm", "zero.store")
    pegasos("train", trained_on, "-o", "m")
    fitted = load_model(tmp_path / "m")
    assert fitted.index_base_ == 0
    assert pegasos.answer("info", "m")["index_base"] == 0
    assert "count from 0" in pegasos("info", "m")
    scores = numbers(pegasos("predict", "m", "t.svm", "--scores"))[:, 0]
    assert pegasos.err == ("  indices count from 0: as in the data that the model was trained on\n")
    assert_array_equal(scores, fitted.decision_function([[0, 1, 0], [0, 0, 1]]))
    scores = numbers(pegasos("predict", "m", "t.svm", "--scores", "--zero-based", "no"))[:, 0]
    assert "indices count from 1: as asked" in pegasos.err
    assert_array_equal(scores, fitted.decision_function([[1, 0, 0], [0, 1, 0]]))
    predicted = fitted.predict([[0, 1, 0], [0, 0, 1]])
    assert pegasos.answer("evaluate", "m", "t.svm")["accuracy"] == np.mean(predicted == [1, -1])
    assert "as in the data that the model was trained on" in pegasos.err


def test_a_model_of_indices_from_1_refuses_an_index_0(pegasos, model, two, tmp_path):
    (tmp_path / "t.svm").write_text("1 0:1\n")
    pegasos("train", "two.svm", "-o", "n")
    pegasos("predict", "n", "t.svm", "--quiet", code=2)
    assert "t.svm:1:3: " in pegasos.err
    pegasos("predict", "m", "t.svm")  # saved by hand: it does not know
    assert "an index 0 was found" in pegasos.err


def test_models_of_others_do_not_know_from_what_indices_count(pegasos, tmp_path):
    (tmp_path / "zero.svm").write_text("1 0:1 2:1\n-1 1:1 2:1\n")
    (tmp_path / "t.svm").write_text("1 1:1\n")
    pegasos("train", "zero.svm", "-o", "m", "--format", "liblinear")
    pegasos("predict", "m", "t.svm")
    assert "indices count from 1: no index 0 was found" in pegasos.err


def test_a_store_whose_columns_are_others_is_refused(pegasos, houses, tmp_path):
    words = "--target", "price", "--categorical", "town"
    pegasos("convert", "houses.csv", "houses.store", *words)
    pegasos("train", "houses.store", "--task", "regress", "-o", "m")
    names = load_model(tmp_path / "m").feature_names_in_.tolist()
    assert names == ["size", "town=x", "town=y"]
    out = numbers(pegasos("predict", "m", "houses.store"))
    assert_array_equal(out, numbers(pegasos("predict", "m", "houses.csv")))
    assert "feature names" not in pegasos.err
    data = load(tmp_path / "houses.csv", target="price", categorical=["town"])
    turned = Data(data.X[:, ::-1].copy(), data.y, feature_names=data.feature_names[::-1])
    write_store(tmp_path / "turned", turned)
    for command in ("predict", "evaluate"):
        pegasos(command, "m", "turned", "--quiet", code=2)
        assert pegasos.err == (
            "turned: feature 1 is 'town=y', where the model was trained on 'size': it is a model "
            "for other data, or for another order of columns\n"
        )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(None, "no such file"), (b"", "is empty"), (b"junk\0\1\2", "not a model")],
)
def test_what_is_no_model(pegasos, two, tmp_path, content, sentence):
    if content is not None:
        (tmp_path / "m").write_bytes(content)
    for command in ("predict", "evaluate"):
        pegasos(command, "m", "two.svm", "--quiet", code=2)
        assert sentence in pegasos.err.lower()
        assert pegasos.err.count("\n") == 1
