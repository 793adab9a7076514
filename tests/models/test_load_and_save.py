"""Files are complete or absent, told apart by content, and nothing in them is executed."""

import builtins
import os
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from some_models import X, model, scores

import pegasos.models.native
from pegasos import load_model, save_model
from pegasos.data import DataError

READABLE = ["pegasos", "liblinear", "svm-light"]


@pytest.mark.parametrize("format", READABLE)
def test_formats_are_told_apart_by_content(format, tmp_path):
    path = tmp_path / "m.onnx"  # whatever its name says
    save_model(model("two"), path, format=format)
    assert np.array_equal(scores(load_model(path)), scores(model("two")))


def test_the_format_follows_from_the_name_only_for_onnx(tmp_path):
    pytest.importorskip("skl2onnx")
    save_model(model("two"), tmp_path / "m.onnx")
    with pytest.raises(DataError, match="it is an ONNX model, which is only written here"):
        load_model(tmp_path / "m.onnx")
    save_model(model("two"), tmp_path / "m.safetensors")
    assert load_model(str(tmp_path / "m.safetensors")).get_params() == model("two").get_params()


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(ValueError, match="format must be one of pegasos, liblinear, svm-light, on"):
        save_model(model("two"), tmp_path / "m", format="pickle")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("format", READABLE)
def test_nothing_is_replaced_unless_asked(format, tmp_path):
    path = tmp_path / "m"
    path.write_text("mine")
    with pytest.raises(DataError, match="exists already"):
        save_model(model("two"), path, format=format)
    assert path.read_text() == "mine"
    save_model(model("two"), path, format=format, force=True)
    assert np.array_equal(load_model(path).coef_, model("two").coef_)
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("format", READABLE)
def test_a_failure_leaves_what_was_there(format, tmp_path):
    path = tmp_path / "m"
    path.write_text("mine")
    broken = model("two words")
    broken.coef_ = np.full((1, 4), np.inf)
    with pytest.raises(ValueError, match="not finite"):
        save_model(broken, path, format=format if format != "liblinear" else None, force=True)
    assert path.read_text() == "mine"
    assert [*tmp_path.iterdir()] == [path]


