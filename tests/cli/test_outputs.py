"""What a command writes never takes the place of what it reads; --force does not excuse that."""

import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pegasos.data import load, open_store, verify_store
from pegasos.models import load_model


def contents(folder):
    """Every file below a folder, with its bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def folder(pegasos, two, three, tmp_path):
    """Data, test rows, a store, a model, a link and a hard link to the data."""
    pegasos("convert", "two.svm", "a.store", "--quiet")
    pegasos("train", "two.svm", "-o", "m", "--quiet")
    (tmp_path / "link").symlink_to("two.svm")
    (tmp_path / "inner").symlink_to("a.store/values.bin")
    os.link(tmp_path / "two.svm", tmp_path / "twin")
    return tmp_path


CLASHES = {
    "train two.svm --model two.svm": "--model would overwrite two.svm, which is DATA",
    "train two.svm --model ./two.svm": "--model would overwrite two.svm, which is DATA",
    "train two.svm --model link": "--model would overwrite link, which is DATA",
    "train link --model two.svm": "--model would overwrite two.svm, which is DATA",
    "train two.svm --model twin": "--model would overwrite twin, which is DATA",
    "train file://{folder}/two.svm --model two.svm": "overwrite two.svm, which is DATA",
    "train two.svm --checkpoint two.svm": "--checkpoint would overwrite two.svm, which is DATA",
    "train two.svm --checkpoint two.svm --resume": "--checkpoint would overwrite two.svm",
    "train two.svm --checkpoint link": "--checkpoint would overwrite link, which is DATA",
    "train a.store --model a.store/values.bin": "--model would put a.store/values.bin into the st",
    "train two.svm --model a.store/values.bin": "into the store {folder}/a.store: give another",
    "train two.svm --model inner": "--model would put inner into the store {folder}/a.store",
    "train a.store --checkpoint a.store/run": "--checkpoint would put a.store/run into the store",
    "train a.store --model a.store": "--model would overwrite a.store, which is DATA",
    "train two.svm --test two.t.svm --model two.t.svm": "overwrite two.t.svm, which is --test",
    "train two.svm --test two.t.svm --checkpoint two.t.svm": "overwrite two.t.svm, which is --tes",
    "train two.svm --model x --checkpoint x": "--model and --checkpoint would both write x: give",
    "train three.svm --model x.2 --checkpoint x": "--checkpoint and --model would both write x.2",
    "predict m two.svm -o two.svm": "--output would overwrite two.svm, which is DATA",
    "predict m two.svm -o m": "--output would overwrite m, which is MODEL",
    "predict m two.svm -o a.store/targets.bin": "--output would put a.store/targets.bin into the",
    "convert two.svm two.svm": "DEST would overwrite two.svm, which is DATA",
    "convert two.svm link --to svmlight": "DEST would overwrite link, which is DATA",
    "convert two.svm two.svm --to store": "DEST would overwrite two.svm, which is DATA",
    "convert two.svm a.store/b.store": "DEST would put a.store/b.store into the store",
    "convert a.store a.store/rows.svm": "DEST would put a.store/rows.svm into the store",
    "compare two.svm --plot two.svm": "--plot would overwrite two.svm, which is DATA",
    "compare a.store --plot a.store/values.bin": "--plot would put a.store/values.bin into the",
}


@pytest.mark.parametrize("force", [["--force"], []])
@pytest.mark.parametrize("words", CLASHES)
def test_what_is_read_is_never_written_over(pegasos, folder, words, force):
    before = contents(folder)
    pegasos(*words.format(folder=folder).split(), *force, code=2)
    assert CLASHES[words].format(folder=folder) in pegasos.err
    assert pegasos.err.count("\n") == 1
    assert contents(folder) == before


def test_a_numbered_checkpoint_is_not_written_over_data(pegasos, folder):
    (folder / "two.svm").rename(folder / "run.0")
    pegasos("train", "run.0", "-o", "x", "--checkpoint", "run", "--force", code=2)
    assert "--checkpoint would overwrite run.0, which is DATA" in pegasos.err


@pytest.mark.parametrize("name", ["run", "run.0", "run.7", "run.12"])
def test_a_run_of_any_number_is_a_run_that_is_there(pegasos, folder, name):
    (folder / name).write_text("mine")
    words = "train", "three.svm", "-o", "x", "--checkpoint", "run"
    pegasos(*words, code=3)
    assert f"{name} exists: --resume goes on with that run, --force begins anew" in pegasos.err
    assert (folder / name).read_text() == "mine"
    assert not (folder / "x").exists()
    pegasos(*words, "--force")
    assert load_model(folder / "x").converged_


def test_other_names_are_no_runs(pegasos, folder):
    for name in ("run.x", "run.0.bak", "rerun.0", "run0"):
        (folder / name).write_text("mine")
    pegasos("train", "two.svm", "-o", "x", "--checkpoint", "run")
    assert (folder / "run.x").read_text() == "mine"


def test_a_store_may_be_shuffled_in_its_place(pegasos, folder):
    pegasos("convert", "a.store", "a.store", "--shuffle", code=3)
    assert "a.store exists" in pegasos.err
    before = load(folder / "two.svm")
    pegasos("convert", "a.store", "a.store", "--shuffle", "--seed", "3", "--force")
    verify_store(folder / "a.store")
    after = open_store(folder / "a.store")
    rows = np.column_stack([before.X.toarray(), before.y])
    pegasos("convert", "a.store", "b.svm", "--quiet")
    again = load(folder / "b.svm")
    shuffled = np.column_stack([again.X.toarray(), again.y])
    assert not np.array_equal(rows, shuffled)
    assert_array_equal(np.sort(rows, axis=0), np.sort(shuffled, axis=0))
    assert after.X.shape == before.X.shape


def test_a_store_that_cannot_be_shuffled_in_its_place_stays(pegasos, folder):
    store = folder / "a.store" / "indices.bin"
    content = bytearray(store.read_bytes())
    content[-1] = 0x7F  # a column far beyond the last, found when the rows have been gone through
    store.write_bytes(content)
    before = contents(folder)
    pegasos("convert", "a.store", "a.store", "--shuffle", "--force", code=2)
    assert contents(folder) == before
