"""One step a line: which locations disappear inside a step, and that nothing new can happen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.soundness.profiles import random_programs
from tests.soundness.random_programs import random_program
from tests.unit.ir.programs import Builder, equals, load, plus, put

from mazurka.frontend.python import load_model
from mazurka.ir.expressions import Choice, negate
from mazurka.ir.passes.merge import Granularity, merge_lines
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.passes.validate import validate
from mazurka.ir.program import FINISHED, Edge, Kind, Mode, Program, Span
from mazurka.stateful.reference.full import StateSpace, explore

VISIBLE, MERGED, ATOMIC = Mode.VISIBLE, Mode.MERGED, Mode.ATOMIC
X, LOCAL = 1, 3
"""Every thread below is the only one: cell 1 is shared, 2 its counter, 3 its local."""
STATES = 2000


def edge(source: int, target: int, *operations: object, line: int = 1, **options: object) -> Edge:
    body = Builder().thread()
    body.edge(source, target, *operations, **options)  # type: ignore[arg-type]
    return replace(body.edges[0], span=Span("lines.py", line))


def behind_a_write(*edges: Edge, modes: tuple[Mode, ...] = (VISIBLE,)) -> Program:
    """A write to x on line 1, from location 3 to location 4, and the given edges from there on."""
    builder = Builder()
    x = builder.shared("x", 0, 3)
    body = builder.thread()
    body.local("local", 0, 3)
    body.at()
    for mode in modes:
        body.at(mode)
    body.edges += [edge(3, 4, put(x, 1)), *edges]
    return builder.program()


def modes(program: Program) -> list[Mode]:
    result = merge_lines(program)
    validate(result)
    return [location.mode for location in result.threads[0].locations[4:]]


@pytest.mark.parametrize(
    ("following", "mode"),
    [
        (edge(4, FINISHED, put(X, 2)), ATOMIC),
        (edge(4, FINISHED, put(X, 2), line=2), VISIBLE),
        (replace(edge(4, FINISHED), span=Span("other.py", 1)), VISIBLE),
        (edge(4, FINISHED, kind=Kind.RELEASE), ATOMIC),
        (edge(4, FINISHED, kind=Kind.WAIT), ATOMIC),
        (edge(4, FINISHED, put(LOCAL, Choice()), kind=Kind.CHOOSE, choices=2), ATOMIC),
        (edge(4, FINISHED, kind=Kind.ACQUIRE, guard=equals(X, 0)), VISIBLE),
        (edge(4, FINISHED, kind=Kind.ACCESS, guard=equals(X, 0)), VISIBLE),
        (edge(4, FINISHED, kind=Kind.ASSUME), VISIBLE),
        (edge(4, FINISHED, kind=Kind.JOIN), VISIBLE),
        (edge(4, FINISHED, kind=Kind.YIELD), VISIBLE),
    ],
)
def test_a_line_goes_on_unless_its_thread_may_have_to_wait(following: Edge, mode: Mode) -> None:
    assert modes(behind_a_write(following)) == [mode]


def test_a_branch_goes_on_only_if_one_guard_always_holds() -> None:
    zero = equals(X, 0)
    then, otherwise = edge(4, FINISHED, guard=zero), edge(4, FINISHED, guard=negate(zero))
    assert modes(behind_a_write(then, otherwise)) == [ATOMIC]
    assert modes(behind_a_write(then, edge(4, FINISHED, guard=equals(X, 1)))) == [VISIBLE]


def test_a_location_that_two_lines_lead_to_begins_a_step() -> None:
    """Location 5 is reached from line 1 by way of 4, and from line 2 by way of 6."""
    found = modes(
        behind_a_write(
            edge(4, 5, guard=equals(LOCAL, 0)),
            edge(4, 6, guard=negate(equals(LOCAL, 0))),
            edge(6, 5, line=2),
            edge(5, FINISHED),
            modes=(VISIBLE, VISIBLE, VISIBLE),
        )
    )
    assert found == [ATOMIC, VISIBLE, VISIBLE]


def test_a_loop_on_one_line_can_be_interrupted() -> None:
    """4, 5, 6 and round again: at one of them the thread rests, so no step goes on for ever."""
    around = (edge(4, 5), edge(5, 6), edge(6, 4))
    found = modes(behind_a_write(*around, modes=(VISIBLE,) * 3))
    assert sorted(found) == [ATOMIC, ATOMIC, VISIBLE]
    program = merge_lines(behind_a_write(*around, modes=(VISIBLE,) * 3))
    assert explore(program).kinds == set()


def test_an_atomic_section_is_not_drawn_into_the_step_before_it() -> None:
    """It may have to wait inside; the write before it must happen all the same."""
    enter = edge(4, 5, atomic=True)
    leave = edge(5, FINISHED, atomic=True, kind=Kind.ASSUME, guard=equals(X, 0))
    program = behind_a_write(enter, leave, modes=(VISIBLE, ATOMIC))
    assert modes(program) == [VISIBLE, ATOMIC]
    assert {state[X] for state in explore(merge_lines(program)).states} == {0, 1}


def test_what_follows_an_atomic_section_on_its_line_belongs_to_its_step() -> None:
    inside, after = edge(4, 5, atomic=True), edge(5, FINISHED, put(X, 2))
    assert modes(behind_a_write(inside, after, modes=(ATOMIC, VISIBLE))) == [ATOMIC, ATOMIC]


def test_merged_locations_stay_and_begin_nothing_atomic() -> None:
    local, after = edge(4, 5, put(LOCAL, 1), kind=Kind.LOCAL), edge(5, FINISHED, put(X, 2))
    assert modes(behind_a_write(local, after, modes=(MERGED, VISIBLE))) == [MERGED, VISIBLE]


def test_where_a_thread_starts_stays_visible() -> None:
    """The loop leads back to the entry, all on one line."""
    program = behind_a_write(edge(4, 3))
    found = merge_lines(program).threads[0].locations
    assert [place.mode for place in found[3:]] == [VISIBLE, ATOMIC]


LOST_UPDATE = """
from mazurka.model import Int, join, spawn

