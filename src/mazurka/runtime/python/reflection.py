"""Functions and objects of C code that reach attributes and elements by name.

`getattr`, `setattr`, `object.__setattr__`, `operator.attrgetter("x")`, the descriptors of slots and
format strings such as `"{0.x}"` access what the expression `thing.x` would.
"""

from __future__ import annotations

import string
from _string import (  # type: ignore[import-not-found]
    formatter_field_name_split,
    formatter_parser,
)
from _thread import get_ident
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from operator import attrgetter, itemgetter
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType
from typing import Any, Final, TypeAlias

from mazurka.runtime.core.insides import find_in_class
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python import attributes, variables
from mazurka.runtime.python.calls import call, hold_method, performs
from mazurka.runtime.python.catalogue import BUILT_IN, METHODS, SIMPLE, CallEffect
from mazurka.runtime.python.containers import family, is_built_in
from mazurka.runtime.python.deep import DeepReach, holds, perform_reach, stand_before
from mazurka.runtime.python.expressions import format_value, read_item
from mazurka.runtime.python.library.call_stack import LEADING, follow_frames
from mazurka.runtime.python.missing_keys import makes_new
from mazurka.runtime.python.opaque import asked_parts
from mazurka.runtime.python.reentry import perform_split
from mazurka.runtime.python.variables import read_attribute, read_dict, touch_found, write_own
from mazurka.runtime.sharing.accesses import How


@performs(CallEffect.READS_ITEM)
def get_item(_: Any, site: int, thing: Any, key: Any, /) -> Any:
    """`operator.getitem(thing, key)`"""
    return read_item(thing, key, site)


@performs(CallEffect.READS_ATTRIBUTE)
def get_attribute(_: Any, site: int, thing: Any, name: str, *default: Any) -> Any:
    """`getattr(thing, name)`, `getattr(thing, name, default)`"""
    try:
        if name == "__dict__":
            return read_dict(thing, site)
        return (follow_frames if name in LEADING else read_attribute)(thing, name, site)
    except AttributeError:
        if default:
            return default[0]
        raise


@performs(CallEffect.READS_OWN_ATTRIBUTE)
def get_own_attribute(function: Any, site: int, thing: Any, name: str) -> Any:
    """`object.__getattribute__(thing, name)`, from a class that has its own `__getattribute__`."""
    if session.current.ident == get_ident():
        touch_found(thing, name, site)
    return function(thing, name)


@performs(CallEffect.READS_STATIC_ATTRIBUTE)
def get_static_attribute(
    function: Any, site: int, /, obj: Any, attr: str, *default: Any, **named: Any
) -> Any:
    """`inspect.getattr_static`, which finds an attribute without calling descriptors."""
    if session.current.ident == get_ident():
        variables.touch_attribute(obj, attr, site)
    return function(obj, attr, *default, **named)


@performs(CallEffect.HAS_ATTRIBUTE)
def has_attribute(_: Any, site: int, thing: Any, name: str) -> bool:
    """`hasattr(thing, name)`"""
    try:
        read_attribute(thing, name, site)
    except AttributeError:
        return False
    return True


@performs(CallEffect.USES_PROPERTY)
def use_property(function: Any, site: int, /, *arguments: Any) -> Any:
    """`thread.getName()`, `thread.setDaemon(True)`: as the property does."""
    thread = getattr(function, "__self__", arguments[0] if arguments else None)
    name = "name" if function.__name__.endswith("Name") else "daemon"
    if function.__name__.startswith("set"):
        return write_own(thread, name, site, How.WRITE, function, *arguments)
    if session.current.ident == get_ident():
        variables.touch_attribute(thread, name, site)
    return function(*arguments)


@performs(CallEffect.WRITES_ATTRIBUTE)
@performs(CallEffect.DELETES_ATTRIBUTE)
def store_attribute(function: Any, site: int, thing: Any, name: str, *value: Any) -> None:
    """`setattr(thing, name, value)`, `object.__delattr__(thing, name)`"""
    how = How.WRITE if value else How.REMOVE
    write_own(thing, name, site, how, function, thing, name, *value)


