"""C code on whose way code of the program runs is as many operations as there are pieces of it.

`s.isdisjoint(generator)` asks the set after each step of the generator; `accumulate(l, f)` keeps
what `f` gives it once `f` has ended.  What such C code touches it touches again after each piece of
code: there, its thread stands before the same operation once more.  Whatever happens to its objects
happens in a step that says so.

An iterator that is handed to C code shows its steps: a generator is entered and left (`step`), and
an iterator of C code is moved, also where it is taken along by another one (`zip(l, counter)`).
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Sequence
from itertools import repeat
from sys import getrefcount
from types import FunctionType, GeneratorType
from typing import Any, Final
from weakref import ref

from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.catalogue import PLAIN
from mazurka.runtime.python.containers import Part, PendingAccess, approach_all, family_of, perform
from mazurka.runtime.python.opaque import (
    RUNNING,
    enter,
    is_iterator,
    is_lone,
    part_of_opaque,
    perform_step,
)
from mazurka.runtime.sharing.locations import learned


class Turns:
    """What C code touches before and after each piece of code that runs on its way."""

    __slots__ = ("_owner", "_parts", "_site", "_standing")

    def __init__(self, parts: Sequence[Part], site: int, owner: Any = None) -> None:
        """`owner` is touched, too, and is kept by nobody here."""
        self._parts = parts
        self._site = site
        self._owner = None if owner is None else ref(owner)
        self._standing: dict[int, list[PendingAccess]] = {}

    def _begin(self, *more: Part) -> None:
        me = get_ident()
        if session.current.ident != me:
            return
        owner = None if self._owner is None else self._owner()
        parts = [*more, *self._parts]
        if owner is not None:
            parts.insert(0, part_of_opaque(owner))
        if parts:
            self._standing[me] = approach_all(parts, self._site)

    def _end(self) -> None:
        for standing in self._standing.pop(get_ident(), ()):
            standing.settle()

    def perform(self, action: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """The C code."""
        self._begin()
        try:
            return action(*arguments, **named)
        finally:
            self._end()

    def aside(self, action: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """A piece of other code on its way."""
        self._end()
        try:
            return action(*arguments, **named)
        finally:
            self._begin()

    def step(self, items: Any, site: int) -> Any:
        """A step through something.  No thread comes between the end of a generator's step and what
        C code does then: both are one operation."""
        if type(items) is not GeneratorType:
            return self.aside(advance, items, site)
        self._end()
        entered = None
        try:
            entered = enter(items, site, RUNNING)
            return next(items)
        finally:
            if entered is None:
                self._begin()
            else:
                self._begin(part_of_opaque(items))
                entered.discard(id(items))


# -- iterators in the hands of C code ------------------------------------------------------------


def advance(items: Any, site: int) -> Any:
    """One step that C code makes."""
    return perform_step(next, site, items, items) if is_iterator(items) else next(items)


class Stepped:
    """Something in the hands of C code, which goes through it step by step."""

    __slots__ = ("_items", "_site", "_turns")

    def __init__(self, items: Any, site: int, turns: Turns | None = None) -> None:
        """`turns` belong to the C code, if it touches anything else."""
        self._items = items
        self._site = site
        self._turns = turns

    def within(self, turns: Turns) -> Stepped:
        """The same for C code that has such turns."""
        return Stepped(self._items, self._site, turns)

    def __iter__(self) -> Stepped:
        if not is_iterator(self._items):
            turns = self._turns
            self._items = iter(self._items) if turns is None else turns.aside(iter, self._items)
        return self

    def __next__(self) -> Any:
        if self._turns is None:
            return advance(self._items, self._site)
        return self._turns.step(self._items, self._site)

    def __repr__(self) -> str:
        return repr(self._items)

    def __eq__(self, other: object) -> bool:
        same: object = other._items if isinstance(other, Stepped) else other
        return bool(self._items == same)

    def __hash__(self) -> int:
        return hash(self._items)


class Delegated(Stepped):
    """A generator in the hands of `yield from`, which hands on what comes from outside."""

    __slots__ = ()

    def send(self, value: Any) -> Any:
        return perform_step(self._items.send, self._site, self._items, value)

    def throw(self, *error: Any) -> Any:
        return perform_step(self._items.throw, self._site, self._items, *error)

    def close(self) -> None:
        perform_step(self._items.close, self._site, self._items)


def note_user(place: str, before: int | None) -> int | None:
    """The running thread moves an iterator that was made in a place, maybe after another one;
    gives the thread."""
    if session.current.ident != get_ident():
        return before
    if before not in (None, now.thread):
        share(place)
    return now.thread


def share(place: str) -> None:
    """What is made in a place counts as shared from now on."""
    if place not in learned.moving:
        learned.moving.add(place)
        learned.news.append(place)


def runs_code(value: Any) -> bool:
    """Whether code of the program, or ours, runs when somebody goes through a value."""
    kind = type(value)
    if kind is GeneratorType:
        return True
    return kind not in PLAIN and type(getattr(kind, "__iter__", None)) is FunctionType


# -- what goes through values --------------------------------------------------------------------


def _argument(value: Any, _site: int) -> int:
    return getrefcount(value)


LONE: Final = _argument(iter(()), 0)
"""How often the argument of a function is counted that nobody else has."""


def _variable() -> int:
    items = iter(())
    return getrefcount(items)


LONE_INSIDE: Final = _variable()
"""The same for the value of a variable."""


def step_through(value: Any, site: int) -> Any:
    """Before C code goes through something that is no container: `[*value]`, `a, b = value`."""
    kind = type(value)
    if kind is GeneratorType:
        return Stepped(value, site)
    if is_iterator(value):
        return perform(part_of_opaque(value), site, _itself, value)
    if runs_code(value) and not hasattr(kind, "__next__"):
        items = iter(value)
        return items if getrefcount(items) <= LONE_INSIDE else step_through(items, site)
    return value


def _itself(value: Any) -> Any:
    return value


def delegate_to(value: Any, site: int) -> Any:
    """What `yield from` goes through, where it is no container and others may have it."""
    if type(value) is GeneratorType:
        return Delegated(value, site)
    if runs_code(value) and not hasattr(type(value), "__next__"):
        items = iter(value)
        return items if getrefcount(items) <= LONE_INSIDE else delegate_to(items, site)
    return Stepped(value, site) if is_iterator(value) else value


def search_through(value: Any, site: int) -> Any:
    """Before C code looks for something in what is no container: `x in value`."""
    kind = type(value)
    if is_iterator(value):
        return Stepped(value, site)
    if runs_code(value) and not (hasattr(kind, "__contains__") or hasattr(kind, "__next__")):
        return step_through(value, site)
    return value


def show_generators(
    arguments: tuple[Any, ...], site: int, through: bool = False
) -> tuple[Any, ...]:
    """The arguments of a built-in function, with generators that show their steps.

    `through` says that it goes through all that has elements: what a class of the program gives it
    then may be a generator, too.
    """
    changed: list[Any] = []
    for value in arguments:
        if type(value) is GeneratorType:
            alone = is_lone(getrefcount(value), value)
            changed.append(value if alone else Stepped(value, site))
        elif through and runs_code(value) and _is_source(value):
            changed.append(Stepped(value, site))
        else:
            changed.append(value)
    return tuple(changed)


def perform_through(
    parts: Sequence[Part],
    site: int,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    named: dict[str, Any],
) -> Any:
    """A C function that touches some objects while it goes through its arguments (`stepped`)."""
    turns = Turns(parts, site)
    changed: list[Any] = []
    for value in arguments:
        if type(value) is GeneratorType:  # nobody else has it
            changed.append(map(turns.aside, repeat(next), repeat(value)))
        elif type(value) is Stepped:
            changed.append(value.within(turns))
        elif runs_code(value) and _is_source(value):
            changed.append(Stepped(value, site, turns))
        else:
            changed.append(value)
    return turns.perform(function, *changed, **named)


def _is_source(value: Any) -> bool:
    """Whether there is nothing but elements to ask something for."""
    kind = type(value)
    return family_of(kind) is None and not hasattr(kind, "keys")
