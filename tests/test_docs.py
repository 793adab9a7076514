"""What the documents say is true: their examples run, and what they quote is there."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import pegasos

HOME = Path(__file__).resolve().parent.parent
MODULES = sorted(info.name for info in pkgutil.walk_packages(pegasos.__path__, prefix="pegasos."))


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_every_public_name_has_an_example():
    without = {"Certificate", "ConvergenceWarning", "Event", "Solution", "Trace"}
    losses = {"Hinge", "SquaredHinge", "Logistic", "EpsilonInsensitive"}
    losses.add("SquaredEpsilonInsensitive")
    for name in set(pegasos.__all__) - without - losses:
        assert ">>>" in getattr(pegasos, name).__doc__, name


def test_contributing_quotes_the_smallest_solver_as_it_is():
    quoted = re.search(r"```python\n(.*?)```", (HOME / "CONTRIBUTING.md").read_text(), re.DOTALL)
    assert quoted.group(1) == (HOME / "src/pegasos/solvers/auto.py").read_text()
    solvers = (HOME / "src/pegasos/solvers").glob("*.py")
    sizes = {p.name: len(p.read_text()) for p in solvers if "(Solver)" in p.read_text()}
    assert min(sizes, key=sizes.get) == "auto.py"


def test_examples_of_the_readme_run():
    blocks = re.findall(r"```python\n(.*?)```", (HOME / "README.md").read_text(), re.DOTALL)
    assert len(blocks) >= 3
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert names["model"].converged_
