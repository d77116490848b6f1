"""What a thread object says of itself, and what it does when it begins.

The library keeps the name under `_name`, and shows it by a property.  Both are one variable
(`attributes.PROPERTIES_OF_THREADS`).  The text of a thread object is made by library code that is
not observed, so it is replaced.  So is the code that begins a thread: it reads the containers that
hold the arguments, which others may have (`super().__init__(args=shared)`).
"""

from __future__ import annotations

import threading
from _thread import get_ident
from collections.abc import Iterator, Sequence
from typing import Any, Final

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import AccessSite, number_of
from mazurka.runtime.primitives.registry import look_inside
from mazurka.runtime.primitives.thread import beginning
from mazurka.runtime.python.iteration.loops import read_whole, unpack
from mazurka.runtime.python.variables import read_attribute, touch_attribute

_show: Final = threading.Thread.__repr__


def _site(method: Any, role: str) -> int:
    """Make the number of a place in the source: the name of a method."""
    line, end = method.__code__.co_firstlineno, len(f"    def {method.__name__}")
    return number_of(AccessSite(threading.__file__, line, 8, line, end, role))


_SHOWN: Final = _site(_show, "read_attribute")
_BEGUN: Final = _site(threading.Thread.run, "call")
_TIMED: Final = _site(threading.Timer.run, "call")


def replace_parts_of_threads() -> Iterator[tuple[type, str, Any]]:
    """The class, names of its parts, and what is to be in their places."""

    def __repr__(self: Any) -> str:  # noqa: N807
        run = session.current
        if run.ident == get_ident() and not run.over:
            for name in ("name", "daemon"):
                touch_attribute(self, name, _SHOWN)
            look_inside(self, "ident")
        return _show(self)

    def run(self: Any) -> None:
        try:
            if self._target is not None:
                _call(self, ("_target", "_args", "_kwargs"), _BEGUN)
        finally:
            del self._target, self._args, self._kwargs  # they may refer to the thread

    def run_timer(self: Any) -> None:
        self.finished.wait(read_attribute(self, "interval", _TIMED))
        if not self.finished.is_set():
            _call(self, ("function", "args", "kwargs"), _TIMED)
        self.finished.set()

    yield threading.Thread, "__repr__", __repr__
    yield threading.Thread, "run", run
    yield threading.Timer, "run", run_timer


def _call(thread: Any, names: Sequence[str], site: int) -> None:
    """Call what a thread has been given, which reads its arguments now."""
    target, arguments, named = (read_attribute(thread, name, site) for name in names)
    target(*unpack(arguments, site), **read_whole(named, site))


def _find_run(thread: Any) -> Any:
    """Find what a thread does, when it begins."""
    return read_attribute(thread, "run", _BEGUN)


beginning.find_run = _find_run
