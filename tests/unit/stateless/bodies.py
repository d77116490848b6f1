"""Threads that several tests share, as bodies of simulated programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.unit.stateless.simulated import Body, World

from mazurka.stateless.bounded.happens_before import Graph
from mazurka.stateless.runs import Decider, Ended, Operation, Runnable

Thread = Callable[[World], Body]


def read_modify_write(rounds: int, name: str = "x") -> Thread:
    def body(world: World) -> Body:
        for _ in range(rounds):
            value = yield world.read(name)
            yield world.write(name, value + 1)

    return body


def critical_sections(rounds: int) -> Thread:
    def body(world: World) -> Body:
        for _ in range(rounds):
            yield world.acquire("lock")
            value = yield world.read("x")
            yield world.write("x", value + 1)
            yield world.release("lock")

    return body


def writes(*names: str) -> Thread:
    def body(world: World) -> Body:
        for name in names:
            yield world.write(name, 1)

    return body


def reads(*names: str) -> Thread:
    def body(world: World) -> Body:
        for name in names:
            yield world.read(name)

    return body


class Recording(Decider):
    """Follows a schedule, then the first thread that can go on, and records the graph."""

    def __init__(self, schedule: Sequence[int] = ()) -> None:
        self.given = list(schedule)
        self.graph = Graph()

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        self.graph.arrive(pending)
        depth = len(self.graph.schedule)
        thread = self.given[depth] if depth < len(self.given) else enabled[0]
        self.graph.take(thread, self.graph.touches_now(thread))
        return thread


def recorded(program: Runnable, schedule: Sequence[int] = ()) -> tuple[Graph, Ended]:
    recording = Recording(schedule)
    end = program.run(recording)
    recording.graph.arrive(end.pending)
    return recording.graph, end
