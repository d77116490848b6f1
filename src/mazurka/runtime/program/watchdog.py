"""A thread that waits for the exploration, and notices when a call never comes back.

The exploration runs in a thread of its own, its *home*, pinned to one processor core where that
is possible: a handoff between threads costs a third then.  The caller waits here, at no cost, and
looks up now and then.  If no thread has reached a scheduling point for some time, and nothing is
being computed, then the thread whose turn it is has called something that nobody controls: a
socket, a subprocess, a lock inside a C library.  It is reported with its stack and left behind.

When a time limit is reached, the present run ends at its next scheduling point.  If it does not
come to one soon, an exception ends it inside the code of the test.  A call that does not return to
Python even then is left behind when the patience is over.

A thread that is stuck in a call stays until the process ends; nobody waits for that, since it is
none of those that the interpreter joins.  But libraries wait for their threads and processes when
the interpreter ends, by functions that they have registered: `multiprocessing` for its pools and
queues, `concurrent.futures` for its executors.  Under control these have been started by a test
whose threads will never answer.  So what was registered since the exploration began is forgotten,
and the processes that `multiprocessing` started for the test are ended.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from _thread import allocate_lock, get_ident, get_native_id, start_new_thread
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from mazurka.errors import MazurkaError
from mazurka.runtime.core.failures import ControlError
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.core.sites import shown_path
from mazurka.runtime.core.tasks import Unwind, has_ended
from mazurka.runtime.core.thread_locals import forget_locals
from mazurka.runtime.primitives import registry
from mazurka.runtime.program.blocked import describe_blocked, is_importing
from mazurka.runtime.program.lock_watch import IMPORTING, LOOKS, LockWatch
from mazurka.stateless.runs import Abandon, Failed, OutOfTime
from mazurka.system_limits import SystemLimitError, memory_limit

_KEPT = "SemLock._cleanup"
"""Gives a name back to the system, and waits for nobody."""

out_of_control: list[str] = []
"""Why threads were left to themselves in this process: the interpreter may not come to its end."""


class Registrations:
    """What libraries have registered for the end of the interpreter since this object was made."""

    def __init__(self) -> None:
        self._finalizers = set(_find_finalizers())
        self._children = set(_find_children())
        self._executors = set(_find_executors())

    def forget(self, why: str) -> None:
        """Let nobody wait for what has been registered since."""
        out_of_control.append(why)
        registry = _find_finalizers()
        for key in set(registry) - self._finalizers:
            if getattr(registry[key]._callback, "__qualname__", "") != _KEPT:
                registry.pop(key, None)
        executors = _find_executors()
        for thread in set(executors) - self._executors:
            executors.pop(thread, None)
        for process in set(_find_children()) - self._children:
            with suppress(OSError, ValueError, AttributeError):
                process.kill()


def _find_finalizers() -> Any:
    return _look_up("multiprocessing.util", "_finalizer_registry")


def _find_children() -> Any:
    return _look_up("multiprocessing.process", "_children")


def _find_executors() -> Any:
    return _look_up("concurrent.futures.process", "_threads_wakeups")


def _look_up(module: str, name: str) -> Any:
    """What a library keeps, if it is loaded and keeps such a thing."""
    return getattr(sys.modules.get(module), name, {})


Result = TypeVar("Result")
_now = time.perf_counter
BUSY = 4
"""A thread that computes is given so many times longer, as long as others keep it from computing:
its patience is one of processor time."""
ENOUGH = 0.9
"""The part of the patience that a thread must have computed to count as one that only computes."""
COURTESY = 0.05
"""How long a run may take to its next point when the time limit is reached, in seconds."""
ANSWER = 1.0
"""How long an interrupted exploration may take to come to its next point, in seconds."""


class UncontrolledCallError(ControlError):
    """A thread is in a call that nobody controls; the exploration has ended."""

    def __init__(self, failed: Failed) -> None:
        super().__init__("\n  ".join((failed.message, *failed.details)))
        self.failed = failed

    def explain(self) -> MazurkaError:
        """The error for the user, with the line of the call."""
        file = self.failed.file
        shown = shown_path(file) if file else None
        return MazurkaError(str(self), file=shown, line=self.failed.line)


class Interrupted(BaseException):
    """Ends a search whose caller has been interrupted."""


class Home:
    """The thread in which an exploration runs."""

    def __init__(self, pin: bool) -> None:
        self._pin = pin
        self._job: Callable[[], None] | None = None
        self._baton = allocate_lock()
        self._baton.acquire()
        self._caller = threading.current_thread()
        self.done = allocate_lock()
        self.done.acquire()
        self.ident = start_new_thread(self._serve, ())

    def _serve(self) -> None:
        active: dict[int, Any] = threading._active  # type: ignore[attr-defined]
        active[get_ident()] = self._caller  # the test sees the thread that called
        self.forget_locals = forget_locals()
        if self._pin:
            _stay_on_one_core()
        try:
            while True:
                self._baton.acquire()
                if self._job is None:
                    return
                self._job()
                self._job = None
                self.done.release()
        finally:
            active.pop(get_ident(), None)

    def begin(self, job: Callable[[], None]) -> None:
        self._job = job
        self._baton.release()

    def dismiss(self) -> None:
        self._job = None
        self._baton.release()


class Look:
    """What was seen of a thread since it came to the point where it is."""

    def __init__(self, used: float = 0.0, by_all: float = 0.0) -> None:
        self._used = used
        self._by_all = by_all
        self._since = self._last = _now()
        self._kept = 0.0
        self._looks = 0
        self.computed = 0.0

    def again(self, used: float, by_all: float, waiting: bool, patience: float) -> None:
        """Look once more, with the processor time of the thread and that of the process.

        If threads of the process are `waiting` for a processor, the one that is watched may be one
        of them, or wait for what another one holds: that time does not count, until the process has
        used as much processor time as there is patience.
        """
        now = _now()
        if waiting and by_all - self._by_all < patience * ENOUGH:
            self._kept += now - self._last
        self._last = now
        self.computed = used - self._used
        self._looks += 1

    @property
    def waited(self) -> float:
        return self._last - self._since

    @property
    def busy(self) -> bool:
        return self.computed > (self.waited - self._kept) / 20

    def is_over(self, patience: float) -> bool:
        """Say whether patience is over: of processor time for a thread that computes.

        Where the system does not tell which threads wait for a processor, a thread that computes
        little is given a few times longer.
        """
        if self._looks < LOOKS or self.waited < patience:
            return False
        if self.computed >= patience * ENOUGH:
            return True
        return self.waited - self._kept >= patience * (BUSY if self.busy else 1)


class Watchdog:
    """Runs calls at home and watches over them."""

    def __init__(self, patience: float, pin: bool) -> None:
        self._patience = patience
        self.home = Home(pin)
        self.lost = False
        """The home is stuck; nothing can be run there any more."""
        self.stopping = False
        self.deadline: float | None = None
        """When runs end, by the clock of this module."""
        self._changing = allocate_lock()
        self._registrations = Registrations()
        self._lock_watch = LockWatch(patience)
        self._surrendered: BaseException | None = None

    def call(self, function: Callable[[], Result]) -> Result:
        """Run a function at home; return what it returns, or raise what it raises."""
        results: list[Result] = []
        errors: list[BaseException] = []

        def job() -> None:
            try:
                results.append(function())
            except BaseException as error:
                errors.append(error)

        self._beat()
        self.home.begin(job)
        try:
            self._wait()
        finally:
            self._lock_watch.rest()
        if errors:
            raise errors[0]
        return results[0]

    def is_late(self) -> bool:
        return self.deadline is not None and _now() >= self.deadline

    def forget_deadline(self) -> None:
        """Let what is still to be done take as long as it takes."""
        with self._changing:
            self.deadline = None

    def close(self) -> None:
        """End the watch of the interpreter lock when control of the program ends."""
        self._lock_watch.close()

    def surrender(self, error: BaseException) -> None:
        """Let the caller go on: the thread at home, which calls this, cannot be ended."""
        self._surrendered = error
        self._lose(str(error))
        self.home.done.release()

    def _lose(self, why: str) -> None:
        """Leave a thread where it is: nobody may wait for it, now or at the interpreter's end."""
        self.lost = True
        self._registrations.forget(why)

    def _wait(self) -> None:
        try:
            self._watch()
        except (UncontrolledCallError, OutOfTime, SystemLimitError) as error:
            if isinstance(error, UncontrolledCallError):
                self._lose(error.failed.message)
            else:
                self._lose(str(error) or "the time limit was reached")
            run = session.current
            run.decide = _raise_abandon
            registry.end_run(run)  # or the interpreter waits for executors at its end
            raise
        except BaseException:
            self._interrupt()
            raise
        if self._surrendered is not None:
            raise self._surrendered

    def _beat(self) -> None:
        """Tell the process that watches over the interpreter lock that this one runs."""
        deadline = self.deadline
        self._lock_watch.beat(None if deadline is None else deadline - _now())

    def _watch(self) -> None:
        seen: tuple[Scheduler, int] | None = None
        look = Look()
        while not self.home.done.acquire(timeout=self._until_next_look()):
            self._beat()
            if self._end_late_run():
                continue
            run = session.current
            used, by_all = _processor_time(run), time.process_time()
            if seen != (run, run.steps):
                seen, look = (run, run.steps), Look(used, by_all)
                continue
            if has_ended(self.home.ident) or (run.ident and has_ended(run.ident)):
                raise SystemLimitError(memory_limit())
            look.again(used, by_all, is_anyone_runnable(), self._patience)
            if look.is_over(self._patience) and (run.ident or not look.busy):
                if is_importing(run) and not look.is_over(self._patience * IMPORTING):
                    continue
                failed = describe_blocked(run, look.waited, look.busy)
                _end_thread(run)
                raise OutOfTime if self.is_late() else UncontrolledCallError(failed)

    def _until_next_look(self) -> float:
        pause, deadline = self._patience / LOOKS, self.deadline
        left = pause if deadline is None else deadline - _now()
        return min(pause, left if left > 0 else COURTESY)

    def _end_late_run(self) -> bool:
        """Let the present run end at its next point, if time has just run out; or where it is, if
        it has not come to one since."""
        with self._changing:
            run = session.current
            if not self.is_late():
                return False
            if run.decide is not _raise_late:
                run.decide = _raise_late
                return True
            if run.over or not run.ident:
                return False
            run.cut(OutOfTime())
            _end_thread(run)
            return True

    def _interrupt(self) -> None:
        """End the run, then the search, of an interrupted caller, but do not wait for ever."""
        self.stopping = True
        ended = False
        try:
            ended = self._end_soon()
        finally:
            if not ended:
                self._lose("interrupted")

    def _end_soon(self) -> bool:
        """Let runs end at their next points; False where one does not come to any."""
        until = _now() + self._patience
        while _now() < until:
            run = session.current
            steps, run.decide = run.steps, _raise_abandon
            if self.home.done.acquire(timeout=min(self._patience, ANSWER)):
                return True
            if run is session.current and run.steps == steps:
                break  # it does not come to any point
        _end_thread(session.current)
        return False


