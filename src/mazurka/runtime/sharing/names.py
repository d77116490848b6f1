"""Names of the objects that instrumented code touches: the same in all equivalent runs.

An object is named when a thread first meets it: after the thread, and how many it has named before.
The rewritten code shows every object to `made` where it comes into being (calls, displays,
comprehensions), so the one that names it is nearly always its creator, before anybody else can know
it.  Modules, classes and what modules hold when the exploration begins have names of their own.

If two threads meet an object for the first time and neither comes before the other, then its name
would depend on the schedule.  Every run notices that.  The object is then *pinned*: if it existed
before the run, it has the same name from the next run on, whoever meets it first.  If objects of
that type turn out to be new ones in every run, made where nobody watches, they are not told apart
any more: all of them are one object, which is coarse and sound.  Types may be new ones in every
run themselves, and are known by their names here.

Objects that have been met are forgotten when they end; those that do not tell when they end (lists,
dictionaries, cells) are kept until the run ends, so that their identities stay theirs.
"""

from __future__ import annotations

import sys
import weakref
from types import CellType, ModuleType
from typing import Any

from mazurka.runtime.core.insides import module_of, qualified_name
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.sharing.accesses import Structure
from mazurka.runtime.sharing.locations import SharedLocation, learned, order

EVERYBODY = -1
PINS = 3
"""How many objects of a type are pinned before they are not told apart any more."""
SWEEP = 50_000
"""How many objects are kept before those are dropped that nobody else knows any more."""


UNTOUCHED = SharedLocation()
"""Stands for the whole of all objects that nobody has treated as containers."""
UNTOUCHED.owner = -3


class Seen(dict[str, SharedLocation]):
    """An object that the run has met: its name, and the locations that belong to it."""

    __slots__ = (
        *("count", "entered", "kept", "maker", "met", "number", "origin", "path", "whole"),
    )

    def __init__(self, kept: Any, maker: int, path: str, number: int) -> None:
        self.kept = kept
        self.maker = maker
        self.path = path
        self.number = number
        self.count = now.count
        self.origin = ""
        self.whole = UNTOUCHED
        """All of it, where it is a container."""
        self.met: set[int] | None = None
        """Other threads that have met it."""
        self.entered: set[int] | None = None
        """The generators that somebody is inside, of those that it stands for."""

    @property
    def name(self) -> str:
        return f"{self.path}:{self.number}" if self.number else self.path

    @property
    def vague(self) -> bool:
        """Whether it stands for all objects of a type."""
        return self.number < 0

    def structure(self) -> Structure | None:
        found: Structure | None = self.whole.shared
        return found


class _Kept(weakref.ref[Any]):
    __slots__ = ("identity",)
    identity: int


