"""`id(thing)` and `hash(thing)` in the program's code: numbers that are the same in every run.

Addresses differ from run to run, and a program that acquires locks in the order of their identities
would do so in another order each time.  So an object that a run has made is numbered after its name
(`sharing.names`).  The numbers are odd, and no address is; different names give different numbers;
what one thread has made later has the larger one.

Objects that are older than the run keep their addresses, which do not change, and may have been
noted down before.  Those with a name of their own are older: modules, classes, and whatever modules
and the test lead to.  Which of the others are older shows in the next run: it asks for the identity
of the same object again.  Then the exploration begins anew (`Learned.news`).  Values such as
numbers and strings keep their addresses, too.  In a module that imports `ctypes` identities are
addresses.

The hash of an object whose class has no other is made of its address.  The program is told one that
is made of its identity; so is the hash of a tuple with such objects in it.  What C code computes
for dictionaries and sets is not changed: the order of a set does not show it
(`python.iteration.set_order`).

Modules that remember what can be computed again are not observed (`sharing.exempt`): who calls
`re.compile` twice gets one object, or two that are equal, if two threads compute it at the same
time.  So a program that asks whether two such objects are one proves nothing.
"""

from __future__ import annotations

import re
import sys
import typing
from _thread import get_ident
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, Final
from weakref import ref

from mazurka.runtime.core.insides import field_of, find_in_class
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.calls import performs
from mazurka.runtime.python.catalogue import PLAIN, CallEffect
from mazurka.runtime.python.deep import perform_deep
from mazurka.runtime.sharing.locations import learned
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.names import name_of, names

MOST: Final = 2_000
"""How many objects without weak references are kept alive, to see whether they are older."""


class Identities:
    """The objects whose identities the program has asked for, by address."""

    def __init__(self) -> None:
        self._asked: dict[int, tuple[Callable[[], Any], int]] = {}
        """By address: the object, and the run in which its identity was first asked for."""
        self._kept = 0
        self._older: dict[int, Any] = {}
        """By address: objects that are known to be older than the runs."""

    def clear(self) -> None:
        self._asked.clear()
        self._older.clear()
        self._kept = 0

    def is_older(self, thing: Any) -> bool:
        """Tell whether an object existed before the run, as far as is known."""
        address, epoch = id(thing), session.current.epoch
        if address in self._older:
            return True
        asked = self._asked.get(address)
        if asked is None or asked[0]() is not thing:
            self._ask(address, thing, epoch)
        elif asked[1] != epoch:
            self._older[address] = thing
            label = name_of(type(thing))
            learned.news.append(f"identity {len(self._older)}, of an object of the type {label}")
            return True
        return False

    def _ask(self, address: int, thing: Any, epoch: int) -> None:
        """Note that the identity of an object has been asked for.  Lists, and others without weak
        references, are kept alive so that they are known again; not more than `MOST`."""
        if field_of(type(thing), "__weakrefoffset__"):
            self._asked[address] = ref(thing), epoch
        elif self._kept < MOST:
            self._kept += 1
            self._asked[address] = (lambda: thing), epoch


identities = Identities()
_MADE: Final = frozenset({FunctionType, MethodType, type, object, tuple, frozenset})
"""Types of plain objects that runs make, and that are told apart."""


def _is_kind_of(kind: object, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)


_ALIAS: Final[type] = vars(typing)["_BaseGenericAlias"]
_REMEMBERED: Final = frozenset(
    (re.Pattern, *(kind for kind in vars(typing).values() if _is_kind_of(kind, _ALIAS)))
)
"""Types of objects that exempt modules remember: compiled expressions, `typing.List[int]`."""


def is_same(left: Any, right: Any) -> bool:
    """`left is right`"""
    if type(left) in _REMEMBERED and type(left) is type(right) and left == right:
        _note_identity(left)
    return left is right


def _note_identity(thing: Any) -> None:
    run = session.current
    if run.ident == get_ident() and len(run.tasks) > 1:
        kind = name_of(type(thing)).replace("._", ".")
        unobserved.note_code(f"the identity of a {kind}", "it depends on what its module remembers")


@performs(CallEffect.IDENTIFIES)
def identify(function: Any, site: int, /, *arguments: Any) -> int:
    """Perform `id(thing)`."""
    address: int = function(*arguments)
    if type(arguments[0]) in _REMEMBERED:
        _note_identity(arguments[0])
    if "ctypes" in sys._getframe(1).f_globals:
        return address
    return number_of(arguments[0], address)


def number_of(thing: Any, address: int) -> int:
    """Return the identity of an object, which lies at an address."""
    kind = type(thing)
    if (kind in PLAIN and kind not in _MADE) or names.is_pinned(thing):
        return address  # which says nothing about what the object holds
    seen = names.see(thing)
    if seen.number <= 0 or identities.is_older(thing):
        return address
    return int.from_bytes(seen.name.encode()) << 1 | 1


def stable_hash(thing: Any) -> int | None:
    """Return a hash of an object that does not depend on addresses; None if none does."""
    kind: Any = type(thing)
    if kind is tuple:
        parts = [stable_hash(part) for part in thing]
        if any(part is not None for part in parts):
            pairs = zip(parts, thing, strict=True)
            return hash(tuple(hash(value) if part is None else part for part, value in pairs))
    elif find_in_class(kind, "__hash__") is object.__hash__:
        number = number_of(thing, -1)
        return None if number < 0 else hash(number)
    return None


@performs(CallEffect.HASHES)
def find_hash(function: Any, site: int, /, *arguments: Any) -> int:
    """Perform `hash(thing)`."""
    if len(arguments) == 1 and session.current.ident == get_ident():
        found = stable_hash(arguments[0])
        if found is not None:
            return found
    return perform_deep(arguments, site, function, *arguments)  # type: ignore[no-any-return]
