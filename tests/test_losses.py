"""Each loss's verbs against definitions: naive.py, difference quotients, brute maximisation."""

import math

import naive
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from pegasos.losses import (
    LOSSES,
    EpsilonInsensitive,
    Hinge,
    Logistic,
    SquaredEpsilonInsensitive,
    SquaredHinge,
    as_loss,
    best_bias,
    clip,
    dual_step,
    dual_value,
    kink,
    pull,
    radius,
    slopes,
    subgradient,
    value,
)

EPSILON = 0.3
EVERY = [
    Hinge(),
    SquaredHinge(),
    Logistic(),
    EpsilonInsensitive(EPSILON),
    SquaredEpsilonInsensitive(EPSILON),
]
every_loss = pytest.mark.parametrize("loss", EVERY, ids=lambda loss: loss.name)
KINKED = ("hinge", "epsilon_insensitive")
ROWS = [(q, c) for q in (0.01, 1.0, 30.0) for c in (0.05, 1.0, 40.0)]  # ‖x‖² and cost


def targets(loss):
    return (1.0, -1.0) if loss.labels else (0.0, 1.7, -0.4)


def scores_of(loss, y):
    """Scores on both sides of the kinks and on them."""
    kinks = [1 / y] if loss.labels else [y - loss.epsilon, y + loss.epsilon]
    return [*np.linspace(-4, 4, 33), *kinks, 0.0, -60.0, 60.0]


def inside(loss, y, c):
    """Dual variables strictly inside the domain, away from its kinks."""
    shares = (0.1, 0.5, 0.93)
    if loss.labels:
        return [y * c * share for share in shares]
    return [sign * c * share for share in shares for sign in (1, -1)]


def domain(loss, y, c):
    """Dual variables of the whole domain, ends and kink included."""
    ends = [0.0, y * c] if loss.labels else [0.0, c, -c]
    if loss.name == "squared_hinge":
        ends.append(3 * y * c)
    if loss.name == "squared_epsilon_insensitive":
        ends += [3 * c, -3 * c]
    return [*inside(loss, y, c), *ends]


def naive_dual(loss, beta, y, c):
    return float(naive.dual_value(loss.name, beta, y, c, EPSILON))


# ------------------------------------------------------------------------------------ the values


@every_loss
def test_value_and_slopes_are_those_of_the_definition(loss):
    for y in targets(loss):
        for z in scores_of(loss, y):
            low, high = map(float, naive.loss_subgradients(loss.name, z, y, EPSILON))
            assert value(loss, z, y) == pytest.approx(
                float(naive.loss_value(loss.name, z, y, EPSILON)), rel=1e-14, abs=1e-16
            )
            assert low - 1e-14 <= subgradient(loss, z, y) <= high + 1e-14
            # on a kink rounding decides for naive; slopes with slack have both sides there
            left, right = slopes(loss, z, y, 1e-12)
            assert left <= low + 1e-14
            assert right >= high - 1e-14
            away = min(abs(z - k) for k in scores_of(loss, y)[33:35])
            if loss.name not in KINKED or away > 1e-9:
                assert (left, right) == pytest.approx((low, high), rel=1e-13, abs=1e-300)


@every_loss
def test_slopes_on_a_kink_are_the_two_one_sided_derivatives(loss):
    for y in targets(loss):
        for z in scores_of(loss, y):
            left, right = slopes(loss, z, y, 1e-9)
            h = 1e-6
            before = (value(loss, z, y) - value(loss, z - h, y)) / h
            after = (value(loss, z + h, y) - value(loss, z, y)) / h
            assert (left, right) == pytest.approx((before, after), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(EPSILON)], ids=lambda x: x.name)
def test_slack_makes_the_neighbourhood_of_a_kink_part_of_it(loss):
    for y in targets(loss):
        kinks = [y] if loss.labels else [y - EPSILON, y + EPSILON]
        for z in kinks:
            for near in (z - 1e-4, z + 1e-4):
                left, right = slopes(loss, near, y, 1e-3)
                assert right - left == 1.0
                left, right = slopes(loss, near, y, 1e-5)
                assert left == right


