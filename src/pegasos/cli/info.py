"""``pegasos info``: what a data file, a store or a model is."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from json import loads
from typing import Annotated, Any

import numpy as np
import typer

from pegasos.cli import options, values
from pegasos.cli.exits import FINE, Usage
from pegasos.cli.help import examples
from pegasos.cli.inputs import SET, TABLES, WORDS, Reading, kind_of, local, read_parts
from pegasos.cli.report import label_text, label_value, print_facts, print_json
from pegasos.cli.screen import Screen
from pegasos.cli.spelling import for_shell
from pegasos.cli.values import bytes_of, count, in_words
from pegasos.cli.views import Moving

NAME = "info"
HELP = "Say what a data file, a store or a model is."
EPILOG = examples(
    ("pegasos info a9a.svm", "rows, features, labels with their counts, range of the values"),
    ("pegasos info rcv1.store --verify", "also whether every byte is as it was written"),
    ("pegasos info a9a.pegasos --json", "a model: parameters, classes, certificate"),
)
MOST_LABELS, SHOWN_LABELS = 1000, 20


def command(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="Data, a store or a model; - is stdin.",
            callback=values.source,
            show_default=False,
        ),
    ],
    verify: Annotated[
        bool, typer.Option("--verify", help="Read all of a store and check its sums.")
    ] = False,
    features: options.Features = None,
    zero_based: options.ZeroBased = "auto",
    target: options.Target = None,
    columns: options.Columns = None,
    categorical: options.Categorical = None,
    weights: options.Weights = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Look, and tell."""
    reading = Reading.of(
        features=features, zero_based=zero_based, target=target, columns=columns,
        categorical=categorical, weights=weights,
    )  # fmt: skip
    model, run = is_model(path), checkpoint_header(path)
    kind = "model" if model else "checkpoint" if run else kind_of(path)
    if verify and kind != "store":
        raise Usage(f"--verify is for a store, and {path} is none: leave it out")
    if model:
        facts, told = _of_model(path)
    elif run:
        facts, told = _of_checkpoint(path, run)
    elif kind == "store":
        facts, told = _of_store(path, verify, Screen(quiet))
    else:
        facts, told = _of_data(path, kind, reading, Screen(quiet))
    if json:
        print_json({"path": path, **facts})
    else:
        print_facts(path, told)
    return FINE


def is_model(path: str) -> bool:
    """Whether a file begins like a model."""
    if path.startswith(SET) or not os.path.isfile(path):
        return False
    from pegasos.models import container, liblinear, svm_light

    with open(path, "rb") as file:
        head = file.read(1024)
    texts = (liblinear.BEGINNING, svm_light.BEGINNING)
    return head.startswith(texts) or container.looks_like(head)


def checkpoint_header(path: str) -> dict[str, Any]:
    """What the checkpoint of a run says of itself; nothing if a file is none."""
    if path.startswith(SET) or not os.path.isfile(path):
        return {}
    with open(path, "rb") as file:
        if file.read(4) != b"PK\x03\x04":  # NumPy's npz is a zip archive
            return {}
    from pegasos.driver import FORMAT

    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = loads(arrays["header"].tobytes())
        return found if found["format"] == FORMAT else {}
    except Exception:  # whatever else it is: NumPy and JSON say that in many ways
        return {}


def _of_checkpoint(path: str, header: dict[str, Any]) -> Told:
    solver, trace = str(header.get("solver")), header.get("trace") or {}
    passes, gaps = trace.get("passes") or [0.0], trace.get("relative_gap") or [np.inf]
    facts = {
        "kind": "checkpoint",
        "solver": solver,
        "stopped": header.get("stopped") or None,
        "seconds": header.get("seconds"),
        "passes": passes[-1],
        "relative_gap": min(gaps),
    }
    told = [
        ("what", f"the checkpoint of a run, {bytes_of(os.path.getsize(path))}"),
        ("solver", solver),
        ("so far", f"{passes[-1]:.1f} passes, relative gap {min(gaps):.1e}"),
        ("go on with", "the same command and --resume --force"),
    ]
    return facts, told


Told = tuple[dict[str, Any], list[tuple[str, str]]]  # for machines, and for people


