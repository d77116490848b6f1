"""Hangs are found where the state graph has one, by every strategy that preserves them."""

from __future__ import annotations

import pytest

from mazurka.analysis.laws import MoverUse
from mazurka.analysis.quiet_loops import may_hang
from mazurka.ir.interpreter import Interpreter
from mazurka.ir.remembering import share_interpreter
from mazurka.search import SearchOptions, Silent
from mazurka.search.registry import load_all
from mazurka.stateful.hangs import is_hang
from mazurka.stateful.reference.cpc import explore_transactions
from mazurka.stateful.reference.full import explore
from mazurka.stateful.reference.stubborn import explore_persistent
from mazurka.stateful.searches.minimize import fewest_switches
from mazurka.stateful.variants import Completion
from tests.soundness.hang_models import HANGING, NOT_HANGING
from tests.soundness.mover_models import program_of
from tests.soundness.reductions import Agreement, Subject, compare, consult
from tests.soundness.replaying import replays

PRESERVING = [each for each in load_all() if "hang" in each.preserves and each.sound]
MODELS = {**HANGING, **NOT_HANGING}
HANG = SearchOptions(properties=frozenset({"hang"}))
STATES = 600
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
        assert bool(explore_persistent(program, hangs=True).hangs) == expected, seed
        for strategy in PRESERVING:
            for order in strategy.orders:
                asked = frozenset({"assert", "hang"})
                options = SearchOptions(properties=asked, order=order)
                comparison = compare(oracle, strategy, options)
                assert comparison.agreement is Agreement.AGREES, f"seed {seed}: {comparison}"
    assert hanging > len(POLLING) // 8


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
