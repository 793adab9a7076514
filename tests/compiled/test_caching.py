"""What is compiled, when, and that it is never stale: causes, not times."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import pegasos

SOURCES = Path(pegasos.__file__).parent.parent

DATA = """
import json, logging
import numpy as np, scipy.sparse
from numba.core import event
logging.basicConfig()
compilations = event.RecordingListener()
event.register("numba:compile", compilations)
from pegasos import DualAscent, Pegasos, Problem, solve
from pegasos.compiled import KERNELS

rng = np.random.default_rng(0)
X = scipy.sparse.random_array((60, 8), density=0.5, format="csr", rng=rng)
y = np.where(rng.random(60) < 0.5, -1.0, 1.0)

def report():
    return {
        "misses": sum(sum(k.stats.cache_misses.values()) for k in KERNELS),
        "hits": sum(sum(k.stats.cache_hits.values()) for k in KERNELS),
        "compilations": len(compilations.buffer),
    }
"""

ASCEND = (
    DATA
    + """
def run():
    solution = solve(Problem(X, y, C=1.0, bias="free"), DualAscent(), tol=1e-6)
    return [*solution.w.tolist(), solution.b]
w = run()
first = report()
again = run()
print(json.dumps({"first": first, "second": report(), "w": w, "again": again}))
"""
)

PEGASOS = (
    "Pegasos()",
    "Pegasos(order='shuffle-once')",
    "Pegasos(order='iid')",
    "Pegasos(output='average')",
    "Pegasos(output='random', steps=50)",
    "Pegasos(batch=7)",
    "Pegasos(batch=7, bias_step='exact')",
)

DESCEND = (
    DATA
    + """
for solver in SOLVERS:
    solve(Problem(X, y, C=1.0, bias="free"), solver, tol=None, max_passes=3)
print(json.dumps(report()))
"""
)

SCORES = """
import json
import numpy as np
from pegasos import Problem
from pegasos.certificate import Answer, certify
problem = Problem(np.array([[1.0, 2.0], [3.0, -1.0]]), [1, -1], C=1.0)
print(json.dumps(certify(problem, Answer(np.array([1.0, 10.0]), 0.0, None)).z.tolist()))
"""


def test_a_second_solve_and_a_second_process_compile_nothing(run_python):
    cold, warm = run_python(ASCEND), run_python(ASCEND)
    assert cold["first"]["misses"] > 0
    assert cold["second"]["misses"] == cold["first"]["misses"]
    assert cold["second"]["compilations"] == cold["first"]["compilations"]
    assert warm["second"]["misses"] == 0
    assert warm["second"]["compilations"] == 0
    assert warm["first"]["hits"] > 0
    assert cold["w"] == cold["again"] == warm["w"]


def test_no_variant_of_pegasos_compiles_in_a_second_process(run_python):
    cold = run_python(DESCEND.replace("SOLVERS", f"[{', '.join(PEGASOS)}]"))
    assert cold["misses"] > 0
    warm = {name: run_python(DESCEND.replace("SOLVERS", f"[{name}]")) for name in PEGASOS}
    assert [name for name, report in warm.items() if report["misses"]] == []
    assert [name for name, report in warm.items() if not report["hits"]] == []
    assert {name: r["compilations"] for name, r in warm.items() if r["compilations"]} == {}


@pytest.fixture
def copied(tmp_path):
    """A copy of the package, without compiled code."""
    copy = tmp_path / "copy"
    shutil.copytree(SOURCES, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def test_an_edit_to_a_row_verb_recompiles_its_callers_in_other_files(run_python, copied):
    assert run_python(SCORES, sources=copied) == [21.0, -7.0]
    verbs = copied / "pegasos" / "rows" / "verbs.py"
    source, line = verbs.read_text(), "        total += w[j] * np.float64(row[j])\n"
    assert source.count(line) == 1
    verbs.write_text(source.replace(line, line.replace("+= w[j]", "+= 2.0 * w[j]")))
    assert run_python(SCORES, sources=copied) == [42.0, -14.0]
    verbs.write_text(source)
    assert run_python(SCORES, sources=copied) == [21.0, -7.0]


def test_a_class_that_is_gone_costs_a_compilation_and_no_more(run_python, copied):
    code = DATA + "solve(Problem(X, y, C=1.0), 'norma', tol=None, max_passes=3)\n"
    code += "print(json.dumps(report()))"
    assert run_python(code, sources=copied)["misses"] > 0
    norma = copied / "pegasos" / "solvers" / "norma.py"
    source = norma.read_text()
    assert "class Rule(NamedTuple)" in source
    norma.write_text(re.sub(r"\bRule\b", "Rule2", source))
    assert run_python(code, sources=copied)["misses"] > 0
    assert run_python.stderr == ""
    assert run_python(code, sources=copied)["misses"] == 0


def test_a_folder_that_cannot_be_written_costs_one_log_line(run_python, copied, tmp_path):
    file = tmp_path / "file"  # no folder can be made below a file, not even by root
    file.write_text("")
    for folder in [path for path in (copied / "pegasos").rglob("*") if path.is_dir()]:
        (folder / "__pycache__").write_text("")
    (copied / "pegasos" / "__pycache__").write_text("")
    nowhere = str(file / "below")
    found = run_python(
        "import logging; logging.basicConfig()" + SCORES,
        sources=copied,
        cache=nowhere,
        HOME=nowhere,
        XDG_CACHE_HOME=nowhere,
    )
    assert found == [21.0, -7.0]
    lines = [line for line in run_python.stderr.splitlines() if "pegasos" in line]
    assert len(lines) == 1, run_python.stderr
    assert "NUMBA_CACHE_DIR" in lines[0]


def test_a_full_disk_costs_one_log_line(run_python):
    broken = """