def _of_model(path: str) -> Told:
    from pegasos.models import load_model
    from pegasos.models.native import SESSION

    model = load_model(path)
    proof = model.certificate_
    weight = {"C": 1.0} if model.C is None and model.lam is None else {}
    given = weight | {
        name: value
        for name, value in model.get_params(deep=False).items()
        if value is not None and name not in ("verbose", *SESSION)
    }
    facts = {
        "kind": "model",
        "estimator": type(model).__name__,
        "features": model.n_features_in_,
        "index_base": getattr(model, "index_base_", None),
        "nonzero_coefficients": int(np.count_nonzero(model.coef_)),
        "converged": bool(model.converged_),
        "certificate": proof,
        "parameters": {name: _parameter(value) for name, value in given.items()},
        "summary": model.summary_,
    }
    told = [
        ("what", f"a model: {facts['estimator']}"),
        ("features", count(facts["features"])),
        ("coefficients", f"{count(facts['nonzero_coefficients'])} are not zero"),
    ]
    if facts["index_base"] is not None:
        told.append(("indices", f"of the text it was trained on count from {facts['index_base']}"))
    if hasattr(model, "classes_"):
        facts["classes"] = [label_value(label) for label in model.classes_]
        told.append(("classes", _some([label_text(label) for label in model.classes_])))
    if np.isfinite(proof.primal):
        told += [
            ("objective", in_words(proof.relative_gap)),
            ("certificate", str(proof)),
        ]
    told.append(("fit", model.summary_))
    told.append(("parameters", ", ".join(f"{k}={v}" for k, v in facts["parameters"].items())))
    return facts, told


def _parameter(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str) else str(value)


def _of_store(path: str, verify: bool, screen: Screen) -> Told:
    from pegasos.data import store_header, verify_store

    about = store_header(path)
    if verify:
        view = Moving(f"verifying {path}")
        with screen.showing(view):
            verify_store(path, on_progress=lambda what, done, total: view.reached(done, total))
    labels = dict(zip(map(label_text, about["classes"] or []), about["class_counts"] or []))
    facts = {"kind": "store", "nonzeros": about.pop("nnz"), "layout": about.pop("kind"), **about}
    facts["labels"] = labels or None
    for name in ("classes", "class_counts"):
        facts.pop(name)
    if verify:
        facts["verified"] = True
    seed = about["shuffled"]
    order = "order as given" if seed is None else f"order random, seed {seed}"
    size = bytes_of(about["bytes"])
    told = [
        ("what", f"a store, {size}, {facts['layout']}, {about['dtype']}"),
        *_shape(about["rows"], about["features"], facts["nonzeros"]),
        ("blocks", f"{count(about['block_rows'])} rows each, {order}"),
        *_labels(labels),
        *[("note", note) for note in about["notes"]],
        ("written by", about["made_with"]),
    ]
    if verify:
        told.append(("verified", "every byte is as it was written"))
    return facts, told


@dataclass
class _Seen:
    """What is found in rows that come in parts."""

    rows: int = 0
    features: int = 0
    nonzeros: int = 0
    counts: dict[Any, int] | None = field(default_factory=dict)
    values: list[float] = field(default_factory=lambda: [np.inf, -np.inf])
    norms: list[float] = field(default_factory=lambda: [np.inf, -np.inf])
    targets: list[float] = field(default_factory=lambda: [np.inf, -np.inf])
    layout: str = ""
    names: tuple[str, ...] | None = None
    notes: list[str] = field(default_factory=list)

    def add(self, data: Any) -> None:
        from pegasos.rows import take_in

        X = data.X
        self.rows += X.shape[0]
        self.features = max(self.features, X.shape[1])
        stored = X.data if hasattr(X, "tocsr") else X
        self.layout = "sparse" if hasattr(X, "tocsr") else "dense"
        self.nonzeros += int(np.count_nonzero(stored))
        _widen(self.values, stored)
        if min(X.shape) > 0:
            _widen(self.norms, np.sqrt(take_in(X).squared_norms))
        self.names = data.feature_names
        self.notes += [note for note in data.notes if note not in self.notes]
        if data.y is not None:
            self._count(data.y)

    def _count(self, y: np.ndarray) -> None:
        if y.dtype.kind in "biuf":
            _widen(self.targets, y)
        if self.counts is None:
            return
        for label, number in zip(*np.unique(y, return_counts=True)):
            self.counts[label.item()] = self.counts.get(label.item(), 0) + int(number)
        if len(self.counts) > MOST_LABELS:
            self.counts = None


