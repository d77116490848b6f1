"""Weak references: what threads see of the end of an object.

A weak reference gives its object when it is called, or None once the object has ended.  An object
ends where a thread drops the last reference to it: when a variable is bound again, when a function
returns.  No event comes before that, so it cannot become a scheduling point.  Instead the end is
noted when it happens, and so are calls of weak references.  If no synchronization orders the end
with a call in another thread, that call could have given the other answer at the same place; then
nothing is proved.  If there is no such pair in any run, the order of ends and calls follows from
the operations that are explored.
"""

from __future__ import annotations

from _thread import get_ident
from typing import Any, Final
from weakref import CallableProxyType, ProxyType, ref

from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.calls import performs
from mazurka.runtime.python.catalogue import CallEffect
from mazurka.runtime.sharing.locations import learned, order
from mazurka.runtime.sharing.names import name_of


class Lifetime:
    """The life of an object to which there are weak references, in one run."""

    __slots__ = ("_calls", "_end", "_kind", "_run", "_watch")

    def __init__(self, target: Any) -> None:
        self._run = session.current
        self._kind = name_of(type(target))
        self._watch = ref(target, self._note_end)
        self._calls: dict[int, int] = {}
        """By thread: how many operations there had been when it last called a weak reference."""
        self._end: tuple[int, int] | None = None
        """The thread that has dropped the object, and how many operations there had been."""

    def is_of(self, target: Any) -> bool:
        return self._run is session.current and self._watch() is target

    @property
    def is_present(self) -> bool:
        return self._run is session.current

    def note_call(self) -> None:
        """Note that the running thread calls a weak reference."""
        if self._end is not None:
            self._compare(*self._end)
        self._calls[now.thread] = now.count

    def _note_end(self, _: object) -> None:
        run = session.current
        if run is not self._run or run.ident != get_ident() or run.over:
            return
        if not now.alone:
            for thread, count in self._calls.items():
                self._compare(thread, count)
            self._end = now.thread, now.count

    def _compare(self, thread: int, count: int) -> None:
        """Prove nothing if what a thread did is not ordered with what the running one does."""
        if thread != now.thread and not order.is_before(thread, count, now.thread):
            reason = "threads call weak references to it meanwhile"
            learned.unordered.add(f"the end of an object of the type {self._kind} ({reason})")


_of_targets: dict[int, Lifetime] = {}
"""By the identity of an object: its life."""
_of_references: dict[int, Lifetime] = {}
"""By the identity of a weak reference: the life of its object, which may have ended."""


def follow(reference: Any, target: Any) -> Lifetime | None:
    """Find the life of the object of a weak reference; None if it ended before it was known."""
    if target is None:
        life = _of_references.get(id(reference))
        return life if life is not None and life.is_present else None
    life = _of_targets.get(id(target))
    if life is None or not life.is_of(target):
        life = _of_targets[id(target)] = Lifetime(target)
    _of_references[id(reference)] = life
    return life


def forget_lives() -> None:
    """Forget the objects of the runs so far."""
    _of_targets.clear()
    _of_references.clear()
    _proxied.clear()


@performs(CallEffect.MAKES_REFERENCE)
def make_reference(make: Any, _site: int, /, *arguments: Any, **named: Any) -> Any:
    """`ref(target)`, `ref.__new__(kind, target)`: the object itself is not touched."""
    reference = make(*arguments, **named)
    if session.current.ident == get_ident():
        is_proxy = type(reference) in PROXIES
        target = arguments[0] if is_proxy else ref.__call__(reference)
        if target is not None:
            follow(reference, target)
        if is_proxy:
            _proxied[id(reference)] = ref(target)
    return reference


# -- proxies -------------------------------------------------------------------------------------

PROXIES: Final = frozenset({ProxyType, CallableProxyType})
_proxied: dict[int, Any] = {}
"""By the identity of a proxy that the run has made: a weak reference to its object."""


def follow_proxy(proxy: Any) -> Any:
    """Note that the running thread uses a proxy; return its object, or None if that has ended."""
    weak = _proxied.get(id(proxy))
    if weak is not None:
        target = weak()
    else:  # it is older than the run
        try:
            target = getattr(proxy.__sizeof__, "__self__", None)
        except ReferenceError:
            target = None
    if not now.alone:
        life = follow(proxy, target)
        if life is not None:
            life.note_call()
    return target


@performs(CallEffect.FOLLOWS_REFERENCE)
def call_reference(reference: Any, _site: int, /, *arguments: Any, **named: Any) -> Any:
    """`reference()`"""
    return _note_call(reference, reference(*arguments, **named))


def call_bound_reference(function: Any, _site: int, /, *arguments: Any, **named: Any) -> Any:
    """`super().__call__()` in a class of weak references, such as `weakref.WeakMethod`."""
    return _note_call(function.__self__, function(*arguments, **named))


def _note_call(reference: Any, target: Any) -> Any:
    if session.current.ident == get_ident() and not now.alone:
        life = follow(reference, target)
        if life is not None:
            life.note_call()
    return target
