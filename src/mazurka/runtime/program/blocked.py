"""What to say about a thread in a call that nobody controls: what it does, where, what to do."""

from __future__ import annotations

import linecache
import os
import site
import sys
import sysconfig
import traceback
from collections.abc import Sequence
from functools import cache
from types import FrameType

from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.core.sites import is_plumbing_file
from mazurka.runtime.core.tasks import label_of
from mazurka.runtime.sharing.outside import outside
from mazurka.stateless.runs import Failed

UNEXPLORED = "unexplored"
"""The kind of a wait for an event loop, a socket or a pipe, whose order no search chooses."""
LOOPS = (
    "an event loop waits for the system, which no schedule contains: test the threads without"
    " the loop, or the coroutines without threads"
)
ADVICE = (
    (
        ("asyncio",),
        LOOPS,
    ),
    (
        ("multiprocessing", "subprocess.py", "concurrent/futures/process.py"),
        "other processes are not under control: let the test call in place what they would do, or"
        " replace them (unittest.mock)",
    ),
    (
        ("socket", "ssl.py", "selectors.py", "select.", ".recv(", ".accept(", ".connect(", "http"),
        "sockets are not under control: replace the connection by a queue or by an object of the"
        " test (unittest.mock)",
    ),
    (("input(", "stdin"), "nobody answers: let the test give the input itself"),
)
OTHERWISE = (
    "replace the call in the test (unittest.mock); if it only takes long, allow it more seconds:"
    " patience=60, --patience 60 or --mazurka-patience 60"
)
OUTSIDE = (
    "if this is a lock or a queue that was created outside of the test, it could not be found there"
    " (in a generator, or an object of C): create it in the test, or in a fixture of function scope"
)
WAITING = ("with ", ".acquire(", ".get(")
BUSY = (
    "a loop that waits for another thread has to look at something that the other one changes, or"
    " to sleep; if it only takes long, allow it more seconds: patience=60, --patience 60 or"
    " --mazurka-patience 60"
)


@cache
def library_folders() -> tuple[str, ...]:
    """The directories of what is installed; few processes ever ask."""
    paths = sysconfig.get_paths()
    return tuple(
        path.rstrip(os.sep) + os.sep
        for path in {
            *(paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")),
            *getattr(site, "getsitepackages", list)(),
        }
    )


def is_library_file(file: str) -> bool:
    return file.startswith((*library_folders(), "<"))


def is_importing(run: Scheduler) -> bool:
    """Whether the running thread is about to import a module: some take many seconds for that."""
    frame = sys._current_frames().get(run.running.ident)
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def describe_blocked(run: Scheduler, waited: float, busy: bool) -> Failed:
    """Tell where the running thread is, and what to do about it; `busy` says that it computes."""
    task = run.running
    frames = _collect_frames(sys._current_frames().get(task.ident))
    place = _find_place(frames)
    line = linecache.getline(*place).strip() if place else ""
    doing = (
        "has computed without reaching any operation that other threads could see"
        if busy
        else "is blocked in a call that is not under control"
    )
    label = label_of(run.tasks, task.number)
    advice = _give_advice(frames, busy)
    return Failed(
        kind=UNEXPLORED if _is_unexplored(run, advice, busy) else "uncontrolled",
        message=f"thread {label} {doing} for {waited:.1f} s{f': {line}' if line else ''}",
        thread=task.number,
        file=place[0] if place else None,
        line=place[1] if place else None,
        details=(
            f"what to do: {advice}",
            *(f"{one.filename}:{one.lineno} in {one.name}" for one in frames),
        ),
    )


def _is_unexplored(run: Scheduler, advice: str, busy: bool) -> bool:
    """Tell whether a thread waits for an event loop, a socket or a pipe while another one could go
    on, which may be what it waits for."""
    is_other_able = any(
        one is not None and number != run.running.number and (one.free or one.ready())
        for number, one in enumerate(run.pending)
    )
    return is_other_able and not busy and (advice == LOOPS or outside.has_used(run.running.number))


def _collect_frames(frame: FrameType | None) -> list[traceback.FrameSummary]:
    """Return the frames of a thread, without those that keep it under control; none before it
    has any."""
    if frame is None:
        return []
    return [one for one in traceback.extract_stack(frame) if not is_plumbing_file(one.filename)]


def _find_place(frames: Sequence[traceback.FrameSummary]) -> tuple[str, int] | None:
    """The line of the user's code that has led to a call; failing that, the innermost of any."""
    own = [one for one in frames if not is_library_file(one.filename)]
    found = (own or frames)[-1:]
    return (found[0].filename, found[0].lineno or 0) if found else None


def _give_advice(frames: Sequence[traceback.FrameSummary], busy: bool) -> str:
    if busy:
        return BUSY
    if (outside := _find_created_outside()) is not None:
        return outside
    text = " ".join(_quote(one) for one in frames[-8:])
    last = _quote(frames[-1]) if frames else ""
    found = next((advice for words, advice in ADVICE if any(w in text for w in words)), None)
    if found is None and any(word in last for word in WAITING):
        return f"{OUTSIDE}. Otherwise {OTHERWISE}"
    return found or OTHERWISE


def _find_created_outside() -> str | None:
    """About the lock that is held, or the queue that is empty, where no other could be put."""
    program = session.current.program
    left = program.out_of_reach() if program is not None else ()
    for label, real in left:
        is_queue = hasattr(real, "get")
        if real.empty() if is_queue else repr(real).startswith("<locked"):
            kind = "queue" if is_queue else "lock"
            where = f" by {label}" if label else ""
            return (
                f"a {kind} was created outside of the test, and is held{where} in a set, a key or a"
                " tuple of its own class, where it cannot be put under control: create it in the"
                " test, or keep it in an attribute, a list or a dictionary's value"
            )
    return None


def _quote(one: traceback.FrameSummary) -> str:
    """What a frame tells about the call: the file, where it is a library's, and the line."""
    file = one.filename if is_library_file(one.filename) else ""
    for path in library_folders():
        file = file.removeprefix(path)
    return f"{file} {linecache.getline(one.filename, one.lineno or 0).strip()}"
