"""What is seen of long work: facts from events, as a panel and as plain lines."""

import io
import math
import re

import pytest
from rich.console import Console

from pegasos.certificate import Certificate
from pegasos.cli import screen as screens
from pegasos.cli.screen import Screen
from pegasos.cli.views import Moving, Training, View, position_in, share_of_way, time_left
from pegasos.driver import Event


class Clock:
    """Time that passes when it is told to."""

    def __init__(self):
        self.time = 100.0

    def __call__(self):
        return self.time


@pytest.fixture
def clock():
    return Clock()


def look(gap, passes=1.0, problem=0):
    proof = Certificate(1.0 + gap, 1.0, gap, gap, "tried")
    return Event("look", problem, passes, 0.0, proof)


def progress(passes, problem=0):
    return Event("progress", problem, passes, 0.0)


def shown(view, width=80):
    console = Console(file=io.StringIO(), width=width, highlight=False)
    console.print(view.panel(width))
    return console.file.getvalue()


def test_the_bar_is_logarithmic_from_1_to_the_tolerance():
    assert share_of_way(1.0, 1e-4) == 0
    assert share_of_way(math.inf, 1e-4) == 0
    assert share_of_way(1e-2, 1e-4) == pytest.approx(0.5)
    assert share_of_way(1e-5, 1e-4) == 1
    assert share_of_way(0.5, 2.0) == 1


def test_the_time_left_is_that_of_a_line_through_the_logarithms():
    looks = [(10.0, 1e-1), (20.0, 1e-2)]
    assert time_left(looks, 1e-4, 20.0) == pytest.approx(20.0)
    assert time_left(looks, 1e-4, 25.0) == pytest.approx(15.0)
    assert time_left(looks, 1e-4, 99.0) == 0
    assert time_left(looks[:1], 1e-4, 20.0) is None
    assert time_left([(10.0, 1e-2), (20.0, 1e-1)], 1e-4, 20.0) is None
    assert time_left([(10.0, 1e-2), (10.0, 1e-1)], 1e-4, 20.0) is None
    assert time_left(looks, None, 20.0) is None


def test_a_training_from_its_events(clock):
    view = Training("training", rows=1000, tol=1e-3, now=clock)
    assert "compiled code is loaded" in view.line()
    view(progress(0.0))
    clock.time += 10
    view(look(1e-1, passes=5.0))
    assert "left" not in view.line()
    assert "500 rows/s" in view.line()
    clock.time += 10
    view(look(1e-2, passes=10.0))
    line = view.line()
    for part in ("passes 10.0", "500 rows/s", "0:20 spent", "~0:10 left", "gap 1.00e-02 of 1e-03"):
        assert part in line
    picture = shown(view)
    for part in ("training", "passes 10.0", "~0:10 left", "primal 1.01", "dual 1", "1e-03"):
        assert part in picture
    view(Event("note", 0, 10.0, 0.0, text="shrinking"))
    assert "shrinking" in shown(view)


def test_the_guesses_of_the_solver_say_how_long_where_looks_are_rare(clock):
    view = Training("training", rows=1000, tol=1e-4, now=clock)
    for gap in (1e-1, 1e-1, 3e-2, 1e-2, 3e-3):
        assert "left" not in view.line()
        clock.time += 10
        view(Event("progress", 0, 1.0, 0.0, estimate=gap))
    left = re.search("~(.*) left", view.line()).group(1)
    # The line of least squares through (10, 30, 40, 50 s) falls by ten in 26.6 s, to 1e-4 at 92 s.
    assert left == "0:42"


def test_the_gap_is_shown_with_its_own_bounds(clock):
    view = Training("training", rows=1000, tol=1e-3, now=clock)
    view(look(1e-2))
    view(look(1e-1))  # worse
    for said in (shown(view), view.line()):
        assert "1.01" in said
        assert "1.1 " not in said
    assert "gap    1.0e-02" in shown(view)


def test_the_panel_leaves_room_for_what_the_terminal_echoes(clock):
    screen = Screen(live=True)
    out = io.StringIO()
    screen._console = Console(file=out, force_terminal=True, width=60, color_system=None)
    view = Training("training", 10, 1e-3, now=clock)
    with screen.showing(view):
        view(look(1e-2))
    borders = [line for line in out.getvalue().splitlines() if "╭" in line]
    assert borders
    assert all(len(line[line.index("╭") : line.index("╮") + 1]) == 57 for line in borders)


