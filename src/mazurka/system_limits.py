"""The limits that the system sets for a process: which one was reached, and how it is called.

This is the only place that classifies such errors.  Whatever fails because of a limit of the system
says nothing about a program: the answer is inconclusive, and names the limit.

An error is often replaced by another one on its way ("cannot be read"), so that all errors of the
chain are looked at.
"""

from __future__ import annotations

import dis
import errno
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass

if sys.platform != "win32":
    import resource

_KILOBYTE = 1024

_TEXTS = {
    errno.EMFILE: (),
    errno.ENOSPC: (),
    errno.EFBIG: ("file size limit exceeded",),
    errno.EAGAIN: (),
    errno.ENOMEM: (
        *("failed to map segment", "annot allocate", "out of memory", "memory exhausted"),
        "bad_alloc",
    ),
}
"""How messages of the dynamic linker and of compilers tell of a limit, besides the system's own
texts."""

MEMORY, FILES, PROCESSES = "memory", "open files", "processes"
DISK, FILE_SIZE, PROCESSOR = "disk", "file size", "processor time"


@dataclass(frozen=True)
class SystemLimit:
    """A limit of the system, as a verdict lists it, and in words."""

    name: str
    message: str


class SystemLimitError(Exception):
    """A limit of the system was reached, by a process that this one has started, for example."""

    def __init__(self, limit: SystemLimit) -> None:
        super().__init__(limit)  # as it is made again from what was pickled
        self.limit = limit

    def __str__(self) -> str:
        return self.limit.message


def find_limit(error: BaseException) -> SystemLimit | None:
    """Return the limit of the system because of which an error was raised, if that is its cause."""
    for each in _chain(error):
        found = _limit_of(each)
        if found is not None:
            return found
    return None


def find_limit_of_program(error: BaseException) -> SystemLimit | None:
    """Return the limit of the system because of which a program that is tested has failed.

    A program may raise such errors itself, and try to allocate what no computer has: this is its
    own failure.  So the error comes from C code, and memory counts only where it is limited."""
    for each in _chain(error):
        found = None if isinstance(each, BlockingIOError) else _limit_of(each)
        if found is None:
            continue
        if _is_raised_by_statement(each) and not isinstance(each, SystemLimitError):
            continue
        if found.name != MEMORY or _value("RLIMIT_AS") or _value("RLIMIT_DATA"):
            return found
    return None


def _is_raised_by_statement(error: BaseException) -> bool:
    """Return whether a `raise` statement has raised an error."""
    place = error.__traceback__
    if place is None:
        return True
    while place.tb_next is not None:
        place = place.tb_next
    code = place.tb_frame.f_code.co_code
    return dis.opname[code[place.tb_lasti]] in ("RAISE_VARARGS", "RERAISE")


def explain_end(status: int, complaints: str = "") -> SystemLimit | None:
    """Return the limit that has probably ended a process.

    The status is negative for a signal; `complaints` are what the process has written on its
    standard error."""
    if status == 0:
        return None
    told = _limit_of_text(complaints)
    if told is not None:
        return told
    number = -status
    processor = _value("RLIMIT_CPU")
    if number == _number_of("SIGXCPU") or (number == _number_of("SIGKILL") and processor):
        return processor_limit()
    if number == _number_of("SIGXFSZ"):
        return _file_size()
    if number == _number_of("SIGKILL"):
        return SystemLimit(MEMORY, "the system has ended a process: it may be out of memory")
    if _value("RLIMIT_AS") or _value("RLIMIT_DATA"):
        return memory_limit()
    return None


def name_of_signal(number: int) -> str:
    """Return the name of a signal, such as SIGKILL."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def processor_limit() -> SystemLimit:
    """Return the limit of processor time."""
    seconds = _value("RLIMIT_CPU")
    option = "ulimit -t" if seconds is None else f"ulimit -t {seconds}"
    return SystemLimit(PROCESSOR, f"the limit of processor time ({option}) was reached")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, and those because of which or during which it was raised."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            yield each
            waiting += [each.__context__, each.__cause__]
            if isinstance(each, BaseExceptionGroup):
                waiting += each.exceptions


def _limit_of(error: BaseException) -> SystemLimit | None:
    if isinstance(error, SystemLimitError):
        return error.limit
    if isinstance(error, MemoryError):
        return memory_limit()
    if isinstance(error, FileNotFoundError) and "usable temporary directory" in str(error):
        return (
            _file_size() if _value("RLIMIT_FSIZE") is not None else _limit_of_number(errno.ENOSPC)
        )
    if isinstance(error, OSError) and error.errno is not None:
        return _limit_of_number(error.errno)
    if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
        return _processes()
    if isinstance(error, ImportError | OSError):  # the dynamic linker only gives a text
        return _limit_of_text(str(error))
    return None


def _limit_of_number(number: int) -> SystemLimit | None:
    if number == errno.ENOMEM:
        return memory_limit()
    if number == errno.EMFILE:
        most = _value("RLIMIT_NOFILE")
        return SystemLimit(FILES, f"the limit of open files (ulimit -n {most}) was reached")
    if number == errno.ENFILE:
        return SystemLimit(FILES, "the system's limit of open files was reached")
    if number == errno.EAGAIN and _value("RLIMIT_NPROC"):
        return _processes()
    if number == errno.ENOSPC:
        return SystemLimit(DISK, "no space is left on the disk")
    if number == getattr(errno, "EDQUOT", None):
        return SystemLimit(DISK, "the disk quota was reached")
    if number == errno.EFBIG:
        return _file_size()
    return None


def _limit_of_text(text: str) -> SystemLimit | None:
    words = text.lower()
    for number, patterns in _TEXTS.items():
        if any(each in words for each in (os.strerror(number).lower(), *patterns)):
            return _limit_of_number(number)
    return None


def memory_limit() -> SystemLimit:
    """Return the limit of memory."""
    space, data = _value("RLIMIT_AS"), _value("RLIMIT_DATA")
    if space:
        option = f"ulimit -v {space // _KILOBYTE}"
        return SystemLimit(MEMORY, f"the limit of address space ({option}) was reached")
    if data:
        option = f"ulimit -d {data // _KILOBYTE}"
        return SystemLimit(MEMORY, f"the limit of data ({option}) was reached")
    return SystemLimit(MEMORY, "out of memory")


def _processes() -> SystemLimit:
    most = _value("RLIMIT_NPROC")
    option = "ulimit -u" if most is None else f"ulimit -u {most}"
    return SystemLimit(PROCESSES, f"the limit of processes and threads ({option}) was reached")


def _file_size() -> SystemLimit:
    size = _value("RLIMIT_FSIZE")
    option = "ulimit -f" if size is None else f"ulimit -f {size // _KILOBYTE}"
    return SystemLimit(FILE_SIZE, f"the limit of file size ({option}) was reached")


def _value(name: str) -> int | None:
    """Return a limit that is set for this process; None where there is none."""
    if sys.platform == "win32" or not hasattr(resource, name):
        return None
    soft, _ = resource.getrlimit(getattr(resource, name))
    return None if soft == resource.RLIM_INFINITY else soft


def _number_of(name: str) -> int | None:
    """Return the number of a signal; None where the system does not have it."""
    return getattr(signal, name, None)
