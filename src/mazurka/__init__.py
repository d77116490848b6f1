"""Mazurka verifies and tests concurrent programs.

The names below are loaded when they are first used, so that importing the package, and asking
the command for help, costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mazurka.version import __version__

if TYPE_CHECKING:
    from mazurka.api import check, compare, replay, save_trace
    from mazurka.comparing import Comparison
    from mazurka.errors import MazurkaError, OptionError, UnsupportedError
    from mazurka.report.trace import Trace
    from mazurka.report.tracefile import ReplayReport
    from mazurka.report.verdict import Verdict
    from mazurka.runtime.story.result import Result
    from mazurka.runtime.testing.decorator import ExplorationFailure, explore

__all__ = [
    "Comparison",
    "ExplorationFailure",
    "MazurkaError",
    "OptionError",
    "ReplayReport",
    "Result",
    "Trace",
    "UnsupportedError",
    "Verdict",
    "__version__",
    "check",
    "compare",
    "explore",
    "replay",
    "save_trace",
]

_HOMES = {
    "Comparison": "mazurka.comparing",
    "ExplorationFailure": "mazurka.runtime.testing.decorator",
    "MazurkaError": "mazurka.errors",
    "OptionError": "mazurka.errors",
    "ReplayReport": "mazurka.report.tracefile",
    "Result": "mazurka.runtime.story.result",
    "Trace": "mazurka.report.trace",
    "UnsupportedError": "mazurka.errors",
    "Verdict": "mazurka.report.verdict",
    "check": "mazurka.api",
    "compare": "mazurka.api",
    "explore": "mazurka.runtime.testing.decorator",
    "replay": "mazurka.api",
    "save_trace": "mazurka.api",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value: object = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Name everything; while a test is explored only what is loaded, since packages that go through
    all modules (freezegun) would load the rest in the middle of it."""
    import sys

    control = sys.modules.get("mazurka.runtime.core.scheduler")
    if control is None or control.session.current.program is None:
        return sorted(__all__)
    return sorted(name for name in __all__ if name in globals())
