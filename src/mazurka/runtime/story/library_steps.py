"""Steps that the library takes for the program: what they say to people.

`if not f.done():` takes the lock of a condition that nobody knows of, to look in which state the
future is; so that state is told.  A function with a cache is asked, and later filled, by C code,
which counts what it has found.  What is put into a queue, and taken out of it, is told by what is
in it before and after the step.  A thread whose target is a method of the library,
`target=barrier.wait`, has no line of the program at all; so the call is told instead.
"""

from __future__ import annotations

from collections import Counter, deque
from concurrent.futures import Future
from types import BuiltinMethodType, FrameType, MethodType
from typing import Any, Final, NamedTuple

from mazurka.runtime.core.operations import RealOperation
from mazurka.runtime.core.sites import is_own_file, is_plumbing_file
from mazurka.runtime.core.tasks import Task
from mazurka.runtime.core.values import attribute_of, name_of_function, show_call, shown
from mazurka.runtime.primitives.executor import describe_state, find_future, name_of_future
from mazurka.runtime.primitives.queue import Get, Put, QueueModel, SimpleQueue
from mazurka.runtime.primitives.thread import target_of
from mazurka.runtime.python.catalogue import CachedFunction
from mazurka.runtime.story.labels import Labels
from mazurka.runtime.story.story import Effects

_ALIAS: Final = "notifyAll"
"""An older name of a method, which calls the method."""


class LibrarySteps:
    """What the library does in one recorded run."""

    def __init__(self, labels: Labels) -> None:
        self._labels = labels
        self._futures: dict[int, tuple[Future[Any], str]] = {}
        self._open: FutureLookup | CacheLookup | QueueContent | None = None
        self.within: set[int] = set()
        """The threads whose next step the library takes by itself."""
        self.calls: dict[int, str] = {}
        """By thread: the call without any line of the program."""

    def arrive(
        self, task: Task | None, operation: object, inner: FrameType, frame: FrameType | None
    ) -> None:
        """Note that a thread stands before an operation; `frame` is the nearest of the program."""
        if task is None:
            return
        number = task.number
        self.within.discard(number)
        self._futures.pop(number, None)
        if not is_by_library(inner):
            return
        self.within.add(number)
        future = find_future(inner)
        if future is not None:
            label = self._labels.path_to(future, frame) or name_of_future(future)
            if label is not None:
                self._futures[number] = future, label
        if number not in self.calls and (
            frame is None or is_plumbing_file(frame.f_code.co_filename)
        ):
            self.calls[number] = describe_call(task.life.thread, self._labels, frame)

    def begin(self, number: int, operation: object, holder: object) -> None:
        """Note that a thread takes a step, on `holder` where the step is an access."""
        found = self._futures.get(number)
        self._open = None
        if (
            found is not None
            and isinstance(operation, RealOperation)
            and operation.takes() is not None
        ):
            self._open = FutureLookup(*found, found[0]._state)
        elif isinstance(operation, (Put, Get)):
            self._open = look_into(operation.shared)
        elif type(holder) is CachedFunction:
            info = holder.cache_info()  # type: ignore[attr-defined]
            self._open = CacheLookup(holder, info.hits, info.misses)

    def effects(self) -> Effects | None:
        return self._open.effects() if isinstance(self._open, FutureLookup) else None

    def outcome(self, writes: bool) -> str | None:
        return self._open.outcome(writes) if isinstance(self._open, CacheLookup) else None

    def item(self) -> str | None:
        """Return what the step has put into a queue, or taken out of it."""
        return self._open.find_item() if isinstance(self._open, QueueContent) else None


def is_by_library(frame: FrameType | None) -> bool:
    """Whether the code that called ours is the library's own: a barrier that notifies those who
    wait does its own bookkeeping, and nobody is to blame if there are none."""
    while frame is not None and is_own_file(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is not None and frame.f_code.co_name == _ALIAS:
        frame = frame.f_back
    return frame is not None and is_plumbing_file(frame.f_code.co_filename)


def describe_call(thread: Any, labels: Labels, frame: FrameType | None) -> str:
    """Describe what a thread runs that is no code of the program: `b.wait()`; empty if unknown."""
    target, args, kwargs = target_of(thread)
    if not callable(target):
        return ""
    text = show_call(target, args or (), kwargs or {})
    if issubclass(type(target), (MethodType, BuiltinMethodType)):
        owner = labels.path_to(target.__self__, frame)
        if owner is not None:
            name = name_of_function(target)
            return f"{owner}.{name.rpartition('.')[2]}{text.removeprefix(name)}"
    return text


class QueueContent(NamedTuple):
    """What is in a queue before a step that may put something in, or take something out."""

    queue: Any
    items: tuple[Any, ...]

    def find_item(self) -> str | None:
        """Return the item that the step has put in or taken out, if it is known which."""
        now = list_items(self.queue)
        if now is None or abs(len(now) - len(self.items)) != 1:
            return None
        more, less = (now, self.items) if len(now) > len(self.items) else (self.items, now)
        left = Counter(map(id, more)) - Counter(map(id, less))
        return next((shown(item) for item in more if id(item) in left), None)


def look_into(model: object) -> QueueContent | None:
    queue = model.owner if isinstance(model, QueueModel) else model
    items = list_items(queue)
    return None if items is None else QueueContent(queue, items)


def list_items(queue: Any) -> tuple[Any, ...] | None:
    """List what is in a queue, without any code of the user's; None where that is not known."""
    items = queue.items if type(queue) is SimpleQueue else attribute_of(queue, "queue")
    return tuple(items) if type(items) in (list, deque) else None


class FutureLookup(NamedTuple):
    """A step inside a method of a future, with the state of the future before it."""

    future: Future[Any]
    label: str
    state: str

    def effects(self) -> Effects:
        """Return the state that the method has read or written, after the step."""
        now = self.future._state
        told = {self.label: describe_state(self.future)}
        return Effects(reads=told) if now == self.state else Effects(writes=told)


class CacheLookup(NamedTuple):
    """A step on the cache of a function, with the cache's counters before it."""

    function: Any
    hits: int
    misses: int

    def outcome(self, writes: bool) -> str | None:
        """Return what C code has done in the step: it counts before it calls the function."""
        now = self.function.cache_info()
        if now.hits > self.hits:
            return "hit"
        if now.misses > self.misses:
            return "miss"
        if now.hits + now.misses < self.hits + self.misses:
            return "cleared"
        return "filled" if writes and now.currsize else None
