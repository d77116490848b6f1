"""Controlled threads, the threads of the operating system that carry them, and their labels.

A run has one `Task` for each thread of the test.  A `Carrier` is an operating system thread that
carries the task of one number in every run of an exploration: creating one costs as much as a short
run, and a program that asks for its identity gets the same answer in every run.

The handoff is one *baton* per carrier (`core.batons`): held while the carrier runs or waits,
released by the thread that hands over to it.
"""

from __future__ import annotations

import re
import sys
import threading
from _thread import LockType, allocate_lock, get_native_id, start_new_thread
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from mazurka.runtime.core.batons import Baton, make_baton
from mazurka.runtime.core.operations import Object, Purpose, RealOperation, Waiting, make_operation
from mazurka.runtime.core.thread_locals import forget_locals
from mazurka.stateless.runs import LifeRole, Lookup, Touch
from mazurka.system_limits import SystemLimitError, memory_limit

Path: TypeAlias = str
"""`0` for the test's own thread, `0.2` for the second thread it creates, `0.2.1`, ..."""


class Unwind(BaseException):
    """Ends a thread that a finished run has left standing.  No user code is meant to catch it."""


class Life(Object):
    """The life of a thread: `new`, `alive` or `ended`."""

    __slots__ = ("home", "joiner", "label", "number", "path", "thread")
    kind = "thread"

    def __init__(self, path: Path) -> None:
        super().__init__(path, "new")
        self.label = self.path = path
        self.number = -1
        """The number of the thread, once it has been started."""
        self.thread: Any = None
        """The thread object, then."""
        self.home = 0
        """The identity of the thread object; a copy of it gets the same life."""
        self.joiner = -1
        """The number of a thread that stands before the end, or has stood there."""

    def __str__(self) -> str:
        return f"thread {self.label}"


class StartThread(RealOperation):
    """Let a thread begin."""

    __slots__ = ("everybody",)
    kind = "start"

    def __init__(self, shared: Life, everybody: Object | None = None) -> None:
        self.shared = shared
        self.everybody = everybody
        """Stands for the list of all threads, where somebody looks at that."""

    def at(self, lookup: Lookup) -> Sequence[Touch]:
        if self.everybody is None:
            return ((self.shared, True),)
        return ((self.shared, True), (self.everybody, True))


Begin = make_operation("begin", writes=False)
"""The first operation of every thread but the test's own."""
End = make_operation("end", role=LifeRole.END)
"""The last operation of a thread."""
_LOOK, _JOIN = LifeRole.LOOK, LifeRole.JOIN


class Join(Waiting):
    """Wait for the end of a thread."""

    __slots__ = ("role",)
    kind = "join"
    writes = False
    can_spin = False

    def __init__(self, shared: Life) -> None:
        self.shared: Life = shared
        self.role = _LOOK if shared.state == "new" else _JOIN

    @property
    def joined(self) -> int:  # type: ignore[override]
        return self.shared.number

    def waits_for(self, purpose: Purpose | None) -> str:
        return super().waits_for(None) if purpose is None else purpose.text.format(self.shared)

    def lets(self, state: object) -> bool:
        return state != "alive"  # to join a thread that has not started is an error at once

    def ready(self) -> bool:
        return self.shared.state != "alive"


LookAlive = make_operation("is_alive", writes=False, role=LifeRole.LOOK)
"""See whether a thread is alive."""


class Task:
    """One controlled thread in one run."""

    objects = children = waits = 0
    time = 0.0
    turns = 0
    """How many rounds of `while` statements it has begun."""
    late = 0
    """How often a daemon has slept after all others had ended (`runtime.core.daemons`)."""
    reached = 0
    """Points reached after the end of the run, while it unwinds."""
    daemon = False
    excused = False
    """Ends when the interpreter does, though it is no daemon: a thread of an executor."""
    begun = False
    body: Callable[[], None] | None = None
    thrown_away: Callable[[], None] | None = None
    """What to do if the run ends before it has begun."""
    carrier: Carrier | None = None
    baton: Baton
    ident = 0
    """The identity of the thread that carries it; 0 before it has one."""

    def __init__(self, number: int, path: Path, life: Life, names: list[str]) -> None:
        self.number = number
        self.path = path
        self.life = life
        self.names = names
        """Names of the objects that it creates, made once for all runs."""
        self.rounds: Any = None
        """What it has read since its last write, if it may be spinning (`core.spinning`)."""

    def carried_by(self, carrier: Carrier) -> None:
        self.carrier = carrier
        self.baton = carrier.baton
        self.ident = carrier.ident


