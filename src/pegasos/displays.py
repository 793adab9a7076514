"""Pictures, by scikit-learn's convention: a Display is made from results, and plots them.

Algorithms differ in colour, marker and line at once. The colours can be told apart with any colour
vision and rise in luminance, so that a print in grey keeps them apart too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pegasos.certificate import FINEST_TOLERANCE

if TYPE_CHECKING:
    import pandas as pd

COLOURS = ("#000000", "#1c376d", "#6b2cb9", "#a5524d", "#90851a", "#39aea6", "#c5acfc")
LINES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (5, 1.5, 1, 1.5)), (0, (1, 1)))
SHAPES = "osD^vPXp<>"  # first filled, then hollow
MARKS = 7  # markers on a line

ACROSS = {
    "seconds": "seconds inside the solver",
    "passes": "passes over the data",
    "steps": "steps of the method",
}
UPWARDS = {
    "suboptimality": "objective above the optimum, relative",
    "gap": "certified relative gap",
    "test_error": "test error",
    "test_loss": "test loss",
}
LOGARITHMIC = ("suboptimality", "gap")


class Style(NamedTuple):
    """How one algorithm is drawn."""

    colour: str
    line: Any
    marker: str
    hollow: bool


def styles(count: int) -> list[Style]:
    """A look for each of so many algorithms: no two alike among the first 140."""
    few = min(count, len(COLOURS))
    spread = np.round(np.linspace(0, len(COLOURS) - 1, few)).astype(int)
    return [
        Style(
            COLOURS[spread[k % few]],
            LINES[k % len(LINES)],
            SHAPES[k % len(SHAPES)],
            k // len(SHAPES) % 2 == 1,
        )
        for k in range(count)
    ]


class Curve(NamedTuple):
    """One algorithm: the median over its seeds, the lowest and the highest, and a remark."""

    label: str
    x: np.ndarray
    median: np.ndarray
    low: np.ndarray
    high: np.ndarray
    remark: str


class ConvergenceDisplay:
    """How fast algorithms converge: one line each.

    Make it with ``ConvergenceDisplay.from_comparison``.

    Parameters
    ----------
    curves : list of Curve
        One for each algorithm.
    x, y : str
        What the axes show.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was plotted.
    figure_ : matplotlib Figure
        The figure of these axes.
    lines_ : list of matplotlib Line2D
        One for each algorithm, in the order of the table; its label is the algorithm's.
    legend_ : matplotlib Legend
        To the right of the axes, in the order in which the lines end.

    Examples
    --------
    >>> from pegasos import ConvergenceDisplay, Problem, compare
    >>> problem = Problem([[1.0, 2.0], [-2.0, 1.0], [0.5, -1.0]], [1, -1, -1], C=1.0)
    >>> table = compare(problem, ["pegasos", "dual-ascent"], max_passes=10)
    >>> display = ConvergenceDisplay.from_comparison(table, x="passes")
    >>> [line.get_label() for line in display.lines_]
    ['pegasos', 'dual-ascent']
    """

    def __init__(self, curves: list[Curve], *, x: str, y: str):
        self.curves = curves
        self.x = x
        self.y = y

    @classmethod
    def from_comparison(
        cls,
        table: pd.DataFrame,
        *,
        x: str = "seconds",
        y: str = "suboptimality",
        ax: Any = None,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
    ) -> ConvergenceDisplay:
        """Plot a table of ``pegasos.compare``.

        Parameters
        ----------
        table : DataFrame
            The comparison, or some of its rows.
        x : {"seconds", "passes", "steps"}, default="seconds"
            What was spent.
        y : {"suboptimality", "gap", "test_error", "test_loss"}, default="suboptimality"
            What was reached. The first two are drawn on a logarithmic axis, where 1e-12, the
            finest that float64 sums can prove, stands for all that is below.
        ax : matplotlib Axes, optional
            Where to plot; a new figure if not given.
        band : bool, default=True
            Shade what lies between the lowest and the highest of several seeds. The line is
            their median; a run that has ended keeps its last value, one that has diverged counts
            as infinite.
        line_kw : dict, optional
            Passed on to ``Axes.plot`` for all lines, such as ``{"linewidth": 1}``.

        Returns
        -------
        ConvergenceDisplay
            The display, plotted.
        """
        for name, given, known in (("x", x, ACROSS), ("y", y, UPWARDS)):
            if given not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, not {given!r}")
        for column in ("solver", "seed", "status", x, y):
            if column not in table:
                raise ValueError(f"the table has no column {column!r}: give one of pegasos.compare")
        curves = [
            _curve(str(label), runs, x, y) for label, runs in table.groupby("solver", sort=False)
        ]
        if not any(curve.x.size for curve in curves):
            advice = " (compare was given no test rows)" if y.startswith("test") else ""
            raise ValueError(f"no solver of the table has a finite {y} against {x}{advice}")
        return cls(curves, x=x, y=y).plot(ax, band=band, line_kw=line_kw)

    def plot(
        self, ax: Any = None, *, band: bool = True, line_kw: dict[str, Any] | None = None
    ) -> ConvergenceDisplay:
        """Plot it, again or elsewhere.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to plot; a new figure if not given.
        band : bool, default=True
            Shade what lies between the lowest and the highest of several seeds.
        line_kw : dict, optional
            Passed on to ``Axes.plot`` for all lines.

        Returns
        -------
        self : ConvergenceDisplay
            The display.
        """
        if ax is None:
            height = max(4.4, 0.9 + 0.23 * len(self.curves))
            _, ax = _pyplot().subplots(figsize=(8.4, height), layout="constrained")
        self.ax_, self.figure_, self.lines_ = ax, ax.figure, []
        for k, (curve, style) in enumerate(zip(self.curves, styles(len(self.curves)))):
            shift = 3 * k % MARKS / MARKS
            drawn = {**_drawn(style), "markevery": _marked(curve.x, shift), **(line_kw or {})}
            self.lines_ += ax.plot(curve.x, curve.median, label=curve.label, **drawn)
            if band and not np.array_equal(curve.low, curve.high, equal_nan=True):
                shade = min(0.14, 1.0 / len(self.curves))  # many on top of each other hide lines
                between = {"color": style.colour, "alpha": shade, "linewidth": 0}
                ax.fill_between(curve.x, curve.low, curve.high, **between)
        ax.set(xscale="log", xlabel=ACROSS[self.x], ylabel=UPWARDS[self.y])
        if self.y in LOGARITHMIC:
            ax.set_yscale("log")
        ax.grid(color="0.9", linewidth=0.6)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        self._write_legend()
        return self

    def _write_legend(self) -> None:
        """Beside the axes, where it covers no line: the highest end first, as in the picture."""
        ends = [curve.median[-1] if curve.x.size else -math.inf for curve in self.curves]
        order = sorted(range(len(ends)), key=lambda k: -ends[k])
        self.legend_ = self.ax_.legend(
            [self.lines_[k] for k in order],
            [self.curves[k].label + self.curves[k].remark for k in order],
            loc="upper left",
            bbox_to_anchor=(1.01, 1.0),
            borderaxespad=0.0,
            frameon=False,
            fontsize="small",
            handlelength=4.2,
            labelspacing=0.45,
        )


def _drawn(style: Style) -> dict[str, Any]:
    return {
        "color": style.colour,
        "linestyle": style.line,
        "linewidth": 1.4,
        "marker": style.marker,
        "markersize": 5.5,
        "markerfacecolor": "white" if style.hollow else style.colour,
        "markeredgewidth": 1.2,
    }


def _marked(x: np.ndarray, shift: float) -> list[int]:
    """The points that carry a marker: the last, and some at even distances on a log axis.

    ``shift`` moves them, so that lines on top of each other do not hide their markers.
    """
    if x.size == 0:
        return []
    places = np.log(x)
    wanted = places[0] + (places[-1] - places[0]) * (np.arange(MARKS) + shift) / MARKS
    near = np.abs(places[:, None] - wanted).argmin(axis=0)
    return sorted({*near.tolist(), x.size - 1})


def _curve(label: str, runs: pd.DataFrame, x: str, y: str) -> Curve:
    """The curve of one algorithm, from its rows of the table."""
    seeds = [run for _, run in runs.groupby("seed", sort=False)]
    lost = [run["status"].iloc[-1] == "diverged" for run in seeds]
    remark = f" ({sum(lost)} of {len(lost)} diverged)" if any(lost) else ""
    points = [_points(run, x, y) for run in seeds]
    drawn = [k for k, (across, _) in enumerate(points) if across.size]
    if not drawn:
        none = np.zeros(0)
        return Curve(label, none, none, none, none, remark or f" (no finite {y})")
    grid = np.unique(np.concatenate([points[k][0] for k in drawn]))
    grid = grid[grid >= max(points[k][0][0] for k in drawn)]  # where all have begun
    values = np.array(
        [
            np.interp(np.log(grid), np.log(across), upwards, right=math.inf if gone else None)
            for (across, upwards), gone in ((points[k], lost[k]) for k in drawn)
        ]
    )
    parts = np.array([np.median(values, axis=0), values.min(axis=0), values.max(axis=0)])
    if y in LOGARITHMIC:
        parts = np.exp(parts)
    kept = np.isfinite(parts[0])
    median, low, high = parts[:, kept]
    return Curve(label, grid[kept], median, low, high, remark)


def _points(run: pd.DataFrame, x: str, y: str) -> tuple[np.ndarray, np.ndarray]:
    """What can be drawn of a run, x rising strictly; y as its logarithm where the axis is so."""
    across, upwards = (run[name].to_numpy(dtype=float) for name in (x, y))
    finite = np.isfinite(across) & (across > 0) & np.isfinite(upwards)
    across, upwards = across[finite], upwards[finite]
    rising = np.append(np.diff(across) > 0, np.full(min(across.size, 1), True))
    if y in LOGARITHMIC:
        upwards = np.log(np.maximum(upwards, FINEST_TOLERANCE))
    return across[rising], upwards[rising]


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("pictures need matplotlib: pip install 'pegasos[compare]'") from None
    return pyplot
