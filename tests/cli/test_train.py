"""``pegasos train``: what it saves, says and refuses."""

import tempfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pegasos import LinearSVC, LinearSVR, models
from pegasos.data import DataError, load, write_store
from pegasos.models import load_model, save_model


def test_the_model_is_the_estimators_own(pegasos, two, tmp_path):
    assert pegasos("train", "two.svm", "-C", "0.5") == ""
    data = load(tmp_path / "two.svm")
    ours, theirs = load_model(tmp_path / "two.pegasos"), LinearSVC(C=0.5).fit(data.X, data.y)
    assert_array_equal(ours.coef_, theirs.coef_)
    assert_array_equal(ours.intercept_, theirs.intercept_)
    assert ours.certificate_ == theirs.certificate_


def test_the_end_says_what_is_proved_and_where_the_model_is(pegasos, two):
    pegasos("train", "two.svm", "--test", "two.t.svm")
    assert "optimum" in pegasos.err
    assert ": proved" in pegasos.err
    assert "% of 100 rows right" in pegasos.err
    assert "model: two.pegasos" in pegasos.err
    for word in ("reading", "training", "saving", "testing"):
        assert word in pegasos.err


def test_quiet_says_nothing(pegasos, two):
    assert pegasos("train", "two.svm", "--quiet") == ""
    assert pegasos.err == ""


def test_lam_loss_bias_and_tolerance_reach_the_estimator(pegasos, two, tmp_path):
    words = "--lam 0.01 --loss squared_hinge --bias feature --tol 1e-5 --seed 3 --dtype float64"
    pegasos("train", "two.svm", *words.split(), "-o", "other")
    model = load_model(tmp_path / "other")
    assert (model.C, model.lam, model.loss, model.tol) == (None, 0.01, "squared_hinge", 1e-5)
    assert (model.fit_intercept, model.penalize_intercept) == (True, True)
    assert model.random_state == 3
    assert model.certificate_.relative_gap <= 1e-5
    pegasos("train", "two.svm", "--bias", "none", "-o", "third")
    assert load_model(tmp_path / "third").intercept_ == 0.0


def test_what_belongs_to_the_session_is_not_in_the_model(pegasos, two, tmp_path):
    pegasos("train", "two.svm", "--checkpoint", "run")
    model = load_model(tmp_path / "two.pegasos")
    assert (model.checkpoint, model.resume, model.on_event) == (None, False, None)
    parameters = pegasos.answer("info", "two.pegasos")["parameters"]
    assert not {"checkpoint", "resume", "on_event"} & set(parameters)


def test_json_for_machines(pegasos, two):
    answer = pegasos.answer("train", "two.svm", "--test", "two.t.svm", "--quiet")
    assert answer["model"] == "two.pegasos"
    assert answer["converged"] is True
    assert answer["interrupted"] is False
    assert 0 <= answer["certificate"]["relative_gap"] <= 1e-3
    assert answer["passes"] > 0
    assert set(answer["seconds"]) == {"reading", "training", "saving", "testing"}
    assert answer["data"]["rows"] == 200
    assert answer["data"]["features"] == 6
    assert answer["data"]["classes"] == [-1, 1]
    assert any("indices count from 1" in note for note in answer["notes"])
    assert answer["test"]["rows"] == 100
    assert 0.5 < answer["test"]["accuracy"] <= 1


def test_words_as_labels_and_several_classes(pegasos, three, tmp_path):
    answer = pegasos.answer("train", "three.svm", "--class-weight", "red=2", "--jobs", "2")
    assert answer["data"]["classes"] == ["blue", "green", "red"]
    assert len(answer["certificates"]) == 3
    model = load_model(tmp_path / "three.pegasos")
    assert model.class_weight == {"red": 2.0}
    data = load(tmp_path / "three.svm")
    weighed = LinearSVC(class_weight={"red": 2.0}).fit(data.X, data.y)
    assert_array_equal(model.coef_, weighed.coef_)
    pegasos("train", "three.svm", "--multi-class", "ovo", "--force")
    assert load_model(tmp_path / "three.pegasos").multi_class == "ovo"


