"""The queues of `queue` under control: one operation for each call.

`Queue`, `LifoQueue` and `PriorityQueue` are Python classes: their methods are replaced in place;
items stay where they are, put and got by the class's own `_put` and `_get`.  `SimpleQueue` is a C
type, whose place a class here takes.

A call is one operation, as long as nothing of the program takes part in it.  Two queues are
different: one whose class has `_put` or `_get` of its own, and a `PriorityQueue` that compares
items which can change.  There the thread takes the mutex, runs that code, which is observed, and
gives the mutex back, as it would without control: only the mutex keeps others out meanwhile.

The model of a queue is also its `mutex`, so that programs that take `q.mutex` themselves are
ordered with all other calls.  The conditions inside a queue are part of its calls; a program that
waits for them directly is told that this is not supported.
"""

from __future__ import annotations

import queue
import threading
from _queue import SimpleQueue as RealSimpleQueue
from _thread import allocate_lock, get_ident
from collections import deque
from collections.abc import Hashable, Sequence
from types import GenericAlias
from typing import Any, Final, NamedTuple, NoReturn, cast
from weakref import ref

from mazurka.report.words import counted
from mazurka.runtime.core.daemons import spend
from mazurka.runtime.core.names import adopt, next_name
from mazurka.runtime.core.operations import (
    Object,
    Purpose,
    TryOperation,
    Waiting,
    Yields,
    describe_failure,
    dial,
    make_operation,
)
from mazurka.runtime.core.patches import Patches, original
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.primitives.lock import OUTSIDE, Acquire, Lock, LookLocked, Release
from mazurka.runtime.primitives.primitive import ATTRIBUTE, LookInside, Primitive, refuse_copy
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.older_whole import OlderWhole
from mazurka.stateless.runs import Lookup, Touch

_ShutDown: type[Exception] = getattr(queue, "ShutDown", queue.Empty)
_CAN_SHUT = hasattr(queue.Queue, "shutdown")


class QueueState(NamedTuple):
    """What decides whether a call can go on."""

    holder: str | None = None
    """Who holds the mutex between calls."""
    size: int = 0
    unfinished: int = 0
    shut: bool = False


class QueueModel(Lock):
    """A queue's model, and its mutex."""

    __slots__ = ("_owner", "held", "is_new", "waking")
    kind = "queue"

    def __init__(self, owner: Any) -> None:
        super().__init__()
        self.state: Hashable = QueueState()
        self.is_new = True
        """Nobody has used the queue, which may not be empty: classes make what they begin with."""
        self._owner = ref(owner)
        self.waking: tuple[Any, ...] = ()
        """The real conditions of a queue that existed before."""
        self.held: OlderWhole | None = None
        """What the queue held when the run met it, if it existed before."""

    @property
    def owner(self) -> Any:
        return self._owner()

    @property
    def now(self) -> QueueState:
        state: Any = self.state
        return state  # type: ignore[no-any-return]

    def measure(self, owner: Any, holder: str | None = None) -> None:
        """Take over what a call has done to the queue."""
        shut = _CAN_SHUT and owner.is_shutdown
        self.state = QueueState(holder, owner._qsize(), owner.unfinished_tasks, shut)

    def refresh(self) -> None:
        self.held = OlderWhole(self.owner)
        held = self.real is not None and self.real.locked()
        self.measure(self.owner, OUTSIDE if held else None)

    def restore(self, state: Hashable) -> None:
        """Put the mutex and the items back."""
        if self.owner is None:
            return  # the program has thrown it away
        if self.held is not None:
            self.held.restore(None)
        if self.real is not None and self.real.locked() and cast(QueueState, state).holder is None:
            self.real.release()
        self.measure(self.owner, cast(QueueState, state).holder)

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        run = session.current
        if run.ident != get_ident():
            return self._outside().acquire(blocking, timeout)  # type: ignore[no-any-return]
        self._meet(run)
        if blocking and timeout == -1:
            run.point(HoldMutex(self))
        else:
            run.point(TryOperation(HoldMutex(self), timeout if blocking else 0.0))
            if self.now.holder is not None:
                return False
        self.state = self.now._replace(holder=run.running.path)
        return True

    __enter__ = acquire

    def release(self) -> None:
        run = session.current
        if run.ident != get_ident():
            self._outside().release()
            return
        self._meet(run)
        run.point(Release(self))
        if self.now.holder is None and not run.over:
            raise RuntimeError("release unlocked lock")
        self.measure(self.owner)

    def locked(self) -> bool:
        run = session.current
        if run.ident != get_ident():
            return self._outside().locked()  # type: ignore[no-any-return]
        self._meet(run)
        run.point(LookLocked(self))
        return self.now.holder is not None

    def _outside(self) -> Any:
        if self.real is None:
            self.real = allocate_lock()
            if self.now.holder is not None:
                self.real.acquire()
        return self.real

    def _meet(self, run: Scheduler) -> None:
        if self.epoch != run.epoch:
            adopt(run, self)


