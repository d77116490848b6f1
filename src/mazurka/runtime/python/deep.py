"""Operations that read containers inside of containers: `repr(table)`, `a == b`, `match`.

Containers hold containers, and C code that compares or prints the outer ones reads the inner ones,
all at once.  Which ones these are depends on the moment at which the operation is performed, and
what an operation touches must not depend on the moment at which its thread arrives.  So the thread
stands before reading what it is given; when it is chosen, it sees what is inside; if that includes
another container, it stands again before reading both, until nothing new turns up.  Then, in the
same step, the real operation is performed.  Where it enters Python code, such as the `__eq__` of an
element, it is split (`reentry`).

C code also reads attributes.  An object whose type in C has a dictionary (`types.SimpleNamespace`)
is written out and compared by its attributes, an exception by those that C code keeps (`args`).
`pickle` takes all objects apart.  `copy.copy` asks `object.__reduce_ex__`, C code that reads the
slots of an object at once; what the dictionary of the object holds is read when the copy is filled.

*Why no access is missed.*  Where all attributes of an object are read, its class is exposed
(`attributes`): from then on an assignment to an attribute, a new one, too, is an access to the
dictionary, and the dictionary is one of the containers that the operation reads.
"""

from __future__ import annotations

from _thread import get_ident
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import (
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    NoneType,
)
from typing import Any, Final, TypeAlias

from mazurka.runtime.core.insides import (
    ancestors,
    attributes,
    elements,
    entries,
    find_in_class,
    is_of_c,
    module_of,
    names_in_class,
    slots,
)
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import sites
from mazurka.runtime.core.values import attribute_of
from mazurka.runtime.python.attributes import (
    COMPUTED,
    expose,
    home_of,
    is_computed_by_c,
    is_entry,
    space_of,
)
from mazurka.runtime.python.calls import FunctionHandle
from mazurka.runtime.python.catalogue import (
    BUILT_IN,
    FIXED,
    HOLDING,
    SIMPLE,
    SYNCHRONIZING,
    is_made,
    is_value,
)
from mazurka.runtime.python.classes import changing, parts_of_classes
from mazurka.runtime.python.containers import Part, PendingAccess, enter, part_of
from mazurka.runtime.python.opaque import hides_state, is_asked_in_c, opaque_parts
from mazurka.runtime.python.reentry import perform_split, perform_watched
from mazurka.runtime.python.variables import variable_at
from mazurka.runtime.python.wrappers import is_field, is_wrapper, looks_up_in_c
from mazurka.runtime.sharing.accesses import DataAccess, How, Read, Together, Write
from mazurka.runtime.sharing.locations import points
from mazurka.runtime.sharing.monitoring import IN_STEPS, unobserved
from mazurka.runtime.sharing.names import names as all_names

LIMIT: Final = 1_000
"""The most containers and variables that one operation reads."""
_HOLDERS: Final = (list, set, deque)
Attributes: TypeAlias = Callable[[Any], Sequence[str]]
"""Gives the names of the attributes that are read of an object that is no container."""


