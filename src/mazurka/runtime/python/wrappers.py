"""Wrappers of C code: objects that pass calls and attributes on to what they stand for.

Extension modules have decorators and proxies that are objects of C code around a function or an
object of the program.  A use of one leads to Python code that shows its own accesses, and most of
them never change: `operate` would make each call of a decorated function conflict with all others.
A lazy one does change, when it is first used.  What a wrapper refers to stands in its own memory,
so that is compared before and after each use, and that of containers in it, such as a cache.  Once
a run shows that a wrapper of some type has changed, every use of wrappers of that type counts as a
change, for the whole exploration (`Learned.moving`); until then, as a read.

The same holds for other objects of C code when they are asked for attributes that C code looks up
in its own way, and for their *fields*: attributes that lie in the memory of the object, or that C
code computes from it.  Methods of C code change fields without naming them (`next(reader)` changes
`reader.line_num`), so a field is no location of its own: reading it reads the whole object.
"""

from __future__ import annotations

import ctypes
from _thread import get_ident
from collections.abc import Callable
from gc import get_referents
from types import (
    CellType,
    CodeType,
    FrameType,
    GetSetDescriptorType,
    MemberDescriptorType,
    TracebackType,
    WrapperDescriptorType,
)
from typing import Any, Final

from mazurka.runtime.core.insides import (
    ancestors,
    attributes,
    is_of_c,
    is_standing_for_another,
    names_in_class,
)
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.attributes import COMPUTED
from mazurka.runtime.python.catalogue import CONTAINERS
from mazurka.runtime.python.classes import first_name
from mazurka.runtime.python.containers import parts_of
from mazurka.runtime.python.opaque import hides_state, meet_older, part_of_opaque, parts_of_itself
from mazurka.runtime.python.reentry import perform_in_turns
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.kept_by_c import HEADER, POINTER, memory_of
from mazurka.runtime.sharing.locations import learned, progress
from mazurka.runtime.sharing.monitoring import unobserved

_wrapping: dict[type, bool] = {}
_looking_up: dict[type, bool] = {}


def is_wrapper(kind: type) -> bool:
    """Tell whether objects of a type are wrappers of C code."""
    found = _wrapping.get(kind)
    if found is None:
        found = _wrapping[kind] = hides_state(kind) and is_standing_for_another(kind)
    return found


def looks_up_in_c(kind: type) -> bool:
    """Tell whether C code finds attributes of objects in its own way, which nobody sees."""
    found = _looking_up.get(kind)
    if found is None:
        hidden = hides_state(kind) and not issubclass(kind, COMPUTED)
        found = _looking_up[kind] = hidden and _finds_itself(kind)
    return found


def _finds_itself(kind: type) -> bool:
    for base in ancestors(kind):
        found = names_in_class(base).get("__getattribute__")
        if found is not None:
            return type(found) is WrapperDescriptorType and _lookup(base) != _lookup(object)
    return False


_NO_FIELDS: Final = (
    *(tuple, int, float, complex, str, bytes, frozenset),
    *(CellType, CodeType, FrameType, TracebackType),
)
"""Types whose fields never change, or are locations of their own."""
_LINKS: Final = ("__dict__", "__class__", "__weakref__")
_fields: dict[tuple[type, str], bool] = {}


def is_field(kind: type, name: str) -> bool:
    """Tell whether an attribute is part of the state of objects that only C code sees."""
    found = _fields.get((kind, name))
    if found is None:
        hidden = hides_state(kind) and not issubclass(kind, (*_NO_FIELDS, *COMPUTED))
        found = _fields[kind, name] = hidden and name not in _LINKS and _is_kept(kind, name)
    return found


def _is_kept(kind: type, name: str) -> bool:
    for base in ancestors(kind):
        found = names_in_class(base).get(name)
        if found is not None:
            kept = type(found) in (MemberDescriptorType, GetSetDescriptorType)
            return kept and is_of_c(base)
    return False


_LOOKUP: Final = HEADER + 16 * POINTER
"""Where a type in CPython holds what looks up attributes: `tp_getattro`."""


def _lookup(kind: type) -> int | None:
    """Tell what looks up attributes of objects of a type; many types name that of all objects."""
    return ctypes.c_void_p.from_address(id(kind) + _LOOKUP).value


def use_wrapper(
    thing: Any, site: int, function: Callable[..., Any], /, *arguments: Any, **named: Any
) -> Any:
    """Perform an operation on a wrapper that changes it the first time, if ever."""
    if session.current.ident != get_ident():
        return function(*arguments, **named)
    kind = type(thing)
    unobserved.meet(kind)
    label = f"wrappers of the type {first_name(kind)}"
    kept = _containers_of(thing)
    if label in learned.moving:
        progress()
        parts = [part_of_opaque(thing), *parts_of_itself(thing, How.CHANGE)[1:]]
        parts += parts_of(kept, How.CHANGE)
        return perform_in_turns(parts, site, function, *arguments, **named)
    meet_older(thing)
    before = [memory_of(one) for one in (thing, *kept)]
    try:
        parts = [*parts_of_itself(thing, How.READ_ALL), *parts_of(kept)]
        return perform_in_turns(parts, site, function, *arguments, **named)
    finally:
        if [memory_of(one) for one in (thing, *kept)] != before and not session.current.over:
            learned.moving.add(label)
            learned.news.append(label)


def _containers_of(thing: Any) -> list[Any]:
    """Find the containers that a wrapper keeps for itself, such as a cache of results."""
    space_of = attributes(type(thing))
    own = None if space_of is None else space_of(thing)
    return [one for one in get_referents(thing) if type(one) in CONTAINERS and one is not own]
