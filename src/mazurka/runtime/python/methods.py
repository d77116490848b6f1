"""Methods of built-in containers: each call is one access, or several where it calls back.

A class of the program may replace a built-in method by its own, which is called like any function,
and may call the built-in one in its turn: by `super().append(x)`, by `list.append(self, x)`.

`x in l`, `l.index(x)`, `l.count(x)` and `l.remove(x)` compare one element after the other, with the
list as it is at that moment; so do `min`, `max`, `any`, `all`, `sum` and `set`.  As long as C code
compares the elements all this is one access.  Where a class of the program has `__eq__` (`__lt__`,
`__bool__`, ...), other threads may run while that does, so each step is an access of its own;
`remove` then removes whatever has come to that index.  A deque that has changed meanwhile raises an
error, so there the real method is split (`reentry`).  `heapq` and `bisect` compare elements in many
steps, too; where that could matter, the result names it.
"""

from __future__ import annotations

from _thread import get_ident
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from types import FunctionType, GeneratorType, MethodType
from typing import Any, Final, NamedTuple

from mazurka.runtime.core.insides import elements, find_in_class, has_in_class
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python import catalogue, containers
from mazurka.runtime.python.callbacks import (
    Stepped,
    perform_through,
    runs_code,
    show_generators,
    step_through,
)
from mazurka.runtime.python.calls import call, controlled
from mazurka.runtime.python.catalogue import COMPARES, LISTS, METHODS, SEARCHES, SYNCHRONIZING
from mazurka.runtime.python.containers import (
    ONE_STEP,
    UNKNOWN,
    Family,
    Part,
    known_family,
    use_alone,
)
from mazurka.runtime.python.deep import perform_deep
from mazurka.runtime.python.elements import are_at_hand, hold_pairs
from mazurka.runtime.python.elements import sort as sort_alone
from mazurka.runtime.python.iteration.loops import iterate, take_items, unpack
from mazurka.runtime.python.iteration.set_order import call_in_order, is_set, take_first
from mazurka.runtime.python.missing_keys import makes_new, read_or_make
from mazurka.runtime.python.opaque import is_iterator, iterator_parts, opaque_parts
from mazurka.runtime.python.reentry import perform_in_turns
from mazurka.runtime.python.rewriter import at_present
from mazurka.runtime.python.traversals import (
    gather_in_steps,
    is_at_once,
    note_unlocked,
    read_in_steps,
    searches_in_steps,
)
from mazurka.runtime.python.variables import read_attribute
from mazurka.runtime.sharing.accesses import WRITING, How
from mazurka.runtime.sharing.locations import learned, points, step
from mazurka.runtime.sharing.monitoring import unobserved

_PLAIN: Final = catalogue.PLAIN | {partial}


class Plan(NamedTuple):
    """What a method does to its container."""

    built_on: Family
    name: str
    how: How
    writing: bool
    alone: bool
    """Whether the method touches nothing but its container, whatever its arguments are."""


def _plan(built_on: Family, name: str, how: How) -> Plan:
    alone = name in catalogue.TOUCHES_ITS_CONTAINER
    if name == "__setitem__" and built_on in LISTS:
        alone = False  # a slice is filled from another container
    return Plan(built_on, name, how, how in WRITING, alone)


_plans: Final[dict[tuple[Any, str], Plan]] = {
    (kind, name): _plan(kind, name, how)
    for kind, methods in METHODS.items()
    for name, how in methods.items()
    if how is not None
}
_known_plan = _plans.get


def plan_of(built_on: Family, name: str) -> Plan | None:
    """Find what a C method of a built-in container does; None if it touches nothing."""
    found = _known_plan((built_on, name))
    if found is None and (how := catalogue.method_effect(built_on, name)) is not None:
        found = _plans[built_on, name] = _plan(built_on, name, how)
    return found


def call_method(thing: Any, name: str, site: int) -> Any:
    """What `thing.name(...)` calls; a method of a container is one access, after its arguments."""
    kind = type(thing)
    if kind in SYNCHRONIZING and name not in learned.moving:
        bound = getattr(thing, name)
        if type(bound) is MethodType and bound.__func__ in controlled:
            return bound
    plan = _known_plan((kind, name))
    if plan is None:
        found = known_family(kind, UNKNOWN)
        if found is UNKNOWN:
            found = containers.family_of(kind)
        if found in METHODS and _has_c_method(kind, found, name):
            plan = plan_of(found, name)
    if plan is not None:
        return partial(perform_method, getattr(thing, name), thing, plan, site)
    if name == "__init__" and not issubclass(kind, (type, super)):
        at_present.rewriter.observe_initializer(kind)
    return call(read_attribute(thing, name, site), site)


def _has_c_method(kind: type, built_on: Family, name: str) -> bool:
    """Tell whether a container type has a method from C code, and no Python code for it."""
    if name in METHODS[built_on]:
        return containers.is_built_in(kind, name)
    return type(find_in_class(kind, name)) in catalogue.DESCRIPTORS


