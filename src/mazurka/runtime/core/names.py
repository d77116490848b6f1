"""Names of shared objects that are the same in every run.

An object that a run creates is named after the thread that created it and how many that thread
had created before.  One that existed before is met by whoever touches it first; it gets a name
then that it keeps for the whole exploration, and its state is what it really is.
"""

from __future__ import annotations

from sys import _getframe

from mazurka.runtime.core.operations import Object
from mazurka.runtime.core.scheduler import Scheduler
from mazurka.runtime.core.sites import user_frame

UNLABELLED = "outside#"
"""How names begin of objects that no run has created, and that no name of the program leads to."""
created: dict[str, tuple[str, int]] = {}
"""Where objects were created, by name; what a recorded run says holds for that run."""


def name_of(run: Scheduler, number: int) -> str:
    """Return the name of the n-th object that the running thread creates."""
    me = run.running
    while len(me.names) <= number:
        me.names.append(f"{me.path}#{len(me.names) + 1}")
        frame = user_frame(_getframe(1))
        if frame is not None:
            created[me.names[-1]] = (frame.f_code.co_filename, frame.f_lineno or 0)
    return me.names[number]


def next_name(run: Scheduler) -> str:
    """Return the name of the next object that the running thread creates."""
    me = run.running
    me.objects += 1
    return name_of(run, me.objects - 1)


def adopt(run: Scheduler, shared: Object) -> None:
    """Meet an object that this run has not created: name it for good, and see how it is."""
    assert run.program is not None
    run.program.keep(shared)
    shared.epoch = run.epoch
    run.ident, ident = 0, run.ident
    try:
        shared.refresh()
    finally:
        run.ident = ident
    run.found.append((shared, shared.state))
    run.found.extend((owner, None) for owner in run.program.built_on(shared))


def forget_names(run: Scheduler) -> None:
    """Let the next run name its objects as if it were the first, and note where they come from."""
    created.clear()
    for task in run.tasks:
        if task is not None:
            task.names.clear()