class HoldMutex(Acquire):
    """A call that the queue's mutex alone can stop."""

    __slots__ = ()

    def ready(self) -> bool:
        state: Any = self.shared.state
        return state.holder is None

    def lets(self, state: Any) -> bool:
        return state.holder is None

    def holder(self) -> str | None:
        return cast(QueueState, self.shared.state).holder


LookAtQueue = make_operation("look at", writes=False, base=HoldMutex)
"""Ask for the size of a queue."""
TaskDone = make_operation("task_done", base=HoldMutex)
"""Say that an item has been dealt with."""
ShutQueue = make_operation("shutdown", base=HoldMutex)
"""Let nobody put anything in any more."""


class QueueCall(Waiting):
    """A call that may have to wait for the queue's content: for ever, for a time, or not at all."""

    __slots__ = ("block", "timeout")
    is_timed = True

    def __init__(self, shared: Object, block: bool = True, timeout: float | None = None) -> None:
        self.shared = shared
        self.block = block
        self.timeout = timeout

    def can(self, state: QueueState) -> bool:
        raise NotImplementedError

    @property
    def waits(self) -> bool:
        return self.block and self.timeout is None

    @property
    def seconds(self) -> float:  # type: ignore[override]
        return (self.timeout or 0.0) if self.block else 0.0

    @property
    def yields(self) -> Yields:  # type: ignore[override]
        return False if self.timeout is None or not self.block else self._timed_yields()

    def _timed_yields(self) -> Yields:
        return self._would_fail if self.seconds > 0 else False

    def _would_fail(self, lookup: Lookup) -> bool:
        return not self.can(cast(QueueState, lookup(self.shared)))

    @property
    def writes(self) -> bool:  # type: ignore[override]
        return self.can(self.now)

    @property
    def now(self) -> QueueState:
        state: Any = self.shared.state
        return state  # type: ignore[no-any-return]

    def ready(self) -> bool:
        state: Any = self.shared.state
        return self.lets(state)

    def lets(self, state: Any) -> bool:
        if state.holder is not None:
            return False
        return not self.block or self.timeout is not None or self.can(state)

    def at(self, lookup: Lookup) -> Sequence[Touch] | None:
        state: Any = lookup(self.shared)
        if state.holder is not None:
            return None
        if self.can(state):
            return ((self.shared, True),)
        if self.waits:
            return None
        failed = ((self.shared, False),)
        return failed + dial.passing if self.yields else failed

    def outcome(self) -> str:
        return "" if self.can(self.now) else describe_failure(self.seconds > 0)

    def holder(self) -> str | None:
        return self.now.holder


class Put(QueueCall):
    """Add an item, if there is room."""

    __slots__ = ("limit",)
    kind = "put"

    def __init__(self, shared: Object, limit: int, block: bool, timeout: float | None) -> None:
        super().__init__(shared, block, timeout)
        self.limit = limit

    def can(self, state: QueueState) -> bool:
        return self.limit <= 0 or state.size < self.limit or state.shut

    def waits_for(self, purpose: Purpose | None) -> str:
        return f"to put into {self.shared}, which is full ({self.now.size} of {self.limit})"


class Get(QueueCall):
    """Take an item, if there is any."""

    __slots__ = ()
    kind = "get"

    def can(self, state: QueueState) -> bool:
        return state.size > 0 or state.shut

    def waits_for(self, purpose: Purpose | None) -> str:
        return purpose.text if purpose is not None else f"to get from {self.shared}, which is empty"


class JoinQueue(QueueCall):
    """Wait until all items have been dealt with."""

    __slots__ = ()
    kind = "join"

    @property
    def writes(self) -> bool:  # type: ignore[override]
        return False

    def can(self, state: QueueState) -> bool:
        return state.unfinished == 0

    def at(self, lookup: Lookup) -> Sequence[Touch] | None:
        return ((self.shared, False),) if self.lets(lookup(self.shared)) else None

    def waits_for(self, purpose: Purpose | None) -> str:
        return f"to join {self.shared}, which has {counted(self.now.unfinished, 'unfinished task')}"