def restore_hooks(trace: Any, profile: Any) -> None:
    """Let the present thread be traced as it was before a task."""
    if sys.gettrace() is not trace:
        sys.settrace(trace)
    if sys.getprofile() is not profile:
        sys.setprofile(profile)


_UNTIL_LOOK = 1.0
"""Seconds until a thread that has not begun is looked for."""


def has_ended(ident: int) -> bool:
    """Return whether a thread has ended.

    A thread that finds no memory ends without a word, even before its first line of Python code.
    """
    return ident not in sys._current_frames()


class Carrier:
    """An operating system thread that carries tasks, one after the other."""

    __slots__ = ("baton", "forget", "ident", "live", "native_id", "task")
    forget: Callable[[], None]
    """Ends what its task keeps for itself alone, in `threading.local`; that may run code."""

    def __init__(self, live: Callable[[Task], Callable[[], None]]) -> None:
        self.live = live
        self.task: Task | None = None
        self.baton = make_baton()
        begun = allocate_lock()
        begun.acquire()
        self.ident = start_new_thread(self._carry, (begun,))
        while not begun.acquire(timeout=_UNTIL_LOOK):  # then the system's number is known
            if has_ended(self.ident):
                raise SystemLimitError(memory_limit())

    def _carry(self, begun: LockType) -> None:
        self.native_id = get_native_id()
        self.forget = forget = forget_locals()
        begun.release()
        wait = self.baton.acquire
        trace, profile = sys.gettrace(), sys.getprofile()
        while True:
            wait()
            task = self.task
            if task is None:
                return
            hand_over = self.live(task)
            restore_hooks(trace, profile)
            # Whatever the thread leaves behind must go before another thread runs: it may run code.
            task = self.task = None
            forget()
            hand_over()

    def dismiss(self) -> None:
        self.task = None
        self.baton.release()


class Pool:
    """The carriers of an exploration, by the number of the thread."""

    def __init__(self, live: Callable[[Task], Callable[[], None]]) -> None:
        self._live = live
        self._carriers: dict[int, Carrier] = {}

    def carrier(self, number: int) -> Carrier:
        found = self._carriers.get(number)
        if found is None:
            found = self._carriers[number] = Carrier(self._live)
        return found

    def dismiss(self) -> None:
        """Let all carriers end.  Only for carriers that wait for a task."""
        for carrier in self._carriers.values():
            carrier.dismiss()
        self._carriers.clear()

    def forget(self, number: int) -> None:
        """Forget a carrier that will never come back, and take it off the list of threads."""
        carrier = self._carriers.pop(number, None)
        if carrier is not None:
            threading._active.pop(carrier.ident, None)  # type: ignore[attr-defined]

    def abandon(self) -> None:
        """Forget carriers that may be stuck in a call that nobody controls."""
        for number in list(self._carriers):
            self.forget(number)


Key = TypeVar("Key")
_GIVEN = re.compile(r"Thread-\d+(?= \()")
"""The name that `threading` gives to a thread, without that of its function."""


def tell_apart(names: Mapping[Key, str]) -> dict[Key, str]:
    """Return the same names, numbered where several are equal: `worker (1)`, `worker (2)`."""
    counts: dict[str, int] = {}  # a `Counter` may have been rewritten for the program
    for name in names.values():
        counts[name] = counts.get(name, 0) + 1
    taken = {name for name, count in counts.items() if count == 1}
    numbers: dict[str, int] = {}
    labels = {}
    for key, name in names.items():
        label = name
        while counts[name] > 1 and (label == name or label in taken):
            numbers[name] = numbers.get(name, 0) + 1
            label = f"{name} ({numbers[name]})"
        taken.add(label)
        labels[key] = label
    return labels


def labels_of(tasks: Sequence[Task | None]) -> dict[int, str]:
    """Return the labels of the threads of a run, by number."""
    return tell_apart({task.number: task.life.label for task in tasks if task is not None})


def label_of(tasks: Sequence[Task | None], number: int) -> str:
    """Return the label of one thread."""
    return labels_of(tasks).get(number) or f"thread {number}"


def shorten(label: str) -> str:
    """Shorten a label for the text of a step: the head of a thread's column says what it runs."""
    found = _GIVEN.match(label)
    return found[0] if found is not None else label
