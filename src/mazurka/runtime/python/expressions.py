"""Subscripts, operators, comparisons and tests: expressions that access containers.

A value that is no built-in container passes after one lookup in a table.
"""

from __future__ import annotations

import operator
from _thread import get_ident
from array import array
from collections import deque
from collections.abc import Callable
from functools import partial
from sys import getrefcount
from types import GeneratorType, ModuleType
from typing import Any, Final, TypeAlias

from mazurka.runtime.core.insides import elements
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import sites
from mazurka.runtime.python import callbacks, containers
from mazurka.runtime.python.callbacks import search_through
from mazurka.runtime.python.calls import receive
from mazurka.runtime.python.catalogue import ALL, ASKS, FIXED, METHODS, PLAIN, SIMPLE, VIEWS
from mazurka.runtime.python.classes import changing, read_classes
from mazurka.runtime.python.containers import (
    UNKNOWN,
    Part,
    family,
    known_family,
    perform,
    use_alone,
)
from mazurka.runtime.python.deep import finds_items, is_read_inside, perform_deep
from mazurka.runtime.python.elements import come_one_by_one, hold_pairs, is_gone_through
from mazurka.runtime.python.iteration.loops import read_whole
from mazurka.runtime.python.iteration.set_order import call_in_order, is_set
from mazurka.runtime.python.library.identities import is_same
from mazurka.runtime.python.library.settings import read_registry
from mazurka.runtime.python.library.views import watch_view
from mazurka.runtime.python.methods import augment_container, compares_in_python, search_list
from mazurka.runtime.python.missing_keys import makes_new, read_or_make
from mazurka.runtime.python.opaque import (
    asked_parts,
    hides_state,
    is_done_by_c,
    is_iterator,
    opaque_parts,
    operate,
    parts_of_operands,
)
from mazurka.runtime.python.reentry import perform_in_turns
from mazurka.runtime.python.traversals import (
    gather_in_steps,
    note_operator,
    note_steps,
    searches_in_steps,
)
from mazurka.runtime.python.variables import Target, write_attribute
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import learned
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.names import short

_met = unobserved.kinds


# -- subscripts ----------------------------------------------------------------------------------


def read_item(thing: Any, key: Any, site: int) -> Any:
    """`thing[key]`"""
    kind = type(thing)
    found = known_family(kind, UNKNOWN)
    if found is UNKNOWN:
        found = containers.family_of(kind)
    if found is None:
        if kind not in _met:
            unobserved.meet(kind)
        if changing.any:
            read_classes((thing,), site)
        if is_done_by_c(kind, "__getitem__"):
            return operate(thing, site, operator.getitem, thing, key)
        return thing[key]
    if found is kind and (session.current.ident != get_ident() or use_alone(thing, site, False)):
        return thing[key]
    if changing.any:
        read_classes((thing,), site)
    if found not in METHODS or not containers.is_built_in(kind, "__getitem__"):
        return _read_view(thing, key, site) if found in VIEWS else thing[key]
    if found is dict and kind is not dict and makes_new(thing):
        return read_or_make(thing, key, site)
    return perform((thing, found, How.READ, key), site, operator.getitem, thing, key)


def _read_view(view: Any, key: Any, site: int) -> Any:
    part = containers.part_of(view, How.READ_ALL)
    if part is None:
        return view[key]
    if part[1] is dict:
        part = (*part[:2], How.READ, key)
    return watch_view(perform(part, site, operator.getitem, view, key))


