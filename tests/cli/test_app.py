"""The application: help, completion, a quick start, errors as sentences, and exit codes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import pegasos
from pegasos.cli import completion, exits, main
from pegasos.cli.app import app
from pegasos.losses import LOSSES
from pegasos.models import FORMATS
from pegasos.solvers import REGISTRY

COMMANDS = ["train", "predict", "evaluate", "convert", "info", "compare", "demo", "datasets"]
SOURCES = Path(pegasos.__file__).parent.parent


@pytest.mark.parametrize("words", [[], *([name] for name in COMMANDS), ["datasets", "fetch"]])
def test_help_teaches_by_example(pegasos, words):
    out = pegasos(*words, "--help")
    assert "Usage: pegasos" in out
    assert "Examples" in out
    assert "pegasos " + " ".join(words) in out.split("Examples")[1]
    assert max(map(len, out.splitlines())) <= 100


def test_help_lists_commands_and_exit_codes(pegasos):
    out = pegasos("--help")
    for name in COMMANDS:
        assert f" {name} " in out
    for code in exits.CODES:
        assert f"{code}  {exits.CODES[code][:20]}" in out


def test_version(pegasos):
    from pegasos import __version__

    assert pegasos("--version") == f"pegasos {__version__}\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["trian"], "No such command 'trian'"),
        (["train"], "Missing argument 'DATA' (pegasos train --help shows how)"),
        (["--nonsense"], "No such option"),
    ],
)
def test_wrong_usage(pegasos, words, sentence):
    pegasos(*words, code=2)
    assert sentence in pegasos.err
    assert pegasos.err.count("\n") == 1


def test_without_a_command_the_help_is_shown(pegasos):
    out = pegasos(code=2)
    assert "Usage: pegasos" in out + pegasos.err


def run_python(code, **variables):
    """Python in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), **variables}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )


def test_help_loads_nothing_heavy():
    done = run_python(
        "import sys; from pegasos.cli import main; main(['train', '--help']); "
        "print(' '.join(m for m in ('numba', 'sklearn', 'pandas', 'scipy', 'pyarrow', "
        "'matplotlib', 'numpy') if m in sys.modules), file=sys.stderr)"
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stderr.split()) <= {"numpy"}


def test_without_typer_one_sentence_says_how_to_get_it():
    done = run_python(
        "import sys; sys.modules['typer'] = None; from pegasos.cli import main; sys.exit(main([]))"
    )
    assert done.returncode == 2
    assert done.stderr == ("the command line needs typer and rich: pip install 'pegasos[cli]'\n")


def test_the_package_can_be_run():
    done = subprocess.run(
        [sys.executable, "-m", "pegasos", "--version"],
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, f"pegasos {pegasos.__version__}\n")


def test_the_completion_script_prints():
    done = subprocess.run(
        [sys.executable, "-m", "pegasos", "--show-completion", "bash"],
        env={
            **os.environ,
            "PYTHONPATH": str(SOURCES),
            "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "_PEGASOS_COMPLETE" in done.stdout


def test_completions():
    assert completion.solvers("sgd-q") == ["sgd-qn"]
    assert completion.solver_list("auto,sgd-q") == ["auto,sgd-qn"]
    assert "a9a" in completion.data_sets("a")
    assert set(completion.LOSSES) == set(LOSSES)
    assert set(completion.FORMATS) == set(FORMATS)
    assert completion.solvers("") == list(REGISTRY)


def test_every_command_is_told_apart():
    names = {info.name for info in app.registered_commands}
    assert names | {"datasets"} == set(COMMANDS)


# ---------------------------------------------------------------------------------------- errors


def failing(error):
    """An application whose only command raises."""
    broken = typer.Typer()

    @broken.command()
    def command():
        raise error

    return broken


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (ValueError("C must\nbe positive"), 2, "-C must be positive"),
        (FileNotFoundError(2, "No such file", "x.svm"), 2, "x.svm: no such file"),
        (FileExistsError("there is one"), 3, "there is one"),
        (OSError(28, "No space left on device", "out"), 3, "out: no space left on device"),
        (exits.OutputError("cannot"), 3, "cannot"),
        (ImportError("pictures need matplotlib"), 2, "pictures need matplotlib"),
        (MemoryError("8 GB"), 2, "there is not enough memory (8 GB)"),
        (ZeroDivisionError("oh"), 70, "a mistake in pegasos: ZeroDivisionError: oh"),
    ],
)
def test_errors_become_one_sentence(capsys, monkeypatch, error, code, sentence):
    monkeypatch.delenv("PEGASOS_DEBUG", raising=False)
    assert exits.run(failing(error), []) == code
    err = capsys.readouterr().err
    assert err.startswith(sentence)
    assert err.count("\n") == 1


def test_a_full_disk_behind_a_sentence_is_an_output_error():
    error = ValueError("no space left while writing m")
    error.__cause__ = OSError(28, "No space left on device")
    assert exits.told(error) == ("no space left while writing m", 3)


def test_debug_shows_where(capsys, monkeypatch):
    monkeypatch.setenv("PEGASOS_DEBUG", "1")
    assert exits.run(failing(ZeroDivisionError("oh")), []) == 70
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_anywhere_is_130(capsys):
    assert exits.run(failing(KeyboardInterrupt()), []) == 130


def test_a_reader_that_has_gone_is_no_error():
    code = "import sys; from pegasos.cli import main; sys.exit(main(['datasets', '--json']))"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    assert process.wait() == exits.PIPE_CLOSED
    assert process.stderr.read() == b""
    process.stderr.close()


def test_main_takes_the_words_of_the_process(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["pegasos", "--version"])
    assert main() == 0
    assert capsys.readouterr().out.startswith("pegasos ")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
@pytest.mark.parametrize(("words", "code"), [("info one.svm", 0), ("info none.svm", 2)])
@pytest.mark.skipif(os.name == "nt", reason="a shell")
def test_a_closed_stream_is_nobody_s_fault(tmp_path, closed, words, code):
    (tmp_path / "one.svm").write_text("1 1:1\n-1 2:1\n")
    line = f"{sys.executable} -m pegasos {words} {closed}"
    done = subprocess.run(
        ["sh", "-c", line], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(SOURCES)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
