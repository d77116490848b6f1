"""A recorded run as data: its threads, its steps, and where each thread stands at its end.

`recording` writes it, `tokens` makes a replay token of it, `rows` makes rows of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from mazurka.runtime.core.sites import SourceLine
from mazurka.stateless.runs import Ended


@dataclass(frozen=True)
class Effects:
    """What a step read and wrote: values by place."""

    reads: dict[str, str] = field(default_factory=dict)
    writes: dict[str, str] = field(default_factory=dict)


@dataclass(kw_only=True)
class RecordedStep:
    """A step of a recorded run."""

    number: int
    thread: int
    kind: str
    site: SourceLine | None
    text: str
    effects: Effects
    inside: bool = False
    """It happens inside the machinery of an executor, which nobody wants to read about."""
    starts: str | None = None
    """The path of the thread that it starts."""
    place: int | None = None
    """The number of the place in the source that made it an operation (`Learned.points`)."""
    preempts: bool = False
    """It comes after a switch away from a thread that could have gone on."""
    early: float | None = None
    """It is a sleep or a timeout that ends although another thread could move: its seconds."""
    touches: dict[int, bool] = field(default_factory=dict)
    """What it touches, by the numbers of `Story.objects`, and whether it changes that."""
    subject: str = ""
    """What people call the thing that it is about: `account.balance`."""
    is_element: bool = False
    """Whether that is an element of a container: `stock['apples']`."""
    caller: SourceLine | None = None
    """The line of the project that has called the library in which it is."""


@dataclass(frozen=True, kw_only=True)
class Stands:
    """Where a thread stands at the end of a run."""

    thread: int
    kind: str
    site: SourceLine | None
    waits: str
    holder: str | None = None
    place: int | None = None
    awaited: int | None = None
    """The thread that holds what is waited for, or whose end is waited for."""
    subject: str = ""
    """What people call the thing that is waited for."""


class Acquired(NamedTuple):
    """Who has taken something, and where."""

    thread: int
    site: SourceLine | None


class Lost(NamedTuple):
    """A notification by the program at a moment when no thread waited for it."""

    thread: int
    label: str
    site: SourceLine | None


@dataclass(kw_only=True)
class Story:
    """A recorded run."""

    ended: Ended
    threads: dict[int, str] = field(default_factory=dict)
    """What people call the threads, by number."""
    paths: dict[int, str] = field(default_factory=dict)
    """Their paths, which are the same in every exploration."""
    steps: list[RecordedStep] = field(default_factory=list)
    standing: list[Stands] = field(default_factory=list)
    acquired: dict[int, Acquired] = field(default_factory=dict)
    """By the number of the thread that waits: who has last taken what it waits for."""
    lost: list[Lost] = field(default_factory=list)
    """Notifications that nobody waited for, on objects that somebody waits for at the end."""
    calls: dict[int, str] = field(default_factory=dict)
    """What threads call that stand in the library without any line of the program."""
    objects: list[str] = field(default_factory=list)
    """The kind of each object that steps touch: `variable`, `container`, `lock`, ..."""
    seconds: float = 0.0
    """The virtual time that has passed for the main thread."""

    @property
    def schedule(self) -> tuple[int, ...]:
        return tuple(step.thread for step in self.steps)

    @property
    def preemptions(self) -> int:
        return sum(step.preempts for step in self.steps)
