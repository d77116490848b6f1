"""Finds functions wherever they are held: in classes, behind decorators, in closures, by others.

Most have the namespace of a module, which leads to them.  *Detached* functions do not, because
`exec` made them.  Nothing leads from a module to all of these: they lie in registries, behind
decorators and in attributes of objects.  Those that the objects of the program lead to are observed
from the start, whoever calls them; the others as soon as the program calls one of them, and so is
whatever shares their namespace.  One that is found that late may have run before, called by C code:
the search begins anew.

Functions whose code comes from the files of others, installed packages and the standard library,
stay as they are.
"""

from __future__ import annotations

import gc
import os
import sys
import sysconfig
from _thread import get_ident
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from sys import getrefcount
from types import BuiltinMethodType, CodeType, FunctionType, ModuleType, NoneType
from typing import Any, TypeAlias
from weakref import ReferenceType, WeakSet, ref

from mazurka.runtime.core.insides import (
    ancestors,
    is_module,
    module_of,
    names_in,
    names_in_class,
    qualified_name,
)
from mazurka.runtime.core.patches import is_frozen
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import MARK, is_rewritten
from mazurka.runtime.program.existing import is_strange
from mazurka.runtime.python.catalogue import CachedFunction
from mazurka.runtime.rewrite.selection import Rule
from mazurka.runtime.sharing.locations import learned

_Space: TypeAlias = dict[str, Any]
FEW = 8
"""Namespaces whose functions are looked for all at once."""
NEAR = 20_000
"""How many objects are followed before everything is looked at instead."""
_ENDS = frozenset(
    map(id, (str, bytes, int, bool, float, NoneType, CodeType, ModuleType, BuiltinMethodType))
)
"""Types whose objects lead to no function, or too far; by identity, since classes may do anything
when compared."""
_HOLDERS = frozenset({"FixtureFunctionDefinition", "Mark", "MarkDecorator", "ParameterSet"})
"""Classes of pytest whose objects hold functions of the program."""


def find_functions(
    spaces: Sequence[_Space], held: int, library: Sequence[_Space], test: object
) -> list[FunctionType]:
    """Find the functions that have one of these namespaces.

    Most are found from the namespaces, the classes in them, and the test.  Each function refers to
    its namespace, so the reference count of a namespace tells whether any is missing; `held` of the
    references are the caller's.  Where one is missing, all objects of the process are looked at,
    which takes the longer the more there are.

    The parts of the standard library that are rewritten (modules in `library`) make no functions
    after their import that anybody keeps, so all objects are searched for these only once.
    """
    wanted = {id(space): space for space in (*spaces, *library)}
    found = _find_near(wanted, test)
    counts = Counter(id(function.__globals__) for function in found)
    references = zip(spaces, _count_references(spaces), strict=True)
    own = _OWN + 1  # `wanted` refers to each
    lost = [
        space
        for space, number in references
        if number != counts[id(space)] + held + own or not COUNTS_EXACTLY
    ]
    lost += [space for space in library if id(space) not in _library]
    if lost:
        found += find_anywhere(lost)
    for space in library:
        _, known = _library.setdefault(id(space), (space, WeakSet()))
        known.update(function for function in found if function.__globals__ is space)
        found += known
    return list({id(function): function for function in found}.values())


def find_anywhere(spaces: Sequence[_Space]) -> list[FunctionType]:
    """Find the functions of namespaces among all objects of the process.

    The interpreter finds all that refer to a few objects in half the time that it takes to look at
    everything here.
    """
    wanted = set(map(id, spaces))
    few = len(spaces) <= FEW
    found = _thaw(lambda: gc.get_referrers(*spaces)) if few else _thaw(gc.get_objects)
    return [one for one in found if type(one) is FunctionType and id(one.__globals__) in wanted]


def _count_references(spaces: Sequence[_Space]) -> list[int]:
    """Count the references to each namespace, that of the sequence and its own included."""
    return list(map(getrefcount, spaces))