class Names:
    """What has been named in this run, and what has a name for the whole exploration."""

    def __init__(self) -> None:
        self.objects: dict[int, Seen] = {}
        self._counts: dict[int, int] = {}
        self._pinned: dict[int, tuple[Any, str]] = {}
        self._pins: dict[str, int] = {}
        """By the name of a type: how many of its objects have been pinned."""
        self._vague: dict[str, Seen | None] = {}
        """By the name of a type whose objects are not told apart: what stands for them all."""
        self._plain: set[type] = set()
        """Types whose objects are named after their creators, unless they are pinned."""
        self._limit = SWEEP

    def clear(self) -> None:
        """Forget the exploration."""
        self._pinned.clear()
        self._pins.clear()
        self._vague.clear()
        self._plain.clear()
        self.restart()

    def restart(self) -> None:
        """Forget the run."""
        self.objects.clear()
        self._counts.clear()
        self._limit = SWEEP
        for kind in self._vague:
            self._vague[kind] = None

    def pin(self, thing: Any, name: str) -> None:
        """Give an object a name for the whole exploration."""
        self._pinned.setdefault(id(thing), (thing, name))

    def is_pinned(self, thing: Any) -> bool:
        return id(thing) in self._pinned

    def see(self, thing: Any) -> Seen:
        """The running thread has an object in its hands."""
        seen = self.objects.get(id(thing))
        if seen is None:
            return self.meet(thing)
        if seen.maker not in (EVERYBODY, now.thread):
            self._meet_again(thing, seen)
        return seen

    def meet(self, thing: Any) -> Seen:
        """It has one in its hands that nobody has met."""
        objects = self.objects
        objects[id(thing)] = seen = self._name(thing)
        if len(objects) > self._limit:
            self._sweep()
        return seen

    def _name(self, thing: Any) -> Seen:
        kind = type(thing)
        if kind not in self._plain or id(thing) in self._pinned:
            seen = self._special(thing, kind)
            if seen is not None:
                return seen
        me = now.thread
        number = self._counts[me] = self._counts.get(me, 0) + 1
        maker = EVERYBODY if now.alone else me
        return Seen(self._kept(thing), maker, session.current.running.path, number)

    def _special(self, thing: Any, kind: type) -> Seen | None:
        """What stands for an object that is not named after its creator."""
        pinned = self._pinned.get(id(thing))
        if pinned is not None:
            return Seen(thing, EVERYBODY, pinned[1], 0)
        if self._vague and (label := name_of(kind)) in self._vague:
            seen = self._vague_one(label)
            seen.kept.append(thing)
            return seen
        if kind is ModuleType:  # a package may hold an object that is called like its module
            seen = Seen(thing, EVERYBODY, f"module {thing.__name__}", 0)
            seen.origin = thing.__name__
            return seen
        if issubclass(kind, type):
            if "<locals>" not in thing.__qualname__:
                return Seen(thing, EVERYBODY, f"{thing.__module__}.{thing.__qualname__}", 0)
        elif "<locals>" not in qualified_name(kind):  # those may be new ones in every run
            self._plain.add(kind)
        return None

    def _kept(self, thing: Any) -> Any:
        """What keeps the identity of an object: a word from it when it ends, or the object."""
        if not type(thing).__weakrefoffset__:
            return thing
        kept = _Kept(thing, self._forget)
        kept.identity = id(thing)
        return kept

    def _forget(self, kept: _Kept) -> None:
        seen = self.objects.get(kept.identity)
        if seen is not None and seen.kept is kept:
            del self.objects[kept.identity]

    def _vague_one(self, label: str) -> Seen:
        seen = self._vague[label]
        if seen is None:
            seen = self._vague[label] = Seen([], EVERYBODY, f"any {label}", -1)
        return seen

    @property
    def vague(self) -> list[str]:
        """The names of the types whose objects are not told apart."""
        return sorted(self._vague)

    def _meet_again(self, thing: Any, seen: Seen) -> None:
        """Another thread than the one that named it has it in its hands."""
        me = now.thread
        if seen.met is None:
            seen.met = set()
        if me in seen.met:
            return
        seen.met.add(me)
        if order.is_before(seen.maker, seen.count, me):
            return
        label = name_of(type(thing))
        pins = self._pins.get(label, 0)
        if pins and (pins >= PINS or type(thing) is CellType):
            self._vague.setdefault(label, None)
            self._plain.clear()
            learned.news.append(f"one name for all objects of the type {label}")
            return
        self._pins[label] = pins + 1
        self.pin(thing, f"outside {label} {pins + 1}")
        learned.news.append(f"name {pins + 1} for an object of the type {label}")

    def _sweep(self) -> None:
        """Drop objects that nobody else knows; they cannot come back."""
        probe = Seen(object(), 0, "", 0)
        ours = sys.getrefcount(probe.kept)
        dead = [
            identity
            for identity, seen in self.objects.items()
            if seen.number > 0
            and type(seen.kept) is not _Kept
            and sys.getrefcount(seen.kept) <= ours
        ]
        for identity in dead:
            del self.objects[identity]
        self._limit = max(SWEEP, 2 * len(self.objects))


def name_of(kind: type) -> str:
    """What a type is called, in every run, without asking its own code."""
    module, name = module_of(kind), qualified_name(kind)
    return name if module in ("", "builtins") else f"{module}.{name}"


names = Names()
see = names.see
meet = names.meet
objects = names.objects
known = objects.get
"""What the run knows of the object with an identity, if it has met that."""


def short(value: object) -> str:
    """A value in a report: short, and whatever its own `repr` does."""
    kind = type(value)
    if kind in (int, float, bool, type(None)):
        return repr(value)
    try:
        text = repr(value)
    except Exception:
        return f"<{kind.__name__}>"
    if text.startswith("<") and " at 0x" in text:
        text = f"<{kind.__name__}>"
    return text if len(text) <= 60 else text[:57] + "..."