def perform_method(
    action: Any, container: Any, plan: Plan, site: int, /, *arguments: Any, **named: Any
) -> Any:
    """Call a method of a container, as one access; step by step where it runs other code."""
    if session.current.ident != get_ident():
        return action(*arguments, **named)
    built_on, name, how, writing, alone = plan
    if name == "__getitem__" and built_on is dict and len(arguments) == 1 and makes_new(container):
        return read_or_make(container, arguments[0], site)
    if name in _ORDERED:
        action = _order_sets(action, container, plan, arguments)
    if alone and use_alone(container, site, writing):
        return action(*arguments, **named)
    if name in _RUNS_CODE:
        stepwise = _stepwise(container, plan, site, arguments, named)
        if stepwise is not None:
            return stepwise()
    if session.current.free_threaded:
        if searches_in_steps(container, name):
            return getattr(read_in_steps(name, container, site, *arguments[:1]), name)(*arguments)
        note_unlocked(container, name, site)
        sources = catalogue.sources_of_method(name)
        arguments = gather_in_steps((built_on, name), arguments, sources, site)
    if not alone:
        arguments = show_generators(arguments, site)
    key = arguments[0] if arguments else None
    at_once = is_at_once(built_on, name, how)
    parts: list[Part] = [(container, built_on, how, ONE_STEP if at_once else key)]
    if not alone and (name != "__setitem__" or type(key) is slice):
        if name == "join" and not are_at_hand(key):
            key = list(step_through(key, site))
            arguments = (key,)
        if name == "join" or (built_on in LISTS and name in COMPARES and _is_compound(key)):
            return perform_deep((container, key), site, action, *arguments, more=parts, named=named)
        if built_on is dict and arguments and hold_pairs(key) and are_at_hand(key):
            return perform_deep(arguments, site, action, *arguments, more=parts, named=named)
        if name == "join":
            values = key if are_at_hand(key) else list(iterate(key, 0, site))
            return perform_deep((values,), site, action, values, more=parts)
        if name == "sort":
            return perform_deep((container,), site, action, *arguments, more=parts, named=named)
        parts += [*containers.parts_of(arguments), *iterator_parts(arguments)]
        parts += opaque_parts(value for value in arguments if not is_iterator(value))
        sources = catalogue.sources_of_method(name)
        if any(map(runs_code, arguments[sources])):
            return perform_through(parts, site, action, arguments, named, sources)
        if built_on is deque and name in COMPARES:
            return perform_in_turns(parts, site, action, *arguments, **named)
    return containers.perform_all(parts, site, action, *arguments, **named)


_ORDERED: Final = frozenset({"extend", "extendleft", "pop", "__iadd__"})
"""Methods that go through a set in its order, or take the first element of one."""


def _order_sets(action: Any, container: Any, plan: Plan, arguments: tuple[Any, ...]) -> Any:
    """What to call instead of a method that depends on the order of a set."""
    if plan.built_on is set:
        return partial(take_first, container) if plan.name == "pop" else action
    return partial(call_in_order, action) if any(map(is_set, arguments)) else action


def _is_compound(value: Any) -> bool:
    """Tell whether comparing a value reads what is in it."""
    return containers.family(value) is not None or issubclass(type(value), tuple)


_RUNS_CODE: Final = frozenset({*catalogue.TAKES_ELEMENTS, *SEARCHES, "sort"})
"""Methods that may call code of the program."""


def _stepwise(
    container: Any, plan: Plan, site: int, arguments: tuple[Any, ...], named: dict[str, Any]
) -> Callable[[], Any] | None:
    """Give what does the same step by step; None where no code of the program runs in between."""
    name = plan.name
    if name == "sort":
        if type(container) is list and sorts_by_code(named.get("key"), container):
            return partial(_sort, container, site, **named)
    elif len(arguments) == 1 and not named:
        value = arguments[0]
        if name in SEARCHES:
            if type(container) is list and compares_in_python(container, value):
                return partial(search_stepwise, container, name, site, value)
        elif containers.family(value) is None and type(value) not in _PLAIN:
            del value  # references are counted to see whether anybody else has it
            source = show_generators(arguments, site)[0]
            return partial(_take_elements, container, plan.built_on, name, site, source)
    return None


def bind_method(action: Any, container: Any, built_on: Family, name: str, site: int) -> Any:
    """Give what performs a method of a container when it is called."""
    plan = plan_of(built_on, name)
    assert plan is not None, "whoever asks has seen that it touches something"
    return partial(perform_method, action, container, plan, site)


def perform_unbound(function: Any, site: int, thing: Any, /, *arguments: Any, **named: Any) -> Any:
    """`list.append(thing, ...)`"""
    method = bind_method(
        function.__get__(thing, type(thing)), thing, function.__objclass__, function.__name__, site
    )
    return method(*arguments, **named)


_ONE: Final = {"extend": "append", "extendleft": "appendleft"}
_ADDING: Final[dict[Family, tuple[How, str]]] = {
    dict: (How.WRITE, "__setitem__"),
    set: (How.ENSURE, "add"),
}
"""What adding one element does, and the method that adds it; lists have several."""