def test_class_weights_by_number(pegasos, two, tmp_path):
    pegasos("train", "two.svm", "--class-weight", '{"+1": 3}')
    assert load_model(tmp_path / "two.pegasos").class_weight == {1.0: 3.0}


def test_a_table_with_categories_and_a_number_to_predict(pegasos, houses, tmp_path):
    words = "--task regress --target price --categorical town --epsilon 0.1 --test houses.csv"
    answer = pegasos.answer("train", "houses.csv", *words.split())
    assert answer["test"]["r2"] > 0.9
    model = load_model(tmp_path / "houses.pegasos")
    assert isinstance(model, LinearSVR)
    assert model.epsilon == 0.1
    assert model.feature_names_in_.tolist() == ["size", "town=x", "town=y"]


@pytest.mark.parametrize("format", ["liblinear", "svm-light"])
def test_models_of_others(pegasos, two, tmp_path, format):
    pegasos("train", "two.svm", "--format", format)
    pegasos("train", "two.svm")
    theirs, ours = load_model(tmp_path / "two.model"), load_model(tmp_path / "two.pegasos")
    X = load(tmp_path / "two.t.svm").X
    assert_array_equal(theirs.decision_function(X), ours.decision_function(X))


def test_a_format_that_cannot_hold_the_model_is_refused_before_the_training(pegasos, three):
    pegasos("train", "three.svm", "--format", "svm-light", code=2)
    assert "SVM-light" in pegasos.err
    assert "training" not in pegasos.err
    pegasos("train", "three.svm", "--format", "liblinear", "--multi-class", "ovo", code=2)


def test_a_store_gives_what_the_file_gives(pegasos, two, tmp_path):
    words = "--solver", "dual-ascent", "--tol", "1e-6"
    write_store(tmp_path / "two.store", load(tmp_path / "two.svm"), block_rows=50)
    pegasos("train", "two.store", "-o", "from-store", *words)
    pegasos("train", "two.svm", "-o", "from-file", *words)
    a, b = load_model(tmp_path / "from-store"), load_model(tmp_path / "from-file")
    assert a.certificate_.dual <= b.certificate_.primal
    assert b.certificate_.dual <= a.certificate_.primal


def test_what_exceeds_the_memory_goes_through_a_store_that_is_removed(pegasos, two, tmp_path):
    (tmp_path / "scratch").mkdir()
    answer = pegasos.answer("train", "two.svm", "--memory", "2kB", "--scratch", "scratch")
    assert answer["converged"]
    assert any("temporary store" in note for note in answer["notes"])
    assert list((tmp_path / "scratch").iterdir()) == []


def test_short_of_the_tolerance_is_exit_code_1_with_the_model_saved(pegasos, two, tmp_path):
    words = "--solver", "pegasos", "--tol", "1e-9", "--max-passes", "3"
    pegasos("train", "two.svm", *words, code=1)
    assert "not converged" in pegasos.err
    assert not load_model(tmp_path / "two.pegasos").converged_


def test_resume_ends_with_the_same_bits(pegasos, two, tmp_path):
    words = "two.svm", "--solver", "pegasos", "--tol", "1e-9"
    pegasos("train", *words, "--max-passes", "40", "-o", "whole", code=1)
    kept = *words, "--checkpoint", "run"
    pegasos("train", *kept, "--max-passes", "15", "-o", "part", code=1)
    pegasos("train", *kept, "--max-passes", "40", "-o", "rest", code=3)
    assert "run exists: --resume goes on with that run" in pegasos.err
    pegasos("train", *kept, "--max-passes", "40", "--resume", "-o", "rest", code=1)
    whole, part, rest = (load_model(tmp_path / name) for name in ("whole", "part", "rest"))
    assert_array_equal(rest.coef_, whole.coef_)
    assert_array_equal(rest.intercept_, whole.intercept_)
    assert not np.array_equal(part.coef_, whole.coef_)
    pegasos("train", *kept, "--max-passes", "1", "--force", "-o", "anew", code=1)


