"""Callable objects of C code that reach into what they are given: `operator.attrgetter("x")`, the
descriptors of slots, `"{0.x}".format`, ..."""

from __future__ import annotations

import string
from _string import formatter_field_name_split  # type: ignore[import-not-found]
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from operator import attrgetter, itemgetter
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

from mazurka.runtime.python.expressions import read_item
from mazurka.runtime.python.variables import delete_attribute, read_attribute, write_attribute

# -- of `operator` -------------------------------------------------------------------------------


def getter(function: Any, site: int, method: Callable[[Any, str, int], Any]) -> Any:
    """An `attrgetter`, `itemgetter` or `methodcaller`; `method` says what methods do."""
    maker, arguments = function.__reduce__()
    if maker is attrgetter:
        return partial(_attributes, arguments, site)
    if maker is itemgetter:
        return partial(_items, arguments, site)
    if type(maker) is partial:
        name, named = maker.args[0], maker.keywords
    else:
        name, arguments, named = arguments[0], arguments[1:], {}

    def call(thing: Any) -> Any:
        return method(thing, name, site)(*arguments, **named)

    return call


def _attributes(paths: Sequence[str], site: int, thing: Any) -> Any:
    found = [
        reduce(lambda owner, name: read_attribute(owner, name, site), path.split("."), thing)
        for path in paths
    ]
    return found[0] if len(found) == 1 else tuple(found)


def _items(keys: Sequence[Any], site: int, thing: Any) -> Any:
    found = [read_item(thing, key, site) for key in keys]
    return found[0] if len(found) == 1 else tuple(found)


# -- descriptors ---------------------------------------------------------------------------------


def is_slot(descriptor: Any) -> bool:
    return type(descriptor) in (MemberDescriptorType, GetSetDescriptorType)


def descriptor_call(function: Any, site: int) -> Any:
    """`C.slot.__set__(thing, value)`: the attribute itself, unless a class hides the slot."""
    descriptor = function.__self__
    name = descriptor.__name__

    def is_seen(thing: Any) -> bool:
        return getattr(type(thing), name, None) is descriptor

    def get(thing: Any, *kind: Any) -> Any:
        return read_attribute(thing, name, site) if is_seen(thing) else function(thing, *kind)

    def put(thing: Any, value: Any) -> None:
        if is_seen(thing):
            write_attribute(value, thing, name, site)
        else:
            function(thing, value)

    def remove(thing: Any) -> None:
        if is_seen(thing):
            delete_attribute(thing, name, site)
        else:
            function(thing)

    calls: dict[str, Any] = {"__get__": get, "__set__": put, "__delete__": remove}
    return calls.get(function.__name__, function)


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


def reaches_inside(text: str) -> bool:
    """Whether a format string has such fields."""
    try:
        return any(
            field and ("." in field or "[" in field)
            for _, field, _, _ in string.Formatter().parse(text)
        )
    except ValueError:
        return False