_INSIDE: Final[dict[type, tuple[str, ...]]] = {
    partial: ("func", "args", "keywords"),
    slice: ("start", "stop", "step"),
    MethodType: ("__self__", "__func__"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
}
"""Other types whose objects C code writes out, or compares, with all that is in them, and what
these hold."""


_CALLED: Final = (MethodType, staticmethod, classmethod)


def _inside(value: Any) -> tuple[Any, ...] | None:
    """Give what is in an object of such a type; None for others."""
    for kind, names in _INSIDE.items():
        if issubclass(type(value), kind):
            return tuple(getattr(value, name) for name in names)
    return None


_fields: dict[type, tuple[str, ...]] = {}
_keeping: dict[type, bool] = {}


def is_read_inside(value: Any) -> bool:
    """Tell whether C code that compares a value, or writes it out, reads what is in it."""
    kind = type(value)
    if kind in FIXED:
        return False
    if kind in HOLDING or issubclass(kind, (tuple, frozenset, partial)):
        return True
    return bool(fields_of_error(kind)) or _keeps_attributes(kind) or is_asked_in_c(kind)


def fields_of_error(kind: type) -> tuple[str, ...]:
    """Name the attributes that C code keeps in exceptions of a type, and writes out."""
    found = _fields.get(kind)
    if found is None:
        bases = [base for base in ancestors(kind) if is_of_c(base)]
        found = _fields[kind] = tuple(
            name
            for base in (bases if issubclass(kind, BaseException) else ())
            for name, value in names_in_class(base).items()
            if type(value) in (GetSetDescriptorType, MemberDescriptorType)
            and not name.startswith("__")
        )
    return found


def _keeps_attributes(kind: type) -> bool:
    """Tell whether a type of C code gives its objects a dictionary, which its methods may read.

    That of a file is for whoever makes a subclass.
    """
    found = _keeping.get(kind)
    if found is None:
        bases = [base for base in ancestors(kind) if "__dict__" in names_in_class(base)]
        hidden = hides_state(kind) and not issubclass(kind, COMPUTED)
        hidden = hidden and not is_wrapper(kind) and not looks_up_in_c(kind)
        found = _keeping[kind] = hidden and any(
            is_of_c(base) and module_of(base) != "_io" for base in bases
        )
    return found


def _is_taken_apart(kind: type) -> bool:
    """Tell whether `pickle` takes objects of a type apart; it names classes and functions."""
    is_error = issubclass(kind, BaseException)  # C code hands out their dictionaries
    if is_value(kind) or issubclass(kind, (type, *COMPUTED)) or not (is_error or is_made(kind)):
        return False
    return kind not in SYNCHRONIZING


class DeepReach:
    """The containers and attributes of objects that an operation reaches."""

    def __init__(self, attributes: Attributes, how: How, apart: bool, writes: bool) -> None:
        self._attributes = attributes
        self._how = how
        self._apart = apart
        self.writes = writes
        """Whether the attributes are written."""
        self.parts: list[Part] = []
        self.variables: list[tuple[Any, str]] = []
        self._known: set[int] = set()
        self._inside: list[Any] = []
        """Tuples and objects that have been looked into, kept alive for their identities."""

    def find(self, values: Any) -> bool:
        """Add values, and what is in tuples among them; tell whether there was anything new."""
        before = len(self.parts) + len(self.variables)
        waiting = list(values)[::-1]  # the first is the one that reports name
        while waiting:
            value = waiting.pop()
            if type(value) in SIMPLE or id(value) in self._known:
                continue
            part = part_of(value, self._how)
            if part is not None:
                self._known.add(id(value))
                self.parts.append(part)
            elif issubclass(type(value), (tuple, frozenset)):
                self._known.add(id(value))
                self._inside.append(value)
                waiting += elements(value)
            elif type(value) not in FIXED and (inside := self._inside_of(value)) is not None:
                self._known.add(id(value))
                self._inside.append(value)
                waiting += inside
            elif self._apart and (owner := _owner_of(value)) is not None:
                self._known.add(id(value))
                self._inside.append(value)
                waiting.append(owner)
            elif self._find_attributes(value) | self._find_opaque(value):
                self._known.add(id(value))
                self._inside.append(value)
        if before <= LIMIT < len(self.parts) + len(self.variables):
            unobserved.note("what lies deeper in large data")
        return before < len(self.parts) + len(self.variables) <= LIMIT

    def _inside_of(self, value: Any) -> tuple[Any, ...] | None:
        """Give what is in an object that holds others; C code that may change what it is given
        calls a method, and does not look into it."""
        if self._how is How.CHANGE and issubclass(type(value), _CALLED):
            return None
        return _inside(value)

    def _find_attributes(self, value: Any) -> bool:
        """Add the attributes of an object that are read; tell whether any are."""
        kind = type(value)
        classes = parts_of_classes((value,)) if changing.any else []
        self.parts += classes
        wanted = [*self._attributes(value), *fields_of_error(kind)]
        whole = _keeps_attributes(kind)
        if self._apart and _is_taken_apart(kind):
            wanted += [name for name, _ in slots(kind)]
            whole = attributes(kind) is not None
        self.find_variables(value, wanted)
        if whole:
            expose(value)
            space = space_of(value)
            if space is not None and id(space) not in self._known:
                self._known.add(id(space))
                self.parts.append((space, dict, self._how, None))
        return whole or bool(wanted) or bool(classes)

    def _find_opaque(self, value: Any) -> bool:
        """Add an object whose state only C code sees: what is done with it counts as a change."""
        if type(value) in FIXED:
            return False
        is_used = self._apart or self._how is How.CHANGE or is_asked_in_c(type(value))
        found = opaque_parts((value,)) if is_used else []
        self.parts += found
        return bool(found)

    def find_variables(self, value: Any, wanted: Sequence[str]) -> None:
        for name in wanted:
            home = home_of(value, name)
            if home is not value and type(home) is not tuple:
                continue
            space = space_of(value) if is_entry(value, name) else None
            if space is not None:
                how = How.WRITE if self.writes else How.READ
                self.parts.append((space, dict, how, name))
            elif home is value:
                self.variables.append((value, name))
            else:
                self.variables += [(thing, name) for thing in home]

    def values(self) -> Iterator[Any]:
        """Go through what is in the containers and attributes at present."""
        for container, family, _, key in list(self.parts):
            if family is dict:
                found = entries(container)
                yield from (value for name, value in found if key is None or name == key)
                if key is None:
                    yield from (name for name, _ in found)
            elif family in _HOLDERS:
                yield from elements(container)
        for thing, name in list(self.variables):
            yield attribute_of(thing, name)


def perform_deep(
    values: Any,
    site: int,
    action: Callable[..., Any],
    /,
    *arguments: Any,
    more: Sequence[Part] = (),
    attributes: Attributes = lambda thing: (),
    how: How = How.READ_ALL,
    apart: bool = False,
    writes: bool = False,
    watched: bool = False,
    named: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """Perform an operation that reads or changes (`how`) values and all in them, as one access.

    With `apart`, it reads all attributes of the objects among them, as `pickle` does.  With
    `writes`, it writes those attributes that it reaches by name.  If it is `watched`, it reads what
    Python code returns to it, too.  Arguments that the program gives by name are in `named`: they
    may be called like those here.
    """
    if session.current.ident != get_ident():
        return action(*arguments, **named)
    reach = DeepReach(attributes, how, apart, writes)
    reach.find(values)
    if watched:
        return _perform_watched(reach, more, site, action, *arguments, **named)
    return perform_reach(reach, more, site, action, *arguments, **named)


def finds_items(thing: Any) -> bool:
    """Tell whether code of the program gives C code what it reads as an element of an object."""
    return type(find_in_class(type(thing), "__getitem__")) is FunctionType


def perform_reach(
    reach: DeepReach,
    more: Sequence[Part],
    site: int,
    action: Callable[..., Any],
    /,
    *arguments: Any,
    **named: Any,
) -> Any:
    """Perform an operation on what it reaches, and all in that; to be called under control."""
    stand, again = _stand_before_all(reach, more, site)
    return perform_split(stand, again, site, action, *arguments, **named)


def _perform_watched(
    reach: DeepReach,
    more: Sequence[Part],
    site: int,
    action: Callable[..., Any],
    /,
    *arguments: Any,
    **named: Any,
) -> Any:
    """Do the same where C code reads what Python code returns to it."""
    stand, again = _stand_before_all(reach, more, site)
    return perform_watched(stand, again, site, action, *arguments, **named)


def _stand_before_all(reach: DeepReach, more: Sequence[Part], site: int) -> tuple[Any, Any]:
    """Give what stands before an operation, and what stands before it again after Python code."""

    def stand() -> list[PendingAccess]:
        pending = stand_before(reach, more, site)
        while reach.find(reach.values()):
            for access in pending:
                access.settle()
            pending = stand_before(reach, more, site)
            if len(pending) > 1 and session.current.free_threaded:
                unobserved.note_code(f"reading nested data at {sites[site]}", IN_STEPS)
        return pending

    def stand_again(returned: object) -> list[PendingAccess]:
        reach.find((returned,))
        return stand()

    return stand, stand_again


def holds(thing: Any, name: str) -> bool:
    """Tell whether an attribute can only be in the object itself, so that C code finds it without
    calling anything, if it is there."""
    kind = type(thing)
    if issubclass(kind, (type, ModuleType, *COMPUTED)) or name.startswith("__"):
        return False
    if looks_up_in_c(kind) or is_field(kind, name) or is_computed_by_c(kind, name):
        return False
    of_classes = [names_in_class(base).get(name) for base in ancestors(kind)]
    if any(type(one) not in (NoneType, MemberDescriptorType) for one in of_classes):
        return False
    home = home_of(thing, name)
    return home is thing or type(home) is tuple


def _drop_repeated(parts: list[Part]) -> list[Part]:
    """Leave out accesses that are among the others."""
    if len(parts) < 2:
        return parts
    return list({(id(part[0]), part[2], id(part[3])): part for part in parts}.values())


def _owner_of(value: Any) -> Any:
    """Find the object to which a method of C code belongs, with which it is taken apart."""
    function = value.function if type(value) is FunctionHandle else value
    owned = type(function) in BUILT_IN or type(function) is MethodWrapperType
    owner = function.__self__ if owned else None
    return None if issubclass(type(owner), (ModuleType, type)) else owner


def stand_before(reach: DeepReach, more: Sequence[Part], site: int) -> list[PendingAccess]:
    """Stand before the accesses to all of it that need a scheduling point; note the others."""
    pending = enter(_drop_repeated([*reach.parts, *more]), site)
    operations: list[DataAccess] = [access.operation for access in pending]
    locations = []
    for thing, name in reach.variables:
        location, variable = variable_at(all_names.see(thing), name)
        if session.current.over:
            continue
        if site in points and not now.alone:
            kind = Write if reach.writes else Read
            operations.append(kind(variable(), site))
            locations.append(location)
        else:
            location.use(site, reach.writes)
    if operations:
        session.current.point(operations[0] if len(operations) == 1 else Together(operations))
        for access in pending:
            access.begin()
        for location in locations:
            location.use_at_point(site, reach.writes)
            location.shared.state += reach.writes
    return pending


# -- copies ----------------------------------------------------------------------------------

TAKES_APART: Final = frozenset({"__reduce_ex__", "__reduce__", "__getstate__"})
"""Methods by which C code takes an object apart to copy it."""


def take_apart(function: Any, site: int, /, *arguments: Any) -> Any:
    """`thing.__reduce_ex__(4)`, `object.__reduce_ex__(thing, 4)`"""
    thing = getattr(function, "__self__", arguments[0] if arguments else None)
    kind = type(thing)
    names = [name for name, _ in slots(kind)]
    parts = ("__reduce__", "__getstate__")
    if any(type(find_in_class(kind, part)) is FunctionType for part in parts):
        return function(*arguments)  # its own code says what is read, and is watched

    def asked(value: Any) -> Sequence[str]:
        return names if value is thing else ()

    more = opaque_parts((thing,))
    space = None
    if session.current.ident == get_ident() and not is_value(kind) and not issubclass(kind, type):
        expose(thing)  # C code hands out the dictionary
        space = space_of(thing)
    if space is not None:
        more.append((space, dict, How.LOOK, None))
    apart = issubclass(kind, BaseException)
    return perform_deep(
        (thing,), site, function, *arguments, more=more, attributes=asked, apart=apart
    )
