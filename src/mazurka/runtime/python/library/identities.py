"""`id(thing)` in the program's code: a number that is the same in every run.

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
"""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any, Final
from weakref import ReferenceType, ref

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.calls import performs
from mazurka.runtime.python.catalogue import PLAIN, CallEffect
from mazurka.runtime.sharing.locations import learned
from mazurka.runtime.sharing.names import name_of, names


class Identities:
    """The objects whose identities the program has asked for, by address."""

    def __init__(self) -> None:
        self._asked: dict[int, tuple[ReferenceType[Any], int]] = {}
        """By address: the object, and the run in which its identity was first asked for."""
        self._older: dict[int, Any] = {}
        """By address: objects that are known to be older than the runs."""

    def clear(self) -> None:
        self._asked.clear()
        self._older.clear()

    def is_older(self, thing: Any) -> bool:
        """Tell whether an object existed before the run, as far as is known."""
        address, epoch = id(thing), session.current.epoch
        if address in self._older:
            return True
        asked = self._asked.get(address)
        if asked is None or asked[0]() is not thing:
            self._asked[address] = ref(thing), epoch
        elif asked[1] != epoch:
            self._older[address] = thing
            label = name_of(type(thing))
            learned.news.append(f"identity {len(self._older)}, of an object of the type {label}")
            return True
        return False


identities = Identities()
_MADE: Final = frozenset({FunctionType, type})
"""Types of plain objects that runs make, and that are told apart."""


@performs(CallEffect.IDENTIFIES)
def identify(function: Any, site: int, /, *arguments: Any) -> int:
    """Perform `id(thing)`."""
    address: int = function(*arguments)
    thing = arguments[0]
    kind = type(thing)
    if (kind in PLAIN and kind not in _MADE) or "ctypes" in sys._getframe(1).f_globals:
        return address
    seen = names.see(thing)
    if seen.number <= 0 or (kind.__weakrefoffset__ and identities.is_older(thing)):
        return address
    return int.from_bytes(seen.name.encode()) << 1 | 1
