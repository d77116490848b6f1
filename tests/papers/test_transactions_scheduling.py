"""Where commit point completion schedules the other threads in the figures of paper 000.

Counted are the states in which T2 (in Fig. 3 T2 and T3, too) has not moved, T1 has committed, and
all threads are explored: the places at which T1's transaction was ended.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka.checking import load_program
from mazurka.ir.program import FINISHED, Program
from mazurka.search.reading import Reading
from mazurka.stateful.reference.cpc import Transactions, assert_theorem_2, explore_transactions
from mazurka.stateful.variants import Completion

HERE = Path(__file__).parent / "transactions"


def figure(name: str) -> Program:
    return load_program(str(HERE / f"{name}.py"), Reading(merge=False))


def ends(done: Transactions) -> list[int]:
    """The locations of T1 at which the other threads were scheduled once it had committed."""
    program = done.program
    start = program.initial_state()
    others = [thread.counter for thread in program.threads[1:]]
    return [
        state[program.threads[0].counter]
        for state in done.scheduled
        if state != start and all(state[counter] == start[counter] for counter in others)
    ]


def search(name: str, completion: Completion) -> Transactions:
    done, _ = explore_transactions(figure(name), completion)
    if completion in (Completion.COMMIT_POINTS, Completion.EVERY_STATE):
        assert_theorem_2(done)
    return done


def commit_point(program: Program) -> int:
    """Where T1 stands right after its first step, L0."""
    return program.threads[0].edges[program.threads[0].outgoing[program.threads[0].entry][0]].target


@pytest.mark.parametrize("completion", [Completion.COMMIT_POINTS, Completion.EVERY_STATE])
def test_figure_1_completes_at_the_commit_point_or_in_the_loop(completion: Completion) -> None:
    """L1 to L3 never end: with L19 T2 runs at the commit point, without it in the loop."""
    done = search("fig1", completion)
    (place,) = ends(done)
    at_commit_point = place == commit_point(done.program)
    assert at_commit_point == (completion is Completion.COMMIT_POINTS)


def test_figure_2_does_not_schedule_t2_at_the_commit_point() -> None:
    """One branch returns, so the commit point reaches an end: T2 runs there only."""
    done = search("fig2", Completion.COMMIT_POINTS)
    assert ends(done) == [FINISHED]


def test_figure_2_without_l19_also_ends_the_loop() -> None:
    """Every committed state must reach an end, those of the endless loop do not."""
    places = ends(search("fig2", Completion.EVERY_STATE))
    assert len(places) == 2
    assert FINISHED in places


def test_figure_2_cycle_detection_schedules_t2_in_the_loop() -> None:
    places = ends(search("fig2", Completion.CYCLES))
    assert len(places) == 2
    assert FINISHED in places


def test_the_assume_variant_schedules_t2_where_t1_is_stuck() -> None:
    """No cycle, no end: the thread that cannot go on ends its transaction where it stands."""
    done = search("fig2_assume", Completion.COMMIT_POINTS)
    (place,) = ends(done)
    assert place != commit_point(done.program)
    assert not any(edge.guard is None for edge in done.program.threads[0].edges_at(place))


def test_figure_3_has_a_commit_point_at_the_release() -> None:
    """y := 42 commits; rel(m), a pure left mover, makes another commit point, where T2 can lock m.

    The first commit point reaches the second by left movers, so only the second is completed.
    """
    done = search("fig3", Completion.COMMIT_POINTS)
    lock = next(a for a, cell in enumerate(done.program.cells) if cell.name == "m")
    x = next(a for a, cell in enumerate(done.program.cells) if cell.name == "x")
    y = next(a for a, cell in enumerate(done.program.cells) if cell.name == "y")
    start = done.program.initial_state()
    others = [thread.counter for thread in done.program.threads[1:]]
    seen = [
        (state[lock], state[x], state[y])
        for state in done.scheduled
        if state != start and all(state[counter] == start[counter] for counter in others)
    ]
    assert (0, 1, 42) in seen


def test_figure_8_schedules_t2_once() -> None:
    """Two endless loops, one commit point."""
    done = search("fig8", Completion.COMMIT_POINTS)
    assert ends(done) == [commit_point(done.program)]


def test_figure_8_without_l19_schedules_t2_in_each_loop() -> None:
    done = search("fig8", Completion.EVERY_STATE)
    places = ends(done)
    assert len(places) == 2
    assert commit_point(done.program) not in places