def write_item(value: Any, thing: Any, key: Any, site: int) -> None:
    """`thing[key] = value`"""
    found, kind = family(thing), type(thing)
    if (
        found is kind
        and found in METHODS
        and type(key) is not slice
        and session.current.ident == get_ident()
        and use_alone(thing, site, True)
    ):
        thing[key] = value
        return
    if changing.any:
        read_classes((thing,), site)
    if found not in METHODS or not containers.is_built_in(kind, "__setitem__"):
        unobserved.meet(type(thing))
        if type(thing) is memoryview:
            parts = containers.parts_of((thing,), How.CHANGE) + containers.parts_of((value,))
            containers.perform_all(parts, site, operator.setitem, thing, key, value)
        elif is_done_by_c(type(thing), "__setitem__"):
            operate(thing, site, operator.setitem, thing, key, value)
        else:
            thing[key] = value
    else:
        if type(key) is slice and session.current.free_threaded:
            (value,) = gather_in_steps((found, "__setitem__"), (value,), ALL, site)
        if type(key) is slice and (is_iterator(value) or callbacks.runs_code(value)):
            value = list(callbacks.step_through(value, site))  # then all of it is put in at once
        part: Part = (thing, found, How.WRITE, key)
        if type(key) is slice and session.current.ident == get_ident():
            action = partial(call_in_order, operator.setitem) if is_set(value) else operator.setitem
            read = containers.parts_of((value,)) or opaque_parts((value,))
            if read and not use_alone(read[0][0], site, False):
                containers.perform_all([part, *read], site, action, thing, key, value)
            else:
                perform(part, site, action, thing, key, value)
        else:
            perform(part, site, operator.setitem, thing, key, value)


def delete_item(thing: Any, key: Any, site: int) -> None:
    """`del thing[key]`"""
    if changing.any:
        read_classes((thing,), site)
    found = family(thing)
    if found not in METHODS or not containers.is_built_in(type(thing), "__delitem__"):
        unobserved.meet(type(thing))
        if is_done_by_c(type(thing), "__delitem__"):
            operate(thing, site, operator.delitem, thing, key)
        else:
            del thing[key]
    else:
        how = How.REMOVE if found is dict else How.CHANGE
        perform((thing, found, how, key), site, operator.delitem, thing, key)


def item_target(thing: Any, key: Any, site: int) -> Target:
    """Make an assignment target of an element."""
    return Target(lambda value: write_item(value, thing, key, site))


# -- augmented assignments -----------------------------------------------------------------------


def hold_item(thing: Any, key: Any, site: int) -> tuple[Any, Any, Any]:
    """The first half of `thing[key] += ...`: return the object, the key and the present value."""
    return thing, key, read_item(thing, key, site)


_Operators: TypeAlias = dict[str, Callable[[Any, Any], Any]]
_ARITHMETIC: Final = {
    "Add": "add",
    "Sub": "sub",
    "Mult": "mul",
    "MatMult": "matmul",
    "Div": "truediv",
    "Mod": "mod",
    "Pow": "pow",
    "LShift": "lshift",
    "RShift": "rshift",
    "BitOr": "or",
    "BitXor": "xor",
    "BitAnd": "and",
    "FloorDiv": "floordiv",
}
"""By the name of its node in `ast`: the name that `operator` has for an operator."""
IN_PLACE: Final[_Operators] = {
    sign: getattr(operator, f"__i{name}__") for sign, name in _ARITHMETIC.items()
}


def augment(old: Any, value: Any, sign: str, site: int) -> Any:
    """Perform `old += value` and return the result; built-in containers are changed in place."""
    if type(old) in SIMPLE and type(value) in SIMPLE:
        return IN_PLACE[sign](old, value)
    if changing.any:
        read_classes((old, value), site)
    found = family(old)
    if found is None:
        return receive(_operate_on((old, value), sign, site, IN_PLACE[sign]))
    plain = type(value) in PLAIN or family(value) is not None
    if session.current.free_threaded and sign in _METHODS_IN_PLACE:
        (value,) = gather_in_steps((found, _METHODS_IN_PLACE[sign]), (value,), ALL, site)
    if not plain:
        if type(value) is GeneratorType and getrefcount(value) > callbacks.LONE:
            value = callbacks.Stepped(value, site)
        if augment_container(old, found, sign, value, site):
            return old
    own: Part = (old, found, How.CHANGE, None)
    if found is dict and plain and hold_pairs(value):
        return perform_deep((value,), site, IN_PLACE[sign], old, value, more=[own])
    parts = [own, *containers.parts_of((value,)), *opaque_parts((value,))]
    return containers.perform_all(parts, site, IN_PLACE[sign], old, value)


_METHODS_IN_PLACE: Final = {"Add": "__iadd__", "BitOr": "__ior__"}


