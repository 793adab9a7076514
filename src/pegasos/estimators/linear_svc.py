"""LinearSVC: linear classification with a certificate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import (
    _check_partial_fit_first_call,
    _ovr_decision_function,
    check_classification_targets,
)

from pegasos.driver import Event
from pegasos.estimators._linear import taken_loss, taken_weights
from pegasos.estimators.callbacks import with_callbacks
from pegasos.estimators.multiclass import (
    SCHEMES,
    BinaryProblems,
    classes_of,
    contestants,
    contests,
    refuse_mixed_labels,
    with_class_weights,
)
from pegasos.estimators.stream import StreamingModel
from pegasos.losses import Loss
from pegasos.rows import take_in
from pegasos.solvers import Solver


class LinearSVC(ClassifierMixin, StreamingModel):
    """Linear support vector classification, certified.

    Minimises ``lam/2 * ||w||^2 + (1/W) * sum_i s_i * loss(y_i, <w, x_i> + b)``, where ``W`` is
    the sum of the weights ``s_i``, and stops when the relative duality gap proves that this is
    done to within ``tol``.

    Parameters
    ----------
    C : float, default=None
        The weight of the summed loss against ``||w||^2 / 2``; ``C = 1 / (lam * W)``. If neither
        ``C`` nor ``lam`` is given, ``C`` is 1. Giving both is an error.

    lam : float, default=None
        The weight of ``||w||^2 / 2`` against the mean loss of each binary problem.

    loss : {"hinge", "squared_hinge", "logistic"} or loss object, default="hinge"
        ``"hinge"`` is the support vector machine.

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

    multi_class : {"ovr", "ovo"}, default="ovr"
        Three and more classes: each against the rest, or each against each other.

    class_weight : dict or "balanced", default=None
        Weights of the classes, which multiply ``sample_weight``. ``"balanced"`` gives all
        classes the same total weight.

    warm_start : bool, default=False
        Whether ``fit`` starts at the last solution.

    n_jobs : int, default=None
        Threads over the binary problems; -1 for one per processor. The result is the same.

    random_state : int, RandomState instance or None, default=0
        The same number gives the same bits. None draws from the system.

    max_passes : float, default=1000
        Stop a binary problem after this many visits of each row.

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
    coef_ : ndarray of shape (n_problems, n_features)
        The coefficients: one row for two classes, ``n_classes`` rows for ``"ovr"`` and
        ``n_classes * (n_classes - 1) / 2`` for ``"ovo"``, in the order of the pairs (0, 1),
        (0, 2), ... with the second class positive.

    intercept_ : ndarray of shape (n_problems,)
        The intercepts; 0.0 with ``fit_intercept=False``.

    classes_ : ndarray of shape (n_classes,)
        The classes of the rows with positive weight: rows of weight zero do not exist.

    dual_coef_ : ndarray of shape (n_problems, n_samples)
        Only with ``store_dual=True``. The dual variables times the labels -1 and +1;
        ``coef_`` is close to ``dual_coef_ @ X``.

    certificate_ : Certificate
        Primal, dual, gap and relative gap of exactly ``coef_`` and ``intercept_``; of several
        binary problems the one with the largest relative gap.

    certificates_ : list of Certificate
        One for each binary problem.

    trace_ : Trace
        How the run of ``certificate_`` went. Not after ``partial_fit``.

    traces_ : list of Trace
        One for each binary problem. Not after ``partial_fit``.

    converged_ : bool
        Whether all relative gaps are at most ``tol``.

    n_passes_ : float
        Row visits divided by rows, the most of all binary problems. Not after ``partial_fit``.

    summary_ : str
        One sentence: where the fit ended and, if it fell short, what to do.

    flops_, suspects_, error_rates_ : float or ndarray
        What some solvers find besides; their docstrings say what it is. Of
        several binary problems, a list.

    lam_ : float
        Only after ``partial_fit``: the lam of the stream.

    t_ : int
        Only after ``partial_fit``: the steps so far, the most of all binary problems.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if they are all strings.

    See Also
    --------
    LinearSVR : Linear support vector regression.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from pegasos import LinearSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LinearSVC(C=0.1)).fit(X, y)
    >>> model.score(X, y) > 0.97
    True
    >>> model[-1].certificate_.relative_gap <= 1e-3
    True
    """

    def __init__(
        self,
        C: float | None = None,
        lam: float | None = None,
        *,
        loss: str | Loss = "hinge",
        solver: str | Solver = "auto",
        tol: float | None = 1e-3,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        intercept_scaling: float = 1.0,
        multi_class: str = "ovr",
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
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
        self.loss = loss
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.intercept_scaling = intercept_scaling
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.max_passes = max_passes
        self.max_seconds = max_seconds
        self.verbose = verbose
        self.store_dual = store_dual
        self.checkpoint = checkpoint
        self.resume = resume
        self.on_event = on_event

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVC:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix, StoredRows} of shape (n_samples, n_features)
            The rows. CSR and C-ordered arrays of any real type are used without a copy; those of
            a store are read block by block.
        y : array-like of shape (n_samples,)
            The labels, of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 is the same as the row twice; rows of weight 0 do not exist.

        Returns
        -------
        self : LinearSVC
            The fitted estimator.
        """
        options = self._options()
        scheme = self._scheme()
        X, y = self._take(X, y, reset=True, numeric=False)
        refuse_mixed_labels("y", y)
        check_classification_targets(y)
        weights = taken_weights(sample_weight, X)
        classes, codes = classes_of(y, weights)
        total = with_class_weights(weights, self.class_weight, classes, codes)
        problems = BinaryProblems(take_in(X), codes, classes.size, total, scheme, options)
        warm = None
        if np.array_equal(getattr(self, "classes_", classes), classes):
            warm = self._warm(problems.intake, len(problems))
        self.classes_, self._scheme_of_fit = classes, scheme
        self._report(self._solve(problems, (X, y, weights), warm))
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> LinearSVC:
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
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All classes that will come; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the rows.

        Returns
        -------
        self : LinearSVC
            The estimator.
        """
        self._refuse_what_is_for_fit(X)
        refuse_mixed_labels("classes", classes)
        _check_partial_fit_first_call(self, classes)
        scheme = self._scheme()
        self._check_stream()
        X, y = self._take(X, y, reset=not hasattr(self, "_streams"), numeric=False)
        refuse_mixed_labels("y", y)
        check_classification_targets(y)
        codes = self._known_codes(y)
        weights = taken_weights(sample_weight, X)
        total = with_class_weights(weights, self.class_weight, self.classes_, codes)
        tasks = [
            contestants(contest, codes, total) for contest in contests(self.classes_.size, scheme)
        ]
        self._learn(take_in(X), total, tasks)
        self._scheme_of_fit = scheme
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the rows: the larger, the more of that class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, positive means ``classes_[1]``. One against one: the contests that
            a class has won, ties broken by the scores.
        """
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return scores[:, 0]
        if self._scheme_of_fit == "ovo":
            return _ovr_decision_function(scores > 0, scores, self.classes_.size)
        return scores

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Their classes.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(np.intp)]
        return self.classes_[scores.argmax(axis=1)]

    def _loss(self) -> Loss:
        return taken_loss(self.loss, labels=True)

    def _scheme(self) -> str:
        if self.multi_class not in SCHEMES:
            raise ValueError(f"multi_class must be 'ovr' or 'ovo', not {self.multi_class!r}")
        return self.multi_class

    def _check_stream(self) -> None:
        """Refuse what a stream cannot do."""
        if self.classes_.size < 2:
            raise ValueError(f"a classifier needs at least 2 classes, not {self.classes_.size}")
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"class_weight={self.class_weight!r} needs all rows at once; give partial_fit a "
                "dict of weights"
            )

    def _known_codes(self, y: np.ndarray) -> np.ndarray:
        """The number of each row's class, all of them announced in the first call."""
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise ValueError(
                f"y holds the class {unknown.tolist()[0]!r}, which is not in classes of the first "
                "call"
            )
        return np.searchsorted(self.classes_, y)
