"""CB(s, t) against the fewest preemptions over all schedules, at every prefix of every run."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest
from tests.soundness.simulated_threads import random_program
from tests.soundness.whole_runs import Execution, Watched, every_schedule, execution
from tests.unit.stateless.bodies import Recording, critical_sections, recorded, writes
from tests.unit.stateless.simulated import Body, Simulated, World

from mazurka.stateless.bounded.context_bound import ContextBounds, cost_of
from mazurka.stateless.bounded.happens_before import Graph
from mazurka.stateless.explored import PROCESSOR_TIME, Allowance, Exceeded
from mazurka.stateless.runs import Ended, Operation

Costs = dict[tuple[Execution, int], int]


def costs_of_steps(program: Simulated, limit: int) -> Costs | None:
    """CB(s, t) by definition: the least over all schedules that end with the step."""
    costs: Costs = {}

    def seen(schedule: tuple[int, ...], end: Ended) -> None:
        for depth, thread in enumerate(schedule):
            step = execution(program.log[:depth]), thread
            spent = program.spent[depth]
            costs[step] = min(spent, costs.get(step, spent))

    return costs if every_schedule(program, limit, seen) else None


def prefixes(graph: Graph) -> list[tuple[int, ...]]:
    """All prefixes, as numbers of steps of the threads; the cursor ends where it was."""
    found: set[tuple[int, ...]] = set()

    def visit() -> None:
        counts = tuple(graph.counts)
        if counts not in found:
            found.add(counts)
            for thread in graph.frontier():
                graph.back(thread)
                visit()
                graph.forth(thread)

    visit()
    return sorted(found)


def move_to(graph: Graph, counts: tuple[int, ...]) -> None:
    while graph.frontier():
        graph.back(graph.frontier()[0])
    for thread in graph.schedule:
        if graph.counts[thread] < counts[thread]:
            graph.forth(thread)
    assert tuple(graph.counts) == counts


def test_bounds_are_minima_over_all_schedules() -> None:
    compared = 0
    for seed in range(80):
        program = random_program(seed)
        costs = costs_of_steps(program, 300)
        if costs is not None:
            compare(program, costs)
            compared += 1
    assert compared > 30


def compare(program: Simulated, costs: Costs) -> None:
    recording = Recording()
    end = program.run(recording)
    graph, log = recording.graph, list(program.log)
    graph.arrive(end.pending)
    bounds = ContextBounds(graph)
    for counts in prefixes(graph):
        move_to(graph, counts)
        here = bounds.here()
        past = [entry for event, entry in enumerate(log) if graph.here >> event & 1]
        ran = execution(past)
        able = {thread for known, thread in costs if known == ran}
        assert here[0] == sum(1 << thread for thread in able)
        for thread in able:
            assert cost_of(here, thread) == costs[ran, thread]


class Asking(Recording):
    """Takes any schedule, and asks for the bounds at each step, when later threads have not
    begun."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.bounds = ContextBounds(self.graph)
        self.choose = random.Random(seed).choice

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        self.graph.arrive(pending)
        assert self.bounds.here()[0] == sum(1 << thread for thread in enabled)
        return super().decide(pending, [self.choose(enabled)], last)


def starting_waiting(world: World) -> Body:
    """A lock that others wait for, and a thread that begins while it is held."""
    yield world.acquire("lock")
    yield world.start(critical_sections(1))
    yield world.write("y", 1)
    yield world.start(waiting)
    yield world.release("lock")
    yield world.add("count")


def waiting(world: World) -> Body:
    yield world.wait("count", 1)
    yield world.acquire("lock")
    yield world.release("lock")


@pytest.mark.parametrize("seed", range(8))
def test_who_can_go_on_is_known_though_others_have_not_begun(seed: int) -> None:
    def independent(world: World) -> Body:
        for name in "abab":
            yield world.write(name, 1)
        yield world.acquire("lock")
        yield world.release("lock")
        yield world.read("y")

    program = Simulated([starting_waiting, independent])
    asking = Asking(seed)
    end = program.run(asking)
    graph, bounds = asking.graph, asking.bounds
    graph.arrive(end.pending)
    assert bounds.here()[0] == 0
    for counts in prefixes(graph):
        move_to(graph, counts)
        assert bounds.here()[0] == graph.enabled()[0], counts


@pytest.mark.parametrize("seed", range(30))
def test_the_cheapest_schedule_has_as_many_preemptions_as_it_must(seed: int) -> None:
    program = random_program(seed)
    graph, _ = recorded(program)
    watched = Watched(program)
    schedule, least = ContextBounds(graph).find_cheapest()
    again, _ = recorded(watched, schedule)
    assert again.hash == graph.hash
    assert program.preemptions == least


def test_work_is_shared_between_states() -> None:
    graph, _ = recorded(Simulated([writes("x", "x"), writes("y", "y")]))
    bounds = ContextBounds(graph)
    bounds.here()
    assert len(bounds.known) == 9, "three positions of each of two independent threads"
    known = dict(bounds.known)
    graph.back(0)
    assert bounds.here() is known[graph.hash]
    assert len(bounds.known) == 9


def test_limits_are_kept() -> None:
    graph, _ = recorded(Simulated([writes(*"x" * 60), writes(*"y" * 60)]))
    with pytest.raises(Exceeded, match="1,000 states"):
        ContextBounds(graph, max_states=1000).here()
    assert graph.counts == [60, 60], "the cursor is where it was"
    with pytest.raises(Exceeded, match="time"):
        ContextBounds(graph, deadline=0.0).here()
    bounds = ContextBounds(graph)
    bounds.allowance = Allowance(processor=0.0, world=math.inf)
    with pytest.raises(Exceeded, match=PROCESSOR_TIME):
        bounds.here()
