"""Passive-aggressive learning: PA, PA-I and PA-II, for labels and for numbers."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from one_row import CASES, SEED, make, presentations, state_after

from pegasos import LinearSVR, PassiveAggressive, Problem, solve
from pegasos.solvers.one_row import COUNT

LINEAR = [case for case in CASES if case.loss in ("hinge", "epsilon_insensitive")]
LINEAR.append(make("epsilon_insensitive", weighted=True))
VARIANTS = [("PA", 1.0), ("PA-I", 0.1), ("PA-II", 0.3)]
PAIRS = [
    pytest.param(case, variant, C, id=f"{case}-{variant}")
    for case in LINEAR
    for variant, C in VARIANTS
    if variant != "PA" or np.ptp(case.weights) == 0
]


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize(("case", "variant", "C"), PAIRS)
def test_it_equals_its_twin_after_every_row(case, variant, C, average, storage):
    problem = case.problem(storage)
    solver = PassiveAggressive(variant=variant, C=C, average=average)
    order = presentations(problem, solver, 70)
    wanted = naive.passive_aggressive(
        case.X, case.y, case.weights, case.loss, order, variant, C, average
    )
    for t, w in enumerate(wanted, start=1):
        answer = solver.answer(problem, state_after(problem, solver, t))
        np.testing.assert_allclose(answer.w, w, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(("variant", "C"), VARIANTS)
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_a_step_is_the_best_of_its_own_problem(loss, variant, C):
    """½‖v − w‖² and, on the row at hand, no loss, or C ℓ(v), or C ℓ(v)², compared along x."""
    case = make(loss)
    problem = case.problem("dense")
    solver = PassiveAggressive(variant=variant, C=C, order="cycle")
    moved = 0
    for t in range(case.y.size):
        x, y = case.X[t], case.y[t]
        before = solver.answer(problem, state_after(problem, solver, t)).w
        after = solver.answer(problem, state_after(problem, solver, t + 1)).w

        def cost(v, before=before, x=x, y=y):
            suffered = float(naive.loss_value(loss, x @ v, y))
            if variant == "PA":
                return 0.5 * (v - before) @ (v - before) + (1e9 if suffered > 1e-9 else 0.0)
            power = 1 if variant == "PA-I" else 2
            return 0.5 * (v - before) @ (v - before) + C * suffered**power

        around = [after + s * x for s in (-0.3, -0.01, -1e-4, 1e-4, 0.01, 0.3)]
        assert cost(after) <= min(map(cost, around)) + 1e-12
        moved += bool((after != before).any())
    assert moved > 5


def test_by_name_it_is_the_first_variant_and_returns_its_own_w():
    case = LINEAR[0]
    problem = case.problem("dense")
    order = presentations(problem, PassiveAggressive(), 10 * problem.m)
    *_, w = naive.passive_aggressive(case.X, case.y, case.weights, "hinge", order, "PA-I", 1.0)
    solution = solve(problem, "passive-aggressive", seed=SEED)
    assert solution.status == "finished"
    np.testing.assert_allclose(solution.w, w, rtol=1e-9)


def test_on_rows_that_can_be_separated_with_a_margin_pa_leaves_no_loss():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((100, 5))
    X = X[np.abs(X[:, 0] - X[:, 1]) > 0.5]
    y = np.sign(X[:, 0] - X[:, 1])
    solution = solve(
        Problem(X, y, lam=0.01),
        PassiveAggressive(variant="PA", passes=2000),
        tol=None,
        max_passes=3000,
    )
    assert np.maximum(0, 1 - y * (X @ solution.w)).max() < 1e-6


@pytest.mark.parametrize(("variant", "C"), VARIANTS)
def test_rows_without_features_are_passed_over(variant, C):
    case = LINEAR[0]
    X = case.X.copy()
    X[::3] = 0.0
    problem = Problem(X, case.y, lam=0.1)
    state = state_after(problem, PassiveAggressive(variant=variant, C=C), 60)
    assert not state.numbers[::3, COUNT].any()
    assert state.numbers[:, COUNT].any()
    assert np.isfinite(state.v).all()


@pytest.mark.filterwarnings("ignore::pegasos.ConvergenceWarning")
def test_the_estimator_of_numbers_takes_it():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = X @ [1.0, -2.0, 0.5]
    model = LinearSVR(solver="passive-aggressive", fit_intercept=False, lam=1e-3).fit(X, y)
    np.testing.assert_allclose(model.coef_, [1.0, -2.0, 0.5], atol=0.1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"variant": "PA-III"}, "variant must be one of PA, PA-I, PA-II, not 'PA-III'"),
        ({"C": 0.0}, "C must be positive and finite, not 0.0"),
        ({"C": float("nan")}, "C must be positive and finite, not nan"),
        ({"C": "much"}, "C must be positive and finite, not 'much'"),
        ({"variant": "PA", "C": 2.0}, "variant='PA' has no aggressiveness: leave out C, or"),
        ({"passes": -1}, "passes must be a positive whole number, not -1"),
    ],
)
def test_refuses_in_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        PassiveAggressive(**options)


def test_pa_refuses_weights_and_says_who_takes_them():
    problem = LINEAR[1].problem("dense")
    with pytest.raises(ValueError, match="takes no weights with variant='PA'"):
        solve(problem, PassiveAggressive(variant="PA"))


def test_other_losses_are_refused():
    problem = Problem(np.eye(3), [1, -1, 1], lam=1.0, loss="logistic")
    with pytest.raises(ValueError, match="passive-aggressive cannot solve loss 'logistic'"):
        solve(problem, "passive-aggressive")
