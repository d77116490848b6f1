"""A time limit that holds in every phase of a check, not only while it searches.

`time_limit` begins the time.  It ends in one of three ways:

- *Searches* ask how much is left when they begin, and come to an end by themselves, so that what
  they have found is told.
- *All other Python code* is interrupted by an alarm, which raises `TimeLimitError` wherever the
  code is, under `interruptible`: what stands around it deals with the exception.  There is an alarm
  in the main thread, on systems that have one, if nobody else uses it.  Modules are loaded to their
  end first: one with C code that was interrupted can never be imported again in this process.  So
  are destructors, whose exceptions are lost.
- *Loops that may take long* call `check_time` once a round.  That says in which phase a check is,
  and ends it where there is no alarm.  What everybody calls (the graphs of the symbolic engine, its
  solvers) does so as well, without a phase.

A memory limit for what comes before a search (`memory_limit`) is kept in the same places.

Nothing interrupts native code: kernels return after a slice, large arrays are worked on in parts,
and what LLVM would take long for is compiled in another process.

The limit belongs to the context (`contextvars`), so that it need not be handed through every
function, and checks in different threads have different ones.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from types import FrameType

from mazurka.errors import MazurkaError, OptionError

SHORTEST_ALARM = 0.001
MOST_SECONDS = 1e9
"""A longer time is none: no clock or wait of the system counts that far."""
UNNAMED = "preparing the model"
LAST_SHARE = 0.05
"""The part of a time limit for which what was found in the last moment may still be explained."""


IMPORTING = "<frozen importlib._bootstrap"
"""How the names of the files begin whose code imports modules."""
LOADING_ROUND = 0.01
"""How soon the alarm rings again where it has found code that must finish."""
START_FIELD = 19
"""Where `/proc/self/stat` says when a process began, counted behind the name of its program."""
MEMORY_ROUND = 0.05
"""How often the alarm looks at the memory where that is limited, in seconds."""
MEMORY_PAUSE = 0.001
"""For how many seconds `check_time` trusts what it has measured: a short round of a loop takes less
time than to ask the system."""
LONGEST_LOADING = 120.0
"""A command that seems to have loaded itself for longer is on a system whose clocks disagree."""


def refuse_long(flag: str, seconds: float | None) -> None:
    """Refuse a time that the system cannot wait for."""
    if seconds is not None and seconds > MOST_SECONDS:
        raise OptionError(f"{flag} must be {MOST_SECONDS:,.0f} seconds or less, not {seconds:g}")


class TimeLimitError(MazurkaError):
    """The time limit was reached; the message says in which phase."""

    limit = "time"


class MemoryLimitError(TimeLimitError):
    """The memory limit was reached before a search began, which has its own way to keep it."""

    limit = "memory"


@dataclass
class MemoryLimit:
    """How much memory may be taken, and how that is measured."""

    most: int
    """The size at which nothing is left."""
    measure: Callable[[], int]
    phase: str = UNNAMED
    next_look: float = -math.inf
    """The moment from which `check_often` measures again."""

    @property
    def left(self) -> int:
        return self.most - self.measure()

    def check(self) -> None:
        if self.left <= 0:
            raise MemoryLimitError(f"the memory limit was reached while {self.phase}")

    def check_often(self) -> None:
        """Check the limit, unless that was done a moment ago."""
        if time.perf_counter() >= self.next_look:
            self.check()
            self.next_look = time.perf_counter() + MEMORY_PAUSE


@dataclass
class Deadline:
    """When the time of a check is up, and what it is doing."""

    at: float
    clock: Callable[[], float]
    whole: float
    """How many seconds were given in all."""
    phase: str = UNNAMED

    @property
    def left(self) -> float:
        return self.at - self.clock()

    def check(self) -> None:
        if self.left <= 0:
            raise TimeLimitError(f"the time limit was reached while {self.phase}")


_deadline: ContextVar[Deadline | None] = ContextVar("deadline", default=None)
_memory: ContextVar[MemoryLimit | None] = ContextVar("memory", default=None)
_cancelled: ContextVar[Callable[[], bool] | None] = ContextVar("cancelled", default=None)
_command_start: float | None = None
_undisturbed: ContextVar[bool] = ContextVar("undisturbed", default=False)
_interrupted: FrameType | None = None
"""The frame of the main thread whose code may be interrupted, with all that it calls; without one,
an alarm does nothing."""


@contextmanager
def time_limit(
    seconds: float | None,
    clock: Callable[[], float] | None = None,
    *,
    since: float | None = None,
) -> Iterator[None]:
    """Let what happens inside take so many seconds, counted from now or from `since`; None leaves
    the limit that there is.  A limit around this one holds as well."""
    if seconds is None:
        yield
        return
    clock = clock or time.perf_counter
    outer = _deadline.get()
    deadline = Deadline((clock() if since is None else since) + seconds, clock, seconds)
    if outer is not None:
        left = min(deadline.left, outer.left)
        deadline = replace(outer, at=clock() + left, clock=clock)
    with _until(deadline):
        yield


def command_start() -> float | None:
    """When the command began, if this process is one."""
    return _command_start


def note_command_start() -> None:
    """Say that this process is a command, which has done nothing yet but load itself."""
    global _command_start
    _command_start = time.perf_counter() - _measure_age()


def _measure_age() -> float:
    """How long ago this process began: as the system says, else at least its processor time."""
    spent = time.process_time()
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[START_FIELD])
        now = time.clock_gettime(time.CLOCK_BOOTTIME)
        age = now - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return spent
    return max(age, spent) if age < LONGEST_LOADING else spent


@contextmanager
def last_moment() -> Iterator[None]:
    """Let what was found be explained, though the time is up or nearly so."""
    outer = _deadline.get()
    if outer is None:
        yield
        return
    with _until(replace(outer, at=outer.at + LAST_SHARE * outer.whole)):
        yield


@contextmanager
def _until(deadline: Deadline) -> Iterator[None]:
    outer = _deadline.get()
    token = _deadline.set(deadline)
    try:
        _set_timer(deadline)
        yield
    finally:
        _deadline.reset(token)
        _set_timer(outer)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let code go on when the time is up: it waits for others, who look at the clock."""
    token = _undisturbed.set(True)
    try:
        yield
    finally:
        _undisturbed.reset(token)
        _set_timer(_deadline.get())