def augment_attribute(holding: tuple[Any, str, Any], value: Any, sign: str, site: int) -> None:
    thing, name, old = holding
    write_attribute(augment(old, value, sign, site), thing, name, site)


def augment_item(holding: tuple[Any, Any, Any], value: Any, sign: str, site: int) -> None:
    thing, key, old = holding
    write_item(augment(old, value, sign, site), thing, key, site)


# -- operators -----------------------------------------------------------------------------------

_COMPARISONS: Final[dict[str, tuple[str, Callable[[Any, Any], Any]]]] = {
    "Eq": ("==", operator.eq),
    "NotEq": ("!=", operator.ne),
    "Lt": ("<", operator.lt),
    "LtE": ("<=", operator.le),
    "Gt": (">", operator.gt),
    "GtE": (">=", operator.ge),
    "In": ("in", lambda left, right: left in right),
    "NotIn": ("not in", lambda left, right: left not in right),
    "Is": ("is", is_same),
    "IsNot": ("is not", lambda left, right: not is_same(left, right)),
}
BINARY: Final[_Operators] = {
    **{sign: getattr(operator, f"__{name}__") for sign, name in _ARITHMETIC.items()},
    **{sign: compare for sign, (_, compare) in _COMPARISONS.items()},
}
_compared: dict[int, str] = {}


def apply_operator(left: Any, right: Any, sign: str, site: int) -> Any:
    """`left + right`, `left == right`, `left in right`, ..."""
    kinds = type(left), type(right)
    if kinds[0] in SIMPLE:
        if kinds[1] in SIMPLE or (kinds[1] in _EQUAL_TO_THEIR_KIND and sign in _COMPARED):
            return BINARY[sign](left, right)
    elif kinds[0] in _EQUAL_TO_THEIR_KIND and kinds[1] in SIMPLE and sign in _COMPARED:
        return BINARY[sign](left, right)
    if changing.any:
        read_classes((left, right), site)
    if sign == "In" or sign == "NotIn":
        if (
            kinds[1] in _HASHED
            and kinds[0] is not set
            and session.current.ident == get_ident()
            and use_alone(right, site, False)
        ):
            return (left in right) is (sign == "In")
        if family(left) is not None or family(right) is not None:
            return _contains(left, sign, right, site)
        if kinds[1] is bytes and hides_state(kinds[0]):
            found = operate(left, site, operator.contains, right, left)
            return found if sign == "In" else not found
        if is_done_by_c(type(right), "__contains__"):
            found = operate(right, site, operator.contains, right, left)
            return found if sign == "In" else not found
        if issubclass(kinds[1], tuple):
            return perform_deep((left, right), site, BINARY[sign], left, right)
        return BINARY[sign](left, _search(left, right, site))
    return receive(_operate_on((left, right), sign, site, BINARY[sign]))


_HASHED: Final = (dict, set)
_EQUAL_TO_THEIR_KIND: Final = frozenset({list, tuple, dict, set, frozenset, deque})
"""Containers that look at their types alone where they are compared with a value that holds
nothing."""


def _operate_on(
    operands: tuple[Any, Any], sign: str, site: int, function: Callable[[Any, Any], Any]
) -> Any:
    """Perform an operator, which may read containers and attributes, or hide in C what it reads."""
    if session.current.ident != get_ident():
        return function(*operands)
    note_operator(operands, site)
    more = _parts_by_c(operands, sign)
    left, right = operands
    if sign == "Mod" and issubclass(type(left), (str, bytes)) and finds_items(right):
        return perform_deep(operands, site, function, *operands, more=more, watched=True)
    is_container = family(left) is not None or family(right) is not None
    if sign in _READS_DEEPLY and (is_container or is_read_inside(left) or is_read_inside(right)):
        return perform_deep(operands, site, function, *operands, more=more)
    if not is_container:
        return perform_in_turns(more, site, function, *operands)
    parts = [*containers.parts_of(operands), *more]
    if more or (family(left) is None and type(left) not in PLAIN):
        return perform_in_turns(parts, site, function, *operands)
    return containers.perform_all(parts, site, function, *operands)


