"""pegasos' own model files: everything comes back, and nothing but what was saved."""

import json
import os
import warnings

import numpy as np
import pytest
import safetensors.numpy
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from some_models import BUILDERS, SCORE, THREE, TWO, WORDS, X, model, scores

from pegasos import Certificate, LinearSVC, LinearSVR, Trace, load_model, save_model
from pegasos.compiled import KERNELS
from pegasos.data import DataError
from pegasos.losses import Hinge
from pegasos.models import container, native
from pegasos.models.classes import unpacked_classes
from pegasos.solvers import REGISTRY, Solver, as_solver
from pegasos.solvers.pegasos import Pegasos


def kept(estimator, path):
    """The same estimator, saved and loaded."""
    assert save_model(estimator, path, force=True) == ()
    return load_model(path)


def assert_same(a, b):
    """Equal in type and value, nan included, down to the last bit."""
    assert type(a) is type(b), (a, b)
    if isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            assert_same(a[key], b[key])
    elif isinstance(a, list | tuple) and not hasattr(a, "labels"):
        assert len(a) == len(b)
        for one, other in zip(a, b):
            assert_same(one, other)
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert a.tolist() == b.tolist() if a.dtype.hasobject else a.tobytes() == b.tobytes()
    elif isinstance(a, np.random.RandomState):
        assert_same(a.get_state(), b.get_state())
    elif isinstance(a, Solver | Trace | Certificate):
        assert_same(vars(a), vars(b))
    else:
        assert repr(a) == repr(b)


@pytest.mark.parametrize("name", BUILDERS)
def test_everything_comes_back_to_the_bit(name, tmp_path):
    before = model(name)
    after = kept(before, tmp_path / "m")
    assert type(after) is type(before)
    assert_same(scores(after), scores(before))
    assert_same(after.predict(X), before.predict(X))
    ours, theirs = vars(before), vars(after)
    assert set(ours) == set(theirs)
    for key in ours:
        if key == "_streams":
            for one, other in zip(ours[key], theirs[key]):
                assert_same(vars(one), vars(other))
        elif isinstance(ours[key], np.generic):
            assert ours[key] == theirs[key]
        else:
            assert_same(ours[key], theirs[key])


@pytest.mark.parametrize("name", ["stream", "stream of words", "stream svr"])
def test_a_stream_goes_on_with_the_same_bits(name, tmp_path):
    before = model(name)
    after = kept(before, tmp_path / "m")
    y = SCORE if isinstance(before, LinearSVR) else WORDS[THREE] if "words" in name else TWO
    for estimator in (before, after):
        estimator.partial_fit(X[::2], y[::2])
    assert_same(after.coef_, before.coef_)
    assert_same(after.intercept_, before.intercept_)
    assert after.certificate_.dual == before.certificate_.dual
    assert after.t_ == before.t_


def test_a_stream_goes_on_where_a_parameter_was_a_number_of_numpy(tmp_path):
    before = LinearSVR(epsilon=np.float64(0.1), lam=np.float32(0.01)).partial_fit(X, SCORE)
    after = kept(before, tmp_path / "m")
    assert_same(after.partial_fit(X, SCORE).coef_, before.partial_fit(X, SCORE).coef_)


def test_a_stream_whose_parameters_were_changed_is_still_refused(tmp_path):
    after = kept(model("stream").set_params(C=3.0), tmp_path / "m")
    with pytest.raises(ValueError, match="the stream began with C=None and cannot go on with C=3"):
        after.partial_fit(X, TWO)


@pytest.mark.parametrize("name", ["warm", "svr squared"])
def test_a_warm_start_goes_on_from_the_file(name, tmp_path):
    before = model(name)
    after = kept(before, tmp_path / "m")
    y = THREE if isinstance(before, LinearSVC) else SCORE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for estimator in (before, after):
            estimator.set_params(C=1.5, max_passes=2).fit(X, y)
    assert_same(after.coef_, before.coef_)
    assert_same(after.certificate_, before.certificate_)


