"""Queues under control: one operation for each call.

`queue.Queue`, `LifoQueue` and `PriorityQueue` are Python classes: their methods are replaced in
place, and items stay where they are, put and got by the class's own `_put` and `_get`.
`SimpleQueue` is a C type; the class here takes its place.
"""

from __future__ import annotations

import queue
from _queue import SimpleQueue as RealSimpleQueue
from _thread import get_ident
from collections import deque
from types import GenericAlias
from typing import Any, cast

from mazurka.runtime.core.naming import ATTRIBUTE, adopt, next_name, spend
from mazurka.runtime.core.operations import Object
from mazurka.runtime.core.patches import Patches, original
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.primitives.queue_models import (
    Get,
    JoinQueue,
    Look,
    Put,
    QueueCondition,
    QueueModel,
    QueueState,
    Shut,
    TaskDone,
    queue_model,
)

_ShutDown: type[Exception] = getattr(queue, "ShutDown", queue.Empty)


def _init(self: Any, maxsize: int = 0) -> None:
    run = session.current
    if run.ident != get_ident():
        original(queue.Queue, "__init__")(self, maxsize)
        return
    self.maxsize = maxsize
    self._init(maxsize)
    model = QueueModel(self)
    self.mutex = model
    self.not_empty = QueueCondition(model)
    self.not_full = QueueCondition(model)
    self.all_tasks_done = QueueCondition(model)
    self.unfinished_tasks = 0
    self.is_shutdown = False
    setattr(self, ATTRIBUTE, model)


class _Inside:
    """The part of a call that no other thread can see from within: no points there."""

    __slots__ = ("ident", "model", "owner", "run")

    def __init__(self, run: Scheduler, model: QueueModel, owner: Any) -> None:
        self.run = run
        self.model = model
        self.owner = owner

    def __enter__(self) -> None:
        self.ident = self.run.ident
        self.run.ident = 0

    def __exit__(self, *error: Any) -> None:
        self.model.measure(self.owner)
        for condition in self.model.waking:
            if condition._waiters:  # threads that nobody controls
                with condition:
                    condition.notify_all()
        self.run.ident = self.ident


def _check(timeout: float | None) -> None:
    if timeout is not None and timeout < 0:
        raise ValueError("'timeout' must be a non-negative number")


def _put(self: Any, item: Any, block: bool = True, timeout: float | None = None) -> None:
    run = session.current
    if run.ident != get_ident():
        original(queue.Queue, "put")(self, item, block, timeout)
        return
    if block and self.maxsize > 0:
        _check(timeout)
    model = queue_model(run, self)
    operation = Put(model, self.maxsize, block, timeout)
    run.point(operation)
    if not operation.can(model.now):
        if block:
            spend(run, timeout or 0)
        raise queue.Full
    if model.now.shut:
        raise _ShutDown
    with _Inside(run, model, self):
        self._put(item)
        self.unfinished_tasks += 1


def _get(self: Any, block: bool = True, timeout: float | None = None) -> Any:
    run = session.current
    if run.ident != get_ident():
        return original(queue.Queue, "get")(self, block, timeout)
    if block:
        _check(timeout)
    model = queue_model(run, self)
    operation = Get(model, block, timeout)
    run.point(operation)
    if not operation.can(model.now):
        if block:
            spend(run, timeout or 0)
        raise queue.Empty
    if model.now.shut and model.now.size == 0:
        raise _ShutDown
    with _Inside(run, model, self):
        return self._get()


def _task_done(self: Any) -> None:
    run = session.current
    if run.ident != get_ident():
        original(queue.Queue, "task_done")(self)
        return
    model = queue_model(run, self)
    run.point(TaskDone(model))
    if self.unfinished_tasks <= 0:
        raise ValueError("task_done() called too many times")
    with _Inside(run, model, self):
        self.unfinished_tasks -= 1


