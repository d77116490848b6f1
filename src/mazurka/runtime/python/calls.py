"""What rewritten code calls where it calls something.

`f(x)` becomes `made(callee(f)(x))`, and `o.m(x)` becomes `made(method(o, "m")(x))`.  Functions of
the program are called as they are, with no frame in between.  A method of a built-in container
becomes one access, performed after the arguments have been evaluated.  A built-in function reads
the containers that it is given; some read them step by step, and some change them.  `made` shows
new objects to those who name them.
"""

from __future__ import annotations

import builtins
import json.encoder
import queue
import sys
import threading
from _thread import get_ident
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from operator import attrgetter, itemgetter, methodcaller
from types import (
    BuiltinFunctionType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final

from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.primitives.locks import Lock, RLock
from mazurka.runtime.primitives.queues import SimpleQueue
from mazurka.runtime.python import builtin_functions as accesses_builtins
from mazurka.runtime.python import variables as accesses
from mazurka.runtime.python.acting import PLANS, act, act_on, act_unbound
from mazurka.runtime.python.attribute_functions import BOUND
from mazurka.runtime.python.builtin_functions import SPECIAL, reading, reading_deeply
from mazurka.runtime.python.caches import cached
from mazurka.runtime.python.classes import calling_back, watch_container
from mazurka.runtime.python.containers import (
    UNKNOWN,
    VIEWS,
    family_of,
    is_built_in,
    known_family,
    perform_all,
)
from mazurka.runtime.python.contexts import in_context, of_variable
from mazurka.runtime.python.copies import TAKES_APART, bound_taking_apart, taking_apart
from mazurka.runtime.python.dates import of_clock
from mazurka.runtime.python.expressions import family, part_of
from mazurka.runtime.python.foreign import foreign, moved
from mazurka.runtime.python.getters import (
    Formatting,
    descriptor_call,
    getter,
    is_slot,
    reaches_inside,
)
from mazurka.runtime.python.handles import CachedFunction, handle, handles
from mazurka.runtime.python.methods import METHODS
from mazurka.runtime.python.opaque import is_iterator, is_opaque, step
from mazurka.runtime.python.rewriter import at_present
from mazurka.runtime.python.spaces import class_behind
from mazurka.runtime.python.stepping import chaining, stepping
from mazurka.runtime.python.value_types import OF_CLASS, PLAIN
from mazurka.runtime.python.variables import read_attribute
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import learned, progress
from mazurka.runtime.sharing.monitoring import MARK, unobserved
from mazurka.runtime.sharing.names import known, meet, see

_PLAIN: Final = PLAIN | {partial}
_plan = PLANS.get
_special = SPECIAL.get


def receive(value: Any) -> Any:
    """Something may have been created; its creator names it."""
    if type(value) in _PLAIN or session.current.ident != get_ident():
        return value
    seen = known(id(value))
    if seen is None:
        meet(value)
    elif seen.maker != now.thread:
        see(value)
    return value


# -- methods -------------------------------------------------------------------------------------


def call_method(thing: Any, name: str, site: int) -> Any:
    """What `thing.name(...)` calls."""
    kind = type(thing)
    if kind in _SYNCHRONIZING and name not in learned.moving:
        bound = getattr(thing, name)
        if type(bound) is MethodType and bound.__func__ in _controlled:
            return bound
    plan = _plan((kind, name))
    if plan is None:
        found = known_family(kind, UNKNOWN)
        if found is UNKNOWN:
            found = family_of(kind)
        if found in METHODS and name in METHODS[found] and is_built_in(kind, name):
            plan = PLANS[found, name]
    if plan is not None:
        return partial(act, getattr(thing, name), thing, plan, site)
    return call(read_attribute(thing, name, site), site)


def _held(function: Any, site: int) -> Any:
    owner = function.__self__
    if owner is None or type(owner) in _PLAIN or session.current.ident != get_ident():
        return function
    return handle(function, site, _built_in)


accesses.hold = _held


# -- other calls ---------------------------------------------------------------------------------


_UNTOUCHED: Final = frozenset(
    id(function) for function in (isinstance, issubclass, callable, range, abs, ord, chr)
)


def leave_unwatched(value: Any, what: str) -> Any:
    """Something goes to where nobody watches, or comes from there: `exec`, `locals`, ..."""
    unobserved.note(what)
    return value


def call(function: Any, site: int) -> Any:
    """What `function(...)` calls."""
    kind = type(function)
    if kind is FunctionType:
        return function if MARK in function.__globals__ else _stranger(function, function, site)
    if kind is MethodType:
        inner = function.__func__
        if type(inner) is FunctionType:
            return function if MARK in inner.__globals__ else _stranger(function, inner, site)
        if type(inner) is CachedFunction and session.current.ident == get_ident():
            return partial(cached, inner, site, function.__self__)
        return function
    if session.current.ident != get_ident():
        return function
    special = _special(id(function))
    if special is not None:
        return partial(special, function, site)
    of_kind = _of_kind(kind)
    if of_kind is not None:
        return of_kind(function, site)
    if issubclass(kind, type):
        if function not in unobserved.kinds:
            at_present.rewriter.watch_used(function)
            unobserved.called(function)
            if watch_container(function):
                return partial(reading, function, site)
        if function.__module__ in _CALLING_BACK:
            return partial(calling_back, call, function, site)
    return function


def _handled(values: tuple[Any, ...], site: int) -> tuple[Any, ...]:
    return tuple(handles(values, site, call))


accesses_builtins.handled = _handled


def _with_handles(
    special: Callable[..., Any], function: Any, site: int, /, *arguments: Any, **named: Any
) -> Any:
    """A C function that may call what it is given."""
    called = dict(zip(named, handles(named.values(), site, call), strict=True))
    return special(function, site, *handles(arguments, site, call), **called)


def _stranger(function: Any, inner: FunctionType, site: int) -> Any:
    """A function of Python that nobody watches; it may do something."""
    if inner in _controlled or inner.__code__.co_consts[-1:] == (MARK,):
        return function  # the latter has been rewritten, in a namespace of its own
    if session.current.ident != get_ident() or at_present.rewriter.watch_called(inner):
        return function
    unobserved.called(inner)
    module = inner.__globals__.get("__name__", "")
    package = module.partition(".")[0]
    if package not in _CONTROLLED:
        special = _special(id(inner))
        if special is not None:
            return partial(special, function, site)
        progress()
        if package in _WRITING_OUT or inner.__name__ == "_make":
            return partial(reading_deeply, function, site)
        if package == "traceback":  # writes to what it is given
            return partial(foreign, function, site)
    elif _goes_past(inner):
        unobserved.note(inner.__qualname__)
    elif inner.__closure__ is None and inner.__name__ not in _TAKES_FUNCTIONS:
        _controlled.add(inner)  # there are few of them
        return function
    return partial(calling_back, call, function, site) if package in _CALLING_BACK else function


def _goes_past(inner: FunctionType) -> bool:
    """Whether the program calls a part of a class of the library, `queue._qsize()`, past the calls
    that are under control; not so in a class of its own that brings such parts."""
    called, caller = inner.__name__, sys._getframe(3).f_code.co_name
    ours = inner.__globals__["__name__"].startswith("mazurka.")
    return called in _PARTS and not ours and caller not in _PARTS


_PARTS: Final = frozenset({"_qsize", "_put", "_get", "_init", "_is_owned", "_wait", "_notify"})
_CONTROLLED: Final = frozenset({"mazurka", "threading", "queue", "time", "concurrent"})
"""Modules and packages whose functions are watched by other means."""
_TAKES_FUNCTIONS: Final = frozenset(
    {"__init__", "submit", "map", "add_done_callback", "wait_for", "start_new_thread"}
)
"""Those of them that call what they are given."""
_controlled: set[Any] = set()
"""The others, as far as they have been called."""
_SYNCHRONIZING: Final = frozenset(
    {
        *(threading.Thread, threading.Timer, threading.Condition, threading.Event),
        *(threading.Semaphore, threading.BoundedSemaphore, threading.Barrier),
        *(queue.Queue, queue.LifoQueue, queue.PriorityQueue, Lock, RLock, SimpleQueue),
    }
)
"""Classes of objects whose methods are such functions."""
_CALLING_BACK: Final = frozenset(
    {"mazurka", "threading", "concurrent", "contextlib", "functools", "heapq", "bisect", "sched"}
)
"""Those of whose functions many are given functions to call."""
_WRITING_OUT: Final = frozenset(
    {"pickle", "pprint", "statistics", "string", "textwrap", "reprlib", "csv"}
)
"""Those of whose functions most read all that is in what they are given, and change nothing."""


# -- kinds of callables of C code ----------------------------------------------------------------


def _built_in(function: Any, site: int) -> Any:
    if id(function) in _UNTOUCHED:
        return function
    owner = function.__self__
    if owner is None or type(owner) is ModuleType:
        unobserved.called(function)
        if owner is builtins:
            return partial(reading, function, site)
        progress()
        return partial(_with_handles, foreign, function, site)
    found = family(owner)
    if found in METHODS and function.__name__ in METHODS[found]:
        return act_on(function, owner, found, function.__name__, site)
    if found in VIEWS:
        if function.__name__ == "run":
            return partial(_with_handles, in_context, function, site)
        return partial(_viewing, function, owner, site)
    if type(owner) in (str, bytes):
        return _of_string(function, owner, site)
    if type(owner) is GeneratorType:
        return partial(step, function, site, owner)
    if function.__name__ in _MOVING_ON:
        instead = of_clock(function)
        if instead is not None:
            return instead
        progress()
    if issubclass(type(owner), type):
        making = chaining if function.__name__ == "from_iterable" else reading
        return partial(making, function, site) if owner.__flags__ & _FIXED else function
    if function.__name__ in TAKES_APART:
        return partial(bound_taking_apart, function, site)
    if is_opaque(owner) and not hasattr(object, function.__name__):
        unobserved.meet(type(owner))
        if type(owner) is ContextVar and function.__name__ != "get":
            return partial(of_variable, function, site)
        return partial(_with_handles, moving, function, site)
    return function


_FIXED: Final = 1 << 8
"""The flag of classes of C code, which cannot be changed; statements make none that have it."""
_MOVING_ON: Final = frozenset({"now", "utcnow", "today", "add_note"})
"""Methods of values and classes that give something else each time: `datetime.now()`, unless the
clock is virtual."""


def moving(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    return moved(function, site, function.__self__, *arguments, **named)


def _of_string(function: Any, text: str, site: int) -> Any:
    """A method of a string; few read what they are given."""
    name = function.__name__
    if name == "join":
        return partial(reading, function, site)
    if name not in ("format", "format_map"):
        return function
    if not reaches_inside(text):
        return partial(reading_deeply, function, site)
    formatting = Formatting(site)
    if name == "format":
        return lambda *arguments, **named: formatting.vformat(text, arguments, named)
    return lambda named: formatting.vformat(text, (), named)


def _viewing(function: Any, view: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """A method of a view of some container."""
    if type(view) is MappingProxyType and class_behind(view) is not None and not now.alone:
        unobserved.note("__dict__ of a class")
    parts = [part for value in (view, *arguments) if (part := part_of(value, How.READ_ALL))]
    return perform_all(parts, site, function, *arguments, **named)


def _bound_wrapper(function: Any, site: int) -> Any:
    """`thing.__len__`, `super().__setitem__`, `C.slot.__get__`: what C types do with objects."""
    owner, name = function.__self__, function.__name__
    if is_slot(owner):
        return descriptor_call(function, site)
    if name in BOUND:
        return partial(BOUND[name], function, site)
    if name == "__call__" and not issubclass(type(owner), type):
        return call(owner, site)
    found = family(owner)
    if found in METHODS:
        if name in METHODS[found]:
            return act_on(function, owner, found, name, site)
        if name in ("__iter__", "__reversed__"):
            return lambda: stepping(owner, site, function(), name == "__iter__", own=True)
        if name == "__init__":
            return partial(reading, function, site)
    if name == "__next__" and is_iterator(owner):
        return partial(step, function, site, owner)
    if name in _CHANGING:
        progress()
    return function


_CHANGING: Final = frozenset({"__setitem__", "__delitem__", "__set__", "__delete__"})


def _wrapper(function: Any, site: int) -> Any:
    """`dict.__setitem__`: a slot of a C type, or a method of one."""
    kind, name = function.__objclass__, function.__name__
    if kind in METHODS:
        if name in METHODS[kind]:
            return partial(act_unbound, function, site)
        return lambda thing, *rest, **named: call(function.__get__(thing), site)(*rest, **named)
    if kind is object and name in TAKES_APART:
        return partial(taking_apart, function, site)
    return function


def _cached(function: Any, site: int) -> Any:
    return partial(cached, function, site)


def _partial(function: Any, site: int) -> Any:
    return partial(call(function.func, site), *function.args, **function.keywords)


def _writing_out(function: Any, site: int) -> Any:
    """What `json` makes of data, as far as C code does it."""
    return partial(reading_deeply, function, site)


def _getter(function: Any, site: int) -> Any:
    return getter(function, site, call_method)


_KINDS: Final[dict[type, Callable[[Any, int], Any]]] = {
    BuiltinFunctionType: _built_in,
    OF_CLASS: _built_in,
    MethodWrapperType: _bound_wrapper,
    WrapperDescriptorType: _wrapper,
    MethodDescriptorType: _wrapper,
    CachedFunction: _cached,
    partial: _partial,
    **{kind: _writing_out for kind in (getattr(json.encoder, "c_make_encoder", None),) if kind},
    **dict.fromkeys((attrgetter, itemgetter, methodcaller), _getter),
}
_of_kind = _KINDS.get
