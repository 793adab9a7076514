"""Options are refused before anything is read: the data here are broken, and nobody notices."""

import pytest

from pegasos.cli.trial import try_out
from pegasos.solvers import REGISTRY, as_solver

TRAIN = {
    "-C -1": "-C must be positive and finite, not -1.0",
    "-C nan": "-C must be positive and finite",
    "--lam 0": "--lam must be positive and finite",
    "--tol nan": "--tol must be a number that is zero or positive",
    "--loss foo": "--loss for --task classify must be one of hinge, squared_hinge, logistic",
    "--loss hinge --task regress": "--loss for --task regress must be one of epsilon_insensitive",
    "--epsilon -1 --task regress": "--epsilon must be zero or positive",
    "--seed -1": "--seed must be a whole number from 0 on",
    "--jobs 0": "--jobs must be a whole number other than zero",
    "--solver ocas": "ocas cannot solve bias 'free'",
    "--solver foo": "there is no solver 'foo'",
    "--max-passes -1": "--max-passes must be zero or positive",
    "--class-weight 1=-3": "--class-weight gives positive numbers to labels, and 1 has -3",
    "--format liblinear --multi-class ovo": "fit it with --multi-class ovr",
}
COMPARE = {
    "--solvers foo": "there is no solver 'foo'",
    "--solvers ,": "--solvers names none",
    "--solvers smo,smo": "--solvers names smo twice",
    "--seeds 0": "--seeds must be at least 1",
    "--loss foo": "--loss must be one of hinge",
    "-C 0": "-C must be positive",
    "--passes -1": "must be zero or positive",
    "--bias free --solvers ocas": "ocas cannot solve bias 'free'",
    "--plot x.foo": "--plot cannot draw foo: give a name that ends in .png",
}


@pytest.mark.parametrize("words", TRAIN)
def test_train(pegasos, tmp_path, words):
    (tmp_path / "broken").write_text("1 1:x\n")
    pegasos("train", "broken", *words.split(), code=2)
    assert pegasos.err.startswith(TRAIN[words]) or TRAIN[words] in pegasos.err
    assert pegasos.err.count("\n") == 1
    assert "expected a number" not in pegasos.err


@pytest.mark.parametrize("words", COMPARE)
def test_compare(pegasos, tmp_path, words):
    (tmp_path / "broken").write_text("1 1:x\n")
    pegasos("compare", "broken", *words.split(), code=2)
    assert COMPARE[words] in pegasos.err
    assert pegasos.err.count("\n") == 1


def test_demo_generates_nothing_in_vain(pegasos):
    pegasos("demo", "--tol", "-1", code=2)
    assert pegasos.err.startswith("--tol must be")


@pytest.mark.parametrize("name", REGISTRY)
def test_what_can_be_solved_is_not_refused(name):
    solves = as_solver(name).solves
    for bias in solves.biases:
        for loss in solves.losses:
            try_out([name], bias=bias, loss=loss, lam=1e-3)