@pytest.mark.parametrize("name", REGISTRY)
def test_the_solvers_and_what_they_find_come_back(name, tmp_path):
    solver = as_solver(name)
    cls, y = (LinearSVR, SCORE) if name == "dual-ascent" else (LinearSVC, THREE)
    before = cls(solver=solver, tol=0.1, max_passes=30, fit_intercept=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before.fit(X, y)
    after = kept(before, tmp_path / "m")
    assert after.solver == solver
    assert set(vars(after)) == set(vars(before))
    for finding in before._found:
        assert finding in native.FINDINGS
        assert_same(getattr(after, finding), getattr(before, finding))


@pytest.mark.parametrize(
    "parameters",
    [
        {"random_state": np.random.RandomState(3)},
        {"solver": Pegasos(w1=np.array([0.1, 0.2, 0.3, 0.4]), batch=7)},
        {"class_weight": {-1: np.float32(0.1), 1: 3}},
        {"class_weight": {np.int64(1): 2.0}, "tol": np.float64(0.1), "max_passes": np.inf},
        {"class_weight": "balanced", "n_jobs": -1, "max_seconds": 1e9, "verbose": np.int64(0)},
        {"loss": Hinge(), "solver": "dcd", "C": 2},
        {"random_state": None, "warm_start": np.bool_(True)},
    ],
)
def test_parameters_come_back_as_equals(parameters, tmp_path):
    random_state = parameters.get("random_state")
    if random_state is not None:
        random_state.standard_normal()  # half of a pair is left over
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = LinearSVC(**parameters).fit(X, TWO)
    after = kept(before, tmp_path / "m").get_params()
    for name, value in before.get_params().items():
        if isinstance(value, np.generic):
            assert after[name] == value
        elif name != "class_weight":
            assert_same(after[name], value)
    assert after["class_weight"] == before.class_weight


@pytest.mark.parametrize("name", ["two", "ovr", "svr"])
def test_what_belongs_to_a_session_is_not_kept(name, tmp_path):
    before = model(name).set_params(C=2.0)
    run = tmp_path / "run"
    for checkpoint, heard in ((run, lambda event: None), (str(run), print)):
        before.set_params(checkpoint=checkpoint, resume=True, on_event=heard)
        after = kept(before, tmp_path / "m")
        assert (after.C, after.checkpoint, after.resume, after.on_event) == (2.0, None, False, None)
        header, _ = container.read(tmp_path / "m")
        assert not {"checkpoint", "resume", "on_event"} & set(header["parameters"])
    after.fit(X, SCORE if name == "svr" else THREE)
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_the_index_base_is_kept_where_it_is_given(tmp_path):
    for base in (0, 1):
        save_model(model("two"), tmp_path / "m", index_base=base, force=True)
        assert load_model(tmp_path / "m").index_base_ == base
    assert not hasattr(kept(model("two"), tmp_path / "m"), "index_base_")
    with pytest.raises(ValueError, match="index_base must be 0 or 1, not 2"):
        save_model(model("two"), tmp_path / "n", index_base=2)
    with pytest.raises(ValueError, match="a file of LIBLINEAR has no place for index_base"):
        save_model(model("two"), tmp_path / "n", index_base=0, format="liblinear")
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


class MySolver(Pegasos):
    pass


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"random_state": object()}, "a model file cannot hold random_state=<object"),
        ({"solver": MySolver()}, "MySolver is not one of the solvers of pegasos"),
        ({"class_weight": {(1, 2): 3}}, r"cannot hold class_weight with the key \(1, 2\)"),
        ({"solver": Pegasos(w1=np.array([object()] * 4))}, "cannot hold solver.w1=array"),
        (
            {"random_state": np.random.RandomState(np.random.PCG64(0))},
            "cannot hold random_state with a PCG64 generator: give a RandomState made from a seed",
        ),
    ],
)
def test_parameters_that_have_no_place_are_refused(parameters, sentence, tmp_path):
    estimator = model("two").set_params(**parameters)
    with pytest.raises(ValueError, match=sentence):
        save_model(estimator, tmp_path / "m")
    assert [*tmp_path.iterdir()] == []


