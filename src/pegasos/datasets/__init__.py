"""Data sets by name, as the papers used them, and generators of data in their shapes.

Sets are looked for in the folder that the environment variable PEGASOS_DATA names, then in the
user's cache, and else fetched and verified; ``fetching.py`` says how.
"""

from __future__ import annotations

from pegasos.datasets.fetching import describe, fetch, folder, home, names
from pegasos.datasets.generators import cover_like, text_like, text_like_chunks
from pegasos.datasets.registry import DataSet

__all__ = [
    "DataSet",
    "cover_like",
    "describe",
    "fetch",
    "folder",
    "home",
    "names",
    "text_like",
    "text_like_chunks",
]
