"""Everything that rewriting changes in the process, and the one place where it is put back.

Functions that rewritten code has made, and classes with them, may outlive the exploration in a
registry, or as somebody's callback.  They get the code that the compiler has made of their source,
too.  Code that cannot be changed any more, that of a generator that has begun, finds events to call
for the rest of the process (`python.events.leave_events`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from inspect import CO_ITERABLE_COROUTINE
from types import CodeType, FunctionType, ModuleType
from typing import Any
from weakref import ReferenceType, ref

from mazurka.runtime.core.insides import names_in, names_in_class
from mazurka.runtime.core.patches import is_forwarding
from mazurka.runtime.core.sites import MARK, is_observed, is_rewritten
from mazurka.runtime.python.events import events_of, leave_events
from mazurka.runtime.rewrite.bytecode import rewriting
from mazurka.runtime.rewrite.sources import functions_in, key_of, start_of
from mazurka.runtime.sharing.older_state import older_state


class Exchange:
    """What functions, classes and modules had before an exploration.

    Invariant: whatever has been given something else is known here with what it had at first, for
    as long as it lives; so after `restore` all of them are as if there had been no exploration.
    None of them is kept alive: every run of a test makes functions and classes anew.
    """

    def __init__(self) -> None:
        self._codes: dict[ReferenceType[FunctionType], CodeType] = {}
        self._methods: dict[int, tuple[ReferenceType[type], dict[str, Any]]] = {}
        """By identity, since classes may do anything when compared."""
        self._modules: list[ModuleType] = []
        self._replaced: dict[int, tuple[CodeType, CodeType]] = {}
        """By identity: rewritten code, and the code that it stands for."""

    def replace_code(self, function: FunctionType, code: CodeType) -> None:
        if is_forwarding(function.__code__):
            return  # what it calls is under control
        old = self._codes.setdefault(ref(function, self._forget), function.__code__)
        if old.co_flags & CO_ITERABLE_COROUTINE:  # `types.coroutine` has marked it
            code = code.replace(co_flags=code.co_flags | CO_ITERABLE_COROUTINE)
        self._replaced[id(code)] = code, old
        function.__code__ = code

    def _forget(self, function: ReferenceType[FunctionType]) -> None:
        self._codes.pop(function, None)

    def replace_method(self, kind: type, name: str, method: Any) -> None:
        """Replace what a class holds, whatever its own class makes of assignments."""
        old = names_in_class(kind)[name]
        with suppress(TypeError):  # a class of C, which cannot be changed
            type.__setattr__(kind, name, method)
            older_state.change(kind, name, method)
            key = id(kind)
            if key not in self._methods:
                self._methods[key] = ref(kind, lambda _: self._methods.pop(key, None)), {}
            self._methods[key][1].setdefault(name, old)

    def mark(self, module: ModuleType) -> None:
        """Let rewritten code find the events in the namespace of its module."""
        leave_events()
        older_state.hold(module)
        names_in(module)[MARK] = events_of(module)
        self._modules.append(module)

    def restore_made(self, things: Iterable[Any]) -> None:
        """Give functions that rewritten code has made the code of their source, as far as they are
        among some objects."""
        made = [
            thing
            for thing in things
            if type(thing) is FunctionType
            and (MARK in thing.__globals__ or is_observed(thing.__code__))
        ]
        if made:
            known = self._find_originals(any(is_rewritten(one.__code__) for one in made))
            for function in made:
                _, code = known.get(id(function.__code__), (None, None))
                if code is not None and ref(function) not in self._codes:
                    function.__code__ = code

    def _find_originals(self, by_instructions: bool) -> dict[int, tuple[CodeType, CodeType]]:
        """Find, by identity of rewritten code, what it stands for; also in functions that others
        make, and in those that `exec` has made if `by_instructions`."""
        found: dict[int, tuple[CodeType, CodeType]] = {}
        waiting = list(self._replaced.values())
        if by_instructions:
            waiting += rewriting.all_rewritten()
        while waiting:
            new, old = waiting.pop()
            if id(new) not in found:
                found[id(new)] = new, old
                waiting += _pair_functions(new, old)
        return found

    def restore(self) -> None:
        """Give back what everything had; there is nothing left to be restored then.

        Functions and classes may die, and be forgotten, at any moment of it: so one is taken out
        after the other, instead of going through all.
        """
        while self._methods:
            _, (known_class, methods) = self._methods.popitem()
            kind = known_class()
            if kind is not None:
                for name, old in methods.items():
                    type.__setattr__(kind, name, old)
        while self._codes:
            known_function, code = self._codes.popitem()
            function = known_function()
            if function is not None:
                function.__code__ = code
        while self._modules:
            names_in(self._modules.pop()).pop(MARK, None)
        self._replaced.clear()


def _pair_functions(new: CodeType, old: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Pair the code of the functions that rewritten code makes with what it stands for.

    Those that cannot be told apart stay as they are, and so does what rewriting has added.
    """
    rewritten: dict[Any, list[CodeType]] = {}
    for code in functions_in(new):
        rewritten.setdefault(key_of(code), []).append(code)
    for code in functions_in(old):
        alike = rewritten.get(key_of(code), [])
        if len(alike) > 1:
            alike = [other for other in alike if start_of(other) == start_of(code)]
        if len(alike) == 1:
            yield alike[0], code
