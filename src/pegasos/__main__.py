"""``python -m pegasos``."""

from __future__ import annotations

import sys

from pegasos.cli import main

if __name__ == "__main__":
    sys.exit(main())
