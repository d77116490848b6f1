"""Searches over canonical states: exact counts, and traces in the threads' own numbers.

n threads that do not touch each other and have k local states each are in k^n states; up to
renaming only the number of threads in each local state matters, so there are as many states as
multisets of n out of k: C(n + k - 1, n).
"""

from __future__ import annotations

from math import comb, perm
from random import Random

import pytest
from tests.soundness.building import ProgramBuilder, ThreadBuilder
from tests.soundness.replaying import replays

from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.expressions import Choice, Conditional, Const
from mazurka.ir.native.step import native
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import FINISHED, Assign, Cell, Kind, Program
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.search.registry import load_strategy

THREADS = 5


def program_of(lines: list[str]) -> Program:
    body = "\n".join(f"    {line}" for line in ["global served", *lines])
    source = (
        "from mazurka.model import *\nlock = Mutex()\nready = Condition()\n"
        f"served: Int[0, {THREADS}] = 0\ndef worker():\n{body}\n"
        f"threads = [worker() for _ in range({THREADS})]\n"
    )
    return prepare(elaborate(source, "model.py"))


def search(program: Program, strategy: str = "full", **options: object) -> SearchResult:
    chosen = SearchOptions(**options)  # type: ignore[arg-type]
    return load_strategy(strategy).run(program, chosen, Silent())


def states(program: Program, *, symmetry: bool, order: str = "dfs") -> int:
    result = search(program, symmetry=symmetry, order=order, stop_at_first=False)
    assert result.violation is None
    assert bool(result.interchangeable) == symmetry
    return result.statistics.states


@pytest.mark.parametrize("order", ["dfs", "bfs"])
def test_independent_threads_are_multisets_of_local_states(order: str) -> None:
    """Three steps that do nothing: four local states, the end included."""
    program = program_of(["yield_()"] * 3)
    assert states(program, symmetry=False, order=order) == 4**THREADS == 1024
    assert states(program, symmetry=True, order=order) == comb(THREADS + 3, THREADS) == 56


def test_five_threads_and_a_lock_have_sixty_times_fewer_states() -> None:
    """Outside the lock a thread has 11 local states: before the four steps, and then at the lock,
    are 5, before the five last ones and at the end are 6.  Inside it has 3: before it reads the
    counter, before it writes it, before it releases the lock.  One thread is inside, or none.  The
    counter is the number of threads that have written it, which the local states determine.
    """
    outside, inside = 11, 3
    increment = ["with lock:", "    served += 1"]
    program = program_of([*["yield_()"] * 4, *increment, *["yield_()"] * 5])
    assert states(program, symmetry=False) == (
        outside**THREADS + THREADS * inside * outside ** (THREADS - 1)
    )
    none_inside = comb(THREADS + outside - 1, THREADS)
    one_inside = inside * comb(THREADS - 1 + outside - 1, THREADS - 1)
    assert states(program, symmetry=True) == none_inside + one_inside == 6006
    assert 380_666 > 50 * 6006


def test_waiting_in_line_is_renamed() -> None:
    """All wait at a condition: the order in which they stand in line is the only difference between
    n! states without symmetry, and it is none with it.

    With m threads in the queue (m = 0..n) the lock is free, or, if m < n, held by one of the
    others, which is about to enter the queue.  That is 2n + 1 states up to renaming, of which the
    last is a deadlock.  Apart, there are n!/(n - m)! queues, and n - m threads to hold the lock.
    """
    program = program_of(["with ready:", "    ready.wait()", "    ready.notify()"])
    deadlock = frozenset({"deadlock"})
    found = {
        symmetry: search(program, symmetry=symmetry, stop_at_first=False, properties=deadlock)
        for symmetry in (True, False)
    }
    queues = [perm(THREADS, m) for m in range(THREADS + 1)]
    holding = [(THREADS - m) * queues[m] for m in range(THREADS)]
    assert found[True].statistics.states == 2 * THREADS + 1 == 11
    assert found[False].statistics.states == sum(queues) + sum(holding) == 651
    violation = found[True].violation
    assert violation is not None
    assert violation.kind == "deadlock"
    assert replays(program, violation)


@pytest.mark.parametrize("strategy", ["full", "stubborn", "lock-patterns", "ample"])
def test_schedules_name_the_threads_that_move(strategy: str) -> None:
    """Each thread moves once; in canonical states it is always the same one of those left."""
    program = program_of(["with lock:", "    served += 1", f"    assert served < {THREADS}"])
    found = search(program, strategy, symmetry=True).violation
    assert found is not None
    assert found.kind == "assert"
    assert {move.thread for move in found.path} == set(range(THREADS))
    assert replays(program, found)


@pytest.mark.parametrize("strategy", ["full", "stubborn", "lock-patterns", "ample"])
def test_a_hang_goes_round_in_real_threads(strategy: str) -> None:
    """Whoever comes first leaves; the others wait for it in vain, each in a loop of its own."""
    program = program_of(
        ["if cas(served, 0, 1):", "    yield_()", "else:", "    while served == 1:", "        pass"]
    )
    for order in load_strategy(strategy).orders:
        found = search(
            program, strategy, symmetry=True, order=order, properties=frozenset({"hang"})
        )
        assert found.interchangeable
        assert found.violation is not None
        assert found.violation.kind == "hang"
        assert replays(program, found.violation, {"hang"})


def test_a_race_names_two_real_threads() -> None:
    program = program_of(["yield_()", "served = 1"])
    properties = frozenset({"race"})
    for order in ("dfs", "bfs"):
        found = search(program, symmetry=True, properties=properties, order=order).violation
        assert found is not None
        assert found.racing is not None
        assert replays(program, found, properties)


def test_keys_of_more_than_a_word_are_sorted_as_well() -> None:
    """Each of three threads draws one of two numbers twice, in cells of 42 bits each: 1, 2 and 4
    local states, the last of which is the end."""
    builder = ProgramBuilder(Random(0), "wide", 3)
    threads = []
    for number in range(3):
        body = ThreadBuilder(builder, number)
        here = body.location()
        for name in "ab":
            cell = builder.add(Cell(f"{number}.{name}", -(2**40), 2**40, owner=number))
            value = Conditional(Choice(), Const(2**40), Const(-(2**40)))
            there = FINISHED if name == "b" else body.location()
            body.edge(here, there, Kind.CHOOSE, Assign(Const(cell), value), choices=2)
            here = there
        threads.append(body.thread())
    program = builder.assemble(threads)
    assert native(program).layout.bits > 3 * 64
    assert states(program, symmetry=False) == 7**3
    assert states(program, symmetry=True) == comb(7 + 2, 3) == 84


def test_self_check_compares_with_canonical_states_of_the_interpreter() -> None:
    program = program_of(["with lock:", "    served += 1"])
    for strategy in ("full", "stubborn"):
        result = search(program, strategy, symmetry=True, self_check=True)
        assert any(note.startswith("self-check: the interpreter") for note in result.notes)


def test_strategies_that_follow_a_thread_over_many_states_do_not_rename_it() -> None:
    program = program_of(["with lock:", "    served += 1"])
    for strategy in ("cpc", "cartesian"):
        alone = search(program, strategy, symmetry=False)
        asked = search(program, strategy, symmetry=True)
        assert asked.interchangeable == ()
        assert asked.statistics.states == alone.statistics.states
