"""End a process that keeps the interpreter lock beyond its time.

A call of C code may keep the interpreter lock until it returns: `sum(range(10**12))`, or a regular
expression that backtracks.  No thread of the process can run meanwhile, so none can end the call.
Another process can end them all: while an exploration runs, a thread sends it a beat now and then.
When beats stop for too long, that process sends SIGQUIT.  C code handles the signal without the
lock: `faulthandler` writes where all threads stand, and the process exits.

Systems without SIGQUIT have no such watch (Windows).
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import re
import select
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import ClassVar, NamedTuple

from mazurka.processes import Process, python, start

LOOKS = 4
"""Beats within the patience; as many must be missing, since the whole machine may have slept."""
IMPORTING = 12
"""How many times as much patience there is before the time limit: C code that loads a module, or
that computes, may take long."""
AT_LEAST = 5.0
"""Seconds that any silence must last: other programs may keep the watched thread from running."""
DUMPED_AFTER = 2.0
"""Seconds that the process may take to say where its threads stand, and to exit."""
ENDED_BY_WATCH = 3
"""The status of a process that was ended: it is the number of SIGQUIT, since `_exit` handles it."""
COMPLAINT = "mazurka: "
RESTING = float("nan")
"""What is sent instead of the seconds that are left: no beats come until the next one."""


class LockWatch:
    """The watch over this process while it explores; beats come from the thread that waits."""

    complaints: ClassVar[int] = 2
    """The file descriptor on which the watch says why it has ended this process."""
    advice: ClassVar[str] = (
        ". isolate=True (--isolate, --mazurka-isolate) lets the other tests continue"
    )
    """What it says in the end."""
    _watcher: ClassVar[Watcher | None] = None
    """The process that watches this one: starting it takes longer than a small exploration."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._former = None
        if not hasattr(signal, "SIGQUIT"):
            return
        watcher = LockWatch._watcher
        if watcher is None or not watcher.is_there():
            watcher = LockWatch._watcher = Watcher(self.complaints, self.advice)
        self._handle_quit(watcher)

    def _handle_quit(self, watcher: Watcher) -> None:
        """Let SIGQUIT dump where threads stand, and exit, without the interpreter lock."""
        library = ctypes.CDLL(None)
        self._set_handler = library.signal
        self._set_handler.restype = ctypes.c_void_p
        self._set_handler.argtypes = (ctypes.c_int, ctypes.c_void_p)
        leave = ctypes.cast(library._exit, ctypes.c_void_p)
        self._former = self._set_handler(signal.SIGQUIT, leave)
        faulthandler.register(signal.SIGQUIT, file=watcher.dump, all_threads=True, chain=True)

    def beat(self, left: float | None) -> None:
        """Tell the watch that this process runs, and how many seconds are left of its time."""
        if LockWatch._watcher is not None:
            LockWatch._watcher.tell(self._patience, float("inf") if left is None else left)

    def rest(self) -> None:
        """Tell the watch that no beats come until the next one."""
        self.beat(RESTING)

    def close(self) -> None:
        self.rest()
        if LockWatch._watcher is not None:
            LockWatch._watcher.settle()
            faulthandler.unregister(signal.SIGQUIT)
            self._set_handler(signal.SIGQUIT, self._former)


class Watcher:
    """The process that watches this one, until this one ends.

    It is a child of this process only while it starts, so that a program that waits for any child
    does not wait for it.
    """

    def __init__(self, complaints: int, advice: str) -> None:
        self._watched = os.getpid()
        dumped, self.dump = os.pipe()
        heard, self._beats = os.pipe()
        self._pipes = {end: _identity(end) for end in (self.dump, self._beats)}
        self._starting: Process | None = None
        command = python(f"{__name__}:main", str(self._watched), str(dumped), advice)
        with suppress(OSError):  # no process, no watch
            self._starting = start(
                command,
                stdin=heard,
                stderr=complaints,
                own_session=True,
                pass_descriptors=(dumped,),
            )
        os.close(dumped)
        os.close(heard)

    def is_there(self) -> bool:
        """Return whether it watches this process; a forked process needs another watcher."""
        return self._watched == os.getpid() and all(map(self._is_ours, self._pipes))

    def _is_ours(self, end: int) -> bool:
        """Return whether a descriptor is still that of our pipe; a test may have closed it."""
        return _identity(end) == self._pipes[end]

    def tell(self, patience: float, left: float) -> None:
        if self._is_ours(self._beats):
            with suppress(OSError):  # it may have been killed
                os.write(self._beats, f"{patience} {left}\n".encode())

    def settle(self) -> None:
        """Wait until the process that started it has ended."""
        if self._starting is not None:
            self._starting.wait()
            self._starting = None


