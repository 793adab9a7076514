"""``make bench-unseen``: the contest on sets that nothing was tuned on, at 1e-3, C = 1 and 20.

Some are scikit-learn's, some generated, some real; dense and sparse, 8 to 47,117 features. They
are for looking at once: a policy that is tuned to them would need others.
"""

from __future__ import annotations

import argparse

import contest
from contest import Task
from threadpoolctl import threadpool_limits

NAMES = (
    "digits",
    "breast_cancer",
    "cpusmall",
    "abalone",
    "made-100k×50",
    "made-20k×500",
    "made-5k×2000",
    "fashion-0",
    "reuters2000",
    "rcv1_small",
    "20news-0",
)
CONTESTANTS = ("pegasos", "scikit-learn", "LIBLINEAR")
BLOCKS = {"none": "Sets that were not used in tuning, no bias"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="names of sets, with commas between them")
    parser.add_argument("--fresh", action="store_true", help="measure again what was measured")
    given = parser.parse_args()
    tasks = [Task(name, "none", CONTESTANTS, (1e-3,), C) for name in NAMES for C in (1.0, 20.0)]
    with threadpool_limits(1):
        contest.run(tasks, BLOCKS, given.fresh, set(filter(None, given.only.split(","))))


if __name__ == "__main__":
    main()
