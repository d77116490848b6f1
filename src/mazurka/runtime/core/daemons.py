"""Daemon threads that would go on for ever when the test and all other threads are over.

Then the interpreter would end, and they with it.  What such a thread does until it next sleeps, or
waits in vain, is still explored; from there it never comes back.  So to sleep and to wait for a
time are operations that daemons can perform only as long as somebody else is there: they look at
the lives of all threads that are no daemons, like `threading.enumerate` does.

This costs executions, since it matters then when threads end.  Most daemons come to an end, or wait
for something that never comes, and need none of it.  The first run in which a daemon goes on and on
teaches that it is needed (`Host.hold_daemons`); from then on the test's own thread shows its end,
too.
"""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.runtime.core.operations import Object, Purpose, RealOperation, Yields, present
from mazurka.runtime.core.scheduler import Scheduler
from mazurka.runtime.core.tasks import Life, Unwind
from mazurka.stateless.runs import LifeRole, Lookup, Shared, Touch

PATIENCE = 8
"""How often a daemon may have slept after everybody else has ended."""


class Leashed(RealOperation):
    """What a daemon stands before that is about to sleep, or to wait for a time."""

    __slots__ = ("operation", "run")
    free = False
    is_timed = True
    role = LifeRole.LOOK

    def __init__(self, operation: RealOperation, run: Scheduler) -> None:
        self.operation = operation
        self.run = run

    @property
    def kind(self) -> str:  # type: ignore[override]
        return self.operation.kind

    @property
    def writes(self) -> bool:  # type: ignore[override]
        return self.operation.writes

    @property
    def can_spin(self) -> bool:  # type: ignore[override]
        return self.operation.can_spin

    @property
    def yields(self) -> Yields:  # type: ignore[override]
        return self.operation.yields

    @property
    def seconds(self) -> float:  # type: ignore[override]
        return self.operation.seconds

    @property
    def ends(self) -> float:
        return self.operation.ends

    @ends.setter
    def ends(self, moment: float) -> None:
        self.operation.ends = moment

    def ready(self) -> bool:
        return self.at(present) is not None

    def at(self, lookup: Lookup) -> Sequence[Touch] | None:
        everybody = self.run.everybody
        assert everybody is not None
        lookup(everybody)
        # What counts is who had been started in that state, not whom the run knows by now.
        lives = [life for life in others(self.run) if lookup(life) != "new"]
        if not any(lookup(life) == "alive" for life in lives):
            return None
        touches = self.operation.at(lookup)
        if touches is None:
            return None
        looked: list[Object] = [everybody, *lives]
        own = {shared for shared, _ in touches}
        return (*touches, *((shared, False) for shared in looked if shared not in own))

    def waits_for(self, purpose: Purpose | None) -> str:
        return self.operation.waits_for(None)

    def holder(self) -> str | None:
        return self.operation.holder()

    def takes(self) -> Object | None:
        return self.operation.takes()

    def objects(self) -> tuple[Shared, ...]:
        return ()


def others(run: Scheduler) -> list[Life]:
    """Return the lives of the threads with which the interpreter would go on."""
    return [
        task.life
        for task in run.tasks
        if task is not None and not task.excused and (task.number == 0 or not task.daemon)
    ]


def hold(run: Scheduler) -> None:
    """Let the daemons of a run go no further than they may."""
    stand = run.point

    def point(operation: RealOperation) -> None:
        held = run.running.daemon and run.running.number and operation.yields
        stand(Leashed(operation, run) if held else operation)

    run.point = point  # type: ignore[method-assign]


def spend(run: Scheduler, seconds: float) -> None:
    """Let time pass for the running thread."""
    if seconds > 0:
        run.timed = True
        me = run.running
        me.time += seconds
        run.latest = max(run.latest, me.time)
    if run.running.daemon:
        _watch(run)


def _watch(run: Scheduler) -> None:
    """Ask whether a daemon for which time has passed goes on for ever."""
    assert run.program is not None
    if run.over or run.program.leashed or any(life.state == "alive" for life in others(run)):
        return
    me = run.running
    me.late += 1
    if me.late > PATIENCE:
        run.program.hold_daemons()
        run.pending[me.number] = None  # it ends by itself
        run.ended.abandoned = True
        run.conclude()
        raise Unwind
