"""Functions that touch attributes by name: `getattr`, `setattr`, `object.__setattr__`, ..."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable
from typing import Any, Final

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.variables import (
    read_attribute,
    read_dict,
    touch_attribute,
    touch_found,
    write_own,
)
from mazurka.runtime.sharing.accesses import How


def getting(_: Any, site: int, thing: Any, name: str, *default: Any) -> Any:
    try:
        return read_dict(thing, site) if name == "__dict__" else read_attribute(thing, name, site)
    except AttributeError:
        if default:
            return default[0]
        raise


def getting_own(function: Any, site: int, thing: Any, name: str) -> Any:
    """`object.__getattribute__(thing, name)`, from a class that has its own `__getattribute__`."""
    if session.current.ident == get_ident():
        touch_found(thing, name, site)
    return function(thing, name)


def getting_static(
    function: Any, site: int, obj: Any, attr: str, *default: Any, **named: Any
) -> Any:
    """`inspect.getattr_static`, which looks where an attribute is past what the class does."""
    if session.current.ident == get_ident():
        touch_attribute(obj, attr, site)
    return function(obj, attr, *default, **named)


def having(_: Any, site: int, thing: Any, name: str) -> bool:
    try:
        read_attribute(thing, name, site)
    except AttributeError:
        return False
    return True


def setting(function: Any, site: int, thing: Any, name: str, value: Any) -> None:
    write_own(thing, name, site, How.WRITE, function, thing, name, value)


def deleting(function: Any, site: int, thing: Any, name: str) -> None:
    write_own(thing, name, site, How.REMOVE, function, thing, name)


def _bound_setting(function: Any, site: int, name: str, *value: Any) -> None:
    """`super().__setattr__(name, value)`, `super().__delattr__(name)`"""
    how = How.WRITE if value else How.REMOVE
    write_own(function.__self__, name, site, how, function, name, *value)


def _bound_getting(function: Any, site: int, name: str) -> Any:
    """`super().__getattribute__(name)`"""
    if session.current.ident == get_ident():
        touch_found(function.__self__, name, site)
    return function(name)


def variables(function: Any, site: int, thing: Any) -> Any:
    """`vars(thing)`"""
    space_shown = function(thing)
    return read_dict(thing, site) if hasattr(thing, "__dict__") else space_shown


BOUND: Final[dict[str, Callable[..., Any]]] = {
    "__setattr__": _bound_setting,
    "__delattr__": _bound_setting,
    "__getattribute__": _bound_getting,
}
