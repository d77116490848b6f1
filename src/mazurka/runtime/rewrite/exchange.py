"""Everything that rewriting changes in the process, and the one place where it is put back."""

from __future__ import annotations

from contextlib import suppress
from types import CodeType, FunctionType, ModuleType
from typing import Any
from weakref import ReferenceType, ref

from mazurka.runtime.core.insides import names_in, names_in_class
from mazurka.runtime.core.sites import MARK
from mazurka.runtime.python.events import events_of


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

    def replace_code(self, function: FunctionType, code: CodeType) -> None:
        self._codes.setdefault(ref(function, self._forget), function.__code__)
        function.__code__ = code

    def _forget(self, function: ReferenceType[FunctionType]) -> None:
        self._codes.pop(function, None)

    def replace_method(self, kind: type, name: str, method: Any) -> None:
        """Replace what a class holds, whatever its own class makes of assignments."""
        old = names_in_class(kind)[name]
        with suppress(TypeError):  # a class of C, which cannot be changed
            type.__setattr__(kind, name, method)
            key = id(kind)
            if key not in self._methods:
                self._methods[key] = ref(kind, lambda _: self._methods.pop(key, None)), {}
            self._methods[key][1].setdefault(name, old)

    def mark(self, module: ModuleType) -> None:
        """Let rewritten code find the events in the namespace of its module."""
        names_in(module)[MARK] = events_of(module)
        self._modules.append(module)

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
