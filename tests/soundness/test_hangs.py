"""Hangs are found where the state graph has one, by every strategy that preserves them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from itertools import combinations
from random import Random

import pytest

from mazurka.analysis.cell_sets import bits
from mazurka.analysis.futures import find_pattern_locks
from mazurka.analysis.laws import MoverUse
from mazurka.analysis.quiet_loops import may_hang
from mazurka.analysis.unstopped import find_unstopped
from mazurka.ir.interpreter import Interpreter, State
from mazurka.ir.program import Program
from mazurka.ir.remembering import share_interpreter
from mazurka.search import SearchOptions, Silent
from mazurka.search.registry import load_all
from mazurka.stateful.hangs import (
    Alone,
    QuietState,
    QuietStates,
    Walk,
    examine_quiet,
    is_hang,
    walk_alone,
)
from mazurka.stateful.reference.cpc import explore_transactions
from mazurka.stateful.reference.full import explore
from mazurka.stateful.reference.hangs import find_hangs
from mazurka.stateful.reference.stubborn import explore_persistent
from mazurka.stateful.searches.minimize import fewest_switches
from mazurka.stateful.variants import Completion
from tests.soundness.going_on import may_write, without_assumptions
from tests.soundness.hang_models import HANGING, NOT_HANGING
from tests.soundness.mover_models import program_of
from tests.soundness.polling import with_polling
from tests.soundness.reductions import Agreement, Subject, compare, consult
from tests.soundness.replaying import replays
from tests.soundness.stopping_programs import stopping_program
from tests.soundness.variants import prepared

PRESERVING = [each for each in load_all() if "hang" in each.preserves and each.sound]
MODELS = {**HANGING, **NOT_HANGING}
HANG = SearchOptions(properties=frozenset({"hang"}))
STATES = 600
STOPPED = 320
"""How many programs are made in which threads are stopped."""
POLLING = [seed for seed in range(32, 160) if Subject(seed).polls][::3]


@pytest.mark.parametrize("name", MODELS)
def test_models(name: str) -> None:
    program = program_of(MODELS[name])
    expected = name in HANGING
    whole = explore(program, hangs=True)
    interpreter = Interpreter(program)
    assert bool(whole.hangs) == expected
    assert any(is_hang(interpreter, state) for state in whole.states) == expected
    for strategy in PRESERVING:
        for order in strategy.orders:
            options = SearchOptions(properties=HANG.properties, order=order)
            found = strategy.run(program, options, Silent()).violation
            assert (found is not None) == expected, (strategy.name, order)
            assert found is None or replays(program, found, options.properties)


@pytest.mark.parametrize("name", HANGING)
def test_every_step_from_a_hang_leads_to_a_hang(name: str) -> None:
    program = program_of(HANGING[name])
    interpreter = share_interpreter(program)
    for state in explore(program).states:
        if is_hang(interpreter, state):
            assert all(
                is_hang(interpreter, step.state)
                for _, step in interpreter.steps(state)
                if step.happened
            )


def test_random_programs() -> None:
    """The check of one state, the references and the native searches, on programs that poll."""
    hanging = 0
    for seed in POLLING:
        program = Subject(seed).program()
        oracle = consult(program, STATES)
        if oracle is None:
            continue
        expected = bool(oracle.whole.hangs)
        hanging += expected
        assert not expected or may_hang(program), seed
        interpreter = share_interpreter(program)
        assert any(is_hang(interpreter, state) for state in oracle.whole.states) == expected, seed
        quiet = QuietStates(interpreter)
        for state in oracle.whole.states:
            assert quiet.examine(state) == examine_quiet(interpreter, state), seed
        assert bool(explore_persistent(program, hangs=True).hangs) == expected, seed
        for strategy in PRESERVING:
            for order in strategy.orders:
                asked = frozenset({"assert", "hang"})
                options = SearchOptions(properties=asked, order=order)
                comparison = compare(oracle, strategy, options)
                assert comparison.agreement is Agreement.AGREES, f"seed {seed}: {comparison}"
    assert hanging > len(POLLING) // 8


@functools.cache
def quiet_states() -> list[tuple[int, Program, State, QuietState]]:
    """States of random programs in which threads go round beside threads that are stopped."""
    states = []
    for seed in range(STOPPED):
        rng = Random(seed)
        program = with_polling(with_polling(stopping_program(rng), rng), rng)
        program = prepared(program) if seed % 2 else program
        whole = explore(program, races=False, limit=STATES // 2)
        for state, found in find_hangs(program, whole.states):
            if found.stopped and not found.failed:
                states.append((seed, program, state, found))
    return states


def test_hanging_threads_go_round_for_ever_whatever_the_assumptions() -> None:
    hanging = excused = helped = 0
    for seed, program, state, found in quiet_states():
        if program.text is not None:  # where steps are merged, threads rest at fewer places
            continue
        after = explore(without_assumptions(program, state), races=False, limit=STATES // 2)
        for thread, walk in walk_all(program, state).items():
            counter = program.threads[thread].counter
            if walk.alone is not Alone.GOES_ROUND:
                continue
            leaves = any(there[counter] not in walk.places for there in after.states)
            assert not (leaves and thread in found.hanging), f"seed {seed}"
            helped += leaves
        hanging += bool(found.hanging)
        excused += found.is_excused
    assert min(hanging, excused, helped) > 5, (hanging, excused, helped)


def test_the_largest_set_of_hanging_threads_is_found() -> None:
    compared = 0
    for seed, program, state, found in quiet_states():
        judged, walks = find_unstopped(program), walk_all(program, state)
        assert QuietStates(share_interpreter(program)).examine(state) == found
        concerned = [
            n
            for n, walk in walks.items()
            if (walk.alone is Alone.GOES_ROUND or walk.waits) and n not in found.stopped
        ]
        largest: frozenset[int] = frozenset()
        for size in range(len(concerned) + 1):
            for chosen in map(frozenset, combinations(concerned, size)):
                outside = found.stopped | (set(concerned) - chosen)
                held = {lock for lock in find_pattern_locks(judged) if state[lock] - 1 in chosen}
                written = bits(may_write(judged, state, frozenset(outside), held))
                own = [a for a, cell in enumerate(program.cells) if cell.owner in chosen]
                if not written & (bits(own) | sum_of(walks[n].reads for n in chosen)):
                    largest |= chosen
        moving = {n for n, walk in walks.items() if walk.alone is Alone.GOES_ROUND}
        assert found.hanging == largest & moving, f"seed {seed}"
        compared += 1
    assert compared > 20


def walk_all(program: Program, state: State) -> dict[int, Walk]:
    """What each thread does alone, observers apart."""
    return {
        number: walk_alone(share_interpreter(program), state, number)
        for number, thread in enumerate(program.threads)
        if not thread.observer
    }


def sum_of(sets: Iterable[int]) -> int:
    """The union of sets of cells, as bits."""
    return functools.reduce(operator.or_, sets, 0)


def test_starting_a_thread_that_runs_is_a_change() -> None:
    """One goes round and starts the other again, which may stand at its beginning already."""
    program = Subject(7205).program()
    interpreter = share_interpreter(program)
    whole = explore(program, hangs=True)
    assert not whole.hangs
    assert not any(is_hang(interpreter, state) for state in whole.states)


def test_the_transactions_of_the_reference_find_hangs() -> None:
    for name, source in MODELS.items():
        for completion in (Completion.EVERY_STATE, Completion.CYCLES):
            use = MoverUse.BLOCKING
            found, _ = explore_transactions(
                program_of(source), completion, mover_use=use, hangs=True
            )
            assert bool(found.hangs) == (name in HANGING), (name, completion)


def test_fewest_switches_to_a_hang() -> None:
    program = program_of(HANGING["both want to enter"])
    found = PRESERVING[0].run(program, HANG, Silent()).violation
    assert found is not None
    fewest = fewest_switches(program, found, HANG, Silent())
    assert fewest is not None
    assert fewest.loop_start is not None
    assert [move.thread for move in fewest.path[: fewest.loop_start]] == [0, 1]
    assert replays(program, fewest, HANG.properties)


def test_a_walk_may_be_longer_than_there_is_room_at_first() -> None:
    program = program_of("""
        go = False
        def spins():
            n: Int[0, 599] = 0
            while not go:
                n = (n + 1) % 600
        threads = [spins()]
    """)
    whole = explore(program)
    for strategy in PRESERVING:
        for order in strategy.orders:
            options = SearchOptions(properties=HANG.properties, order=order, stop_at_first=False)
            result = strategy.run(program, options, Silent())
            assert result.violation is not None
            assert result.violation.kind == "hang"
            if strategy.name == "full":
                assert result.statistics.transitions == whole.transitions
                assert result.statistics.states == len(whole.states)