def _stay_on_one_core() -> None:
    """Keep this thread, and those it starts, on one core, and let none of them interrupt another.

    It is the core on which the thread is now: the system has put other busy processes elsewhere.

    A thread that hands over wakes the next one and goes to sleep a moment later.  If the system let
    the next one run at once, it would find the interpreter's lock taken, and everything would
    change places twice.  Threads of a batch wait until the one that runs is asleep.
    """
    with suppress(OSError, AttributeError):  # some systems have no such calls
        os.sched_setaffinity(0, {ctypes.pythonapi.sched_getcpu()})
        if os.sched_getscheduler(0) == os.SCHED_OTHER:
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _raise_abandon(*_: Any) -> int:
    raise Abandon


def _raise_late(*_: Any) -> int:
    raise OutOfTime


def _processor_time(run: Scheduler) -> float:
    """How long the running thread has computed; the whole process where that is not known."""
    if hasattr(time, "pthread_getcpuclockid") and run.ident:
        with suppress(OSError):
            return time.clock_gettime(time.pthread_getcpuclockid(run.running.ident))
    return time.process_time()


def is_anyone_runnable() -> bool:
    """Say whether another thread of this process runs or waits for a processor, if Linux tells."""
    own = str(get_native_id())
    with suppress(OSError):
        return any(_state_of(thread) == "R" for thread in os.listdir(_THREADS) if thread != own)
    return False


_THREADS = "/proc/self/task"


def _state_of(thread: str) -> str:
    with suppress(OSError, IndexError), open(f"{_THREADS}/{thread}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]
    return ""


def _end_thread(run: Scheduler) -> None:
    """End the running thread when its call comes back, instead of letting it run on by itself."""
    ident = run.running.ident
    if ident and run.ident:
        _raise_in(ident, Unwind)
        _take_notice()


def _raise_in(ident: int, error: type[BaseException]) -> None:
    """Raise an exception in a thread as soon as it comes to execute Python code."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(error))


class Noticed(BaseException):
    """Raised in the thread that has raised something in another one, and caught there."""


def _take_notice() -> None:
    """Take back the notice that some thread is to raise an exception.

    The interpreter has one such notice for all threads, until one of them raises its exception.
    While the thread that is meant is blocked, all others look at the notice again and again; in
    Python 3.11 a generator never begins in a thread with a profile function (`python.reentry`).
    The blocked thread gives the notice anew when it wakes.
    """
    with suppress(Noticed):
        _raise_in(get_ident(), Noticed)
        while True:
            pass
