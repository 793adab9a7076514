"""Pictures of comparisons: what the lines show, and that twenty of them can be told apart."""

from __future__ import annotations

import itertools
import math
import sys

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_rgb

from pegasos import ConvergenceDisplay, Problem, compare
from pegasos.displays import COLOURS, styles

# Machado, Oliveira & Fernandes 2009: how full protanopia, deuteranopia and tritanopia see.
VISIONS = {
    "full": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.01182, 0.04294, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.3039],
        ]
    ),
}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def run(solver, seed, y, x=None, status="out of passes", **columns):
    """One run of a table: passes 1, 2, 4, …, seconds a hundredth of them, and a suboptimality."""
    y = np.array(y, dtype=float)
    x = 2.0 ** np.arange(y.size) if x is None else np.array(x, dtype=float)
    facts = {"steps": 10 * x, "passes": x, "seconds": x / 100, "suboptimality": y, "gap": 3 * y}
    facts |= {"test_error": 0.1 + 0.05 * y, "test_loss": y + 1.0, **columns}
    return pd.DataFrame({"solver": solver, "seed": seed, **facts, "status": status})


def table_of(count, looks=12):
    """So many algorithms that converge at different rates."""
    return pd.concat(
        [run(f"algorithm {k}", 0, 0.9 ** ((k + 1) * np.arange(looks))) for k in range(count)]
    )


