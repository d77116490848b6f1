"""C functions that call back into Python: each callback splits the call into another operation.

`s.isdisjoint(generator)` asks the set after each step of the generator; `accumulate(l, f)` stores
what `f` returns once `f` has ended.  C code touches its objects again after each callback.  So when
a callback is over, the thread stands before the same operation once more: whatever happens to the
objects happens in an operation that touches them.

An iterator that is given to C code shows its steps.  A generator is entered and left
(`opaque.perform_step`); an iterator of C code is moved, also as a source of another one
(`zip(l, counter)`).
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Sequence
from itertools import repeat
from sys import getrefcount
from types import FunctionType, GeneratorType
from typing import Any, Final
from weakref import ref

from mazurka.runtime.core.insides import find_in_class, has_in_class
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python import opaque
from mazurka.runtime.python.catalogue import NONE, PLAIN
from mazurka.runtime.python.containers import Part, PendingAccess, approach_all, family_of, perform
from mazurka.runtime.python.opaque import (
    READER,
    go_through,
    is_gone_through_by_c,
    is_iterator,
    is_lone,
    operate,
    part_of_opaque,
    perform_step,
)
from mazurka.runtime.python.reentry import perform_in_turns
from mazurka.runtime.sharing.locations import learned


class Turns:
    """The operations of one call of C code, separated by callbacks; all touch the same objects."""

    __slots__ = ("_owner", "_parts", "_pending", "_site")

    def __init__(self, parts: Sequence[Part], site: int, owner: Any = None) -> None:
        """`owner` is touched, too; only a weak reference to it is held."""
        self._parts = parts
        self._site = site
        self._owner = None if owner is None else ref(owner)
        self._pending: dict[int, list[PendingAccess]] = {}

    def _begin(self, *more: Part) -> None:
        me = get_ident()
        if session.current.ident != me:
            return
        owner = None if self._owner is None else self._owner()
        parts = [*more, *self._parts]
        if owner is not None:
            parts.insert(0, part_of_opaque(owner))
        if parts:
            self._pending[me] = approach_all(parts, self._site)

    def _end(self) -> None:
        for access in self._pending.pop(get_ident(), ()):
            access.settle()

    def perform(self, action: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
        """Call the C code, as the first operation."""
        self._begin()
        try:
            return action(*arguments, **named)
        finally:
            self._end()

    def aside(self, action: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
        """Call other code in between: end an operation before it, and begin another after it."""
        self._end()
        try:
            return action(*arguments, **named)
        finally:
            self._begin()

    def step(self, items: Any, site: int) -> Any:
        """Make a step of an iterator in between.

        No thread comes between the end of a generator's step and what C code does then: leaving the
        generator belongs to the next operation.
        """
        if type(items) is not GeneratorType:
            return self.aside(advance, items, site)
        self._end()
        entered = None
        try:
            entered = opaque.enter(items, site, opaque.RUNNING)
            return next(items)
        finally:
            if entered is None:
                self._begin()
            else:
                self._begin(part_of_opaque(items))
                entered.discard(id(items))


# -- iterators that are given to C code ----------------------------------------------------------


def advance(items: Any, site: int) -> Any:
    """Make one step of an iterator, as C code does."""
    return perform_step(next, site, items, items) if is_iterator(items) else next(items)


class Stepped:
    """Stands for an iterable that is given to C code, and shows each of its steps."""

    __slots__ = ("_site", "_turns", "items")

    def __init__(self, items: Any, site: int, turns: Turns | None = None) -> None:
        """`turns` are the operations of the C code, if it touches anything else."""
        self.items = items
        self._site = site
        self._turns = turns

    def within(self, turns: Turns) -> Stepped:
        """Return the same for C code with such operations."""
        return Stepped(self.items, self._site, turns)

    def __iter__(self) -> Stepped:
        if not is_iterator(self.items):
            turns = self._turns
            self.items = iter(self.items) if turns is None else turns.aside(iter, self.items)
        return self

    def __next__(self) -> Any:
        if self._turns is None:
            return advance(self.items, self._site)
        return self._turns.step(self.items, self._site)

    def __repr__(self) -> str:
        return repr(self.items)

    def __eq__(self, other: object) -> bool:
        same: object = other.items if isinstance(other, Stepped) else other
        return bool(self.items == same)

    def __hash__(self) -> int:
        return hash(self.items)


class Delegated(Stepped):
    """A generator that is given to `yield from`, which passes on `send`, `throw` and `close`."""

    __slots__ = ()

    def send(self, value: Any) -> Any:
        return perform_step(self.items.send, self._site, self.items, value)

    def throw(self, *error: Any) -> Any:
        return perform_step(self.items.throw, self._site, self.items, *error)

    def close(self) -> None:
        perform_step(self.items.close, self._site, self.items)


def note_user(place: str, before: int | None) -> int | None:
    """Note that the running thread moves an iterator that was made in a place; return the thread.

    `before` is the thread that moved it last.  If that was another one, the place is learned.
    """
    if session.current.ident != get_ident():
        return before
    if before not in (None, now.thread):
        share(place)
    return now.thread


def share(place: str) -> None:
    """Learn that threads share the iterators that are made in a place."""
    if place not in learned.moving:
        learned.moving.add(place)
        learned.news.append(place)


def runs_code(value: Any) -> bool:
    """Tell whether going through a value runs Python code."""
    kind = type(value)
    if kind is GeneratorType:
        return True
    return kind not in PLAIN and type(find_in_class(kind, "__iter__")) is FunctionType


# -- going through values ------------------------------------------------------------------------


def _argument(value: Any, _site: int) -> int:
    return getrefcount(value)


LONE: Final = _argument(iter(()), 0)
"""The reference count of an argument of a function that nobody else has."""


def _variable() -> int:
    items = iter(())
    return getrefcount(items)


LONE_INSIDE: Final = _variable()
"""The reference count of a local variable's value that nobody else has."""


