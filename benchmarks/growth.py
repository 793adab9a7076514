"""``make growth``: how the time grows with the number of rows, λ fixed; picture in out/growth.png.

Pegasos' bound on the steps does not grow with the rows. Ours proves its answer, and a proof reads
every row at least once: beside the seconds stands the time of one pass over the rows, a compiled
``X @ w``, below which no certificate can come.
"""

from __future__ import annotations

import statistics
import time
import warnings
from pathlib import Path

import numpy as np
from contest import alone, machine, timed
from data import text_like
from threadpoolctl import threadpool_limits

import pegasos
from pegasos.datasets import cover_like

PICTURE = Path("out") / "growth.png"
TOLERANCES = (1e-2, 1e-3)
REPEATS = 5
SHAPES = {
    "text, CSR, 47,236 features, λ = 1e-4": (
        text_like,
        1e-4,
        (100_000, 200_000, 400_000, 800_000),
    ),
    "cover types, dense, 54 features, λ = 1e-5": (
        cover_like,
        1e-5,
        (50_000, 150_000, 500_000, 1_500_000, 5_000_000),
    ),
}


def measured(generate, lam: float, m: int) -> dict:
    """Medians of seconds and passes for each tolerance, and of one pass over the rows."""
    X, y = generate(m)
    models = [pegasos.LinearSVC(lam=lam, tol=tol, fit_intercept=False) for tol in TOLERANCES]
    w = np.ones(X.shape[1], dtype=X.dtype)
    seconds: list[list[float]] = [[] for _ in models]
    margins = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models:
            model.fit(X, y)  # warm
        for _ in range(REPEATS):
            for model, spent in zip(models, seconds):
                spent.append(timed(lambda model=model: model.fit(X, y))[0])
            margins.append(timed(lambda: X @ w)[0])
    return {
        "m": m,
        "seconds": [statistics.median(spent) for spent in seconds],
        "passes": [model.n_passes_ for model in models],
        "gaps": [model.certificate_.relative_gap for model in models],
        "margins": statistics.median(margins),
    }


def draw(found: dict[str, list[dict]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained", sharey=True)
    for panel, (title, points) in zip(axes, found.items()):
        m = np.array([point["m"] for point in points])
        pass_seconds = np.array([point["margins"] for point in points])
        for k, (tol, style, shade) in enumerate(zip(TOLERANCES, ("o--", "s-"), ("0.45", "0.0"))):
            seconds = np.array([point["seconds"][k] for point in points])
            panel.loglog(m, seconds, style, color=shade, label=f"certified gap of {tol:g}")
            for point, x, y in zip(points, m, seconds):
                panel.annotate(
                    f"{point['passes'][k]:.1f}",
                    (x, y),
                    xytext=(0, 8 if k else -15),
                    textcoords="offset points",
                    ha="center",
                    color=shade,
                    fontsize=8.5,
                )
        panel.loglog(m, pass_seconds, ":", color="0.3", label="one pass over the rows, X @ w")
        panel.set(title=title, xlabel="rows (beside the points: passes used)")
        panel.set_xticks(m, [f"{n / 1e6:g}M" if n >= 1e6 else f"{n / 1e3:g}k" for n in m])
        panel.minorticks_off()
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(True, color="0.9")
    axes[0].set(ylabel="seconds, one thread")
    axes[0].legend(frameon=False, loc="lower right")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=130)


def main() -> None:
    print(machine())
    found: dict[str, list[dict]] = {}
    with threadpool_limits(1):
        for title, (generate, lam, sizes) in SHAPES.items():
            found[title] = []
            print(f"\n{title}; no bias, medians of {REPEATS}")
            head = "".join(f"{f's to {tol:g}':>12}{'passes':>8}" for tol in TOLERANCES)
            print(f"{'rows':>10}{head}{'X @ w, s':>11}{'×':>7}")
            for m in sizes:
                begun = time.perf_counter()
                point = alone(lambda g=generate, lam=lam, m=m: measured(g, lam, m))
                found[title].append(point)
                cells = "".join(
                    f"{s:12.4f}{p:8.1f}" for s, p in zip(point["seconds"], point["passes"])
                )
                times = point["seconds"][-1] / point["margins"]
                print(f"{m:10,}{cells}{point['margins']:11.4f}{times:7.1f}", end="")
                short = [f"{g:.1e}" for g, tol in zip(point["gaps"], TOLERANCES) if g > tol]
                print(f"  fell short: {', '.join(short)}" if short else "", end="")
                print(f"   ({time.perf_counter() - begun:.0f} s in all)", flush=True)
    draw(found)
    print(f"\n× is the time to {TOLERANCES[-1]:g} ÷ that of one pass. Picture: {PICTURE}")


if __name__ == "__main__":
    main()
