"""Run the command in a child process, which states its exit status explicitly.

Native code can end a process at any moment: LLVM aborts where it gets no memory, a numerical
library calls `exit(1)` where it gets no threads, the system kills what has used its processor time.
Status 1 means *violated*, and 0 means *holds*.  So the command runs in a child process, which
states its status through a pipe when everything has been written, and this process waits for it.
If the child ends without having stated a status, the answer is *inconclusive* where a limit of the
system has ended it, and an internal error otherwise.

Signals: a terminal sends Ctrl-C to both processes, and the child alone takes it.  `kill` sends a
signal to this process, which passes it on as the interrupt that Ctrl-C is.  SIGTERM and SIGHUP are
often sent to a whole group of processes, so the child itself lets them pass.  If this process is
killed, the system kills the child.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

from mazurka.system_limits import (
    SystemLimit,
    explain_end,
    find_limit,
    name_of_signal,
    processor_limit,
)

ERROR, INCONCLUSIVE = 2, 3
"""Exit statuses, as `mazurka.report.answer` has them."""
ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
"""Signals by which a process is asked to end: each interrupts the search, as Ctrl-C does."""
RESERVE = 2
"""Seconds of processor time before a hard limit, to print the partial results."""

_limits_met: list[SystemLimit] = []
"""Limits of the system of which a signal has told."""


class StatusPipe:
    """The exit status, as the command states it to the process that waits for it."""

    def __init__(self, pipe: int | None = None) -> None:
        self.pipe, self.process = pipe, os.getpid()

    def state(self, status: int) -> None:
        """State the status of the command; nothing that happens afterwards changes it."""
        if self.pipe is not None and os.getpid() == self.process:
            os.write(self.pipe, bytes([status]))


def run_in_own_process(
    command: Callable[[StatusPipe], int], ended: Callable[[SystemLimit | None, str], int]
) -> int:
    """Run the command in a child process where the system can do that; return its exit status.

    `ended` answers for a command that has ended without a status: it is given the limit that has
    ended it, if there is one, and what happened."""
    if not hasattr(signal, "sigwaitinfo"):
        return run_here(command)
    for name in ENDING:
        if signal.getsignal(getattr(signal, name)) is signal.SIG_DFL:
            signal.signal(getattr(signal, name), signal.default_int_handler)
    awaited = [each for each in map(_number, ENDING) if signal.getsignal(each) != signal.SIG_IGN]
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    parent, mask = os.getpid(), signal.pthread_sigmask(signal.SIG_BLOCK, [*awaited, signal.SIGCHLD])
    try:
        reading, writing = os.pipe()
        child = os.fork()
    except OSError:  # the limit of processes, for example
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return run_here(command)
    if child:
        os.close(writing)
        status = _wait_for(child, awaited)
        os.set_blocking(reading, False)
        with suppress(OSError):
            stated = os.read(reading, 1)
            if stated:
                return stated[0]
        if status == INCONCLUSIVE:  # it was interrupted before it could state that
            return status
        what = f"with status {status}" if status >= 0 else f"by {name_of_signal(-status)}"
        return ended(explain_end(status), what)
    os.close(reading)
    for number in awaited:
        if number != signal.SIGINT:
            signal.signal(number, _pass)
    _end_with(parent)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return run_here(command, StatusPipe(writing))


def run_here(command: Callable[[StatusPipe], int], statement: StatusPipe | None = None) -> int:
    """Run the command in this process."""
    if statement is None:
        for name in ENDING:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, signal.default_int_handler)
    _heed_processor_time()
    return command(statement or StatusPipe())


def limits_met() -> list[SystemLimit]:
    """Return the limits of which a signal has told, and which have interrupted the command."""
    return _limits_met


def explain_failure(error: BaseException) -> tuple[str, int]:
    """Return a message and an exit status for an error that nothing has caught."""
    limit = find_limit(error)
    if limit is not None:
        return limit.message, INCONCLUSIVE
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"internal error ({what}); please report this as a bug of Mazurka", ERROR


def _number(name: str) -> signal.Signals:
    return signal.Signals[name]


def _pass(number: int, frame: FrameType | None) -> None:
    """Let a signal pass: the process that waits for this one has it, too, and passes it on."""


def _wait_for(child: int, awaited: list[signal.Signals]) -> int:
    """Wait for the end of a child, and pass on to it what asks this process to end."""
    while True:
        told = signal.sigwaitinfo([*awaited, signal.SIGCHLD])
        if told.si_signo != signal.SIGCHLD:
            if told.si_signo != signal.SIGINT or told.si_code <= 0:  # not from a terminal
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGINT)
            continue
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)


def _end_with(parent: int) -> None:
    """Make this process end when the waiting process ends."""
    from mazurka.cluster.supervisor import die_with_parent

    die_with_parent()
    if os.getppid() != parent:
        os._exit(INCONCLUSIVE)


def _heed_processor_time() -> None:
    """Let the limit of processor time interrupt the command, before a hard limit kills it."""
    if sys.platform == "win32" or not hasattr(signal, "SIGXCPU"):
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if soft == resource.RLIM_INFINITY:
        return
    limit = processor_limit()

    def interrupt(number: int, frame: FrameType | None) -> None:
        if limit not in _limits_met:  # the system repeats it every second
            _limits_met.append(limit)
            raise KeyboardInterrupt

    signal.signal(signal.SIGXCPU, interrupt)
    if soft == hard:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CPU, (max(soft - RESERVE, 1), hard))
