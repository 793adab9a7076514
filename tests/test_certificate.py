"""The certificate brackets the optimum, and is about exactly what the user holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import BIASES, make_case

from pegasos import DualAscent, Pegasos, Problem, solve
from pegasos.certificate import Answer, certify, relative_gap
from pegasos.losses import LOSSES

# Each new combination of loss, storage and type compiles for seconds: hinge in all, others in two.
STORED = [
    ("hinge", "dense", "float64"),
    ("hinge", "dense", "float32"),
    ("hinge", "csr", "float64"),
    ("hinge", "csr", "float32"),
    *((loss, "dense", "float64") for loss in LOSSES if loss != "hinge"),
    *((loss, "csr", "float32") for loss in LOSSES if loss != "hinge"),
]

settings.register_profile("certificates", deadline=None, derandomize=True, print_blob=False)
settings.load_profile("certificates")

problems = {
    "seed": st.integers(0, 2**32 - 1),
    "hard": st.sampled_from([False, True, True]),
    "weighted": st.booleans(),
    "bias": st.sampled_from(BIASES),
    "m": st.sampled_from([3, 20, 40, 70]),
    "d": st.sampled_from([1, 5, 50]),
}


def bracketed(case, solution):
    low, high = case.reference()
    slack = 1e-9 * high + 1e-13 * case.problem.zero_objective
    assert solution.certificate.dual <= high + slack
    assert solution.certificate.primal >= low - slack
    assert solution.converged == (solution.certificate.relative_gap <= solution.tol)
    case.check(solution)


@pytest.mark.parametrize(("loss", "storage", "dtype"), STORED)
@settings(max_examples=25)
@given(**problems, tol=st.sampled_from([0.1, 1e-3, 1e-7]), max_passes=st.sampled_from([1, 3, 1000]))
def test_dual_ascent_is_certified(loss, storage, dtype, tol, max_passes, **facts):
    case = make_case(loss=loss, storage=storage, dtype=dtype, **facts)
    solution = solve(case.problem, DualAscent(), tol=tol, max_passes=max_passes)
    bracketed(case, solution)
    if max_passes == 1000:
        assert solution.converged, solution.summary()


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=25)
@given(
    **problems,
    batch=st.sampled_from([1, 1, 3, "all"]),
    order=st.sampled_from(["shuffle", "shuffle-once", "cycle", "iid"]),
    project=st.booleans(),
    output=st.sampled_from(["last", "average"]),
    exact=st.booleans(),
    max_passes=st.sampled_from([0.4, 1, 2.5, 40]),
)
def test_pegasos_is_certified(loss, batch, order, project, output, exact, max_passes, m, **facts):
    m = max(m, 20)
    case = make_case(loss=loss, m=m, **facts)
    exact = exact and case.bias == "free" and batch != 1
    solver = Pegasos(
        batch=batch,
        order=order,
        project=project,
        output=output,
        bias_step="exact" if exact else "subgradient",
    )
    bracketed(case, solve(case.problem, solver, tol=0.05, max_passes=max_passes))


def test_relative_gap_by_cases():
    assert relative_gap(1.1, 1.0, 5.0) == pytest.approx(0.1)
    assert relative_gap(1.0, 1.0, 5.0) == 0.0
    assert relative_gap(1e-16, 0.0, 5.0) == 0.0  # an optimum of zero is legitimate
    assert relative_gap(1e-14, 1e-15, 5.0) == pytest.approx(9.0)  # but this is none
    assert relative_gap(1.0, 1.0 - 1e-15, 1.0) == 0.0
    assert relative_gap(1e-3, 0.0, 5.0) == np.inf
    assert relative_gap(1e-3, -1.0, 5.0) == np.inf
    assert relative_gap(np.nan, 1.0, 5.0) == np.inf
    assert relative_gap(2.0, np.nan, 5.0) == np.inf


def test_answer_without_dual_variables_proves_nothing():
    case = make_case(3)
    view = certify(case.problem, Answer(np.zeros(6), 0.0, None))
    assert view.certificate.relative_gap == np.inf
    assert view.certificate.primal == pytest.approx(case.problem.zero_objective)


@pytest.mark.parametrize("bias", BIASES)
def test_infeasible_dual_variables_are_made_feasible_first(bias):
    case = make_case(5, bias=bias)
    rng = np.random.default_rng(0)
    wild = 10 * case.problem.cost.max() * rng.standard_normal(case.problem.m)
    view = certify(case.problem, Answer(rng.standard_normal(case.problem.d), 7.0, wild))
    alpha = view.beta * case.problem.y
    assert (alpha >= 0).all()
    assert (alpha <= case.problem.cost).all()
    if bias == "free":
        assert abs(view.beta.sum()) <= 1e-12 * np.abs(view.beta).sum()
    assert view.certificate.dual <= case.reference()[1]


def equal_optima(one, other, tol):
    """Both converged, and the two intervals meet."""
    a, b = (solve(p, DualAscent(), tol=tol).certificate for p in (one, other))
    assert a.relative_gap <= tol
    assert b.relative_gap <= tol
    assert max(a.dual, b.dual) <= min(a.primal, b.primal) * (1 + 1e-12)
    return a, b


@pytest.mark.parametrize("bias", BIASES)
def test_weight_two_is_a_repeated_row(bias):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((50, 4)), np.where(rng.random(50) < 0.4, 1.0, -1.0)
    weights = rng.integers(0, 4, 50).astype(float)
    times = weights.astype(int)
    weighted = Problem(X, y, lam=0.02, weights=weights, bias=bias)
    repeated = Problem(np.repeat(X, times, axis=0), np.repeat(y, times), lam=0.02, bias=bias)
    assert pytest.approx(repeated.C) == weighted.C
    equal_optima(weighted, repeated, 1e-9)


def test_order_of_rows_and_features_changes_nothing():
    rng = np.random.default_rng(2)
    case = make_case(7, bias="free", hard=True)
    X, y = case.X, case.y
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    C = case.problem.C
    one = Problem(X, y, C=C, bias="free")
    other = Problem(np.ascontiguousarray(X[rows][:, columns]), y[rows], C=C, bias="free")
    equal_optima(one, other, 1e-9)


def test_scaling_rows_and_lam_together_scales_w():
    case = make_case(8)
    X, y, lam = case.X, case.y, case.problem.lam
    one = solve(Problem(X, y, lam=lam), tol=1e-9)
    other = solve(Problem(4.0 * X, y, lam=16.0 * lam), tol=1e-9)
    np.testing.assert_allclose(other.w, one.w / 4.0, rtol=1e-6, atol=1e-9)
    assert other.certificate.primal * 16 == pytest.approx(one.certificate.primal, rel=1e-8)


def test_float32_rows_are_close_to_float64():
    case = make_case(9, hard=True, bias="free")
    X32 = case.X.astype(np.float32)
    one = Problem(X32, case.y, C=case.problem.C, bias="free")
    other = Problem(X32.astype(float), case.y, C=case.problem.C, bias="free")
    equal_optima(one, other, 1e-9)


def test_small_problems_reach_the_last_digits():
    for seed in range(20):
        case = make_case(seed, bias=BIASES[seed % 3], hard=seed % 2 == 1)
        solution = solve(case.problem, tol=0.5)
        assert solution.certificate.relative_gap < 1e-9


def test_one_class_with_a_free_bias_has_optimum_zero():
    solution = solve(Problem(np.eye(3), [1, 1, 1], C=1.0, bias="free"))
    assert solution.converged
    assert solution.certificate.primal == 0.0
    assert not solution.w.any()


def test_one_row():
    solution = solve(Problem([[2.0]], [1.0], C=10.0), tol=1e-9)
    assert solution.w[0] == pytest.approx(0.5)
    assert solution.alpha[0] == pytest.approx(0.25)


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e4, 1e8, 1e150])
def test_rows_of_any_norm_end_certified_or_say_so(scale):
    rng = np.random.default_rng(4)
    X = scale * rng.standard_normal((30, 3))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    solution = solve(Problem(X, y, C=1.0))
    assert np.isfinite(solution.w).all()
    assert np.isfinite(solution.certificate.primal)
    if scale <= 1e4:
        assert solution.converged
    else:  # the optimum lies below the rounding of 1 − y⟨w, x⟩
        assert solution.converged or "scale the features" in solution.summary()


def test_rounding_excuses_nothing_at_large_C():
    """Separable rows: P* stays the same, while the objective at zero grows with C."""
    rng = np.random.default_rng(8)
    X = rng.standard_normal((200, 30))
    y = np.where(X @ rng.standard_normal(30) > 0, 1.0, -1.0)
    best = solve(Problem(X, y, C=1e4), tol=1e-9).certificate
    for C in (1e6, 1e8, 1e10, 1e12, 1e14):
        solution = solve(Problem(X, y, C=C), tol=1e-3, max_passes=300)
        assert solution.certificate.primal <= (
            (1 + solution.certificate.relative_gap) * best.primal * (1 + 1e-6)
        )


def test_features_on_scales_from_tiny_to_huge_end_with_a_true_certificate():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 9)) * 10.0 ** np.arange(-8, 10, 2)
    y = np.where(rng.random(60) < 0.5, 1.0, -1.0)
    solution = solve(Problem(X, y, C=1.0, bias="free"), max_passes=300)
    assert np.isfinite(solution.w).all()
    assert solution.converged == (solution.certificate.relative_gap <= 1e-3)
    assert 0 <= solution.certificate.dual <= solution.certificate.primal


def test_what_rounding_leaves_of_the_balance_is_charged():
    problem = Problem([[1e6 + 1], [1e6 - 1]], [1, -1], C=1.0, bias="free")
    view = certify(problem, Answer(np.array([1.0]), 0.0, np.array([0.5, -0.5 - 4e-13])))
    assert view.certificate.dual <= 0.5 * (1 + 1e-12)


def test_targets_far_from_zero_keep_their_digits_with_a_free_bias():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((30, 2))
    y = X[:, 0] + 0.1 * rng.standard_normal(30)
    near, far = (
        solve(Problem(X, y + offset, C=1.0, loss="epsilon_insensitive", bias="free"), tol=1e-6)
        for offset in (0.0, 2.0**30)
    )
    assert far.certificate.dual <= far.certificate.primal * (1 + 1e-12)
    assert far.certificate.primal == pytest.approx(near.certificate.primal, rel=1e-5)
    assert far.b == pytest.approx(near.b + 2.0**30, rel=1e-12)


def test_a_free_bias_among_mostly_empty_rows():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((20_000, 6))
    X[:12_000] = 0.0
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(20_000) > 0.3, 1.0, -1.0)
    solution = solve(Problem(X, y, C=1.0, bias="free"), max_passes=100)
    assert solution.converged, solution.summary()
