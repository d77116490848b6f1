"""A thread that waits for the exploration, and notices when a call never comes back.

The exploration runs in a thread of its own, its *home*, pinned to one processor core where that
is possible: a handoff between threads costs a third then.  The caller waits here, at no cost, and
looks up now and then.  If no thread has reached a scheduling point for some time, and nothing is
being computed, then the thread whose turn it is has called something that nobody controls: a
socket, a subprocess, a lock inside a C library.  It is reported with its stack and left behind.
"""

from __future__ import annotations

import ctypes
import linecache
import os
import sys
import threading
import time
from _thread import allocate_lock, get_ident, start_new_thread
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from mazurka.errors import MazurkaError
from mazurka.runtime.core.failures import ControlError
from mazurka.runtime.core.names import label_of
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.core.sites import shown_path
from mazurka.runtime.core.tasks import Unwind
from mazurka.runtime.core.thread_locals import ThreadLocals
from mazurka.runtime.primitives import registry
from mazurka.runtime.program.blocked import advice_for, frames_of, place_of
from mazurka.runtime.program.left_behind import Outside
from mazurka.stateless.runs import Abandon, Failed, OutOfTime

Result = TypeVar("Result")
_now = time.perf_counter
LOOKS = 4
"""How often a thread must have been seen at the same point: the whole machine may have slept."""
BUSY = 4
"""A thread that computes is given so many times longer, as long as others keep it from computing:
its patience is one of processor time."""
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

    def __init__(self, pin: bool, own: ThreadLocals) -> None:
        self._pin = pin
        self._locals = own
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
        self.forget_locals = self._locals.here()
        if self._pin:
            _settle_down()
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


class Watchdog:
    """Runs calls at home and watches over them."""

    def __init__(self, patience: float, pin: bool, own: ThreadLocals) -> None:
        self._patience = patience
        self.home = Home(pin, own)
        self.lost = False
        """The home is stuck; nothing can be run there any more."""
        self.stopping = False
        self.deadline: float | None = None
        """When runs end, by the clock of this module."""
        self._changing = allocate_lock()
        self._outside = Outside()
        self._surrendered: BaseException | None = None

    def call(self, function: Callable[[], Result]) -> Result:
        """Run a function at home; what it returns or raises."""
        results: list[Result] = []
        errors: list[BaseException] = []

        def job() -> None:
            try:
                results.append(function())
            except BaseException as error:
                errors.append(error)

        self.home.begin(job)
        self._wait()
        if errors:
            raise errors[0]
        return results[0]

    def is_late(self) -> bool:
        return self.deadline is not None and _now() >= self.deadline

    def forget_deadline(self) -> None:
        """Forget the deadline."""
        with self._changing:
            self.deadline = None

    def surrender(self, error: BaseException) -> None:
        """Called at home by a thread that cannot be ended: the caller goes on without it."""
        self._surrendered = error
        self._lose(str(error))
        self.home.done.release()

    def _lose(self, why: str) -> None:
        """A thread stays where it is.  Nobody may wait for it, now or at the interpreter's end."""
        self.lost = True
        self._outside.forget(why)

    def _wait(self) -> None:
        try:
            self._watch()
        except UncontrolledCallError as error:
            self._lose(error.failed.message)
            run = session.current
            run.decide = _abandon
            registry.end_run(run)  # or the interpreter waits for executors at its end
            raise
        except BaseException:
            self._interrupt()
            raise
        if self._surrendered is not None:
            raise self._surrendered

    def _watch(self) -> None:
        seen: tuple[Scheduler, int] | None = None
        since, used, looks = 0.0, 0.0, 0
        while not self.home.done.acquire(timeout=self._until_next_look()):
            if self._end_late_run():
                continue
            looks += 1
            run = session.current
            now = _now()
            if seen != (run, run.steps):
                seen, since, used, looks = (run, run.steps), now, _processor_time(run), 0
                continue
            waited, computed = now - since, _processor_time(run) - used
            busy = computed > waited / 20
            limit = self._patience * (BUSY if busy and computed < self._patience * 0.9 else 1)
            if waited >= limit and looks >= LOOKS and (run.ident or not busy):
                raise UncontrolledCallError(_report(run, waited, busy))

    def _until_next_look(self) -> float:
        pause, deadline = self._patience / LOOKS, self.deadline
        left = pause if deadline is None else deadline - _now()
        return min(pause, left) if left > 0 else pause

    def _end_late_run(self) -> bool:
        """If time has just run out: let the present run end at its next point."""
        with self._changing:
            run = session.current
            if not self.is_late() or run.decide is _run_out:
                return False
            run.decide = _run_out
            return True

    def _interrupt(self) -> None:
        """The caller was interrupted: end the run, then the search, but do not wait for ever."""
        self.stopping = True
        ended = False
        try:
            ended = self._is_ended_soon()
        finally:
            if not ended:
                self._lose("interrupted")

    def _is_ended_soon(self) -> bool:
        until = _now() + self._patience
        while _now() < until:
            run = session.current
            steps, run.decide = run.steps, _abandon
            if self.home.done.acquire(timeout=min(self._patience, ANSWER)):
                return True
            if run is session.current and run.steps == steps:
                break  # it does not come to any point
        _stop(session.current)
        return False


def _settle_down() -> None:
    """Keep this thread, and those it starts, on one core, and let none of them interrupt another.

    A thread that hands over wakes the next one and goes to sleep a moment later.  If the system let
    the next one run at once, it would find the interpreter's lock taken, and everything would
    change places twice.  Threads of a batch wait until the one that runs is asleep.
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[os.getpid() % len(cores)]})
    with suppress(OSError):
        if os.sched_getscheduler(0) == os.SCHED_OTHER:
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _abandon(*_: Any) -> int:
    raise Abandon


def _run_out(*_: Any) -> int:
    raise OutOfTime


def _processor_time(run: Scheduler) -> float:
    """How long the running thread has computed; the whole process where nobody knows better."""
    if hasattr(time, "pthread_getcpuclockid") and run.ident:
        with suppress(OSError):
            return time.clock_gettime(time.pthread_getcpuclockid(run.running.ident))
    return time.process_time()


def _stop(run: Scheduler) -> None:
    """Should the call come back after all, the thread ends instead of running on by itself."""
    ident = run.running.ident
    if ident and run.ident:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(Unwind))


def _report(run: Scheduler, waited: float, busy: bool) -> Failed:
    task = run.running
    frame = sys._current_frames().get(task.ident)
    frames = frames_of(frame)
    place = place_of(frames)
    line = linecache.getline(*place).strip() if place else ""
    doing = (
        "has computed without reaching any operation that other threads could see"
        if busy
        else "is blocked in a call that is not under control"
    )
    label = label_of(run.tasks, task.number)
    _stop(run)
    return Failed(
        kind="uncontrolled",
        message=f"thread {label} {doing} for {waited:.1f} s{f': {line}' if line else ''}",
        thread=task.number,
        file=place[0] if place else None,
        line=place[1] if place else None,
        details=(
            f"what to do: {advice_for(frames, busy)}",
            *(f"{one.filename}:{one.lineno} in {one.name}" for one in frames),
        ),
    )
