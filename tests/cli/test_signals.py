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
from pegasos.cli.signals import ctrl_c_heard, sigterm_as_ctrl_c
from pegasos.models import load_model

SOURCES = Path(pegasos.__file__).parent.parent


POSIX = pytest.mark.skipif(os.name == "nt", reason="kill")


def ignore_ctrl_c():
    """What a shell does to ``command &``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.mark.parametrize(
    ("numbers", "code", "background"),
    [
        ([signal.SIGINT], 130, False),
        pytest.param([signal.SIGTERM], 143, False, marks=POSIX),
        pytest.param([signal.SIGINT, signal.SIGTERM], 143, True, marks=POSIX),
    ],
)
def test_a_signal_saves_the_best_model_and_keeps_the_checkpoint(
    tmp_path, numbers, code, background
):
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
        preexec_fn=ignore_ctrl_c if background else None,
    )
    guard = threading.Timer(120, process.kill)
    guard.start()
    said = []
    for line in process.stderr:
        said.append(line)
        if "primal" in line:  # it has looked at a model
            process.send_signal(numbers.pop(0))
            if not numbers:
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


@POSIX
def test_a_demo_that_is_interrupted_says_so(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "pegasos", "demo", "--rows", "5000", "--tol", "0"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    guard = threading.Timer(120, process.kill)
    guard.start()
    for line in process.stderr:
        if "rows × " in line:
            process.send_signal(signal.SIGINT)
            break
    rest = process.stderr.read()
    guard.cancel()
    process.stdout.close()
    assert process.wait() == 130, rest
    assert rest.splitlines()[-1] == "interrupted"


@POSIX
def test_sigterm_reaches_whoever_stops_on_ctrl_c():
    heard = []
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with ctrl_c_heard(), sigterm_as_ctrl_c() as came:
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
            assert signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
            signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
            signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert heard == [signal.SIGINT]
        assert came == [signal.SIGTERM]
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    finally:
        signal.signal(signal.SIGINT, before)
