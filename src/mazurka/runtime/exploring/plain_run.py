"""Run a test whose first execution has failed without Mazurka: does it fail in the same way?

The run takes place in a forked process, and what it prints is thrown away.  So it changes nothing
here, and may end its process or never end: its locks, threads and sleeps are the real ones.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from typing import Final

from mazurka.interrupts import interrupts_come_later
from mazurka.runtime.core.failures import describe_exception
from mazurka.runtime.exploring.options import Test
from mazurka.runtime.exploring.workers.parallel import fork_quietly
from mazurka.runtime.exploring.workers.process import end_with_parent
from mazurka.runtime.story.findings import Findings

LONGEST = 5.0
"""Seconds after which a plain run is given up: nothing is said of the test then."""
_FAILS: Final = 77
"""The exit status of a process in which the test has failed in the same way."""


def fails_plainly(test: Test, result: Findings) -> bool:
    """Return whether the first execution has failed, and a plain run fails in the same way; False
    where that cannot be found out.

    A plain run really waits.  If the main thread has waited for `LONGEST` of virtual time, the run
    would be given up, so it is not begun."""
    failed, story = result.violation, result.story
    if failed is None or not _is_first(result) or multiprocessing.current_process().daemon:
        return False
    if story is not None and story.seconds >= LONGEST:
        return False
    if "fork" not in multiprocessing.get_all_start_methods():
        return False
    context = multiprocessing.get_context("fork")
    process = context.Process(
        target=_run, args=(test, _describe(failed.kind, failed.message), os.getpid())
    )
    try:
        with interrupts_come_later():
            fork_quietly(process)
        process.join(LONGEST)
    finally:
        if process.pid is not None:
            process.kill()
            process.join()
    return process.exitcode == _FAILS


def _is_first(result: Findings) -> bool:
    """Return whether it was the first execution that failed, by an exception or an assertion."""
    found, story = result.violation, result.story
    if found is None or story is None or result.seed is not None or result.executions != 1:
        return False
    return found.kind in ("assert", "exception") and not any(step.preempts for step in story.steps)


def _run(test: Test, failure: str, parent: int) -> None:
    """Run a test in this process, and end the process without a word."""
    end_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and ends this process
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        for stream in (1, 2):
            os.dup2(nowhere.fileno(), stream)
        sys.stdout = sys.stderr = nowhere
        status = 0
        try:
            test.body()
        except BaseException as error:
            again = describe_exception(error, 0, "main")
            status = _FAILS * (_describe(again.kind, again.message) == failure)
        finally:
            os._exit(status)  # whatever threads the test has left


def _describe(kind: str, message: str) -> str:
    """Return the kind of a failure, and for exceptions the type."""
    return kind if kind == "assert" else message.partition(":")[0]
