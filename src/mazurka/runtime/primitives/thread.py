"""Threads under control: `threading.Thread` in place, and `_thread.start_new_thread`.

`Timer` and the threads of executors are `Thread` objects and need nothing of their own: a timer
waits for its event with a timeout, so that it may fire at any moment after its start.

`threading.enumerate` and `threading.active_count` look around, an operation that touches the lives
of all threads that have been started by then, and the list itself, which every start changes: so it
matters which starts and ends come first.  A program that never looks does without the list, and its
starts are independent; whether it looks is learned by the first run in which it does
(`sharing.locations.Learned`).
"""

from __future__ import annotations

import _thread
import sys
import threading
from _thread import get_ident
from _thread import start_new_thread as real_start_new_thread
from collections.abc import Callable, Sequence
from contextvars import Context, copy_context
from functools import partial
from itertools import count
from typing import Any, Final, cast

from mazurka.runtime.core.daemons import spend
from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.core.operations import Object, RealOperation, TryOperation
from mazurka.runtime.core.patches import Patches, bind_as_builtin, original
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.core.tasks import Join, Life, LookAlive, StartThread, Task, Unwind
from mazurka.runtime.primitives.executor import executor_of
from mazurka.runtime.primitives.primitive import ATTRIBUTE, Primitive, refuse_copy
from mazurka.runtime.sharing.locations import learned
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.older_whole import OlderWhole
from mazurka.stateless.runs import LifeRole, Lookup, Touch

Event = threading.Event
_NEW_THREAD = vars(threading.Thread())
_HANDLE = next((n for n in ("_os_thread_handle", "_handle") if n in _NEW_THREAD), None)
"""Where a thread object keeps what the interpreter knows of its thread, from Python 3.13 on."""


class Started(Event):
    """The event inside every thread object, which nobody waits for under control.

    It stays a real one, and most of the cost of a thread object is saved by making its parts only
    when they are needed.
    """

    def __init__(self) -> None:
        self._flag = False
        setattr(self, ATTRIBUTE, False)

    def __getattr__(self, name: str) -> Any:
        if name != "_cond":
            raise AttributeError(name)
        self._cond = threading.Condition(threading.Lock())
        return self._cond


class _Nobody:
    """Stands for the list of threads that a fork ends: those of a run never begin for real."""

    def add(self, thread: threading.Thread) -> None:
        pass


_NOBODY: Final = _Nobody()


def _new_life(run: Scheduler) -> Life:
    """Make the life of a thread that the running one creates."""
    me = run.running
    me.children += 1
    life = Life(f"{me.path}.{me.children}")
    life.epoch = run.epoch
    return life


def _init(self: Any, *arguments: Any, **named: Any) -> None:
    run = session.current
    if run.ident != get_ident():
        original(threading.Thread, "__init__")(self, *arguments, **named)
        return
    run.ident, ident = 0, run.ident
    library: Any = threading
    all_threads = library._dangling
    library.Event, library._dangling = Started, _NOBODY
    try:
        original(threading.Thread, "__init__")(self, *arguments, **named)
    finally:
        library.Event, library._dangling = Event, all_threads
        run.ident = ident
    _give_life(run, self, _new_life(run))


def _give_life(run: Scheduler, thread: Any, life: Life) -> Life:
    life.epoch = run.epoch
    life.home = id(thread)
    setattr(thread, ATTRIBUTE, life)
    return life


def _life_of(run: Scheduler, thread: Any) -> Life | None:
    """Return the life of a thread of this run; None for one that is older and has begun."""
    life: Life | None = thread.__dict__.get(ATTRIBUTE)
    if life is None or life.epoch != run.epoch:
        is_new = thread._initialized and not thread._started._flag
        return _meet(run, thread) if is_new else None
    if life.home != id(thread):
        refuse_copy(run, thread)
    return life


def _start(self: Any) -> None:
    run = session.current
    if run.ident != get_ident():
        original(threading.Thread, "start")(self)
        return
    if not self._initialized:
        raise RuntimeError("thread.__init__() not called")
    life = _life_of(run, self)
    if life is None:
        raise RuntimeError("threads can only be started once")
    run.point(StartThread(life, run.everybody))
    if life.state != "new":
        raise RuntimeError("threads can only be started once")
    _count_start(run)
    task = run.create(life.path, life)
    life.label = self._name
    life.thread = self
    task.daemon = self._daemonic
    executor = executor_of(self)
    if executor is not None:
        task.excused = True
        run.executors.append((executor, self))
    task.time = run.running.time
    self._started._flag = True
    run.launch(task, _body(run, task, self))
    assert task.carrier is not None
    self._ident, self._native_id = task.ident, task.carrier.native_id
    task.thrown_away = partial(_mark_ended, self, task.ident)


