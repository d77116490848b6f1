"""Methods of built-in containers, one access each; step by step where other code runs on the way.

What a class of the program has instead of a built-in method is a call of its own, and calls the
built-in one in its turn: by `super().append(x)`, by `list.append(self, x)`.
"""

from __future__ import annotations

from _thread import get_ident
from collections import deque
from collections.abc import Callable
from functools import partial
from types import FunctionType, GeneratorType
from typing import Any, Final, NamedTuple

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python import expressions as accesses_expressions
from mazurka.runtime.python.containers import Family, Part, is_built_in, is_mine, perform_all
from mazurka.runtime.python.expressions import family, parts_of
from mazurka.runtime.python.loops import iterate
from mazurka.runtime.python.methods import METHODS, TAKES_ELEMENTS
from mazurka.runtime.python.opaque import iterator_parts
from mazurka.runtime.python.searching import SEARCHING, compares, search
from mazurka.runtime.python.turns import Stepped, going_through, runs_code, stepped
from mazurka.runtime.python.value_types import PLAIN
from mazurka.runtime.sharing.accesses import WRITING, How

_PLAIN: Final = PLAIN | {partial}
_KEEPS_ARGUMENTS: Final = frozenset({"append", "appendleft", "insert", "remove", "add", "discard"})


class Plan(NamedTuple):
    """What a method does to its container."""

    built_on: Family
    name: str
    how: How
    writing: bool
    alone: bool
    """Whether the container is all that it touches, whatever its arguments are."""


def _plan(built_on: Family, name: str) -> Plan:
    how = METHODS[built_on][name]
    given = how is How.CHANGE or built_on is set or name == "join"
    alone = not given or name in _KEEPS_ARGUMENTS
    return Plan(built_on, name, how, how in WRITING, alone)


PLANS: Final = {(kind, name): _plan(kind, name) for kind in METHODS for name in METHODS[kind]}


def act(
    action: Any, container: Any, plan: Plan, site: int, /, *arguments: Any, **named: Any
) -> Any:
    """A method of a container, as one access; step by step where it runs other code on the way."""
    if session.current.ident != get_ident():
        return action(*arguments, **named)
    built_on, name, how, writing, alone = plan
    if alone and is_mine(container, site, writing):
        return action(*arguments, **named)
    if name in _RUNS_CODE:
        stepwise = _stepwise(container, plan, site, arguments, named)
        if stepwise is not None:
            return stepwise()
    if not alone:
        arguments = stepped(arguments, site)
    key = arguments[0] if arguments else None
    parts: list[Part] = [(container, built_on, how, key)]
    if not alone:
        parts += [*parts_of(arguments), *iterator_parts(arguments)]
        if any(map(runs_code, arguments)):
            return going_through(parts, site, action, arguments, named)
    return perform_all(parts, site, action, *arguments, **named)


_RUNS_CODE: Final = frozenset({*TAKES_ELEMENTS, *SEARCHING, "sort"})
"""Methods that may run code of the program on the way."""


def _stepwise(
    container: Any, plan: Plan, site: int, arguments: tuple[Any, ...], named: dict[str, Any]
) -> Callable[[], Any] | None:
    """What does the same step by step, where code runs in between."""
    name = plan.name
    if name == "sort":
        if type(container) is list and _runs_code(named.get("key"), container):
            return partial(_sort, container, site, **named)
    elif len(arguments) == 1 and not named:
        value = arguments[0]
        if name in SEARCHING:
            if type(container) is list and compares(container, value):
                return partial(search, container, name, site, value)
        elif family(value) is None and type(value) not in _PLAIN:
            del value  # so that it is seen whether anybody else has it
            source = stepped(arguments, site)[0]
            return partial(_take_elements, container, plan.built_on, name, site, source)
    return None


def act_on(action: Any, container: Any, built_on: Family, name: str, site: int) -> Any:
    """What does it, when it is called."""
    return partial(act, action, container, PLANS[built_on, name], site)


def act_unbound(function: Any, site: int, /, thing: Any, *arguments: Any, **named: Any) -> Any:
    """`list.append(thing, ...)`"""
    plan = PLANS[function.__objclass__, function.__name__]
    return act(function.__get__(thing), thing, plan, site, *arguments, **named)


_ONE: Final = {"extend": "append", "extendleft": "appendleft"}


def _take_elements(container: Any, built_on: Family, name: str, site: int, source: Any) -> None:
    """From an iterator: its code runs between the elements, and each comes in by itself."""
    if hasattr(source, "keys"):
        source = [(key, source[key]) for key in source.keys()]  # noqa: SIM118 - any mapping
    alone = type(source) in (GeneratorType, Stepped)  # the former if nobody else has it
    for element in source if alone else iterate(source, False, site):
        if built_on is dict:
            key, value = element
            parts: list[Part] = [(container, built_on, How.WRITE, key)]
            perform_all(parts, site, _own(container, built_on, "__setitem__"), key, value)
        elif built_on is set:
            parts = [(container, built_on, How.ENSURE, element)]
            perform_all(parts, site, _own(container, built_on, "add"), element)
        else:
            parts = [(container, built_on, How.CHANGE, None)]
            add = _own(container, built_on, _ONE.get(name, "append"))
            perform_all(parts, site, add, element)


def _augments(container: Any, built_on: Family, sign: str, source: Any, site: int) -> bool:
    """`container += source`, `container |= source`"""
    name, method = _AUGMENTING.get((built_on, sign), ("", ""))
    if not name or not is_built_in(type(container), method) or session.current.ident != get_ident():
        return False
    if not hasattr(type(source), "__iter__"):
        return False
    _take_elements(container, built_on, name, site, source)
    return True


_AUGMENTING: Final[dict[tuple[Any, str], tuple[str, str]]] = {
    **dict.fromkeys(((list, "Add"), (deque, "Add")), ("extend", "__iadd__")),
    (dict, "BitOr"): ("update", "__ior__"),
}
accesses_expressions.taking = _augments


def _own(container: Any, built_on: Family, name: str) -> Any:
    """A method as built-in code calls it: not the one that a class of the program has instead."""
    kind = type(container)
    return partial(getattr(kind if is_built_in(kind, name) else built_on, name), container)


# -- sorting in place ----------------------------------------------------------------------------


def _runs_code(key: Any, container: list[Any]) -> bool:
    """Whether code of the program runs while a list is sorted."""
    if type(key) is FunctionType:
        return True
    return key is None and any(type(value).__flags__ & _MADE for value in container)


_MADE: Final = 1 << 9
"""The flag of classes that statements have made."""


def _sort(container: list[Any], site: int, **named: Any) -> None:
    """The list is empty until it is sorted, and must not have been changed by then."""
    whole: list[Part] = [(container, list, How.CHANGE, None)]

    def take_out() -> list[Any]:
        taken = container[:]
        container.clear()
        return taken

    def put_back() -> bool:
        changed = bool(container)
        container[:] = taken
        return changed

    taken = perform_all(whole, site, take_out)
    try:
        taken.sort(**named)
    finally:
        changed = perform_all(whole, site, put_back)
    if changed:
        raise ValueError("list modified during sort")
