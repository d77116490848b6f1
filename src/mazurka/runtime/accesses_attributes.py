"""Functions that touch attributes by name: `getattr`, `setattr`, `object.__setattr__`, ..."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable
from typing import Any, Final

from mazurka.runtime.accesses import load, touch, touch_own
from mazurka.runtime.accesses_names import names
from mazurka.runtime.scheduler import session


def getting(_: Any, site: int, thing: Any, name: str, *default: Any) -> Any:
    try:
        return load(thing, name, site)
    except AttributeError:
        if default:
            return default[0]
        raise


def getting_own(function: Any, site: int, thing: Any, name: str) -> Any:
    """`object.__getattribute__(thing, name)`, from a class that has its own `__getattribute__`."""
    if session.current.ident == get_ident():
        touch(names.see(thing), name, site, False)
    return function(thing, name)


def having(_: Any, site: int, thing: Any, name: str) -> bool:
    try:
        load(thing, name, site)
    except AttributeError:
        return False
    return True


def setting(function: Any, site: int, thing: Any, name: str, value: Any) -> None:
    if session.current.ident == get_ident():
        touch_own(thing, name, site)
    function(thing, name, value)


def deleting(function: Any, site: int, thing: Any, name: str) -> None:
    if session.current.ident == get_ident():
        touch_own(thing, name, site)
    function(thing, name)


def _bound_setting(function: Any, site: int, name: str, *value: Any) -> None:
    """`super().__setattr__(name, value)`, `super().__delattr__(name)`"""
    if session.current.ident == get_ident():
        touch_own(function.__self__, name, site)
    function(name, *value)


def _bound_getting(function: Any, site: int, name: str) -> Any:
    """`super().__getattribute__(name)`"""
    if session.current.ident == get_ident():
        touch(names.see(function.__self__), name, site, False)
    return function(name)


BOUND: Final[dict[str, Callable[..., Any]]] = {
    "__setattr__": _bound_setting,
    "__delattr__": _bound_setting,
    "__getattribute__": _bound_getting,
}
