"""Locks, queues and names that existed before the exploration.

Objects of Python classes (conditions, events, queues, ...) need nothing here: their methods are
replaced.  A lock of C, made when a module was imported, cannot be changed; so whatever the
program's modules can reach is searched for such locks, and each is replaced, where it is held, by
one of ours around it.  The same search replaces names that were bound early, in places that are
not a module's own names: `field(default_factory=Lock)`, a default argument, a closure.

What this cannot reach or change (a lock in a set, or inside a C object) stays real.  A thread that
blocks on it is noticed by the watchdog.

The program's own modules are searched before every exploration: tests leave things in them.  Of an
installed package in which nothing was found but what its modules have names for, only that is
looked at again, until its modules have got new names.
"""

from __future__ import annotations

import builtins
import logging
import sys
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from types import (
    BuiltinMethodType,
    CellType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, TypeAlias

from mazurka.runtime.core import insides
from mazurka.runtime.core.operations import Object
from mazurka.runtime.core.patches import Patches
from mazurka.runtime.primitives.registry import BUILT_ON_LOCKS, PATCHED, STAND_INS

REAL = frozenset(map(id, STAND_INS))
"""The types whose objects are replaced; by identity, since types can define their own equality."""
LIMIT = 200_000
"""How many objects are looked at."""

_STRANGERS = frozenset(
    {
        *("mazurka", "pytest", "_pytest", "pluggy", "xdist", "execnet", "coverage", "hypothesis"),
        *("pip", "setuptools", "numba", "llvmlite", "numpy"),
        *("importlib", "_frozen_importlib", "_frozen_importlib_external"),
    }
)
_WAYS_IN = frozenset(
    f"mazurka.runtime.testing.{name}" for name in ("collecting", "decorator", "pytest.fixtures")
)
"""Modules whose functions stand around the test, and hold its arguments."""
_LEAVES = (
    *(str, bytes, int, float, complex, type(None), CodeType, ModuleType, Object),
    *(threading.Thread, threading.local),
    *(GetSetDescriptorType, MemberDescriptorType, MethodDescriptorType, WrapperDescriptorType),
)
Search: TypeAlias = Callable[[Any, str], None]
_BUILTINS = vars(builtins)
_NATIVE = {
    id(value): value
    for value in _BUILTINS.values()
    if type(value) in (type, BuiltinMethodType) and value.__module__ == "builtins"
}
"""What is there in every program; by identity, and kept for it."""
_clean: dict[str, tuple[int, int, bool]] = {}
"""Installed modules in which nothing was found but names of their own: their namespaces, how many
names they had, and whether one of these was replaced."""


def is_strange(module: object) -> bool:
    """Whether a module belongs to the machinery of tests rather than to the program."""
    return type(module) is str and module.partition(".")[0] in _STRANGERS


def is_library(module: object) -> bool:
    return type(module) is str and module.partition(".")[0] in sys.stdlib_module_names


@lru_cache(maxsize=8192)
def _is_left_out(module: str) -> bool:
    """Whether a module is left out of the search; asked of all modules in every exploration."""
    return is_strange(module) or is_library(module)


class StandIns:
    """Makes one of ours for each real one, whoever holds it, and knows where it was found."""

    def __init__(self, replacements: dict[int, Any]) -> None:
        self._replacements = replacements
        """What stands for functions and types, by their identities."""
        self._taken: dict[int, Any] = {}
        """Our locks, by the identity of the real ones that they keep alive."""
        self._labels: dict[int, tuple[str, Any]] = {}
        """What people call objects of Python classes; with the objects, which must not go."""
        self._used: dict[str, int] = {}

    def replacement(self, value: Any, label: str) -> Any:
        """Return what stands for a value while the exploration goes on; None if it stays."""
        kind = type(value)
        if id(kind) in REAL:
            return self._around(value, label)
        if issubclass(kind, tuple):
            return self._tuple(value, label)
        if kind is BuiltinMethodType and id(type(value.__self__)) in REAL:
            return getattr(self._around(value.__self__, label), value.__name__)
        return self._replacements.get(id(value))

    def _around(self, real: Any, label: str) -> Any:
        found = self._taken.get(id(real))
        if found is None:
            found = STAND_INS[type(real)]()
            found.name, found.epoch = "", 0
            found.real = real
            found.origin = self._unique(label)
            self._taken[id(real)] = found
        return found

    def _tuple(self, values: Any, label: str) -> Any:
        """Return what stands for a tuple: it cannot be changed, so one with a lock is replaced."""
        old = insides.elements(values)
        news = [self._inner(value, f"{label}[{index}]") for index, value in enumerate(old)]
        if all(new is None for new in news):
            return None
        pairs = zip(news, old, strict=True)
        return insides.tuple_like(values, [was if new is None else new for new, was in pairs])

    def _inner(self, value: Any, label: str) -> Any:
        """Return what stands for an element of a tuple; the rest is searched, as it is."""
        if id(type(value)) in REAL or issubclass(type(value), tuple):
            return self.replacement(value, label)
        return None

    def _unique(self, label: str) -> str | None:
        """Number a label that has been used: several cells of one closure have one, and two objects
        must never share a name."""
        if not label:
            return None
        self._used[label] = count = self._used.get(label, 0) + 1
        return label if count == 1 else f"{label}~{count}"

    def label_of(self, value: Any) -> str | None:
        """Return where an object was found, if it was."""
        found = self._labels.get(id(value))
        return found[0] if found is not None and found[1] is value else None


class Takeover(StandIns):
    """Replaces what existed before the exploration, for as long as it goes on."""

    def __init__(self, patches: Patches, replacements: dict[int, Any]) -> None:
        super().__init__(replacements)
        self._patches = patches
        self._seen: set[int] = set()
        self._kept: list[Any] = []
        """Containers made on the way; their identities must not be used again meanwhile."""
        self._work: list[tuple[Search, Any, str]] = []
        self._ways: dict[int, tuple[type, Search | None]] = {}
        """How to search the objects of a class; None for leaves."""
        self._found = 0
        self._met: set[str] = set()
        """Modules of the library whose code runs; the others are left out."""
        self._built: list[Any] = []
        """Objects of the library whose state is guarded by locks inside them."""
        self._guarded: dict[int, tuple[Object, list[Any]]] = {}
        """By identity of such a lock: the lock, and those objects."""
        self.left: list[tuple[str, Any]] = []
        """What was found and could not be replaced, and where."""

    def built_on(self, shared: Object) -> list[Any]:
        """Return the objects of the library whose state a lock guards."""
        while self._built:
            owner = self._built.pop()
            for lock in _locks_in(owner):
                self._guarded.setdefault(id(lock), (lock, []))[1].append(owner)
        return self._guarded.get(id(shared), (shared, []))[1]

    # -- the search --------------------------------------------------------------------------

    def everything(self, test: Any) -> None:
        """Search what the modules of the program, the test and its arguments can reach."""
        installed: list[tuple[str, dict[str, Any]]] = []
        self._dictionary(_BUILTINS, "builtins.")
        self._seen.add(id(_BUILTINS))
        for name, module in list(sys.modules.items()):
            if not _is_left_out(name) and insides.is_module(module):
                space = insides.names_in(module)
                if _is_installed(space.get("__file__")):
                    installed.append((name, space))
                else:
                    self._dictionary(space, f"{name}.")
        self._visit(test, "")
        self._logging()
        self._mocks()
        self._finish()
        # What a package shares with the program, but for builtins, counts for the package, too.
        self._seen = {id(_BUILTINS)}
        for name, space in installed:
            self._installed(name, space)
        self._kept.clear()
        self._ways.clear()

    def _finish(self) -> None:
        work = self._work
        while work and len(self._seen) < LIMIT:
            search, value, label = work.pop()
            search(value, label)
        work.clear()

    def _installed(self, name: str, space: dict[str, Any]) -> None:
        state, known = (id(space), len(space)), _clean.get(name)
        if known is not None and known[:2] == state:
            if known[2] or not REAL.isdisjoint(map(id, map(type, space.values()))):
                self._dictionary(space, f"{name}.")
                self._forget_work()
            return
        before = self._found
        self._dictionary(space, f"{name}.")
        own = self._found
        self._finish()
        _clean.pop(name, None)
        if self._found == own:
            _clean[name] = (*state, own != before)

    def _forget_work(self) -> None:
        """Leave out what has not been searched yet, but may be where something else leads to it."""
        self._seen.difference_update(id(value) for _, value, _ in self._work)
        self._work.clear()

    def take_module(self, name: str, space: dict[Any, Any]) -> None:
        """Replace what a module of the library holds, and what its classes and objects do."""
        self._met.add(name)
        self._dictionary(space, f"{name}.")
        self._finish()
        self._kept.clear()
        self._ways.clear()

    def take(self, space: dict[Any, Any], prefix: str) -> None:
        """Replace what one dictionary holds."""
        self._dictionary(space, prefix)
        self._work.clear()
        self._kept.clear()
        self._ways.clear()

    def _logging(self) -> None:
        """Replace the locks of log handlers: a call takes one, and may run the program's code."""
        handlers = [reference() for reference in logging._handlerList]  # type: ignore[attr-defined]
        spaces = [vars(handler) for handler in handlers if handler is not None]
        self._dictionary({"handlers": spaces}, "logging.")
        lock = self.replacement(logging._lock, "logging._lock")  # type: ignore[attr-defined]
        if lock is not None:
            self._patches.attribute(logging, "_lock", lock)

    def _mocks(self) -> None:
        """Replace the lock that all mocks share, under which they make attributes."""
        kind = getattr(sys.modules.get("unittest.mock"), "NonCallableMock", None)
        lock = self.replacement(getattr(kind, "_lock", None), "NonCallableMock._lock")
        if lock is not None:
            self._patches.attribute(kind, "_lock", lock)

    def _is_leaf(self, kind: type) -> bool:
        return (self._ways.get(id(kind)) or self._learn(kind))[1] is None

    def _visit(self, value: Any, label: str) -> None:
        kind = type(value)
        search = (self._ways.get(id(kind)) or self._learn(kind))[1]
        if search is not None and id(value) not in self._seen:
            self._seen.add(id(value))
            self._work.append((search, value, label))

    def _learn(self, kind: type) -> tuple[type, Search | None]:
        """Find out how objects of a class are searched; the class is kept, for its identity."""
        found = self._ways[id(kind)] = (kind, self._search_of(kind))
        return found

    def _search_of(self, kind: type) -> Search | None:
        if id(kind) in REAL:
            return self._leave
        if kind is BuiltinMethodType:
            return _do_nothing
        if issubclass(kind, Object):
            return self._ours
        if issubclass(kind, _LEAVES):
            return None
        if issubclass(kind, dict):
            return self._mapping
        for base, search in self._builtin_searches():
            if issubclass(kind, base):
                return search
        if is_strange(insides.module_of(kind)) and not issubclass(kind, PATCHED):
            return None
        return self._search_of_instances(kind)

    def _builtin_searches(self) -> tuple[tuple[Any, Search], ...]:
        return (
            ((list, deque), self._sequence),
            ((tuple, set, frozenset), self._fixed),
            (type, self._class),
            (FunctionType, self._function),
            (MethodType, self._method),
            ((staticmethod, classmethod), self._wrapper),
            (property, self._property),
        )

    def _search_of_instances(self, kind: type) -> Search | None:
        space_of, slots = insides.attributes(kind), insides.slots(kind)
        named = issubclass(kind, PATCHED)
        is_built = issubclass(kind, BUILT_ON_LOCKS)
        if space_of is None and not slots:
            return None

        def search(value: Any, label: str) -> None:
            if named and (name := self._unique(label)):
                self._labels[id(value)] = (name, value)
            if is_built:
                self._built.append(value)
            space = None if space_of is None else space_of(value)
            if type(space) is dict:
                self._dictionary(space, f"{label}.")
            for slot_name, slot in slots:
                self._slot(value, slot_name, slot, label)

        return search

    # -- what objects hold -------------------------------------------------------------------

    def _ours(self, _value: Any, _label: str) -> None:
        """Count an object that has been replaced already, where it was found first."""
        self._found += 1

    def _leave(self, value: Any, label: str) -> None:
        """Note a lock that cannot be replaced: it lies in a set, or is the key of a dictionary."""
        if not repr(value).startswith("<locked"):  # or a test before this one has left it held
            self.left.append((label, value))

    def _replaced(self, value: Any, label: str) -> Any:
        """Return what stands for a part of an object; None if it stays, and then search it."""
        new = self.replacement(value, label)
        if new is None:
            self._visit(value, label)
        else:
            self._found += 1
        return new

    def _mapping(self, values: dict[Any, Any], label: str) -> None:
        self._dictionary(values, f"{label}." if label else "")
        if issubclass(type(values), defaultdict):
            self._slot(values, "default_factory", vars(defaultdict)["default_factory"], label)

    def _dictionary(self, space: dict[Any, Any], prefix: str) -> None:
        self._kept.append(space)
        found = insides.entries(space)
        if space is _BUILTINS:
            found = [entry for entry in found if id(entry[1]) not in _NATIVE]
        for key, value in found:
            if type(key) is not str and id(type(key)) in REAL:
                self._leave(key, prefix[:-1])
            if self._is_leaf(type(value)):
                continue
            label = f"{prefix}{key}" if type(key) is str else prefix[:-1]
            new = self._replaced(value, label)
            if new is not None:
                self._patches.item(space, key, new)

    def _sequence(self, values: Any, label: str) -> None:
        for index, value in enumerate(insides.elements(values)):
            if self._is_leaf(type(value)):
                continue
            new = self._replaced(value, f"{label}[{index}]")
            if new is not None:
                self._patches.item(values, index, new)

    def _fixed(self, values: Any, label: str) -> None:
        for inner in insides.elements(values):
            self._visit(inner, label)

    def _class(self, owner: type, _label: str) -> None:
        if self._is_apart(insides.module_of(owner)):
            return
        own_name = insides.qualified_name(owner)
        for name, value in list(insides.names_in_class(owner).items()):
            static = type(value) is staticmethod
            new = self._replaced(value.__func__ if static else value, f"{own_name}.{name}")
            if new is not None:
                # What stands for a function of C must not become a method either.
                function = static or type(new) is FunctionType
                self._patches.class_attribute(owner, name, staticmethod(new) if function else new)

    def _is_apart(self, module: object) -> bool:
        """Whether nothing of a module has to be under control."""
        return is_strange(module) or (is_library(module) and module not in self._met)

    def _function(self, function: FunctionType, label: str) -> None:
        module = function.__module__ or ""
        if module not in _WAYS_IN and self._is_apart(module):
            return
        for cell in function.__closure__ or ():
            self._cell(cell, label)
        if function.__defaults__:
            old = function.__defaults__
            news = [self._replaced(value, label) for value in old]
            if any(new is not None for new in news):
                pairs = zip(news, old, strict=True)
                values = tuple(was if new is None else new for new, was in pairs)
                self._patches.attribute(function, "__defaults__", values)
        if function.__kwdefaults__:
            self._dictionary(function.__kwdefaults__, f"{label}.")
        if function.__dict__:
            self._dictionary(function.__dict__, f"{label}.")

    def _method(self, method: MethodType, label: str) -> None:
        self._visit(method.__self__, label)
        self._visit(method.__func__, label)

    def _wrapper(self, value: Any, label: str) -> None:
        self._visit(insides.function_in(value), label)

    def _property(self, value: property, label: str) -> None:
        for name in ("fget", "fset", "fdel"):
            self._visit(vars(property)[name].__get__(value), label)

    def _cell(self, cell: CellType, label: str) -> None:
        try:
            value = cell.cell_contents
        except ValueError:
            return
        new = self._replaced(value, label)
        if new is not None:
            self._patches.attribute(cell, "cell_contents", new)

    def _slot(self, owner: Any, name: str, slot: Any, label: str) -> None:
        try:
            value = slot.__get__(owner)
        except AttributeError:
            return  # empty
        new = self._replaced(value, f"{label}.{name}")
        if new is None:
            return
        with suppress(AttributeError, TypeError):  # read-only, inside a C object
            slot.__set__(owner, new)
            self._patches.append(lambda: slot.__set__(owner, value))


def _locks_in(owner: Any) -> Iterator[Object]:
    """Find the locks of ours that an object of the library holds, itself or in a condition."""
    values: list[Any] = list(vars(owner).values())
    for value in values:
        is_condition = issubclass(type(value), threading.Condition)
        lock = vars(value).get("_lock") if is_condition else value
        if issubclass(type(lock), Object):
            yield lock


def _do_nothing(_value: Any, _label: str) -> None:
    """Leave an object alone in which nothing can be replaced."""


def _is_installed(file: object) -> bool:
    return type(file) is str and ("site-packages" in file or "dist-packages" in file)