@every_loss
def test_the_hinges_own_subgradient_at_a_kink_is_zero(loss):
    if loss.name == "hinge":
        assert [subgradient(loss, y, y) for y in (1.0, -1.0)] == [0.0, 0.0]
    if loss.name == "epsilon_insensitive":
        assert [subgradient(loss, z, 0.0) for z in (EPSILON, -EPSILON)] == [0.0, 0.0]


@every_loss
def test_lipschitz_and_curvature_bound_the_slopes_and_are_reached(loss):
    for y in targets(loss):
        z = np.linspace(-8, 8, 4001) + y
        slope = np.array([subgradient(loss, v, y) for v in z])
        steepest, bend = np.abs(slope).max(), (np.diff(slope) / np.diff(z)).max()
        if math.isfinite(loss.lipschitz):
            assert 0.99 * loss.lipschitz <= steepest <= loss.lipschitz
        else:
            assert steepest > 5
        if math.isfinite(loss.curvature):
            assert 0.99 * loss.curvature <= bend <= loss.curvature * (1 + 1e-9)
        else:
            assert bend > 100


# ---------------------------------------------------------------------------------- the dual side


@every_loss
def test_dual_value_is_that_of_the_definition(loss):
    for y in targets(loss):
        for _, c in ROWS:
            for beta in domain(loss, y, c):
                expected = naive_dual(loss, beta, y, c)
                assert dual_value(loss, beta, y, c) == pytest.approx(
                    expected, rel=1e-13, abs=1e-300
                )


@every_loss
def test_fenchel_young_holds_everywhere_with_equality_at_the_slope(loss):
    for y in targets(loss):
        for c in (0.05, 1.0, 40.0):
            for z in np.linspace(-4, 4, 33):
                for beta in domain(loss, y, c):
                    gap = c * value(loss, z, y) - dual_value(loss, beta, y, c) + beta * z
                    assert gap >= -1e-12 * c * (1 + abs(z)) ** 2
                best = -c * subgradient(loss, z, y)
                gap = c * value(loss, z, y) - dual_value(loss, best, y, c) + best * z
                assert abs(gap) <= 1e-12 * c * (1 + abs(z)) ** 2


@every_loss
def test_clip_lands_in_the_domain_stays_there_and_is_the_nearest_point(loss):
    for y in targets(loss):
        for c in (0.05, 1.0, 40.0):
            grid = np.array(domain(loss, y, c))
            for beta in (*np.linspace(-3 * c, 3 * c, 61), 1e300, -1e300):
                clipped = clip(loss, beta, y, c)
                assert naive_dual(loss, np.clip(clipped, -1e100, 1e100), y, c) > -math.inf
                assert clip(loss, clipped, y, c) == clipped
                assert abs(clipped - beta) <= np.abs(grid - beta).min()
            for beta in grid:
                assert clip(loss, beta, y, c) == beta


def rise(loss, new, z, y, c, q, beta):
    """How D changes along one coordinate, up to a constant."""
    return naive_dual(loss, new, y, c) - z * new - 0.5 * q * (new - beta) ** 2


