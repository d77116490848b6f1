"""Explore a test in a separate process: `isolate=True`.

The process is forked, explores, and sends its result.  Whatever the test does to its process ends
with it: a segmentation fault, `os._exit`, a call of C code that never returns.  Then the result is
an error that says how the process has ended, and where it was.

This process runs nothing of the test.  So a failure that an earlier execution may have caused
(`exploring.losses`) is replayed in a second process, which is in the original state.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import IO, TypeAlias

from mazurka.errors import MazurkaError
from mazurka.interrupts import interrupts_come_later
from mazurka.report.answer import ERROR, INCONCLUSIVE, VIOLATED
from mazurka.runtime.exploring.exploration import leave_open
from mazurka.runtime.exploring.losses import losses
from mazurka.runtime.exploring.options import ExploreOptions, Test
from mazurka.runtime.exploring.tokens import Token, decode
from mazurka.runtime.exploring.workers.parallel import fork_quietly, require_forkable
from mazurka.runtime.exploring.workers.process import end_with_parent
from mazurka.runtime.program.lock_watch import COMPLAINT, ENDED_BY_WATCH, LockWatch, frames_of_dump
from mazurka.runtime.story.result import Result
from mazurka.stateless.explored import Explored, Progress
from mazurka.stateless.runs import Ended
from mazurka.system_limits import explain_end

INSTEAD = "run the test without Mazurka to see whether its process ends there, too"


Explore: TypeAlias = Callable[[Test, ExploreOptions, Progress, float], Result]
Replay: TypeAlias = Callable[[Test, ExploreOptions, Token], Result]
CONFIRMED = "the failure was replayed in a process that is in the original state"


def explore_isolated(
    explore: Explore,
    test: Test,
    options: ExploreOptions,
    replay_failure: Replay,
    result: Result,
    progress: Progress | None,
    started: float,
) -> Result:
    """Call `explore` in a forked process; return `result` if that process sends none."""
    found = _explore_apart(explore, test, options, result, progress, started)
    if found.verdict != INCONCLUSIVE or found.violation is None:
        return found
    assert found.token is not None
    token = decode(found.token)

    def replay(test: Test, options: ExploreOptions, progress: Progress, since: float) -> Result:
        return replay_failure(test, options, token)

    again = _explore_apart(replay, test, options, replace(result), None, started)
    if again.verdict == VIOLATED:
        found.verdict, found.limits = VIOLATED, ()
        found.violation, found.story = again.violation, again.story
        found.scope += f"; {CONFIRMED}"
    else:
        found.violation = found.story = found.token = None
    return found


def _explore_apart(
    explore: Explore,
    test: Test,
    options: ExploreOptions,
    result: Result,
    progress: Progress | None,
    started: float,
) -> Result:
    require_forkable()
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    with ours, tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
        # Not a daemon: it may start workers.
        process = context.Process(
            target=_serve,
            args=(explore, test, options, started, theirs, ours, complaints.fileno(), os.getpid()),
            name="mazurka-isolated",
        )
        try:
            with interrupts_come_later():
                fork_quietly(process)
                theirs.close()
            found = _receive(test, ours, progress)
            process.join()
        finally:
            if process.pid is not None:
                process.kill()
                process.join()
        if isinstance(found, BaseException):
            raise found
        limit = explain_end(min(process.exitcode or 0, 0))
        if found is None and limit is not None:
            leave_open(result, limit)
            return result
        if found is None:
            result.verdict = ERROR
            result.error = _describe_end(test, process, complaints)
            return result
        return found


def _receive(
    test: Test, line: Connection, progress: Progress | None
) -> Result | BaseException | None:
    """Pass on progress until the other process sends its result, or ends."""
    while True:
        try:
            message = line.recv()
        except (EOFError, OSError):
            return None
        if isinstance(message, Explored):
            if progress is not None:
                progress(message)
        elif isinstance(message, Raised):
            return message.rebuild(test.ends())
        else:
            assert isinstance(message, Result)
            if message.skip is not None:
                error = Raised.describe(message.skip.error).rebuild(test.skips())
                message.skip = replace(message.skip, error=error)
            return message


class Raised(BaseException):
    """An exception as two texts: that of a test may be impossible to send."""

    @classmethod
    def describe(cls, error: BaseException) -> Raised:
        return error if isinstance(error, Raised) else cls(type(error).__name__, str(error))

    def rebuild(self, kinds: Iterable[type[BaseException]]) -> BaseException:
        """Make an exception of the one of these classes that has the name."""
        name, text = self.args
        found = next((kind for kind in kinds if kind.__name__ == name), None)
        return MazurkaError(f"the test has raised {name}: {text}") if found is None else found(text)


def _describe_end(test: Test, process: BaseProcess, complaints: IO[str]) -> MazurkaError:
    """Describe how the process of a test has ended without a result."""
    file, line = test.place
    complaints.seek(0)
    text = complaints.read()
    code = process.exitcode
    if code == ENDED_BY_WATCH and text.startswith(COMPLAINT):
        return MazurkaError(text.removeprefix(COMPLAINT).strip(), file=file, line=line)
    if code is not None and code < 0:
        how = f"by signal {signal.strsignal(-code) or -code}"
    else:
        how = f"with status {code}, and without an exception"
    frames = frames_of_dump(text)
    stack = "".join(f"\n  {frame}" for frame in frames)
    return MazurkaError(
        f"the process of the test has ended {how}; {INSTEAD}{stack}", file=file, line=line
    )


def _serve(
    explore: Explore,
    test: Test,
    options: ExploreOptions,
    started: float,
    line: Connection,
    parents_end: Connection,
    complaints: int,
    parent: int,
) -> None:
    """Explore in this process, which was forked for it, and send the result."""
    end_with_parent(parent)
    parents_end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and ends this process
    faulthandler.enable(complaints)
    LockWatch.complaints, LockWatch.advice = complaints, ""
    losses.can_confirm = True
    try:
        found = explore(test, replace(options, isolate=False), line.send, started)
    except BaseException as error:  # among others, to end the session
        line.send(Raised.describe(error))
        return
    if found.story is not None:
        found.story.ended = Ended(failures=found.story.ended.failures)  # no operations of threads
    if found.skip is not None:
        found.skip = replace(found.skip, error=Raised.describe(found.skip.error))
    if (problem := found.error) is not None:
        found.error = MazurkaError(problem.message, file=problem.file, line=problem.line)
    line.send(found)
