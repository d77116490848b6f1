"""What is changed in the interpreter while an exploration goes on, and how it is put back."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any, Final, cast

from mazurka.runtime.core.insides import entries, is_module, names_in, names_in_class

_originals: dict[tuple[type, str], Any] = {}
"""The methods that patched ones fall back to; the same ones for the life of the process."""


_copies: dict[FunctionType, FunctionType] = {}
"""By method: a copy of it, which does what it does while it calls its replacement."""
_replacements: dict[str, FunctionType] = {}
"""By class and name: the replacements that methods call."""
_FORWARDS: Final = "_mazurka_replacements"
_FORWARD: Final = f"def forward(*given, **named): return {_FORWARDS}[{{!r}}](*given, **named)"


@cache
def _code_forwarding_to(name: str) -> CodeType:
    """Make code that calls the replacement of a method."""
    compiled = compile(_FORWARD.format(name), __file__, "exec")
    return next(one for one in compiled.co_consts if type(one) is CodeType)


def is_forwarding(code: CodeType) -> bool:
    """Whether code calls the replacement of a method: it is ours, and nobody changes it."""
    return _FORWARDS in code.co_names and code.co_filename == __file__


def original(owner: type, name: str) -> Any:
    """Return the method that a patched one stands for."""
    return _originals[owner, name]


def is_builtin(function: object) -> bool:
    """Whether a function is one of a module of C code, and nothing that a program has put there."""
    return isinstance(function, BuiltinFunctionType) and is_module(function.__self__)


def bind_as_builtin(function: Callable[..., Any], real: Any) -> Callable[..., Any]:
    """Make what stands for a built-in function: a method of its module.

    A class that holds a built-in function does not make a method of it (`now = time.time`), and so
    it is with a bound method.  The function takes the module first, and gets the name of the real
    one.  What a program has put in place of a built-in function stays.
    """
    if not is_builtin(real):
        return cast("Callable[..., Any]", real)
    function.__name__ = real.__name__
    return MethodType(function, real.__self__)


class Patches:
    """A list of changes; undone in the opposite order."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def append(self, undo: Callable[[], None]) -> None:
        self._undo.append(undo)

    def methods(self, owner: type, **replacements: Any) -> None:
        """Replace methods and properties of a Python class in place.

        What a class of the standard library does not have is left out: versions differ.
        """
        for name, replacement in replacements.items():
            if name not in vars(owner):
                if owner.__module__.partition(".")[0] in sys.stdlib_module_names:
                    continue
                raise TypeError(f"{owner.__name__} has no {name} that could be replaced")
            old = vars(owner)[name]
            _originals[owner, name] = old
            if isinstance(replacement, FunctionType):
                replacement.__name__ = name  # threads are named after what they run
            setattr(owner, name, replacement)
            self._undo.append(lambda n=name, o=old: setattr(owner, n, o))  # type: ignore[misc]
            if type(old) is FunctionType and type(replacement) is FunctionType:
                self._forward(old, replacement, f"{owner.__qualname__}.{name}")
                _originals[owner, name] = _copies[old]

    def _forward(self, function: FunctionType, replacement: FunctionType, name: str) -> None:
        """Let a function call its replacement, for those who have bound it early: `stop =
        event.set` in a module.  A copy of it does what it did."""
        if function not in _copies:
            copy = FunctionType(
                *(function.__code__, function.__globals__, function.__name__),
                *(function.__defaults__, function.__closure__),
            )
            copy.__kwdefaults__ = function.__kwdefaults__
            _copies[function] = copy
        if function.__code__.co_freevars:
            return  # only code with the same captured variables can take the place of its own
        _replacements[name] = replacement
        space = function.__globals__
        if _FORWARDS not in space:
            space[_FORWARDS] = _replacements
            self._undo.append(lambda: space.pop(_FORWARDS, None))
        old = function.__code__, function.__defaults__, function.__kwdefaults__
        function.__code__ = _code_forwarding_to(name)
        function.__defaults__ = function.__kwdefaults__ = None

        def undo() -> None:
            function.__code__, function.__defaults__, function.__kwdefaults__ = old

        self._undo.append(undo)

    def keep(self, owner: Any, name: str) -> None:
        """Let an attribute that runs change have its value again in the end."""
        self.attribute(owner, name, getattr(owner, name))

    def attribute(self, owner: Any, name: str, replacement: Any) -> None:
        """Replace an attribute of a module or an object."""
        old = getattr(owner, name)
        setattr(owner, name, replacement)
        self._undo.append(lambda: setattr(owner, name, old))

    def class_attribute(self, owner: type, name: str, replacement: Any) -> None:
        """Replace what a class holds, whatever its own class makes of assignments."""
        old = names_in_class(owner)[name]
        with suppress(TypeError):  # a class of C, which cannot be changed
            type.__setattr__(owner, name, replacement)
            self._undo.append(lambda: type.__setattr__(owner, name, old))

    def item(self, owner: Any, key: Any, replacement: Any) -> None:
        """Replace what a dictionary or list holds, whatever its class makes of subscripts."""
        base: Any = next(base for base in (dict, list, deque) if issubclass(type(owner), base))
        old = base.__getitem__(owner, key)
        base.__setitem__(owner, key, replacement)

        def undo() -> None:
            # The program may have put something else there, or nothing.
            try:
                if base.__getitem__(owner, key) is replacement:
                    base.__setitem__(owner, key, old)
            except LookupError:
                pass

        self._undo.append(undo)

    def names(self, pairs: Sequence[tuple[Any, Any]], exempt: Callable[[str], bool]) -> None:
        """Replace objects wherever a module has a name for them: `from threading import Lock`.

        A module that is imported during the exploration binds ours; in the end it gets the real
        ones.
        """
        for space, key, ours in _bindings({id(real): ours for real, ours in pairs}, exempt):
            self.item(space, key, ours)
        originals = {id(ours): real for real, ours in reversed(pairs)}

        def put_back() -> None:
            for space, key, real in _bindings(originals, exempt):
                space[key] = real

        self._undo.insert(0, put_back)

    def undo(self) -> None:
        while self._undo:
            self._undo.pop()()


def _bindings(
    wanted: Mapping[int, Any], exempt: Callable[[str], bool]
) -> Iterator[tuple[dict[str, Any], str, Any]]:
    """Yield where modules have names for objects, and what to put there, by their identities."""
    none = wanted.keys().isdisjoint
    for module_name, module in list(sys.modules.items()):
        if exempt(module_name) or not is_module(module):
            continue
        space = names_in(module)
        if not none(map(id, space.values())):
            for key, value in entries(space):
                if id(value) in wanted:
                    yield space, key, wanted[id(value)]