def _count_start(run: Scheduler) -> None:
    if run.everybody is not None:
        state: Any = run.everybody.state
        run.everybody.state = state + 1


def _meet(run: Scheduler, thread: Any) -> Life:
    """Give a life to a thread object that was created before the run, and has not begun."""
    older: tuple[Object, ...] = (OlderWhole(thread), OlderWhole(thread._started))
    run.found.extend((whole, None) for whole in older)
    path = f"0.{thread._name}"  # the same whoever meets it first
    while _older.setdefault(path, thread) is not thread:
        path += "~"
    life = _give_life(run, thread, Life(path))
    setattr(thread._started, ATTRIBUTE, False)
    return life


_older: Final[dict[str, Any]] = {}
"""By path: the threads of the present run that were created before it."""


def _body(run: Scheduler, task: Task, thread: Any) -> Callable[[], None]:
    context = getattr(thread, "_context", None)
    if context is None:
        inherit = getattr(sys.flags, "thread_inherit_context", False)
        context = copy_context() if inherit else Context()
    else:
        unobserved.note("Thread(context=...)")  # others may enter it, too

    def body() -> None:
        nonlocal thread
        active: dict[int, Any] = threading._active  # type: ignore[attr-defined]
        active[task.ident] = thread
        trace: Any = threading._trace_hook  # type: ignore[attr-defined]
        profile: Any = threading._profile_hook
        if trace is not None:
            sys.settrace(trace)
        if profile is not None:
            sys.setprofile(profile)
        try:
            context.run(thread.run)
        except (Unwind, SystemExit):
            pass
        except BaseException as error:
            run.fail(task, error)
            _tell_hook(run, thread, error)
        finally:
            active.pop(task.ident, None)
            _mark_ended(thread, task.ident)
            if trace is not None:
                sys.settrace(None)
            if profile is not None:
                sys.setprofile(None)
            if run.everybody is None:  # nobody asks for the list of threads
                task.life.thread = None
            task.thrown_away = None
            del thread  # if nobody else has it it ends here, which may run code

    return body


def _tell_hook(run: Scheduler, thread: Any, error: BaseException) -> None:
    """Call a hook that the program set during the run: it is part of the program."""
    assert run.program is not None
    hook = threading.excepthook
    if hook is not run.program.excepthook and not run.over:
        hook(threading.ExceptHookArgs((type(error), error, error.__traceback__, thread)))


def _mark_ended(thread: Any, ident: int) -> None:
    """Let a thread object say that it has ended, for those who ask it after the exploration."""
    if _HANDLE is None:
        thread._is_stopped = True
    else:
        handle = _thread._make_thread_handle(ident)  # type: ignore[attr-defined]
        handle._set_done()
        setattr(thread, _HANDLE, handle)


def _join(self: Any, timeout: float | None = None) -> None:
    run = session.current
    life = _life_of(run, self) if run.ident == get_ident() else None
    if life is None:
        original(threading.Thread, "join")(self, timeout)
        return
    if life is run.running.life:
        raise RuntimeError("cannot join current thread")
    me, join = run.running, Join(life)
    if timeout is not None:
        run.point(TryOperation(join, timeout))
    elif life.state == "ended" and run.slips(me):
        run.pass_by(me, join)
    else:
        life.joiner = me.number
        run.point(join)
    if life.state == "new":
        raise RuntimeError("cannot join thread before it is started")
    if life.state == "alive":
        spend(run, timeout or 0)


def _is_alive(self: Any) -> bool:
    run = session.current
    life = _life_of(run, self) if run.ident == get_ident() else None
    if life is None:
        return cast(bool, original(threading.Thread, "is_alive")(self))
    run.point(LookAlive(life))
    return life.state == "alive"


