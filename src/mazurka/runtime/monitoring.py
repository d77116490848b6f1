"""What instrumented code calls and nobody watches: the list behind "not observed: numpy".

Two means.  Rewritten code shows each function to `called` when a place first calls it.  From Python
3.12 on, `sys.monitoring` reports every function that begins under control, called by whomever,
once; it needs no source.  Both only look at modules: data that code without instrumentation touches
is not seen, and the result must say so.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from types import CodeType
from typing import Any, Final

from mazurka.runtime.scheduler import session

MARK: Final = "_mazurka_access"
"""The name under which instrumented modules know the functions that watch their accesses."""
OWN: Final = frozenset({"mazurka", "pytest", "_pytest", "pluggy", "unittest", "__main__", ""})
TOOL: Final = 4
"""Our number among the tools of `sys.monitoring`; 0 to 2 and 5 have their owners by convention."""

_STATEFUL: Final = frozenset({"sched", "shelve", "sqlite3", "asyncio", "multiprocessing", "dbm"})
"""Modules of the standard library whose objects are worth sharing and are not watched."""


def package_of(module: str | None) -> str | None:
    """The package to be named for a module; None for those that need not be watched."""
    package = (module or "").partition(".")[0]
    if package in OWN:
        return None
    if package in sys.stdlib_module_names:
        return package if package in _STATEFUL else None
    return package


class Unobserved:
    """The packages whose code has run under control without instrumentation."""

    def __init__(self) -> None:
        self.packages: set[str] = set()
        self.places: set[int] = set()
        self._monitoring: Any = None

    def clear(self) -> None:
        self.packages.clear()
        self.places.clear()

    def called(self, function: Any, site: int) -> None:
        """A place of the program calls a function or a class."""
        if site in self.places or session.current.ident != get_ident():
            return
        self.places.add(site)
        if isinstance(function, type):
            space: Any = getattr(sys.modules.get(function.__module__), "__dict__", {})
        else:
            space = getattr(function, "__globals__", {})
        if MARK not in space:
            self._add(getattr(function, "__module__", None))

    def _add(self, module: Any) -> None:
        package = package_of(module if isinstance(module, str) else None)
        if package is not None:
            self.packages.add(package)

    # -- sys.monitoring ----------------------------------------------------------------------

    def watch(self) -> None:
        """Begin to watch what begins under control, where the interpreter can tell."""
        monitoring = getattr(sys, "monitoring", None)
        if monitoring is None or monitoring.get_tool(TOOL) is not None:
            return
        monitoring.use_tool_id(TOOL, "mazurka")
        monitoring.register_callback(TOOL, monitoring.events.PY_START, self._began)
        monitoring.set_events(TOOL, monitoring.events.PY_START)
        monitoring.restart_events()
        self._monitoring = monitoring

    def unwatch(self) -> None:
        monitoring, self._monitoring = self._monitoring, None
        if monitoring is not None:
            monitoring.set_events(TOOL, 0)
            monitoring.register_callback(TOOL, monitoring.events.PY_START, None)
            monitoring.free_tool_id(TOOL)

    def _began(self, code: CodeType, offset: int) -> Any:
        if session.current.ident != get_ident():
            # Not under control now; it may be another time, so it must not be silenced yet.
            return None
        frame: Any = sys._getframe(1)
        if MARK not in frame.f_globals:
            self._add(frame.f_globals.get("__name__"))
        return self._monitoring.DISABLE


unobserved = Unobserved()
