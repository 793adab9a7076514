"""What the tests of the two methods of cutting planes share."""

from __future__ import annotations

import naive
import numpy as np
from problems import Case, make_case

from pegasos.solvers.planes import DUAL

SEED = np.random.SeedSequence(0)


def cases(**options) -> list[Case]:
    """Small problems with and without weights and a constant feature, that take many planes."""
    return [
        make_case(seed, bias=bias, weighted=weighted, m=100, d=5, **options)
        for seed, bias, weighted in ((14, "none", False), (3, "none", True), (13, "feature", True))
    ]


def check_against_twin(case: Case, solver, steps: int, mu: float | None) -> None:
    """The same planes, solutions and bounds after each iteration."""
    problem = case.problem
    state = solver.start(problem, SEED)
    twin = naive.cutting_planes(case.X, case.y, case.cost, steps, solver.keep, mu)
    counts = []
    for step, (w, bound, alpha, point, inside, count) in enumerate(twin, start=1):
        report = solver.advance(problem, state, 1, -1.0)
        answer = solver.answer(problem, state)
        assert solver.steps_done(problem, state) == step
        np.testing.assert_allclose(state.w, w, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(answer.w, point, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(state.run[DUAL], bound, rtol=1e-9)
        np.testing.assert_allclose(
            answer.beta[problem.which], alpha * case.y, rtol=1e-6, atol=1e-8 * case.cost.max()
        )
        np.testing.assert_array_equal(state.inside[problem.which], inside)
        assert not state.inside[problem.cost == 0.0].any()
        assert state.planes.count == count
        gap = naive.primal(case.X, case.y, case.cost, point, 0.0, "hinge") - bound
        expected = gap / bound if bound > 0 else np.inf
        np.testing.assert_allclose(report.gap_estimate, expected, rtol=1e-6, atol=1e-9)
        assert problem.m <= report.visits <= 2 * problem.m
        counts.append(count)
    dropped = np.diff(counts) < 1
    assert dropped.any() == (solver.keep < steps), (
        "the case says nothing of planes that are dropped"
    )
