"""What rewritten code calls for subscripts, operators, loops and tests: where containers are read.

A value that is no built-in container goes through after one look into a table.
"""

from __future__ import annotations

import gc
import operator
from _thread import get_ident
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, Final

from mazurka.runtime.accesses import IN_PLACE, Spot, store, touch_cell
from mazurka.runtime.accesses_containers import (
    UNKNOWN,
    Family,
    Part,
    families,
    family_of,
    is_built_in,
    is_mine,
    perform,
    perform_all,
)
from mazurka.runtime.accesses_methods import METHODS
from mazurka.runtime.accesses_names import short
from mazurka.runtime.accesses_opaque import is_iterator, steps
from mazurka.runtime.accesses_operations import How
from mazurka.runtime.monitoring import unobserved
from mazurka.runtime.rewriting_sites import sites
from mazurka.runtime.scheduler import session
from mazurka.runtime.sharing import progress

_VIEWS: Final[tuple[type, ...]] = (type({}.keys()), type({}.values()), type({}.items()))

_met = unobserved.kinds


def family(value: Any) -> Family:
    kind = type(value)
    found = families.get(kind, UNKNOWN)
    return family_of(kind) if found is UNKNOWN else found


def part_of(value: Any, how: How) -> Part | None:
    """A whole container as a part of an operation; the dictionary, if it is a view of one."""
    found = family(value)
    if found is None:
        return None
    if found in _VIEWS:
        keys_only = found is _VIEWS[0]
        value = gc.get_referents(value)[0]
        found = family(value)
        if found is None:
            return None
        if keys_only and how is How.READ_ALL:
            how = How.LOOK
    return value, found, how, None


def parts_of(values: Any, how: How = How.READ_ALL) -> list[Part]:
    return [part for value in values if (part := part_of(value, how)) is not None]


# -- subscripts ----------------------------------------------------------------------------------


def item(thing: Any, key: Any, site: int) -> Any:
    """`thing[key]`"""
    kind = type(thing)
    found = families.get(kind, UNKNOWN)
    if found is None:
        if kind not in _met:
            unobserved.meet(kind)
        return thing[key]
    if found is kind:
        if session.current.ident != get_ident() or is_mine(thing, site, False):
            return thing[key]
    elif found is UNKNOWN:
        found = family_of(kind)
    if found not in METHODS or not is_built_in(kind, "__getitem__"):
        return thing[key]
    adds = isinstance(thing, defaultdict) and thing.default_factory is not None
    part = (thing, found, How.ENSURE if adds else How.READ, key)
    return perform(part, site, operator.getitem, thing, key)


def store_item(value: Any, thing: Any, key: Any, site: int) -> None:
    """`thing[key] = value`"""
    found = family(thing)
    if found not in METHODS or not is_built_in(type(thing), "__setitem__"):
        unobserved.meet(type(thing))
        thing[key] = value
    else:
        perform((thing, found, How.WRITE, key), site, operator.setitem, thing, key, value)


def delete_item(thing: Any, key: Any, site: int) -> None:
    """`del thing[key]`"""
    found = family(thing)
    if found not in METHODS or not is_built_in(type(thing), "__delitem__"):
        unobserved.meet(type(thing))
        del thing[key]
    else:
        how = How.REMOVE if found is dict else How.CHANGE
        perform((thing, found, how, key), site, operator.delitem, thing, key)


def item_spot(thing: Any, key: Any, site: int) -> Spot:
    return Spot(lambda value: store_item(value, thing, key, site))


# -- augmented assignments -----------------------------------------------------------------------


def held_item(thing: Any, key: Any, site: int) -> tuple[Any, Any, Any]:
    """The first half of `thing[key] += ...`."""
    return thing, key, item(thing, key, site)


def augment(old: Any, sign: str, value: Any, site: int) -> Any:
    """What `old += value` makes of `old`; built-in containers are changed in place."""
    found = family(old)
    if found is None:
        return IN_PLACE[sign](old, value)
    parts = [(old, found, How.CHANGE, None), *parts_of((value,))]
    return perform_all(parts, site, IN_PLACE[sign], old, value)


def augment_attribute(holding: tuple[Any, str, Any], sign: str, value: Any, site: int) -> None:
    thing, name, old = holding
    store(augment(old, sign, value, site), thing, name, site)


