"""Functions with a cache: `functools.lru_cache`, `functools.cache`.

The cache is kept by C code: it is asked before the function runs, and filled after that, so that
two threads which find nothing both run the function.  Between the end of the function and the
filling nothing shows itself; so the rewritten code of such a function ends with the event
`fill_cache`.  A function that was given to `lru_cache` otherwise than by a decorator has no such
end; a call of it changes the cache, and changes it again when the function has returned
(`reentry`).

A cache has an element for every key (`accesses.EVERY`): asking reads the element of the arguments,
filling writes it, and whatever else is done with the cache (`cache_info`, `cache_clear`) touches
them all.  A bounded cache also keeps the order of the last uses, which decides what is dropped when
it is full.  As long as nothing is dropped, nobody can see that order, so it does not count.  A run
in which something is put into a full cache shows that it does: the exploration begins anew, and the
cache is one location that every call changes.

*Why nothing is lost.*  Take any execution, up to the first time that something is dropped.  Until
then the cache answers as one without bounds would, and for that the elements are exact: the part is
equivalent to one that the exploration runs, in which the same keys have been filled.  So in that
run, too, the cache is full when the next one is filled, and the exploration begins anew.
"""

from __future__ import annotations

import traceback
from _thread import get_ident
from types import FunctionType
from typing import Any, Final

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.containers import Part, perform
from mazurka.runtime.python.opaque import part_of_opaque
from mazurka.runtime.python.reentry import perform_in_turns
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import learned, progress

_asked: dict[int, list[tuple[Any, Any]]] = {}
"""By thread: the functions with caches that the thread has called and not left, and the keys; None
for functions whose caches nobody can see."""
_UNSEEN: Final = getattr(traceback, "_str_width", None)
"""A function of the library that tells how wide a character is, from Python 3.15 on.  It gives the
same number whether it finds it or computes it, so its calls commute with all operations."""


def call_cached(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """Call a function with a cache: ask the cache first."""
    me = get_ident()
    if session.current.ident != me:
        return function(*arguments, **named)
    if not _shows_filling(function.__wrapped__):
        progress()
        return perform_in_turns([part_of_opaque(function)], site, function, *arguments, **named)
    key = (*arguments, *named.items())
    is_seen = function is not _UNSEEN
    if is_seen:
        perform(_describe(function, How.READ, key), site, progress)
    asked = _asked.setdefault(me, [])
    asked.append((function if is_seen else None, key))
    try:
        return function(*arguments, **named)
    finally:
        asked.pop()


def _describe(function: Any, how: How, key: Any) -> Part:
    """Describe an access to the element of a key; to the whole cache, if its order counts."""
    if learned.moving and _name_order(function) in learned.moving:
        return part_of_opaque(function)
    return function, None, how, key


def _name_order(function: Any) -> str:
    """Name the order of the last uses, the same for all caches of one definition."""
    code = function.__wrapped__.__code__
    return f"order in the cache of {code.co_qualname} ({code.co_filename}:{code.co_firstlineno})"


def _shows_filling(function: Any) -> bool:
    """Tell whether a function has been rewritten to end with `fill_cache`."""
    return type(function) is FunctionType and fill_cache.__name__ in function.__code__.co_names


def fill_cache(site: int) -> None:
    """Note that the result of a function goes into its cache next."""
    me = get_ident()
    if session.current.ident == me and _asked.get(me):
        function, key = _asked[me][-1]
        if function is None:
            return
        perform(_describe(function, How.WRITE, key), site, progress)
        _notice_dropping(function)


def _notice_dropping(function: Any) -> None:
    """Learn that the order of uses counts where something is put into a full cache."""
    info = function.cache_info()
    if info.maxsize is not None and info.currsize >= info.maxsize and not session.current.over:
        order = _name_order(function)
        if order not in learned.moving:
            learned.moving.add(order)
            learned.news.append(order)
