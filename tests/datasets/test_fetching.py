"""Sets by name: the user's folder first, then the cache, then the net; and only what is right."""

import functools
import gzip
import hashlib
import http.server
import io
import json
import lzma
import os
import re
import tarfile
import threading
from pathlib import Path

import numpy as np
import pytest

from pegasos.data import DataError, downloads
from pegasos.datasets import DataSet, describe, fetch, fetching, home, names
from pegasos.datasets.registry import REGISTRY, File

TINY = b"+1 1:0.5 3:1\n-1 2:2\n-1 1:1\n"


class Quiet(http.server.SimpleHTTPRequestHandler):
    asked: list[str]

    def do_GET(self):
        self.asked.append(self.path)
        super().do_GET()

    def log_message(self, *args):
        pass


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The user's cache, empty; and no folder of the user's own."""
    import pooch

    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache" / name)
    monkeypatch.delenv("PEGASOS_DATA", raising=False)
    return tmp_path / "cache" / "pegasos" / "datasets"


@pytest.fixture
def site(tmp_path):
    """A folder that is served; ``site.asked`` is what was asked for."""
    (tmp_path / "site").mkdir()
    Quiet.asked = []
    handler = functools.partial(Quiet, directory=str(tmp_path / "site"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    class Site:
        folder = tmp_path / "site"
        url = f"http://127.0.0.1:{server.server_port}"
        asked = Quiet.asked

    yield Site
    server.shutdown()
    server.server_close()


def register(monkeypatch, url, checksum=None, **other):
    """A set of three rows, called tiny."""
    about = {"rows": {"train": 3}, "features": 3, "classes": 2, **other}
    files = {"train": (File(("tiny", "other"), url, checksum),)}
    monkeypatch.setitem(REGISTRY, "tiny", DataSet("tiny", "…", source="here", files=files, **about))


def checked(data):
    assert data.X.toarray().tolist() == [[0.5, 0, 1], [0, 2, 0], [1, 0, 0]]
    assert data.y.tolist() == [1, -1, -1]


@pytest.mark.parametrize("algorithm", ["md5", "sha256"])
def test_a_set_with_a_checksum_is_fetched_once(cache, site, monkeypatch, algorithm):
    content = gzip.compress(TINY)
    (site.folder / "tiny.gz").write_bytes(content)
    checksum = f"{algorithm}:{hashlib.new(algorithm, content).hexdigest()}"
    register(monkeypatch, f"{site.url}/tiny.gz", checksum)
    heard = []
    data = fetch("tiny", on_progress=lambda so_far, total: heard.append((so_far, total)))
    checked(data)
    assert heard[-1] == (len(content), len(content))
    assert data.notes[-1] == f"read from {cache / 'tiny.gz'}"
    checked(fetch("tiny"))
    assert site.asked == ["/tiny.gz"]
    assert sorted(os.listdir(cache)) == ["tiny.gz"]
    (cache / "tiny.gz").write_bytes(b"something else")  # then it is fetched again
    checked(fetch("tiny"))
    assert site.asked == ["/tiny.gz"] * 2


def test_a_wrong_checksum_leaves_nothing(cache, site, monkeypatch):
    (site.folder / "tiny").write_bytes(TINY)
    register(monkeypatch, f"{site.url}/tiny", "md5:" + 32 * "0")
    with pytest.raises(DataError, match=r"is not what it was: its checksum is not md5:0+; nothing"):
        fetch("tiny")
    assert os.listdir(cache) == []


def test_without_a_checksum_the_first_file_is_written_down(cache, site, monkeypatch):
    (site.folder / "tiny").write_bytes(TINY)
    register(monkeypatch, f"{site.url}/tiny")
    checked(fetch("tiny"))
    pin = json.loads((cache / "tiny.json").read_text())
    assert pin == {"url": f"{site.url}/tiny", "sha256": hashlib.sha256(TINY).hexdigest()}
    (cache / "tiny").write_bytes(TINY.replace(b"2:2", b"2:9"))  # the disk rots: fetched again
    checked(fetch("tiny"))
    (site.folder / "tiny").write_bytes(TINY.replace(b"2:2", b"2:8"))  # the site changes its mind
    (cache / "tiny").unlink()
    with pytest.raises(DataError, match=r"its checksum is not sha256"):
        fetch("tiny")
    assert os.listdir(cache) == ["tiny.json"]
    (cache / "tiny.json").write_text("{}")
    with pytest.raises(DataError, match=r"tiny\.json holds no checksum; delete it"):
        fetch("tiny")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (TINY + b"1 1:1\n", "it holds 4 × 3, not 3 × 3"),
        (TINY.replace(b"+1", b"0"), None),
        (b"1 1:1\n1 1:1\n1 2:1\n", "it has 1 classes, not 2"),
        (b"<html>not found</html>\n", ""),
        (b"\x89PNG\0\0\0\0", ""),
    ],
)
def test_another_file_is_put_aside(cache, site, monkeypatch, content, sentence):
    (site.folder / "tiny").write_bytes(content)
    register(monkeypatch, f"{site.url}/tiny")
    if sentence is None:  # two classes, of whatever name, are −1 and +1
        assert fetch("tiny").y.tolist() == [1, -1, -1]
        return
    with pytest.raises(DataError, match=f"tiny is not tiny: .*{sentence}.*tiny.wrong$") as caught:
        fetch("tiny")
    assert "\n" not in str(caught.value)
    assert os.listdir(cache) == ["tiny.wrong"]
    assert (cache / "tiny.wrong").read_bytes() == content


def test_the_folder_of_the_user_comes_first_and_is_not_touched(cache, site, monkeypatch, tmp_path):
    register(monkeypatch, f"{site.url}/tiny")
    own = tmp_path / "own"
    own.mkdir()
    (own / "other.xz").write_bytes(lzma.compress(TINY))
    monkeypatch.setenv("PEGASOS_DATA", str(own))
    data = fetch("tiny", dtype="float64")
    checked(data)
    assert data.X.dtype == np.float64
    assert data.notes[-1] == f"read from {own / 'other.xz'}"
    assert site.asked == []
    (own / "tiny").write_bytes(TINY + TINY)  # the plain name is looked for first
    with pytest.raises(DataError, match=r"it holds 6 × 3, not 3 × 3$"):
        fetch("tiny")
    assert (own / "tiny").exists()
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match=r"PEGASOS_DATA names .*nowhere, which is no folder"):
        fetch("tiny")


def test_without_a_connection_it_is_said_where_to_put_the_file(cache, site, monkeypatch):
    register(monkeypatch, "http://127.0.0.1:9/tiny.bz2")
    by_hand = re.escape(
        "put the file tiny (plain, .xz, .gz, .bz2 or .zst) into the folder that PEGASOS_DATA names"
    )
    with pytest.raises(DataError, match=f"9/tiny.bz2 cannot be fetched .no connection.; {by_hand}"):
        fetch("tiny")
    register(monkeypatch, f"{site.url}/missing")
    with pytest.raises(DataError, match=f"the server says 404.; {by_hand}"):
        fetch("tiny")
    register(monkeypatch, None)
    with pytest.raises(DataError, match=f"no public address of tiny is known; {by_hand}"):
        fetch("tiny")
    assert not cache.exists() or os.listdir(cache) == []


def test_without_pooch_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pooch", None)
    monkeypatch.delenv("PEGASOS_DATA", raising=False)
    with pytest.raises(DataError, match=re.escape("pip install 'pegasos[data]'")):
        fetch("w8a")


def test_what_is_not_there_is_refused():
    with pytest.raises(DataError, match=r"there is no set 'rcv2'; there are 20news, a9a"):
        fetch("rcv2")
    with pytest.raises(DataError, match=r"split must be 'train', 'test' or None"):
        fetch("a9a", split="valid")
    with pytest.raises(DataError, match=r"dtype must be float32 or float64, not int8"):
        fetch("a9a", dtype="int8")
    with pytest.raises(DataError, match=r"covtype has no test rows of its own"):
        fetch("covtype", split="test")


def test_astro_ph_says_where_it_was(monkeypatch):
    monkeypatch.delenv("PEGASOS_DATA", raising=False)
    with pytest.raises(DataError, match=r"handed from author to author .Joachims 2006.*put the fi"):
        fetch("astro-ph")
    assert describe("astro-ph").rows == {"train": 29_882, "test": 32_487}


def test_all_rows_are_the_train_rows_and_then_the_test_rows(cache, monkeypatch, tmp_path):
    register(monkeypatch, None, rows={"train": 3, "test": 3})
    files = {split: (File((name,)),) for split, name in (("train", "t"), ("test", "t.t"))}
    both = DataSet("two", "…", {"train": 3, "test": 3}, 3, 2, "here", files=files)
    monkeypatch.setitem(REGISTRY, "two", both)
    (tmp_path / "t").write_bytes(TINY)
    (tmp_path / "t.t").write_bytes(TINY.replace(b"2:2", b"2:4"))
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path))
    data = fetch("two", split=None)
    assert data.X.toarray()[:, 1].tolist() == [0, 2, 0, 0, 4, 0]
    assert data.y.tolist() == [1, -1, -1] * 2
    assert len([note for note in data.notes if "read from" in note]) == 2


def idx(array):
    head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">i4").tobytes()
    return head + array.tobytes()


def test_pictures(cache, site, monkeypatch):
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (7, 4, 5)).astype(np.uint8)
    classes = np.array([0, 1, 2, 0, 1, 2, 0], np.uint8)
    (site.folder / "p.gz").write_bytes(gzip.compress(idx(pixels)))
    (site.folder / "c.gz").write_bytes(gzip.compress(idx(classes)))
    files = {"train": tuple(File((n,), f"{site.url}/{n}.gz") for n in "pc")}
    found = DataSet("pics", "…", {"train": 7}, 20, 3, "here", "images", files)
    monkeypatch.setitem(REGISTRY, "pics", found)
    data = fetch("pics")
    np.testing.assert_array_equal(data.X, pixels.reshape(7, 20).astype(np.float32) / 255)
    assert data.y.tolist() == classes.tolist()
    (cache / "c.gz.json").unlink()
    for bad in (idx(classes)[:-1], b"\0\0\x09\1", b"\0"):
        (cache / "c.gz").write_bytes(gzip.compress(bad))
        with pytest.raises(DataError, match=r"idx file|ends too early"):
            fetch("pics")
        assert (cache / "c.gz.wrong").exists()


@pytest.mark.parametrize("packed", [True, False])
def test_the_columns_of_the_physics_task_that_have_missing_values_go(monkeypatch, tmp_path, packed):
    rng = np.random.default_rng(0)
    table = rng.random((4, 80)).round(3)
    table[:, 0], table[:, 1] = [1, 2, 3, 4], [1, 0, 0, 1]
    missing = [22, 23, 24, 46, 47, 48]  # as the organisers number them: from 1, with the id
    table[0, [k - 1 for k in missing]] = 999
    table[1, [31 - 1, 57 - 1]] = 9999
    text = "\n".join("\t".join(map(str, row)) for row in table.tolist()).encode() + b"\n"
    if packed:
        with tarfile.open(tmp_path / "data_kddcup04.tar.gz", "w:gz") as archive:
            info = tarfile.TarInfo("somewhere/phy_train.dat")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    else:
        (tmp_path / "phy_train.dat").write_bytes(text)
    from dataclasses import replace

    known = replace(REGISTRY["kddcup04-physics"], rows={"train": 4})
    monkeypatch.setitem(REGISTRY, "kddcup04-physics", known)
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path))
    data = fetch("kddcup04-physics", dtype="float64")
    assert data.X.shape == (4, 70)
    assert data.X.max() < 999
    keep = [k for k in range(2, 80) if k + 1 not in (*missing, 31, 57)]
    np.testing.assert_array_equal(data.X, table[:, keep])
    assert data.y.tolist() == [1, -1, -1, 1]


def test_rcv1_is_split_as_in_the_papers(monkeypatch):
    import scipy.sparse as sp
    import sklearn.datasets
    from sklearn.utils import Bunch

    def theirs(subset):
        asked.append(subset)
        X = sp.csr_matrix(np.eye(3) * (2.0 if subset == "test" else 1.0))
        topics = sp.csr_matrix(np.array([[1, 0, 0], [0, 1, 1], [1, 1, 0]]))
        return Bunch(data=X, target=topics, target_names=np.array(["CCAT", "C11", "E12"]))

    asked = []
    monkeypatch.setattr(sklearn.datasets, "fetch_rcv1", theirs)
    data = fetch("rcv1/ccat")
    assert asked == ["test"]
    assert data.y.tolist() == [1, -1, 1]
    assert data.X.dtype == np.float32
    assert data.X.format == "csr"
    assert fetch("rcv1/c11", split="test").y.tolist() == [-1, 1, 1]
    assert asked == ["test", "train"]
    assert describe("rcv1/ccat").rows == {"train": 781_265, "test": 23_149}


def test_what_scikit_learn_cannot_fetch_is_one_sentence(monkeypatch):
    import urllib.error

    import sklearn.datasets

    def offline(**options):
        raise urllib.error.URLError("no route")

    monkeypatch.delenv("PEGASOS_DATA", raising=False)
    monkeypatch.setattr(sklearn.datasets, "fetch_covtype", offline)
    with pytest.raises(DataError, match=r"covtype cannot be fetched by .*no route.*covtype.npy"):
        fetch("covtype")


def test_every_set_is_described_and_can_be_looked_for():
    assert names() == sorted(names())
    for name in names():
        found = describe(name)
        assert found.name == name
        assert found.about.endswith(".")
        assert found.source
        assert found.features > 0
        assert set(found.files) in (set(), set(found.rows))
        assert found.files or found.fetcher
        for file in (file for files in found.files.values() for file in files):
            assert file.checksum is None or re.fullmatch(
                r"md5:[0-9a-f]{32}|sha256:[0-9a-f]{64}", file.checksum
            )
            assert file.url is None or file.url.startswith(("http://", "https://"))


def test_the_cache_is_the_users(cache):
    assert home() == cache
    assert downloads.cache() == cache.parent


# The real files.

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
FOLDER = Path(os.environ.get("PEGASOS_DATA", BESIDE))


@pytest.mark.data
@pytest.mark.skipif(not FOLDER.is_dir(), reason="PEGASOS_DATA names no folder")
@pytest.mark.parametrize(
    ("name", "split", "positive", "stored"),
    [
        ("a9a", "train", 7_841, 451_592),
        ("a9a", "test", 3_846, None),
        ("ijcnn1", "train", 4_853, None),
        ("ijcnn1", "test", 8_712, None),
        ("covtype", "train", 211_840, None),
        ("imdb", "train", 12_500, None),
        ("imdb", "test", 12_500, None),
        ("reuters2000", "train", 1_000, None),
        ("money-fx", "train", 538, None),
        ("fashion-mnist", "train", None, None),
        ("fashion-mnist", "test", None, None),
        ("20news", "train", None, None),
        ("20news", "test", None, None),
        ("abalone", "train", None, None),
        ("cpusmall", "train", None, None),
    ],
)
def test_the_real_sets(monkeypatch, name, split, positive, stored):
    monkeypatch.setenv("PEGASOS_DATA", str(FOLDER))
    found = describe(name)
    if any(fetching._own(file) is None for file in found.files[split]):
        pytest.skip(f"{name} is not in {FOLDER}")
    data = fetch(name, split=split)
    assert data.X.shape == (found.rows[split], found.features)
    assert data.X.dtype == np.float32
    values = data.X if isinstance(data.X, np.ndarray) else data.X.data
    assert np.isfinite(values).all()
    if found.classes == 2:
        assert set(data.y) == {-1.0, 1.0}
        assert np.count_nonzero(data.y > 0) == positive
    elif found.classes:
        assert np.unique(data.y).size == found.classes
    if stored is not None:
        assert data.X.nnz == stored
