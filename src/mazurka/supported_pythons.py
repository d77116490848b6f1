"""The versions of CPython that Mazurka supports: the only list of them.

The classifiers of the project are compared with it; `noxfile.py` and `.ci/other_pythons.py` read
it.
"""

from __future__ import annotations

import sys
import warnings
from functools import cache
from typing import Final

SUPPORTED: Final = ((3, 11), (3, 12), (3, 13), (3, 14), (3, 15))
"""The supported versions, in ascending order."""
FREE_THREADED: Final = ((3, 14), (3, 15))
"""The versions that are also supported as builds without the global interpreter lock.

Such a build of 3.13 hides functions from the garbage collector as soon as it starts a thread, so
that they are not found and verdicts are inconclusive."""
NEWEST: Final = SUPPORTED[-1]


@cache
def warn_if_newer() -> None:
    """Warn, once in a process, if the running Python is newer than every supported version."""
    running = sys.version_info[:2]
    if running > NEWEST:
        warnings.warn(
            f"Python {name(running)} is newer than the versions that Mazurka supports"
            f" ({name(SUPPORTED[0])} to {name(NEWEST)}): code that it cannot observe makes"
            " verdicts inconclusive",
            RuntimeWarning,
            stacklevel=2,
        )


def name(version: tuple[int, int]) -> str:
    """Return a version as people write it, such as 3.14."""
    return ".".join(map(str, version))