@every_loss
@pytest.mark.parametrize(("q", "c"), ROWS)
def test_dual_step_maximises_along_the_coordinate(loss, q, c):
    for y in targets(loss):
        for z in (-30.0, -1.3, -0.2, 0.0, 0.4, 1.0, 2.5, 30.0):
            for beta in domain(loss, y, c)[::2]:
                new = dual_step(loss, z, y, c, q, beta)
                assert clip(loss, new, y, c) == new
                reached = rise(loss, new, z, y, c, q, beta)
                size = 1 + abs(y) + abs(z) + loss_scale(loss)
                bound = min(c, 1e9) if loss.name not in SQUARED else abs(new) + c + size / q
                low, high = (-bound, bound) if not loss.labels else sorted((0.0, y * bound))
                found = minimize_scalar(
                    lambda t: -rise(loss, t, z, y, c, q, beta),  # noqa: B023
                    bounds=(low, high),
                    method="bounded",
                    options={"xatol": 1e-10 * bound},
                )
                for other in (-found.fun, *(rise(loss, t, z, y, c, q, beta) for t in (low, high))):
                    scale = abs(reached) + abs(z * new) + q * beta * beta + c
                    assert reached >= other - 1e-11 * scale


SQUARED = ("squared_hinge", "squared_epsilon_insensitive")


def loss_scale(loss):
    return getattr(loss, "epsilon", 1.0)


@every_loss
@pytest.mark.parametrize(("q", "c"), ROWS)
def test_pull_is_zero_exactly_where_the_dual_step_stays(loss, q, c):
    some_stay = False
    for y in targets(loss):
        for beta in domain(loss, y, c):
            if loss.name == "logistic" and beta in (0.0, y * c):
                continue  # its gradient is infinite at the ends of the domain
            for z in (*np.linspace(-3, 3, 25), y - loss_scale(loss), y + loss_scale(loss)):
                gradient, stuck = pull(loss, z, y, c, beta)
                moved = dual_step(loss, z, y, c, q, beta) - beta
                if gradient == 0.0 and stuck >= 0.0:
                    assert abs(moved) <= 1e-15 * (abs(beta) + 1 / q)
                    some_stay = True
                elif abs(gradient) > 1e-9:
                    assert stuck == -1.0
                    assert moved * gradient < 0.0
    assert some_stay or loss.name == "logistic"


@every_loss
@pytest.mark.parametrize("c", [0.05, 1.0, 40.0])
def test_pull_is_the_derivative_of_minus_the_dual(loss, c):
    for y in targets(loss):
        for beta in inside(loss, y, c):
            for z in (-2.1, 0.3, 1.4):
                gradient, stuck = pull(loss, z, y, c, beta)
                h = 1e-6 * c
                above, below = (rise(loss, beta + s, z, y, c, 0.0, beta) for s in (h, -h))
                assert stuck == -1.0
                assert gradient == pytest.approx(-(above - below) / (2 * h), rel=1e-5, abs=1e-5)


@every_loss
@pytest.mark.parametrize("c", [0.05, 1.0, 40.0])
def test_stuck_says_by_how_much_the_slope_may_change_before_the_row_can_improve(loss, c):
    for y in targets(loss):
        for beta in domain(loss, y, c):
            if loss.name == "logistic" and beta in (0.0, y * c):
                continue
            for z in np.linspace(-3, 3, 25):
                gradient, stuck = pull(loss, z, y, c, beta)
                if stuck <= 1e-9:
                    continue
                assert gradient == 0.0
                less, more = stuck * (1 - 1e-6), stuck * (1 + 1e-6)
                assert all(pull(loss, z + s, y, c, beta)[0] == 0.0 for s in (less, -less))
                assert any(pull(loss, z + s, y, c, beta)[0] != 0.0 for s in (more, -more))


@every_loss
@pytest.mark.parametrize("c", [0.05, 1.0, 40.0])
def test_kink_gives_the_stationary_line_and_its_bend(loss, c):
    for y in targets(loss):
        for beta in inside(loss, y, c):
            target, bend = kink(loss, y, c, beta)
            assert bend >= 0.0
            gradient, _ = pull(loss, target - bend * beta, y, c, beta)
            assert abs(gradient) <= 1e-9 * (1 + abs(target))
            h = 1e-5 * c
            above, below = (pull(loss, 0.0, y, c, beta + s)[0] for s in (h, -h))
            assert bend == pytest.approx((above - below) / (2 * h), rel=1e-4, abs=1e-7 / c)
        ends = {"hinge": (0.0, y * c), "squared_hinge": (0.0,)}.get(loss.name, ())
        if not loss.labels:
            ends = (0.0,) if loss.name in SQUARED else (0.0, c, -c)
        for beta in ends:
            assert kink(loss, y, c, beta)[1] == -1.0


