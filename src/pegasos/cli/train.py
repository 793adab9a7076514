"""``pegasos train``: from data to a certified model in a file."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from pegasos.cli import completion, options
from pegasos.cli import training_options as given
from pegasos.cli.exits import FINE, INTERRUPTED, SHORT, USAGE, OutputError, Usage, say
from pegasos.cli.help import examples
from pegasos.cli.inputs import Reading, kind_of, open_data, read_parts
from pegasos.cli.judge import Judged, judge
from pegasos.cli.learning import Fit, Wish, fit, shape_of, shape_text
from pegasos.cli.outputs import check_can_write, keep_model, model_path
from pegasos.cli.report import label_value, print_json
from pegasos.cli.screen import Screen
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
    check_can_write(path, force)
    _check_checkpoint(checkpoint, resume, force)
    if test is not None:
        kind_of(test)  # it is there, and is data
    screen = Screen(quiet)
    with open_data(source, reading, screen, size(memory), scratch) as (data, read_seconds):
        estimator = wish.estimator(data.y, source)
        _check_format(format, estimator, data.y)
        done = fit(estimator, data, screen, f"training on {source}: {shape_text(data)}")
        facts = {"source": source, **shape_of(data)}
        notes = [*screen.notes, *data.notes, *done.notes]
    begun = time.perf_counter()
    keep_model(done.model, path, format, force)
    spent = {"reading": read_seconds, "training": done.seconds}
    spent["saving"] = time.perf_counter() - begun
    found, fault = None, ""
    if test is not None and not done.interrupted:
        begun = time.perf_counter()
        found, fault = _tested(done.model, test, reading.for_test(test, notes), screen)
        spent["testing"] = time.perf_counter() - begun
    if json:
        print_json(_answer(path, format, done, facts, notes, spent, found))
    _tell(screen, path, done, spent, test, found, checkpoint)
    if fault:
        say(fault)
        return USAGE
    if done.interrupted:
        return INTERRUPTED
    return FINE if done.model.converged_ else SHORT


def _tested(model: Any, test: str, reading: Reading, screen: Screen) -> tuple[Judged | None, str]:
    """How good the model is on other rows; or why that cannot be said, now that it is saved."""
    try:
        return judge(model, read_parts(test, reading, screen, model)), ""
    except (ValueError, OSError) as error:
        return None, f"the model is saved, but not tested: {error}"


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
    from pegasos.solvers import as_solver

    as_solver(chosen["solver"])
    chosen = {name: value for name, value in chosen.items() if value is not None}
    return Wish(task, bias, class_weights(class_weight), chosen)


def _check_checkpoint(checkpoint: str | None, resume: bool, force: bool) -> None:
    """An earlier run is neither lost nor gone on with unasked."""
    if checkpoint is None:
        return
    path = Path(checkpoint)
    there = [path, Path(f"{path}.0")]
    if not resume:
        for file in there:
            if file.exists() and not force:
                raise OutputError(
                    f"{file} exists: --resume goes on with that run, --force begins anew"
                )
    check_can_write(path, force=True)


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


def _answer(
    path: Path,
    format: str,
    done: Fit,
    facts: dict[str, Any],
    notes: list[str],
    spent: dict[str, float],
    found: Judged | None,
) -> dict[str, Any]:
    """What ``--json`` says."""
    model = done.model
    answer = {
        "model": str(path),
        "format": format,
        "converged": bool(model.converged_),
        "interrupted": done.interrupted,
        "certificate": model.certificate_,
        "passes": model.n_passes_,
        "seconds": spent,
        "data": facts,
        "notes": list(dict.fromkeys(note.strip() for note in notes)),
    }
    if hasattr(model, "classes_"):
        answer["data"]["classes"] = [label_value(label) for label in model.classes_]
        if len(model.certificates_) > 1:
            answer["certificates"] = model.certificates_
    if found is not None:
        answer["test"] = found.to_dict()
    return answer


def _tell(
    screen: Screen,
    path: Path,
    done: Fit,
    spent: dict[str, float],
    test: str | None,
    found: Judged | None,
    checkpoint: str | None,
) -> None:
    """The end of a training, for people."""
    model = done.model
    proof = model.certificate_
    worst = "" if len(model.certificates_) == 1 else f" (the worst of {len(model.certificates_)})"
    verdict = in_words(proof.relative_gap) + worst
    if done.interrupted:
        screen.tell(f"interrupted; the best model so far is {verdict}", "yellow")
    elif model.converged_:
        screen.tell(verdict[0].upper() + verdict[1:], "bold green")
    else:
        screen.tell(f"not converged: {model.summary_}", "yellow")
    screen.tell(
        f"  primal {proof.primal:.10g}, dual {proof.dual:.10g}, relative gap "
        f"{proof.relative_gap:.1e}, {model.n_passes_:.1f} passes"
    )
    if found is not None:
        screen.tell(f"  on {test}: {found.sentence()}")
    parts = ", ".join(f"{name} {span(seconds)}" for name, seconds in spent.items())
    screen.tell(f"  {parts}")
    screen.tell(f"  model: {path}")
    if done.interrupted and checkpoint is not None:
        screen.tell(f"  go on with --checkpoint {checkpoint} --resume --force")
