"""A few kills of each kind of work (see faults.py, which kills often, and fills a disk)."""

import drills
import faults
import pytest


@pytest.mark.parametrize(
    "drill", [drills.Replace, drills.Solve, drills.Save], ids=lambda drill: drill.name
)
def test_a_kill_harms_nothing_and_the_work_ends_with_the_same_bits(drill, tmp_path):
    tally = faults.perform(drill(tmp_path, size=0.05), kills=2, steps=drill is drills.Replace)
    assert tally.faults == []
    assert tally.before + tally.during + tally.after == 2


class Careless(drills.Save):
    """Writes as nobody should."""

    name = "careless"

    def work(self):
        with (self.out / "model").open("wb") as file:
            while True:
                file.seek(0)
                file.truncate()
                file.flush()
                file.write(b"half")


def test_a_half_file_is_noticed(tmp_path, monkeypatch):
    drill = Careless(tmp_path, size=0.05)
    drill.folder.mkdir()
    drill.prepare()
    drill.out.mkdir()
    (drill.out / "model").write_bytes(b"half")
    with pytest.raises(ValueError, match="not a model"):
        drill.check()
