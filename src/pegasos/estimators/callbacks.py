"""scikit-learn's callbacks (from 1.9), fed by the driver's events.

One binary problem: the fit is a task, and each look at the certificate is a task in it. Several
problems: each of them is a task.
"""

from __future__ import annotations

import functools
import importlib.util
import threading
from collections.abc import Callable
from typing import Any

from pegasos.driver import Event


class CallbackSupport:
    """scikit-learn's ``CallbackSupportMixin``, imported only once there are callbacks."""

    if importlib.util.find_spec("sklearn.callback") is not None:

        def set_callbacks(self, *callbacks: Any) -> Any:
            """Set callbacks for the estimator.

            Parameters
            ----------
            *callbacks : callback instances
                Such as ``sklearn.callback.ProgressBar()``.

            Returns
            -------
            self : estimator instance
                The estimator.
            """
            from sklearn.callback import CallbackSupportMixin

            return CallbackSupportMixin.set_callbacks(self, *callbacks)


def has_callbacks(estimator: Any) -> bool:
    """Whether someone listens: callbacks of its own, or those of a pipeline or search around it."""
    return hasattr(estimator, "_skl_callbacks") or hasattr(estimator, "_parent_callback_ctx")


def with_callbacks(fit: Callable) -> Callable:
    """Let scikit-learn wind the callbacks up after ``fit``, however it ends."""

    @functools.wraps(fit)
    def managed(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        if not has_callbacks(estimator):
            return fit(estimator, *args, **kwargs)
        from sklearn.callback import with_callbacks

        return with_callbacks(fit)(estimator, *args, **kwargs)

    return managed


class FitTasks:
    """Tells the callbacks of an estimator where its fit stands."""

    def __init__(self, estimator: Any, n_problems: int, data: dict[str, Any]):
        self.estimator = estimator
        self.data = data
        self.single = n_problems == 1
        from sklearn.callback import CallbackSupportMixin

        self.context = CallbackSupportMixin._init_callback_context(
            estimator,
            max_subtasks=None if self.single else n_problems,
            sequential_subtasks=self.single,
        )
        self.at_work: dict[int, tuple[int, Any]] = {}  # thread: its problem and that one's task
        self.lock = threading.Lock()
        self.context.call_on_fit_task_begin(estimator=estimator, **data)

    def __call__(self, event: Event) -> None:
        if event.kind != "look":
            return
        with self.lock:
            if self.single:
                self._end(self._begin("look", None))
            else:
                self._at_work_on(event.problem)

    def close(self) -> None:
        """No problem is at work any more."""
        with self.lock:
            for _, task in self.at_work.values():
                self._end(task)
            self.at_work.clear()

    def fitted(self) -> None:
        """The estimator holds its attributes."""
        self.context.call_on_fit_task_end(
            estimator=self.estimator, reconstruction_attributes={}, **self.data
        )

    def _at_work_on(self, problem: int) -> None:
        """A thread works on one problem at a time: its next problem ends the one before."""
        thread = threading.get_ident()
        before = self.at_work.get(thread)
        if before is not None and before[0] == problem:
            return
        if before is not None:
            self._end(before[1])
        self.at_work[thread] = problem, self._begin("binary-problem", problem)

    def _begin(self, name: str, number: int | None) -> Any:
        task = self.context.subcontext(task_name=name, task_id=number)
        return task.call_on_fit_task_begin(estimator=self.estimator, **self.data)

    def _end(self, task: Any) -> None:
        task.call_on_fit_task_end(estimator=self.estimator, **self.data)


def tasks_of(estimator: Any, n_problems: int, X: Any, y: Any, sample_weight: Any):
    """The tasks of a fit, or None where no callback listens."""
    if not has_callbacks(estimator):
        return None
    metadata = None if sample_weight is None else {"sample_weight": sample_weight}
    return FitTasks(estimator, n_problems, {"X": X, "y": y, "metadata": metadata})