def test_nothing_is_overwritten_and_that_is_said_before_the_work(pegasos, two, tmp_path):
    model = tmp_path / "two.pegasos"
    model.write_text("mine")
    pegasos("train", "two.svm", code=3)
    assert pegasos.err == "two.pegasos exists: --force replaces it, or give another name\n"
    assert model.read_text() == "mine"
    pegasos("train", "two.svm", "--force")
    assert load_model(model).converged_
    pegasos("train", "two.svm", "-o", "no/where", code=3)
    assert "there is no folder" in pegasos.err
    (tmp_path / "folder").mkdir()
    pegasos("train", "two.svm", "-o", "folder", code=3)
    assert "folder is a folder" in pegasos.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("-C 1 --lam 1", "give -C or --lam, not both"),
        ("-C 0", "C must be positive"),
        ("--resume", "--resume goes on from a checkpoint"),
        ("--epsilon 0.1", "--epsilon means nothing for --task classify"),
        ("--task regress --class-weight balanced", "--class-weight means nothing"),
        ("--task learn", "--task must be one of classify, regress, not 'learn'"),
        ("--bias free-of-charge", "--bias must be one of"),
        ("--multi-class all", "--multi-class must be one of ovr, ovo"),
        ("--solver newton", "there is no solver 'newton'"),
        ("--loss square", "--loss for --task classify must be one of"),
        ("--format pickle", "--format must be one of"),
        ("--max-seconds soon", "a duration is written as 90, 45s"),
        ("--memory lots", "a size is written as 4GB"),
        ("--class-weight heavy", "--class-weight is written as"),
        ("--class-weight 7=2", "--class-weight names the label '7', which no row has"),
        ("--dtype float16", "--dtype must be one of"),
        ("--target y", "--target means nothing for two.svm, which is svmlight text"),
        ("--zero-based perhaps", "--zero-based must be one of"),
        ("--tol 1 --tol x", "Invalid value for '--tol'"),
        ("--nonsense", "No such option"),
        ("--memory 1kB --scratch nowhere", "--scratch names nowhere, which is no folder"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_code_2(pegasos, two, tmp_path, words, sentence):
    pegasos("train", "two.svm", "--quiet", *words.split(), code=2)
    assert sentence in pegasos.err
    assert pegasos.err.count("\n") == 1
    assert not (tmp_path / "two.pegasos").exists()


def test_a_task_that_does_not_fit_the_targets(pegasos, three):
    pegasos("train", "three.svm", "--task", "regress", "--quiet", code=2)
    assert "--task regress needs numbers as targets" in pegasos.err


def test_numbers_with_fractions_are_no_labels(pegasos, houses):
    words = "--target price --columns size --quiet"
    pegasos("train", "houses.csv", *words.split(), code=2)
    assert "and not labels: --task regress learns to predict them" in pegasos.err


def test_onnx(pegasos, two, tmp_path):
    pytest.importorskip("skl2onnx")
    pegasos("train", "two.svm", "--format", "onnx")
    runtime = pytest.importorskip("onnxruntime").InferenceSession(tmp_path / "two.onnx")
    assert runtime.get_inputs()[0].shape[1] == 6


def test_one_class_is_refused(pegasos, tmp_path):
    (tmp_path / "one.svm").write_text("1 1:1\n1 1:2\n")
    pegasos("train", "one.svm", "--quiet", code=2)
    assert "one class" in pegasos.err


def test_a_model_that_cannot_be_saved_is_saved_elsewhere(pegasos, two, tmp_path, monkeypatch):
    def full(model, path, **options):
        if str(path) == "two.pegasos":
            raise DataError("no space left while writing two.pegasos")
        return save_model(model, path, **options)

    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(models, "save_model", full)
    pegasos("train", "two.svm", code=3)
    assert "no space left while writing two.pegasos; the model is in " in pegasos.err
    elsewhere = pegasos.err.rsplit("the model is in ", 1)[1].split(" instead")[0]
    assert load_model(elsewhere).converged_


def test_no_option_is_offered_that_train_has_not(pegasos, two, tmp_path):
    (tmp_path / "t.svm").write_text("3 1:1\n")
    pegasos("train", "two.svm", "--test", "t.svm", code=2)
    assert "pegasos evaluate --allow-unknown counts such rows as errors" in pegasos.err
