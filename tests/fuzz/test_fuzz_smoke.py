"""Each fuzz target on its seeds and a few hundred inputs more; and whether faults are noticed."""

import argparse
import os
import pickle

import numpy as np
import plain_reader
import pytest
import run
import verdict
from guarded import guarded

BROKEN = """
import os, pickle, time
import numpy as np
from guarded import guarded

LONGEST = 9

def check(data, folder):
    if data == b"past":
        text = guarded(5000, np.uint8)
        np.lib.stride_tricks.as_strided(text, (5001,)).sum()
    if data == b"slow":
        time.sleep(60)
    if data == b"wrong":
        raise KeyError("wrong")
    return data == b"fine"
"""


def test_a_few_hundred_inputs_of_each_target(tmp_path, capsys):
    words = ["--examples", "200", "--seconds", "60", "--engines", "hypothesis", "--jobs", "3"]
    code = run.main([*words, "--folder", str(tmp_path)])
    said = capsys.readouterr().out
    assert code == 0, said
    assert said.count(" accepted,") == 3
    assert "0 findings" in said


@pytest.mark.parametrize(
    ("data", "told"),
    [(b"past", "SIGSEGV"), (b"slow", "took too long"), (b"wrong", "KeyError"), (b"fine", None)],
)
def test_what_happens_to_the_process_is_reported_with_its_input(tmp_path, monkeypatch, data, told):
    (tmp_path / "broken.py").write_text(BROKEN)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(run.HERE)]))
    for part in ("seeds", "findings", "corpus"):
        (tmp_path / "broken" / part).mkdir(parents=True)
    (tmp_path / "broken" / "corpus" / "0").write_bytes(data)
    (tmp_path / "broken" / "corpus" / "1").write_bytes(b"fine")
    args = argparse.Namespace(folder=tmp_path, seconds=20.0, examples=0, seed=0, hang=0.5)
    row = run.run("broken", "replay", args)
    found = [file.read_text() for file in (tmp_path / "broken" / "findings").glob("*.txt")]
    if told is None:
        assert (row.runs, row.accepted, found) == (2, 2, [])
        return
    assert row.accepted == 1, "the rest is tried too"
    assert told in found[0]
    kept = [f for f in (tmp_path / "broken" / "findings").glob("*") if f.suffix != ".txt"]
    assert kept[0].read_bytes() == data


def test_memory_beyond_proportion_is_a_finding():
    with verdict.bounded_memory(1000):
        np.empty(10_000)
    with pytest.raises(verdict.Finding, match="for 1000 bytes"), verdict.bounded_memory(1000):
        np.empty(10**9)


class Payload:
    def __reduce__(self):
        return os.getcwd, ()


def test_what_is_executed_or_written_is_a_finding(tmp_path):
    with verdict.nothing_executed():
        (tmp_path / "x").exists()
    with pytest.raises(verdict.Finding, match="find_class"), verdict.nothing_executed():
        pickle.loads(pickle.dumps(Payload()))
    with pytest.raises(verdict.Finding, match="writing"), verdict.nothing_executed():
        (tmp_path / "x").write_text("y")


def test_a_sentence_is_one_printable_line():
    assert verdict.check_sentence(ValueError("all is well")) == "all is well"
    for text in ("two\nlines", "", "\x1b[31m", "\ud800", "x" * 5000):
        with pytest.raises(verdict.Finding):
            verdict.check_sentence(ValueError(text))


def test_guarded_arrays_hold_what_others_hold():
    for size in (0, 1, 4095, 4096, 4097):
        array = guarded(size, np.float64)
        array[:] = np.arange(size)
        np.testing.assert_array_equal(array, np.arange(size))
        assert array.flags.aligned


def test_the_twin_reads_and_refuses():
    asked = plain_reader.Asked()
    table = plain_reader.read(b"1 qid:3 0:.5 2:1e1 # x\n\n-1 qid:3\n", asked)
    assert (table.pointers, table.indices, table.labels) == ([0, 2, 2], [0, 2], [1.0, -1.0])
    assert (table.groups, table.n_features, table.base) == ([3, 3], 3, 0)
    assert plain_reader.read(b"a 1:1\n1e400", asked).labels == ["a", "1e400"]
    for text, place in ((b"1 1:1\n1 2:1 2:1", (2, 7)), (b"1 1:1e39", (1, 5)), (b"#", (0, 0))):
        with pytest.raises(plain_reader.Refusal) as refused:
            plain_reader.read(text, asked)
        assert (refused.value.line, refused.value.column) == place
