"""`queue.SimpleQueue` under control: a C type, whose place the class here takes."""

from __future__ import annotations

import queue
from _queue import SimpleQueue as RealSimpleQueue
from _thread import get_ident
from collections import deque
from types import GenericAlias
from typing import Any, cast

from mazurka.runtime.core.daemons import spend
from mazurka.runtime.core.names import adopt, next_name
from mazurka.runtime.core.operations import Object
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.primitives.primitive import Primitive
from mazurka.runtime.primitives.queue import Get, LookAtQueue, Put, QueueState, check_timeout


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
            check_timeout(timeout)
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
            run.point(LookAtQueue(self))
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
        """Leave the items, which are the program's, as they are."""
        self._measure()


PRIMITIVE = Primitive(
    words=("queue",),
    classes=(RealSimpleQueue,),
    models=(SimpleQueue,),
    stand_ins={RealSimpleQueue: SimpleQueue},
    private={},
    parts=frozenset(),
    replace=lambda undo, settings: [(RealSimpleQueue, SimpleQueue)],
    install=lambda patches: None,
)