import logging
import numba.core.caching
logging.basicConfig()
def full(self, name, data):
    raise OSError(28, "No space left on device", self._index_path)
numba.core.caching.IndexDataCacheFile._save_data = full
"""
    assert run_python(broken + SCORES) == [21.0, -7.0]
    assert run_python.stderr.count("No space left on device") == 1


def test_damaged_machine_code_costs_a_compilation_and_no_more(run_python, tmp_path):
    assert run_python(SCORES) == [21.0, -7.0]
    files = sorted((tmp_path / "cache").rglob("*.nbc"))
    assert len(files) > 2
    for k, path in enumerate(files):
        whole = path.read_bytes()
        path.write_bytes((b"", b"nonsense", whole[: len(whole) // 2])[k % 3])
    assert run_python(SCORES) == [21.0, -7.0]


def test_a_damaged_index_costs_a_compilation_and_no_more(run_python, tmp_path):
    assert run_python(SCORES) == [21.0, -7.0]
    files = sorted((tmp_path / "cache").rglob("*.nbi"))
    assert files
    for path in files:
        path.write_bytes(path.read_bytes()[:20])
    assert run_python(SCORES) == [21.0, -7.0]
    assert "not cached" not in run_python.stderr
    assert all(path.stat().st_size > 20 for path in files)  # mended for the next process


PLAIN = """
import json, sys
import numpy as np, scipy.sparse
from pegasos import DualAscent, Pegasos, Problem, solve
rng = np.random.default_rng(4)
X = rng.standard_normal((40, 5))
y = np.where(X[:, 0] + 0.7 * rng.standard_normal(40) > 0, 1.0, -1.0)
if STORAGE == "csr":
    X = scipy.sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
found = []
for bias in ("none", "free"):
    problem = Problem(X, y, C=0.5, bias=bias, weights=np.linspace(0.5, 2, 40))
    for solver, passes in (
        (DualAscent(), 12), (Pegasos(), 3), (Pegasos(batch=7, output="average"), 3)
    ):
        solution = solve(problem, solver, tol=1e-6, max_passes=passes, seed=1)
        proof = solution.certificate
        found.append([*solution.w.tolist(), solution.b, proof.primal, proof.dual])
print(json.dumps(found))
"""


@pytest.mark.parametrize("storage", ["csr", "dense"])
def test_plain_python_solves_to_the_same_numbers(run_python, storage, capsys):
    code = PLAIN.replace("STORAGE", repr(storage))
    plain = run_python(code, NUMBA_DISABLE_JIT="1")
    exec(code, {})
    compiled = json.loads(capsys.readouterr().out)
    assert len(plain) == len(compiled) == 6
    for one, other in zip(plain, compiled):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)
