"""Ends and joins of threads, which need be no steps of a search.

After its last operation a thread comes to its end, and another one that waits for it comes out of
its join.  Nothing that anybody else does can come into conflict with that.  As steps they would
only multiply states: with n threads that main waits for, each execution would end in more than 2^n
prefixes that differ in nothing else.  So the search takes ends and joins as soon as they can go on.
They are no events of the graph; what a thread does after a join *needs* what the other one did
before its end (`Stand.needs`), and whoever stands before a join cannot go on.

*Why the bound means the same.*  Take a schedule in which ends and joins are steps.  Move the end of
each thread to where its last step was.  The switch that lay between was a preemption, and is none
any more.  Only the thread that joins it can go on earlier; if it has been switched away from at its
join, that is a preemption now, but it is the only one.  Move each join to where its thread's last
step was, if the other thread had ended by then, and otherwise to before the thread's next step:
whether to switch away from the thread is a preemption depends on that step alone then.  A timeout
that ends although nobody else could move still does: whoever stands before a join that can go on
could move, and passes it before.  So no preemptions are added, and no early timeouts, and
`LifeGraph.expand` goes the other way.

This asks for two things.  Nobody else may see whether a thread has ended (`LifeRole.LOOK`), and
no two threads may join the same one.  Otherwise `LivesMatter` is raised, at the latest when the
first execution comes to such an operation, and the search begins anew with ends and joins as steps.
"""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.stateless.bounded.happens_before import Graph
from mazurka.stateless.bounded.recording import Stand
from mazurka.stateless.runs import LifeRole, Operation

NOBODY = -1
_NOWHERE = Stand(None, 0, 0)
_LOOK = LifeRole.LOOK


class LivesMatter(Exception):  # noqa: N818 - it is control flow, not an error of ours
    """Raised where ends and joins of threads have to be steps of the search."""


class LifeGraph(Graph):
    """A graph that may do without ends and joins."""

    def __init__(self, *, silently: bool) -> None:
        super().__init__()
        self.silently = silently
        self._ends: dict[int, int] = {}
        """By thread: what has happened before its end."""
        self._joiners: dict[int, int] = {}
        self.looks = False
        """Whether a thread may have come to where it can go on silently."""
        self._last: tuple[int, list[tuple[int, int]]] = (NOBODY, [])
        """At the end of a run: who took the last step, and the ends and joins that came after."""

    def find_silent(self, enabled: Sequence[int]) -> int:
        """A thread that stands before its end, or before a join that can go on; or NOBODY."""
        if self.looks:
            for thread in enabled:
                if self.stands[thread][-1].role:
                    return thread
            self.looks = False
        return NOBODY

    def stand(self, operation: Operation | None, needs: int) -> Stand:
        if operation is None:
            return Stand(None, self.run, needs)
        role = operation.role
        if not role or not self.silently:
            return self.ask(operation, needs)
        if role is _LOOK:
            raise LivesMatter
        stand = Stand(None, self.run, needs)
        stand.role = role
        self.looks = True
        stand.joined = operation.joined
        return stand

    def advance(self, thread: int, operation: Operation | None) -> None:
        stand = self.stand(operation, 0)
        self.stands[thread].append(stand)
        if stand.joined != NOBODY:
            self._require_one(stand.joined, thread)

    def _require_one(self, joined: int, thread: int) -> None:
        if self._joiners.setdefault(joined, thread) != thread:
            raise LivesMatter

    def pass_on(self, pending: Sequence[Operation | None], moved: int) -> None:
        slips, self.slips = self.slips, []
        for number, (thread, joined) in enumerate(slips, 1):
            line = self.stands[thread]
            if thread == moved:
                moved = NOBODY
                needs = self._pass(thread, joined, 0)
                silent: tuple[tuple[int, int], ...] = ((needs, joined),)
                line.append(_NOWHERE)
            else:
                old = line[-1]
                self.replaced.append((len(self.schedule), line, len(line) - 1, old))
                needs = self._pass(thread, joined, old.needs)
                silent = (*old.silent, (needs, joined))
            # Where a thread stands between two joins is of no interest to anybody.
            goes_on = number < len(slips) and slips[number][0] == thread
            line[-1] = stand = self.stand(None if goes_on else pending[thread], needs)
            stand.silent = silent
            self.wait_for(thread, needs)
            if stand.joined != NOBODY:
                self._require_one(stand.joined, thread)
        if moved != NOBODY:
            self.advance(moved, pending[moved])
        self.looks = True

    def settle(self, pending: Sequence[Operation | None]) -> None:
        """Where all threads have ended, nobody asks any more in which states they left objects, nor
        what the last of them have passed, unless the run is to be told (`expanded`)."""
        if not self.slips or pending.count(None) < len(pending):
            super().settle(pending)
            return
        moved, self._moved = self._moved, NOBODY
        slips, self.slips = self.slips, []
        self._last = moved, slips
        if moved != NOBODY:
            self.stands[moved].append(_NOWHERE)
        for thread, joined in slips:
            if joined != NOBODY:
                self._require_one(joined, thread)

    def _settle_last(self) -> None:
        """Work out what `settle` has put off: where the threads stand at the end of the run."""
        moved, self.slips = self._last
        self._last = NOBODY, []
        if moved != NOBODY:
            self.stands[moved].pop()
        if self.slips:
            self.pass_on([None] * len(self.lines), moved)

    def _pass(self, thread: int, joined: int, needs: int) -> int:
        """What a thread has needed once it has passed its end or a join."""
        if joined != NOBODY:
            self._require_one(joined, thread)
            return needs | self._ends[joined]
        line = self.lines[thread]
        self._ends[thread] = needs | self.past[line.bit_length() - 1] if line else needs
        return needs

    def cut(self, count: int) -> None:
        self.looks = False
        self._last = NOBODY, []
        super().cut(count)

    def expand(self, order: Sequence[int]) -> tuple[int, ...]:
        """A schedule of all events, with ends and joins where they cost no preemption."""
        self._settle_last()
        here, steps, passed = 0, list[int](), [0] * len(self.lines)

        def pass_on(thread: int) -> None:
            line = self.stands[thread]
            silent = line[(here & self.lines[thread]).bit_count()].silent if line else ()
            for needs, joined in silent[passed[thread] :]:
                if needs & ~here:
                    break
                if joined != NOBODY:
                    pass_on(joined)
                steps.append(thread)
                passed[thread] += 1

        for thread in order:
            rests = self.stands[thread][(here & self.lines[thread]).bit_count()].yields
            if rests is not False and not self.able(here)[1]:  # else a join could still go on
                for other in range(len(self.lines)):
                    pass_on(other)
            pass_on(thread)
            steps.append(thread)
            rest = self.lines[thread] & ~here
            here |= rest & -rest
            passed[thread] = 0
            pass_on(thread)
        for thread in range(len(self.lines)):
            pass_on(thread)
        return tuple(steps)