class Trap:
    """A pickle that writes a file where it is opened."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_in_place_of_a_model_is_not_opened(protocol, tmp_path):
    path, sprung = tmp_path / "m", tmp_path / "sprung"
    path.write_bytes(pickle.dumps(Trap(sprung), protocol=protocol))
    with pytest.raises(DataError, match=r"it is a pickle|it is not a model of pegasos"):
        load_model(path)
    assert not sprung.exists()


def test_reading_a_model_neither_unpickles_nor_evaluates(tmp_path, monkeypatch):
    for name in ("warm", "stream", "ovr words"):
        save_model(model(name), tmp_path / name)

    def forbidden(*args, **kwargs):
        raise AssertionError("something is executed")

    first = load_model(tmp_path / "warm")  # which imports what it needs
    for place, name in (
        (pickle, "load"),
        (pickle, "loads"),
        (builtins, "eval"),
        (builtins, "exec"),
    ):
        monkeypatch.setattr(place, name, forbidden)
    for name in ("warm", "stream", "ovr words"):
        load_model(tmp_path / name)
    assert first.certificate_ is not None


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "it is empty"),
        (b"hello", "it is not a model of pegasos, LIBLINEAR or SVM-light"),
        (bytes(range(256)) * 100, "it is not a model"),
        (b"svm_type c_svc\nkernel_type linear\n", "it is a model of LIBSVM"),
        (b"PK\x03\x04junk", "it is a zip archive"),
        (b"\x1f\x8b\x08junk", "it is compressed by gzip: decompress it first"),
    ],
)
def test_other_files_are_refused_with_a_sentence(content, sentence, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(content)
    with pytest.raises(DataError, match=sentence):
        load_model(path)


def test_what_is_no_file_is_refused_with_a_sentence(tmp_path):
    with pytest.raises(DataError, match="it is a folder, and a model is one file"):
        load_model(tmp_path)
    with pytest.raises(DataError, match="nothing cannot be read: No such file"):
        load_model(tmp_path / "nothing")
    with pytest.raises(DataError, match="it is not a regular file"):
        load_model("/dev/zero")
    with pytest.raises(DataError, match="there is no folder"):
        save_model(model("two"), tmp_path / "no" / "m")


def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch):
    save_model(model("two"), tmp_path / "m")
    importing = builtins.__import__

    def without(name, *args):
        if name.split(".")[0] in ("safetensors", "skl2onnx"):
            raise ImportError(name)
        return importing(name, *args)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"need safetensors: pip install 'pegasos\[models\]'"):
        save_model(model("two"), tmp_path / "n")
    with pytest.raises(ImportError, match=r"need safetensors: pip install 'pegasos\[models\]'"):
        load_model(tmp_path / "m")
    with pytest.raises(ImportError, match=r"needs skl2onnx: pip install 'pegasos\[onnx\]'"):
        save_model(model("two"), tmp_path / "n.onnx")
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


# ---- mutated files: a sentence or a model that works, in proportion


def check(path):
    """Load it: a DataError, or an estimator that predicts."""
    try:
        found = load_model(path)
    except DataError as error:
        text = str(error)
        assert text.startswith(str(path))
        assert len(text) < len(str(path)) + 400
        return
    if found.n_features_in_ == 4:
        with np.errstate(all="ignore"):
            scores(found, X)
            found.predict(X)
        assert found.certificate_ is not None
        assert isinstance(found.summary_, str)


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """A saved model of each readable kind, as bytes."""
    folder = tmp_path_factory.mktemp("originals")
    kinds = [("pegasos", name) for name in ("warm", "stream", "svr object")]
    kinds += [("liblinear", "ovr"), ("liblinear", "svr"), ("svm-light", "two")]
    found = []
    for k, (format, name) in enumerate(kinds):
        save_model(model(name), folder / str(k), format=format)
        found.append((folder / str(k)).read_bytes())
    return found


MUTATIONS = st.lists(
    st.tuples(
        st.sampled_from(["flip", "insert", "delete", "copy", "digits"]),
        st.floats(0, 1, exclude_max=True),
        st.integers(1, 40),
        st.binary(min_size=1, max_size=12),
    ),
    min_size=1,
    max_size=4,
)


def mutated(content, mutations):
    for kind, share, length, junk in mutations:
        at = int(share * len(content))
        if kind == "flip":
            content = content[:at] + junk + content[at + len(junk) :]
        elif kind == "insert":
            content = content[:at] + junk + content[at:]
        elif kind == "delete":
            content = content[:at] + content[at + length :]
        elif kind == "copy":
            content = content[:at] + content[at : at + length] * 3 + content[at + length :]
        else:
            content = content[:at] + b"9" * length + content[at + 1 :]
    return content


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(which=st.integers(0, 5), mutations=MUTATIONS, repair=st.booleans())
@example(which=0, mutations=[("flip", 0.0, 1, b"\xff" * 8)], repair=False)
@example(which=0, mutations=[("flip", 0.0, 1, b"\xff\xff\xff\x7f")], repair=False)
def test_a_mutated_file_is_a_sentence_or_a_model(originals, tmp_path, which, mutations, repair):
    content = originals[which]
    if which < 3 and repair:  # change the header, and let its length be right
        length = int.from_bytes(content[:8], "little")
        text, body = mutated(content[8 : 8 + length], mutations), content[8 + length :]
        content = len(text).to_bytes(8, "little") + text + body
    else:
        content = mutated(content, mutations)
    path = tmp_path / "m"
    path.write_bytes(content)
    check(path)


@pytest.mark.parametrize(
    "content",
    [
        (2**50).to_bytes(8, "little") + b"{",
        (2**26).to_bytes(8, "little") + b"{",
        b"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 99999999999\nbias 1\nw\n1\n",
        b"solver_type L2R_LR\nnr_class 99999999999\nlabel 1 2\nnr_feature 9\nbias 1\nw\n1\n",
        b"SVM-light Version V6.02\n0 # kernel type\n3 # kernel parameter -d\n1 # kernel parameter "
        b"-g\n1 # kernel parameter -s\n1 # kernel parameter -r\nempty# kernel parameter -u\n"
        b"99999999999 # highest feature index\n1 # number of training documents\n"
        b"99999999999 # number of support vectors plus 1\n0 # threshold b\n1 1:1 #\n",
    ],
)
def test_a_small_file_that_claims_to_be_large_takes_no_memory(content, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(content)
    check(path)  # imports what is needed
    tracemalloc.start()
    check(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_a_model_that_votes_between_more_classes_than_fit_takes_no_memory(tmp_path):
    path = tmp_path / "m"
    many = model("ovr")
    many._scheme_of_fit = "ovo"
    many.classes_ = np.arange(100_000)
    save_model(many, path)
    tracemalloc.start()
    with pytest.raises(DataError, match=r"float64 of shape \(4999950000, 4\)"):
        load_model(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50 * path.stat().st_size
    assert pegasos.models.native.VERSION == 1
