"""``make bench``: seconds to the same true accuracy, ours and the peers', side by side in one run.

Four tables: no bias; a penalised bias, the same objective for all that have one; the free bias,
which is ours alone, against our own time without; and each library as people call it. What was
measured before is not measured again (``--fresh`` does); ``make bench ARGS="--only a9a,imdb"``
selects.
"""

from __future__ import annotations

import argparse

import contest
from contest import Task
from contestants import CONTESTANTS, check_mappings
from data import text_like
from prefetch import ratio_of_passes
from threadpoolctl import threadpool_limits

TARGETS = (1e-2, 1e-3, 1e-4, 1e-6)
ALL = tuple(CONTESTANTS)
WITH_BIAS = tuple(name for name, peer in CONTESTANTS.items() if "feature" in peer.biases)

PROBLEMS: list[tuple[str, dict[str, float]]] = [
    ("a9a", {"C": 1.0}),
    ("a9a", {"C": 30.0}),
    ("covtype", {"lam": 1e-6}),
    ("covtype", {"C": 0.01}),
    ("covtype-raw", {"C": 1.0}),
    ("covtype-dense", {"lam": 1e-6}),
    ("ijcnn1", {"C": 1.0}),
    ("imdb", {"C": 0.05}),
    ("imdb", {"C": 1.0}),
    ("imdb", {"C": 10.0}),
    ("reuters_moneyfx", {"C": 1.0}),
    ("text-200k", {"lam": 1e-4}),
    ("text-200k", {"C": 1.0}),
    ("text-800k", {"lam": 1e-4}),
    ("text-800k", {"C": 1.0}),
]
AS_CALLED = ("a9a", "covtype", "ijcnn1", "imdb", "reuters_moneyfx", "text-200k")
LARGE = ("text-800k", "covtype-dense", "covtype-raw")  # not in the second table

BLOCKS = {
    "none": "No bias",
    "feature": "A penalised bias",
    "free": "The free bias, ours alone: × is to our time without a bias",
    "called": "As people call it: defaults, an intercept where that is the default, conversions "
    "of the input inside the clock",
}


def tasks() -> list[Task]:
    found = [Task(data, "none", ALL, TARGETS, **strength) for data, strength in PROBLEMS]
    found += [
        Task(data, "feature", WITH_BIAS, TARGETS, **strength)
        for data, strength in PROBLEMS
        if data not in LARGE
    ]
    found += [
        Task(data, "free", ("without", "pegasos"), TARGETS, **strength)
        for data, strength in PROBLEMS
    ]
    return found + [Task(data, "called", ALL, ()) for data in AS_CALLED]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="names of sets, with commas between them")
    parser.add_argument("--fresh", action="store_true", help="measure again what was measured")
    given = parser.parse_args()
    with threadpool_limits(1):
        contest.alone(lambda: check_mappings(*text_like(2_000, d=500, per_row=20)))
        contest.run(tasks(), BLOCKS, given.fresh, set(filter(None, given.only.split(","))))
        print("\n" + str(contest.alone(ratio_of_passes)))


if __name__ == "__main__":
    main()
