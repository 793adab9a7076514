"""What holds for every registered solver: its certificate, its state, its refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from problems import make_case

from pegasos import LinearSVC, Problem, solve
from pegasos.losses import LOSSES
from pegasos.problem import BIASES
from pegasos.solvers import REGISTRY, as_solver
from pegasos.solvers.contract import pack

NAMES = [name for name in REGISTRY if name != "dcd"]
every = pytest.mark.parametrize("name", NAMES)
# Methods on the dual, and those with matrices: they prove 1e-4 on anything small. The others go by
# passes and reach less.
DUAL = {"auto", "mpu", "ocas", "smo", "svm-perf"}
DUAL |= {"dual-ascent", "interior-point", "interior-point-full"}


def able(name: str):
    """A solver of this name, and a loss and bias that it can do."""
    solver = as_solver(name)
    loss = "hinge" if "hinge" in solver.solves.losses else min(solver.solves.losses)
    bias = "none" if "none" in solver.solves.biases else min(solver.solves.biases)
    return solver, loss, bias


def options(solver) -> dict:
    return {"tol": 1e-3 if solver.stops_on_gap else None, "max_passes": 30}


@every
@pytest.mark.parametrize("seed", range(4))
def test_its_certificate_is_about_what_it_returns(name, seed):
    solver = as_solver(name)
    for loss in sorted(solver.solves.losses):
        for bias in sorted(solver.solves.biases):
            case = make_case(
                seed,
                loss=loss,
                bias=bias,
                storage=("dense", "csr")[seed % 2],
                dtype=("float64", "float32")[seed // 2],
                hard=seed == 3,
                weighted=solver.solves.weights and seed != 1,
            )
            solution = solve(case.problem, solver, **options(solver))
            assert solution.alpha is not None
            case.check(solution)
            assert np.isfinite(solution.certificate.primal)


@pytest.mark.parametrize("name", sorted(DUAL))
@pytest.mark.parametrize("seed", range(3))
def test_methods_on_the_dual_prove_how_near_they_are(name, seed):
    solver, loss, bias = able(name)
    case = make_case(seed, loss=loss, bias=bias, storage=("dense", "csr")[seed % 2])
    solution = solve(case.problem, solver, tol=1e-4, max_passes=20_000)
    case.check(solution)
    assert solution.converged
    assert solution.certificate.relative_gap <= 1e-4


@every
def test_the_same_seed_gives_the_same_bits_and_portions_do_not_matter(name):
    solver, loss, bias = able(name)
    problem = make_case(1, loss=loss, bias=bias, m=120).problem
    ends = []
    for portion in (1, 37, 10**6):
        state = solver.start(problem, np.random.SeedSequence(3))
        done = 0.0
        while done < 7 * problem.m:
            report = solver.advance(problem, state, int(min(portion, 7 * problem.m - done)), 1e-9)
            done += report.visits
            if report.status != "running" or (report.look and not report.visits):
                break
        ends.append((done, solver.answer(problem, state)))
    if name in ("auto", "huber-newton", "interior-point", "interior-point-full"):
        return  # these ask for looks on their way: tests/test_driver.py has them
    for done, answer in ends[1:]:
        if done == ends[0][0]:
            np.testing.assert_array_equal(answer.w, ends[0][1].w)
            np.testing.assert_array_equal(answer.beta, ends[0][1].beta)


@every
@pytest.mark.parametrize("passes", [0.4, 3.5])
def test_a_resumed_run_ends_with_the_same_bits(name, passes, tmp_path):
    solver, loss, bias = able(name)
    problem = make_case(2, loss=loss, bias=bias, m=120).problem
    path = tmp_path / "run.npz"
    limits = {"tol": 1e-7 if solver.stops_on_gap else None}
    whole = solve(problem, solver, max_passes=8, **limits)
    solve(problem, solver, max_passes=passes, checkpoint=path, **limits)
    again = solve(problem, solver, max_passes=8, resume=path, **limits)
    assert again.n_passes == whole.n_passes
    np.testing.assert_array_equal(again.w, whole.w)
    np.testing.assert_array_equal(again.alpha, whole.alpha)


@every
def test_its_state_is_plain_arrays_and_numbers(name):
    solver, loss, bias = able(name)
    problem = make_case(2, loss=loss, bias=bias).problem
    state = solver.start(problem, np.random.SeedSequence(0))
    for key, value in pack(state).items():
        assert isinstance(value, np.ndarray | int | float | str | bool | np.generic), key


@every
def test_it_starts_from_any_answer(name):
    solver, loss, bias = able(name)
    case = make_case(4, loss=loss, bias=bias)
    before = solve(case.problem, "dual-ascent", tol=1e-2)
    case.check(solve(case.problem, solver, warm=before, **options(solver)))


@every
def test_it_refuses_what_it_cannot_do_and_says_what_it_can(name):
    solver = as_solver(name)
    for loss in set(LOSSES) - solver.solves.losses:
        problem = make_case(0, loss=loss).problem
        with pytest.raises(ValueError, match=f"cannot solve loss '{loss}'; it can do"):
            solve(problem, solver)
    for bias in set(BIASES) - solver.solves.biases:
        problem = make_case(0, bias=bias).problem
        with pytest.raises(ValueError, match=f"cannot solve bias '{bias}'; it can do"):
            solve(problem, solver)
    if not solver.solves.weights:
        with pytest.raises(ValueError, match="takes no weights"):
            solve(make_case(0, weighted=True).problem, solver)


@every
@pytest.mark.filterwarnings("ignore::pegasos.ConvergenceWarning")
def test_the_estimator_takes_it_by_name(name):
    solver, _, bias = able(name)
    if "hinge" not in solver.solves.losses:
        pytest.fail("every solver here does the hinge")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 5))
    y = np.array(["no", "yes", "perhaps"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 1)]
    model = LinearSVC(
        solver=name,
        lam=0.05,
        fit_intercept=bias != "none",
        penalize_intercept=bias == "feature",
        max_passes=200,  # for some a pass is a single step
        tol=1e-2 if solver.stops_on_gap else None,
    )
    assert model.fit(X, y).score(X, y) > 0.65


@every
def test_wild_data_give_finite_coefficients(name):
    solver, loss, bias = able(name)
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 4)) * 10.0 ** np.array([-8, 0, 4, 8])
    problem = Problem(X, np.where(rng.random(80) < 0.5, 1, -1), C=10.0, loss=loss, bias=bias)
    solution = solve(problem, solver, max_seconds=5, **options(solver))
    assert np.isfinite(solution.w).all()
    assert math.isfinite(solution.b)
    assert math.isfinite(solution.certificate.primal)
    assert solution.certificate.primal <= problem.zero_objective * (1 + 1e-9) or (
        solution.status == "finished"
    )


@every
def test_steps_are_counted(name):
    solver, loss, bias = able(name)
    problem = make_case(2, loss=loss, bias=bias).problem
    solution = solve(problem, solver, **options(solver))
    steps = solution.trace.steps
    if name == "auto":  # which changes from one method to another
        assert np.isnan(steps).all()
        return
    assert np.isfinite(steps).all()
    assert steps[-1] > 0
    assert steps == sorted(steps)
