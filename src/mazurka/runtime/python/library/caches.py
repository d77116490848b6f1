"""Functions with a cache: `functools.lru_cache`, `functools.cache`.

The cache is kept by C code: it is asked before the function runs, and filled after that, so that
two threads which find nothing both run the function.  Between the end of the function and the
filling nothing shows itself; so the rewritten code of such a function ends with the event
`fill_cache`.  A cache is one location.  Asking reads it, or writes it where the order of the last
uses is kept; filling writes it.  A function that was given to `lru_cache` otherwise than by a
decorator has no such end; a call of it changes the cache, and changes it again when the function
has returned (`reentry`).
"""

from __future__ import annotations

from _thread import get_ident
from types import FunctionType
from typing import Any

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.containers import Part, perform
from mazurka.runtime.python.opaque import part_of_opaque
from mazurka.runtime.python.reentry import perform_in_turns
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import progress

_asked: dict[int, list[Any]] = {}
"""By thread: the functions with caches that the thread has called and not left."""


def call_cached(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """Call a function with a cache: ask the cache first."""
    me = get_ident()
    if session.current.ident != me:
        return function(*arguments, **named)
    if not _shows_filling(function.__wrapped__):
        progress()
        return perform_in_turns([part_of_opaque(function)], site, function, *arguments, **named)
    keeps_order = function.cache_parameters()["maxsize"] is not None
    asking: Part = (function, None, How.CHANGE if keeps_order else How.READ_ALL, None)
    perform(asking, site, progress)
    asked = _asked.setdefault(me, [])
    asked.append(function)
    try:
        return function(*arguments, **named)
    finally:
        asked.pop()


def _shows_filling(function: Any) -> bool:
    """Tell whether a function has been rewritten to end with `fill_cache`."""
    return type(function) is FunctionType and fill_cache.__name__ in function.__code__.co_names


def fill_cache(site: int) -> None:
    """Note that the result of a function goes into its cache next."""
    me = get_ident()
    if session.current.ident == me and _asked.get(me):
        filled: Part = (_asked[me][-1], None, How.CHANGE, None)
        perform(filled, site, progress)
