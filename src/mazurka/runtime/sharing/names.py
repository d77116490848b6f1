"""Names of the objects that instrumented code touches: the same in all equivalent runs.

An object is named when a thread first meets it: after the thread, and the number of objects that
the thread has named before.  Rewritten code shows every object to the event `receive` where it is
created (calls, displays, comprehensions, slices, operators, steps of loops), with the lists and
dictionaries in it that C code may have made, so the thread that names an object is nearly always
its creator, before any other thread can have it.  Modules, classes and what modules hold when the
exploration begins have names of their own.

If two threads meet an object for the first time and neither comes before the other, then its name
would depend on the schedule.  Every run notices that.  The object is then *pinned*: if it existed
before the run, it has the same name from the next run on, whichever thread meets it first.  If
objects of that type turn out to be created anew in every run, by code that is not watched, so that
later runs do not meet those that were pinned, they are no longer told apart: all of them count as
one object, which is coarse and sound.  A type may be created anew in every run itself; types are
known by their names here.

A thread gets an object of another one by a variable or a container that both use.  Before that is
known to need scheduling points, nothing orders the two threads, and the run learns these points
first.  So a run that has learned something else pins nothing: it is repeated, and only what is
unordered then has no creator that anybody knows.  A search that ends has learned nothing, so it has
seen no object whose name depended on the schedule.

Objects that have been met are forgotten when they are destroyed.  Those without weak references
(lists, dictionaries, cells) are kept alive until the run ends, so that no other object gets their
identity.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections import Counter
from types import CellType, FunctionType, ModuleType
from typing import Any

from mazurka.runtime.core.insides import field_of, has_in_class, module_of, qualified_name
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.sharing.kept_by_c import older_in_c
from mazurka.runtime.sharing.locations import SharedLocation, learned, order
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.older_fields import evaluates_annotations, makes_annotations
from mazurka.runtime.sharing.older_state import older_state

EVERYBODY = -1
PINS = 3
"""The number of objects of a type that are pinned in vain before they are no longer told apart."""
PINS_OF_RUN = 32
"""The number of objects of a type that one run pins at most."""
_NAME = "name"
"""How the news begins that an object has been pinned."""
ENDINGS = 100
"""After so many runs with finalizers, cycles are looked for among all objects, not new ones."""
SWEEP = 50_000
"""The number of known objects at which those are dropped that nobody else refers to."""


UNTOUCHED = SharedLocation()
"""The location of objects that have not been accessed as containers."""
UNTOUCHED.owner = -3


class Seen(dict[str, SharedLocation]):
    """An object that a thread has met in this run: its name, and its locations."""

    __slots__ = ("count", "entered", "kept", "maker", "met", "number", "origin", "path", "whole")

    def __init__(self, kept: Any, maker: int, path: str, number: int) -> None:
        self.kept = kept
        self.maker = maker
        self.path = path
        self.number = number
        self.count = now.count
        self.origin = ""
        self.whole = UNTOUCHED
        """The location of all of it, if it is accessed as a container."""
        self.met: set[int] | None = None
        """Other threads than the one that named it that have met it."""
        self.entered: set[int] | None = None
        """Identities of the generators or contexts it stands for that a thread is inside."""

    @property
    def name(self) -> str:
        return f"{self.path}:{self.number}" if self.number else self.path

    @property
    def thing(self) -> Any:
        """The object; None if it has gone."""
        kept = self.kept
        return kept() if type(kept) is _Reference else kept

    @property
    def vague(self) -> bool:
        """Whether this stands for all objects of a type."""
        return self.number < 0


class _Reference(weakref.ref[Any]):
    """A weak reference that knows the identity of its object."""

    __slots__ = ("identity",)
    identity: int


class Names:
    """The objects with names: for this run, or for the whole exploration."""

    def __init__(self) -> None:
        self.objects: dict[int, Seen] = {}
        self._counts: dict[int, int] = {}
        self._pinned: dict[int, tuple[Any, str]] = {}
        self._own = older_state.own
        """The identities of those to which only the test leads."""
        self.memories: set[int] = set()
        """The identities of those that exempt modules fill (`exempt.find_memories`)."""
        self._pins: Counter[str] = Counter()
        """By the name of a type: the number of its objects that have been pinned."""
        self._vain: Counter[str] = Counter()
        """By the name of a type: how many of these no later run has met."""
        # By identity, the names of the types of objects that have been pinned: by the present run,
        # by the one before if the present one has not met them, and by earlier ones in vain.
        self._fresh: dict[int, str] = {}
        self._tried: dict[int, str] = {}
        self._missed: dict[int, str] = {}
        self._vague: dict[str, Seen | None] = {}
        """By the name of a type whose objects are not told apart: what stands for them all."""
        self._plain: set[type] = set()
        """Types whose objects are named after their creators, unless they are pinned."""
        self._finalized: set[type] = set()
        """Types with a `__del__` method whose objects runs have met."""
        self._endings = 0
        """After how many runs there may have been such objects."""
        self._limit = SWEEP

    def clear(self) -> None:
        """Forget the exploration."""
        older_state.clear()
        older_in_c.clear()
        self._pinned.clear()
        self._own.clear()
        self.memories.clear()
        self._pins.clear()
        self._vain.clear()
        self._fresh.clear()
        self._tried.clear()
        self._missed.clear()
        self._vague.clear()
        self._plain.clear()
        self.restart()
        self._finalized.clear()

    def restart(self) -> None:
        """Forget the run, and what it has changed in objects that are older.

        An object that it was the first to meet it may have made itself: a node of a list in C, say.
        If a later run meets it, it is compared with what it was then.

        Objects that the run has made, and that nothing but an older one refers to, end then; so do
        those that it has left in cycles.  If they have finalizers, these run when all is put back,
        as what unwinds does, and what they change is put back, too.
        """
        has_run = bool(self.objects)
        ending = self._find_finalized()
        self._forget_run()
        if has_run and self._finalized:
            self._finalize(ending)
            self._forget_run()
        if has_run and (self._fresh or self._tried):
            self._count_pins_in_vain()

    def _find_finalized(self) -> list[Any]:
        """Find the objects with a finalizer that the run has met."""
        kinds = self._finalized
        if not kinds:
            return []
        kept = (seen.kept if seen.vague else (seen.thing,) for seen in self.objects.values())
        return [thing for things in kept for thing in things if type(thing) in kinds]

    def _finalize(self, ending: list[Any]) -> None:
        """Let objects end, the last references to which are in this list or in cycles.

        The program has not ended them, so what their finalizers raise says nothing about it.
        """
        self._endings += 1
        with session.current.unwinding():
            ending.clear()
            gc.collect(0 if self._endings % ENDINGS else 2)

    def _forget_run(self) -> None:
        older_in_c.put_back()  # first: what C code writes may be a variable, too
        lost = older_state.put_back(self.objects.get)
        for thing in (*lost, *older_in_c.take_lost()):
            if id(thing) not in self._fresh:
                unobserved.lose(self._pinned[id(thing)][1] if self.is_pinned(thing) else thing)
        self.objects.clear()
        self._counts.clear()
        self._limit = SWEEP
        for kind in self._vague:
            self._vague[kind] = None

    def pin(self, thing: Any, name: str, *, older: bool = True) -> None:
        """Give an object a name for the whole exploration; what runs change in it is put back,
        unless it is the test's own (`older`)."""
        if self._pinned.setdefault(id(thing), (thing, name))[1] is name and not older:
            self._own.add(id(thing))

    def _pin_met(self, thing: Any, name: str) -> None:
        """Give an object that a run has met a name for the whole exploration, or until it goes: if
        the run has made it, nothing else keeps it."""
        kept: Any = thing
        if field_of(type(thing), "__weakrefoffset__"):
            kept = _Reference(thing, self._unpin)
            kept.identity = id(thing)
        self._pinned.setdefault(id(thing), (kept, name))

    def _unpin(self, kept: _Reference) -> None:
        if self._pinned.get(kept.identity, (None,))[0] is kept:
            del self._pinned[kept.identity]

    def pin_memory(self, thing: Any, name: str) -> None:
        """Give a name to what a module fills that is not observed: if the program reaches for it,
        nothing is proved."""
        self.pin(thing, name, older=False)
        self.memories.add(id(thing))

    def is_pinned(self, thing: Any) -> bool:
        return id(thing) in self._pinned

    def is_older(self, thing: Any) -> bool:
        """Whether an object is known to be older than the run; not one of the test's own."""
        key = id(thing)
        return key in held or (key in self._pinned and key not in self._own)

    def note_older(self, thing: Any, name: str) -> None:
        """Note that the run may change an object, if that is older, by what it gets as an
        attribute; give the object no name."""
        if self.is_older(thing) or is_lasting(thing):
            older_state.meet(thing)
            if name == "__annotations__" and issubclass(type(thing), (type, ModuleType)):
                self._name_annotations(thing)

    def _name_annotations(self, thing: Any) -> None:
        """Name the dictionary that the interpreter makes in each run that asks a class or a module
        for annotations which it does not have, whichever thread asks first.  Those that code of the
        program evaluates belong to the thread that asks.

        It does not matter when they are made, so that is done here, unless they are deleted."""
        older_state.show_whole(thing)
        if evaluates_annotations(thing) or (
            "__annotations__" in learned.moving and makes_annotations(thing)
        ):
            return
        kind = type if issubclass(type(thing), type) else ModuleType
        made = vars(kind)["__annotations__"].__get__(thing)
        if id(made) not in held and id(made) not in self._pinned and id(made) not in self.objects:
            owner = qualified_name(thing) if kind is type else thing.__name__
            self.objects[id(made)] = Seen(made, EVERYBODY, f"{owner}.__annotations__", 0)

    def see(self, thing: Any) -> Seen:
        """Find what is known of an object that the running thread has, and name it if it is new."""
        seen = self.objects.get(id(thing))
        if seen is None:
            return self.meet(thing)
        if seen.maker not in (EVERYBODY, now.thread):
            self._meet_again(thing, seen)
        return seen

    def meet(self, thing: Any) -> Seen:
        """Name an object that no thread has met."""
        objects = self.objects
        objects[id(thing)] = seen = self._name(thing)
        if len(objects) > self._limit:
            self._sweep()
        return seen

    def _name(self, thing: Any) -> Seen:
        kind = type(thing)
        if id(thing) in held or (kind is FunctionType and is_lasting(thing)):
            older_state.meet(thing)
        if kind not in self._plain or id(thing) in self._pinned:
            if has_in_class(kind, "__del__"):
                self._finalized.add(kind)
            seen = self._name_specially(thing, kind)
            if seen is not None:
                return seen
        me = now.thread
        number = self._counts[me] = self._counts.get(me, 0) + 1
        maker = EVERYBODY if now.alone else me
        return Seen(self._protect(thing), maker, session.current.running.path, number)

    def _name_specially(self, thing: Any, kind: type) -> Seen | None:
        """Name an object that is not named after its creator; None if it has to be."""
        pinned = self._pinned.get(id(thing))
        if pinned is not None:
            if self._tried or self._missed:
                self._note_pinned(id(thing))
            if id(thing) in self.memories:
                unobserved.reach_memory(pinned[1])
            elif id(thing) not in self._own:
                older_state.meet(thing)
            return Seen(thing, EVERYBODY, pinned[1], 0)
        if self._vague and (label := name_of(kind)) in self._vague:
            seen = self._vague[label]
            if seen is None:
                seen = self._vague[label] = Seen([], EVERYBODY, f"any {label}", -1)
            seen.kept.append(thing)
            return seen
        if kind is ModuleType:  # a package may hold an object that is called like its module
            older_state.meet(thing)
            seen = Seen(thing, EVERYBODY, f"module {thing.__name__}", 0)
            seen.origin = thing.__name__
            return seen
        if issubclass(kind, type):
            if is_lasting(thing):
                older_state.meet(thing)
                name = f"{module_of(thing)}.{qualified_name(thing)}"
                return Seen(thing, EVERYBODY, name, 0)
        elif "<locals>" not in qualified_name(kind):  # those may be new ones in every run
            self._plain.add(kind)
        return None

    def _protect(self, thing: Any) -> Any:
        """Make what protects the identity of an object: a weak reference, or the object itself."""
        if not field_of(type(thing), "__weakrefoffset__"):
            return thing
        kept = _Reference(thing, self._forget)
        kept.identity = id(thing)
        return kept

    def _forget(self, kept: _Reference) -> None:
        seen = self.objects.get(kept.identity)
        if seen is not None and seen.kept is kept:
            del self.objects[kept.identity]

    @property
    def vague(self) -> list[str]:
        """The names of the types whose objects are not told apart."""
        return sorted(self._vague)

    def _meet_again(self, thing: Any, seen: Seen) -> None:
        """Note that another thread has an object than the one that named it.

        While threads unwind after a run nobody is under control, and nothing is to be learned.
        """
        if session.current.over:
            return
        me = now.thread
        if seen.met is None:
            seen.met = set()
        if me in seen.met:
            return
        seen.met.add(me)
        if order.is_before(seen.maker, seen.count, me):
            return
        if any(not one.startswith(_NAME) for one in learned.news):
            return  # the search begins anew, and may order what has led here
        label = name_of(type(thing))
        vain = self._vain[label]
        if vain and (vain >= PINS or type(thing) is CellType):
            self._vague.setdefault(label, None)
            self._plain.clear()
            learned.news.append(f"one name for all objects of the type {label}")
            return
        if list(self._fresh.values()).count(label) >= PINS_OF_RUN:
            return  # the next run will show whether it meets these again
        self._pins[label] += 1
        self._pin_met(thing, f"outside {label} {self._pins[label]}")
        self._fresh[id(thing)] = label
        self._missed.pop(id(thing), None)  # another object had this identity
        learned.news.append(f"{_NAME} {self._pins[label]} for an object of the type {label}")

    def _count_pins_in_vain(self) -> None:
        """Count the pinned objects that the run has not met, which has ended."""
        for identity, label in self._tried.items():
            self._vain[label] += 1
            self._missed[identity] = label
        self._tried, self._fresh = self._fresh, {}

    def _note_pinned(self, identity: int) -> None:
        """Note that a run has met an object that an earlier one has pinned."""
        self._tried.pop(identity, None)
        label = self._missed.pop(identity, None)
        if label is not None:
            self._vain[label] -= 1

    def _sweep(self) -> None:
        """Drop objects that nobody else refers to: no thread can meet them again."""
        probe = Seen(object(), 0, "", 0)
        ours = sys.getrefcount(probe.kept)
        dead = [
            identity
            for identity, seen in self.objects.items()
            if seen.number > 0
            and type(seen.kept) is not _Reference
            and sys.getrefcount(seen.kept) <= ours
        ]
        for identity in dead:
            del self.objects[identity]
        self._limit = max(SWEEP, 2 * len(self.objects))


def is_lasting(thing: Any) -> bool:
    """Return whether an object is a module, or a function or class that no function defines: each
    execution finds the same one under its name."""
    kind = type(thing)
    if kind is FunctionType:
        return "<locals>" not in thing.__qualname__
    return kind is ModuleType or (
        issubclass(kind, type) and "<locals>" not in qualified_name(thing)
    )


def name_of(kind: type) -> str:
    """Name a type, the same in every run, without running code of its metaclass."""
    module, name = module_of(kind), qualified_name(kind)
    return name if module in ("", "builtins") else f"{module}.{name}"


held = older_state.held
names = Names()
see = names.see
meet = names.meet
objects = names.objects
memories = names.memories
known = objects.get
"""Finds what is known of the object with an identity; None if no thread has met it."""


def short(value: object) -> str:
    """Show a value in a report, shortened; its `repr` may do anything."""
    kind = type(value)
    if kind in (int, float, bool, type(None)):
        return repr(value)
    try:
        text = repr(value)
    except Exception:
        return f"<{field_of(kind, '__name__')}>"
    if text.startswith("<") and " at 0x" in text:
        text = f"<{field_of(kind, '__name__')}>"
    return text if len(text) <= 60 else text[:57] + "..."