def _widen(bounds: list[float], values: np.ndarray) -> None:
    if values.size:
        bounds[:] = min(bounds[0], float(values.min())), max(bounds[1], float(values.max()))


def _of_columns(path: str, kind: str, why: str) -> Told:
    """A table that cannot be read as rows yet, as nobody has said what its columns are for."""
    from pegasos.data.tables import columns_of

    columns = columns_of(local(path), kind)
    size = os.path.getsize(local(path))
    facts = {
        "kind": WORDS[kind].removeprefix("a ").removeprefix("an "),
        "bytes": size,
        "columns": columns,
        "notes": [why],
    }
    told = [
        ("what", f"{WORDS[kind]}, {bytes_of(size)}"),
        ("columns", _some([f"{name}: {what}" for name, what in columns.items()], "\n")),
        ("to train", why),
    ]
    return facts, told


def _objection(path: str, kind: str, reading: Reading) -> str:
    """Why the columns of a table, as they are, do not become rows; "" if they do."""
    from pegasos.data import DataError, iter_load

    try:
        iter_load(path, **reading.for_kind(kind, path))
    except DataError as error:
        return for_shell(str(error))
    return ""


def _of_data(path: str, kind: str, reading: Reading, screen: Screen) -> Told:
    if kind in TABLES and (why := _objection(path, kind, reading)):
        return _of_columns(path, kind, why)
    seen = _Seen()
    for data in read_parts(path, reading, screen):
        seen.add(data)
    size = os.path.getsize(path) if os.path.isfile(path) else None
    labels = None
    if seen.counts:
        labels = {label_text(label): seen.counts[label] for label in sorted(seen.counts)}
    facts = {
        "kind": WORDS[kind].removeprefix("a ").removeprefix("an "),
        "rows": seen.rows,
        "features": seen.features,
        "nonzeros": seen.nonzeros,
        "layout": seen.layout,
        "bytes": size,
        "labels": labels,
        "values": seen.values,
        "norms": seen.norms,
        "feature_names": seen.names,
        "notes": seen.notes,
    }
    told = [
        ("what", WORDS[kind] + (f", {bytes_of(size)}" if size else "") + f", {seen.layout}"),
        *_shape(seen.rows, seen.features, seen.nonzeros),
        *_labels(labels or {}),
    ]
    if not labels and np.isfinite(seen.targets).all():
        told.append(("targets", "from {:.6g} to {:.6g}".format(*seen.targets)))
    if seen.rows and np.isfinite(seen.values).all():
        told.append(("values", "from {:.6g} to {:.6g}".format(*seen.values)))
        told.append(("norms of rows", "from {:.6g} to {:.6g}".format(*seen.norms)))
    if seen.names:
        told.append(("columns", _some(list(seen.names))))
    return facts, [*told, *[("note", note) for note in seen.notes]]


def _shape(rows: int, features: int, nonzeros: int) -> list[tuple[str, str]]:
    per_row, share = nonzeros / max(rows, 1), nonzeros / max(rows * features, 1)
    return [
        ("rows", count(rows)),
        ("features", count(features)),
        (
            "nonzeros",
            f"{count(nonzeros)}: {per_row:.1f} a row, {100 * share:.3g} %",
        ),
    ]


def _labels(labels: dict[str, int]) -> list[tuple[str, str]]:
    if not labels:
        return []
    total = sum(labels.values())
    told = [f"{label}: {count(n)} ({100 * n / total:.1f} %)" for label, n in labels.items()]
    return [("labels", _some(told, "\n" if len(told) <= SHOWN_LABELS else ", "))]


def _some(words: list[str], between: str = ", ") -> str:
    more = f" and {len(words) - SHOWN_LABELS} more" if len(words) > SHOWN_LABELS else ""
    return between.join(words[:SHOWN_LABELS]) + more
