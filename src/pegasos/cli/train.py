"""``pegasos train``: from data to a certified model in a file."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pegasos.cli import completion, options
from pegasos.cli import training_options as given
from pegasos.cli.exits import FINE, INTERRUPTED, SHORT, USAGE, Usage, say
from pegasos.cli.help import examples
from pegasos.cli.inputs import Reading, index_base, kind_of, open_data, read_parts
from pegasos.cli.judge import Judged, judge
from pegasos.cli.learning import Fit, Wish, fit, shape_of, shape_text
from pegasos.cli.outputs import (
    CHECKPOINT,
    check_can_write,
    check_checkpoint,
    keep_model,
    model_path,
    refuse_clash,
)
from pegasos.cli.report import label_value, print_json
from pegasos.cli.screen import Screen
from pegasos.cli.spelling import for_shell
from pegasos.cli.trial import try_out
from pegasos.cli.values import class_weights, in_words, one_of, seconds, size, span

NAME = "train"
HELP = "Train a model until it is [bold]proved[/] to be within the tolerance of the optimum."
EPILOG = examples(
    ("pegasos train a9a.svm", "hinge loss, C = 1; the model goes to a9a.pegasos"),
    ("pegasos train rcv1.svm.xz --lam 1e-4 --bias none --test rcv1.t.svm.xz",
     "λ in place of C, no intercept, and the accuracy on other rows"),
    ("pegasos train big.store --checkpoint big.run --max-seconds 8h",
     "data larger than memory, a limit; --resume goes on after a break"),
    ("pegasos train houses.csv --task regress --target price --categorical town",
     "a table, with a number as the target"),
)  # fmt: skip


def command(
    source: options.Source,
    model: given.ModelFile = None,
    task: given.Task = "classify",
    C: given.C = None,
    lam: given.Lam = None,
    loss: given.Loss = None,
    epsilon: given.Epsilon = None,
    solver: given.Solver = "auto",
    bias: given.Bias = "free",
    multi_class: given.MultiClass = None,
    class_weight: given.ClassWeight = None,
    seed: given.Seed = 0,
    jobs: given.Jobs = None,
    tol: given.Tol = 1e-3,
    max_passes: given.MaxPasses = 1000.0,
    max_seconds: given.MaxSeconds = None,
    memory: options.Memory = None,
    scratch: options.Scratch = None,
    dtype: options.Dtype = "float32",
    features: options.Features = None,
    zero_based: options.ZeroBased = "auto",
    target: options.Target = None,
    columns: options.Columns = None,
    categorical: options.Categorical = None,
    weights: options.Weights = None,
    test: given.Test = None,
    checkpoint: given.Checkpoint = None,
    resume: given.Resume = False,
    format: given.Format = "pegasos",
    json: options.Json = False,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> int:
    """Check all that can be checked, read, train, save, test, and say how it went."""
    reading = Reading.of(
        dtype=dtype, features=features, zero_based=zero_based, target=target, columns=columns,
        categorical=categorical, weights=weights,
    )  # fmt: skip
    wish = _wish(
        task, bias, class_weight, C=C, lam=lam, loss=loss, epsilon=epsilon, solver=solver, tol=tol,
        multi_class=multi_class, random_state=seed, n_jobs=jobs, max_passes=max_passes,
        max_seconds=seconds(max_seconds), checkpoint=checkpoint, resume=resume,
    )  # fmt: skip
    path = model_path(source, model, one_of("--format", format, completion.FORMATS))
    if multi_class == "ovo":
        _check_format(format, SimpleNamespace(multi_class="ovo"), range(3))
    _check_files(source, test, path, checkpoint, resume, force)
    screen = Screen(quiet)
    with open_data(source, reading, screen, size(memory), scratch) as (data, read_seconds):
        run = _trained(wish, data, read_seconds, source, format, screen)
    with run.timing("saving"):
        keep_model(run.done.model, path, format, force, run.index_base)
    if test is not None and not run.done.interrupted:
        with run.timing("testing"):
            run.test(test, reading, screen)
    if json:
        print_json({"model": str(path), "format": format, **run.answer()})
    run.tell(screen, path, checkpoint)
    return run.code()


def _wish(task: str, bias: str, class_weight: str | None, **chosen: Any) -> Wish:
    """The options of the estimator; those that mean nothing for the task are refused."""
    one_of("--task", task, completion.TASKS)
    one_of("--bias", bias, completion.BIASES)
    if chosen["C"] is not None and chosen["lam"] is not None:
        raise Usage("give -C or --lam, not both: they are the same (λ = 1/(C·rows))")
    only = {
        "classify": {"--multi-class": chosen["multi_class"], "--class-weight": class_weight,
                     "--jobs": chosen["n_jobs"]},
        "regress": {"--epsilon": chosen["epsilon"]},
    }  # fmt: skip
    for its_task, its_options in only.items():
        for name, value in its_options.items():
            if its_task != task and value is not None:
                raise Usage(f"{name} means nothing for --task {task}: leave it out")
    if chosen["resume"] and chosen["checkpoint"] is None:
        raise Usage("--resume goes on from a checkpoint: say which with --checkpoint FILE")
    if chosen["multi_class"] is not None:
        one_of("--multi-class", chosen["multi_class"], completion.SCHEMES)
    try_out(
        [chosen["solver"]], task, bias=bias, C=chosen["C"], lam=chosen["lam"],
        loss=chosen["loss"], epsilon=chosen["epsilon"], seed=chosen["random_state"],
        jobs=chosen["n_jobs"], tol=chosen["tol"], max_passes=chosen["max_passes"],
    )  # fmt: skip
    chosen = {name: value for name, value in chosen.items() if value is not None}
    return Wish(task, bias, class_weights(class_weight), chosen)


def _check_files(
    source: str, test: str | None, path: Path, checkpoint: str | None, resume: bool, force: bool
) -> None:
    """What is to be written can be written and takes nothing away; what is to be read is there."""
    refuse_clash({"--model": path, CHECKPOINT: checkpoint}, {"DATA": source, "--test": test})
    check_can_write(path, force)
    check_checkpoint(checkpoint, resume, force)
    if test is not None:
        kind_of(test)


def _check_format(format: str, estimator: Any, y: Any) -> None:
    """Refuse before the training what could not be saved after it: by a trial, of zeros."""
    import numpy as np

    from pegasos.models import save_model
    from pegasos.models.fitted import n_problems, unproved

    classes, count, scheme = None, 1, "ovr"
    if hasattr(estimator, "multi_class"):
        classes, scheme = np.unique(y), estimator.multi_class
        count = n_problems(classes.size, scheme)
    trial = unproved(np.zeros((count, 1)), np.zeros(count), "nothing", classes)
    trial._scheme_of_fit = scheme
    with tempfile.TemporaryDirectory() as folder:
        save_model(trial, Path(folder) / "trial", format=format)


@dataclass
class _Run:
    """A training: what it came to, and what was said of it."""

    done: Fit
    facts: dict[str, Any]
    notes: list[str]
    index_base: int | None
    spent: dict[str, float]
    judged: tuple[str, Judged] | None = None  # on which rows, and how
    fault: str = ""

    @contextlib.contextmanager
    def timing(self, name: str) -> Iterator[None]:
        """Note how long something takes."""
        begun = time.perf_counter()
        yield
        self.spent[name] = time.perf_counter() - begun

    def test(self, source: str, reading: Reading, screen: Screen) -> None:
        """How good the model is on other rows; or why that cannot be said, now that it is saved."""
        reading = reading.for_test(source, self.index_base)
        try:
            found = judge(self.done.model, read_parts(source, reading, screen, self.done.model))
            self.judged = source, found
        except (ValueError, OSError) as error:
            self.fault = f"the model is saved, but not tested: {for_shell(str(error))}"

    def answer(self) -> dict[str, Any]:
        """What ``--json`` says."""
        model = self.done.model
        answer = {
            "converged": bool(model.converged_),
            "interrupted": self.done.interrupted,
            "certificate": model.certificate_,
            "passes": model.n_passes_,
            "seconds": self.spent,
            "data": self.facts,
            "notes": list(dict.fromkeys(note.strip() for note in self.notes)),
        }
        if hasattr(model, "classes_"):
            answer["data"]["classes"] = [label_value(label) for label in model.classes_]
            if len(model.certificates_) > 1:
                answer["certificates"] = model.certificates_
        if self.judged is not None:
            answer["test"] = self.judged[1].to_dict()
        return answer

    def tell(self, screen: Screen, path: Path, checkpoint: str | None) -> None:
        """The end of a training, for people."""
        model = self.done.model
        proof, problems = model.certificate_, len(model.certificates_)
        verdict = in_words(proof.relative_gap)
        verdict += "" if problems == 1 else f" (the worst of {problems})"
        if self.done.interrupted:
            screen.tell(f"interrupted; the best model so far is {verdict}", "yellow")
        elif model.converged_:
            screen.tell(verdict[0].upper() + verdict[1:], "bold green")
        else:
            screen.tell(f"not converged: {for_shell(model.summary_)}", "yellow")
        screen.tell(
            f"  primal {proof.primal:.10g}, dual {proof.dual:.10g}, relative gap "
            f"{proof.relative_gap:.1e}, {model.n_passes_:.1f} passes"
        )
        if self.judged is not None:
            screen.tell(f"  on {self.judged[0]}: {self.judged[1].sentence()}")
        parts = ", ".join(f"{name} {span(seconds)}" for name, seconds in self.spent.items())
        screen.tell(f"  {parts}")
        screen.tell(f"  model: {path}")
        if self.done.interrupted and checkpoint is not None:
            screen.tell(f"  go on with --checkpoint {checkpoint} --resume --force")

    def code(self) -> int:
        """How it ended, for the shell; and the fault, for people."""
        if self.fault:
            say(self.fault)
            return USAGE
        if self.done.interrupted:
            return INTERRUPTED
        return FINE if self.done.model.converged_ else SHORT


def _trained(
    wish: Wish, data: Any, read_seconds: float, source: str, format: str, screen: Screen
) -> _Run:
    """Train on rows that are there."""
    estimator = wish.estimator(data.y, source)
    _check_format(format, estimator, data.y)
    done = fit(estimator, data, screen, f"training on {source}: {shape_text(data)}")
    return _Run(
        done,
        facts={"source": source, **shape_of(data)},
        notes=[*screen.notes, *data.notes, *done.notes],
        index_base=index_base(data.notes),
        spent={"reading": read_seconds, "training": done.seconds},
    )
