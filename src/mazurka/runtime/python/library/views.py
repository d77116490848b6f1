"""Views of buffers: as long as there is a `memoryview`, its `bytearray` cannot change its size.

Making a view, and releasing it, reads what the buffer contains, so both conflict with whatever
changes the size: that fails with a `BufferError` while there is a view.  Releasing a view also
changes what others find who use it.

A view that nobody releases is released when it ends, where its thread drops the last reference to
it.  No event comes before that, so it cannot be a scheduling point; if nothing orders it with what
other threads do to the buffer, nothing is proved.
"""

from __future__ import annotations

import weakref
from _thread import get_ident
from functools import partial
from typing import Any, Final

from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import AccessSite, number_of
from mazurka.runtime.python.calls import performs
from mazurka.runtime.python.catalogue import CallEffect
from mazurka.runtime.python.containers import (
    Part,
    behind,
    family,
    part_of,
    perform,
    perform_all,
    released,
    use_at_end,
)
from mazurka.runtime.python.opaque import meet_older
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import learned, progress

RELEASING: Final = frozenset({"release", "__exit__"})
"""Methods of a view after which it shows nothing any more."""
_END: Final = number_of(AccessSite(__file__, 1, 0, 1, 0, "end"))
learned.ends[_END] = "the end of a memoryview (other threads use its buffer meanwhile)"
_watched: dict[int, Any] = {}
"""By the identity of a view: what tells of its end."""


def forget_views() -> None:
    """Forget the views of the runs so far."""
    _watched.clear()
    released.clear()


@performs(CallEffect.MAKES_VIEW)
def make_view(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """`memoryview(buffer)`"""
    shown = next(iter((*arguments, *named.values())), None)
    part = part_of(shown, How.LOOK)
    if part is None:
        return watch_view(function(*arguments, **named))
    progress()
    return watch_view(perform(part, site, function, *arguments, **named))


def watch_view(value: Any) -> Any:
    """Note when a view ends that C code has made; return it."""
    if type(value) is not memoryview or session.current.ident != get_ident():
        return value
    buffer = behind(value)
    if family(buffer) is not None and id(value) not in _watched:
        run, identity = session.current, id(value)
        _watched[identity] = weakref.ref(value, partial(_note_end, run, identity, buffer))
    return value


def _note_end(run: Any, identity: int, buffer: Any, _: object) -> None:
    _watched.pop(identity, None)
    if released.pop(identity, None) is not None:
        return
    if run is session.current and run.ident == get_ident() and not run.over and not now.alone:
        use_at_end(buffer, _END)


def release(function: Any, view: Any, site: int, /, *arguments: Any) -> Any:
    """`view.release()`, and the end of `with view:`"""
    buffer = behind(view)
    meet_older(view)
    watch_view(view)
    parts: list[Part] = [] if buffer is None else [(buffer, family(buffer), How.CHANGE, None)]
    progress()
    result = perform_all(parts, site, function, *arguments)
    if id(view) in _watched:
        released[id(view)] = buffer
    return result