class QueueCondition:
    """Stands for `not_empty` and its like: real for uncontrolled threads, refused to others."""

    def __init__(self, model: QueueModel) -> None:
        self._model = model
        self._real: Any = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._outside(name), name)

    def __enter__(self) -> Any:
        return self._outside("acquire").__enter__()

    def __exit__(self, *error: Any) -> None:
        self._outside("release").__exit__(*error)

    def _outside(self, name: str) -> Any:
        if session.current.ident == get_ident():
            session.current.refuse(
                f"Condition.{name} of a condition inside a queue is not supported under control;"
                " use the queue's methods",
            )
        if self._real is None:
            self._real = threading.Condition(self._model._outside())
        return self._real


def queue_model(run: Scheduler, owner: Any) -> QueueModel:
    """Return the model of a queue; put the mutex of one that existed before under control."""
    model = owner.__dict__.get(ATTRIBUTE)
    if model is None:
        model = QueueModel(owner)
        model.name, model.epoch = "", 0
        assert run.program is not None
        undo = run.program.undo
        model.origin = run.program.label_of(owner)
        conditions = [owner.not_empty, owner.not_full, owner.all_tasks_done]
        mutex = owner.mutex
        model.real = mutex.real if type(mutex) is Lock else mutex
        model.waking = tuple(conditions)
        undo.attribute(owner, "mutex", model)
        for name in ("not_empty", "not_full", "all_tasks_done"):
            undo.attribute(owner, name, QueueCondition(model))
        setattr(owner, ATTRIBUTE, model)
        undo.append(lambda: delattr(owner, ATTRIBUTE))
    if model.owner is not owner:
        refuse_copy(run, owner)
    if model.epoch != run.epoch:
        adopt(run, model)
    if model.is_new:
        _measure_first(run, model, owner)
    return model  # type: ignore[no-any-return]


def _measure_first(run: Scheduler, model: QueueModel, owner: Any) -> None:
    """Ask a queue what it begins with, when it is first used: only then is it complete."""
    model.is_new = False
    ident, run.ident = run.ident, 0
    try:
        model.measure(owner, model.now.holder)
    finally:
        run.ident = ident


# -- the methods of `queue.Queue` -----------------------------------------------------------------


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
    """Holds for the part of a call in which nobody else can come in between: no points there."""

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
            if condition._waiters:  # threads that nobody controls: what they are told stays
                self.model.held = None
                with condition:
                    condition.notify_all()
        self.run.ident = self.ident


class _Holding:
    """Holds for the part of a call in which code of the program runs: the thread has the mutex."""

    __slots__ = ("model", "owner", "run")

    def __init__(self, run: Scheduler, model: QueueModel, owner: Any) -> None:
        self.run = run
        self.model = model
        self.owner = owner

    def __enter__(self) -> None:
        self.model.state = self.model.now._replace(holder=self.run.running.path)

    def __exit__(self, *error: Any) -> None:
        self.run.point(Release(self.model))
        with _Inside(self.run, self.model, self.owner):
            pass  # which measures the queue, and wakes threads that nobody controls


_LIBRARY: Final = (queue.Queue, queue.LifoQueue, queue.PriorityQueue)
_FIXED: Final = frozenset({int, float, str, bytes, bool, type(None)})


def _perform(run: Scheduler, model: QueueModel, owner: Any, *items: Any) -> _Inside | _Holding:
    """Give the context in which a call puts items into a queue, or gets one."""
    alone = _Inside if _is_alone(owner, items) else _Holding
    return alone(run, model, owner)


def _is_alone(owner: Any, items: tuple[Any, ...]) -> bool:
    """Tell whether a call runs no code of the program, and reads nothing that could change."""
    kind = type(owner)
    if kind not in _LIBRARY:
        makers = (
            next(base for base in kind.__mro__ if name in base.__dict__)
            for name in ("_put", "_get")
        )
        if any(maker not in _LIBRARY for maker in makers):
            return False
    if not issubclass(kind, queue.PriorityQueue):
        return True
    return all(map(_is_fixed, items)) and all(map(_is_fixed, owner.queue))


def _is_fixed(item: Any) -> bool:
    """Tell whether comparing an item reads nothing that could change."""
    kind = type(item)
    return kind in _FIXED or (kind is tuple and all(map(_is_fixed, item)))