_OWN = _count_references([{}])[0] - 1
"""The references that counting makes itself: versions of the interpreter differ."""
COUNTS_EXACTLY = not sysconfig.get_config_var("Py_GIL_DISABLED")
"""Whether a count is that of all references: interpreters without a GIL put some of them off."""
_library: dict[int, tuple[_Space, WeakSet[FunctionType]]] = {}
"""By identity: namespaces of the standard library, and the functions that were found for each."""


def _find_near(wanted: dict[int, _Space], test: object) -> list[FunctionType]:
    """Find functions by following references, from the namespaces and from the test.

    What leads far away is left out: modules, classes of others, the namespaces of functions, and
    most of the machinery of tests.
    """
    found: list[FunctionType] = []
    seen = set(wanted)
    names = {name for space in wanted.values() if type(name := space.get("__name__")) is str}
    kept = waiting = [test, *gc.get_referents(*wanted.values())]
    while waiting and len(seen) < NEAR:
        others: list[Any] = []
        inside: list[Any] = []
        for thing in waiting:
            kind = type(thing)
            if id(kind) in _ENDS or id(thing) in seen:
                continue
            seen.add(id(thing))
            if kind is FunctionType:
                if id(thing.__globals__) in wanted:
                    found.append(thing)
                inside += thing.__closure__ or ()
                inside += thing.__defaults__ or ()
                inside += (thing.__kwdefaults__, thing.__dict__)
            elif issubclass(kind, type):
                if module_of(thing) in names:
                    inside += names_in_class(thing).values()
            elif not (is_module(thing) or _leads_far(kind)):
                others.append(thing)
        waiting = [*inside, *gc.get_referents(*others)]
        kept += waiting  # so that no identity is used twice
    return found


def _leads_far(kind: type) -> bool:
    return is_strange(module_of(kind)) and qualified_name(kind) not in _HOLDERS


def find_cached_functions() -> set[int]:
    """Find the functions that have caches of `functools`, and give their identities."""
    caches = [one for one in _thaw(gc.get_objects) if type(one) is CachedFunction]
    return {id(vars(cache).get("__wrapped__")) for cache in caches}


def _thaw(find: Callable[[], list[Any]]) -> list[Any]:
    """Search among all objects, also those that a program has put aside."""
    frozen = is_frozen()
    if frozen:
        gc.unfreeze()
    try:
        return find()
    finally:
        if frozen:
            gc.freeze()


# -- detached functions --------------------------------------------------------------------------


def is_detached(function: FunctionType) -> bool:
    """Whether the namespace of a function is no module's that is known."""
    space = function.__globals__
    name = dict.get(space, "__name__")
    if type(name) is not str or name == "builtins":
        return True  # the latter is where `dataclasses` looks for the names of detached classes
    if name.startswith("namedtuple_"):
        return False  # made by `collections`, and private to new tuples
    module = sys.modules.get(name)
    return module is None or not is_module(module) or names_in(module) is not space


def find_detached(module: ModuleType) -> Iterator[FunctionType]:
    """The detached functions that a module or its classes hold."""
    for value in list(names_in(module).values()):
        if type(value) is FunctionType:
            if is_detached(value):
                yield value
        elif issubclass(type(value), type) and module_of(value) == module.__name__:
            yield from filter(is_detached, _functions_of(value))


def _functions_of(kind: type) -> Iterator[FunctionType]:
    """The functions that a class holds, as methods and in properties."""
    for value in list(names_in_class(kind).values()):
        parts: tuple[Any, ...] = (value,)
        if type(value) is property:
            parts = (value.fget, value.fset, value.fdel)
        elif type(value) in (staticmethod, classmethod):
            parts = (value.__func__,)
        yield from (part for part in parts if type(part) is FunctionType)


