"""What rewritten code calls for subscripts, operators, loops and tests: where containers are read.

A value that is no built-in container goes through after one look into a table.
"""

from __future__ import annotations

import gc
import operator
from _thread import get_ident
from collections import defaultdict
from collections.abc import Callable
from contextvars import Context
from sys import getrefcount
from types import FunctionType, GeneratorType, MappingProxyType, ModuleType
from typing import Any, Final

from mazurka.runtime.core.access_sites import sites
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.containers import (
    UNKNOWN,
    VIEWS,
    Family,
    Part,
    family_of,
    is_built_in,
    is_mine,
    known_family,
    perform,
    perform_all,
)
from mazurka.runtime.python.factories import item_or_made, runs_code_for_new
from mazurka.runtime.python.methods import METHODS
from mazurka.runtime.python.opaque import is_iterator
from mazurka.runtime.python.searching import compares, contains
from mazurka.runtime.python.spaces import class_behind
from mazurka.runtime.python.turns import LONE, Stepped, gone_through, runs_code, sought
from mazurka.runtime.python.value_types import PLAIN
from mazurka.runtime.python.variables import Spot, touch_attribute, write_attribute
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import progress
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.names import short

_met = unobserved.kinds


def family(value: Any) -> Family:
    kind = type(value)
    found = known_family(kind, UNKNOWN)
    return family_of(kind) if found is UNKNOWN else found


def part_of(value: Any, how: How) -> Part | None:
    """A whole container as a part of an operation; the dictionary, if it is a view of one."""
    found = family(value)
    if found is None:
        return None
    if found in VIEWS:
        if found is Context:
            return value, None, How.CHANGE, None
        keys_only = found is VIEWS[0]
        value = _behind(value)
        found = family(value)
        if found is None:
            return None
        if keys_only and how is How.READ_ALL:
            how = How.LOOK
    return value, found, how, None


def _behind(view: Any) -> Any:
    """The container that a view shows."""
    kind = type(view)
    if kind is memoryview:
        return view.obj
    if kind is MappingProxyType and class_behind(view) is not None:
        return None
    return gc.get_referents(view)[0]


def parts_of(values: Any, how: How = How.READ_ALL) -> list[Part]:
    return [part for value in values if (part := part_of(value, how)) is not None]


# -- subscripts ----------------------------------------------------------------------------------


def read_item(thing: Any, key: Any, site: int) -> Any:
    """`thing[key]`"""
    kind = type(thing)
    found = known_family(kind, UNKNOWN)
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
        return _item_behind(thing, key, site) if found in VIEWS else thing[key]
    if found is dict and kind is not dict:
        if runs_code_for_new(thing):
            return _item_or_new(thing, key, site)
        if isinstance(thing, defaultdict) and thing.default_factory is not None:
            return item_or_made(thing, key, site)
    return perform((thing, found, How.READ, key), site, operator.getitem, thing, key)


def _item_or_new(table: Any, key: Any, site: int) -> Any:
    """`table[key]`: it is looked up, and if it is not there, other code runs, and adds it."""
    part = (table, dict, How.READ, key)
    found = perform(part, site, dict.get, table, key, UNKNOWN)
    if found is not UNKNOWN:
        return found
    if isinstance(type(table).__missing__, FunctionType):
        return type(table).__missing__(table, key)
    value = table.default_factory()
    write_item(value, table, key, site)
    return value


def _item_behind(view: Any, key: Any, site: int) -> Any:
    if type(view) is MappingProxyType and (kind := class_behind(view)) is not None:
        if session.current.ident == get_ident() and type(key) is str:
            touch_attribute(kind, key, site)
        return view[key]
    part = part_of(view, How.READ_ALL)
    if part is None:
        return view[key]
    if part[1] is dict:
        part = (*part[:2], How.READ, key)
    return perform(part, site, operator.getitem, view, key)


def write_item(value: Any, thing: Any, key: Any, site: int) -> None:
    """`thing[key] = value`"""
    found = family(thing)
    if found not in METHODS or not is_built_in(type(thing), "__setitem__"):
        unobserved.meet(type(thing))
        if type(thing) is memoryview:
            parts = parts_of((thing,), How.CHANGE)
            perform_all([*parts, *parts_of((value,))], site, operator.setitem, thing, key, value)
        else:
            _move_on(thing, "__setitem__")
            thing[key] = value
    else:
        if type(key) is slice and (is_iterator(value) or runs_code(value)):
            value = list(gone_through(value, site))  # then all of it is put in at once
        perform((thing, found, How.WRITE, key), site, operator.setitem, thing, key, value)


def delete_item(thing: Any, key: Any, site: int) -> None:
    """`del thing[key]`"""
    found = family(thing)
    if found not in METHODS or not is_built_in(type(thing), "__delitem__"):
        unobserved.meet(type(thing))
        _move_on(thing, "__delitem__")
        del thing[key]
    else:
        how = How.REMOVE if found is dict else How.CHANGE
        perform((thing, found, how, key), site, operator.delitem, thing, key)


def _move_on(thing: Any, name: str) -> None:
    """C code may change something that nobody watches and no frame shows: `mapped[0] = 1`."""
    how = getattr(type(thing), name, None)
    if type(how) is not FunctionType and session.current.ident == get_ident():
        progress()


def item_target(thing: Any, key: Any, site: int) -> Spot:
    return Spot(lambda value: write_item(value, thing, key, site))


# -- augmented assignments -----------------------------------------------------------------------


def hold_item(thing: Any, key: Any, site: int) -> tuple[Any, Any, Any]:
    """The first half of `thing[key] += ...`."""
    return thing, key, read_item(thing, key, site)


