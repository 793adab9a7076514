"""``partial_fit``: Pegasos over rows that come in portions, the step counter kept."""

from __future__ import annotations

import math
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from pegasos.certificate import Certificate
from pegasos.estimators._linear import LinearModel
from pegasos.problem import Problem
from pegasos.rows import Intake, StoredRows
from pegasos.solvers import as_solver
from pegasos.solvers.pegasos import Pegasos
from pegasos.solvers.stream import Stream

WHAT_IS_LEARNED = (
    *("C", "lam", "loss", "epsilon", "solver", "multi_class", "store_dual"),
    *("fit_intercept", "penalize_intercept", "intercept_scaling"),
)


class StreamingModel(LinearModel):
    """A linear estimator that can learn from one portion of rows after the other."""

    _streams: list[Stream]  # one for each model, from the first call of ``partial_fit``
    _begun_with: dict[str, str]  # what the streams learn, as that call had it

    def _refuse_what_is_for_fit(self, X: Any) -> None:
        """Refuse, before any work, what means nothing for a portion of rows."""
        for name in ("checkpoint", "resume", "on_event"):
            if getattr(self, name) not in (None, False):
                raise ValueError(f"{name} is for fit; partial_fit has no use for it: leave it out")
        if isinstance(X, StoredRows):
            raise ValueError(
                "partial_fit takes rows in memory: give it a store in pieces "
                "(pegasos.data.iter_store), or call fit, which reads the store block by block"
            )

    def _learn(
        self,
        intake: Intake,
        weights: np.ndarray | None,
        tasks: list[tuple[np.ndarray, np.ndarray | None]],
    ) -> None:
        """Visit each row once for each model, and keep what has been learned.

        ``weights`` are those of the rows; ``tasks`` are the targets and weights for each model.
        """
        if hasattr(self, "_streams"):
            self._refuse_changes()
        else:
            self._open_streams(intake, weights, tasks[0][0], len(tasks))
        jobs = min(self._threads(), len(tasks))
        with ThreadPoolExecutor(jobs) as pool:
            for done in [
                pool.submit(stream.learn, intake, *task)
                for stream, task in zip(self._streams, tasks)
            ]:
                done.result()
        self._keep_streams()

    def _open_streams(
        self, intake: Intake, weights: np.ndarray | None, y: np.ndarray, n_models: int
    ) -> None:
        if self.store_dual:
            raise ValueError("a stream keeps no dual variables: set store_dual=False")
        solver = Pegasos() if self.solver == "auto" else as_solver(self.solver)
        if not isinstance(solver, Pegasos):
            raise ValueError(
                f"partial_fit learns by Pegasos alone, not by {self.solver!r}: set solver to "
                '"auto", "pegasos" or a Pegasos object'
            )
        first = Problem(intake, y, weights=weights, **self._options())
        solver.check(first)
        self._forget()
        self.lam_ = first.lam
        self._begun_with = self._what_is_learned()
        self._streams = [
            Stream(
                intake.n_features,
                first.lam,
                solver,
                first.loss,
                first.free_bias,
                first.constant,
                seed,
            )
            for seed in self._seed().spawn(n_models)
        ]

    def _what_is_learned(self) -> dict[str, str]:
        """The parameters that must not change while a stream goes on, as text."""
        given = self.get_params(deep=False)
        return {name: repr(given[name]) for name in WHAT_IS_LEARNED if name in given}

    def _refuse_changes(self) -> None:
        now = self._what_is_learned()
        changed = [name for name, value in self._begun_with.items() if now[name] != value]
        if changed:
            before, after = (
                ", ".join(f"{name}={values[name]}" for name in changed)
                for values in (self._begun_with, now)
            )
            raise ValueError(
                f"the stream began with {before} and cannot go on with {after}: set that back, or "
                "begin another stream with a clone"
            )

    def _keep_streams(self) -> None:
        streams = self._streams
        self._keep_models([np.array(s.w) for s in streams], [float(s.b) for s in streams])
        self.certificates_ = [of_stream(stream.lower_bound) for stream in streams]
        self.certificate_ = min(self.certificates_, key=lambda proof: proof.dual)
        self.converged_ = False
        self.t_ = max(stream.t for stream in streams)
        self.summary_ = f"learned from a stream in {self.t_} steps"
        if self.verbose:
            print(f"steps {self.t_}  dual {self.certificate_.dual:.8g}", file=sys.stderr)


def of_stream(lower_bound: float) -> Certificate:
    """What is proved over a stream: a lower bound for the rows seen, and no primal value."""
    return Certificate(math.nan, float(lower_bound), math.nan, math.inf, "stream")