# ------------------------------------------------------------------------------ compiled as plain


@numba.njit
def all_verbs(loss, z, y, c, q, beta, found):
    found[0] = value(loss, z, y)
    found[1] = subgradient(loss, z, y)
    found[2], found[3] = slopes(loss, z, y, 1e-9)
    found[4] = dual_value(loss, beta, y, c)
    found[5] = clip(loss, 3.0 * beta - 1.0, y, c)
    found[6] = dual_step(loss, z, y, c, q, beta)
    found[7], found[8] = pull(loss, z, y, c, beta)
    found[9], found[10] = kink(loss, y, c, beta)


@every_loss
def test_compiled_verbs_equal_plain_python(loss):
    found, expected = np.empty(11), np.empty(11)
    for y in targets(loss):
        for q, c in ROWS:
            for z in scores_of(loss, y)[::3]:
                for beta in domain(loss, y, c)[:4]:
                    all_verbs(loss, z, y, c, q, beta, found)
                    expected[0] = value(loss, z, y)
                    expected[1] = subgradient(loss, z, y)
                    expected[2:4] = slopes(loss, z, y, 1e-9)
                    expected[4] = dual_value(loss, beta, y, c)
                    expected[5] = clip(loss, 3.0 * beta - 1.0, y, c)
                    expected[6] = dual_step(loss, z, y, c, q, beta)
                    expected[7:9] = pull(loss, z, y, c, beta)
                    expected[9:11] = kink(loss, y, c, beta)
                    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


# ------------------------------------------------------------------------------------ the best bias

whole = st.integers(-8, 8).map(lambda k: k / 4)
sizes = st.sampled_from([0.25, 0.5, 1.0, 2.0, 3.0])


@every_loss
@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_best_bias_is_that_of_the_definition_with_ties_and_weights(loss, data):
    label = st.sampled_from([-1.0, 1.0])
    row = st.tuples(whole, label if loss.labels else whole, sizes)
    z, y, cost = np.array(data.draw(st.lists(row, min_size=1, max_size=25))).T.copy()
    before = z.copy(), y.copy(), cost.copy()
    found = best_bias(loss, z, y, cost)
    assert math.isfinite(found)
    for now, then in zip((z, y, cost), before):
        np.testing.assert_array_equal(now, then)
    expected = naive.best_bias(z, y, cost, loss.name, EPSILON)
    if math.isfinite(expected):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
    else:  # one class and the logistic loss: b is far enough that the loss is nothing
        assert found * expected > 0
        assert naive.loss_value("logistic", z + found, y).max() < 1e-15


@every_loss
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), m=st.integers(2, 60), spread=st.floats(0.01, 100))
def test_best_bias_of_random_rows_reaches_the_lowest_loss(loss, seed, m, spread):
    rng = np.random.default_rng(seed)
    z, cost = spread * rng.standard_normal(m), 10.0 ** rng.uniform(-2, 2, m)
    y = np.where(rng.random(m) < 0.5, -1.0, 1.0) if loss.labels else rng.standard_normal(m)
    if loss.labels:
        y[:2] = 1.0, -1.0

    def total(b):
        return float(np.sum(cost * naive.loss_value(loss.name, z + b, y, EPSILON)))

    lowest = total(naive.best_bias(z, y, cost, loss.name, EPSILON))
    assert total(best_bias(loss, z, y, cost)) <= lowest * (1 + 1e-12) + 1e-300