def test_parameters_nested_deeply_are_refused(tmp_path):
    nested = {}
    for _ in range(30):
        nested = {"a": nested}
    with pytest.raises(ValueError, match="cannot hold parameters that are nested so deeply"):
        save_model(model("two").set_params(class_weight=nested), tmp_path / "m")


def test_names_of_features_come_back(tmp_path):
    pandas = pytest.importorskip("pandas")
    names = ["a", "b c", "ä", "\U0001f600"]
    frame = pandas.DataFrame(X, columns=names)
    before = LinearSVC().fit(frame, TWO)
    after = kept(before, tmp_path / "m")
    assert_same(after.feature_names_in_, before.feature_names_in_)
    with pytest.raises(ValueError, match="feature names should match"):
        after.predict(frame.rename(columns={"a": "other"}))


@pytest.mark.parametrize(
    ("estimator", "error", "sentence"),
    [
        (LinearSVC(), NotFittedError, "not fitted"),
        (make_pipeline(StandardScaler(), LinearSVC()), TypeError, "of a pipeline give the last"),
        (sklearn.svm.LinearSVC(), TypeError, "holds a LinearSVC or a LinearSVR of pegasos"),
        (None, TypeError, "not a NoneType"),
    ],
)
def test_what_is_no_fitted_estimator_of_ours_is_refused(estimator, error, sentence, tmp_path):
    with pytest.raises(error, match=sentence):
        save_model(estimator, tmp_path / "m")
    assert [*tmp_path.iterdir()] == []


def test_classes_and_coefficients_that_have_no_place_are_refused(tmp_path):
    estimator = model("two")
    estimator.classes_ = np.array(["2020", "2021"], dtype="datetime64[Y]")
    with pytest.raises(ValueError, match=r"cannot hold classes such as datetime\.date"):
        save_model(estimator, tmp_path / "m")
    estimator = model("two")
    estimator.coef_[0, 0] = np.nan
    with pytest.raises(ValueError, match="coefficients that are not finite"):
        save_model(estimator, tmp_path / "m")


def test_one_long_label_among_many_short_ones_does_not_take_room_for_each():
    values = sorted([*map(str, range(1000)), "a" * 100_000])
    found = unpacked_classes({"type": "str", "values": values})
    assert found.dtype == object
    assert found.tolist() == values
    assert unpacked_classes({"type": "str", "values": values[:100]}).dtype == "<U3"


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_random_models_come_back(tmp_path_factory, data):
    finite = st.floats(allow_nan=False, allow_infinity=False)
    n_classes, d = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 5))
    labels = st.one_of(
        st.lists(
            st.integers(-(2**63), 2**63 - 1), min_size=n_classes, max_size=n_classes, unique=True
        ),
        st.lists(
            st.text(max_size=5).filter(lambda t: not t.endswith("\0")),
            min_size=n_classes,
            max_size=n_classes,
            unique=True,
        ),
    )
    classes = sorted(data.draw(labels))
    k = 1 if n_classes == 2 else n_classes
    before = model("two" if k == 1 else "ovr")
    before.classes_ = np.array(classes)
    before.n_features_in_ = d
    before.coef_ = np.array(data.draw(st.lists(finite, min_size=k * d, max_size=k * d))).reshape(
        k, d
    )
    before.intercept_ = np.array(data.draw(st.lists(finite, min_size=k, max_size=k)))
    before.certificates_ = before.certificates_[:1] * k
    before.traces_ = before.traces_[:1] * k
    before.C = data.draw(st.one_of(finite, st.none(), st.just(float("nan"))))
    before.summary_ = data.draw(st.text())
    after = kept(before, tmp_path_factory.getbasetemp() / "random")
    for name in ("classes_", "coef_", "intercept_", "C", "summary_", "traces_"):
        assert_same(getattr(after, name), getattr(before, name))


# ---- strangers' files


def rewritten(path, change):
    """Save the file again with its header and arrays changed."""
    header, arrays = container.read(path)
    change(header, arrays)
    with open(path, "wb") as file:
        container.write(file, header, arrays)


