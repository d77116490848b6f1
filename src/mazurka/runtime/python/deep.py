"""Operations that read containers inside of containers: `repr(table)`, `a == b`, `match`.

Containers hold containers, and C code that compares or prints the outer ones reads the inner ones,
all at once.  Which ones these are depends on the moment at which the operation is performed, and
what an operation touches must not depend on the moment at which its thread arrives.  So the thread
stands before reading what it is given; when it is chosen, it sees what is inside; if that includes
another container, it stands again before reading both, until nothing new turns up.  Then, in the
same step, the real operation is performed.  Where it enters Python code, such as the `__eq__` of an
element, it is split (`reentry`).

`copy.copy` asks `object.__reduce_ex__`, C code that reads the slots of an object at once; what the
dictionary of the object holds is read when the copy is filled.
"""

from __future__ import annotations

from _thread import get_ident
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from mazurka.runtime.core.insides import elements, entries, slots
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.values import attribute_of
from mazurka.runtime.python.attributes import home_of, is_entry, space_of
from mazurka.runtime.python.containers import Part, PendingAccess, enter, part_of
from mazurka.runtime.python.opaque import opaque_parts
from mazurka.runtime.python.reentry import perform_split
from mazurka.runtime.python.variables import variable_at
from mazurka.runtime.sharing.accesses import DataAccess, How, Read, Together
from mazurka.runtime.sharing.locations import points
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.names import names as all_names

LIMIT: Final = 1_000
"""The most containers and variables that one operation reads."""
_HOLDERS: Final = (list, set, deque)
Attributes: TypeAlias = Callable[[Any], Sequence[str]]
"""Gives the names of the attributes that are read of an object that is no container."""


class DeepReach:
    """The containers and attributes of objects that an operation reaches."""

    def __init__(self, attributes: Attributes, how: How) -> None:
        self._attributes = attributes
        self._how = how
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
            if id(value) in self._known:
                continue
            part = part_of(value, self._how)
            if part is not None:
                self._known.add(id(value))
                self.parts.append(part)
            elif issubclass(type(value), (tuple, frozenset)):
                self._known.add(id(value))
                self._inside.append(value)
                waiting += elements(value)
            elif wanted := self._attributes(value):
                self._known.add(id(value))
                self._inside.append(value)
                self._find_variables(value, wanted)
            elif self._how is How.CHANGE and (opaque := opaque_parts((value,))):
                self._known.add(id(value))
                self.parts += opaque
        if before <= LIMIT < len(self.parts) + len(self.variables):
            unobserved.note("what lies deeper in large data")
        return before < len(self.parts) + len(self.variables) <= LIMIT

    def _find_variables(self, value: Any, wanted: Sequence[str]) -> None:
        for name in wanted:
            if home_of(value, name) is not value:
                continue
            space = space_of(value) if is_entry(value, name) else None
            if space is None:
                self.variables.append((value, name))
            else:
                self.parts.append((space, dict, How.READ, name))

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
    *arguments: Any,
    more: Sequence[Part] = (),
    attributes: Attributes = lambda thing: (),
    how: How = How.READ_ALL,
    **named: Any,
) -> Any:
    """Perform an operation that reads or changes (`how`) values and all in them, as one access."""
    if session.current.ident != get_ident():
        return action(*arguments, **named)
    reach = DeepReach(attributes, how)
    reach.find(values)

    def stand() -> list[PendingAccess]:
        pending = _stand_before(reach, more, site)
        while reach.find(reach.values()):
            for access in pending:
                access.settle()
            pending = _stand_before(reach, more, site)
        return pending

    return perform_split(stand, site, action, *arguments, **named)


def _stand_before(reach: DeepReach, more: Sequence[Part], site: int) -> list[PendingAccess]:
    """Stand before the accesses to all of it that need a scheduling point; note the others."""
    pending = enter([*reach.parts, *more], site)
    operations: list[DataAccess] = [access.operation for access in pending]
    locations = []
    for thing, name in reach.variables:
        location, variable = variable_at(all_names.see(thing), name)
        if session.current.over:
            continue
        if site in points and not now.alone:
            operations.append(Read(variable(), site))
            locations.append(location)
        else:
            location.use(site, False)
    if operations:
        session.current.point(operations[0] if len(operations) == 1 else Together(operations))
        for access in pending:
            access.begin()
        for location in locations:
            location.use_at_point(site, False)
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
    if not names or any(getattr(kind, p, None) is not getattr(object, p, None) for p in parts):
        return function(*arguments)  # its own code says what is read, and is watched

    def asked(value: Any) -> Sequence[str]:
        return names if value is thing else ()

    return perform_deep((thing,), site, function, *arguments, attributes=asked)
