"""What the library's own objects keep inside, in the hands of a program: `semaphore._value`.

The classes of `threading`, `queue` and `concurrent.futures` are controlled as a whole: their calls
are operations on a model, or code of the library under locks that are.  What a program reads past
these calls, an attribute that is not meant for it or one that the library computes without a lock,
has to be an operation on the same thing, or the moment at which it is read would not matter to a
search.  What cannot be read that way is refused, and what the program gets hold of and can look at
later, or changes, is named in the result.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, NoReturn

from mazurka.runtime.core.failures import refuse
from mazurka.runtime.core.naming import ATTRIBUTE, adopt, model_of
from mazurka.runtime.core.operations import Step
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.core.tasks import LooksAlive
from mazurka.runtime.primitives.events import EventModel, IsSet, SemaphoreModel
from mazurka.runtime.primitives.locks import Lock, LooksLocked, RLock
from mazurka.runtime.primitives.queue_models import queue_model
from mazurka.runtime.sharing.monitoring import unobserved


class Look(Step):
    """A look at the inside of an object, which never waits."""

    __slots__ = ()
    kind = "look at"
    writes = False


def look_inside(thing: Any, name: str) -> None:
    """The running thread is about to read such an attribute."""
    run = session.current
    if run.over:
        return
    for base in type(thing).__mro__:
        look = INSIDE.get(base, {}).get(name)
        if look is not None:
            look(run, thing, name)
            return


def is_inside(kind: type, name: str) -> bool:
    return any(name in INSIDE[base] for base in kind.__mro__ if base in INSIDE)


def note_change(kind: type, name: str) -> None:
    """The program writes such an attribute."""
    unobserved.note(f"assignment to {_title(kind, name)}")


def _title(kind: type, name: str) -> str:
    owner = next(base for base in kind.__mro__ if name in INSIDE.get(base, ()))
    return f"{owner.__name__}.{name}"


def _event(run: Scheduler, event: Any, name: str) -> None:
    if event.__dict__.get(ATTRIBUTE) is not False:  # the one inside of a thread: see `_thread`
        run.point(IsSet(model_of(run, event, EventModel)))


def _semaphore(run: Scheduler, semaphore: Any, name: str) -> None:
    run.point(Look(model_of(run, semaphore, SemaphoreModel)))


def _thread(run: Scheduler, thread: Any, name: str) -> None:
    life = thread.__dict__.get(ATTRIBUTE)
    if life is not None and life.epoch == run.epoch:
        run.point(LooksAlive(life))


def _queue(run: Scheduler, channel: Any, name: str) -> None:
    model = queue_model(run, channel)
    if model.now.holder != run.running.path:
        run.point(Look(model))
        if name == "queue":  # it may be kept, and looked at later
            unobserved.note(_title(type(channel), name))


def _guarded_by(attribute: str) -> Callable[[Scheduler, Any, str], None]:
    """For what code of the library changes while it holds the lock of a condition."""

    def look(run: Scheduler, thing: Any, name: str) -> None:
        lock: Any = getattr(getattr(thing, attribute, None), "_lock", None)
        if type(lock) not in (Lock, RLock):
            unobserved.note(_title(type(thing), name))
            return
        if lock.epoch != run.epoch:
            adopt(run, lock)
        run.point(LooksLocked(lock))

    return look


def _named(run: Scheduler, thing: Any, name: str) -> None:
    unobserved.note(_title(type(thing), name))


def _refused(run: Scheduler, thing: Any, name: str) -> NoReturn:
    title = _title(type(thing), name)
    refuse(run, f"{title} is not supported under control: nothing is kept there")


_Looks = dict[str, Callable[[Scheduler, Any, str], None]]
INSIDE: Final[dict[type, _Looks]] = {
    threading.Event: {"_flag": _event},
    threading.Semaphore: {"_value": _semaphore},
    threading.Condition: {"_waiters": _refused},
    threading.Barrier: dict.fromkeys(
        ("_state", "_count", "broken", "n_waiting"), _guarded_by("_cond")
    ),
    threading.Thread: dict.fromkeys(
        (
            *("ident", "native_id", "_ident", "_native_id", "_started", "_is_stopped"),
            *("_tstate_lock", "_handle", "_os_thread_handle"),
        ),
        _thread,
    ),
    queue.Queue: dict.fromkeys(("queue", "unfinished_tasks", "is_shutdown"), _queue),
    Future: dict.fromkeys(
        ("_state", "_result", "_exception", "_waiters", "_done_callbacks"),
        _guarded_by("_condition"),
    ),
    ThreadPoolExecutor: dict.fromkeys(("_threads", "_shutdown", "_broken"), _named),
}
"""By class: what a program can read of its objects that their calls change."""
