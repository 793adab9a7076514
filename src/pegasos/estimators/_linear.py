"""What LinearSVC and LinearSVR share: rows taken in, problems handed over, answers kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Number
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state, check_X_y
from sklearn.utils.validation import check_is_fitted, validate_data

from pegasos.certificate import Answer
from pegasos.driver import INTERRUPTED, Event, Solution, solve_many
from pegasos.estimators.callbacks import CallbackSupport, tasks_of
from pegasos.estimators.convergence import summary, warn_if_short, worst
from pegasos.estimators.display import certificate_html
from pegasos.estimators.progress import ProgressLine
from pegasos.losses import LOSSES, Loss, as_loss
from pegasos.problem import Problem
from pegasos.rows import Intake, StoredRows, checked_parts, part, scores, take_in
from pegasos.rows.intake import refuse_masked

# X in any numeric type, as it lies in memory; take_in itself looks for NaN and infinity.
AS_IT_LIES = {"accept_sparse": True, "accept_large_sparse": True, "ensure_all_finite": False}


class LinearModel(CallbackSupport, BaseEstimator):
    """The shared part of the linear estimators."""

    # What the subclasses' __init__ sets; their docstrings say what each means.
    C: float | None
    lam: float | None
    loss: str | Loss
    solver: Any
    tol: float | None
    fit_intercept: bool
    penalize_intercept: bool
    intercept_scaling: float
    warm_start: bool
    n_jobs: int | None = None  # a model of one problem has no such parameter
    random_state: Any
    max_passes: float
    max_seconds: float | None
    verbose: int
    store_dual: bool
    checkpoint: Any
    resume: bool
    on_event: Callable[[Event], None] | None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _take(self, X: Any, y: Any, *, reset: bool, numeric: bool) -> tuple[Any, np.ndarray]:
        """X and y, validated; X neither converted nor copied nor read."""
        refuse_masked(X, "X")
        refuse_masked(y, "y")
        if isinstance(X, StoredRows):
            X = self._stored(X, reset)
            # As validate_data does for other rows: it says what is wrong with y.
            _, y = check_X_y(np.zeros((len(X), 1), np.int8), y, y_numeric=numeric, estimator=self)
            return X, y
        return validate_data(self, X, y, reset=reset, y_numeric=numeric, **AS_IT_LIES)

    def _stored(self, X: StoredRows, reset: bool) -> StoredRows:
        """Rows that lie in files: their number of features is checked, and they stay there."""
        return validate_data(self, X, reset=reset, skip_check_array=True)

    def _options(self) -> dict[str, Any]:
        """What all problems of a fit have in common."""
        for name in ("fit_intercept", "penalize_intercept", "warm_start", "store_dual", "resume"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ValueError(f"{name} must be True or False, not {getattr(self, name)!r}")
        if self.lam is not None and self.C is not None:
            raise ValueError(
                "give C or lam, not both: they are the same (lam = 1 / (C * sum of weights))"
            )
        options: dict[str, Any] = {"loss": self._loss(), "bias": self._bias()}
        if self.lam is not None:
            options["lam"] = self.lam
        else:
            options["C"] = 1.0 if self.C is None else self.C
        if options["bias"] == "feature":
            options["intercept_scaling"] = self.intercept_scaling
        return options

    def _loss(self) -> Loss:
        raise NotImplementedError

    def _bias(self) -> str:
        if self.fit_intercept and self.penalize_intercept:
            return "feature"
        if self.penalize_intercept:
            raise ValueError("penalize_intercept=True needs fit_intercept=True")
        if self.intercept_scaling != 1.0:
            raise ValueError(
                "intercept_scaling matters only with penalize_intercept=True: an intercept "
                "without a penalty has no scale"
            )
        return "free" if self.fit_intercept else "none"

    def _threads(self) -> int:
        n = self.n_jobs
        if n is not None and (not isinstance(n, int | np.integer) or n == 0):
            raise ValueError(f"n_jobs must be None or a whole number other than zero, not {n!r}")
        return joblib.effective_n_jobs(n)

    def _seed(self) -> np.random.SeedSequence:
        if self.random_state is None or isinstance(self.random_state, int | np.integer):
            return np.random.SeedSequence(self.random_state)
        return np.random.SeedSequence(check_random_state(self.random_state).randint(2**31 - 1))

    def _solve(
        self, problems: Sequence[Problem], data: tuple[Any, Any, Any], warm: list | None
    ) -> list[Solution]:
        """All problems of a fit, through the one driver; the attributes they leave are set."""
        n = len(problems)
        tasks = tasks_of(self, n, *data)
        line = ProgressLine(n, notes=self.verbose > 1) if self.verbose else None
        listeners = [listener for listener in (tasks, line) if listener is not None]

        def tell(event: Event) -> None:
            for listener in listeners:
                listener(event)
            if self.on_event is not None:
                self.on_event(event)

        try:
            solutions = solve_many(
                problems,
                self.solver,
                n_jobs=self._threads(),
                seed=self._seed(),
                tol=self.tol,
                max_passes=self.max_passes,
                max_seconds=self.max_seconds,
                checkpoint=self.checkpoint,
                resume=self.resume,
                on_event=tell,
                warm=warm,
            )
        finally:
            for listener in listeners:
                listener.close()
        self._keep(solutions)
        if tasks is not None:
            tasks.fitted()
        return solutions

    def _keep(self, solutions: list[Solution]) -> None:
        """Set the fitted attributes."""
        betas = [solution.answer.beta for solution in solutions]
        if self.store_dual and any(beta is None for beta in betas):
            raise ValueError(
                f"store_dual=True needs dual variables, and {self.solver!r} keeps none; "
                "set store_dual=False or choose another solver"
            )
        self._forget()
        interrupted = any(solution.status == INTERRUPTED for solution in solutions)
        if self.warm_start or interrupted:
            self._betas = betas
        if self.store_dual:
            self.dual_coef_ = self._shaped(np.array(betas))
        self._keep_models([s.w for s in solutions], [s.b for s in solutions])
        self.certificates_ = [solution.certificate for solution in solutions]
        self.traces_ = [solution.trace for solution in solutions]
        k = worst(self.certificates_)
        self.certificate_, self.trace_ = self.certificates_[k], self.traces_[k]
        self.converged_ = all(solution.converged for solution in solutions)
        self.n_passes_ = max(solution.n_passes for solution in solutions)
        self.summary_ = summary(solutions)
        self._found = [f"{name}_" for name in solutions[0].findings]
        for name in solutions[0].findings:
            found = [solution.findings[name] for solution in solutions]
            setattr(self, f"{name}_", found[0] if len(found) == 1 else found)

    def _keep_models(self, w: list[np.ndarray], b: list[float]) -> None:
        self.coef_ = self._shaped(np.array(w))
        self.intercept_ = np.array(b) if self.fit_intercept else 0.0

    def _shaped(self, models: np.ndarray) -> np.ndarray:
        """One row for each binary problem."""
        return models

    def _forget(self) -> None:
        """Remove what an earlier fit or stream has left and the next may not overwrite."""
        of_fit = ("dual_coef_", "_betas", "trace_", "traces_", "n_passes_")
        of_stream = ("_streams", "_begun_with", "lam_", "t_")
        for name in (*of_fit, *of_stream, *self.__dict__.pop("_found", ())):
            self.__dict__.pop(name, None)

    def _report(self, solutions: list[Solution]) -> None:
        """Say that a fit fell short; go on with an interrupt, now that the model is kept."""
        if any(solution.status == INTERRUPTED for solution in solutions):
            raise KeyboardInterrupt(self.summary_)
        warn_if_short(solutions)

    def _warm(self, intake: Intake, n_problems: int) -> list[Answer | None] | None:
        """Where to start: at the last model, with its dual variables if the rows are as many."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return None
        W = np.atleast_2d(self.coef_)
        if W.shape != (n_problems, intake.n_features):
            return None
        b = np.broadcast_to(self.intercept_, n_problems)
        bias = self._bias()
        if bias == "feature":
            W = np.column_stack([W, b / self.intercept_scaling])
        return [
            Answer(W[k].copy(), float(b[k]) if bias == "free" else 0.0, beta)
            for k, beta in enumerate(self._usable_betas(intake, n_problems))
        ]

    def _usable_betas(self, intake: Intake, n_problems: int) -> list[np.ndarray | None]:
        betas = getattr(self, "_betas", [None])
        if any(beta is None or beta.size != intake.n_rows for beta in betas):
            return [None] * n_problems
        return betas

    def _scores(self, X: Any) -> np.ndarray:
        """⟨w_k, x_i⟩ + b_k of all models, from X as it is stored."""
        check_is_fitted(self)
        refuse_masked(X, "X")
        W = np.atleast_2d(np.asarray(self.coef_, dtype=np.float64))
        b = np.broadcast_to(np.asarray(self.intercept_, dtype=np.float64), W.shape[0])
        models = _frozen(W.T), _frozen(b)
        if isinstance(X, StoredRows):
            X = self._stored(X, reset=False)
            out = np.empty((len(X), W.shape[0]))
            for first, last, _ in checked_parts(X):
                scores(part(X.rows, first, last), *models, out[first:last])
            return out
        intake = take_in(validate_data(self, X, reset=False, **AS_IT_LIES))
        out = np.empty((intake.n_rows, W.shape[0]))
        scores(intake.rows, *models, out)
        return out

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + certificate_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += certificate_html(self)
        return bundle


