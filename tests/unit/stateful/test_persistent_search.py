"""Persistent sets in native code: tables that grow, long rows, steps without successor, limits."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from searching import MEMORY, shows
from tests.unit.ir.programs import (
    Body,
    Builder,
    crossed_locks,
    equals,
    load,
    lost_update,
    modular_counters,
    plus,
    put,
)

from mazurka.errors import InternalError
from mazurka.ir.expressions import Binary, Choice, Const
from mazurka.ir.native.step import native
from mazurka.ir.program import FINISHED, Assign, Check, Fault, Kind, Mode, Program
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.search.registry import load_strategy
from mazurka.stateful.reference.full import explore
from mazurka.stateful.reference.stubborn import explore_persistent
from mazurka.stateful.searches.persistent import PersistentSearch, Sets, search_persistent
from mazurka.stateful.self_check import check_persistent
from mazurka.stateful.variants import Proviso, Relation

WAYS = list(product(Relation, Proviso))
every_way = pytest.mark.parametrize(("relation", "proviso"), WAYS)
STRATEGIES = ("stubborn", "lock-patterns", "ample")


def search(
    program: Program,
    relation: Relation = Relation.STATIC,
    proviso: Proviso = Proviso.STACK,
    **options: object,
) -> SearchResult:
    chosen = SearchOptions(**{"limit_bytes": MEMORY, **options})  # type: ignore[arg-type]
    how = Sets(relation=relation, proviso=proviso)
    return search_persistent(native(program), chosen, Silent(), how)


def counts(result: SearchResult) -> tuple[int, int]:
    return result.statistics.states, result.statistics.transitions


def assert_as_written(program: Program, relation: Relation, proviso: Proviso) -> SearchResult:
    written = explore_persistent(program, relation=relation, proviso=proviso)
    found = search(program, relation, proviso, stop_at_first=False)
    assert counts(found) == (len(written.states), written.transitions)
    assert (found.violation is not None) == bool(written.kinds - {"bound"})
    return found


def require(body: Body, here: int, there: int, address: int, value: int) -> None:
    """An edge that fails unless a cell has this value."""
    check = Check(equals(address, value), Fault.ASSERT, "another value")
    body.edge(here, there, check, kind=Kind.ASSERT)


def takers(threads: int, locks: int, rounds: int = 1) -> Program:
    """Each thread takes two neighbouring locks in turn, and gives them back: they may deadlock."""
    builder = Builder()
    owned = [builder.lock(f"lock{number}") for number in range(locks)]
    for number in range(threads):
        body = builder.thread()
        here = body.at()
        for _ in range(rounds):
            first, second = owned[number % locks], owned[(number + 1) % locks]
            there, inside, behind = body.at(), body.at(), body.at()
            body.acquire(here, there, first)
            body.acquire(there, inside, second)
            body.edge(inside, behind, put(second, 0), kind=Kind.RELEASE)
            here = body.at()
            body.edge(behind, here, put(first, 0), kind=Kind.RELEASE)
        body.edge(here, FINISHED, kind=Kind.EXIT)
    return builder.program()


@pytest.mark.parametrize("relation", [Relation.STATIC, Relation.LOCK_PATTERNS])
def test_threads_that_have_nothing_in_common_run_one_after_the_other(relation: Relation) -> None:
    builder = Builder()
    for number in range(5):
        cell = builder.shared(f"c{number}", 0, 3)
        builder.thread().line(*[put(cell, plus(cell, 1))] * 3)
    assert counts(search(builder.program(), relation)) == (16, 15)


@every_way
def test_conflicts_beyond_the_first_word_of_a_row_count(
    relation: Relation, proviso: Proviso
) -> None:
    """70 cells in conflict; only the order of the steps on the last one decides."""
    builder = Builder()
    cells = [builder.shared(f"c{number}", 0, 1) for number in range(70)]
    writer, reader = builder.thread(), builder.thread()
    writer.line(*(put(cell, 1) for cell in cells[-1:]))
    here = reader.at()
    require(reader, here, FINISHED, cells[-1], 0)
    for number in range(2):
        body = builder.thread()
        start, inside = body.at(), body.at()
        body.edge(start, inside, *(put(cell, number) for cell in cells[:-1]), atomic=True)
        body.edge(inside, FINISHED, atomic=True)
    found = assert_as_written(builder.program(), relation, proviso)
    assert found.violation is not None
    assert found.violation.kind == "assert"


@every_way
def test_table_of_patterns_grows(relation: Relation, proviso: Proviso) -> None:
    assert_as_written(takers(5, 5), relation, proviso)


def test_every_set_of_locks_has_a_pattern() -> None:
    program = takers(5, 5)
    options = SearchOptions(limit_bytes=MEMORY, stop_at_first=False)
    how = Sets(relation=Relation.LOCK_PATTERNS)
    running = PersistentSearch(native(program), options, Silent(), how)
    running.run()
    held = {frozenset(lock for lock in range(1, 6) if state[lock] == thread + 1)
            for state in explore(program, races=False).states for thread in range(5)}  # fmt: skip
    assert set(running.tables.patterns) <= held
    assert len(running.tables.patterns) == len(set(running.tables.patterns)) > 8


def test_locks_without_a_bit_only_make_sets_larger() -> None:
    """The last of 65 locks does not fit; its holder is interrupted as without patterns."""
    last = searched_with_locks(64)
    first = searched_with_locks(0)
    assert counts(first[Relation.STATIC]) == counts(last[Relation.STATIC])
    assert counts(last[Relation.LOCK_PATTERNS]) == counts(last[Relation.STATIC])
    assert counts(first[Relation.LOCK_PATTERNS])[1] < counts(last[Relation.LOCK_PATTERNS])[1]


def searched_with_locks(used: int) -> dict[Relation, SearchResult]:
    """Two threads write x under one of 65 locks, and z before and after, where none is held."""
    builder = Builder()
    locks = [builder.lock(f"lock{number}") for number in range(65)]
    x, z = builder.shared("x", 0, 1), builder.shared("z", 0, 1)
    for number in range(2):
        body = builder.thread()
        places = [body.at() for _ in range(5)]
        body.edge(places[0], places[1], put(z, number))
        body.acquire(places[1], places[2], locks[used])
        body.edge(places[2], places[3], put(x, number))
        body.edge(places[3], places[4], put(locks[used], 0), kind=Kind.RELEASE)
        body.edge(places[4], FINISHED, put(z, number))
    program = builder.program()
    return {relation: search(program, relation, stop_at_first=False) for relation in Relation}


@every_way
def test_footprints_of_any_length_are_recorded(relation: Relation, proviso: Proviso) -> None:
    """The last of 200 cells that one step writes is the one that matters."""
    builder = Builder()
    cells = [builder.shared(f"c{number}", 0, 1) for number in range(200)]
    for number in range(2):
        body = builder.thread()
        start, inside = body.at(), body.at()
        body.edge(start, inside, *(put(cell, number) for cell in cells), atomic=True)
        require(body, inside, FINISHED, cells[-1], number)
    found = assert_as_written(builder.program(), relation, proviso)
    assert found.violation is not None


def goes_round(body: Body, *operations: Assign) -> None:
    """A loop of as many steps as there are operations."""
    places = [body.at() for _ in operations]
    for here, there, operation in zip(places, places[1:] + places[:1], operations, strict=True):
        body.edge(here, there, operation)


@pytest.mark.parametrize("relation", Relation)
def test_thread_that_closes_a_cycle_gives_way_to_the_next(relation: Relation) -> None:
    """A loop of two steps beside one of three, with nothing in common.

    The first thread goes round once where the second one stands, which then makes a step; at the
    last of the six states both threads lead back, and both are explored: 5 + 2 transitions.
    """
    builder = Builder()
    for name, steps in (("x", 2), ("y", 3)):
        cell = builder.shared(name, 0, 2)
        goes_round(
            builder.thread(), *(put(cell, number) for number in range(1, steps)), put(cell, 0)
        )
    found = assert_as_written(builder.program(), relation, Proviso.STACK)
    assert counts(found) == (6, 7)


@pytest.mark.parametrize("relation", [Relation.STATIC, Relation.LOCK_PATTERNS])
def test_cycle_through_a_state_explored_in_full_is_no_reason_to_explore_more(
    relation: Relation,
) -> None:
    """One thread goes round between a write of z and a step of its own, the other writes z once.

    Both are explored from the initial state, which is on the stack when the loop comes back to it;
    so the other thread has no turn inside of the loop.  Then the first one is alone: three states.
    """
    builder = Builder()
    z, x = builder.shared("z", 0, 1), builder.shared("x", 0, 0)
    goes_round(builder.thread(), put(z, 0), put(x, 0))
    builder.thread().line(put(z, 1))
    found = assert_as_written(builder.program(), relation, Proviso.STACK)
    assert counts(found) == (5, 6)


@every_way
def test_step_without_end_hides_no_other_thread(relation: Relation, proviso: Proviso) -> None:
    """It gives way to the step that fails; from there nothing is left but itself."""
    builder = Builder()
    stuck, failing = builder.thread(), builder.thread()
    here, inside = stuck.at(), stuck.at(Mode.ATOMIC)
    stuck.edge(here, inside, atomic=True)
    stuck.edge(inside, inside, atomic=True)
    never = Check(Const(0), Fault.ASSERT, "always")
    failing.edge(failing.at(), FINISHED, never, kind=Kind.ASSERT)
    found = assert_as_written(builder.program(), relation, proviso)
    assert counts(found) == (2, 2)


@every_way
@pytest.mark.parametrize("program", [crossed_locks(), lost_update()], ids=["locks", "update"])
def test_schedules_lead_to_the_violation(
    program: Program, relation: Relation, proviso: Proviso
) -> None:
    found = search(program, relation, proviso)
    assert (found.violation is None) == (not explore(program, races=False).kinds)
    if found.violation is not None:
        assert shows(program, found.violation)


@every_way
def test_schedules_name_the_choices(relation: Relation, proviso: Proviso) -> None:
    builder = Builder()
    x, y = builder.shared("x", 0, 4), builder.shared("y", 0, 4)
    for cell in (x, y):
        body = builder.thread()
        body.edge(body.at(), FINISHED, put(cell, Choice()), kind=Kind.CHOOSE, choices=5)
    watcher = builder.thread()
    total = Binary("add", load(x), load(y))
    check = Check(Binary("ne", total, Const(7)), Fault.ASSERT, "seven")
    watcher.edge(watcher.at(), FINISHED, check, kind=Kind.ASSERT)
    program = builder.program()
    found = search(program, relation, proviso)
    assert found.violation is not None
    assert shows(program, found.violation)
    assert sum(move.choice for move in found.violation.path) == 7
    assert_as_written(program, relation, proviso)


@every_way
def test_observer_that_can_move_does_not_hide_a_deadlock(
    relation: Relation, proviso: Proviso
) -> None:
    builder = Builder()
    x, y = builder.shared("x", 0, 1), builder.shared("y", 0, 1)
    observer = builder.thread(observer=True)
    here = observer.at()
    observer.edge(here, here, Check(equals(y, 0), Fault.ASSERT, "y"), kind=Kind.ASSERT)
    waiting = builder.thread()
    waiting.edge(waiting.at(), FINISHED, kind=Kind.AWAIT, guard=equals(x, 1))
    found = search(builder.program(), relation, proviso)
    assert found.violation is not None
    assert found.violation.kind == "deadlock"
    assert found.violation.path == ()


def test_many_threads_are_searched_without_reduction() -> None:
    """Each waits for the one before it: as many states as threads, and one."""
    builder = Builder()
    x = builder.shared("x", 0, 65)
    for number in range(65):
        body = builder.thread()
        guard = equals(x, number)
        body.edge(body.at(), FINISHED, put(x, number + 1), kind=Kind.AWAIT, guard=guard)
    found = search(builder.program())
    assert counts(found) == (66, 65)
    assert found.notes == ("not reduced: persistent sets take at most 64 threads, not 65",)


def test_observer_that_meddles_keeps_everything_unreduced() -> None:
    builder = Builder()
    x = builder.shared("x", 0, 1)
    observer = builder.thread(observer=True)
    observer.line(put(x, 1))
    builder.thread().line(put(x, 0))
    program = builder.program()
    found = search(program, stop_at_first=False)
    assert counts(found) == (len(explore(program).states), explore(program).transitions)
    (note,) = found.notes
    assert "observer" in note


@pytest.mark.parametrize(
    ("limit", "expected"), [({"limit_seconds": 0.0}, "time"), ({"limit_bytes": 1 << 17}, "memory")]
)
def test_limits_end_the_search(limit: dict[str, float], expected: str) -> None:
    program = modular_counters(4, 20)
    found = search(program, Relation.AMPLE, Proviso.STICKY, **limit)
    assert found.limits == (expected,)
    assert found.violation is None


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("proviso", ["stack", "sticky"])
def test_strategies_check_themselves(name: str, proviso: str) -> None:
    strategy = load_strategy(name)
    options = SearchOptions(
        tuning={"proviso": proviso}, self_check=True, stop_at_first=False, limit_bytes=MEMORY
    )
    result = strategy.run(takers(3, 3), options, Silent())
    (note,) = result.notes
    assert note == (
        f"self-check: the interpreter's search of {result.statistics.states:,} states agrees"
    )


def test_self_check_sees_a_state_too_few() -> None:
    program = takers(3, 3)
    options = SearchOptions(stop_at_first=False, limit_bytes=MEMORY)
    found = search(program, stop_at_first=False)
    fewer = replace(found.statistics, states=found.statistics.states - 1)
    wrong = replace(found, statistics=fewer)
    with pytest.raises(InternalError, match="transitions, but"):
        check_persistent(program, options, Relation.STATIC, Proviso.STACK, wrong)
    silent = replace(found, violation=None)
    with pytest.raises(InternalError, match="does not agree"):
        check_persistent(program, options, Relation.STATIC, Proviso.STACK, silent)
