"""Follow a replay token on the program as it is now, and say where it parts from it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from mazurka.errors import MazurkaError
from mazurka.runtime.core.access_sites import sites
from mazurka.runtime.core.operations import RealOperation
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import SourceLine, shown_path, site_of
from mazurka.runtime.core.thread_labels import label_of
from mazurka.runtime.exploring.observed_program import schedule_every_access
from mazurka.runtime.exploring.tokens import Stop, Token, Visits, hash_place
from mazurka.runtime.sharing.locations import learned
from mazurka.runtime.story.effects import kind_of
from mazurka.runtime.story.recording import record
from mazurka.runtime.story.story import Story
from mazurka.stateless.preemptions import choose_without_preemption
from mazurka.stateless.runs import Decider, Operation, Runnable


class DivergedFromTokenError(MazurkaError):
    """The program does not come to the place at which a token switches threads."""


INSTEAD = "If that was to mend the failure, run the test itself to see whether it holds now"


class Retrace(Decider):
    """A decider that lets each thread go until it stands where the token says."""

    def __init__(self, token: Token) -> None:
        self._legs = token.legs
        self._leg = 0
        self._begun = False
        """Whether the thread of the present leg has taken a step of it."""
        self._visits = Visits()
        self._standing: dict[str, Stop] = {}
        self._sites: dict[str, SourceLine | None] = {}

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        tasks = {task.path: task for task in session.current.tasks if task is not None}
        arrived = max(last, 0)
        operation = pending[arrived]
        path = next(path for path, task in tasks.items() if task.number == arrived)
        if isinstance(operation, RealOperation):
            site = site_of(sys._getframe(1))
            self._sites[path] = site
            self._standing[path] = self._visits.arrive(path, kind_of(operation), site)
        else:
            self._standing.pop(path, None)
        self._move_on()
        if self._leg >= len(self._legs):
            return choose_without_preemption(pending, enabled, last)
        leg = self._legs[self._leg]
        task = tasks.get(leg.thread)
        number = task.number if task is not None else -1
        if number not in enabled:
            raise self._diverged(number, pending)
        self._begun = True
        return number

    def _move_on(self) -> None:
        """Go to the next leg where the thread of this one has come to its end."""
        if self._leg < len(self._legs) and self._begun:
            leg = self._legs[self._leg]
            if self._standing.get(leg.thread) == leg.until:
                self._leg += 1
                self._begun = False

    def _diverged(self, number: int, pending: Sequence[Operation | None]) -> DivergedFromTokenError:
        leg = self._legs[self._leg]
        label = _label(leg.thread)
        until = f"come to stand before {leg.until}" if leg.until else "run to its end"
        site = self._sites.get(leg.thread)
        if number < 0 or number >= len(pending):
            now = "it has not been started"
        elif pending[number] is None:
            now = "it has ended"
        else:
            stop = self._standing.get(leg.thread)
            now = f"it waits before {stop}" if stop else "it cannot go on"
        line = f": `{site.source}`" if site and site.source else ""
        return DivergedFromTokenError(
            f"the program has changed: in part {self._leg + 1} of {len(self._legs)} of the recorded"
            f" schedule thread {label} is to {until}, but {now}{line}. {INSTEAD}",
            file=shown_path(site.file) if site else None,
            line=site.line if site else None,
        )

    def require_end(self) -> None:
        """Refuse a run that has ended before the last switch of the token."""
        if self._leg < len(self._legs) - 1:
            raise DivergedFromTokenError(
                f"the program has changed: it ends in part {self._leg + 1} of {len(self._legs)} of"
                f" the recorded schedule. {INSTEAD}"
            )


def replay(program: Runnable, token: Token) -> Story:
    """Run a program along a token, with the scheduling points of the run that it stands for.

    A place that is a point without need divides a row in two, or adds one.  Where the program does
    not come to a place of the token, that may be because its line has changed in part, or had not
    been imported; then every access is a point.
    """
    learned.points.update(
        number for number, site in enumerate(sites) if hash_place(site) in token.places
    )
    try:
        return follow_token(program, token)
    except DivergedFromTokenError:
        schedule_every_access()
        return follow_token(program, token)


def follow_token(program: Runnable, token: Token) -> Story:
    retrace = Retrace(token)
    story = record(program, retrace)
    retrace.require_end()
    return story


def _label(path: str) -> str:
    tasks = session.current.tasks
    for task in tasks:
        if task is not None and task.path == path:
            return label_of(tasks, task.number)
    return path
