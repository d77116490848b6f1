"""Code that is observed on demand: all that a thread under control enters and nobody has rewritten.

Every function that may be observed, and is not, has a trap (`traps`).  Which ones that are is
decided by their modules (`selection`); of some modules of the standard library only parts are
observed (`library.PARTS`).
"""

from __future__ import annotations

import builtins
import sys
from _thread import get_ident
from collections.abc import Callable, Iterable
from importlib import machinery
from types import (
    AsyncGeneratorType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    ModuleType,
)
from typing import Any, Final, TypeAlias
from weakref import ReferenceType, ref

from mazurka.runtime.core.insides import is_module, names_in
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import MARK, is_rewritten
from mazurka.runtime.rewrite import library, sources
from mazurka.runtime.rewrite.live_functions import live_functions
from mazurka.runtime.rewrite.running_loops import find_driven
from mazurka.runtime.rewrite.selection import Rule
from mazurka.runtime.rewrite.traps import Traps, is_part, is_trap
from mazurka.runtime.sharing.monitoring import unobserved

_Space: TypeAlias = dict[str, Any]
_ALL: Final = frozenset({""})
"""Stands for all functions of a namespace."""
_NONE: Final = frozenset[str]()
_BUILTINS: Final = vars(builtins)
"""Has the mark, for code that outlives an exploration, and yet functions that nobody has rewritten:
those that `dataclasses` makes for a class of no module."""
_RESUMED: Final[dict[int, str]] = {
    id(GeneratorType): "gi_frame",
    id(CoroutineType): "cr_frame",
    id(AsyncGeneratorType): "ag_frame",
}
"""By the identity of a type whose objects run code later (classes may do anything when compared):
where they have its frame."""


def has_code(module: ModuleType) -> bool:
    """Whether a module is made of Python's own code, whatever has become of its source."""
    return not str(names_in(module).get("__file__")).endswith(tuple(machinery.EXTENSION_SUFFIXES))


class Silence:
    """A context in which code that a thread enters runs as it is."""

    def __init__(self) -> None:
        self._depths: dict[int, int] = {}
        """By thread: how often it has entered the context, and not left it."""

    def __enter__(self) -> None:
        me = get_ident()
        self._depths[me] = self._depths.get(me, 0) + 1

    def __exit__(self, *error: object) -> None:
        me = get_ident()
        self._depths[me] -= 1
        if not self._depths[me]:
            del self._depths[me]

    def is_kept(self) -> bool:
        """Whether the present thread is inside."""
        return bool(self._depths) and get_ident() in self._depths


class _Suspended:
    """A generator or coroutine that was made before the exploration, and where it stood."""

    def __init__(self, weak: ReferenceType[Any], stood: int, name: str) -> None:
        self._weak = weak
        self._stood = stood
        self.name = name

    def stands(self) -> bool:
        """Tell whether nobody has resumed it since: C code may do that, and one that is dropped
        runs to its end."""
        thing = self._weak()
        frame = None if thing is None else getattr(thing, _RESUMED[id(type(thing))])
        return frame is not None and frame.f_lasti == self._stood


