"""``pegasos datasets``: the sets that go by name, and fetching them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from pegasos.cli import completion, options
from pegasos.cli.exits import FINE, stoppable
from pegasos.cli.help import examples
from pegasos.cli.inputs import SET, TEST, fetched
from pegasos.cli.learning import shape_of, shape_text
from pegasos.cli.outputs import PACKED
from pegasos.cli.report import print_json, print_table
from pegasos.cli.screen import Screen
from pegasos.cli.values import count, span

NAME = "datasets"
app = typer.Typer(
    help="List the data sets that go by name, and fetch them.",
    invoke_without_command=True,
    epilog=examples(
        ("pegasos datasets", "what there is"),
        ("pegasos datasets fetch a9a", "bring one into the cache"),
        ("pegasos train dataset:a9a --test dataset:a9a:test", "use one; it is fetched if needed"),
    ),
)


@app.callback()
@stoppable
def listing(context: typer.Context, json: options.Json = False) -> int:
    """The table of all sets, where no other command is given."""
    if context.invoked_subcommand is not None:
        return FINE
    from pegasos.datasets import describe, names

    found = [describe(name) for name in names()]
    if json:
        print_json({"datasets": [_facts(one) for one in found]})
        return FINE
    print_table(
        ["name", "rows", "features", "here", "where from"],
        [_row(one) for one in found],
        left=(0, 3, 4),
    )
    return FINE


@app.command(
    "fetch",
    help="Bring a set into the cache, all of its parts.",
    epilog=examples(("pegasos datasets fetch a9a", "its train and its test rows")),
)
def fetch(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="As the list has it.",
            autocompletion=completion.data_sets,
            show_default=False,
        ),
    ],
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    return stoppable(_fetch)(name, json, quiet)


def _fetch(name: str, json: bool, quiet: bool) -> int:
    """Fetch each part, which also checks it."""
    from pegasos.datasets import describe

    screen = Screen(quiet)
    parts = {}
    for split in describe(name).rows:
        begun = time.perf_counter()
        data = fetched(f"{SET}{name}" + (TEST if split == "test" else ""), screen, "float32")
        screen.tell(f"{name}, {split}: {shape_text(data)}, {span(time.perf_counter() - begun)}")
        for note in data.notes:
            screen.tell(f"  {note}")
        parts[split] = {**shape_of(data), "notes": list(data.notes)}
    if json:
        print_json({"name": name, "parts": parts})
    else:
        screen.tell(f"use it as dataset:{name}")
    return FINE


def _facts(one: Any) -> dict[str, Any]:
    return {
        "name": one.name,
        "about": one.about,
        "rows": one.rows,
        "features": one.features,
        "classes": one.classes,
        "source": one.source,
        "here": where(one),
        "unobtainable": one.unobtainable,
    }


def _row(one: Any) -> list[str]:
    place = where(one) or ("cannot be had" if one.unobtainable else "–")
    return [one.name, count(one.rows["train"]), count(one.features), place, one.source]


def where(one: Any) -> str | None:
    """Whether the training rows are here: in the folder of PEGASOS_DATA, or in the cache."""
    from pegasos.datasets import folder, home

    files = one.files.get("train", ())
    if not files:
        return None  # scikit-learn keeps it in a folder of its own
    own = folder()
    if own is not None and all(_one_of(own, file.names) for file in files):
        return "PEGASOS_DATA"
    cached = [file.url is not None and home() / file.url.rsplit("/", 1)[1] for file in files]
    return "cache" if all(path and path.is_file() for path in cached) else None


def _one_of(folder: Path, names: tuple[str, ...]) -> bool:
    return any((folder / (name + end)).is_file() for name in names for end in ("", *PACKED))
