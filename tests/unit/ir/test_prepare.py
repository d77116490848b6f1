"""The passes together: what a program becomes before it is searched."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.ir.programs import Builder, crossed_locks, equals, load, lost_update, plus, put

from mazurka.ir.passes.prepare import prepare
from mazurka.ir.passes.validate import MalformedProgramError, validate
from mazurka.ir.program import FINISHED, Cell, Check, Fault, Kind, Mode, Program
from mazurka.stateful.reference.full import explore


def locked_counter() -> Program:
    """Two threads: take the lock, x := x + 1 through a local, give the lock back, checked."""
    builder = Builder()
    lock = builder.lock()
    x = builder.shared("x", 0, 2)
    for number in range(2):
        body = builder.thread()
        local = builder.add(Cell("local", 0, 0, owner=number, inferred=True))
        start, reading, adding, writing, leaving = (body.at() for _ in range(5))
        body.acquire(start, reading, lock)
        body.edge(reading, adding, put(local, load(x)))
        body.edge(adding, writing, put(local, plus(local, 1)), kind=Kind.LOCAL)
        body.edge(writing, leaving, put(x, load(local)))
        held = Check(equals(lock, number + 1), Fault.LOCK, "not held")
        body.edge(leaving, FINISHED, held, put(lock, 0), kind=Kind.RELEASE)
    return builder.program()


def test_ranges_are_inferred_checks_dropped_locals_merged_and_reset() -> None:
    raw = locked_counter()
    done = prepare(raw)
    assert not any(cell.inferred for cell in done.cells)
    assert (done.cells[4].low, done.cells[4].high) == (0, 3)  # x, which is 0..2, and x plus one
    assert not any(isinstance(o, Check) for edge in done.edges for o in edge.operations)
    assert [place.mode for place in done.threads[0].locations].count(Mode.MERGED) == 1
    assert any(place.resets for place in done.threads[0].locations)
    validate(done)


def test_without_merging_every_location_stays_visible() -> None:
    done = prepare(locked_counter(), merge=False)
    assert {place.mode for thread in done.threads for place in thread.locations} == {Mode.VISIBLE}


def test_counts_with_and_without_merging() -> None:
    """A thread works alone while it holds the lock, so its stretches lie one behind the other.

    Without merging a thread passes 4 locations inside; with it 3 (the addition goes with the
    reading).  Outside, each thread is before or behind its turn, and x counts the turns that are
    over: (before, before), (before, behind), (behind, before), (behind, behind) make 4 states.
    A stretch belongs to either thread with the other before or behind: 4 stretches.
    """
    assert len(explore(prepare(locked_counter(), merge=False)).states) == 4 + 4 * 4
    assert len(explore(prepare(locked_counter())).states) == 4 + 4 * 3


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize(
    ("program", "kinds"), [(lost_update(), {"race"}), (crossed_locks(), {"deadlock"})]
)
def test_violations_are_kept(program: Program, kinds: set[str], merge: bool) -> None:
    assert explore(program).kinds == kinds
    assert explore(prepare(program, merge=merge)).kinds == kinds


def test_preparing_twice_changes_nothing_more() -> None:
    once = prepare(locked_counter())
    twice = prepare(once)
    assert len(explore(twice).states) == len(explore(once).states)


def test_malformed_programs_are_refused() -> None:
    program = lost_update()
    with pytest.raises(MalformedProgramError):
        prepare(replace(program, cells=program.cells[1:]))


def test_the_raw_program_is_left_alone() -> None:
    raw, same = locked_counter(), locked_counter()
    prepare(raw)
    assert raw == same
