"""Calls: what rewritten code calls instead of a function, and what stands for functions as values.

`f(x)` becomes `receive(call(f)(x))`.  Functions of the program are called as they are, with no
frame in between.  What any other call touches is what the catalogue says
(`CallEffect`).  The functions that perform effects are registered here (`performs`), and so are
those that know the callable objects of C code by their types (`calls_kind`).

A thread's target, a callback and a sort key are called by code that nobody has rewritten.  What
rewritten code passes to such code is therefore a *handle*, where it is a function whose call
touches something; a bound method of a container becomes one as soon as it is read from its object.
A class is replaced by a handle only where it will be called (`Thread(target=list, args=(items,))`):
a class that is passed on as a value must stay what it is.
"""

from __future__ import annotations

import sys
import threading
from _thread import get_ident
from collections.abc import Callable
from functools import partial
from operator import attrgetter, itemgetter, methodcaller
from types import FunctionType, MethodType, MethodWrapperType, WrapperDescriptorType
from typing import Any, Final, TypeAlias, TypeVar
from weakref import ref

from mazurka.runtime.core.insides import (
    ancestors,
    find_in_class,
    function_in,
    module_of,
    names_in_class,
)
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import MARK, is_own_file
from mazurka.runtime.python import catalogue
from mazurka.runtime.python.callbacks import show_generators
from mazurka.runtime.python.catalogue import (
    PACKAGES,
    PLAIN,
    ROWS,
    SIMPLE,
    CachedFunction,
    CallEffect,
    is_value,
)
from mazurka.runtime.python.classes import changing, read_classes
from mazurka.runtime.python.containers import family_of
from mazurka.runtime.python.places.outside import is_task, make_task
from mazurka.runtime.python.rewriter import at_present
from mazurka.runtime.sharing.exempt import looks_into_arguments
from mazurka.runtime.sharing.locations import CHANGING_PARTIALS, learned, progress
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.names import known, meet, memories, see

_NAMELESS: Final = PLAIN - {partial}
"""Types of values that are named when somebody touches them, not by their creators."""
Performer: TypeAlias = Callable[..., Any]
"""Takes a function, a site and arguments; calls the function, and shows what that touches."""
AnyPerformer = TypeVar("AnyPerformer", bound=Performer)


# -- registration --------------------------------------------------------------------------------


performers: Final[dict[CallEffect, Performer]] = {}
"""By effect: what performs calls of functions with that effect."""
_by_identity: dict[int, Performer] = {}
"""By the identity of a function or a class with a row: what performs calls of it."""
_performer = _by_identity.get
_by_kind: dict[type, Callable[[Any, int], Any]] = {}
"""By type: what chooses the callable that is called instead of an object of it, at a site."""
_of_kind = _by_kind.get


def performs(effect: CallEffect) -> Callable[[AnyPerformer], AnyPerformer]:
    """Register what performs calls of functions with an effect."""

    def register(performer: AnyPerformer) -> AnyPerformer:
        performers[effect] = performer
        functions = [function for its, row in ROWS if its is effect for function in row]
        _by_identity.update(dict.fromkeys(map(id, functions), performer))
        return performer

    return register


