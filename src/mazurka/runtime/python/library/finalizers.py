"""`weakref.finalize`: each finalizer is one location.

The class keeps all finalizers in one dictionary, and gives them numbers in the order in which they
are made.  As an ordinary dictionary it would put every use of a finalizer in conflict with all
others.  But a finalizer is only looked up under itself, so that calling, detaching and asking one
touch this one alone, and a new one can be looked up by nobody else.  The order of the dictionary
and the numbers show when the process ends, which no run does.  So the dictionary is replaced by one
that counts the entry of a finalizer as part of the finalizer, and finalizers are made unobserved.
A program that uses the dictionary in any other way gets no proof.
"""

from __future__ import annotations

import weakref
from _thread import get_ident
from collections.abc import Iterator
from typing import Any, Final
from weakref import finalize

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import AccessSite, number_of
from mazurka.runtime.python.containers import perform
from mazurka.runtime.python.library.weak_references import follow
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.names import see

_make: Final[Any] = vars(finalize)["__init__"]
_entries: Final[dict[Any, Any]] = vars(finalize)["_registry"]


def _site(method: str, role: str) -> int:
    """Make the number of a place in the source: the beginning of a method."""
    line = vars(finalize)[method].__code__.co_firstlineno
    return number_of(AccessSite(weakref.__file__, line, 4, line, 60, role))


_ASKED: Final = _site("peek", "call_method")
_TAKEN: Final = _site("__call__", "call_method")


class Finalizers:
    """Stands for the dictionary of all finalizers, while an exploration goes on."""

    __slots__ = ("_made", "_taken")

    def __init__(self) -> None:
        self._made: set[Any] = set()
        """Those that the run has made."""
        self._taken: dict[Any, Any] = {}
        """Those of others that the run has taken out."""

    def put_back(self) -> None:
        """Let the next run find the finalizers that are older than all runs."""
        _entries.update(self._taken)
        self._taken.clear()
        self._made.clear()

    def make(self, finalizer: Any, target: Any, /, *arguments: Any, **named: Any) -> None:
        """Make a finalizer; whoever does that names it."""
        run = session.current
        if run.ident != get_ident():
            _make(finalizer, target, *arguments, **named)
            return
        see(finalizer)
        run.do_aside(lambda: _make(finalizer, target, *arguments, **named))
        self._made.add(finalizer)
        info = _entries[finalizer]
        see(info)
        follow(info.weakref, target)

    def get(self, finalizer: Any) -> Any:
        return perform((finalizer, None, How.READ_ALL, None), _ASKED, _entries.get, finalizer)

    def __contains__(self, finalizer: Any) -> bool:
        return self.get(finalizer) is not None

    def pop(self, finalizer: Any, default: Any) -> Any:
        return perform((finalizer, None, How.CHANGE, None), _TAKEN, self._pop, finalizer, default)

    def _pop(self, finalizer: Any, default: Any) -> Any:
        found = _entries.pop(finalizer, default)
        is_older = found is not default and finalizer not in self._made
        if is_older and session.current.ident == get_ident():
            self._taken[finalizer] = found
        return found

    def __setitem__(self, finalizer: Any, info: Any) -> None:
        _entries[finalizer] = info

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._all())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._all(), name)

    def _all(self) -> dict[Any, Any]:
        if session.current.ident == get_ident():
            unobserved.note_code("finalize._registry", "finalizers are observed one by one")
        return _entries


finalizers: Final = Finalizers()


def replace_parts_of_finalize() -> Iterator[tuple[type, str, Any]]:
    """The class, names of its parts, and what is to be in their places."""

    def __init__(self: Any, obj: Any, func: Any, /, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        finalizers.make(self, obj, func, *args, **kwargs)

    yield finalize, "_registry", finalizers
    yield finalize, "__init__", __init__
