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
    text = (HOME / "CONTRIBUTING.md").read_text()
    quoted = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert quoted.group(1) == (HOME / "src/pegasos/solvers/norma.py").read_text()
    # of those that stand on the contract itself, or on the loop over single rows
    solvers = (HOME / "src/pegasos/solvers").glob("*.py")
    found = {p.name: p.read_text() for p in solvers}
    sizes = {
        name: len(source)
        for name, source in found.items()
        if "name: ClassVar[str] = " in source and ("(Solver)" in source or "(OneRow)" in source)
    }
    assert min(sizes, key=sizes.get) == "norma.py"


def test_contributing_quotes_lines_that_are_there():
    text = (HOME / "CONTRIBUTING.md").read_text()
    where = ""
    lines = re.search(r"```diff\n(.*?)```", text, re.DOTALL).group(1).splitlines()
    assert len(lines) > 8
    for line in lines:
        if line.startswith("+++"):
            where = (HOME / line.removeprefix("+++ b/")).read_text()
        elif line.startswith("+"):
            assert line.removeprefix("+") in where, line


def test_examples_of_the_readme_run():
    blocks = re.findall(r"```python\n(.*?)```", (HOME / "README.md").read_text(), re.DOTALL)
    assert len(blocks) >= 3
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert names["model"].converged_
