"""Event loops, sockets and pipes: what goes on in an order that the search does not choose.

An event loop runs tasks, and calls back when a descriptor is ready or a time has come.  Threads can
reach each other through two ends of a socket or a pipe.  None of this is a scheduling point, so one
order is seen of many.  What is noted here makes the verdict inconclusive, unless a failure is
found.

- *Tasks.*  A second task of `asyncio` begins while one of the same thread is not done.
- *Loops.*  A loop of `asyncio` has several things to do, now or later, or waits for the system.  A
  loop with one task that only sleeps has no choice, and nothing is noted.  Anything else that
  waits for several descriptors (`select`, `poll`, `epoll`) is a loop of some kind, but for
  `subprocess`, which collects what one process writes.
- *Sockets and pipes* that two threads use while others run.

Waiting for descriptors takes virtual time, as sleeping does, where no other thread runs, and in
loops of `asyncio`, which look at the virtual clock.
"""

from __future__ import annotations

import os
import select
import stat
import sys
import time
from _thread import get_ident
from collections.abc import Callable
from typing import Any, Final

from mazurka.runtime.core.frame_variables import read_variables
from mazurka.runtime.core.insides import ancestors, attributes, is_of_c, module_of, names_in
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.sharing.monitoring import MACHINERY, UNEXPLORED, unobserved
from mazurka.runtime.sharing.outside import outside

_BLOCKS: Final = (None, -1)


# -- sockets and pipes ---------------------------------------------------------------------------

_channels: dict[type, bool] = {}


def is_channel(kind: type) -> bool:
    """Tell whether objects of a type are ends of a connection."""
    found = _channels.get(kind)
    if found is None:
        modules = {module_of(base) for base in ancestors(kind) if is_of_c(base)}
        found = _channels[kind] = not _CONNECTED.isdisjoint(modules)
    return found


_CONNECTED: Final = frozenset({"_socket", "_ssl", "_winapi", "_overlapped"})


def use_descriptor(descriptor: int, name: str) -> None:
    """Note that the running thread uses a descriptor, which may be that of a pipe or a socket."""
    if not now.alone and _leads_outside(descriptor):
        outside.use(name)


def _leads_outside(descriptor: int) -> bool:
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    if stat.S_ISCHR(mode):
        return descriptor > 2 and os.isatty(descriptor)
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


# -- tasks ---------------------------------------------------------------------------------------

_kinds: dict[type, bool] = {}


def is_task(kind: type) -> bool:
    """Tell whether objects of a class are tasks of `asyncio`."""
    found = _kinds.get(kind)
    if found is None:
        tasks = sys.modules.get("asyncio.tasks")
        if tasks is None:
            return False
        own = tuple(names_in(tasks)[name] for name in ("Task", "_PyTask"))
        found = _kinds[kind] = any(base in own for base in ancestors(kind))
    return found


def make_task(make: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
    """Make a task of `asyncio`."""
    task = make(*arguments, **named)
    if session.current.ident == get_ident():
        outside.add_task(task, _is_done)
    return task


def _is_done(task: Any) -> bool:
    """Tell whether a task is done, as C code knows it; one of a class in Python never is."""
    base: Any
    for base in ancestors(type(task)):
        if module_of(base) == "_asyncio":
            return bool(base.done(task))
    return False


# -- loops ---------------------------------------------------------------------------------------

POLLERS: Final[tuple[type, ...]] = tuple(
    type(getattr(select, name)()) for name in ("poll", "epoll", "devpoll") if hasattr(select, name)
)


def wait_for_events(
    perform: Callable[..., Any], function: Any, /, *arguments: Any, **named: Any
) -> Any:
    """`select.select(...)`, `poller.poll(timeout)`: `perform` calls the function."""
    if session.current.ident != get_ident():
        return perform(*arguments, **named)
    at = 3 if function is select.select else 0
    timeout = arguments[at] if len(arguments) > at else named.get("timeout")
    is_virtual = _note_loop(function, timeout) or now.alone
    if not is_virtual or timeout in _BLOCKS or not timeout > 0:
        return perform(*arguments, **named)
    given, others = (*arguments[:at], 0, *arguments[at + 1 :]), dict(named)
    others.pop("timeout", None)
    found = perform(*given, **others)
    if any(found):
        return found
    is_in_milliseconds = hasattr(select, "poll") and type(function.__self__) is POLLERS[0]
    time.sleep(timeout / 1000 if is_in_milliseconds else timeout)
    return perform(*given, **others)


def _note_loop(function: Any, timeout: Any) -> bool:
    """Note a loop that has a choice, by who waits; tell whether it is one of `asyncio`."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (
        frame.f_code.co_filename.startswith(MACHINERY)
        or frame.f_globals.get("__name__") == "selectors"
    ):
        frame = frame.f_back
    module = frame.f_globals.get("__name__")
    if module == "subprocess":
        return False
    if module == "asyncio.base_events" and frame.f_code.co_name == "_run_once":
        loop = _attributes_of(read_variables(frame)["self"])
        waiting = _attributes_of(loop.get("_selector")).get("_fd_to_key", ())  # for its own signal
        coming = len(loop.get("_ready", ())) + len(loop.get("_scheduled", ()))
        if coming != 1 or len(waiting) > 1:
            unobserved.note_code("asyncio.events", UNEXPLORED)
        return True
    unobserved.note_code(f"select.{function.__name__}", UNEXPLORED)
    return False


def _attributes_of(thing: Any) -> dict[str, Any]:
    get = attributes(type(thing))
    return {} if get is None else get(thing)
