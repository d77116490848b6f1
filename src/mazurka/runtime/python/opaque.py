"""Objects whose state is out of sight: iterators, generators, files, whatever C code keeps.

Such an object is one location, and everything that is done with it writes it: nobody can tell more.
It is touched like a container of unknown contents (`accesses_containers`), in one operation with
whatever else the same call touches.

A generator is entered and left.  Whoever enters it while somebody is inside gets a `ValueError`,
so both are writes.  It is left before anybody can stand before leaving it; therefore it is not the
real generator that says whether somebody is inside, but who has entered and not yet left it by an
operation: that depends on the order of these operations alone.  The same goes for contexts
(`accesses_contexts`).
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Iterator
from functools import partial
from sys import getrefcount
from types import GeneratorType, WrapperDescriptorType
from typing import Any, Final

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.catalogue import PLAIN, is_of_c, is_value
from mazurka.runtime.python.containers import Part, family_of, perform
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import progress
from mazurka.runtime.sharing.names import known, see

_moving: dict[type, bool] = {}


def is_iterator(value: Any) -> bool:
    """Whether C code steps through something, and keeps in the object where it is."""
    kind = type(value)
    found = _moving.get(kind)
    if found is None:
        step = getattr(kind, "__next__", None)
        found = _moving[kind] = kind not in PLAIN and isinstance(step, WrapperDescriptorType)
    return found


def is_opaque(value: Any) -> bool:
    """Whether C code keeps something in the object that it may change."""
    kind = type(value)
    if is_value(kind) or issubclass(kind, (type, BaseException)):
        return False
    return family_of(kind) is None


def part_of_opaque(thing: Any) -> Part:
    """The object as a part of an operation."""
    return thing, None, How.CHANGE, None


def iterator_parts(values: Any) -> list[Part]:
    """Those of the arguments of a built-in function that it moves by going through them."""
    parts = []
    for value in values:
        if is_iterator(value) and not is_lone(getrefcount(value), value):
            parts.append(part_of_opaque(value))
    return parts


def is_lone(count: int, value: Any) -> bool:
    """Whether nobody has it but the call that it was made for, so that no other thread can."""
    seen = known(id(value))
    return count - (seen is not None and seen.kept is value) <= _LONE


def _call(_function: Any, _site: int, /, *arguments: Any, **_named: Any) -> int:
    return _count(arguments)


def _count(values: Any) -> int:
    for value in values:
        return getrefcount(value)
    return 0


_LONE: Final = partial(_call, None, 0)(iter(()))
"""How often an argument is counted that nobody else has; this differs between interpreters."""


def opaque_parts(values: Any) -> list[Part]:
    """Those of the arguments of a C function that it may change."""
    return [
        part_of_opaque(value)
        for value in values
        if is_iterator(value) or (is_opaque(value) and is_of_c(type(value)))
    ]


# -- generators ----------------------------------------------------------------------------------


def perform_step(function: Callable[..., Any], site: int, /, items: Any, *arguments: Any) -> Any:
    """One step through an iterator: `next(items)`, `generator.send(value)`."""
    if type(items) is GeneratorType:
        return run_inside(items, site, RUNNING, function, *arguments)
    return perform(part_of_opaque(items), site, function, *arguments)


RUNNING: Final = ValueError("generator already executing")


def run_inside(
    thing: Any, site: int, error: Exception, function: Callable[..., Any], *arguments: Any
) -> Any:
    """Do something inside of a generator or a context, or raise an error if somebody does."""
    entered = enter(thing, site, error)
    if entered is None:
        return function(*arguments)
    try:
        return function(*arguments)
    finally:
        perform(part_of_opaque(thing), site, entered.discard, id(thing))


def enter(thing: Any, site: int, error: Exception) -> set[int] | None:
    """Enter it, or raise the error; gives where it is to be discarded from when it is left."""
    if session.current.ident != get_ident():
        return None
    seen = see(thing)
    if seen.entered is None:
        seen.entered = set()
    entered = seen.entered
    if perform(part_of_opaque(thing), site, _is_entered, entered, id(thing)):
        raise type(error)(*error.args)
    return entered


def _is_entered(entered: set[int], identity: int) -> bool:
    """Whether somebody is inside; if not, somebody is from now on."""
    if identity in entered:
        return True
    entered.add(identity)
    return False


def iterate_opaque(items: Any, site: int) -> Iterator[Any]:
    """What a loop over an iterator goes through."""
    while True:
        try:
            value = perform_step(next, site, items, items)
        except StopIteration:
            return
        progress()
        yield value
