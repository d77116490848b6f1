"""Steps of the interpreter, held against docs/semantics.md sentence by sentence."""

from __future__ import annotations

from itertools import product

import pytest
from step_programs import (
    blocked_section,
    creation,
    merged_assume,
    passing_resets,
    section_counting,
    section_with_fault,
    two_choices,
    uneven_choices,
)
from tests.unit.ir.programs import FALSE, TRUE, Builder, equals, load, plus, put

from mazurka.ir import interpreter as module
from mazurka.ir.expressions import Binary, Const
from mazurka.ir.interpreter import Interpreter, Outcome, find_choice_bounds
from mazurka.ir.program import (
    FINISHED,
    IDLE,
    WRONG,
    Fault,
    Kind,
    Mode,
    Program,
)


def step_of(program: Program, choice: int = 0, thread: int = 0) -> module.Step:
    return Interpreter(program).step(program.initial_state(), thread, choice)


def test_choices_are_digits_the_first_edge_has_the_lowest() -> None:
    program = two_choices()
    assert find_choice_bounds(program, 0)[3] == 6  # 3 * 2
    reached = [step_of(program, choice).state[1:3] for choice in range(6)]
    assert reached == [(c % 3, c // 3) for c in range(6)]
    assert set(reached) == set(product(range(3), range(2)))


def test_a_choice_that_is_left_over_is_invalid() -> None:
    program = two_choices()
    step = step_of(program, 6)
    assert step.outcome is Outcome.INVALID
    assert (step.state, step.edges) == (program.initial_state(), ())


def test_each_combination_counts_once_where_paths_choose_differently() -> None:
    program = uneven_choices()
    assert find_choice_bounds(program, 0)[3] == 6
    # The first digit is c mod 2.  c = 1 ends there; c = 3, 5 leave 1, 2 over; c = 0, 2, 4 choose b.
    found = {choice: step.state[1:3] for choice, step in Interpreter(program).steps((0, 0, 0, 3))}
    assert found == {0: (0, 0), 1: (1, 0), 2: (0, 1), 4: (0, 2)}


def test_waiting_and_failing_with_a_choice_left_over_is_invalid_too() -> None:
    assert step_of(blocked_section(Kind.AWAIT), 1).outcome is Outcome.INVALID
    assert step_of(section_with_fault(), 1).outcome is Outcome.INVALID
    assert step_of(section_with_fault(), 0).outcome is Outcome.FAULT


def test_threads_at_reserved_locations_do_not_move() -> None:
    program = two_choices()
    outcomes = [
        Interpreter(program).step((0, 0, 0, location), 0).outcome
        for location in (FINISHED, WRONG, IDLE)
    ]
    assert outcomes == [Outcome.FINISHED, Outcome.STOPPED, Outcome.FINISHED]


@pytest.mark.parametrize(
    ("kinds", "outcome"),
    [
        ((Kind.ASSUME,), Outcome.STOPPED),
        ((Kind.ASSUME, Kind.ASSUME), Outcome.STOPPED),
        ((Kind.AWAIT,), Outcome.WAITS),
        ((Kind.ASSUME, Kind.AWAIT), Outcome.WAITS),
    ],
)
def test_stopped_only_if_every_edge_is_an_assumption(
    kinds: tuple[Kind, ...], outcome: Outcome
) -> None:
    builder = Builder()
    x = builder.shared("x", 0, 5)
    body = builder.thread()
    here = body.at()
    for value, kind in enumerate(kinds, 1):
        body.edge(here, FINISHED, kind=kind, guard=equals(x, value))
    program = builder.program()
    step = step_of(program)
    assert (step.outcome, step.edges) == (outcome, ())
    assert step.footprint_reads == {x}  # it reads what it waits for
    changed = Interpreter(program).step((0, 1, 3), 0)
    assert changed.outcome is Outcome.MOVED


def test_the_first_guard_that_holds_is_taken_and_later_ones_are_not_evaluated() -> None:
    builder = Builder()
    a, b, c = (builder.shared(name, 0, 1) for name in "abc")
    body = builder.thread()
    here = body.at()
    for cell in (a, b, c):
        body.edge(here, FINISHED, guard=equals(cell, 1))
    interpreter = Interpreter(builder.program())
    step = interpreter.step((0, 0, 1, 1, 3), 0)
    assert step.edges == (1,)
    assert step.footprint_reads == {a, b}
    assert interpreter.step((0, 0, 0, 1, 3), 0).footprint_reads == {a, b, c}


@pytest.mark.parametrize(
    ("kind", "outcome"), [(Kind.AWAIT, Outcome.WAITS), (Kind.ASSUME, Outcome.STOPPED)]
)
def test_an_atomic_section_that_cannot_go_on_has_not_happened(kind: Kind, outcome: Outcome) -> None:
    program = blocked_section(kind)
    step = step_of(program)
    assert (step.outcome, step.state, step.edges) == (outcome, program.initial_state(), ())
    assert 2 in step.footprint_reads
    possible = Interpreter(program).step((0, 0, 1, 3), 0)
    assert (possible.outcome, possible.state) == (Outcome.MOVED, (0, 1, 1, FINISHED))
    assert possible.edges == (0, 1)


def test_a_merged_assumption_that_fails_ends_the_step_and_keeps_its_effects() -> None:
    program = merged_assume()
    step = step_of(program)
    assert (step.outcome, step.state, step.edges) == (Outcome.MOVED, (0, 1, 4, 1), (0,))
    assert Interpreter(program).step(step.state, 0).outcome is Outcome.STOPPED
    later = Interpreter(program).step((0, 1, 4, 2), 0)
    assert (later.outcome, later.state) == (Outcome.MOVED, (0, 1, FINISHED, 2))


def test_resets_happen_where_the_thread_rests_not_where_it_passes() -> None:
    # p is 1 when r := p + 1 is computed, though the merged location would reset it to 7.
    assert step_of(passing_resets()).state == (0, 5, 1, 7, 2)


def test_a_fault_keeps_the_effects_so_far_and_leads_to_wrong() -> None:
    program = section_with_fault()
    step = step_of(program)
    assert (step.outcome, step.state) == (Outcome.FAULT, (0, 1, 1, WRONG))
    assert step.edges == (0, 1)
    assert step.fault is not None
    assert (step.fault.fault, step.fault.message) == (Fault.ASSERT, "x is 0")
    assert (step.fault.edge, step.fault.span.line) == (1, 2)
    assert Interpreter(program).step(step.state, 0).outcome is Outcome.STOPPED


def test_a_fault_in_a_guard_names_the_edge_of_the_guard() -> None:
    builder = Builder()
    x = builder.shared("x", 0, 1)
    body = builder.thread()
    here = body.at()
    body.edge(here, FINISHED, guard=equals(x, 1))
    body.edge(here, FINISHED, guard=Binary("div", Const(1), load(x)))
    step = step_of(builder.program())
    assert step.fault is not None
    assert (step.fault.fault, step.fault.edge, step.edges) == (Fault.EXCEPTION, 1, (1,))


@pytest.mark.parametrize(
    ("limit", "modulus", "expected"),
    [
        # Edges from inside the section: one for each count, and one that leaves it.
        (9, None, None),  # 9 + 1 = 10 edges: just within the limit
        (10, None, Fault.BOUND),  # 11 edges; it would have ended soon, so it is no livelock
        (99, 1, Fault.LIVELOCK),  # i stays 0: the situation comes up again after 1 edge
        (99, 3, Fault.LIVELOCK),  # again after 3 edges
        (99, 11, Fault.BOUND),  # again only after 11, beyond the limit
    ],
)
def test_livelock_and_bound(
    monkeypatch: pytest.MonkeyPatch, limit: int, modulus: int | None, expected: Fault | None
) -> None:
    monkeypatch.setattr(module, "ATOMIC_LIMIT", 10)
    step = step_of(section_counting(limit, modulus))
    assert (step.fault.fault if step.fault else None) == expected
    if expected is None:
        assert step.state == (0, FINISHED, 9)
    else:
        assert step.state[1] == WRONG


def test_a_section_may_take_65536_edges_and_no_more() -> None:
    assert step_of(section_counting(65_535)).outcome is Outcome.MOVED
    too_long = step_of(section_counting(65_536)).fault
    assert too_long is not None
    assert (too_long.fault, too_long.message) == (
        Fault.BOUND,
        "an atomic section takes more than 65,536 steps",
    )


def test_edges_outside_sections_do_not_count_against_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "ATOMIC_LIMIT", 2)
    builder = Builder()
    body = builder.thread()
    i = body.local("i", 0, 9)
    here = body.at()
    for _ in range(5):
        after = body.at(Mode.MERGED)
        body.edge(here, after, put(i, plus(i, 1)), kind=Kind.LOCAL)
        here = after
    body.edge(here, FINISHED, kind=Kind.LOCAL)
    step = step_of(builder.program())
    assert (step.outcome, step.state) == (Outcome.MOVED, (0, FINISHED, 5))


def test_footprints_leave_out_own_locals_and_keep_those_of_others() -> None:
    program = creation()
    interpreter = Interpreter(program)
    first = step_of(program)
    assert (first.footprint_reads, first.footprint_writes) == (set(), {3})
    second = interpreter.step(first.state, 0)
    assert second.footprint_writes == {2}  # the counter of the thread it starts
    own = interpreter.step(second.state, 1)
    assert own.state == (0, FINISHED, FINISHED, 0)
    assert (own.footprint_reads, own.footprint_writes) == (set(), set())
    assert [(access.address, access.value) for access in own.accesses] == [(3, 0)]


def test_a_thread_that_is_not_created_yet_reads_its_counter() -> None:
    program = creation()
    idle = step_of(program, thread=1)
    assert (idle.outcome, idle.footprint_reads) == (Outcome.FINISHED, {2})
    ended = Interpreter(program).step((0, 0, FINISHED, 0), 1)
    assert (ended.outcome, ended.footprint_reads) == (Outcome.FINISHED, set())


def test_a_condition_that_always_or_never_holds() -> None:
    for guard, outcome in ((TRUE, Outcome.MOVED), (FALSE, Outcome.WAITS)):
        builder = Builder()
        body = builder.thread()
        body.edge(body.at(), FINISHED, kind=Kind.AWAIT, guard=guard)
        assert step_of(builder.program()).outcome is outcome


def test_steps_lists_threads_that_cannot_move() -> None:
    program = creation()
    found = [(choice, step.thread, step.outcome) for choice, step in
             Interpreter(program).steps(program.initial_state())]  # fmt: skip
    assert found == [(0, 0, Outcome.MOVED), (0, 1, Outcome.FINISHED)]