IN_PLACE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "Add": operator.iadd,
    "Sub": operator.isub,
    "Mult": operator.imul,
    "MatMult": operator.imatmul,
    "Div": operator.itruediv,
    "Mod": operator.imod,
    "Pow": operator.ipow,
    "LShift": operator.ilshift,
    "RShift": operator.irshift,
    "BitOr": operator.ior,
    "BitXor": operator.ixor,
    "BitAnd": operator.iand,
    "FloorDiv": operator.ifloordiv,
}


def augment(old: Any, value: Any, sign: str, site: int) -> Any:
    """What `old += value` makes of `old`; built-in containers are changed in place."""
    found = family(old)
    if found is None:
        return IN_PLACE[sign](old, value)
    plain = type(value) in PLAIN or family(value) is not None
    if not plain:
        if type(value) is GeneratorType and getrefcount(value) > LONE:
            value = Stepped(value, site)
        if taking(old, found, sign, value, site):
            return old
    parts = [(old, found, How.CHANGE, None), *parts_of((value,))]
    return perform_all(parts, site, IN_PLACE[sign], old, value)


def _takes_nothing(old: Any, found: Family, sign: str, value: Any, site: int) -> bool:
    return False


taking: Callable[[Any, Family, str, Any, int], bool] = _takes_nothing
"""Takes elements from what is no container, one by one, if `old += value` does so;
`accesses_acting` says how."""


def augment_attribute(holding: tuple[Any, str, Any], value: Any, sign: str, site: int) -> None:
    thing, name, old = holding
    write_attribute(augment(old, value, sign, site), thing, name, site)


def augment_item(holding: tuple[Any, Any, Any], value: Any, sign: str, site: int) -> None:
    thing, key, old = holding
    write_item(augment(old, value, sign, site), thing, key, site)


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


def apply_operator(left: Any, right: Any, sign: str, site: int) -> Any:
    """`left + right`, `left == right`, `left in right`, ..."""
    if family(left) is None and family(right) is None:
        if (type(left) is tuple or type(right) is tuple) and sign in _READS_DEEPLY:
            return deeply((left, right), site, BINARY[sign], left, right)
        if (sign == "In" or sign == "NotIn") and type(right) not in PLAIN:
            right = sought(right, site)
        return BINARY[sign](left, right)
    if sign in ("In", "NotIn"):
        return _contains(left, sign, right, site)
    if sign in _READS_DEEPLY:
        return deeply((left, right), site, BINARY[sign], left, right)
    return perform_all(parts_of((left, right)), site, BINARY[sign], left, right)


_READS_DEEPLY: Final = frozenset({"Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "Mod"})
deeply: Callable[..., Any] = perform_all
"""Reads what is in what it is given, too; `accesses_deep` says how."""


def _contains(left: Any, sign: str, right: Any, site: int) -> Any:
    part = part_of(right, How.READ_ALL)
    if part is None or not is_built_in(type(part[0]), "__contains__"):
        return BINARY[sign](left, right if family(right) else sought(right, site))
    if part[1] in (dict, set) and part[0] is right:
        part = (*part[:2], How.LOOK, None)
    elif type(right) is list and compares(right, left):
        return contains(right, site, left) is (sign == "In")
    elif family(left) is not None or type(left) is tuple:
        return deeply((left, right), site, BINARY[sign], left, right)
    return perform(part, site, BINARY[sign], left, right)


def assert_comparison(left: Any, right: Any, sign: str, site: int) -> Any:
    """A comparison that is asserted; what fails is kept for the message."""
    result = apply_operator(left, right, sign, site)
    if not result:
        _compared[site] = f"{short(left)} {SIGNS[sign]} {short(right)}"
    return result


def explain_assertion(site: int) -> str:
    """Why an assertion failed."""
    return f"{_compared.pop(site, '')} (assert {sites[site].text})"


def _itself(value: Any) -> Any:
    return value


def test_truth(value: Any, site: int) -> Any:
    """Before a value is taken for true or false."""
    if family(value) is None:
        return value
    part = part_of(value, How.LOOK)
    return value if part is None else perform(part, site, _itself, value)


def read_whole(value: Any, site: int) -> Any:
    """Before all of a value is read at once: compared, passed on by `**`."""
    if family(value) is None:
        return value
    part = part_of(value, How.READ_ALL)
    return value if part is None else perform(part, site, _itself, value)


def unpack(value: Any, site: int) -> Any:
    """Before something is taken apart: unpacked, or passed on by `*`."""
    if family(value) is not None:
        return read_whole(value, site)
    if type(value) in PLAIN or getrefcount(value) <= LONE:
        return value
    return gone_through(value, site)


def search_in(value: Any, site: int) -> Any:
    """Before something is looked for in a value, at the end of a chain of comparisons."""
    return sought(value, site) if family(value) is None else read_whole(value, site)


def format_value(value: Any, site: int) -> Any:
    """Before a value is written into a string, with all that is in it."""
    if family(value) is None and type(value) is not tuple:
        return value
    return deeply((value,), site, _itself, value)


def match_pattern(value: Any, attributes: tuple[str, ...], by_position: bool, site: int) -> Any:
    """Before a value is held against patterns that ask for its elements and attributes."""

    def asked(thing: Any) -> tuple[str, ...]:
        if type(thing) in PLAIN or issubclass(type(thing), type):
            return ()
        places = getattr(type(thing), "__match_args__", ()) if by_position else ()
        return (*attributes, *places)

    return deeply((value,), site, _itself, value, attributes=asked)


def match_attribute(look: Callable[[], Any]) -> None:
    """Before a value is compared with an attribute, in a pattern."""
    try:
        owner = look()
    except NameError:
        return
    if not issubclass(type(owner), (type, ModuleType)) and not now.alone:
        unobserved.note("an attribute in a pattern")