def check_timeout(timeout: float | None) -> None:
    """Refuse a negative time, in the words of the library."""
    if timeout is not None and timeout < 0:
        raise ValueError("'timeout' must be a non-negative number")


def _put(self: Any, item: Any, block: bool = True, timeout: float | None = None) -> None:
    run = session.current
    if run.ident != get_ident():
        original(queue.Queue, "put")(self, item, block, timeout)
        return
    if block and self.maxsize > 0:
        check_timeout(timeout)
    model = queue_model(run, self)
    operation = Put(model, self.maxsize, block, timeout)
    run.point(operation)
    if not operation.can(model.now):
        if block:
            spend(run, timeout or 0)
        raise queue.Full
    if model.now.shut:
        raise _ShutDown
    with _perform(run, model, self, item):
        self._put(item)
        self.unfinished_tasks += 1


def _get(self: Any, block: bool = True, timeout: float | None = None) -> Any:
    run = session.current
    if run.ident != get_ident():
        return original(queue.Queue, "get")(self, block, timeout)
    if block:
        check_timeout(timeout)
    model = queue_model(run, self)
    operation = Get(model, block, timeout)
    run.point(operation)
    if not operation.can(model.now):
        if block:
            spend(run, timeout or 0)
        raise queue.Empty
    if model.now.shut and model.now.size == 0:
        raise _ShutDown
    with _perform(run, model, self):
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
    run.point(ShutQueue(model))
    with _perform(run, model, self):
        self.is_shutdown = True
        while immediate and self._qsize():
            self._get()
            if self.unfinished_tasks > 0:
                self.unfinished_tasks -= 1


def _qsize(self: Any) -> int:
    run = session.current
    if run.ident != get_ident():
        return cast(int, original(queue.Queue, "qsize")(self))
    model = queue_model(run, self)
    run.point(LookAtQueue(model))
    return model.now.size


def _empty(self: Any) -> bool:
    return _qsize(self) == 0


def _full(self: Any) -> bool:
    size = _qsize(self)
    return bool(0 < self.maxsize <= size)


def _look(run: Scheduler, channel: Any, name: str) -> None:
    model = queue_model(run, channel)
    if model.now.holder != run.running.path:
        run.point(LookInside(model))
        if name == "queue":  # it may be kept, and looked at later
            unobserved.note(f"{queue.Queue.__name__}.{name}")


def _install(patches: Patches) -> None:
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


class SimpleQueue(Object):
    """`queue.SimpleQueue`.  Its items lie in a deque, or in the real one that it stands for."""

    __slots__ = ("__weakref__", "found", "items", "real")
    kind = "queue"
    __class_getitem__: Any = classmethod(GenericAlias)

    def __init__(self) -> None:
        super().__init__("", QueueState())
        self.items: deque[Any] = deque()
        self.real: Any = None
        self.found: list[Any] | None = None
        """The items that were there before the first call that the run has changed them by."""
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

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("cannot pickle '_queue.SimpleQueue' object")

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        run = session.current
        if run.ident != get_ident():
            self._outside().put(item)
            return
        if self.epoch != run.epoch:
            adopt(run, self)
        run.point(Put(self, 0, block, None))
        self._keep()
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
        self._keep()
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
        self.found = None
        self._measure()

    def _keep(self) -> None:
        """Remember the items before the run first changes them."""
        if self.found is None and self.kept_by is not None:
            self.found = self._drain()
            self._fill(self.found)

    def _drain(self) -> list[Any]:
        real = self._outside()
        return [real.get_nowait() for _ in range(real.qsize())]

    def _fill(self, items: list[Any]) -> None:
        for item in items:
            self.real.put(item)

    def restore(self, state: object) -> None:
        """Put the items back."""
        if self.found is not None:
            self._drain()
            self._fill(self.found)
            self.found = None
        self._measure()


PRIMITIVE = Primitive(
    words=("queue",),
    classes=(queue.Queue, queue.LifoQueue, queue.PriorityQueue, RealSimpleQueue),
    models=(QueueModel, SimpleQueue),
    stand_ins={RealSimpleQueue: SimpleQueue},
    private={
        queue.Queue: dict.fromkeys(
            ("queue", "unfinished_tasks", "is_shutdown", "_init", "_put", "_get", "_qsize"), _look
        )
    },
    parts=frozenset({"mutex"}),
    replace=lambda undo, settings: [(RealSimpleQueue, SimpleQueue)],
    install=_install,
)
