"""``import pegasos`` costs nothing, and every public name is there when it is asked for."""

import tomllib
from pathlib import Path

import pytest

import pegasos


def test_importing_the_package_loads_nothing_heavy(run_python):
    loaded = run_python("import json, sys, pegasos; print(json.dumps(sorted(sys.modules)))")
    assert "pegasos" in loaded
    heavy = {"numba", "llvmlite", "scipy", "sklearn", "numpy", "pandas", "matplotlib", "joblib"}
    assert {name.split(".")[0] for name in loaded} & heavy == set()
    assert [name for name in loaded if name.startswith("pegasos.")] == []


def test_importing_everything_compiles_nothing(run_python):
    found = run_python(
        """
import json
from numba.core import event
compilations = event.RecordingListener()
event.register("numba:compile", compilations)
import pegasos, pegasos.estimators
for name in pegasos.__all__:
    getattr(pegasos, name)
from pegasos.compiled import KERNELS
print(json.dumps({
    "kernels": len(KERNELS),
    "compiled": [k.py_func.__name__ for k in KERNELS if k.signatures],
    "compilations": len(compilations.buffer),
}))
"""
    )
    assert found["kernels"] > 10
    assert found["compiled"] == []
    assert found["compilations"] == 0


def test_importing_the_engine_does_not_load_scikit_learn(run_python):
    loaded = run_python(
        "import json, sys; from pegasos import Problem, solve, Pegasos, DualAscent; "
        "print(json.dumps(sorted(sys.modules)))"
    )
    assert "numba" in loaded
    assert "sklearn" not in loaded


@pytest.mark.parametrize("name", pegasos.__all__)
def test_every_public_name_is_there_and_described(name):
    found = getattr(pegasos, name)
    assert found.__name__ == name
    assert found.__doc__
    assert name in dir(pegasos)


def test_names_stand_once_and_star_import_brings_them_all():
    assert len(pegasos.__all__) == len(set(pegasos.__all__))
    names = {}
    exec("from pegasos import *", names)
    assert set(pegasos.__all__) <= set(names)


def test_the_rooms_of_data_are_there_without_an_import_of_their_own(run_python):
    found = run_python(
        "import json, sys, pegasos; d = pegasos.data; e = d.DataError; pegasos.datasets; "
        "print(json.dumps([d.__name__, e.__name__, 'numba' in sys.modules]))"
    )
    assert found[:2] == ["pegasos.data", "DataError"]
    with pytest.raises(AttributeError, match=r"no attribute 'lod'"):
        _ = pegasos.data.lod


@pytest.mark.parametrize("name", pegasos.data.__all__)
def test_every_public_name_of_data_is_there_and_described(name):
    found = getattr(pegasos.data, name)
    assert found.__name__ == name
    assert found.__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'LinearSCV'"):
        _ = pegasos.LinearSCV
    with pytest.raises(ImportError):
        exec("from pegasos import LinearSCV")


def test_the_version_is_that_of_the_project():
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())[
        "project"
    ]
    assert pegasos.__version__ == project["version"]