class Entrances:
    """The ways into code that is not observed yet."""

    def __init__(self, is_left: Rule, observe: Callable[[FunctionType], None]) -> None:
        self._is_left = is_left
        self._observe = observe
        """Observes a function that is entered, and what belongs to it."""
        self._traps = Traps(self._meet)
        self.silence = Silence()
        self._parts: dict[int, tuple[_Space, frozenset[str]]] = {}
        """By identity: namespaces, and which of their functions and classes may be observed."""
        self._suspended: list[_Suspended] = []
        """Generators that were made before the exploration."""
        self._standing: list[_Suspended] = []
        """Those among them that no run has resumed so far."""
        self._refused: dict[CodeType, str] = {}
        """Code that cannot be rewritten, and why; where it runs all the same, it is named."""

    # -- which functions ---------------------------------------------------------------------

    def watch_all(self) -> None:
        """Set a trap in every function that may be observed and is not."""
        live_functions.refresh()
        live_functions.take_fresh()
        for space, group in live_functions.by_namespace():
            parts = self._parts_to_watch(space)
            if parts is _ALL:
                self._traps.set_in_namespace(group)
            elif parts:
                self._traps.set_in_parts(group, parts)
        self._watch_suspended(live_functions.generators())

    def watch_new(self) -> None:
        """Do the same for what has come into being since."""
        live_functions.refresh()
        others: list[Any] = []
        for thing in live_functions.take_fresh():
            if type(thing) is not FunctionType:
                others.append(thing)
            elif self._may_watch(thing):
                self._traps.set_all([thing])
        self._watch_suspended(others)

    def _watch_suspended(self, things: Iterable[Any]) -> None:
        """Note where generators and coroutines stand, except for those that others resume."""
        driven: set[int] | None = None
        for thing in things:
            name = _RESUMED.get(id(type(thing)))
            frame = None if name is None else getattr(thing, name)
            if frame is None or not self._is_unobserved(frame):
                continue
            driven = find_driven() if driven is None else driven
            if id(thing) not in driven:
                suspended = _Suspended(ref(thing), frame.f_lasti, thing.__qualname__)
                self._suspended.append(suspended)
                self._standing.append(suspended)

    def _may_watch(self, function: FunctionType) -> bool:
        parts, code = self._parts_to_watch(function.__globals__), function.__code__
        is_wanted = parts is _ALL or is_part(function, parts)
        return is_wanted and not is_rewritten(code) and not is_trap(code)

    def _parts_to_watch(self, space: _Space) -> frozenset[str]:
        """Which functions and classes of a namespace may be observed, and are not."""
        known = self._parts.get(id(space))
        parts = self._decide(space) if known is None else known[1]
        return _NONE if MARK in space and space is not _BUILTINS else parts

    def resume(self, generator: Any) -> None:
        """Name a generator or a coroutine that the program makes a step of, if it has been begun
        before."""
        frame = getattr(generator, _RESUMED[id(type(generator))])
        if frame is not None and self._is_unobserved(frame):
            unobserved.code.add(f"{generator.__qualname__} (begun before the exploration)")

    def _is_unobserved(self, frame: FrameType) -> bool:
        """Whether a generator runs code that is not observed when it goes on."""
        space, code = frame.f_globals, frame.f_code
        known = self._parts.get(id(space))
        parts = self._decide(space) if known is None else known[1]
        return parts is _ALL and not is_rewritten(code) and not sources.is_from_source(code)

    def name_resumed(self) -> None:
        """Name the generators that were begun before the exploration and stand elsewhere now, or
        have ended."""
        for one in self._suspended:
            if not one.stands():
                unobserved.code.add(f"{one.name} (begun before the exploration)")

    def take_resumed(self) -> list[str]:
        """Return the names of generators made before the exploration that a run has now resumed for
        the first time.  Where they stood cannot be put back."""
        resumed = [one for one in self._standing if not one.stands()]
        for one in resumed:
            self._standing.remove(one)
        return [one.name for one in resumed]

    def _decide(self, space: _Space) -> frozenset[str]:
        """Decide which functions of a namespace may be observed."""
        name, file = dict.get(space, "__name__"), dict.get(space, "__file__")
        parts = _ALL
        if type(name) is str and self._is_left(name, file if type(file) is str else ""):
            parts = library.PARTS.get(name, _NONE)
        self._parts[id(space)] = space, parts
        return parts

    def covers(self, name: object, part: str) -> bool:
        """Whether a function or class of a module is observed as soon as a thread enters it."""
        module = sys.modules.get(name) if type(name) is str else None
        if module is None or not is_module(module) or name in sys.builtin_module_names:
            return False
        if not has_code(module):
            return False
        space = names_in(module)
        parts = self._decide(space)
        return parts is _ALL or part in parts

    # -- what is entered ---------------------------------------------------------------------

    def enter(self, function: FunctionType) -> bool:
        """Observe a function that is about to be called; False if it is not to be observed.

        One that has no trap has been made since, by C code.
        """
        if not self._traps.is_set(function):
            if not self._may_watch(function) or function.__code__ in self._refused:
                return False
            self._traps.set_all([function])
        self._meet(function)
        return True

    def _meet(self, function: FunctionType) -> None:
        """Observe a function; that is not the program's doing, so its thread is not under control
        meanwhile.  Threads that unwind after the end of a run enter what no run would."""
        run = session.current
        if run.over or self.silence.is_kept():
            return
        run.do_aside(self._observe, function)

    def close(self, function: FunctionType) -> bool:
        """Take the trap out of a function; say whether there was one, and it can be rewritten."""
        if not self._traps.is_set(function):
            return False
        self._traps.remove(function)
        reason = self._refused.get(function.__code__)
        if reason is not None:
            unobserved.code.add(f"{function.__qualname__} ({reason})")
        return reason is None

    def close_all(self, space: _Space) -> list[FunctionType]:
        """Take the traps out of the functions of a namespace, and return these."""
        return self._traps.remove_from(space)

    def refuse(self, function: FunctionType, reason: str) -> None:
        """Let a function that cannot be rewritten be named when it is entered."""
        self._refused[function.__code__] = reason
        self._traps.set_all([function])

    def knows(self, code: CodeType) -> bool:
        """Whether code is named when it runs, or is no code of the program's."""
        return is_trap(code) or code in self._refused

    def open_all(self) -> None:
        """Take out all traps: the exploration is over."""
        self._traps.remove_all()
        del self._traps, self._observe  # they refer to this object
        self._parts.clear()
        self._suspended.clear()
        self._standing.clear()
        self._refused.clear()
