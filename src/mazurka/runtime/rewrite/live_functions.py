"""Finds functions wherever they are held: in classes, behind decorators, in closures, by others.

Every function refers to the namespace of its module, which leads to most of them.
"""

from __future__ import annotations

import gc
import sysconfig
from collections import Counter
from collections.abc import Callable, Sequence
from sys import getrefcount
from types import BuiltinMethodType, CodeType, FunctionType, ModuleType, NoneType
from typing import Any, TypeAlias

from mazurka.runtime.core.insides import (
    is_module,
    module_of,
    names_in_class,
    qualified_name,
)
from mazurka.runtime.core.patches import is_frozen
from mazurka.runtime.program.existing import is_strange
from mazurka.runtime.python.catalogue import CachedFunction

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


def find_functions(spaces: Sequence[_Space], held: int, test: object) -> list[FunctionType]:
    """Find the functions that have one of these namespaces.

    Most are found from the namespaces, the classes in them, and the test.  Each function refers to
    its namespace, so the reference count of a namespace tells whether any is missing; `held` of the
    references are the caller's.  Where one is missing, all objects of the process are looked at,
    which takes the longer the more there are.
    """
    wanted = {id(space): space for space in spaces}
    found = _find_near(wanted, test)
    counts = Counter(id(function.__globals__) for function in found)
    references = zip(spaces, _count_references(spaces), strict=True)
    own = _OWN + 1  # `wanted` refers to each
    lost = [
        space
        for space, number in references
        if number != counts[id(space)] + held + own or not COUNTS_EXACTLY
    ]
    if lost:
        found += find_anywhere(lost)
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


def find_everything() -> list[Any]:
    """All objects of the process that can hold others, functions among them."""
    return _thaw(gc.get_objects)


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