def taken_loss(loss: str | Loss, labels: bool) -> Loss:
    """A loss of the right kind: for labels (classification) or for numbers (regression)."""
    fitting = [name for name in LOSSES if as_loss(name).labels is labels]
    found = as_loss(loss) if not isinstance(loss, str) or loss in fitting else None
    if found is None or found.labels is not labels:
        raise ValueError(
            f"loss must be one of {', '.join(map(repr, fitting))} or such a loss object, "
            f"not {loss!r}"
        )
    return found


def taken_weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """Finite weights, zero or positive and not all zero; None stays None."""
    if sample_weight is None:
        return None
    refuse_masked(sample_weight, "sample_weight")
    if isinstance(sample_weight, Number) or getattr(sample_weight, "shape", None) == ():
        sample_weight = np.full(X.shape[0], sample_weight)
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape != (X.shape[0],):
        raise ValueError(f"sample_weight has shape {weights.shape}, but X has {X.shape[0]} rows")
    negative = np.flatnonzero(weights < 0)
    if negative.size:
        row = int(negative[0])
        raise ValueError(f"sample_weight must be zero or positive; row {row} has {weights[row]:g}")
    if not weights.any():
        raise ValueError("sample_weight is zero for all rows: there is nothing to learn from")
    return weights


def _frozen(array: np.ndarray) -> np.ndarray:
    """Contiguous and read-only, so that the kernels meet one type."""
    array = np.ascontiguousarray(array).view()
    array.flags.writeable = False
    return array