def _parts_by_c(operands: tuple[Any, Any], sign: str) -> list[Part]:
    """Describe accesses to operands whose state nobody sees, if C code may perform the operator.

    It is given both operands, so it may read both.
    """
    names = _SPECIAL.get(sign, ())
    hidden = [one for one in operands if type(one) not in PLAIN]
    if sign == "Mod" and issubclass(type(operands[0]), (str, bytes, bytearray)):
        names += ASKS[str]
        if not issubclass(type(operands[0]), str):  # it may write buffers
            return opaque_parts(elements(operands[1]) if type(operands[1]) is tuple else hidden)
    by_buffer = any(issubclass(type(one), _BUFFERS) for one in operands)
    if not by_buffer and not any(is_done_by_c(type(one), n) for one in hidden for n in names):
        return []
    return parts_of_operands([one for one in hidden if is_iterator(one) or hides_state(type(one))])


_BUFFERS: Final = (bytes, bytearray, memoryview, array)
"""Types whose operators read the buffers of other objects: `b"" + data`."""


def read_operand(value: Any, site: int) -> Any:
    """Read a value before C code performs `-value`, `+value` or `~value`."""
    kind = type(value)
    if changing.any:
        read_classes((value,), site)
    if kind in PLAIN or not any(is_done_by_c(kind, name) for name in _UNARY):
        return value
    return operate(value, site, callbacks.itself, value)


def read_compared(value: Any, site: int) -> Any:
    """Read a value, and all that is in it, before `a < value < b` is computed."""
    kind = type(value)
    if kind in SIMPLE:
        return value
    if changing.any:
        read_classes((value,), site)
    by_c = any(is_done_by_c(kind, name) for name in (*_EQUALITY, *_ORDER))
    if not by_c and family(value) is None and not is_read_inside(value):
        return value
    more = parts_of_operands((value,)) if by_c else ()
    return perform_deep((value,), site, callbacks.itself, value, more=more)


_UNARY: Final = ("__neg__", "__pos__", "__invert__")
_EQUALITY: Final = ("__eq__", "__ne__")
_ORDER: Final = ("__lt__", "__le__", "__gt__", "__ge__")
_SPECIAL: Final[dict[str, tuple[str, ...]]] = {
    **{sign: (f"__{n}__", f"__r{n}__", f"__i{n}__") for sign, n in _ARITHMETIC.items()},
    **dict.fromkeys(("Eq", "NotEq"), _EQUALITY),
    **dict.fromkeys(("Lt", "LtE", "Gt", "GtE"), _ORDER),
}
"""By the name of its node in `ast`: the methods that may perform an operator.

The other operand may have one, too, which goes the other way.
"""
_COMPARED: Final = frozenset({"Eq", "NotEq", "Lt", "LtE", "Gt", "GtE"})
_READS_DEEPLY: Final = _COMPARED | {"Mod"}


def _search(left: Any, right: Any, site: int) -> Any:
    """Give what C code searches for a value; it compares each element with that."""
    if type(right) in PLAIN:
        return right
    by_parts = type(left) not in SIMPLE and is_gone_through(right)
    if by_parts and session.current.ident == get_ident():
        return come_one_by_one(operator.contains, search_through(right, site), site, left)
    return search_through(right, site)


def _contains(left: Any, sign: str, right: Any, site: int) -> Any:
    if searches_in_steps(right) and session.current.ident == get_ident():
        items: Any = come_one_by_one(operator.contains, right, site, left)
        return operator.contains(items, left) is (sign == "In")
    part = containers.part_of(right, How.READ_ALL)
    if issubclass(type(right), tuple):
        return perform_deep((left, right), site, BINARY[sign], left, right)
    if part is None or not containers.is_built_in(type(part[0]), "__contains__"):
        return BINARY[sign](left, right if family(right) else _search(left, right, site))
    if part[1] in (dict, set) and part[0] is right:
        part = (*part[:2], How.LOOK, None)
        if part[1] is set and family(left) is set:  # it is looked up as a frozen one
            parts = [part, (left, set, How.LOOK, None)]
            return containers.perform_all(parts, site, BINARY[sign], left, right)
    elif type(right) is list and compares_in_python(right, left):
        return search_list(right, site, left) is (sign == "In")
    elif family(left) is not None or issubclass(type(left), tuple):
        return perform_deep((left, right), site, BINARY[sign], left, right)
    elif part[1] is deque:
        found = perform_in_turns([part], site, operator.contains, right, left)
        return found if sign == "In" else not found
    return perform(part, site, BINARY[sign], left, right)