def _identity(descriptor: int) -> tuple[int, int] | None:
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_dev, found.st_ino


# -- in the process that watches -----------------------------------------------------------------


class MissingBeats:
    """How long there has been no beat."""

    def __init__(self) -> None:
        self.hear(1.0, RESTING)

    def hear(self, patience: float, left: float) -> None:
        self.patience = patience
        self._since = time.monotonic()
        self._late = self._since + left
        self._rests = left != left  # not a number
        self._looks = 0

    def look(self) -> bool:
        """Return whether the silence has lasted too long."""
        self._looks += 1
        now = time.monotonic()
        self.seconds = now - self._since
        if self._rests or self._looks < LOOKS or self.seconds < max(self.patience, AT_LEAST):
            return False
        return now > self._late + self.patience or self.seconds > self.patience * IMPORTING


def main(watched: str, dump: str, advice: str) -> None:
    """Read beats from standard input until it is closed; end the process if they stop."""
    if os.fork():
        os._exit(0)
    try:
        missing, watched_process = MissingBeats(), WatchedProcess(int(watched))
    except ProcessLookupError:
        return  # it has ended already
    while not watched_process.has_ended():
        if not select.select([0], [], [], missing.patience / LOOKS)[0]:
            if missing.look():
                _end(watched_process, int(dump), missing.seconds, advice)
                return
            continue
        heard = os.read(0, 4096).decode()
        if not heard:
            return
        patience, left = heard.splitlines()[-1].split()
        missing.hear(float(patience), float(left))


class WatchedProcess:
    """A process by its number, and where possible by a descriptor: numbers are used again."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._descriptor = os.pidfd_open(number) if hasattr(os, "pidfd_open") else None

    def has_ended(self) -> bool:
        if self._descriptor is not None:
            return bool(select.select([self._descriptor], [], [], 0)[0])
        try:
            os.kill(self._number, 0)
        except ProcessLookupError:
            return True
        return False

    def send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            if self._descriptor is not None:
                signal.pidfd_send_signal(self._descriptor, number)
            else:
                os.kill(self._number, number)


def _end(watched: WatchedProcess, dump: int, seconds: float, advice: str) -> None:
    watched.send(signal.SIGQUIT)
    text = _read_dump(dump)
    frames = frames_of_dump(text)
    stack = "".join(f"\n  {frame}" for frame in frames)
    print(
        f"{COMPLAINT}a call has kept the interpreter lock for {seconds:.0f} s, so no thread could"
        f" run: the process ends, since nothing else can end the call{advice}{stack}",
        file=sys.stderr,
        flush=True,
    )
    watched.send(signal.SIGKILL)  # in case that the test handles the other signal


def _read_dump(dump: int) -> str:
    parts, until = list[bytes](), time.monotonic() + DUMPED_AFTER
    while (left := until - time.monotonic()) > 0 and select.select([dump], [], [], left)[0]:
        parts.append(os.read(dump, 4096))
        if not parts[-1]:
            break
    return b"".join(parts).decode(errors="replace")


class DumpedFrame(NamedTuple):
    """A frame in a dump of `faulthandler`."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"


_FRAME = re.compile(r'  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)')
_OWN = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_WAITING = tuple(f"{_OWN}runtime{os.sep}{room}{os.sep}" for room in ("core", "program"))
"""Where threads stand that wait for their turn."""


def frames_of_dump(text: str) -> Sequence[DumpedFrame]:
    """Return the frames of the thread that runs code of the test, the innermost first.

    The frames of Mazurka are left out."""
    for thread in re.split(r"(?m)^(?=(?:Current t|T)hread )", text):
        found = _FRAME.finditer(thread)
        frames = [DumpedFrame(one["file"], int(one["line"]), one["function"]) for one in found]
        if frames and not frames[0].file.startswith(_WAITING):
            return [frame for frame in frames if not frame.file.startswith(_OWN)]
    return []