@performs(CallEffect.TOUCHES_NOTHING)
def leave(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """Call a function that touches nothing."""
    return function(*arguments, **named)


def always(performer: Performer) -> Callable[[Any, int], Any]:
    """What chooses the same performer for every callable."""
    return lambda function, site: partial(performer, function, site)


def calls_kind(*kinds: type) -> Callable[[AnyPerformer], AnyPerformer]:
    """Register what chooses the callable that is called instead of objects of some types."""

    def register(choose: AnyPerformer) -> AnyPerformer:
        _by_kind.update(dict.fromkeys(kinds, choose))
        return choose

    return register


# -- events --------------------------------------------------------------------------------------


def receive(value: Any) -> Any:
    """Let the running thread name a value that it may have created; return it."""
    kind = type(value)
    if kind in _NAMELESS or session.current.ident != get_ident():
        return value
    seen = known(id(value))
    if seen is None:
        if id(value) in memories:  # to have it is not to look into it
            return value
        meet(value)
        if kind is list or kind is dict:
            _receive_inside(value)
        elif kind is partial:
            receive(value.keywords)
    elif seen.maker != now.thread:
        see(value)
    return value


def _receive_inside(value: list[Any] | dict[Any, Any]) -> None:
    """Name what C code has made together with a container: `json.loads(text)`, `deepcopy(rows)`."""
    waiting: list[Any] = [value]
    known_tuples = set()
    while waiting:
        holder = waiting.pop()
        elements = holder.values() if type(holder) is dict else holder
        if SIMPLE.issuperset(map(type, elements)):
            continue
        for element in elements:
            kind = type(element)
            if kind is tuple:
                if id(element) not in known_tuples:
                    known_tuples.add(id(element))
                    waiting.append(element)
            elif (kind is list or kind is dict or kind is set) and known(id(element)) is None:
                meet(element)
                waiting.append(element)


def receive_published(value: Any) -> Any:
    """Let the running thread name a value that its last operation has created, and put where others
    find it; those who know of this operation come after it.  Return the value."""
    is_new = type(value) not in _NAMELESS and known(id(value)) is None
    if is_new and session.current.ident == get_ident():
        meet(value).count -= 1
    return value


def leave_unobserved(value: Any, what: str) -> Any:
    """Name a construct whose accesses nobody sees, such as `exec(*arguments)`; return the value."""
    if what in ("exec", "eval"):
        unobserved.note_code(what, "of what is not known before")
    else:
        unobserved.note(what)
    return value


def call(function: Any, site: int) -> Any:
    """Choose what `function(...)` calls."""
    kind = type(function)
    if kind is FunctionType:
        if MARK in function.__globals__:
            return function
        return _call_stranger(function, function, site)
    if kind is MethodType:
        inner = function.__func__
        if type(inner) is FunctionType:
            return function if MARK in inner.__globals__ else _call_stranger(function, inner, site)
        if session.current.ident == get_ident():
            if type(inner) is CachedFunction:
                return partial(_by_kind[CachedFunction](inner, site), function.__self__)
            if type(inner) in catalogue.DESCRIPTORS:
                return call(inner.__get__(function.__self__, type(function.__self__)), site)
            if type(inner) in catalogue.BUILT_IN or issubclass(type(inner), type):
                return partial(call(inner, site), function.__self__)
            if calls_in_c(type(inner)):
                return partial(performers[CallEffect.CALLS_OBJECT], function, site)
        return function
    if session.current.ident != get_ident():
        return function
    if changing.any:
        return partial(_call_by_class, function, site)
    return _choose(function, kind, site)


def _call_by_class(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """Call an object, a class or a function of C code where classes change: the interpreter finds
    by them what to call, and C code what to do with what it is given."""
    read_classes((function, *arguments, *named.values()), site)
    return _choose(function, type(function), site)(*arguments, **named)


def _choose(function: Any, kind: type, site: int) -> Any:
    """Choose what is called instead of a class, an object or C code, under control."""
    performer = _performer(id(function))
    if performer is not None:
        if performer is not leave:
            return partial(performer, function, site)
        if learned.moving and (function is isinstance or function is issubclass):
            return partial(performers[CallEffect.ASKS_CLASS], function, site)
        return function
    choose = _of_kind(kind)
    if choose is not None:
        return choose(function, site)
    if issubclass(kind, type):
        return _call_class(function, site)
    if calls_in_c(kind):
        return partial(performers[CallEffect.CALLS_OBJECT], function, site)
    if _is_reference(kind):
        return partial(performers[CallEffect.FOLLOWS_REFERENCE], function, site)
    return function


def _is_reference(kind: type) -> bool:
    """Tell whether C code gives the objects of weak references of a type."""
    return issubclass(kind, ref) and find_in_class(kind, "__call__") is ref.__call__


_callable: dict[type, bool] = {}


def calls_in_c(kind: type) -> bool:
    """Tell whether C code is called when an object of a type is, and nobody sees what it does."""
    found = _callable.get(kind)
    if found is None:
        calling = (names_in_class(base).get("__call__") for base in ancestors(kind))
        first = next((one for one in calling if one is not None), None)
        hidden = not is_value(kind) and not issubclass(kind, (type, ref))
        found = _callable[kind] = hidden and type(first) is WrapperDescriptorType
    return found


def _call_class(kind: type, site: int) -> Any:
    if kind not in unobserved.kinds:
        unobserved.called(kind)
    if PACKAGES.get(module_of(kind)) is CallEffect.CALLS_BACK:
        return partial(call_back, kind, site)
    performer = _constructor(kind)
    called = kind if performer is leave else partial(performer, kind, site)
    return partial(make_task, called) if is_task(kind) else called


def _call_stranger(function: Any, inner: FunctionType, site: int) -> Any:
    """Choose what is called instead of a Python function that has not been rewritten."""
    if inner in controlled or inner.__code__.co_consts[-1:] == (MARK,):
        return function  # the latter has been rewritten, in a namespace of its own
    if session.current.ident != get_ident():
        return function
    if inner in taking_functions:
        return partial(performers[taking_functions[inner]], function, site)
    if at_present.rewriter.observe_called(inner):
        return function
    unobserved.called(inner)
    package = inner.__globals__.get("__name__", "").partition(".")[0]
    effect = PACKAGES.get(package)
    if package not in catalogue.CONTROLLED:
        performer = _performer(id(inner))
        if performer is not None:
            return partial(performer, function, site)
        progress()
        if effect is None and _is_exempt(inner):
            owner = () if function is inner else (function.__self__,)
            return partial(performers[CallEffect.READS_DEEPLY], inner, site, *owner)
        if inner.__name__ == "_make":
            effect = CallEffect.READS_DEEPLY
    elif (performer := _performer(id(inner))) is not None:
        return partial(performer, function, site)
    elif _goes_past(inner):
        unobserved.note(inner.__qualname__)
    elif inner.__closure__ is None:  # there are few of them
        if inner.__name__ not in catalogue.TAKES_FUNCTIONS:
            controlled.add(inner)
            return function
        if effect is not None:
            taking_functions[inner] = effect
    return function if effect is None else partial(performers[effect], function, site)


def _is_exempt(inner: FunctionType) -> bool:
    """Tell whether a function belongs to a module of which only parts are observed, or nothing:
    what it does with its arguments is not seen."""
    module = inner.__globals__.get("__name__")
    return type(module) is str and looks_into_arguments(module)


def _goes_past(inner: FunctionType) -> bool:
    """Tell whether the program calls an inner part of a library class, such as `queue._qsize()`.

    A class of the program that overrides such parts may call them.
    """
    if inner.__name__ not in catalogue.INNER_PARTS:
        return False
    frame = sys._getframe(1)
    while is_own_file(frame.f_code.co_filename) and frame.f_back is not None:
        frame = frame.f_back
    ours = inner.__globals__["__name__"].startswith("mazurka.")
    return not ours and frame.f_code.co_name not in catalogue.INNER_PARTS


controlled: set[Any] = set()
"""Functions of controlled packages that have been called, and can be called as they are."""
taking_functions: dict[Any, CallEffect] = {}
"""Functions of controlled packages that have been called, and call what they are given: what a call
of each does."""


# -- constructors --------------------------------------------------------------------------------

_constructors: dict[int, tuple[Performer, ref[type]]] = {}
"""By the identity of a class without a row: what performs calls of it."""


def _constructor(kind: type) -> Performer:
    """Find what performs calls of a class without a row, whose objects C code may make.

    `class Bag(list)` without a constructor of its own goes through its argument as `list` does.
    """
    identity = id(kind)
    found = _constructors.get(identity)
    if found is None:
        effect = _constructor_effect(kind)
        performer = leave if effect is None else performers[effect]
        weak = ref(kind, lambda _: _constructors.pop(identity, None))
        found = _constructors[identity] = performer, weak
    return found[0]


def _constructor_effect(kind: type) -> CallEffect | None:
    """Tell what C code does to the arguments of a class; None if it takes none."""
    own = [
        find_in_class(*one)
        for one in ((kind, "__init__"), (kind, "__new__"), (type(kind), "__call__"))
    ]
    own = [function_in(one) if type(one) is staticmethod else one for one in own]
    if any(type(function) is FunctionType for function in own):
        return None  # its code is watched
    if family_of(kind) in catalogue.CONTAINERS or issubclass(kind, (tuple, frozenset)):
        return CallEffect.READS
    is_plain = own[:2] == [object.__init__, object.__new__]
    if is_plain or issubclass(kind, (BaseException, type)):
        return None
    return CallEffect.TOUCHES_ALL


# -- functions as values -------------------------------------------------------------------------


class FunctionHandle:
    """Stands for a built-in function that is used as a value, and performs calls of it."""

    __slots__ = ("_call", "function")

    def __init__(self, function: Any, called: Any) -> None:
        self.function = function
        self._call = called

    def __call__(self, /, *arguments: Any, **named: Any) -> Any:
        return self._call(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)

    def __repr__(self) -> str:
        return repr(self.function)

    def __eq__(self, other: object) -> bool:
        function: object = self.function
        return function == (other.function if isinstance(other, FunctionHandle) else other)

    def __hash__(self) -> int:
        return hash(self.function)

    def __reduce__(self) -> Any:
        owner = getattr(self.function, "__self__", None)
        if owner is None:
            return self.function.__reduce__()
        return getattr, (owner, self.function.__name__)


_TOUCHING: Final = frozenset(
    {*catalogue.BUILT_IN, *catalogue.DESCRIPTORS, MethodWrapperType, CachedFunction}
    | {attrgetter, itemgetter, methodcaller}
)
"""Types of callables of C code whose calls may touch something."""


def hold_method(function: Any, site: int) -> Any:
    """Give what stands for a built-in method that has been read from its object."""
    owner = function.__self__
    if owner is None or type(owner) in PLAIN or session.current.ident != get_ident():
        return function
    return handle(function, site)


def handle(function: Any, site: int) -> Any:
    """Give what stands for a function that is used as a value; itself if calls touch nothing."""
    called = call(function, site)
    return function if called is function else FunctionHandle(function, called)


def handles(values: Any, site: int) -> list[Any]:
    """Replace functions among the arguments of code that is not rewritten and may call them."""
    return [handle(value, site) if _may_touch(value) else value for value in values]


def handle_callback(value: Any, site: int) -> Any:
    """Replace what C code will call for each element: a function, or a class such as `bool`."""
    return handle(value, site) if _may_touch(value) or _is_performed(value) else value


def _may_touch(value: Any) -> bool:
    kind = type(value)
    if kind is FunctionType:
        if MARK not in value.__globals__:
            at_present.rewriter.observe_called(value)
        return False
    if kind is MethodType:
        return _may_touch(value.__func__) and type(value.__func__) is CachedFunction
    if kind is partial:
        return CHANGING_PARTIALS in learned.moving or _may_touch(value.func)
    return kind in _TOUCHING


@performs(CallEffect.CALLS_BACK)
def call_back(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """Call a library function that calls what it is given, now or later."""
    classes = False
    for name, value in named.items():
        if _is_performed(value):
            classes = True
        elif _may_touch(value):
            named[name] = handle(value, site)
    if arguments or classes:
        arguments = _with_classes(function, arguments, named, site)
    return function(*(handles(arguments, site) if arguments else ()), **named)


def _with_classes(
    function: Any, arguments: tuple[Any, ...], named: dict[str, Any], site: int
) -> tuple[Any, ...]:
    """Replace classes and objects that a library function will call by handles."""
    module: str = getattr(function, "__module__", None) or ""
    if module.partition(".")[0] not in catalogue.CALLS_CLASSES and function is not partial:
        return arguments
    for name in catalogue.CALLED_NAMES:
        if name in named and _is_performed(named[name]):
            named[name] = handle(named[name], site)
    at = 1 if issubclass(type(function), type) and issubclass(function, threading.Thread) else 0
    if len(arguments) > at and _is_performed(arguments[at]):
        called = handle(arguments[at], site)
        arguments = (*arguments[:at], called, *arguments[at + 1 :])
    if getattr(function, "__name__", "") == "map":
        return show_generators(arguments, site)
    return arguments


def _is_performed(value: Any) -> bool:
    """Tell whether something is a class, or an object of C code, whose calls touch something."""
    kind = type(value)
    if kind is FunctionType:
        return False
    if kind is MethodType:
        return calls_in_c(type(value.__func__))
    if not issubclass(kind, type):
        return kind not in _by_kind and (calls_in_c(kind) or _is_reference(kind))
    return id(value) in _by_identity or _constructor(value) is not leave
