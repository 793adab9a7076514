"""Faults in the sources are caught (see mutants.py, which shows them one by one)."""

import mutants
import pytest


def test_the_sources_themselves_pass():
    healthy, fault = mutants.survives(None)
    assert healthy, fault


@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_is_caught(mutant):
    alive, _ = mutants.survives(mutant)
    assert not alive, f"no check notices: {mutant.name}"
