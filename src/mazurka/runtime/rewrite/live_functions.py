"""All functions of the process, wherever they are held: in classes, in closures, behind decorators.

What one exploration has found is known to the next one, by weak references.  So it need not look at
all objects of the process again, of which there are hundreds of thousands, but only at new ones.
Which ones those are is told by a *mark*: an object whose generation the garbage collector shows.

Invariant: a function that is not known is in no older generation than the mark, and it is frozen
only if the mark is.  This holds when the mark is made: everything has been looked at in the same
step, which no other thread interrupts, and new objects are in the youngest generation.  It goes on
to hold, because the collector and `gc.freeze` move whole generations: what takes a function to an
older one takes the mark there, too, if it is not older already.  So where the mark is still among
the objects of some generations, from the youngest on, only these have to be looked at.

A function that dies is dropped by its reference.  One that a finalizer brings back to life loses
its reference, but it was in one of the generations that were being collected, and so it is now
where the mark is, or in a younger one: it is found like a new one.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import call
from types import AsyncGeneratorType, CoroutineType, FunctionType, GeneratorType
from typing import Any, Final, TypeAlias
from weakref import ReferenceType

from mazurka.runtime.core.collection import is_frozen
from mazurka.runtime.python.catalogue import CachedFunction

Space: TypeAlias = dict[str, Any]
_YOUNG: Final = (partial(gc.get_objects, 0), partial(gc.get_objects, 1))
_ALL: Final = (gc.get_objects,)
SOME: Final = 10_000
"""How many new functions there are when dead ones among them are dropped."""


class Mark:
    """Shows by its generation which objects are new."""


class Group(dict[int, "Live"]):
    """References by the identities of what they refer to."""

    __slots__ = ("parts", "traps")

    traps: Any
    """What stands for the code of all these functions (`traps`); None after a change."""
    parts: Any
    """Those that belong to some parts of the namespace (`traps`); None after a change."""

    def change(self) -> None:
        """Forget what holds of these functions only: there is one more, or one less."""
        self.traps = self.parts = None


class Live(ReferenceType[Any]):
    """A weak reference to a function, a generator or a cache."""

    __slots__ = ("group", "key", "trap")

    group: Group
    """The functions of its namespace, or all generators, or all caches."""
    key: int
    trap: Any
    """What stands for the code of a function, once that has been needed (`traps`)."""


def _forget(live: Live) -> None:
    """Drop what has died."""
    if live.group.get(live.key) is live:
        del live.group[live.key]
        live.group.change()
    if live.trap is not None:
        live.trap.forget()


class LiveFunctions:
    """The functions of the process by their namespaces; generators and coroutines; caches."""

    def __init__(self) -> None:
        self._functions: dict[int, Group] = {}
        """By the identity of a namespace, which is alive if any of its functions is."""
        self._generators, self._caches = Group(), Group()
        self._added: list[Live] = []
        self._fresh = 0
        """How many of these have been taken."""
        self._mark: object = None
        self._total = self._moved = 0
        """How many objects there were when all were looked at, and how many have been frozen since
        that were not looked through for cycles."""

    # -- what there is -----------------------------------------------------------------------

    def by_namespace(self) -> Iterator[tuple[Space, Group]]:
        """Yield each namespace with its functions."""
        for group in list(self._functions.values()):
            first = next(iter(group.values()), None)
            function = None if first is None else first()
            if function is None:  # it is dying; the others may be alive
                function = next(iter(_alive(list(group.values()))), None)
            if function is not None:
                yield function.__globals__, group

    def of_namespace(self, space: Space) -> list[Live]:
        """Return the functions of a namespace."""
        return list(self._functions.get(id(space), {}).values())

    def generators(self) -> list[Any]:
        """Return all generators, coroutines and asynchronous generators."""
        return _alive(list(self._generators.values()))

    def cached_functions(self) -> set[int]:
        """Return the identities of the functions that have caches of `functools`."""
        self.refresh()
        caches = _alive(list(self._caches.values()))
        return {id(vars(cache).get("__wrapped__")) for cache in caches}

    def forget_added(self) -> None:
        """Forget what is new: an exploration begins, or has ended."""
        self._added.clear()
        self._fresh = 0

    def added(self) -> list[Any]:
        """Return what has been found since the exploration began."""
        return _alive(self._added)

    def take_fresh(self) -> list[Any]:
        """Return what has been found since this was last asked for."""
        fresh = _alive(self._added[self._fresh :])
        self._fresh = len(self._added)
        return fresh

    def find(self, function: FunctionType) -> Live | None:
        """Return the reference to a function, if it is known."""
        group = self._functions.get(id(function.__globals__))
        return None if group is None else group.get(id(function))

    def know(self, function: FunctionType) -> Live:
        """Return the reference to a function, which may be new."""
        key = id(function.__globals__)
        group = self._functions.get(key)
        if group is None:
            group = self._functions[key] = Group()
        live = group.get(id(function))
        return live if live is not None and live() is function else self._add(function, group)

    # -- what is new -------------------------------------------------------------------------

    def refresh(self) -> None:
        """Look at what is new."""
        self._look()

    def put_aside(self) -> None:
        """Look at what is new, and freeze all objects; drop namespaces without functions.

        Cycles are looked for among the youngest objects only, which leaves the mark young.  Others
        get into the oldest generation with all that is frozen.  When these have become many, all
        objects are looked through, as the interpreter itself would do.
        """
        if self._moved > self._total // 4:
            gc.collect()
        else:
            gc.collect(0)
        self._look(gc.freeze)
        for key in [key for key, group in self._functions.items() if not group]:
            del self._functions[key]

    def _look(self, *then: Callable[[], None]) -> None:
        """Look at what is new, and do something else in the same step."""
        is_enabled = gc.isenabled()
        gc.disable()
        try:
            if not self._look_among(_YOUNG, then):
                self._look_further(then)
        finally:
            if is_enabled:
                gc.enable()

    def _look_further(self, then: Sequence[Callable[[], None]]) -> None:
        """Look at what is not frozen, and at everything if that is not enough."""
        hides = is_frozen()
        if not hides:
            self._look_among(_ALL, then, is_everything=True)
        elif then or not self._look_among(_ALL, then):
            self._look_among((gc.unfreeze, *_ALL), (gc.freeze,), is_everything=True)

    def _look_among(
        self,
        find: Sequence[Callable[[], Any]],
        then: Sequence[Callable[[], None]],
        *,
        is_everything: bool = False,
    ) -> bool:
        """Add the functions that are among some objects; False if there may be others.

        Objects are listed, something else is done, and a mark is made, in one step: the interpreter
        runs no instruction in between, and so no other thread.
        """
        *parts, mark = map(call, (*find, *then, Mark))
        things = [thing for part in parts for thing in part or ()]
        for part in parts:
            if part:
                part.clear()  # they hold each other
        found = _select(things)
        count = len(things)
        things.clear()
        if is_everything:
            self._total, self._moved = count, 0
        elif any(thing is self._mark for thing in found):
            self._moved += count if then else 0
        else:
            return False
        self._mark = mark
        self._add_all(found)
        return True

    def _add_all(self, found: Iterable[Any]) -> None:
        for thing in found:
            kind = type(thing)
            if kind is FunctionType:
                self.know(thing)
            elif kind is not Mark:
                group = self._caches if kind is CachedFunction else self._generators
                if id(thing) not in group:
                    self._add(thing, group)

    def _add(self, thing: Any, group: Group) -> Live:
        live = Live(thing, _forget)
        live.group, live.key, live.trap = group, id(thing), None
        group[live.key] = live
        group.change()
        self._added.append(live)
        if len(self._added) % SOME == 0:
            self._drop_dead()
        return live

    def _drop_dead(self) -> None:
        """Drop what has died from what is new: every run may make some functions."""
        taken, fresh = self._added[: self._fresh], self._added[self._fresh :]
        taken = [live for live in taken if live() is not None]
        self._fresh = len(taken)
        self._added = [*taken, *(live for live in fresh if live() is not None)]


def _select(things: list[Any]) -> list[Any]:
    """Select what is kept here; by comparing types, since classes may do anything when hashed."""
    return [
        thing
        for thing in things
        if (kind := type(thing)) is FunctionType
        or kind is GeneratorType
        or kind is CachedFunction
        or kind is CoroutineType
        or kind is AsyncGeneratorType
        or kind is Mark
    ]


def _alive(lives: Iterable[Live]) -> list[Any]:
    return [thing for live in lives if (thing := live()) is not None]


live_functions: Final = LiveFunctions()
