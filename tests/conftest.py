"""What several test files share: Python in a process of its own, and a seeded problem."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import pegasos

SOURCES = Path(pegasos.__file__).parent.parent

# A shell that starts its jobs in the background lets them ignore Ctrl-C; these tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def run_python(tmp_path):
    """Run code in a new process and return what it printed as JSON; stderr in ``run.stderr``.

    ``cache`` is the folder of compiled code (shared between calls), ``sources`` the folder that
    holds the package, and None as a value takes a variable away.
    """

    def run(code, sources=SOURCES, cache=tmp_path / "cache", **variables):
        variables = {
            "PYTHONPATH": str(sources),
            "NUMBA_CACHE_DIR": str(cache),
            "NUMBA_DISABLE_JIT": None,
            "PYTHONDONTWRITEBYTECODE": "1",
            **variables,
        }
        environment = {k: v for k, v in os.environ.items() if k not in variables}
        environment |= {k: v for k, v in variables.items() if v is not None}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        run.stderr = done.stderr
        return json.loads(done.stdout)

    return run