@every_loss
def test_best_bias_ignores_rows_that_cost_nothing(loss):
    z = np.array([0.3, -0.6, 1e6, 0.1])
    y = np.array([1.0, -1.0, 0.0, -1.0])
    cost = np.array([1.0, 0.5, 0.0, 2.0])
    use = cost > 0
    assert best_bias(loss, z, y, cost) == best_bias(loss, z[use], y[use], cost[use])


# ----------------------------------------------------------------------------------------- the ball


@every_loss
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("lam", [1e-3, 0.1, 3.0])
def test_radius_bounds_the_optimum(loss, bias, lam):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        m, d = 24, 4
        X, weights = 2 * rng.standard_normal((m, d)), rng.uniform(0.2, 3, m)
        weights /= weights.mean()
        y = X @ rng.standard_normal(d) + rng.standard_normal(m) + (5.0 if not loss.labels else 0)
        y = np.where(y > 0, 1.0, -1.0) if loss.labels else y
        w, _, _ = naive.reference_solution(X, y, weights / (lam * m), loss.name, EPSILON, bias)
        assert lam * float(w @ w) <= radius(loss, y, weights, bias == "free") * (1 + 1e-9)


def test_radius_of_the_label_losses_is_reached_but_for_little():
    # One row, or two opposite ones: λ‖w*‖² = λ (‖x‖ c σ)², maximised over the length of x.
    for loss, least in ((Hinge(), 0.99), (SquaredHinge(), 0.99), (Logistic(), 0.99)):
        reached = 0.0
        for size in np.geomspace(0.05, 20, 61):
            w, _, _ = naive.reference_solution(
                np.array([[size]]), np.ones(1), np.ones(1), loss.name, EPSILON, "none"
            )
            reached = max(reached, float(w @ w))
        bound = radius(loss, np.ones(1), np.ones(1), False)
        assert least * bound <= reached <= bound * (1 + 1e-12)


@pytest.mark.parametrize("loss", EVERY[3:], ids=lambda loss: loss.name)
def test_radius_of_regression_is_the_weighted_loss_at_the_weighted_median(loss):
    y, weights = np.array([0.0, 1.0, 10.0]), np.array([1.0, 1.5, 0.5])
    at_zero = np.array([0.0, 1.0 - EPSILON, 10.0 - EPSILON])
    at_one = np.array([1.0 - EPSILON, 0.0, 9.0 - EPSILON])
    for free, over in ((False, at_zero), (True, at_one)):
        power, half = (2, 2) if loss.name in SQUARED else (1, 1)
        expected = np.mean(weights * over**power) / half
        assert radius(loss, y, weights, free) == pytest.approx(expected, rel=1e-12)


# ---------------------------------------------------------------------------------------- by name


def test_a_loss_is_found_by_name_or_is_itself():
    for name, cls in LOSSES.items():
        assert as_loss(name) == cls()
        assert name == cls.name
        assert getattr(as_loss(name), "epsilon", 0.0) == 0.0  # as in LinearSVR
    mine = EpsilonInsensitive(0.5)
    assert as_loss(mine) is mine


@pytest.mark.parametrize(
    ("loss", "error", "sentence"),
    [
        ("hinged", ValueError, "no loss 'hinged'; the losses are hinge, "),
        (Hinge, TypeError, "must be one of hinge, "),
        (3.0, TypeError, "must be one of hinge, "),
        ((), TypeError, "must be one of hinge, "),
        (EpsilonInsensitive(-0.1), ValueError, "epsilon must be zero or positive and finite"),
        (EpsilonInsensitive(math.nan), ValueError, "epsilon must be zero or positive and finite"),
        (SquaredEpsilonInsensitive(math.inf), ValueError, "epsilon must be zero or positive"),
        (EpsilonInsensitive("a"), ValueError, "epsilon must be .*'a'"),
        (SquaredEpsilonInsensitive(None), ValueError, "epsilon must be .*None"),
    ],
)
def test_what_is_no_loss_is_refused(loss, error, sentence):
    with pytest.raises(error, match=sentence):
        as_loss(loss)
