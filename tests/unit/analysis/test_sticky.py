"""Without the sticky locations no thread can go round; where no thread can, there are none."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.soundness.disciplined_programs import disciplined_program
from tests.soundness.profiles import random_programs
from tests.soundness.random_programs import random_program
from tests.unit.ir.programs import Body, Builder, put

from mazurka.analysis.futures import find_sticky_locations
from mazurka.analysis.ownership import reach
from mazurka.analysis.restarts import find_restartable_threads
from mazurka.ir.program import FINISHED, FIRST_LOCATION, IDLE, Kind, Mode, Program


def goes_round(program: Program, number: int, without: frozenset[int]) -> bool:
    """Whether some closed walk of a thread's steps avoids certain locations."""
    thread = program.threads[number]
    left = {
        location: set(reach(thread, location).rests)
        for location in range(FIRST_LOCATION, len(thread.locations))
        if thread.locations[location].mode is not Mode.ATOMIC and location not in without
    }
    while ends := [place for place, after in left.items() if not after & left.keys()]:
        for place in ends:
            del left[place]
    return bool(left)


@settings(parent=random_programs, max_examples=60)
@given(st.randoms(use_true_random=False))
def test_every_cycle_is_broken(rng: Random) -> None:
    for program in (random_program(rng), disciplined_program(rng)):
        again = find_restartable_threads(program)
        for number, sticky in enumerate(find_sticky_locations(program)):
            assert not goes_round(program, number, sticky)
            if number not in again and not goes_round(program, number, frozenset()):
                assert not sticky


def body_with_arcs(builder: Builder, locations: int, *arcs: tuple[int, int]) -> Body:
    body = builder.thread()
    for _ in range(locations):
        body.at()
    for source, target in arcs:
        body.edge(source, target)
    return body


def sticky(locations: int, *arcs: tuple[int, int]) -> frozenset[int]:
    builder = Builder()
    body_with_arcs(builder, locations, *arcs)
    return find_sticky_locations(builder.program())[0]


def test_heads_of_loops() -> None:
    assert sticky(3, (3, 4), (4, 5), (5, FINISHED), (3, FINISHED)) == set()
    assert sticky(1, (3, 3)) == {3}
    assert sticky(3, (3, 4), (4, 5), (5, 4), (4, FINISHED)) == {4}
    assert sticky(4, (3, 4), (4, 5), (5, 5), (5, 6), (6, 3)) == {3, 5}


def test_loop_through_a_section() -> None:
    """Nobody rests inside: the step leads from 3 back to 3."""
    builder = Builder()
    body = builder.thread()
    start, inside = body.at(), body.at(Mode.ATOMIC)
    body.edge(start, inside, atomic=True)
    body.edge(inside, start, atomic=True)
    assert find_sticky_locations(builder.program()) == [{start}]


def test_beginning_of_a_thread_that_is_started_again() -> None:
    for again in (False, True):
        builder = Builder()
        creator, worker = builder.thread(), builder.thread(active=False)
        here = creator.at()
        start = put(worker.counter, FIRST_LOCATION)
        target = here if again else FINISHED
        creator.edge(here, target, start, kind=Kind.CREATE, atomic=True)
        worker.line(put(builder.shared("x", 0, 1), 1))
        program = builder.program()
        assert program.cells[worker.counter].initial == IDLE
        expected = frozenset({FIRST_LOCATION}) if again else frozenset()
        assert find_sticky_locations(program)[1] == expected
