"""The end of a run: threads that stand somewhere unwind, and nothing waits any more.

An exception takes each of them out of where it stands (`tasks.Unwind`).  Their `finally` blocks run
through, and reach points; these let everything pass that need not wait.
"""

from __future__ import annotations

from _thread import allocate_lock
from typing import TYPE_CHECKING

from mazurka.runtime.core import failures
from mazurka.runtime.core.operations import Step
from mazurka.runtime.core.tasks import Task, Unwind

if TYPE_CHECKING:
    from mazurka.runtime.core.scheduler import Scheduler

PATIENCE = 1000
"""How many points a thread may reach while it unwinds before it is given up."""


def pass_through(run: Scheduler, operation: Step) -> None:
    """A point after the end of a run."""
    if run.gone:
        raise failures.ControlError(f"a point to {operation.kind} was reached outside of any run")
    run.steps += 1
    me = run.running
    me.reached += 1
    if me.reached > PATIENCE:
        _give_up(run, me)
    if not (operation.free or operation.ready()):
        raise Unwind


def _give_up(run: Scheduler, task: Task) -> None:
    """A thread that catches everything and goes on for ever cannot be ended, only left."""
    assert run.program is not None
    run.error = failures.UnstoppableThreadError(task.life.label)
    run.ident = 0
    if task.number == 0:
        run.program.surrender(run.error)
    else:
        run.program.pool.forget(task.number)
        run.hand_over(0)
    _wait_for_ever()


def _wait_for_ever() -> None:
    lock = allocate_lock()
    lock.acquire()
    lock.acquire()


def unwind_others(run: Scheduler) -> None:
    """The test's own thread has unwound; let the others do so one by one."""
    main = run.tasks[0]
    assert main is not None
    run.running = main
    main.rounds = None
    if not run.over:
        run.conclude()
    for task in run.tasks[1:]:
        if task is None or run.pending[task.number] is None:
            continue
        if task.begun:
            run.running = task
            run.ident = task.ident
            task.baton.release()
            main.baton.acquire()
            task.rounds = None  # its frames know this run, and so nobody would let go
        else:
            assert task.carrier is not None
            task.carrier.task = None
            if task.thrown_away is not None:
                task.thrown_away()
        run.pending[task.number] = None
    run.ident = 0
    run.running = main