def seconds_left() -> float | None:
    """What is left of the time, 0 where nothing is; None where there is no limit."""
    deadline = _deadline.get()
    return None if deadline is None else max(deadline.left, 0.0)


@contextmanager
def memory_limit(most: int, measure: Callable[[], int]) -> Iterator[None]:
    """Let what happens inside take so many bytes more than this process has now; `measure` returns
    how many it has.  Where the alarm can be used, it interrupts what takes more."""
    token = _memory.set(MemoryLimit(measure() + most, measure))
    try:
        _set_timer(_deadline.get())
        yield
    finally:
        _memory.reset(token)
        _set_timer(_deadline.get())


def bytes_left() -> int | None:
    """What is left of the memory, 0 where nothing is; None where there is no limit."""
    memory = _memory.get()
    return None if memory is None else max(memory.left, 0)


@contextmanager
def ended_by(cancelled: Callable[[], bool] | None) -> Iterator[None]:
    """Let `check_time` raise `TimeLimitError` inside also where somebody needs no answer any more:
    a search beside others, which may be busy with something else than searching."""
    token = _cancelled.set(cancelled)
    try:
        yield
    finally:
        _cancelled.reset(token)


def check_time(phase: str | None = None) -> None:
    """Raise `TimeLimitError` if the time is up; the phase is what is being done, as `reading`, or
    None where that is what was said last."""
    cancelled = _cancelled.get()
    if cancelled is not None and cancelled():
        raise TimeLimitError(f"nobody waits any more for {phase or 'an answer'}")
    deadline = _deadline.get()
    if deadline is not None:
        if phase is not None:
            deadline.phase = phase
        deadline.check()
    memory = _memory.get()
    if memory is not None:
        memory.phase = phase or memory.phase
        memory.check_often()


# --- the alarm ------------------------------------------------------------------------------------


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise `TimeLimitError` in this code, wherever it is, when the time is up."""
    global _interrupted
    if (_deadline.get() is None and _memory.get() is None) or not _can_use_alarm():
        yield
        return
    signal.signal(signal.SIGALRM, _ring)
    _interrupted = sys._getframe(2)  # behind the one of the context manager
    try:
        _set_timer(_deadline.get())
        yield
    finally:
        try:
            _interrupted = None
        except TimeLimitError:  # the alarm has rung just now; the work is done
            _interrupted = None
        # An alarm that has rung must meet a handler: Python complains about any other action.
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _can_use_alarm() -> bool:
    if not hasattr(signal, "setitimer") or not _in_main_thread():
        return False
    unused = signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    return unused and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _set_timer(deadline: Deadline | None) -> None:
    """Let the alarm ring at a deadline, if it is ours; never for one that has passed: whoever is
    at work then has been told, or was not to be disturbed."""
    if not _in_main_thread() or signal.getsignal(signal.SIGALRM) is not _ring:
        return
    left = 0.0 if deadline is None else deadline.left
    if _memory.get() is not None and (deadline is None or left > 0):
        left = min(left or MEMORY_ROUND, MEMORY_ROUND)
    signal.setitimer(signal.ITIMER_REAL, max(left, SHORTEST_ALARM) if left > 0 else 0)


def _ring(number: int, frame: FrameType | None) -> None:
    """The alarm rings once, but again while code runs that must finish.  A clock that is not the
    wall clock may say that it is too early."""
    if _undisturbed.get() or _interrupted is None:
        return
    if _must_finish(frame):
        signal.setitimer(signal.ITIMER_REAL, LOADING_ROUND)
        return
    deadline, memory = _deadline.get(), _memory.get()
    if deadline is not None or memory is not None:
        _set_timer(deadline)
    if deadline is not None:
        deadline.check()
    if memory is not None:
        memory.check()


def _must_finish(frame: FrameType | None) -> bool:
    """Return whether a module is being loaded, or a destructor runs: what is raised in a destructor
    is printed and lost."""
    while frame is not None and frame is not _interrupted:
        code = frame.f_code
        if code.co_filename.startswith(IMPORTING) or code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False
