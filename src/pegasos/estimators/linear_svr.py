"""LinearSVR: linear regression with the ε-insensitive loss and a certificate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from pegasos.driver import Event
from pegasos.estimators._linear import taken_loss, taken_weights
from pegasos.estimators.callbacks import with_callbacks
from pegasos.estimators.stream import StreamingModel
from pegasos.losses import LOSSES, Loss, as_loss
from pegasos.problem import Problem
from pegasos.rows import take_in
from pegasos.solvers import Solver


class LinearSVR(RegressorMixin, StreamingModel):
    """Linear support vector regression, certified.

    Minimises ``lam/2 * ||w||^2 + (1/W) * sum_i s_i * loss(y_i, <w, x_i> + b)``, where ``W`` is
    the sum of the weights ``s_i``, and stops when the relative duality gap proves that this is
    done to within ``tol``.

    Parameters
    ----------
    C : float, default=None
        The weight of the summed loss against ``||w||^2 / 2``; ``C = 1 / (lam * W)``. If neither
        ``C`` nor ``lam`` is given, ``C`` is 1. Giving both is an error.

    lam : float, default=None
        The weight of ``||w||^2 / 2`` against the mean loss.

    epsilon : float, default=0.0
        Errors up to this size cost nothing. The default is scikit-learn's. A loss object brings
        its own.

    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"} or loss object, \
default="epsilon_insensitive"
        What an error costs beyond ``epsilon``: itself, or its square.

    solver : str or solver object, default="auto"
        The algorithm, by its name in ``pegasos.solvers.REGISTRY``, such as ``"dual-ascent"`` or
        ``"pegasos"``, or with its hyper-parameters, such as ``DualAscent(shrink=2.0)``.
        The hyper-parameters of an object can be searched, as ``solver__shrink``.

    tol : float or None, default=1e-3
        Stop when ``(primal - dual) / dual`` is at most this. The objective is then at most
        ``1 + tol`` times the smallest one. None: go on until the solver or a limit ends it.

    fit_intercept : bool, default=True
        Whether there is an intercept. It is not penalised.

    penalize_intercept : bool, default=False
        Whether the intercept is the coefficient of a constant feature, penalised as any other
        (as in LIBLINEAR). This is another problem, and often faster to solve.

    intercept_scaling : float, default=1.0
        The value of that constant feature. Larger values weaken the penalty.

    warm_start : bool, default=False
        Whether ``fit`` starts at the last solution.

    random_state : int, RandomState instance or None, default=0
        The same number gives the same bits. None draws from the system.

    max_passes : float, default=1000
        Stop after this many visits of each row.

    max_seconds : float, default=None
        Stop the fit after this much time.

    verbose : int, default=0
        1 keeps one line with passes, primal, dual and gap up to date; 2 also prints what the
        solver decides.

    store_dual : bool, default=False
        Whether to keep the dual variables as ``dual_coef_``.

    checkpoint : path, default=None
        Save the run there at every look at the certificate and every half minute, complete or not
        at all. Several binary problems have files with ``.0``, ``.1``, ... behind the name.

    resume : bool, default=False
        Whether ``fit`` goes on from those of these files that are there. It ends with the same
        bits as a fit without a break.

    on_event : callable, default=None
        Called with a ``pegasos.Event`` at every look, at every note of the solver, and about
        every 0.05 s between them.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The coefficients.

    intercept_ : ndarray of shape (1,)
        The intercept; 0.0 with ``fit_intercept=False``.

    dual_coef_ : ndarray of shape (n_samples,)
        Only with ``store_dual=True``. The dual variables; ``coef_`` is close to
        ``dual_coef_ @ X``.

    certificate_ : Certificate
        Primal, dual, gap and relative gap of exactly ``coef_`` and ``intercept_``.

    certificates_ : list of Certificate
        The same, as the only entry.

    trace_ : Trace
        How the run went. Not after ``partial_fit``.

    traces_ : list of Trace
        The same, as the only entry. Not after ``partial_fit``.

    converged_ : bool
        Whether the relative gap is at most ``tol``.

    n_passes_ : float
        Row visits divided by rows. Not after ``partial_fit``.

    summary_ : str
        One sentence: where the fit ended and, if it fell short, what to do.

    flops_, suspects_, error_rates_ : float or ndarray
        What some solvers find besides; their docstrings say what it is.

    lam_ : float
        Only after ``partial_fit``: the lam of the stream.

    t_ : int
        Only after ``partial_fit``: the steps so far.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if they are all strings.

    See Also
    --------
    LinearSVC : Linear support vector classification.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from pegasos import LinearSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LinearSVR(C=10, epsilon=5)).fit(X, y)
    >>> model.score(X, y) > 0.5
    True
    >>> model[-1].converged_
    True
    """

    def __init__(
        self,
        C: float | None = None,
        lam: float | None = None,
        *,
        epsilon: float = 0.0,
        loss: str | Loss = "epsilon_insensitive",
        solver: str | Solver = "auto",
        tol: float | None = 1e-3,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        intercept_scaling: float = 1.0,
        warm_start: bool = False,
        random_state: Any = 0,
        max_passes: float = 1000,
        max_seconds: float | None = None,
        verbose: int = 0,
        store_dual: bool = False,
        checkpoint: Any = None,
        resume: bool = False,
        on_event: Callable[[Event], None] | None = None,
    ):
        self.C = C
        self.lam = lam
        self.epsilon = epsilon
        self.loss = loss
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.intercept_scaling = intercept_scaling
        self.warm_start = warm_start
        self.random_state = random_state
        self.max_passes = max_passes
        self.max_seconds = max_seconds
        self.verbose = verbose
        self.store_dual = store_dual
        self.checkpoint = checkpoint
        self.resume = resume
        self.on_event = on_event

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVR:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix, StoredRows} of shape (n_samples, n_features)
            The rows. CSR and C-ordered arrays of any real type are used without a copy; those of
            a store are read block by block.
        y : array-like of shape (n_samples,)
            The targets.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 is the same as the row twice; rows of weight 0 do not exist.

        Returns
        -------
        self : LinearSVR
            The fitted estimator.
        """
        options = self._options()
        X, y = self._take(X, y, reset=True, numeric=True)
        weights = taken_weights(sample_weight, X)
        problem = Problem(take_in(X), y, weights=weights, **options)
        warm = self._warm(problem.intake, 1)
        self._report(self._solve([problem], (X, y, weights), warm))
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVR:
        """Learn from more rows by Pegasos, each visited once; the step counter goes on.

        ``lam`` is used, or 1 / (C * sum of the weights of the first call), kept as ``lam_``. The
        intercept is learned by its sub-gradient. ``tol``, ``max_passes`` and ``max_seconds``
        concern ``fit`` alone, after which a new stream begins at zero. Within a stream nothing that
        is learned may change; ``random_state`` counts in the first call.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The next rows.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the rows.

        Returns
        -------
        self : LinearSVR
            The estimator.
        """
        self._refuse_what_is_for_fit(X)
        X, y = self._take(X, y, reset=not hasattr(self, "_streams"), numeric=True)
        weights = taken_weights(sample_weight, X)
        self._learn(take_in(X), weights, [(np.asarray(y, dtype=np.float64), weights)])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The predicted target of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        targets : ndarray of shape (n_samples,)
            Their predicted targets.
        """
        return self._scores(X)[:, 0]

    def _loss(self) -> Loss:
        if not isinstance(self.loss, str):
            loss = taken_loss(self.loss, labels=False)
            if self.epsilon not in (0.0, loss.epsilon):  # type: ignore[union-attr]
                raise ValueError(
                    f"epsilon={self.epsilon!r} contradicts {self.loss!r}: give epsilon once"
                )
            return loss
        return as_loss(LOSSES[taken_loss(self.loss, labels=False).name](self.epsilon))

    def _shaped(self, models: np.ndarray) -> np.ndarray:
        """One model: no axis for problems."""
        return models[0]