def _take_elements(container: Any, built_on: Family, name: str, site: int, source: Any) -> None:
    """Add the elements of an iterator one by one: its code runs in between."""
    if built_on is dict and hasattr(source, "keys"):
        source = take_items(source, site)
    alone = type(source) in (GeneratorType, Stepped)  # a bare generator is nobody else's
    how, adding = _ADDING.get(built_on, (How.CHANGE, _ONE.get(name, "append")))
    for element in source if alone else iterate(source, False, site):
        given: tuple[Any, ...] = (element,)
        if built_on is dict:
            key, value = unpack(element, site)
            given = (key, value)
        part = (container, built_on, how, given[0])
        containers.perform_all([part], site, _c_method(container, built_on, adding), *given)


def augment_container(container: Any, built_on: Family, sign: str, source: Any, site: int) -> bool:
    """Perform `container += source` or `|=` element by element; False if it does not work so."""
    name, method = _AUGMENTING.get((built_on, sign), ("", ""))
    if not containers.is_built_in(type(container), method) or session.current.ident != get_ident():
        return False
    if not name or not has_in_class(type(source), "__iter__"):
        return False
    _take_elements(container, built_on, name, site, source)
    return True


_AUGMENTING: Final[dict[tuple[Any, str], tuple[str, str]]] = {
    **dict.fromkeys(((list, "Add"), (deque, "Add")), ("extend", "__iadd__")),
    (dict, "BitOr"): ("update", "__ior__"),
}


def _c_method(container: Any, built_on: Family, name: str) -> Any:
    """The method that C code calls: not the one that a class of the program has instead."""
    kind = type(container)
    owner = kind if containers.is_built_in(kind, name) else built_on
    return partial(getattr(owner, name), container)


# -- sorting in place ----------------------------------------------------------------------------


def sorts_by_code(key: Any, container: Any) -> bool:
    """Tell whether code of the program runs while a list is sorted."""
    if type(key) is FunctionType:
        return True
    if key is not None or type(container) is not list:
        return False
    return any(catalogue.is_made(type(value)) for value in container)


def _sort(container: list[Any], site: int, /, **named: Any) -> None:
    """Sort a list as `list.sort` does: it is empty until it is sorted, and must not change."""
    whole: list[Part] = [(container, list, How.CHANGE, None)]

    def take_out() -> list[Any]:
        taken = container[:]
        container.clear()
        return taken

    def put_back() -> bool:
        changed = bool(container)
        container[:] = taken
        return changed

    taken = containers.perform_all(whole, site, take_out)
    try:
        taken = sort_alone(taken, site, **named)
    finally:
        changed = containers.perform_all(whole, site, put_back)
    if changed:
        raise ValueError("list modified during sort")


# -- code that compares elements -----------------------------------------------------------------

_ORDER: Final = ("__lt__", "__gt__")


def _has_python_method(values: Any, names: tuple[str, ...]) -> bool:
    """Tell whether the class of any value has one of some methods in Python."""
    kinds = set(map(type, values))
    return any(type(find_in_class(kind, name)) is FunctionType for kind in kinds for name in names)


def asks_elements(function: Any, values: Any) -> bool:
    """Tell whether a built-in function calls Python methods of the elements of a container."""
    names = catalogue.ASKS_ELEMENTS.get(function)
    if names is None or not issubclass(type(values), (list, deque, dict, set)):
        return False
    asked = list(dict.keys(values)) if issubclass(type(values), dict) else elements(values)
    return _has_python_method(asked, names)


def compares_in_python(values: list[Any], wanted: Any) -> bool:
    """Tell whether Python code compares the elements of a list with a value."""
    return _has_python_method((wanted, *values), ("__eq__",))


def search_stepwise(values: list[Any], name: str, site: int, wanted: Any) -> Any:
    """Perform `values.index(wanted)`, `count` or `remove` step by step."""
    if name == "count":
        return sum(1 for _ in _find_indices(values, site, wanted))
    for index in _find_indices(values, site, wanted):
        if name == "index":
            return index
        whole = (values, list, How.CHANGE, None)
        return containers.perform(whole, site, values.__delitem__, slice(index, index + 1))
    text = f"{wanted!r} is not in list" if name == "index" else "list.remove(x): x not in list"
    raise ValueError(text)


def search_list(values: list[Any], site: int, wanted: Any) -> bool:
    """Perform `wanted in values` step by step."""
    return any(True for _ in _find_indices(values, site, wanted))


def _find_indices(values: list[Any], site: int, wanted: Any) -> Iterator[int]:
    index, born = 0, session.current.running.turns
    while True:
        try:
            part = (values, list, How.READ, index)
            value = containers.perform(part, site, values.__getitem__, index)
        except IndexError:
            return
        if value is wanted or value == wanted:
            yield index
        index += 1
        step(born)


def note_comparisons(function: Any, arguments: tuple[Any, ...], site: int) -> None:
    """Name comparisons in Python inside of `heapq` and `bisect`, where threads share the list."""
    if site not in points or now.alone or not arguments or type(arguments[0]) is not list:
        return
    if function.__module__ in ("_heapq", "_bisect") and _has_python_method(
        (*arguments[0], *arguments[1:]), _ORDER
    ):
        unobserved.note(f"comparisons inside of {function.__module__.lstrip('_')}")