def _set_bound(function: Any, site: int, name: str, *value: Any) -> None:
    """`super().__setattr__(name, value)`, `super().__delattr__(name)`"""
    how = How.WRITE if value else How.REMOVE
    write_own(function.__self__, name, site, how, function, name, *value)


def _get_bound(function: Any, site: int, name: str) -> Any:
    """`super().__getattribute__(name)`"""
    if session.current.ident == get_ident():
        touch_found(function.__self__, name, site)
    return function(name)


@performs(CallEffect.SHOWS_ATTRIBUTES)
def show_attributes(function: Any, site: int, thing: Any) -> Any:
    """`vars(thing)`"""
    space_shown = function(thing)
    return read_dict(thing, site) if hasattr(thing, "__dict__") else space_shown


BOUND: Final[dict[str, Callable[..., Any]]] = {
    "__setattr__": _set_bound,
    "__delattr__": _set_bound,
    "__getattribute__": _get_bound,
}
"""By name: what performs a call of such a bound method of C code."""


# -- getters of `operator` -----------------------------------------------------------------------


def call_getter(function: Any, site: int, method: Callable[[Any, str, int], Any]) -> Any:
    """What is called instead of a getter of `operator`, where `method` calls methods."""
    maker, arguments = function.__reduce__()
    if maker is attrgetter:
        return partial(_attributes, function, arguments, site)
    if maker is itemgetter:
        return partial(_items, function, arguments, site)
    if type(maker) is partial:
        name, named = maker.args[0], maker.keywords
    else:
        name, arguments, named = arguments[0], arguments[1:], {}

    def call(thing: Any) -> Any:
        return method(thing, name, site)(*arguments, **named)

    return call


def _attributes(getter: Any, paths: Sequence[str], site: int, thing: Any) -> Any:
    if len(paths) > 1 and _reads_at_once([(thing, True, path) for path in paths]):
        found = _read_at_once(getter, site, thing, [(thing, True, path) for path in paths])
        return tuple(hold_method(v, site) if type(v) in BUILT_IN else v for v in found)
    found = [
        reduce(lambda owner, name: read_attribute(owner, name, site), path.split("."), thing)
        for path in paths
    ]
    return found[0] if len(found) == 1 else tuple(found)


def _items(getter: Any, keys: Sequence[Any], site: int, thing: Any) -> Any:
    if len(keys) > 1 and _reads_at_once([(thing, False, key) for key in keys]):
        return _read_at_once(getter, site, thing, [(thing, False, key) for key in keys])
    found = [read_item(thing, key, site) for key in keys]
    return found[0] if len(found) == 1 else tuple(found)


# -- reads of several places by one call ---------------------------------------------------------

_Reads: TypeAlias = Sequence[tuple[Any, bool, Any]]
"""An object, whether an attribute is read or an element, and the name or the key."""


def _reads_at_once(reads: _Reads) -> bool:
    """Tell whether C code reads attributes and elements where no code of the program lies behind
    any: nobody can come in between then."""
    if session.current.ident != get_ident():
        return False
    return all(
        ("." not in name and holds(thing, name)) if is_attribute else _is_at_hand(thing, name)
        for thing, is_attribute, name in reads
    )


def _is_at_hand(thing: Any, key: Any) -> bool:
    kind = type(thing)
    if family(thing) not in METHODS or not is_built_in(kind, "__getitem__"):
        return False
    return type(key) in SIMPLE and not (issubclass(kind, dict) and makes_new(thing))


def _read_at_once(getter: Any, site: int, thing: Any, reads: _Reads) -> Any:
    """Call a getter that reads several places: one access, which reads nothing of what it finds."""
    reach = _reach(reads)
    return perform_split(
        lambda: stand_before(reach, (), site),
        lambda _: stand_before(reach, (), site),
        site,
        getter,
        thing,
    )


def _reach(reads: _Reads) -> DeepReach:
    reach = DeepReach(lambda thing: (), How.READ_ALL, apart=False, writes=False)
    for thing, is_attribute, name in reads:
        if is_attribute:
            reach.find_variables(thing, (name,))
        else:
            reach.parts.append((thing, family(thing), How.READ, name))
    return reach


