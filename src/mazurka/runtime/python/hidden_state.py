"""State that C code keeps to itself, and that no object leads to: registries, counters, settings.

What is known of the standard library is written down (`settings`).  Of other C code nobody knows
what it keeps.  But a function that is given nothing which it could change, and returns nothing, has
been called for what it changes elsewhere: `register_adapter("name", kind)`, `set_limit(3)`,
`clear()`.  If that happens while other threads run, any of them may use what has been changed; and
the next run finds it changed, since nobody can put it back.  So nothing is proved, and the function
is named.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Final

from mazurka.runtime.core.insides import module_of
from mazurka.runtime.core.moment import now
from mazurka.runtime.python.catalogue import is_value
from mazurka.runtime.sharing.monitoring import OWN, package_of, unobserved

_SEEN_OTHERWISE: Final = frozenset(
    {"_asyncio", "_overlapped", "_socket", "_ssl", "select", "posix", "nt", "fcntl", "msvcrt"}
    | {"_posixsubprocess", "_posixshmem", "_multiprocessing", "_winapi", "_ctypes", "_tkinter"}
    | {"_signal", "_weakref", "gc", "atexit", "faulthandler", "_elementtree", "pyexpat", "_sqlite3"}
    | {"syslog"}
)
"""Modules of the standard library whose functions may return nothing, and keep nothing but what
belongs to a thread, to an object that they are given, or to the system outside."""


def package_of_function(function: Any) -> str:
    """Return the package of a function of C code; empty if nobody knows it."""
    owner = getattr(function, "__self__", None)
    is_bound = owner is not None and type(owner) is not ModuleType
    module: Any = module_of(type(owner)) if is_bound else getattr(function, "__module__", None)
    return module.partition(".")[0] if type(module) is str else ""


def is_foreign(function: Any) -> bool:
    """Tell whether C code belongs to an installed package: it may use any attributes of what it is
    given, as those do that write objects out (`orjson.dumps`)."""
    package = package_of_function(function)
    return bool(package) and package not in sys.stdlib_module_names and package not in OWN


def note_hidden_change(function: Any, values: Any, result: Any) -> None:
    """Name a function of C code that has changed what only C code sees, while others run."""
    if result is None and not now.alone and may_keep(function) and all(map(_is_fixed, values)):
        name = getattr(function, "__qualname__", type(function).__qualname__)
        unobserved.note_hidden(f"{function.__module__.lstrip('_')}.{name}")


def may_keep(function: Any) -> bool:
    """Tell whether the module of a function of C code may keep something of which nobody knows."""
    package = package_of_function(function)
    if package in sys.stdlib_module_names:
        return package not in _SEEN_OTHERWISE and package_of(package) is not None
    return is_foreign(function)


def _is_fixed(value: Any) -> bool:
    """Tell whether C code cannot change a value: what it does is not done to this."""
    return is_value(type(value)) or issubclass(type(value), type)
