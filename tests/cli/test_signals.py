"""Ctrl-C and SIGTERM in the middle of a training: the best model so far is there."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import pegasos
from pegasos.models import load_model

SOURCES = Path(pegasos.__file__).parent.parent


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, 130),
        pytest.param(signal.SIGTERM, 143, marks=pytest.mark.skipif(os.name == "nt", reason="kill")),
    ],
)
def test_a_signal_saves_the_best_model_and_keeps_the_checkpoint(tmp_path, number, code):
    rng = np.random.default_rng(0)
    lines = [
        f"{rng.choice([-1, 1])} " + " ".join(f"{j}:{v:.3f}" for j, v in enumerate(row, 1))
        for row in rng.standard_normal((2000, 20))
    ]
    (tmp_path / "long.svm").write_text("\n".join(lines) + "\n")
    words = "long.svm --solver pegasos --tol 1e-12 --max-passes 1e9 --checkpoint run --json"
    process = subprocess.Popen(
        [sys.executable, "-m", "pegasos", "train", *words.split()],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    guard = threading.Timer(120, process.kill)
    guard.start()
    said = []
    for line in process.stderr:
        said.append(line)
        if "primal" in line:  # it has looked at a model
            process.send_signal(number)
            break
    rest, answer = process.stderr.read(), process.stdout.read()
    guard.cancel()
    assert process.wait() == code, "".join(said) + rest
    assert "interrupted; the best model so far is" in rest
    assert "go on with --checkpoint run --resume" in rest
    assert '"interrupted": true' in answer
    assert "Traceback" not in rest
    model = load_model(tmp_path / "long.pegasos")
    assert np.isfinite(model.certificate_.primal)
    assert not model.converged_
    assert (tmp_path / "run").exists()
