"""Contexts (`contextvars.Context`): entered by one thread at a time, and read by any.

The value of a context variable belongs to the context that its thread is in.  Inside of
`context.run`, `variable.set` changes that context, which other threads can see from outside
(`context[variable]`, `context.items()`).  The context that a thread begins with belongs to it
alone.
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable
from typing import Any

from mazurka.runtime.python.containers import perform_all
from mazurka.runtime.python.opaque import part_of_opaque, run_inside
from mazurka.runtime.sharing.locations import progress

_inside: dict[int, list[Any]] = {}
"""By thread: the contexts that the thread has entered and not left."""


def run_in_context(
    function: Callable[..., Any], site: int, /, called: Any, *arguments: Any, **named: Any
) -> Any:
    """Perform `context.run(called, ...)`: enter the context, call the function, leave it."""
    context: Any = getattr(function, "__self__", None)
    error = RuntimeError(f"cannot enter context: {context!r} is already entered")

    def run() -> Any:
        thread = get_ident()
        entered = _inside.setdefault(thread, [])
        entered.append(context)
        try:
            return function(called, *arguments, **named)
        finally:
            entered.pop()
            if not entered:
                _inside.pop(thread, None)

    return run_inside(context, site, error, run)


def set_variable(function: Any, site: int, /, *arguments: Any) -> Any:
    """Perform `variable.set(value)` or `variable.reset(token)`."""
    progress()
    entered = _inside.get(get_ident(), ())[-1:]
    parts = [part_of_opaque(thing) for thing in (function.__self__, *entered)]
    return perform_all(parts, site, function, *arguments)
