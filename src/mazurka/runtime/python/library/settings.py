"""Performs functions that read or change settings of the process, each setting one location.

A run puts back what it has changed (`sharing.older_settings`).  Some settings C code reads, too,
where nobody sees it: every conversion of a number has a limit of digits.  If a thread changes such
a setting while others run, nothing is proved.
"""

from __future__ import annotations

from _thread import get_ident
from abc import ABCMeta
from collections.abc import Callable
from types import BuiltinFunctionType, MethodType
from typing import Any, Final

from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.calls import handles, performs
from mazurka.runtime.python.catalogue import CallEffect, is_value
from mazurka.runtime.python.deep import perform_deep
from mazurka.runtime.python.opaque import note_generators, opaque_parts
from mazurka.runtime.python.places.operations import PlacePart, parts_at, perform_at
from mazurka.runtime.python.places.settings import HOLDING, PLACES, SETTINGS, UNDO, ObservedSetting
from mazurka.runtime.python.reentry import perform_in_turns
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import learned, progress
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.older_settings import older_settings

CURRENT_DIRECTORY: Final = PLACES["the current directory"]
MASK: Final = PLACES["the mask of new files"]


@performs(CallEffect.USES_SETTING)
def use_setting(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """Read or change a setting of the process."""
    if session.current.ident != get_ident():
        return function(*arguments, **named)
    progress()
    use = SETTINGS[getattr(function, "__func__", function)]
    setting, writes = use.setting, use.writes(arguments, named)
    part = PLACES[setting.name], How.CHANGE if writes else How.READ_ALL
    words = f"{'set' if writes else 'read'} {setting.name}"
    arguments = tuple(handles(arguments, site))
    action = _Change(setting, function) if writes else function
    if setting.calls:
        if setting.keeper is not None:
            older_settings.meet(setting.name, setting.keeper)
        return perform_in_turns(parts_at([part]), site, function, *arguments, **named)
    values = (*arguments, *named.values())
    if all(is_value(type(value)) or issubclass(type(value), type) for value in values):
        return perform_at([part], site, words, action, *arguments, **named)
    return _touch_given(part, site, action, arguments, named)


_DIALECT: Final = (
    *("delimiter", "doublequote", "escapechar", "lineterminator", "quotechar", "quoting"),
    *("skipinitialspace", "strict"),
)
"""The attributes that C code reads of a dialect of `csv`."""
_ABSTRACT: Final = "the registry of abstract classes"


@performs(CallEffect.ASKS_CLASS)
def ask_class(function: Any, site: int, /, *arguments: Any) -> Any:
    """`isinstance(thing, kind)`, `kind.__instancecheck__(thing)`,
    `ABCMeta.__subclasscheck__(kind, one)`"""
    if type(function) is MethodType:
        kinds: tuple[Any, ...] = (function.__self__,)
    else:
        kinds = arguments[-1:] if type(function) is BuiltinFunctionType else arguments[:1]
    if _ABSTRACT not in learned.moving or not _is_abstract(kinds):
        return function(*arguments)
    progress()
    parts = parts_at([(PLACES[_ABSTRACT], How.READ_ALL)])
    return perform_in_turns(parts, site, function, *arguments)


def read_registry(site: int) -> None:
    """Read the registry of abstract classes, which a class pattern may ask."""
    if _ABSTRACT in learned.moving:
        perform_at([(PLACES[_ABSTRACT], How.READ_ALL)], site, f"read {_ABSTRACT}", bool)


def _is_abstract(kinds: Any) -> bool:
    """Tell whether there are abstract classes among classes, which may be in tuples and unions."""
    for kind in kinds:
        inner = kind if type(kind) is tuple else getattr(kind, "__args__", ())
        if issubclass(type(kind), ABCMeta) or (type(inner) is tuple and _is_abstract(inner)):
            return True
    return False


def _touch_given(
    part: PlacePart, site: int, action: Any, arguments: tuple[Any, ...], named: dict[str, Any]
) -> Any:
    """Use a setting, and all that C code is given: `codecs.encode(buffer, "hex")`."""
    values = (*arguments, *named.values())
    if action in HOLDING:  # it does nothing yet with the first, and asks the others how to write
        writes = action.__name__ == "writer"
        asked = values if writes else values[1:]

        def attributes(thing: Any) -> tuple[str, ...]:
            if writes and thing is values[0]:
                return ("write",)
            return _DIALECT if any(thing is one for one in asked) else ()

        more = parts_at([part])
        return perform_deep(
            asked, site, action, *arguments, more=more, attributes=attributes, named=named
        )
    note_generators(action, values, site)
    more = [*parts_at([part]), *opaque_parts(values)]
    return perform_deep(values, site, action, *arguments, more=more, how=How.CHANGE, named=named)


class _Change:
    """A call that changes a setting: what was there is kept before it."""

    def __init__(self, setting: ObservedSetting, function: Any) -> None:
        self._setting = setting
        self._call = function
        self._function: Any = getattr(function, "__func__", function)
        self._owner = () if self._function is function else (function.__self__,)
        self.__qualname__: str = self._function.__qualname__

    def __call__(self, /, *arguments: Any, **named: Any) -> Any:
        self._keep(*self._owner, *arguments)
        setting, keeper = self._setting, self._setting.keeper
        before = keeper.read() if keeper is not None and setting.is_hidden else None
        result = self._call(*arguments, **named)
        if setting.is_asked and not now.alone and setting.name not in learned.moving:
            learned.moving.add(setting.name)
            learned.news.append(setting.name)
        is_used = setting.is_hidden and not now.alone
        if is_used and (keeper is None or keeper.read() != before):
            module = self._function.__module__.lstrip("_")
            unobserved.note_hidden(f"{module}.{self.__qualname__}")
        return result

    def _keep(self, *arguments: Any) -> None:
        keeper, name = self._setting.keeper, self._setting.name
        if keeper is not None:
            older_settings.meet(name, keeper)
        elif self._function in UNDO:
            older_settings.meet(f"{name} {arguments[:1]}", UNDO[self._function](*arguments))
