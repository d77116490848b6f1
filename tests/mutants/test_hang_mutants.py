"""Deliberately broken checks for hangs: the components of the state graph tell each from ours."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from mazurka.analysis import quiet_loops
from mazurka.analysis.cell_sets import bits
from mazurka.analysis.laws import MoverUse
from mazurka.analysis.quiet_loops import find_counting, is_change, list_facts, may_hang
from mazurka.ir.expressions import Expr
from mazurka.ir.interpreter import Interpreter, State
from mazurka.ir.program import Assign, Edge, Program, Thread
from mazurka.ir.values.footprints import Footprints
from mazurka.search import SearchOptions, Silent
from mazurka.search.registry import load_strategy
from mazurka.stateful import hangs
from mazurka.stateful.hangs import Alone, Walk, changes_shared, find_own_cells, is_hang, walk_alone
from mazurka.stateful.reference.cpc import explore_transactions
from mazurka.stateful.reference.full import explore
from mazurka.stateful.reference.stubborn import StubbornSearch, explore_persistent
from mazurka.stateful.variants import Completion
from tests.soundness.cyclic_parts import GRAPHS, draw_edges, is_split_right
from tests.soundness.hang_models import HANGING, NOT_HANGING
from tests.soundness.mover_models import program_of
from tests.soundness.reductions import Subject

MODELS = {**HANGING, **NOT_HANGING}


def first_choice_only(interpreter: Interpreter, state: State, thread: int) -> Walk:
    """Follows one way, and does not ask for the others."""
    own, seen = find_own_cells(interpreter.program)[thread], {state}
    here = state
    while True:
        step = interpreter.step(here, thread)
        if not step.happened:
            return walk_alone(interpreter, here, thread) if here == state else Walk(Alone.GOES_ON)
        if step.fault is not None or changes_shared(here, step.state, own):
            return Walk(Alone.GOES_ON)
        if step.state in seen:
            return Walk(Alone.GOES_ROUND)
        here = step.state
        seen.add(here)


def first_thread_only(interpreter: Interpreter, state: State, thread: int) -> Walk:
    return walk_alone(interpreter, state, thread) if thread == 0 else Walk(Alone.RESTS)


def rests_like_others(interpreter: Interpreter, state: State, thread: int) -> Walk:
    return replace(walk_alone(interpreter, state, thread), is_stopped=False)


def goes_round_anyway(interpreter: Interpreter, state: State, thread: int) -> Walk:
    walk = walk_alone(interpreter, state, thread)
    return replace(walk, alone=Alone.GOES_ROUND) if walk.alone is Alone.RESTS else walk


def reads_first_step_only(interpreter: Interpreter, state: State, thread: int) -> Walk:
    walk = walk_alone(interpreter, state, thread)
    steps = [step for _, step in interpreter.steps_of(state, thread)]
    return replace(walk, reads=bits(cell for step in steps for cell in step.footprint_reads))


def stopped_only_at_rest(interpreter: Interpreter, state: State, thread: int) -> Walk:
    walk = walk_alone(interpreter, state, thread)
    return replace(walk, is_stopped=walk.alone is Alone.STOPPED)


def excuse_everything(
    program: Program, state: State, concerned: Mapping[int, int], stopped: Collection[int]
) -> frozenset[int]:
    return frozenset()


def nothing_is_shared(before: State, after: State, own: frozenset[int]) -> bool:
    return False


def any_write_counts(before: State, after: State, own: frozenset[int]) -> bool:
    """A step that only moves its thread counts as a change, too."""
    return before != after


# name, attribute, replacement, the model whose verdict it changes
MUTANTS: list[tuple[str, str, Any, str]] = [
    ("only the first choice is looked at", "walk_alone", first_choice_only,
     "may write by a choice"),
    ("only the first thread is looked at", "walk_alone", first_thread_only,
     "the second one writes"),
    ("stopped threads rest", "walk_alone", rests_like_others, "stopped beside one that spins"),
    ("reads of the first step only", "walk_alone", reads_first_step_only,
     "stopped where it could help later in the loop"),
    ("stopped with all choices only", "walk_alone", stopped_only_at_rest,
     "stopped with the choice that would leave"),
    ("every hang beside a stopped thread is excused", "find_deadlocked", excuse_everything,
     "stopped beside one that it could not help"),
    ("threads that rest go round", "walk_alone", goes_round_anyway, "nobody moves"),
    ("nothing is shared", "changes_shared", nothing_is_shared, "gives way for ever"),
    ("program counters are shared", "changes_shared", any_write_counts,
     "chooses, and stays"),
]  # fmt: skip


def any_counting(
    footprints: Footprints, thread: Thread, number: int, part: list[Edge]
) -> list[Edge]:
    """Whoever adds to a cell counts, even if the cell is set back."""
    stores = [(edge, store) for edge in part for store in edge.stores]
    return [edge for edge, store in stores if quiet_loops._counts(store) is not None]


def any_change(operation: Assign, known: list[tuple[Expr, int]]) -> bool:
    return True


def in_atomic_sections(footprints: Footprints, thread: Thread, edge: Edge) -> bool:
    return any(is_change(store, list(list_facts(edge.guard))) for store in edge.stores)


def forget_resets(
    footprints: Footprints, thread: Thread, number: int, part: list[Edge]
) -> list[Edge]:
    """A cell that is set back where the thread rests still counts."""
    places = tuple(replace(place, resets=()) for place in thread.locations)
    return find_counting(footprints, replace(thread, locations=places), number, part)


gather_part, list_finished = quiet_loops._gather, quiet_loops._list_finished

# name, attribute, replacement, a model that hangs
TEXT_MUTANTS: list[tuple[str, str, Any, str]] = [
    ("counters that start again count", "find_counting", any_counting, "counts and starts again"),
    ("every write is a change", "is_change", any_change, "writes what is there"),
    ("changes inside atomic sections stay", "is_loud", in_atomic_sections,
     "takes back what it wrote"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("attribute", "replacement", "model"),
    [mutant[1:] for mutant in TEXT_MUTANTS],
    ids=[mutant[0] for mutant in TEXT_MUTANTS],
)
def test_mutant_excludes_a_hang_by_the_text(
    monkeypatch: pytest.MonkeyPatch, attribute: str, replacement: Any, model: str
) -> None:
    assert hang_in(program_of(HANGING[model]))
    assert may_hang(program_of(HANGING[model]))
    monkeypatch.setattr(quiet_loops, attribute, replacement)
    assert not may_hang(program_of(HANGING[model]))


def gather_direct(arriving: dict[int, list[int]], root: int, part_of: dict[int, int]) -> None:
    """Takes only what leads to the root in one step."""
    for place in (root, *arriving.get(root, ())):
        part_of.setdefault(place, root)


def gather_anew(arriving: dict[int, list[int]], root: int, part_of: dict[int, int]) -> None:
    """Takes what is in a part already, too."""
    own: dict[int, int] = {}
    gather_part(arriving, root, own)
    part_of.update(own)


def list_discovered(following: dict[int, list[int]]) -> list[int]:
    """Places in the order in which they are found, not in that in which they are finished."""
    return list(reversed(list_finished(following)))


def list_first(following: dict[int, list[int]]) -> list[int]:
    return list_finished(dict(list(following.items())[:1]))


@pytest.mark.parametrize(
    ("attribute", "replacement"),
    [
        ("_gather", gather_direct),
        ("_gather", gather_anew),
        ("_list_finished", list_discovered),
        ("_list_finished", list_first),
    ],
)
def test_mutant_finds_other_parts(
    monkeypatch: pytest.MonkeyPatch, attribute: str, replacement: Any
) -> None:
    rng = Random(7)
    graphs = [draw_edges(rng) for _ in range(GRAPHS // 4)]
    assert all(map(is_split_right, graphs))
    monkeypatch.setattr(quiet_loops, attribute, replacement)
    assert not all(map(is_split_right, graphs))


def test_counters_that_are_reset_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without resets the loop ends with a cell out of its range."""
    program = program_of("""
        go = False
        def spins():
            k: Int[0, 3] = 0
            while not go:
                k = k + 1
        threads = [spins()]
    """)
    assert not may_hang(program)
    (thread,) = program.threads
    cell = next(address for address, each in enumerate(program.cells) if each.name == "k")
    places = tuple(replace(place, resets=(cell,)) for place in thread.locations)

    def with_resets() -> Program:
        return replace(program, threads=(replace(thread, locations=places),))

    assert hang_in(with_resets())
    assert may_hang(with_resets())
    monkeypatch.setattr(quiet_loops, "find_counting", forget_resets)
    name = "counters that are reset at each round count"
    assert not may_hang(with_resets()), name


