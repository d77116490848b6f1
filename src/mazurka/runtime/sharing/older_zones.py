"""Time zones that are remembered: `ZoneInfo("Europe/Rome")` gives the same object again.

C code keeps them where no object of the program leads, in a dictionary with weak values and in a
list of those that were used last.  A run has to find those, and only those, that the first one
found, or no run but the first would make one.
"""

from __future__ import annotations

import sys
from typing import Any, Final
from weakref import WeakValueDictionary

_NOWHERE: Final = "no such place"
"""The key of a time zone that nobody has made."""


class _FoundError(Exception):
    """Ends the making of a time zone."""


def read_zones() -> dict[Any, tuple[Any, Any]]:
    """Copy what is remembered: by key, a weak reference and the time zone."""
    remembered = _find_remembered()
    entries = {} if remembered is None else dict(remembered.data)
    zones = {key: (weak, weak()) for key, weak in entries.items()}
    return {key: both for key, both in zones.items() if both[1] is not None}


def write_zones(old: dict[Any, tuple[Any, Any]]) -> None:
    """Let these be remembered, and no others; none of them was used last.

    The references are put back as they are: code of the dictionary would make new ones.
    """
    remembered = _find_remembered()
    if remembered is not None:
        remembered.data.clear()
        _type_of_zones().clear_cache()
        remembered.data.update((key, weak) for key, (weak, _) in old.items())


def forget_last_used(_: object) -> None:
    """Empty the list of those that were used last, which nobody can read; the dictionary stays."""
    write_zones(read_zones())


def _type_of_zones() -> Any:
    """Find the type of C code; None if nobody has imported it."""
    return getattr(sys.modules.get("_zoneinfo"), "ZoneInfo", None)


_remembered: list[Any] = []
"""The dictionary, once it has been found."""


def _find_remembered() -> Any:
    """Find the dictionary: C code asks it for a key, and shows it thereby."""
    make = _type_of_zones()
    if make is None or _remembered:
        return _remembered[0] if _remembered else None
    kind: Any = WeakValueDictionary
    ask = kind.get

    def get(self: Any, key: Any, default: Any = None) -> Any:
        if key is _NOWHERE:
            _remembered.append(self)
            raise _FoundError
        return ask(self, key, default)

    kind.get = get
    try:
        make(_NOWHERE)
    except (_FoundError, LookupError, OSError):
        pass
    finally:
        kind.get = ask
    return _remembered[0] if _remembered else None
