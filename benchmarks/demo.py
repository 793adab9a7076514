"""``make demo``: a certified model on generated text, beside scikit-learn's LinearSVC.

Prints what was solved, the certificate, accuracy and seconds of both, and saves a picture of how
two solvers converge.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
from data import text_like
from sklearn.svm import LinearSVC as TheirLinearSVC

import pegasos
from pegasos.certificate import Answer, certify

ROWS, TEST_ROWS, C, TOL = 100_000, 20_000, 1.0, 1e-3
PASSES = 12
PICTURE = Path("out") / "demo.png"


def main() -> None:
    print(f"Generating {ROWS + TEST_ROWS:,} rows shaped like news text …")
    X, y = text_like(ROWS + TEST_ROWS)
    X_train, y_train, X_test, y_test = X[:ROWS], y[:ROWS], X[ROWS:], y[ROWS:]
    print(f"{X_train.shape[0]:,} × {X_train.shape[1]:,}, {X_train.nnz:,} nonzeros\n")
    print("Problem: minimise ½‖w‖² + C Σ max(0, 1 − y⟨w, x⟩),  C = 1, no bias (the same for both)")

    begun = time.perf_counter()
    pegasos.LinearSVC(C=C, fit_intercept=False).fit(X_train[:1000], y_train[:1000])
    print(f"\nFirst fit ever, compiling or loading the compiled code: {since(begun)}")

    ours = pegasos.LinearSVC(C=C, fit_intercept=False, tol=TOL)
    begun = time.perf_counter()
    ours.fit(X_train, y_train)
    our_seconds = time.perf_counter() - begun
    proof = ours.certificate_

    theirs = TheirLinearSVC(C=C, loss="hinge", fit_intercept=False, random_state=0)
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(X_train, y_train)
    their_seconds = time.perf_counter() - begun

    problem = pegasos.Problem(X_train, y_train, C=C)
    lower = pegasos.solve(problem, tol=1e-5).certificate.dual

    print("\n                          pegasos        scikit-learn LinearSVC")
    print(f"seconds              {our_seconds:12.2f}  {their_seconds:12.2f}")
    print(f"objective            {proof.primal:12.4f}  {objective(problem, theirs):12.4f}")
    print(f"above the optimum    {share(proof.primal, lower):>12}  ", end="")
    print(f"{share(objective(problem, theirs), lower):>12}   (at most)")
    print(f"test accuracy        {ours.score(X_test, y_test):12.4f}  ", end="")
    print(f"{theirs.score(X_test, y_test):12.4f}")
    print(f"proof                {proof.relative_gap:12.1e}          none")
    print(f"\nCertificate: {proof}")
    print(f"That is {their_seconds / our_seconds:.1f} times as fast, with a proof.")

    draw(problem, lower)
    print(f"Convergence of two solvers, pass by pass: {PICTURE.resolve()}")


def objective(problem: pegasos.Problem, model) -> float:
    """The objective of any linear model, in float64."""
    return certify(problem, Answer(np.ravel(model.coef_), 0.0, None)).certificate.primal


def share(primal: float, lower: float) -> str:
    return f"{100 * (primal / lower - 1):.3f} %"


def since(begun: float) -> str:
    return f"{time.perf_counter() - begun:.2f} s"


def draw(problem: pegasos.Problem, best: float) -> None:
    """Both solvers, looked at after every pass: a run's path does not depend on where it ends."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.9), layout="constrained", sharey=True)
    for panel, solver in zip(axes, (pegasos.DualAscent(), pegasos.Pegasos())):
        looks = [
            pegasos.solve(problem, solver, tol=None, max_passes=passes).certificate
            for passes in range(1, PASSES + 1)
        ]
        passes = np.arange(1, PASSES + 1)
        primal = np.array([look.primal for look in looks]) / best
        dual = np.maximum([look.dual for look in looks], 0.0) / best
        panel.fill_between(passes, dual, primal, color="#0b5394", alpha=0.12, linewidth=0)
        panel.plot(passes, primal, "o-", color="#0b5394", label="objective of w")
        panel.plot(passes, dual, "s--", color="#b45f06", label="proved lower bound")
        panel.axhline(1.0, color="grey", linewidth=0.8, linestyle=":")
        panel.set(title=type(solver).__name__, xlabel="passes over the data")
        panel.spines[["top", "right"]].set_visible(False)
        last = looks[-1].relative_gap
        panel.text(0.97, 0.06, f"gap {last:.1e}", ha="right", transform=panel.transAxes)
    axes[0].set(ylabel="objective ÷ optimum", ylim=(0.6, 1.4))
    axes[0].legend(frameon=False)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=130)


if __name__ == "__main__":
    main()