class DetachedFunctions:
    """The detached functions that one exploration has met."""

    def __init__(
        self,
        is_wanted: Rule,
        observe: Callable[[FunctionType], None],
        find_functions: Callable[[Sequence[_Space]], list[FunctionType]],
    ) -> None:
        self._is_wanted = is_wanted
        self._observe = observe
        """Rewrites a function until the exploration ends, or names it."""
        self._find_functions = find_functions
        """Finds all functions of some namespaces."""
        self._homes: dict[int, _Space] = {}
        """By identity: namespaces that are modules'."""
        self._kinds: dict[int, ReferenceType[type]] = {}
        """By identity, since they may do anything when compared: classes that were looked at."""
        self._met: set[CodeType] = set()
        """The code of functions that have been found."""
        self._theirs: dict[tuple[str, str], bool] = {}
        """By names of namespaces and files: whether the functions are others'."""
        self._refused: set[CodeType] = set()
        """The code of those that cannot be rewritten."""

    def is_ours(self, function: FunctionType) -> bool:
        """Whether a function is detached, and from no file of others."""
        space = function.__globals__
        if id(space) in self._homes:
            return False
        if not is_detached(function):
            self._homes[id(space)] = space
            return False
        name, file = dict.get(space, "__name__"), function.__code__.co_filename
        return not self._is_theirs(name if type(name) is str else "", file)

    def _is_theirs(self, name: str, file: str) -> bool:
        found = self._theirs.get((name, file))
        if found is None:
            found = file.startswith("<frozen ")
            found = found or (os.path.isfile(file) and not self._is_wanted(name, file))
            self._theirs[name, file] = found
        return found

    def find(self, things: Iterable[Any]) -> None:
        """Observe what there is among objects, before anything runs."""
        found: list[FunctionType] = []
        kinds: dict[int, type] = {}
        for thing in things:
            kind = type(thing)
            if kind is FunctionType:
                found.append(thing)
            elif id(kind) not in kinds:
                kinds[id(kind)] = kind
            if issubclass(kind, type):
                kinds[id(thing)] = thing
        for kind in kinds.values():
            found.extend(self._methods(kind))
        self._observe_all([function for function in found if self.is_ours(function)])

    def meet_call(self, function: FunctionType) -> bool:
        """Observe a function that the program calls; say whether it is observed now."""
        if not self.is_ours(function) or session.current.ident != get_ident():
            return False
        self._observe_all([function], late=True)
        return is_rewritten(function.__code__)

    def meet_class(self, kind: type) -> None:
        """Observe the methods of a class that the program calls for the first time."""
        self._observe_all([one for one in self._methods(kind) if self.is_ours(one)], late=True)

    def _methods(self, kind: type) -> Iterator[FunctionType]:
        """The functions of a class and its bases, unless others have made it."""
        for base in ancestors(kind):
            known = self._kinds.get(id(base))
            if known is None or known() is not base:
                self._kinds[id(base)] = ref(base)
                if _may_be_ours(base):
                    yield from _functions_of(base)

    def _observe_all(self, functions: list[FunctionType], *, late: bool = False) -> None:
        if late:
            functions = [one for one in functions if not is_rewritten(one.__code__)]
        fresh = [one for one in functions if one.__code__ not in self._met]
        for function in fresh:
            self._met.add(function.__code__)
            if late:
                learned.news.append(f"function {function.__qualname__} #{len(self._met)}")
        if fresh:  # otherwise it is made anew in every run, or for every object
            spaces = {id(one.__globals__): one.__globals__ for one in fresh}
            functions = [*self._find_functions(list(spaces.values())), *functions]
        for function in functions:
            code = function.__code__
            if not is_rewritten(code) and code not in self._refused and self.is_ours(function):
                self._observe(function)
                if function.__code__ is code:
                    self._refused.add(code)


def _may_be_ours(kind: type) -> bool:
    name = module_of(kind)  # without one in its namespace, a class gets that of `builtins`
    home = sys.modules.get(name)
    return name == "builtins" or home is None or not is_module(home) or MARK in names_in(home)