def test_a_bound_that_is_not_there_yet(clock):
    view = Training("training", rows=10, tol=1e-3, now=clock)
    view(look(math.inf))
    assert "none yet" in shown(view)
    assert "left" not in view.line()


def test_several_problems_say_which_and_how_long(clock):
    view = Training("training", 10, 1e-3, ["a against b", "b against c", "c against a"], now=clock)
    view(look(1e-2, problem=0))
    clock.time += 10
    view(progress(1.0, problem=1))
    assert "problem 2 of 3: b against c" in view.line()
    assert "~0:20 left" in view.line()
    assert "problem 2 of 3: b against c" in shown(view)


@pytest.mark.parametrize("width", [40, 80, 100])
def test_a_panel_keeps_its_width(clock, width):
    view = Training("training on a file with quite a long name", 10**6, 1e-6, now=clock)
    view(look(1e-3, passes=123.4))
    view(Event("note", 0, 1.0, 0.0, text="a note that goes on " * 9))
    lines = shown(view, width).splitlines()
    assert {len(line) for line in lines} == {width}
    assert len(lines) <= 7


def test_restart_forgets(clock):
    view = Training("one", 10, 1e-3, now=clock)
    view(look(1e-2))
    clock.time += 7
    view.restart("two")
    assert view.line().startswith("two")
    assert view.proof is None
    assert view.spent == 0


def test_going_through_a_file(tmp_path, clock):
    path = tmp_path / "data"
    path.write_bytes(bytes(4000))
    view = Moving("reading data", follows=str(path), now=clock)
    assert "4 kB" in view.line()
    with open(path, "rb", buffering=0) as file:
        file.read(1000)
        if position_in(str(path)):  # the system tells
            assert "1 kB of 4 kB" in view.line()
            clock.time += 1
            file.read(2000)
            assert "2 kB/s" in view.line()
            assert "3 kB of 4 kB" in shown(view)
    view.more_rows(7)
    assert "7 rows" in view.line()
    assert position_in(str(path)) == 0


def test_bytes_that_somebody_counts(clock):
    view = Moving("fetching", now=clock)
    view.reached(500.0, None)
    assert "500 B" in view.line()
    view.reached(1000.0, 2000.0)
    assert "1 kB of 2 kB" in shown(view)


def test_plain_lines_are_few_and_without_control_characters(capsys, clock):
    view = Training("training", 10, 1e-3, now=clock)
    lines = screens._Lines(view, now=clock)
    view.changed = lines
    for k in range(1000):  # 50 seconds, a look in each
        clock.time += 0.05
        view(look(0.5**k) if k % 20 == 0 else progress(float(k)))
    said = capsys.readouterr().err
    assert 10 <= said.count("\n") <= 51
    assert "\x1b" not in said
    assert "\r" not in said


def test_the_screen_of_no_terminal_is_lines(capsys):
    screen = Screen()
    with screen.showing(View("working")):
        screen.note("once")
        screen.note("once")
        screen.tell("twice")
        screen.tell("twice")
    assert capsys.readouterr().err == "once\ntwice\ntwice\n"
    assert screen.notes == ["once"]


def test_a_quiet_screen(capsys):
    screen = Screen(quiet=True)
    with screen.showing(View("working")):
        screen.note("kept, not said")
    assert capsys.readouterr().err == ""
    assert screen.notes == ["kept, not said"]


def test_a_live_screen_shows_the_panel_and_then_takes_it_away(clock):
    screen = Screen(live=True)
    out = io.StringIO()
    screen._console = Console(file=out, force_terminal=True, width=60)
    view = Training("training", 10, 1e-3, now=clock)
    with screen.showing(view):
        view(look(1e-2))
        screen._console.print("a line above")
    said = out.getvalue()
    assert "training" in said
    assert "a line above" in said
    assert said.rstrip().endswith("\x1b[2K")  # the last line of the panel is erased


def test_no_color_is_honoured(monkeypatch, clock):
    monkeypatch.setenv("NO_COLOR", "1")
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=60)
    view = Training("training", 10, 1e-3, now=clock)
    view(look(1e-2))
    console.print(view.panel(60))
    assert "\x1b[3" not in out.getvalue().replace("\x1b[39", "")