def _join(self: Any) -> None:
    run = session.current
    if run.ident != get_ident():
        original(queue.Queue, "join")(self)
    else:
        run.point(JoinQueue(queue_model(run, self)))


def _shutdown(self: Any, immediate: bool = False) -> None:
    run = session.current
    if run.ident != get_ident():
        original(queue.Queue, "shutdown")(self, immediate)
        return
    model = queue_model(run, self)
    run.point(Shut(model))
    with _Inside(run, model, self):
        self.is_shutdown = True
        while immediate and self._qsize():
            self._get()
            if self.unfinished_tasks > 0:
                self.unfinished_tasks -= 1


def _look(self: Any, name: str) -> int:
    """The size of a queue, as a call of its own where a thread under control asks."""
    run = session.current
    if run.ident != get_ident():
        return cast(int, original(queue.Queue, name)(self))
    model = queue_model(run, self)
    run.point(Look(model))
    return model.now.size


def _qsize(self: Any) -> int:
    return _look(self, "qsize")


def _empty(self: Any) -> bool:
    if session.current.ident != get_ident():
        return cast(bool, original(queue.Queue, "empty")(self))
    return _look(self, "empty") == 0


def _full(self: Any) -> bool:
    if session.current.ident != get_ident():
        return cast(bool, original(queue.Queue, "full")(self))
    size = _look(self, "full")
    return bool(0 < self.maxsize <= size)


class SimpleQueue(Object):
    """`queue.SimpleQueue`.  Its items lie in a deque, or in the real one that it stands for."""

    __slots__ = ("__weakref__", "items", "real")
    kind = "queue"
    __class_getitem__: Any = classmethod(GenericAlias)

    def __init__(self) -> None:
        super().__init__("", QueueState())
        self.items: deque[Any] = deque()
        self.real: Any = None
        run = session.current
        if run.ident == get_ident():
            self.name = next_name(run)
            self.epoch = run.epoch

    @property
    def __class__(self) -> Any:
        return RealSimpleQueue

    @__class__.setter
    def __class__(self, value: type) -> None:
        raise TypeError("the class of a queue cannot be changed")

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        run = session.current
        if run.ident != get_ident():
            self._outside().put(item)
            return
        if self.epoch != run.epoch:
            adopt(run, self)
        run.point(Put(self, 0, block, None))
        (self.items.append if self.real is None else self.real.put)(item)
        self._measure()

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        run = session.current
        if run.ident != get_ident():
            return self._outside().get(block, timeout)
        if block:
            _check(timeout)
        if self.epoch != run.epoch:
            adopt(run, self)
        operation = Get(self, block, timeout)
        run.point(operation)
        if not operation.can(operation.now):
            if block:
                spend(run, timeout or 0)
            raise queue.Empty
        item = self.items.popleft() if self.real is None else self.real.get_nowait()
        self._measure()
        return item

    def put_nowait(self, item: Any) -> None:
        self.put(item, block=False)

    def get_nowait(self) -> Any:
        return self.get(block=False)

    def empty(self) -> bool:
        return self.qsize() == 0

    def qsize(self) -> int:
        run = session.current
        if run.ident == get_ident():
            if self.epoch != run.epoch:
                adopt(run, self)
            run.point(Look(self))
        return self._length()

    def _length(self) -> int:
        return len(self.items) if self.real is None else cast(int, self.real.qsize())

    def _measure(self) -> None:
        self.state = QueueState(None, self._length())

    def _outside(self) -> Any:
        if self.real is None:
            self.real = RealSimpleQueue()
            while self.items:
                self.real.put(self.items.popleft())
        return self.real

    def refresh(self) -> None:
        self._measure()

    def restore(self, state: object) -> None:
        """The items are the program's."""
        self._measure()


def install(patches: Patches) -> None:
    patches.methods(
        queue.Queue,
        __init__=_init,
        put=_put,
        get=_get,
        task_done=_task_done,
        join=_join,
        shutdown=_shutdown,
        qsize=_qsize,
        empty=_empty,
        full=_full,
    )
