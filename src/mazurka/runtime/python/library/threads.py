"""What a thread object says of itself: its name, whether it is a daemon, whether it runs.

The library keeps the name under `_name`, and shows it by a property.  Both are one variable
(`attributes.PROPERTIES_OF_THREADS`).  The text of a thread object is made by library code that is
not observed, so it is replaced.
"""

from __future__ import annotations

import threading
from _thread import get_ident
from collections.abc import Iterator
from typing import Any, Final

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import AccessSite, number_of
from mazurka.runtime.primitives.registry import look_inside
from mazurka.runtime.python.variables import touch_attribute

_show: Final = threading.Thread.__repr__
_line: Final = _show.__code__.co_firstlineno
_SHOWN: Final = number_of(AccessSite(threading.__file__, _line, 4, _line, 60, "read_attribute"))


def replace_parts_of_threads() -> Iterator[tuple[type, str, Any]]:
    """The class, names of its parts, and what is to be in their places."""

    def __repr__(self: Any) -> str:  # noqa: N807
        run = session.current
        if run.ident == get_ident() and not run.over:
            for name in ("name", "daemon"):
                touch_attribute(self, name, _SHOWN)
            look_inside(self, "ident")
        return _show(self)

    yield threading.Thread, "__repr__", __repr__
