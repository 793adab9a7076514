"""Files in, files out: text, tables and the mapped store."""

from __future__ import annotations

from pegasos.data.examples import Data, DataError

__all__ = ["Data", "DataError"]