def lab(colour, vision="full"):
    """CIE L*a*b* of a colour, as it is seen."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(VISIONS[vision] @ linear, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    t = np.array(to_xyz) @ linear / [0.9505, 1.0, 1.089]
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def look_of(line):
    dashes = line._unscaled_dash_pattern
    hollow = line.get_markerfacecolor() == "white"
    return line.get_color(), dashes, line.get_marker(), hollow


# ------------------------------------------------------------------------------- telling apart


def test_one_line_an_algorithm_each_with_a_look_of_its_own():
    display = ConvergenceDisplay.from_comparison(table_of(24))
    assert [line.get_label() for line in display.lines_] == [f"algorithm {k}" for k in range(24)]
    assert len({look_of(line) for line in display.lines_}) == 24
    assert len({look_of(line)[:2] for line in display.lines_}) == 24  # without the marker
    assert len({look_of(line)[2:] for line in display.lines_[:20]}) == 20  # by the marker alone


def test_in_grey_lines_differ_by_luminance_or_by_marker_and_dashes():
    for count in (2, 5, 7, 20):
        for one, other in itertools.combinations(styles(count), 2):
            apart = abs(lab(one.colour)[0] - lab(other.colour)[0])
            assert apart >= 9 or (one.line, one.marker, one.hollow) != (
                other.line,
                other.marker,
                other.hollow,
            )
            assert (one.marker, one.hollow) != (other.marker, other.hollow)


def test_colours_rise_in_luminance_and_stay_dark_enough_for_paper():
    luminance = np.array([lab(colour)[0] for colour in COLOURS])
    assert (np.diff(luminance) >= 9).all()
    assert luminance[-1] <= 76


@pytest.mark.parametrize("vision", VISIONS)
def test_colours_can_be_told_apart_with_any_colour_vision(vision):
    for one, other in itertools.combinations(COLOURS, 2):
        assert np.linalg.norm(lab(one, vision) - lab(other, vision)) >= 25, (one, other)


def test_few_algorithms_take_colours_that_are_far_apart():
    assert [style.colour for style in styles(2)] == [COLOURS[0], COLOURS[-1]]
    assert [style.colour for style in styles(1)] == [COLOURS[0]]
    assert styles(0) == []


# -------------------------------------------------------------------------- what the lines show


@pytest.mark.parametrize("x", ["seconds", "passes", "steps"])
@pytest.mark.parametrize("y", ["suboptimality", "gap", "test_error", "test_loss"])
def test_axes(x, y):
    display = ConvergenceDisplay.from_comparison(table_of(2), x=x, y=y)
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.get_yscale() == ("log" if y in ("suboptimality", "gap") else "linear")
    assert x.removesuffix("s") in display.ax_.get_xlabel()
    words = {"suboptimality": "above the optimum", "gap": "gap"}.get(y, y.replace("_", " "))
    assert words in display.ax_.get_ylabel()


@pytest.mark.parametrize("y", ["suboptimality", "test_error"])
def test_one_seed_is_drawn_as_it_is(y):
    table = run("it", 0, [0.5, 0.7, 0.1, 0.01])
    display = ConvergenceDisplay.from_comparison(table, x="passes", y=y)
    (line,) = display.lines_
    np.testing.assert_array_equal(line.get_xdata(), table["passes"])
    np.testing.assert_allclose(line.get_ydata(), table[y], rtol=1e-12)
    assert not display.ax_.collections  # no band


def test_several_seeds_are_a_median_and_a_band():
    y = 0.5 ** np.arange(6)
    table = pd.concat([run("it", 0, y), run("it", 1, 3 * y), run("it", 2, 100 * y)])
    display = ConvergenceDisplay.from_comparison(table, x="passes")
    np.testing.assert_allclose(display.lines_[0].get_ydata(), 3 * y)
    (band,) = display.ax_.collections
    corners = band.get_paths()[0].vertices
    for x, low in zip(table["passes"], y):
        heights = corners[np.isclose(corners[:, 0], x), 1]
        np.testing.assert_allclose([heights.min(), heights.max()], [low, 100 * low])
    without = ConvergenceDisplay.from_comparison(table, x="passes", band=False)
    assert not without.ax_.collections


def test_seeds_that_looked_elsewhere_are_interpolated_on_both_logarithms():
    table = pd.concat(
        [run("it", 0, [1.0, 0.01], [1, 100]), run("it", 1, [1, 0.1, 0.01], [1, 10, 100])]
    )
    (line,) = ConvergenceDisplay.from_comparison(table, x="passes").lines_
    np.testing.assert_array_equal(line.get_xdata(), [1, 10, 100])
    np.testing.assert_allclose(line.get_ydata(), [1, 0.1, 0.01])


def test_a_line_begins_where_all_seeds_have_begun():
    table = pd.concat([run("it", 0, [1, 0.5, 0.2], [1, 2, 4]), run("it", 1, [0.5, 0.2], [2, 4])])
    (line,) = ConvergenceDisplay.from_comparison(table, x="passes").lines_
    np.testing.assert_array_equal(line.get_xdata(), [2, 4])


def test_a_run_that_has_ended_keeps_its_value_and_one_that_diverged_is_infinite():
    ended = [run("ended", 0, [1, 0.1], status="done"), run("ended", 1, [1, 0.1, 0.001, 0.001])]
    lost = [run("lost", seed, [1, 5, math.inf], status="diverged") for seed in (0, 1)]
    table = pd.concat([*ended, *lost, run("lost", 2, [1, 0.1, 0.01, 0.001])])
    display = ConvergenceDisplay.from_comparison(table, x="passes")
    kept, gone = display.lines_
    np.testing.assert_allclose(kept.get_ydata(), [1, 0.1, 0.01, 0.01])
    np.testing.assert_allclose(gone.get_ydata(), [1, 5])
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == ["lost (2 of 3 diverged)", "ended"]


def test_what_is_below_the_finest_proof_is_drawn_there():
    (line,) = ConvergenceDisplay.from_comparison(run("it", 0, [1e-3, 1e-13, 0.0])).lines_
    np.testing.assert_allclose(line.get_ydata(), [1e-3, 1e-12, 1e-12])


def test_an_algorithm_without_values_is_named_all_the_same():
    table = pd.concat([run("blind", 0, [0.1, 0.01], gap=math.inf), run("sure", 0, [0.1, 0.01])])
    display = ConvergenceDisplay.from_comparison(table, y="gap")
    assert [line.get_xdata().size for line in display.lines_] == [0, 2]
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == ["sure", "blind (no finite gap)"]
    display.figure_.canvas.draw()


# ------------------------------------------------------------------------------ legend and axes


@pytest.mark.parametrize("count", [2, 20])
def test_the_legend_stands_beside_the_lines_inside_the_figure(count):
    display = ConvergenceDisplay.from_comparison(table_of(count))
    display.figure_.canvas.draw()
    legend, axes = display.legend_.get_window_extent(), display.ax_.get_window_extent()
    whole = display.figure_.bbox
    assert legend.x0 >= axes.x1
    assert legend.x1 <= whole.x1
    assert whole.y0 <= legend.y0
    assert legend.y1 <= whole.y1
    assert axes.width > 0.5 * whole.width


def test_the_legend_is_in_the_order_in_which_the_lines_end():
    table = pd.concat([run("low", 0, [1, 0.01]), run("high", 0, [1, 0.9]), run("mid", 0, [1, 0.1])])
    display = ConvergenceDisplay.from_comparison(table)
    assert [t.get_text() for t in display.legend_.get_texts()] == ["high", "mid", "low"]
    assert [line.get_label() for line in display.lines_] == ["low", "high", "mid"]


def test_every_line_carries_markers_and_one_at_its_end():
    display = ConvergenceDisplay.from_comparison(table_of(20, looks=60))
    for line in display.lines_:
        marked = line.get_markevery()
        assert 6 <= len(marked) <= 8
        assert marked[-1] == 59
    first, second = (line.get_markevery() for line in display.lines_[:2])
    assert set(first) & set(second) == {59}


def test_given_axes_are_used_and_it_can_be_plotted_again():
    figure, (left, right) = pyplot.subplots(1, 2)
    display = ConvergenceDisplay.from_comparison(table_of(3), ax=left, line_kw={"linewidth": 3})
    assert display.ax_ is left
    assert display.figure_ is figure
    assert {line.get_linewidth() for line in display.lines_} == {3}
    assert display.plot(ax=right) is display
    assert display.ax_ is right
    assert len(right.lines) == len(left.lines) == 3
    assert display.plot().figure_ is not figure


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"x": "hours"}, "x must be one of seconds, passes, steps, not 'hours'"),
        ({"y": "primal"}, "y must be one of suboptimality, gap"),
        ({"y": "test_error"}, "finite test_error against seconds .compare was given no test"),
    ],
)
def test_bad_options_get_a_sentence(options, message):
    table = run("it", 0, [1.0, 0.1], test_error=math.nan)
    with pytest.raises(ValueError, match=message):
        ConvergenceDisplay.from_comparison(table, **options)


def test_another_table_is_refused():
    with pytest.raises(ValueError, match="the table has no column 'status'"):
        ConvergenceDisplay.from_comparison(table_of(2).drop(columns="status"))


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'pegasos\[compare\]'"):
        ConvergenceDisplay.from_comparison(table_of(2))


def test_a_real_comparison_is_drawn():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    y = np.where(X[:, 0] + rng.standard_normal(80) > 0, 1, -1)
    table = compare(
        Problem(X, y, lam=0.05), ["pegasos", "norma", "dual-ascent"], max_passes=10, seeds=3
    )
    display = ConvergenceDisplay.from_comparison(table)
    display.figure_.canvas.draw()
    for line in display.lines_:
        assert line.get_xdata().size > 5
        assert np.isfinite(line.get_ydata()).all()