# -- descriptors ---------------------------------------------------------------------------------


SLOTS: Final = (MemberDescriptorType, GetSetDescriptorType)
"""Types of descriptors of C code, such as that of a slot."""


def call_descriptor(function: Any, site: int) -> Any:
    """What is called instead of `C.slot.__set__`: an access, unless a class hides the slot."""
    descriptor = function.__self__
    name = descriptor.__name__

    accesses: dict[str, Callable[..., Any]] = {
        "__get__": lambda thing, *kind: read_attribute(thing, name, site),
        "__set__": lambda thing, value: variables.write_attribute(value, thing, name, site),
        "__delete__": lambda thing: variables.delete_attribute(thing, name, site),
    }
    if type(descriptor) is MemberDescriptorType:
        accesses = variables.accesses_to_slot(descriptor, name, site)
    access = accesses.get(function.__name__, function)

    def call(thing: Any, *given: Any) -> Any:
        is_seen = find_in_class(type(thing), name) is descriptor
        return (access if is_seen else function)(thing, *given)

    return function if access is function else call


def call_property(function: Any, site: int) -> Any:
    """What is called instead of `C.name.__get__` and its like, where `name` is a property."""
    accessor = getattr(function.__self__, attributes.ACCESSORS.get(function.__name__, ""), None)
    if accessor is None or type(accessor) is FunctionType:
        return function

    def access(thing: Any, *given: Any) -> Any:
        if thing is None:
            return function(thing, *given)
        given = () if function.__name__ == "__get__" else given
        return call(accessor, site)(thing, *given)

    return access


# -- format strings ------------------------------------------------------------------------------


class Formatting(string.Formatter):
    """`str.format` with fields like `{0.x}` and `{0[x]}`, which reach into the arguments."""

    def __init__(self, site: int) -> None:
        self._site = site

    def get_field(
        self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        first, rest = formatter_field_name_split(field_name)
        thing = self.get_value(first, args, kwargs)
        for is_attribute, name in rest:
            get = read_attribute if is_attribute else read_item
            thing = get(thing, name, self._site)
        return thing, first

    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion is None:
            return value
        return super().convert_field(format_value(value, self._site), conversion)

    def format_field(self, value: Any, format_spec: str) -> Any:
        return format(format_value(value, self._site), format_spec)


def format_text(function: Any, text: str, site: int, /, *arguments: Any, **named: Any) -> str:
    """`text.format(...)`, as one access where no code of the program finds what is written."""
    fields = _find_fields(text, arguments, named)
    if fields is None or not _reads_at_once(fields[1]):
        return Formatting(site).vformat(text, arguments, named)
    whole, reads = fields
    reach = _reach(reads)
    reach.find(whole)
    more = asked_parts(format, whole)
    result: str = perform_reach(reach, more, site, function, *arguments, **named)
    return result


def _find_fields(
    text: str, arguments: tuple[Any, ...], named: dict[str, Any]
) -> tuple[list[Any], list[tuple[Any, bool, Any]]] | None:
    """Find the values that a format string writes as they are, and where it finds others; None if
    it reaches deeper, or fails."""
    whole: list[Any] = []
    reads: list[tuple[Any, bool, Any]] = []
    number = 0
    for _, field, specification, _ in formatter_parser(text):
        if field is None:
            continue
        if "{" in specification:
            return None
        first, rest = formatter_field_name_split(field)
        steps = list(rest)
        if first == "":
            first, number = number, number + 1
        is_given = first < len(arguments) if type(first) is int else first in named
        if not is_given or len(steps) > 1:
            return None
        value = arguments[first] if type(first) is int else named[first]
        if steps:
            reads.append((value, *steps[0]))
        else:
            whole.append(value)
    return whole, reads


def reaches_inside(text: str) -> bool:
    """Tell whether a format string has fields that reach into its arguments."""
    try:
        return any(
            field and ("." in field or "[" in field) for _, field, _, _ in formatter_parser(text)
        )
    except ValueError:
        return False