def augment_item(holding: tuple[Any, Any, Any], sign: str, value: Any, site: int) -> None:
    thing, key, old = holding
    store_item(augment(old, sign, value, site), thing, key, site)


def augment_cell(old: Any, sign: str, value: Any, look: Any, site: int) -> Any:
    return touch_cell(augment(old, sign, value, site), look, site)


# -- operators -----------------------------------------------------------------------------------

BINARY: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Mod": operator.mod,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "BitAnd": operator.and_,
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "In": lambda left, right: left in right,
    "NotIn": lambda left, right: left not in right,
    "Is": operator.is_,
    "IsNot": operator.is_not,
}
SIGNS: Final = {
    "Eq": "==",
    "NotEq": "!=",
    "Lt": "<",
    "LtE": "<=",
    "Gt": ">",
    "GtE": ">=",
    "In": "in",
    "NotIn": "not in",
    "Is": "is",
    "IsNot": "is not",
}
_compared: dict[int, str] = {}


def binary(left: Any, sign: str, right: Any, site: int) -> Any:
    """`left + right`, `left == right`, `left in right`, ..."""
    if family(left) is None and family(right) is None:
        return BINARY[sign](left, right)
    if sign in ("In", "NotIn"):
        part = part_of(right, How.READ_ALL)
        if part is None or not is_built_in(type(part[0]), "__contains__"):
            return BINARY[sign](left, right)
        how = How.LOOK if part[1] in (dict, set) and part[0] is right else part[2]
        return perform((part[0], part[1], how, None), site, BINARY[sign], left, right)
    return perform_all(parts_of((left, right)), site, BINARY[sign], left, right)


def compared(left: Any, sign: str, right: Any, site: int) -> Any:
    """A comparison that is asserted; what fails is kept for the message."""
    result = binary(left, sign, right, site)
    if not result:
        _compared[site] = f"{short(left)} {SIGNS[sign]} {short(right)}"
    return result


def explanation(site: int) -> str:
    """Why an assertion failed."""
    return f"{_compared.pop(site, '')} (assert {sites[site].text})"


def _itself(value: Any) -> Any:
    return value


def tested(value: Any, site: int) -> Any:
    """Before a value is taken for true or false."""
    if family(value) is None:
        return value
    part = part_of(value, How.LOOK)
    return value if part is None else perform(part, site, _itself, value)


def whole(value: Any, site: int) -> Any:
    """Before all of a value is read at once: unpacked, formatted, passed on by `*`."""
    if family(value) is None:
        return value
    part = part_of(value, How.READ_ALL)
    return value if part is None else perform(part, site, _itself, value)


# -- loops ---------------------------------------------------------------------------------------


def each(value: Any, unpacked: bool, site: int) -> Any:
    """What a loop goes through.  Each step through a container is an access; each step through
    anything moves something that its thread's frames do not show, so that it is no idle round."""
    run = session.current
    if run.ident != get_ident():
        return value
    part = None if family(value) is None else part_of(value, How.READ_ALL)
    if part is None or not is_built_in(type(value), "__iter__"):
        return steps(value, site) if is_iterator(value) else _advancing(value)
    return _steps(part, iter(value), unpacked, site)


def each_delegated(value: Any, site: int) -> Any:
    """What `yield from` goes through; generators are left alone."""
    return value if family(value) is None else each(value, False, site)


def _advancing(items: Any) -> Iterator[Any]:
    for value in items:
        progress()
        yield value


def how_stepping(part: Part, items: Any) -> How:
    """What a step of an iterator does to its container."""
    if part[1] not in (dict, set):
        return How.READ
    if part[2] is How.READ_ALL and type(items) in (_VALUES_STEP, _ITEMS_STEP):
        return How.READ_ALL
    return How.LOOK


def _steps(part: Part, items: Iterator[Any], unpacked: bool, site: int) -> Iterator[Any]:
    container, found = part[:2]
    how = how_stepping(part, items)
    index = 0
    while True:
        try:
            value = perform((container, found, how, index), site, next, items)
        except StopIteration:
            return
        index += 1
        progress()
        yield whole(value, site) if unpacked else value


_VALUES_STEP: Final[type] = type(iter({}.values()))
_ITEMS_STEP: Final[type] = type(iter({}.items()))