def assert_comparison(left: Any, right: Any, sign: str, site: int) -> Any:
    """Perform a comparison that is asserted; keep the operands of one that fails."""
    result = apply_operator(left, right, sign, site)
    if not result:
        _compared[site] = f"{short(left)} {_COMPARISONS[sign][0]} {short(right)}"
    return result


def explain_assertion(site: int) -> str:
    """Tell why an assertion failed."""
    text = session.current.do_aside(lambda: sites[site].text)  # which reads a file
    return f"{_compared.pop(site, '')} (assert {text})"


def test_truth(value: Any, site: int) -> Any:
    """Look at a container before C code takes it for true or false; ask an object of C code."""
    if family(value) is None:
        kind = type(value)
        if changing.any:
            read_classes((value,), site)
        if kind in PLAIN or not _is_tested_by_c(kind):
            return value
        return operate(value, site, bool, value)
    part = containers.part_of(value, How.LOOK)
    return value if part is None else perform(part, site, callbacks.itself, value)


def test_operand(value: Any, site: int) -> Any:
    """Look at a container, or an object of C code, before it is taken for true or false."""
    kind = type(value)
    if kind in PLAIN or family(value) is not None or not _is_tested_by_c(kind):
        return test_truth(value, site)
    return operate(value, site, callbacks.itself, value)


def _is_tested_by_c(kind: type) -> bool:
    return is_done_by_c(kind, "__bool__") or is_done_by_c(kind, "__len__")


def search_in(value: Any, site: int) -> Any:
    """Read a value before C code searches it, at the end of `a < b in value`."""
    return search_through(value, site) if family(value) is None else read_whole(value, site)


def format_value(value: Any, site: int) -> Any:
    """Read a value, and all that is in it, before C code writes it into a string."""
    if changing.any:
        read_classes((value,), site)
    if type(value) in FIXED or (family(value) is None and not is_read_inside(value)):
        return value
    note_steps(format, (value,), site)
    more = asked_parts(format, (value,))
    return perform_deep((value,), site, callbacks.itself, value, more=more)


_CONVERSIONS: Final[dict[int, Callable[[Any], str]]] = {
    ord("s"): str,
    ord("r"): repr,
    ord("a"): ascii,
}


def format_with(value: Any, conversion: int, specification: str, site: int) -> str:
    """`f"{value!r:{specification}}"`: the value is read when the specification is known."""

    def write() -> str:
        text = value if conversion < 0 else _CONVERSIONS[conversion](value)
        return format(text, specification)

    if changing.any:
        read_classes((value,), site)
    if type(value) in FIXED or (family(value) is None and not is_read_inside(value)):
        return write()
    more = asked_parts(format, (value,))
    return perform_deep((value,), site, write, more=more)  # type: ignore[no-any-return]


def match_pattern(value: Any, attributes: tuple[str, ...], by_position: bool, site: int) -> Any:
    """Read what the patterns of a `match` statement ask a value for."""
    if changing.any:
        read_classes((value,), site)
    if learned.moving:
        read_registry(site)

    def asked(thing: Any) -> tuple[str, ...]:
        if type(thing) in PLAIN or issubclass(type(thing), type):
            return ()
        places = getattr(type(thing), "__match_args__", ()) if by_position else ()
        return (*attributes, *places)

    note_steps(match_pattern, (value,), site)
    return perform_deep((value,), site, callbacks.itself, value, attributes=asked)


def match_attribute(look: Callable[[], Any]) -> None:
    """Name a pattern that reads an attribute of an object, which nobody sees."""
    try:
        owner = look()
    except NameError:
        return
    if not issubclass(type(owner), (type, ModuleType)) and not now.alone:
        unobserved.note("an attribute in a pattern")
