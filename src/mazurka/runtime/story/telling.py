"""A recorded run, and where those who hold what others wait for have taken it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from sys import _getframe
from typing import NamedTuple

from mazurka.runtime.core.leash import Leashed
from mazurka.runtime.core.naming import forget_names
from mazurka.runtime.core.operations import Attempt, Object, Step
from mazurka.runtime.core.sites import SourceLine, is_plumbing, shown_path, site_of
from mazurka.runtime.core.spinning import Spin
from mazurka.runtime.primitives.conditions import Wake
from mazurka.runtime.primitives.events import AcquireUnit
from mazurka.runtime.primitives.locks import OUTSIDE, Acquire
from mazurka.runtime.story.recording import Lost, Stands, Story, record
from mazurka.stateless.runs import Decider, Operation, Runnable, Shared

_TWICE = re.compile(r"\b(lock|rlock|condition|event|semaphore|queue|future|barrier) \1(?![\w.\[])")
"""`lock lock`: a variable that is called what it is."""


class Acquired(NamedTuple):
    """Who has taken something, and where."""

    thread: int
    site: SourceLine | None


@dataclass(kw_only=True)
class Told(Story):
    """A recorded run."""

    acquired: dict[int, Acquired] = field(default_factory=dict)
    """By the number of the thread that waits: who has last taken what it waits for."""


class Holding(Decider):
    """A decider that passes questions on, and notes where locks and semaphores are taken."""

    def __init__(self, inner: Decider) -> None:
        self._inner = inner
        self._sites: dict[int, SourceLine | None] = {}
        self.taken: dict[int, tuple[Shared, Acquired]] = {}
        """By identity; what is in it stays alive, so that no other object gets it."""

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        self._sites[max(last, 0)] = site_of(_getframe(1))
        chosen = self._inner.decide(pending, enabled, last)
        shared = _takes(pending[chosen])
        if shared is not None:
            self.taken[id(shared)] = shared, Acquired(chosen, self._sites.get(chosen))
        return chosen


def _takes(operation: Operation | None) -> Object | None:
    """What an operation takes if it is performed now."""
    if isinstance(operation, (Spin, Leashed)):
        return _takes(operation.operation)
    if isinstance(operation, Attempt):
        return _takes(operation.wanted) if operation.wanted.ready() else None
    return _wanted(operation)


def _wanted(operation: Operation | None) -> Object | None:
    if isinstance(operation, Wake):
        return operation.lock
    return operation.shared if isinstance(operation, (Acquire, AcquireUnit)) else None


def tell(program: Runnable, decider: Decider) -> Told:
    """Run a program once and tell what happened."""
    forget_names()
    holding = Holding(decider)
    story = record(program, holding)
    acquired = {}
    for stands in story.standing:
        operation = story.ended.pending[stands.thread]
        taken = holding.taken.get(id(_wanted(operation)))
        if taken is not None and isinstance(operation, Step):
            acquired[stands.thread] = taken[1]
    story.standing = [replace(one, waits=_TWICE.sub(r"\1", one.waits)) for one in story.standing]
    return Told(**vars(story), acquired=acquired)


def reason(story: Story, stands: Stands, file: str | None = None) -> str:
    """What a thread waits for and who has it; lines are those of a file, unless said otherwise."""
    acquired = story.acquired.get(stands.thread) if isinstance(story, Told) else None
    if stands.holder == OUTSIDE:
        who = ", taken before the test began, or by a thread that is not under control"
    elif stands.holder:
        own = stands.holder == story.threads.get(stands.thread)
        site = acquired.site if acquired is not None else None
        since = f" since {line_of(site, file)}" if site is not None else ""
        gone = not any(story.threads.get(one.thread) == stands.holder for one in story.standing)
        ended = ", which has ended" if gone else ""
        who = f", held by {stands.holder}{' itself' if own else ''}{since}{ended}"
    elif acquired is not None and "whose value is 0" in stands.waits:
        site = acquired.site
        at = f" at {line_of(site, file)}" if site is not None else ""
        who = f", last acquired by {story.threads.get(acquired.thread)}{at}"
    else:
        who = ""
    return f"waits {stands.waits}{who}"


def lost_text(story: Story, lost: Lost, file: str | None) -> str:
    """`Thread-1 notified ready at line 12 when nobody waited`."""
    at = f" at {line_of(lost.site, file)}" if lost.site is not None else ""
    return f"{story.threads.get(lost.thread)} notified {lost.label}{at} when nobody waited"


def line_of(site: SourceLine, file: str | None) -> str:
    """`line 12`; with the name of its file where that is another one."""
    if is_plumbing(site):
        return "a call of the library"
    shown = shown_path(site.file)
    return f"line {site.line}" if file in (None, shown) else f"{shown}:{site.line}"
