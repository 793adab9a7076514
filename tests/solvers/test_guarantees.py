"""The theorems: the right one for each variant, none where none holds, and none that is broken."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pegasos import Pegasos, Problem, best_of, solve

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
Y = np.where(X[:, 0] + 0.3 * RNG.standard_normal(60) > 0, 1.0, -1.0)
LAM = 0.1
PROBLEM = Problem(X, Y, lam=LAM)
R = np.linalg.norm(X, axis=1).max()
IID = Pegasos(order="iid", output="random", steps=100)
WHOLE = Pegasos(batch="all", output="average")


def best_mean_objective():
    return LAM * solve(PROBLEM, tol=1e-10).certificate.dual


def test_formulas_of_the_paper():
    c = (math.sqrt(LAM) + R) ** 2
    T = 500
    once = c * math.log(T) / (LAM * T)
    assert WHOLE.guarantee(PROBLEM, T).epsilon == pytest.approx(once)
    assert WHOLE.guarantee(PROBLEM, T).theorem == "Corollary 1"
    assert IID.guarantee(PROBLEM, T).epsilon == pytest.approx(once)
    assert IID.guarantee(PROBLEM, T).theorem == "Theorem 2"
    assert IID.guarantee(PROBLEM, T, delta=0.2).epsilon == pytest.approx(once / 0.2)
    assert IID.guarantee(PROBLEM, T, delta=0.2).theorem == "Theorem 3"
    runs = math.ceil(math.log(1 / 0.05))
    each = T // runs
    boosted = math.e * c * math.log(each) / (LAM * each)
    assert IID.guarantee(PROBLEM, T, 0.05, boosted=True).epsilon == pytest.approx(boosted)
    free = Pegasos(batch="all", output="average", project=False)
    expected = 2 * R**2 * (1 + math.log(T)) / (LAM * T)
    assert free.guarantee(PROBLEM, T).epsilon == pytest.approx(expected)


@pytest.mark.parametrize(("solver", "delta"), [(WHOLE, None), (IID, None), (IID, 0.1)])
@pytest.mark.parametrize("epsilon", [5.0, 0.3, 0.01])
def test_steps_for_is_the_smallest_number_that_suffices(solver, delta, epsilon):
    steps = solver.steps_for(PROBLEM, epsilon, delta)
    assert solver.guarantee(PROBLEM, steps, delta).epsilon <= epsilon
    assert steps == 3 or solver.guarantee(PROBLEM, steps - 1, delta).epsilon > epsilon


@pytest.mark.parametrize(
    ("solver", "problem", "sentence"),
    [
        (Pegasos(), PROBLEM, "order='shuffle' with batches of 1"),
        (Pegasos(order="iid"), PROBLEM, "the last of a chosen number"),
        (Pegasos(batch="all"), PROBLEM, "output='random' or 'average'"),
        (Pegasos(order="iid", output="average"), PROBLEM, "are about output='random'"),
        (IID, Problem(X, Y, lam=LAM, bias="free"), "not strongly convex in b"),
        (IID, Problem(X, Y, lam=LAM, loss="squared_hinge"), "unbounded slope"),
        (Pegasos(batch="all", project=False, w1=[1, 0, 0], output="average"), PROBLEM, "w1 = 0"),
    ],
)
def test_no_promise_where_no_theorem_holds(solver, problem, sentence):
    with pytest.raises(ValueError, match=sentence):
        solver.guarantee(problem, 100)


def test_bad_numbers_are_refused():
    with pytest.raises(ValueError, match="at least 3 steps"):
        IID.guarantee(PROBLEM, 2)
    with pytest.raises(ValueError, match="between 0 and 1"):
        IID.guarantee(PROBLEM, 100, delta=1.5)
    with pytest.raises(ValueError, match="epsilon must be positive"):
        IID.steps_for(PROBLEM, 0.0)
    with pytest.raises(ValueError, match="boosting"):
        WHOLE.guarantee(PROBLEM, 100, 0.1, boosted=True)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_the_whole_batch_keeps_its_promise(loss):
    problem = Problem(X, Y, lam=LAM, loss=loss)
    best = LAM * solve(problem, tol=1e-10).certificate.dual
    for T in (3, 10, 100, 1000):
        w = solve(problem, Pegasos(batch="all", output="average", steps=T), tol=None)
        promised = WHOLE.guarantee(problem, T).epsilon
        assert LAM * w.certificate.primal <= best + promised


def test_random_stopping_keeps_its_promise_on_average():
    best = best_mean_objective()
    T = 300
    found = [
        LAM
        * solve(
            PROBLEM, Pegasos(order="iid", output="random", steps=T), tol=None, seed=s
        ).certificate.primal
        for s in range(200)
    ]
    promised = IID.guarantee(PROBLEM, T).epsilon
    assert np.mean(found) <= best + promised
    bad = np.mean(np.array(found) > best + IID.guarantee(PROBLEM, T, delta=0.1).epsilon)
    assert bad <= 0.1


def test_boosting_keeps_its_promise():
    best, T, delta = best_mean_objective(), 600, 0.05
    promised = IID.guarantee(PROBLEM, T, delta, boosted=True).epsilon
    solver = Pegasos(order="iid", output="random", steps=T)
    for seed in range(20):
        chosen = best_of(PROBLEM, solver, delta=delta, choose="objective", seed=seed)
        assert LAM * chosen.certificate.primal <= best + promised
