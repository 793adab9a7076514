"""Fits that are saved on the way, go on later, and tell where they are."""

import numpy as np
import pytest

from pegasos import LinearSVC, LinearSVR


def data(classes=3):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 8))
    return X, np.argmax(X[:, :classes] + rng.standard_normal((300, classes)), axis=1)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_fit_goes_on_where_it_was_saved(tmp_path, classes):
    X, y = data(classes)
    options = {"solver": "pegasos", "tol": None}
    whole = LinearSVC(max_passes=8, **options).fit(X, y)
    options["checkpoint"] = tmp_path / "fit"
    LinearSVC(max_passes=3, **options).fit(X, y)
    names = ["fit"] if classes == 2 else ["fit.0", "fit.1", "fit.2"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    rest = LinearSVC(max_passes=8, resume=True, **options).fit(X, y)
    np.testing.assert_array_equal(whole.coef_, rest.coef_)
    np.testing.assert_array_equal(whole.intercept_, rest.intercept_)
    assert whole.certificates_ == rest.certificates_
    again = LinearSVC(max_passes=8, **options).fit(X, y)  # without resume from the beginning
    np.testing.assert_array_equal(whole.coef_, again.coef_)


def test_a_regression_goes_on_where_it_was_saved(tmp_path):
    X, y = data()
    options = {"solver": "pegasos", "tol": None, "checkpoint": tmp_path / "fit"}
    whole = LinearSVR(max_passes=8, **options).fit(X, y)
    LinearSVR(max_passes=3, **options).fit(X, y)
    rest = LinearSVR(max_passes=8, resume=True, **options).fit(X, y)
    np.testing.assert_array_equal(whole.coef_, rest.coef_)


def test_the_files_of_another_fit_are_refused(tmp_path):
    X, y = data(2)
    LinearSVC(C=1.0, checkpoint=tmp_path / "fit").fit(X, y)
    with pytest.raises(ValueError, match="belongs to another problem"):
        LinearSVC(C=2.0, checkpoint=tmp_path / "fit", resume=True).fit(X, y)


@pytest.mark.parametrize("Model", [LinearSVC, LinearSVR])
def test_resume_needs_a_place_and_is_true_or_false(Model):
    X, y = data(2)
    with pytest.raises(ValueError, match="resume=True needs checkpoint"):
        Model(resume=True).fit(X, y)
    with pytest.raises(ValueError, match="resume must be True or False, not 'yes'"):
        Model(resume="yes").fit(X, y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_listener_hears_of_every_problem(n_jobs):
    X, y = data()
    events = []
    model = LinearSVC(on_event=events.append, n_jobs=n_jobs).fit(X, y)
    assert {event.kind for event in events} == {"progress", "look", "note"}
    for k, trace in enumerate(model.traces_):
        looks = [e for e in events if e.kind == "look" and e.problem == k]
        assert [look.passes for look in looks] == trace.passes


def test_a_new_fit_does_not_leave_the_files_of_an_earlier_one(tmp_path):
    X, y = data()
    options = {"solver": "pegasos", "tol": None, "checkpoint": tmp_path / "fit"}
    LinearSVC(max_passes=8, random_state=1, **options).fit(X, y)

    def stop_at_once(event):
        if event.problem == 0 and event.kind == "look":
            raise RuntimeError

    broken = LinearSVC(max_passes=8, random_state=2, on_event=stop_at_once, **options)
    with pytest.raises(RuntimeError):
        broken.fit(X, y)
    rest = LinearSVC(max_passes=8, random_state=2, resume=True, **options).fit(X, y)
    options["checkpoint"] = None
    whole = LinearSVC(max_passes=8, random_state=2, **options).fit(X, y)
    np.testing.assert_array_equal(whole.coef_, rest.coef_)


@pytest.mark.parametrize("Model", [LinearSVC, LinearSVR])
@pytest.mark.parametrize(
    ("name", "value"), [("checkpoint", "file"), ("resume", True), ("on_event", print)]
)
def test_a_stream_refuses_what_is_for_fit(Model, name, value):
    X, y = data(2)
    more = {"classes": [0, 1]} if Model is LinearSVC else {}
    with pytest.raises(ValueError, match=f"{name} is for fit; partial_fit has no use for it"):
        Model(**{name: value}).partial_fit(X, y, **more)
