"""The judges are judged: naive.py against definitions, numerical derivatives and each other."""

from functools import cache
from types import SimpleNamespace

import naive
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize_scalar

BIASES = ("none", "free")
BOXED = ("hinge", "logistic", "epsilon_insensitive")
every_loss = pytest.mark.parametrize("loss", naive.LOSSES)
every_bias = pytest.mark.parametrize("bias", BIASES)


def easy_problem(seed, loss, m=30, d=6, C=0.3):
    """(X, y, cost): Gaussian features, noisy targets, weights within a factor of four."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d))
    y = X @ rng.standard_normal(d) + rng.standard_normal(m)
    if loss in naive.CLASSIFICATION:
        y = np.where(y > np.median(y), 1.0, -1.0)
    return X, y, C * rng.uniform(0.5, 2, m)


def hard_problem(seed, loss):
    """(X, y, cost, ε): C over seven decades and weights over three, mixed scales, repeated rows."""
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(4, 60)), int(rng.choice([2, 5, 10, 30]))
    X = rng.standard_normal((m, d))
    if rng.random() < 0.3:
        X *= 10.0 ** rng.uniform(-2, 2, d)
    if rng.random() < 0.3:
        X *= rng.random((m, d)) < 0.2
    if rng.random() < 0.3:
        X = X[rng.integers(0, max(1, m // 3), m)]
    if rng.random() < 0.2:
        X += 10.0 ** rng.uniform(-1, 2)
    noise = 10.0 ** rng.uniform(-3, 1) * (rng.random() < 0.7)
    y = X @ rng.standard_normal(d) / max(1e-12, np.max(np.abs(X))) + noise * rng.standard_normal(m)
    if loss in naive.CLASSIFICATION:
        y = np.where(y > np.quantile(y, rng.choice([0.1, 0.5, 0.9])), 1.0, -1.0)
    else:
        y = y * 10.0 ** rng.uniform(-2, 3) + 1000.0 * (rng.random() < 0.2)
    cost = 10.0 ** rng.uniform(-3, 4) * np.ones(m)
    if rng.random() < 0.5:
        weights = 10.0 ** rng.uniform(0, 3, m)
        cost *= weights / np.mean(weights)
    return X, y, cost, float(rng.choice([0.0, 0.1, 1.0]))


def feasible_beta(rng, y, cost, loss, bias):
    """A random β inside its box and, with a free bias, with Σ β = 0."""
    share = rng.uniform(-1, 1, y.size) if loss not in naive.CLASSIFICATION else rng.random(y.size)
    share *= 10.0 ** rng.uniform(-6, 0)
    beta = share * cost * (y if loss in naive.CLASSIFICATION else 1)
    return naive.balance(beta) if bias == "free" else beta


# Losses and duals


@pytest.mark.parametrize(
    ("loss", "z", "y", "value", "left", "right"),
    [
        ("hinge", 0.5, 1, 0.5, -1, -1),
        ("hinge", 1.0, 1, 0.0, -1, 0),
        ("hinge", -1.0, -1, 0.0, 0, 1),
        ("squared_hinge", -1.0, 1, 4.0, -4, -4),
        ("logistic", 0.0, 1, np.log(2), -0.5, -0.5),
        ("logistic", 800.0, -1, 800.0, 1, 1),
        ("epsilon_insensitive", 0.75, 0.5, 0.0, 0, 1),
        ("epsilon_insensitive", 0.25, 0.5, 0.0, -1, 0),
        ("epsilon_insensitive", -1.0, 0.5, 1.25, -1, -1),
        ("squared_epsilon_insensitive", 2.75, 0.5, 4.0, 4, 4),
    ],
)
def test_losses_at_given_points(loss, z, y, value, left, right):
    assert naive.loss_value(loss, z, y, epsilon=0.25) == pytest.approx(value, abs=1e-15)
    got = naive.loss_subgradients(loss, z, y, epsilon=0.25)
    assert [float(g) for g in got] == pytest.approx([left, right], abs=1e-15)


def test_absolute_loss_has_its_kink_at_the_target():
    left, right = naive.loss_subgradients("epsilon_insensitive", 2.0, 2.0, epsilon=0.0)
    assert (left, right) == (-1, 1)


@every_loss
def test_subgradients_are_the_one_sided_differences(loss):
    z = np.concatenate([np.linspace(-3, 3, 97), [1.0, -1.0, 0.75, 0.25]])
    for y in (1.0, -1.0) if loss in naive.CLASSIFICATION else (0.5, -0.125):
        left, right = naive.loss_subgradients(loss, z, y, epsilon=0.25)
        h = 2.0**-24
        here = naive.loss_value(loss, z, y, epsilon=0.25)
        ahead = (naive.loss_value(loss, z + h, y, epsilon=0.25) - here) / h
        behind = (here - naive.loss_value(loss, z - h, y, epsilon=0.25)) / h
        np.testing.assert_allclose(ahead, right, atol=3e-7)
        np.testing.assert_allclose(behind, left, atol=3e-7)


@every_loss
def test_fenchel_young(loss):
    rng = np.random.default_rng(0)
    n = 2000
    z, cost = 3 * rng.standard_normal(n), 10.0 ** rng.uniform(-2, 2, n)
    y = rng.choice([-1.0, 1.0], n) if loss in naive.CLASSIFICATION else rng.standard_normal(n)
    beta = rng.uniform(-1.5, 1.5, n) * cost
    value = cost * naive.loss_value(loss, z, y)
    slack = value - naive.dual_value(loss, beta, y, cost) + beta * z
    assert np.all(slack >= -1e-12 * cost)
    for slope in naive.loss_subgradients(loss, z, y):
        tight = value - naive.dual_value(loss, -cost * slope, y, cost) - cost * slope * z
        np.testing.assert_allclose(tight / cost, 0, atol=1e-12)


@every_loss
def test_dual_value_is_the_least_of_value_plus_beta_z(loss):
    y, cost = 1.0, 0.7
    for share in (0.2, 0.5, 0.9):
        beta = share * cost

        def lifted(z, beta=beta):
            return cost * naive.loss_value(loss, z, y) + beta * z

        best = minimize_scalar(lifted, bounds=(-30, 30), options={"xatol": 1e-10})
        assert naive.dual_value(loss, beta, y, cost) == pytest.approx(best.fun, abs=1e-8)


def test_dual_value_outside_the_domain():
    for loss in BOXED:
        assert naive.dual_value(loss, 1.01, 1.0, 1.0) == -np.inf
        assert np.isfinite(naive.dual_value(loss, 1.0, 1.0, 1.0))
        assert naive.dual_value(loss, 0.0, 1.0, 1.0) == 0
    for loss in naive.CLASSIFICATION:
        assert naive.dual_value(loss, -0.01, 1.0, 1.0) == -np.inf
    assert np.isfinite(naive.dual_value("squared_epsilon_insensitive", -9.0, 1.0, 1.0))


# The free bias


def bias_problems(loss):
    """(z, y, cost, ε, total) with two classes; every other one of equal costs, hence of ties."""
    for seed in range(40):
        X, y, cost, epsilon = hard_problem(seed, loss)
        if loss in naive.CLASSIFICATION and np.all(y == y[0]):
            continue
        cost = np.full(y.size, 0.1) if seed % 2 else cost
        z = X[:, 0] / max(1e-12, np.max(np.abs(X[:, 0])))

        def total(b, z=z, y=y, cost=cost, epsilon=epsilon):
            return np.sum(cost * naive.loss_value(loss, naive._wide(z) + b, y, epsilon))

        yield z, y, cost, epsilon, total


@every_loss
def test_best_bias_is_a_minimiser(loss):
    for z, y, cost, epsilon, total in bias_problems(loss):
        b = naive.best_bias(z, y, cost, loss, epsilon)
        for h in 10.0 ** np.arange(-8, 3):
            assert total(b) <= min(total(b - h), total(b + h)) + 1e-15 * total(0)


@pytest.mark.parametrize("loss", naive.PIECEWISE_LINEAR)
def test_best_bias_is_midway_between_the_outermost_kinks_of_least_loss(loss):
    widths = []
    for z, y, cost, epsilon, total in bias_problems(loss):
        kinks = y - z if loss == "hinge" else np.concatenate([y - z - epsilon, y - z + epsilon])
        totals = np.array([total(kink) for kink in kinks])
        best = kinks[totals <= np.min(totals) + 1e-15 * np.max(totals)]
        middle = (np.min(best) + np.max(best)) / 2
        assert naive.best_bias(z, y, cost, loss, epsilon) == pytest.approx(middle, rel=1e-12)
        widths.append(np.ptp(best))
    assert np.sum(np.array(widths) > 1e-6) >= 5


def test_best_bias_of_the_hinge_lies_between_two_order_statistics():
    rng = np.random.default_rng(1)
    for _ in range(20):
        m = int(rng.integers(3, 30))
        y, z = rng.choice([-1.0, 1.0], m), rng.standard_normal(m)
        y[:2] = 1, -1
        positives, kinks = int(np.sum(y > 0)), np.sort(y - z)
        expected = (kinks[positives - 1] + kinks[positives]) / 2
        C = float(rng.uniform(0.1, 10))
        assert naive.best_bias(z, y, C * np.ones(m), "hinge") == pytest.approx(expected, abs=1e-14)


@every_loss
def test_best_bias_of_a_weight_of_three_is_that_of_three_rows(loss):
    _, y, _ = easy_problem(3, loss)
    z = np.random.default_rng(4).standard_normal(y.size)
    repeats = np.random.default_rng(5).integers(1, 4, y.size)
    weighted = naive.best_bias(z, y, 0.1 * repeats, loss)
    repeated = naive.best_bias(
        np.repeat(z, repeats), np.repeat(y, repeats), np.full(repeats.sum(), 0.1), loss
    )
    assert weighted == pytest.approx(repeated, rel=1e-12)


def test_best_bias_of_one_class_is_the_finite_end():
    z, cost = np.array([-0.5, 0.25, 2.0]), np.ones(3)
    for loss in ("hinge", "squared_hinge"):
        assert naive.best_bias(z, np.ones(3), cost, loss) == 1.5
        assert naive.best_bias(z, -np.ones(3), cost, loss) == -3
    assert naive.best_bias(z, np.ones(3), cost, "logistic") == np.inf


def test_best_bias_of_squares_without_loss_is_a_midpoint():
    z, y, cost = np.array([2.0, 3.0, -2.0]), np.array([1.0, 1.0, -1.0]), np.ones(3)
    assert naive.best_bias(z, y, cost, "squared_hinge") == 0  # b in [-1, 1]
    z, y = np.array([0.0, 0.0]), np.array([5.0, 6.0])
    got = naive.best_bias(z, y, cost[:2], "squared_epsilon_insensitive", epsilon=2)
    assert got == 5.5


# Reference optima


@every_bias
@every_loss
def test_reference_interval_on_hard_problems(loss, bias):
    for seed in range(5):
        X, y, cost, epsilon = hard_problem([seed, 7], loss)
        D, P = naive.reference_interval(X, y, cost, loss, epsilon, bias)
        w, b, beta = naive.reference_solution(X, y, cost, loss, epsilon, bias)
        assert 0 <= D <= P
        assert P - D <= 1e-10 * D  # true of these, although a zero optimum may be wider
        rng = np.random.default_rng(seed)
        for scale in 10.0 ** np.arange(-8, 1):
            w_near = w + scale * rng.standard_normal(w.size) * np.max(np.abs(w), initial=1e-9)
            b_near = b + scale * rng.standard_normal() if bias == "free" else 0.0
            assert naive.primal(X, y, cost, w_near, b_near, loss, epsilon) >= D
            beta_any = feasible_beta(rng, y, cost, loss, bias)
            beta_near = (1 - scale) * beta + scale * beta_any
            for feasible in (beta_any, beta_near):
                # Σ β = 0 holds but for rounding, which costs b Σ β
                slack = 1e-15 * float(abs(b) * np.sum(np.abs(feasible)))
                assert naive.dual(X, y, cost, feasible, loss, epsilon) <= P + slack


@every_bias
@every_loss
def test_reference_interval_of_a_larger_problem(loss, bias):
    X, y, cost = easy_problem(11, loss, m=120, d=40, C=2.0)
    D, P = naive.reference_interval(X, y, cost, loss, bias=bias)
    assert P - D <= 1e-12 * D
    assert naive.reference_interval(sparse.csr_array(X), y, cost, loss, bias=bias) == (D, P)


@every_loss
def test_reference_interval_of_a_free_bias_ignores_a_shift_and_never_exceeds_none(loss):
    X, y, cost = easy_problem(12, loss)
    D, P = naive.reference_interval(X, y, cost, loss, bias="free")
    D_shifted, P_shifted = naive.reference_interval(X + 3.0, y, cost, loss, bias="free")
    assert max(D, D_shifted) <= min(P, P_shifted)
    D_none, P_none = naive.reference_interval(X, y, cost, loss, bias="none")
    assert max(D, D_none) <= P_none


def test_reference_interval_of_optima_at_zero():
    X, cost = np.arange(6.0).reshape(3, 2), np.ones(3)
    for loss in naive.CLASSIFICATION:
        assert naive.reference_interval(X, np.ones(3), cost, loss, bias="free") == (0, 0)
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        y = np.array([7.0, 7.1, 6.95])
        assert naive.reference_interval(X, y, cost, loss, epsilon=0.2, bias="free") == (0, 0)
        assert naive.reference_interval(X, y, cost, loss, epsilon=0.2, bias="none")[0] > 0
    with pytest.raises(ValueError, match="feature"):
        naive.reference_interval(X, np.ones(3), cost, "hinge", bias="feature")


def test_the_hard_problems_are_hard():
    shares = []
    for seed in range(5):
        X, y, cost, _ = hard_problem([seed, 7], "hinge")
        alpha = y * naive.reference_solution(X, y, cost, "hinge", bias="free")[2]
        shares.append(np.mean(alpha > (1 - 1e-6) * cost))
    assert np.sum((np.array(shares) >= 0.1) & (np.array(shares) <= 0.9)) >= 3


# The certificate


@cache
def solution(seed, loss, bias):
    """The reference solution of an easy problem, in float64."""
    return [
        np.float64(a) for a in naive.reference_solution(*easy_problem(seed, loss), loss, bias=bias)
    ]


def certified(seed, loss, bias):
    """Keyword arguments for check_certificate, all of them right."""
    X, y, cost = easy_problem(seed, loss)
    w, b, beta = solution(seed, loss, bias)
    beta = 0.99 * beta  # not quite the optimum, so that the gap is a number
    P, D = naive.primal(X, y, cost, w, b, loss), naive.dual(X, y, cost, beta, loss)
    certificate = SimpleNamespace(primal=P, dual=D, gap=P - D, relative_gap=(P - D) / D)
    return {
        "X": X, "y": y, "cost": cost, "w": w, "b": float(b), "beta": beta,
        "certificate": certificate, "loss": loss, "bias": bias,
    }  # fmt: skip


@every_bias
@every_loss
def test_certificate_is_accepted(loss, bias):
    for seed in range(3):
        naive.check_certificate(**certified(seed, loss, bias))


@every_bias
@every_loss
def test_certificate_is_rejected(loss, bias):
    def reject(fault, **changes):
        good = certified(0, loss, bias)
        numbers = vars(good["certificate"])
        for name in numbers.keys() & changes.keys():
            numbers[name] = changes.pop(name)
        with pytest.raises(AssertionError, match=fault):
            naive.check_certificate(**(good | changes))

    good = certified(0, loss, bias)
    P, D, y, cost = good["certificate"].primal, good["certificate"].dual, good["y"], good["cost"]
    reject("primal is", primal=P * (1 + 1e-6))
    reject("primal is", primal=P * (1 - 1e-6))
    reject("primal is", primal=np.nan)
    reject("primal is", w=1.001 * good["w"])
    reject("dual is", dual=D + 1e-6 * P)
    reject("dual is", beta=0.9 * good["beta"])
    reject("gap is", gap=(P - D) * (1 + 1e-6))
    reject("relative_gap is", relative_gap=(P - D) / P)
    reject("relative_gap is", relative_gap=0.0)
    reject("relative_gap is", relative_gap=np.inf)
    reject("not finite", beta=np.nan * good["beta"])
    if loss != "squared_epsilon_insensitive":
        outside = good["beta"].copy()
        outside[3] = -0.01 * y[3] if loss == "squared_hinge" else 1.01 * y[3] * cost[3]
        if loss == "epsilon_insensitive":
            outside[3] = 1.01 * cost[3]
        reject("leaves its box", beta=outside)
    if bias == "free":
        reject("sum of beta", beta=good["beta"] * np.where(good["beta"] > 0, 0.999, 1))
        b = good["b"] + 0.5
        P_off = naive.primal(good["X"], y, cost, good["w"], b, loss)
        numbers = {"primal": P_off, "gap": P_off - D, "relative_gap": (P_off - D) / D}
        reject("not a best bias", b=b, **numbers)
    else:
        reject("without bias|primal is", b=0.5)


def test_certificate_of_an_optimum_at_zero():
    X, y, cost = np.eye(3), np.array([1.0, 1.05, 0.95]), np.ones(3)
    zero = {"X": X, "y": y, "cost": cost, "w": np.zeros(3), "b": 1.0, "beta": np.zeros(3)}
    zero |= {"loss": "epsilon_insensitive", "bias": "free"}
    numbers = {"primal": 0.0, "dual": 0.0, "gap": 0.0}
    naive.check_certificate(certificate=SimpleNamespace(relative_gap=0.0, **numbers), **zero)
    with pytest.raises(AssertionError, match="relative_gap is"):
        naive.check_certificate(certificate=SimpleNamespace(relative_gap=np.nan, **numbers), **zero)


def test_certificate_without_a_positive_bound():
    X, y, cost = easy_problem(0, "hinge")
    P = naive.primal(X, y, cost, np.zeros(6), 0.0, "hinge")
    start = {"X": X, "y": y, "cost": cost, "w": np.zeros(6), "b": 0.0, "beta": np.zeros(30)}
    numbers = {"primal": P, "dual": 0.0, "gap": P}
    right = SimpleNamespace(relative_gap=np.inf, **numbers)
    naive.check_certificate(certificate=right, loss="hinge", **start)
    wrong = SimpleNamespace(relative_gap=1.0, **numbers)
    with pytest.raises(AssertionError, match="relative_gap is"):
        naive.check_certificate(certificate=wrong, loss="hinge", **start)


# Dual coordinate ascent


@every_loss
def test_best_beta_is_the_maximum(loss):
    rng = np.random.default_rng(2)
    for _ in range(20):
        z, beta = rng.standard_normal(2)
        q, C = 10.0 ** rng.uniform(-2, 1, 2)
        y = rng.choice([-1.0, 1.0]) if loss in naive.CLASSIFICATION else rng.standard_normal()
        got = naive.best_beta(beta, z, q, y, C, loss)

        def rise(t, z=z, beta=beta, q=q, C=C, y=y):
            return naive.dual_value(loss, t, y, C) - z * t - q * (t - beta) ** 2 / 2

        assert np.isfinite(rise(got))
        grid = got + np.concatenate([np.linspace(-1, 1, 2001), [1e-6, -1e-6]]) * max(C, 1)
        assert np.all(rise(got) >= rise(grid) - 1e-12)


@every_loss
def test_best_beta_of_an_empty_row_needs_no_norm(loss):
    C, y = 0.5, 1.0
    slope = naive.loss_subgradients(loss, 0.0, y)[0]
    assert naive.best_beta(0.0, 0.0, 0.0, y, C, loss) == pytest.approx(-C * slope, rel=1e-14)


@every_loss
def test_dual_ascent_converges_to_the_reference(loss):
    X, y, cost = easy_problem(21, loss)
    rng = np.random.default_rng(0)
    orders = [rng.permutation(y.size) for _ in range(150)]
    w, beta = naive.dual_ascent(X, y, cost, loss, orders=orders)
    D_star, P_star = naive.reference_interval(X, y, cost, loss)
    np.testing.assert_allclose(w, X.T @ beta, atol=1e-12)
    assert naive.dual(X, y, cost, beta, loss) == pytest.approx(D_star, rel=1e-9)
    assert naive.primal(X, y, cost, w, 0.0, loss) == pytest.approx(P_star, rel=1e-6)


@every_loss
def test_dual_ascent_never_goes_down(loss):
    X, y, cost = easy_problem(22, loss)
    before = 0.0
    for passes in range(1, 8):
        _, beta = naive.dual_ascent(X, y, cost, loss, orders=[range(y.size)] * passes)
        now = naive.dual(X, y, cost, beta, loss)
        assert now >= before
        before = now