def step_through(value: Any, site: int) -> Any:
    """Prepare a value that is no container for C code that goes through it: `[*value]`."""
    kind = type(value)
    if kind is GeneratorType or kind is READER:
        return Stepped(value, site)
    if is_iterator(value):
        return perform(part_of_opaque(value), site, itself, value)
    if is_gone_through_by_c(kind):
        return operate(value, site, list, value)
    if runs_code(value) and not has_in_class(kind, "__next__"):
        items = iter(value)
        return items if getrefcount(items) <= LONE_INSIDE else step_through(items, site)
    return value


def itself(value: Any) -> Any:
    return value


def delegate_to(value: Any, site: int) -> Any:
    """Prepare a value that is no container for `yield from`, where others may have it."""
    if type(value) is GeneratorType:
        return Delegated(value, site)
    if runs_code(value) and not has_in_class(type(value), "__next__"):
        items = iter(value)
        return items if getrefcount(items) <= LONE_INSIDE else delegate_to(items, site)
    if is_iterator(value):
        return Stepped(value, site)
    return go_through(value, site) if is_gone_through_by_c(type(value)) else value


def search_through(value: Any, site: int) -> Any:
    """Prepare a value that is no container for C code that searches it: `x in value`."""
    kind = type(value)
    if is_iterator(value):
        return Stepped(value, site)
    if runs_code(value) and not (
        has_in_class(kind, "__contains__") or has_in_class(kind, "__next__")
    ):
        return step_through(value, site)
    return value


def show_generators(
    arguments: tuple[Any, ...], site: int, sources: slice = NONE
) -> tuple[Any, ...]:
    """Replace generators among the arguments of C code by objects that show their steps.

    `sources` says which iterables the C code goes through: the `__iter__` of a class of the program
    may give it a generator, too.
    """
    changed: list[Any] = []
    for value in arguments:
        is_shown = type(value) is GeneratorType and not is_lone(getrefcount(value), value)
        is_shown = is_shown or type(value) is READER
        changed.append(Stepped(value, site) if is_shown else value)
    for index in range(len(changed))[sources]:
        value = changed[index]
        if type(value) is not GeneratorType and runs_code(value) and _is_source(value):
            changed[index] = Stepped(value, site)
    return tuple(changed)


def perform_through(
    parts: Sequence[Part],
    site: int,
    function: Any,
    arguments: Sequence[Any],
    named: dict[str, Any],
    sources: slice,
) -> Any:
    """Call a C function that touches objects while it goes through what `show_generators` gave."""
    turns = Turns(parts, site)
    changed: list[Any] = list(arguments)
    for index in range(len(changed))[sources]:
        value = changed[index]
        if type(value) is GeneratorType:  # nobody else has it
            changed[index] = map(turns.aside, repeat(next), repeat(value))
        elif type(value) is Stepped:
            changed[index] = value.within(turns)
        elif runs_code(value) and _is_source(value):
            changed[index] = Stepped(value, site, turns)
    return turns.perform(function, *changed, **named)


def perform_steps(
    parts: Sequence[Part],
    site: int,
    function: Any,
    arguments: tuple[Any, ...],
    named: dict[str, Any],
    sources: slice,
) -> Any:
    """Call a C function as one access, or as several if it goes through Python code; `sources` are
    the arguments that it goes through."""
    if any(map(runs_code, arguments[sources])):
        return perform_through(parts, site, function, arguments, named, sources)
    return perform_in_turns(parts, site, function, *arguments, **named)


def _is_source(value: Any) -> bool:
    """Tell whether a value is an iterable, and neither a container nor a mapping."""
    kind = type(value)
    return family_of(kind) is None and not has_in_class(kind, "keys")
