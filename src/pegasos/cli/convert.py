"""``pegasos convert``: any data to a store, or to svmlight text."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from pegasos.cli import completion, options
from pegasos.cli.exits import FINE, Usage
from pegasos.cli.help import examples
from pegasos.cli.inputs import Reading, read_parts
from pegasos.cli.learning import nonzeros
from pegasos.cli.outputs import PACKED, check_can_write, refuse_clash
from pegasos.cli.report import print_json
from pegasos.cli.screen import Screen
from pegasos.cli.values import bytes_of, count, one_of, span

NAME = "convert"
HELP = "Turn any data into a store, for training beyond memory, or into svmlight text."
EPILOG = examples(
    ("pegasos convert rcv1.svm.xz rcv1.store", "to a store: training on it opens it at once"),
    ("pegasos convert clicks.parquet clicks.store --shuffle --seed 7", "in random order"),
    ("pegasos convert rcv1.store rcv1.svm.gz", "back to text, compressed by its name"),
)
TEXT_ENDINGS = (".svm", ".svmlight", ".libsvm", ".txt", ".dat")
OTHER_ENDINGS = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".ipc", ".npy", ".npz",
                 ".pegasos", ".onnx")  # fmt: skip
KINDS = ("store", "svmlight")


Destination = Annotated[
    str,
    typer.Argument(
        metavar="DEST",
        help="A folder for the store; or a text file: its name ends with .svm, .svmlight, "
        ".libsvm, .txt or .dat, and .gz, .bz2, .xz or .zst behind it compresses.",
        show_default=False,
    ),
]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="KIND",
        help="store or svmlight, whatever the name.",
        autocompletion=completion.among(KINDS),
    ),
]
Shuffle = Annotated[bool, typer.Option("--shuffle", help="Store the rows in random order.")]
Seed = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="Of the random order; 0 if not given.")
]
BlockRows = Annotated[
    int | None,
    typer.Option(
        "--block-rows", metavar="N", help="Rows of a block; by default a megabyte of them, or less."
    ),
]
Dtype = Annotated[
    str | None,
    typer.Option(
        "--dtype",
        metavar="TYPE",
        help="Values as float32 or float64; otherwise float32 in a store (a store that is read "
        "keeps its own), and float64 in text, which loses no digit.",
        autocompletion=completion.among(completion.DTYPES),
        rich_help_panel=options.READING,
    ),
]


def command(
    source: options.Source,
    destination: Destination,
    to: To = None,
    shuffle: Shuffle = False,
    seed: Seed = None,
    block_rows: BlockRows = None,
    dtype: Dtype = None,
    features: options.Features = None,
    zero_based: options.ZeroBased = "auto",
    target: options.Target = None,
    columns: options.Columns = None,
    categorical: options.Categorical = None,
    weights: options.Weights = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> int:
    """Read in chunks and write them, in bounded memory."""
    kind = _kind(destination, to)
    reading = Reading.of(
        dtype=dtype or _dtype(kind, source), features=features, zero_based=zero_based,
        target=target, columns=columns, categorical=categorical, weights=weights,
    )  # fmt: skip
    _refuse_ignored(kind, destination, shuffle, seed, block_rows)
    _check_destination(source, destination, kind, force)
    screen = Screen(quiet)
    begun = time.perf_counter()
    seen = _Seen()
    parts = seen.through(read_parts(source, reading, screen))
    path = Path(destination)
    _write(parts, path, kind, (seed or 0) if shuffle else None, block_rows, force)
    spent = time.perf_counter() - begun
    size = _size(path)
    if json:
        print_json({"source": source, "destination": destination, "kind": kind, "bytes": size,
                    "data": seen.facts(), "notes": seen.notes, "seconds": spent})  # fmt: skip
    screen.tell(
        f"{count(seen.rows)} rows × {count(seen.features)} features, {bytes_of(size)}, in "
        f"{span(spent)}: {destination}"
    )
    return FINE


def _refuse_ignored(
    kind: str, destination: str, shuffle: bool, seed: int | None, block_rows: int | None
) -> None:
    if seed is not None and not shuffle:
        raise Usage("--seed means nothing without --shuffle: leave it out")
    if kind == "svmlight" and (shuffle or block_rows is not None):
        option = "--shuffle" if shuffle else "--block-rows"
        raise Usage(f"{option} is for a store, and {destination} is text: leave it out")


def _check_destination(source: str, destination: str, kind: str, force: bool) -> None:
    """Refuse to write over the source. Only a store may take its own place, perhaps shuffled: it
    loses nothing, and is there until the new one is complete."""
    from pegasos.data import is_store

    itself = kind == "store" and is_store(source)
    refuse_clash({"DEST": destination}, {} if itself else {"DATA": source})
    check_can_write(Path(destination), force, folder_too=kind == "store")


def _write(
    parts: Iterator[Any],
    path: Path,
    kind: str,
    order: int | None,
    block_rows: int | None,
    force: bool,
) -> None:
    from pegasos.data import write_store, write_svmlight

    if kind == "store":
        write_store(path, parts, shuffle=order, block_rows=block_rows, force=force)
    else:
        write_svmlight(path, parts, force=force)


def _kind(destination: str, to: str | None) -> str:
    if to is not None:
        return one_of("--to", to, KINDS)
    name = destination.lower()
    packed = next((ending for ending in PACKED if name.endswith(ending)), "")
    name = name.removesuffix(packed)
    if name.endswith(OTHER_ENDINGS):
        raise Usage(
            f"{destination} has the name of a file that convert cannot write: it makes a store "
            "(such as rows.store) or svmlight text (rows.svm); --to says which, whatever the name"
        )
    return "svmlight" if packed or name.endswith(TEXT_ENDINGS) else "store"


def _dtype(kind: str, source: str) -> str:
    """The type of the values where none is asked for: text loses no digit, a store is compact."""
    from pegasos.data import is_store

    return "float64" if kind == "svmlight" and not is_store(source) else "float32"


@dataclass
class _Seen:
    """What goes by on the way from the source to the destination."""

    rows: int = 0
    features: int = 0
    nonzeros: int = 0
    notes: list[str] = field(default_factory=list)

    def through(self, parts: Iterable[Any]) -> Iterator[Any]:
        for data in parts:
            self.rows += data.X.shape[0]
            self.features = max(self.features, data.X.shape[1])
            self.nonzeros += nonzeros(data.X)
            self.notes += [note for note in data.notes if note not in self.notes]
            yield data

    def facts(self) -> dict[str, int]:
        return {"rows": self.rows, "features": self.features, "nonzeros": self.nonzeros}


def _size(path: Path) -> int:
    files = path.iterdir() if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files)