def hang_in(program: Program) -> bool:
    interpreter = Interpreter(program)
    return any(is_hang(interpreter, state) for state in explore(program).states)


@pytest.mark.parametrize(
    ("attribute", "replacement", "model"),
    [mutant[1:] for mutant in MUTANTS],
    ids=[mutant[0] for mutant in MUTANTS],
)
def test_mutant_is_told_by_the_components(
    monkeypatch: pytest.MonkeyPatch, attribute: str, replacement: Any, model: str
) -> None:
    program = program_of(MODELS[model])
    expected = bool(explore(program, hangs=True).hangs)
    assert hang_in(program) == expected
    monkeypatch.setattr(hangs, attribute, replacement)
    assert hang_in(program) != expected


def test_hangs_behind_a_choice_inside_a_transaction() -> None:
    """A thread chooses to go round by both-movers; its commit point has another way to an end."""
    program = Subject(5810).program()
    assert explore(program, hangs=True).hangs
    use = MoverUse.BLOCKING
    strict, _ = explore_transactions(program, Completion.EVERY_STATE, mover_use=use, hangs=True)
    assert strict.hangs
    mutant, _ = explore_transactions(program, Completion.COMMIT_POINTS, mover_use=use, hangs=True)
    assert not mutant.hangs, "L19 where hangs are asked for"
    options = SearchOptions(properties=frozenset({"hang"}))
    for name in ("cpc", "optimistic"):
        assert load_strategy(name).run(program, options, Silent()).violation is not None


def test_hangs_behind_a_dropped_proviso(monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of(HANGING["hidden behind one that goes round"])
    assert explore_persistent(program, hangs=True).hangs
    monkeypatch.setattr(StubbornSearch, "is_allowed", lambda *_: True)
    name = "proviso dropped, and a hang behind it"
    assert not explore_persistent(program, hangs=True).hangs, name
