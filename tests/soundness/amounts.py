"""How many random programs the tests look at: one share of them, or several.

`benchmarks/random_tests.py` runs the same tests over as many shares as you like; two are what a
change to a search, a reduction or a pass should be tried on.
"""

from __future__ import annotations

import os

SHARES = int(os.environ.get("MAZURKA_SHARES", "1"))


def shares(programs: int) -> int:
    """How many programs that is; `programs` is one share."""
    return SHARES * programs