def put(*way):
    *keys, last, value = way

    def change(header, arrays):
        place = header
        for key in keys:
            place = place[key]
        place[last] = value

    return change


def array(name, value):
    def change(header, arrays):
        arrays.pop(name, None)
        if value is not None:
            arrays[name] = value

    return change


NAN = np.full((3, 4), np.nan)
BAD_FILES = {
    "a later version": (put("version", 2), "in version 2 of the format, and pegasos"),
    "version none": (put("version", None), "'version' in its header is not a whole number"),
    "version zero": (put("version", 0), "'version' in its header is 0, not a count"),
    "another format": (put("format", "pegasos-checkpoint-1"), "its format is 'pegasos-checkpoint"),
    "unknown class": (put("class", "os.system"), "no estimator 'os.system' in this version"),
    "class of another kind": (put("class", ["LinearSVC"]), "'class' in its header is not text"),
    "unknown parameter": (put("parameters", "evil", 1), "LinearSVC has no parameter 'evil'"),
    "a checkpoint": (put("parameters", "checkpoint", "/etc/x"), "has no parameter 'checkpoint'"),
    "resume": (put("parameters", "resume", True), "LinearSVC has no parameter 'resume'"),
    "on_event": (put("parameters", "on_event", None), "LinearSVC has no parameter 'on_event'"),
    "indices from 2": (put("index_base", 2), "its indices count from 2, and not from 0 or 1"),
    "an index base of no kind": (put("index_base", "0"), "'index_base' in its header is not a who"),
    "no index base": (lambda h, a: h.pop("index_base"), "its header lacks 'index_base'"),
    "parameters missing": (lambda h, a: h.pop("parameters"), "its header lacks 'parameters'"),
    "unknown tag": (put("parameters", "C", {"call": "os.system"}), "a value of unknown kind"),
    "two tags": (put("parameters", "C", {"float": "nan", "tuple": []}), "of unknown kind"),
    "unknown solver": (
        put("parameters", "solver", {"solver": "subprocess.Popen", "parameters": {}}),
        "no solver 'subprocess.Popen' in this version",
    ),
    "a solver's wrong parameters": (
        put("parameters", "solver", {"solver": "Pegasos", "parameters": {"evil": 1}}),
        "the solver Pegasos does not take its parameters",
    ),
    "a solver's bad parameters": (
        put("parameters", "solver", {"solver": "DualAscent", "parameters": {"shrink": "x"}}),
        "the solver DualAscent does not take its parameters",
    ),
    "unknown loss": (
        put("parameters", "loss", {"loss": "evil", "parameters": {}}),
        "no loss 'evil' in this version",
    ),
    "a loss's bad parameters": (
        put("parameters", "loss", {"loss": "epsilon_insensitive", "parameters": {"epsilon": -1}}),
        "the loss epsilon_insensitive does not take its parameters",
    ),
    "an array that is not there": (
        put("parameters", "C", {"array": "coeff"}),
        "the array 'coeff' is missing",
    ),
    "an array used twice": (
        put("parameters", "C", {"array": "coef"}),
        "the array 'coef' is missing",
    ),
    "no number": (put("parameters", "C", {"float": "1"}), "'1' in its header is not a number"),
    "a bad dict": (put("parameters", "C", {"dict": [[1]]}), "entries are not keys with values"),
    "a bad key": (put("parameters", "C", {"dict": [[{"tuple": []}, 1]]}), "a dict with a key that"),
    "a bad random state": (
        put("parameters", "C", {"random_state": "coef", "position": 1}),
        "its random_state is not the state of a generator",
    ),
    "no features": (put("n_features", 0), "'n_features' in its header is 0, not a count"),
    "more features": (put("n_features", 5), r"shape \(3, 4\), and float64 of shape \(3, 5\)"),
    "endless features": (put("n_features", 10**30), "a whole number of too many digits, not a co"),
    "too few names": (put("feature_names", ["a"]), "it names 1 features and has 4"),
    "names of another kind": (put("feature_names", [1]), "an entry of 'feature_names'"),
    "no coefficients": (array("coef", None), "the array 'coef' is missing"),
    "nan": (array("coef", NAN), "the array 'coef' holds a value that is not finite"),
    "float32": (array("coef", np.ones((3, 4), np.float32)), "is float32 of shape"),
    "one intercept": (array("intercept", np.ones(1)), r"'intercept' is float64 of shape \(1,\)"),
    "no scheme": (put("scheme", "vote"), "there is no scheme 'vote'"),
    "another scheme": (put("classes", "values", [1, 2, 3, 4]), r"float64 of shape \(4, 4\)"),
    "one class": (put("classes", "values", [1]), "not at least two in ascending order"),
    "descending classes": (put("classes", "values", [3, 2, 1]), "not at least two in ascending"),
    "classes of two kinds": (put("classes", "values", [1, 2.0, 3]), "not all of type int64"),
    "classes too large": (put("classes", {"type": "int8", "values": [0, 1, 999]}), "fit into int8"),
    "classes of no kind": (put("classes", "type", "O8"), "no classes of type 'O8'"),
    "classes as floats": (put("classes", "type", "float32"), "not all of type float32"),
    "too few certificates": (lambda h, a: h["certificates"].pop(), "2 certificates for 3 models"),
    "bad certificate": (put("certificates", 0, "dual", "x"), "'dual' in its header is not"),
    "no certificate": (put("certificates", 0, 1), "an entry of 'certificates'"),
    "too few looks": (put("fit", "looks", 0, 1), "its trace is not one of 3 models"),
    "negative looks": (put("fit", "looks", 0, -1), "its trace is not one of 3 models"),
    "no notes": (put("fit", "notes", [[], [], [1]]), "its trace is not one of 3 models"),
    "no trace": (array("trace", None), "the array 'trace' is missing"),
    "no dual": (array("dual", None), "the array 'dual' is missing"),
    "flat dual": (array("dual", np.ones(3)), "the array 'dual' is float64 of shape"),
    "0-d dual": (array("dual", np.array(3.0)), "the array 'dual' is float64 of shape"),
    "a stranger's finding": (put("fit", "findings", {"predict": 1}), "no solver finds 'predict'"),
    "an array too many": (array("more", np.ones(3)), "an array 'more' that nothing in it uses"),
    "stream of another": (put("stream", {"steps": [1]}), "its streams are not those of 3 models"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_strangers_file_is_refused_with_a_sentence(name, tmp_path):
    change, sentence = BAD_FILES[name]
    path = tmp_path / "m"
    save_model(model("warm"), path)
    rewritten(path, change)
    with pytest.raises(DataError, match=sentence) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


BAD_STREAMS = {
    "another solver": (
        put("stream", "solver", {"solver": "SMO", "parameters": {}}),
        "its stream does not learn by Pegasos",
    ),
    "another Pegasos": (
        put("stream", "solver", {"solver": "Pegasos", "parameters": {"batch": 7}}),
        "its stream cannot go on",
    ),
    "no loss": (put("stream", "loss", {"float": "nan"}), "the loss of its stream"),
    "another loss": (
        put("stream", "loss", {"loss": "epsilon_insensitive", "parameters": {}}),
        "the loss of its stream does not belong",
    ),
    "no lam": (put("stream", "lam", 0.0), "'lam' in its header must be positive, not 0.0"),
    "another constant": (put("stream", "constant", 1.0), "'stream.vectors' does not fit the model"),
    "run": (array("stream.run", np.full((1, 10), np.inf)), "'stream.run' holds a value that is"),
    "random": (array("stream.random", np.ones((1, 2))), "'stream.random' does not fit the model"),
    "begun": (put("stream", "begun_with", {"C": "1"}), "what its stream began with"),
    "begun otherwise": (put("stream", "begun_with", 3), "is not a record or null"),
}


@pytest.mark.parametrize("name", BAD_STREAMS)
def test_a_strangers_stream_is_refused_with_a_sentence(name, tmp_path):
    change, sentence = BAD_STREAMS[name]
    path = tmp_path / "m"
    save_model(model("stream"), path)
    rewritten(path, change)
    with pytest.raises(DataError, match=sentence):
        load_model(path)


def raw(header_text, body=b"", length=None):
    text = header_text if isinstance(header_text, bytes) else header_text.encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + body


def tensor(shape, start, end, dtype="F64"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


def with_header(text, **tensors):
    return json.dumps({"__metadata__": {"pegasos": text}, **tensors})


DEEP = "[" * 100_000 + "]" * 100_000
BAD_BYTES = {
    "header beyond the limit": (raw("{}", length=2**31), "its header claims 2147483648 bytes"),
    "header beyond the file": (raw("{}", length=1000), "it is cut short: its header claims 1000"),
    "no JSON": (raw("{]"), "damaged or cut short"),
    "no metadata": (raw("{}"), "safetensors file, but not a model of pegasos"),
    "others' metadata": (raw('{"__metadata__":{"format":"pt"}}'), "not a model of pegasos"),
    "inner header no JSON": (raw(with_header("{")), "its header is not valid JSON"),
    "inner header a list": (raw(with_header("[]")), "its header is not a JSON record"),
    "inner header empty": (raw(with_header("{}")), "its format is 'None'"),
    "NaN": (raw(with_header('{"version": NaN}')), "NaN is not JSON"),
    "overflow": (raw(with_header('{"version": 1e999}')), "1e999 is too large for a number"),
    "deep": (raw(with_header(DEEP)), "its header is nested too deeply"),
    "deep, outside": (raw('{"a":' + DEEP + "}"), "damaged or cut short"),
    "digits": (raw(with_header('{"version": ' + "1" * 5000 + "}")), "its header is not valid JSON"),
    "tensor beyond the file": (
        raw(with_header("{}", a=tensor([2**40], 0, 2**43))),
        "damaged or cut short",
    ),
    "shape and bytes differ": (
        raw(with_header("{}", a=tensor([2**61, 8], 0, 8)), bytes(8)),
        "damaged or cut short",
    ),
    "a type not in use": (
        raw(with_header("{}", a=tensor([4], 0, 8, "BF16")), bytes(8)),
        "the array 'a' is of a type that is not in use",
    ),
    "bytes at the end": (raw(with_header("{}"), b"12345678"), "damaged or cut short"),
}


@pytest.mark.parametrize("name", BAD_BYTES)
def test_bad_bytes_are_refused_with_a_sentence(name, tmp_path):
    content, sentence = BAD_BYTES[name]
    path = tmp_path / "m"
    path.write_bytes(content)
    with pytest.raises(DataError, match=sentence) as caught:
        load_model(path)
    assert len(str(caught.value)) < 300 + len(str(path))


@pytest.mark.parametrize("depth", [50, 300, 450, 600, 950, 2000])
@pytest.mark.parametrize("name", ["format", "C", "class_weight"])
def test_what_is_nested_deeper_than_python_goes_is_refused(name, depth, tmp_path):
    path = tmp_path / "m"
    save_model(model("two"), path)
    header, arrays = container.read(path)
    (header if name == "format" else header["parameters"])[name] = "HERE"
    nested = "[" * depth + "]" * depth
    if name == "class_weight":
        nested = '{"tuple":[' * depth + "]}" * depth
    text = json.dumps(header).replace('"HERE"', nested)
    path.write_bytes(safetensors.numpy.save(arrays, {"pegasos": text}))
    with pytest.raises(DataError, match="its header is nested too deeply for a model"):
        load_model(path)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(share, tmp_path):
    path = tmp_path / "m"
    save_model(model("warm"), path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(DataError):
        load_model(path)


def test_reading_a_model_compiles_nothing(run_python, tmp_path):
    path = tmp_path / "m"
    save_model(model("stream"), path)
    assert KERNELS or "NUMBA_DISABLE_JIT" in os.environ
    compiled = run_python(
        f"""
import json, pegasos
from pegasos.compiled import KERNELS
pegasos.load_model({str(path)!r})
print(json.dumps([k.py_func.__name__ for k in KERNELS if k.signatures]))
"""
    )
    assert compiled == []
