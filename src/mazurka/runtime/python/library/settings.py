"""Performs functions that read or change settings of the process, each setting one location."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable
from typing import Any, Final

from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.calls import handles, performs
from mazurka.runtime.python.catalogue import CallEffect
from mazurka.runtime.python.places.operations import perform_at
from mazurka.runtime.python.places.settings import SETTINGS
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import progress
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.places import SharedPlace

_places: Final = {use.setting: SharedPlace(use.setting) for use in SETTINGS.values()}
CURRENT_DIRECTORY: Final = _places["the current directory"]
MASK: Final = _places["the mask of new files"]


@performs(CallEffect.USES_SETTING)
def use_setting(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """Read or change a setting of the process."""
    if session.current.ident != get_ident():
        return function(*arguments, **named)
    progress()
    use = SETTINGS[function]
    if use.writes and use.is_hidden and not now.alone:
        unobserved.note(f"{function.__module__.lstrip('_')}.{function.__name__}")
    how = How.CHANGE if use.writes else How.READ_ALL
    words = f"{'set' if use.writes else 'read'} {use.setting}"
    arguments = tuple(handles(arguments, site))
    parts = [(_places[use.setting], how)]
    return perform_at(parts, site, words, function, *arguments, **named)