def _start_new_thread(
    _module: object,
    function: Callable[..., object],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    /,
) -> int:
    """Stand for `_thread.start_new_thread`."""
    run = session.current
    if run.ident != get_ident():
        return real_start_new_thread(function, args, kwargs or {})
    if not callable(function):
        raise TypeError("first arg must be callable")
    if not isinstance(args, tuple):
        raise TypeError("2nd arg must be a tuple")
    life = _new_life(run)
    run.point(StartThread(life, run.everybody))
    _count_start(run)
    task = run.create(life.path, life)
    task.daemon = True  # nobody waits for such a thread at the end
    task.time = run.running.time
    context = Context()

    def body() -> None:
        nonlocal function, args, kwargs
        try:
            context.run(function, *args, **(kwargs or {}))
        except (Unwind, SystemExit):
            pass
        except BaseException as error:
            run.fail(task, error)
        finally:
            del function, args, kwargs  # if nobody else has them they end here, which may run code
            threading._active.pop(task.ident, None)  # type: ignore[attr-defined]

    run.launch(task, body)
    return task.ident


# -- the list of all threads ---------------------------------------------------------------------

_real_enumerate = threading.enumerate
_real_active_count = threading.active_count


class LookAround(RealOperation):
    """See which threads there are."""

    __slots__ = ("run",)
    kind = "enumerate"
    writes = False
    role = LifeRole.LOOK

    def __init__(self, run: Scheduler, everybody: Object) -> None:
        super().__init__(everybody)
        self.run = run

    def at(self, lookup: Lookup) -> Sequence[Touch]:
        lookup(self.shared)
        started = [life for life in _lives_of(self.run) if lookup(life) != "new"]
        return ((self.shared, False), *((life, False) for life in started))


def _lives_of(run: Scheduler) -> list[Life]:
    """Return the lives of the threads that the run has started; the test's own is always there."""
    return [task.life for task in run.tasks[1:] if task is not None]


def _enumerate() -> list[threading.Thread]:
    run = session.current
    if run.ident != get_ident():
        return _real_enumerate()
    assert run.program is not None
    if run.everybody is None:
        run.program.lists = True
        learned.news.append("the list of threads")
    run.point(LookAround(run, run.everybody or Object("threads", 0)))
    there = [life.thread for life in _lives_of(run) if life.state == "alive" and life.thread]
    return [threading.main_thread(), *there]


def _active_count() -> int:
    run = session.current
    return _real_active_count() if run.ident != get_ident() else len(_enumerate())


def target_of(thread: Any) -> tuple[Any, Any, Any]:
    """Return what a thread object calls, and with which arguments; None for what is not known."""
    timed = isinstance(thread, threading.Timer)
    names = ("function", "args", "kwargs") if timed else ("_target", "_args", "_kwargs")
    known: dict[str, Any] = {} if thread is None else vars(thread)
    arguments = (known.get(name) for name in names[1:])
    args, kwargs = (getattr(value, "given", value) for value in arguments)  # `loops.LateArguments`
    return known.get(names[0]), args, kwargs


def _look(run: Scheduler, thread: Any, name: str) -> None:
    life = _life_of(run, thread)
    if life is not None:
        run.point(LookAlive(life))


_start_low: Final = bind_as_builtin(_start_new_thread, real_start_new_thread)


def _replace(undo: Patches, settings: ControlSettings) -> list[tuple[Any, Any]]:
    return [
        (real_start_new_thread, _start_low),
        (_real_enumerate, _enumerate),
        (_real_active_count, _active_count),
    ]


def _reset_names() -> None:
    """Let the names of threads be the same in every run."""
    threading._counter = count(1).__next__  # type: ignore[attr-defined]
    _older.clear()


def _install(patches: Patches) -> None:
    patches.methods(threading.Thread, __init__=_init, start=_start, join=_join, is_alive=_is_alive)
    patches.keep(threading, "_counter")
    patches.attribute(threading, "enumerate", _enumerate)
    patches.attribute(threading, "active_count", _active_count)
    for name in ("start_new_thread", "start_new"):
        patches.attribute(_thread, name, _start_low)


PRIMITIVE = Primitive(
    words=(),
    classes=(threading.Thread, threading.Timer),
    models=(),
    private={
        threading.Thread: dict.fromkeys(
            (
                *("ident", "native_id", "_ident", "_native_id", "_started", "_is_stopped"),
                *("_tstate_lock", "_handle", "_os_thread_handle"),
            ),
            _look,
        ),
    },
    parts=frozenset(),
    hidden=frozenset({"_target", "_args", "_kwargs", "_tstate_lock", "_context"}),
    replace=_replace,
    begin_run=_reset_names,
    install=_install,
)
