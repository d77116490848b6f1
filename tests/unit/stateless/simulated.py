"""Small programs without real threads: generators that yield what they are about to do.

A second `Runnable` beside models and real threads, quick and simple enough to be trusted.  A thread
is a generator; it yields an `Op` and receives its result when it has been performed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mazurka.stateless.preemptions import MOMENT, PATIENCE
from mazurka.stateless.runs import (
    Abandon,
    Decider,
    Ended,
    Failed,
    LifeRole,
    Lookup,
    Operation,
    Shared,
    Touch,
)

Body: TypeAlias = Generator["Op", Any, None]


def now(shared: Shared) -> Hashable:
    return shared.state


@dataclass(eq=False)
class Op:
    kind: str
    touches: Sequence[Touch]
    perform: Callable[[], object] = lambda: None
    guard: Callable[[Lookup], bool] | None = None
    yields: bool | Callable[[Lookup], bool] = False
    seconds: float = 1.0
    ends: float = 0.0
    choose: Callable[[Lookup], Sequence[Touch]] | None = None
    """What is touched, where it depends on states."""
    role: LifeRole = LifeRole.STEP
    joined: int = -1

    def at(self, lookup: Lookup) -> Sequence[Touch] | None:
        if self.guard is not None and not self.guard(lookup):
            return None
        return self.touches if self.choose is None else self.choose(lookup)


class World:
    """The objects and threads of one run."""

    def __init__(self) -> None:
        self.objects: dict[str, Shared] = {}
        self.values: dict[str, int] = {}
        self.threads: list[Body] = []
        self.failures: list[Failed] = []
        self.times: list[float] = []
        """By thread: the moment that it knows of."""
        self.known: dict[Hashable, float] = {}
        """By object: the moment of its last write."""

    def shared(self, name: str, state: Hashable = None) -> Shared:
        if name not in self.objects:
            self.objects[name] = Shared(name, state)
        return self.objects[name]

    def read(self, name: str) -> Op:
        return Op("read", [(self.shared(name), False)], lambda: self.values.get(name, 0))

    def write(self, name: str, value: int) -> Op:
        return Op("write", [(self.shared(name), True)], lambda: self.values.update({name: value}))

    def acquire(self, name: str) -> Op:
        lock = self.shared(name, True)
        return Op("acquire", [(lock, True)], lambda: _set(lock, False), lambda at: bool(at(lock)))

    def release(self, name: str) -> Op:
        lock = self.shared(name, True)
        return Op("release", [(lock, True)], lambda: _set(lock, True))

    def acquire_timed(self, name: str) -> Op:
        """Takes the lock if it is free, else it times out, having looked."""
        lock = self.shared(name, True)

        def perform() -> bool:
            free = bool(lock.state)
            lock.state = False
            return free

        return Op(
            "acquire",
            (),
            perform,
            yields=lambda at: not at(lock),
            choose=lambda at: [(lock, bool(at(lock)))],
        )

    def add(self, name: str, amount: int = 1) -> Op:
        """A counter that others wait for."""
        counter = self.shared(name, 0)
        return Op("add", [(counter, True)], lambda: _set(counter, counter.state + amount))  # type: ignore[operator]

    def wait(self, name: str, least: int) -> Op:
        counter = self.shared(name, 0)
        return Op("wait", [(counter, False)], guard=lambda at: at(counter) >= least)  # type: ignore[operator]

    def start(self, body: Callable[[World], Body]) -> Op:
        """Threads are numbered by who starts first, so all starts touch one object."""
        everybody = self.shared("threads")
        return Op("start", [(everybody, True)], lambda: self.threads.append(body(self)))

    def nothing(self, *, yields: bool = False, seconds: float = 1.0) -> Op:
        return Op("nothing", (), yields=yields, seconds=seconds)

    def fail(self, message: str) -> None:
        self.failures.append(Failed(kind="assert", message=message))


def _set(shared: Shared, state: Hashable) -> None:
    shared.state = state


@dataclass
class Simulated:
    """A program: what its threads do, each made anew for each run."""

    bodies: Sequence[Callable[[World], Body]]
    at_end: Callable[[World], None] | None = None
    log: list[tuple[int, tuple[tuple[Hashable, bool], ...]]] = field(default_factory=list)
    """The steps of the last run: who, and what was touched."""
    spent: list[int] = field(default_factory=list)
    """Preemptions of the last run up to each of its steps."""
    rested: dict[int, int] = field(default_factory=dict)
    """Threads that have given way and gone on."""
    early: int = 0
    """Steps of the last run that gave way while somebody could go on who did not, or while
    somebody waited for a moment that comes sooner."""
    runs: int = 0

    @property
    def preemptions(self) -> int:
        return self.spent[-1] if self.spent else 0

    def run(self, decider: Decider) -> Ended:
        world = World()
        world.threads = [body(world) for body in self.bodies]
        pending: list[Op | None] = []
        self.log, self.spent, self.rested, self.early = [], [], {}, 0
        self.runs += 1
        last = -1
        abandoned = False
        while True:
            while len(pending) < len(world.threads):
                world.times.append(world.times[last] if last >= 0 else 0.0)
                pending.append(next(world.threads[len(pending)], None))
                self.arrive(world, pending, len(pending) - 1)
            enabled = [n for n, op in enumerate(pending) if op and op.at(now) is not None]
            if not enabled:
                break
            try:
                thread = decider.decide(pending, enabled, last)
            except Abandon:
                abandoned = True
                break
            self.step(world, pending, thread, enabled, last)
            last = thread
        return self.end(world, pending, abandoned)

    def step(
        self, world: World, pending: list[Op | None], thread: int, enabled: list[int], last: int
    ) -> None:
        assert thread in enabled
        away = last != thread and last in enabled and not _yields(pending[last])
        early = False
        if _yields(pending[thread]):
            mine = self.rested.get(thread, 0)
            hasty = any(not _yields(pending[n]) for n in enabled)
            late = [] if hasty else [n for n in enabled if self.is_late(pending, n, enabled)]
            early = hasty or thread in late
            early = early or any(self.rested.get(n, 0) < mine for n in enabled if n not in late)
            self.early += (hasty or thread in late) and pending[thread].seconds > 0  # type: ignore[union-attr]
            self.rested[thread] = mine + 1
        self.spent.append(self.preemptions + (away or early))
        op = pending[thread]
        assert op is not None
        touches = op.at(now)
        assert touches is not None
        self.log.append((thread, tuple((shared.name, written) for shared, written in touches)))
        self.pass_time(world, thread, op, touches)
        try:
            pending[thread] = world.threads[thread].send(op.perform())
        except StopIteration:
            pending[thread] = None
        self.arrive(world, pending, thread)

    def is_late(self, pending: Sequence[Op | None], thread: int, enabled: list[int]) -> bool:
        """Whether somebody waits for a moment before that of a thread, where all wait."""
        op = pending[thread]
        assert op is not None
        return op.seconds > 0 and any(
            other.ends + MOMENT < op.ends
            and self.rested.get(n, 0) <= self.rested.get(thread, 0) + PATIENCE
            for n in enabled
            if (other := pending[n]) is not None
        )

    def pass_time(self, world: World, thread: int, op: Op, touches: Sequence[Touch]) -> None:
        """A thread learns when what it touches was written, and waits where it gives way."""
        known = [world.known.get(shared.name, 0.0) for shared, _ in touches]
        now = max([world.times[thread], *known])
        world.known.update({shared.name: now for shared, written in touches if written})
        world.times[thread] = now + (op.seconds if _yields(op) else 0.0)

    def arrive(self, world: World, pending: Sequence[Op | None], thread: int) -> None:
        op = pending[thread]
        if op is not None:
            op.ends = world.times[thread] + op.seconds

    def end(self, world: World, pending: list[Op | None], abandoned: bool) -> Ended:
        if not abandoned:
            stuck = [n for n, op in enumerate(pending) if op is not None]
            if stuck:
                world.failures.append(Failed(kind="deadlock", message=f"{stuck}"))
            elif self.at_end is not None:
                self.at_end(world)
        return Ended(failures=world.failures, abandoned=abandoned, pending=tuple(pending))


def _yields(op: Operation | None) -> bool:
    assert op is not None
    return op.yields if isinstance(op.yields, bool) else op.yields(now)