x: Int[0, 2] = 0


def worker():
    global x
    x += 1


def main():
    one = spawn(worker)
    other = spawn(worker)
    join(one); join(other)
    assert x == 2


main()
"""


@pytest.mark.parametrize(
    ("granularity", "kinds"),
    [(None, {"assert"}), (Granularity.INSTRUCTION, {"assert"}), (Granularity.LINE, set())],
)
def test_a_lost_update_on_one_line(
    tmp_path: Path, granularity: Granularity | None, kinds: set[str]
) -> None:
    """Read and write are one step at line granularity: the second adds to what the first wrote."""
    path = tmp_path / "lost.py"
    path.write_text(LOST_UPDATE)
    program = prepare(load_model(path), granularity=granularity)
    assert explore(program, races=False).kinds == kinds


LOCKS_ON_ONE_LINE = """
from mazurka.model import Mutex

a, b = Mutex(), Mutex()


def one():
    a.acquire(); b.acquire(); b.release(); a.release()


def other():
    b.acquire(); a.acquire(); a.release(); b.release()


threads = [one(), other()]
"""


def test_a_thread_can_be_interrupted_where_it_waits_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "locks.py"
    path.write_text(LOCKS_ON_ONE_LINE)
    program = prepare(load_model(path), granularity=Granularity.LINE)
    assert explore(program).kinds == {"deadlock"}


def with_longer_lines(program: Program, rng: Random) -> Program:
    """Random programs have a line for each edge; here neighbours share one."""
    width = rng.randint(2, 6)

    def moved(given: Edge) -> Edge:
        return replace(given, span=Span(given.span.file, given.span.line // width))

    threads = tuple(
        replace(thread, edges=tuple(map(moved, thread.edges))) for thread in program.threads
    )
    return replace(program, threads=threads)


def shared_values(program: Program, found: StateSpace) -> set[tuple[int, ...]]:
    shared = [address for address, cell in enumerate(program.cells) if cell.owner is None]
    return {tuple(state[address] for address in shared) for state in found.states}


@settings(random_programs, max_examples=80)
@given(rng=st.randoms(use_true_random=False), faults=st.booleans())
def test_nothing_new_happens(rng: Random, faults: bool) -> None:
    fine = with_longer_lines(random_program(rng, faults=faults), rng)
    coarse = merge_lines(fine)
    validate(coarse)
    whole = explore(fine, races=False, limit=STATES)
    if not whole.complete:
        return
    found = explore(coarse, races=False)
    assert shared_values(coarse, found) <= shared_values(fine, whole)
    assert set(found.states) <= set(whole.states)
    assert set(found.deadlocks) <= set(whole.deadlocks)
    assert found.kinds <= whole.kinds


def test_the_random_programs_do_become_smaller() -> None:
    """So that the test above compares different programs."""
    smaller = 0
    for seed in range(30):
        rng = Random(seed)
        fine = with_longer_lines(random_program(rng), rng)
        counts = [len(explore(it, races=False, limit=STATES).states) for it in (
            fine, merge_lines(fine)
        )]  # fmt: skip
        smaller += counts[1] < counts[0]
    assert smaller >= 10


def test_a_longer_read_and_write_is_one_step() -> None:
    """`x = x + 1` by way of a local: three steps become one."""
    read = edge(4, 5, put(LOCAL, load(X)))
    write = edge(5, FINISHED, put(X, plus(LOCAL, 1)))
    program = behind_a_write(read, write, modes=(VISIBLE, VISIBLE))
    assert len(explore(program).states) == 4
    assert len(explore(merge_lines(program)).states) == 2
