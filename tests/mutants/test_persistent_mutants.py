"""Deliberately broken persistent sets: verdicts or counts must tell each from ours.

These break the reference (`stateful.reference.stubborn`) and the analyses below it, on which the
native search relies as well.  An unsound mutant loses the violation of one model
(`persistent_models`); a wasteful one is told by the exact number of transitions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mazurka.analysis import futures as futures_module
from mazurka.analysis.cell_sets import NOTHING, CellSets
from mazurka.analysis.channels import Channels, EdgeUse, End
from mazurka.analysis.futures import Futures, find_needed_locks
from mazurka.analysis.ownership import reach
from mazurka.bench import harness
from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.interpreter import State, Step
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Edge, Kind, Program, Role
from mazurka.ir.values.footprints import Footprints
from mazurka.stateful.reference import stubborn
from mazurka.stateful.reference.full import explore
from mazurka.stateful.reference.stubborn import (
    PersistentSets,
    StubbornSearch,
    ThreadAttempt,
    explore_persistent,
)
from mazurka.stateful.variants import Proviso, Relation
from tests.mutants.persistent_models import MODELS, PRELUDE

original_uses = PersistentSets.uses


def only_what_happens(
    self: PersistentSets, thread: int, location: int, steps: list[Step]
) -> CellSets:
    """Failed attempts read nothing."""
    return original_uses(self, thread, location, [step for step in steps if step.happened])


def every_lock(program: Program) -> frozenset[int]:
    """Nobody asks who releases a lock."""
    return frozenset(a for a, cell in enumerate(program.cells) if cell.role is Role.OWNER)


def any_target(footprints: Footprints, edge: Edge, thread: int) -> frozenset[int]:
    """An acquisition counts for all locks that it might be of."""
    if edge.kind is not Kind.ACQUIRE:
        return find_needed_locks(footprints, edge, thread)
    written = footprints.of_edge(edge).writes
    return frozenset(a for a in written if footprints.program.cells[a].role is Role.OWNER)


def by_kind(footprints: Footprints, edge: Edge, thread: int) -> frozenset[int]:
    """Trying a lock counts as taking it, whether or not it succeeds."""
    if edge.kind is not Kind.TRY_ACQUIRE:
        return find_needed_locks(footprints, edge, thread)
    touched = footprints.of_edge(edge)
    cells = footprints.program.cells
    return frozenset(a for a in touched.reads | touched.writes if cells[a].role is Role.OWNER)


def no_threads(program: Program) -> frozenset[int]:
    return frozenset()


def nothing_is_sticky(program: Program) -> list[frozenset[int]]:
    return [frozenset() for _ in program.threads]


def reads_nothing(self: Futures, thread: int, edge: Edge) -> CellSets:
    return NOTHING


def next_of_two(
    self: PersistentSets,
    state: State,
    attempts: list[ThreadAttempt],
    allowed: Callable[[list[ThreadAttempt]], bool],
) -> frozenset[int] | None:
    """The proviso is asked of the first set only."""
    for number, threads in enumerate(self.candidates(state, attempts)):
        if number or allowed([attempts[thread] for thread in threads]):
            return threads
    return None


original_waiting = Channels.waiting
original_taking = Channels.taking
original_relate = Channels._relate


def wait_for_nothing(end: End) -> Callable[[Channels, int, int], CellSets]:
    """What is blocked at one end of a queue waits for nobody."""

    def waiting(self: Channels, thread: int, location: int) -> CellSets:
        edges = reach(self.program.threads[thread], location).edges
        uses = [self.of_edge[thread][position] for position in edges]
        if any(use is not None and use.end is end for use in uses):
            return NOTHING
        return original_waiting(self, thread, location)

    return waiting


def only_read(end: End) -> Callable[[Channels, int, int], CellSets]:
    """Two threads at one end of a queue do not disturb each other."""

    def taking(self: Channels, thread: int, position: int) -> CellSets:
        found, use = original_taking(self, thread, position), self.of_edge[thread][position]
        if use is not None and use.end is end:
            return CellSets(reads=found.reads)
        return found

    return taking


def without_looks(self: Channels, number: int, position: int) -> EdgeUse | None:
    """Looking at a queue is nothing."""
    found = original_relate(self, number, position)
    return found if found is None or found.end is not None else None


# name, object, attribute, replacement, the model, the proviso
MUTANTS: list[tuple[str, Any, str, Any, str, Proviso]] = [
    ("guards read nothing", Futures, "_of_guard", reads_nothing, "a guard is a read",
     Proviso.STACK),
    ("failed attempts read nothing", PersistentSets, "uses", only_what_happens,
     "waits for a third", Proviso.STACK),
    ("locks are held although others release them", stubborn, "find_pattern_locks", every_lock,
     "released by another", Proviso.STACK),
    ("an acquisition counts for each of several locks", futures_module, "find_needed_locks",
     any_target, "another lock", Proviso.STACK),
    ("trying in vain counts as taking", futures_module, "find_needed_locks", by_kind,
     "tries the lock", Proviso.STACK),
    ("proviso dropped", StubbornSearch, "is_allowed", lambda *_: True,
     "goes round for ever", Proviso.STACK),
    ("a set that closes a cycle gives way to any other", PersistentSets, "choose", next_of_two,
     "two go round for ever", Proviso.STACK),
    ("nothing is sticky", stubborn, "find_sticky_locations", nothing_is_sticky,
     "goes round for ever", Proviso.STICKY),
    ("steps without an end can stand alone", ThreadAttempt, "dead_end", False,
     "never ends", Proviso.STACK),
    ("empty queues forgotten", Channels, "waiting", wait_for_nothing(End.GETTING),
     "gets from an empty queue", Proviso.STACK),
    ("full queues forgotten", Channels, "waiting", wait_for_nothing(End.PUTTING),
     "puts into a full queue", Proviso.STACK),
    ("a second writer forgotten", Channels, "taking", only_read(End.PUTTING),
     "two writers", Proviso.STACK),
    ("a second reader forgotten", Channels, "taking", only_read(End.GETTING),
     "two readers", Proviso.STACK),
    ("looks at queues forgotten", Channels, "_relate", without_looks,
     "looks at a queue", Proviso.STACK),
    ("the other queues of a select forgotten", Channels, "attempting", lambda *_: NOTHING,
     "selects from two queues", Proviso.STACK),
    ("conditions of a select forgotten", PersistentSets, "uses", only_what_happens,
     "selects under a condition", Proviso.STACK),
    ("queues that decide between edges forgotten", Channels, "_find_preferred", lambda *_: set(),
     "an item or not", Proviso.STACK),
    ("senders that wait at a channel forgotten", Channels, "waiting",
     wait_for_nothing(End.PUTTING), "meets in a channel", Proviso.STACK),
    ("no thread is started again", futures_module, "find_restartable_threads", no_threads,
     "started again", Proviso.STACK),
    ("observers may write", Futures, "observers_meddle", property(lambda _: False, lambda *_: None),
     "observer that helps", Proviso.STACK),
]  # fmt: skip

unsound = pytest.mark.parametrize(
    ("owner", "attribute", "replacement", "model", "proviso"),
    [mutant[1:] for mutant in MUTANTS],
    ids=[mutant[0] for mutant in MUTANTS],
)


def kinds(program: Program, proviso: Proviso) -> set[str]:
    found = [
        explore_persistent(program, relation=relation, proviso=proviso).kinds
        for relation in (Relation.STATIC, Relation.LOCK_PATTERNS)
    ]
    return found[0] & found[1]


@unsound
def test_mutant_loses_a_violation(
    monkeypatch: pytest.MonkeyPatch,
    owner: Any,
    attribute: str,
    replacement: Any,
    model: str,
    proviso: Proviso,
) -> None:
    expected = explore(MODELS[model](), races=False).kinds
    assert expected
    monkeypatch.setattr(owner, attribute, replacement, raising=False)
    assert kinds(MODELS[model](), proviso) < expected


@pytest.mark.parametrize("proviso", Proviso)
@pytest.mark.parametrize("model", MODELS)
def test_without_a_mutant_nothing_is_lost(model: str, proviso: Proviso) -> None:
    program = MODELS[model]()
    assert kinds(program, proviso) == explore(program, races=False).kinds


LATE_READ = """
def first():
    global x
    x = 1
def second():
    global y
    y = 1
    seen = x
threads = [first(), second()]
"""


def writes_alone(self: CellSets, other: CellSets) -> bool:
    return bool(self.writes & (other.reads | other.writes))


@pytest.mark.parametrize("replacement", [writes_alone], ids=["later reads do not disturb a write"])
def test_mutant_loses_a_race(monkeypatch: pytest.MonkeyPatch, replacement: Any) -> None:
    def read() -> Program:
        return prepare(elaborate(PRELUDE + LATE_READ, "model.py"))

    assert explore_persistent(read(), races=True).kinds == explore(read()).kinds == {"race"}
    monkeypatch.setattr(CellSets, "interferes", replacement)
    assert not explore_persistent(read(), races=True).kinds


FIGURES = harness.MODELS / "symbolic"


def figure(number: int) -> Program:
    """T1 twice beside T2: `a` and `y` are shared then, and give no thread a turn for nothing."""
    text = (FIGURES / f"figure{number}.py").read_text(encoding="utf-8")
    return prepare(elaborate(text, "model.py", {"FIRSTS": "2"}))


def ignored(_: Program) -> frozenset[int]:
    return frozenset()


@pytest.mark.parametrize(("number", "transitions", "more"), [(1, 164, 178), (2, 95, 106)])
def test_ignoring_lock_patterns_explores_too_much(
    monkeypatch: pytest.MonkeyPatch, number: int, transitions: int, more: int
) -> None:
    program = figure(number)
    assert explore_persistent(program).transitions == transitions
    assert explore_persistent(program, relation=Relation.STATIC).transitions == more
    monkeypatch.setattr(stubborn, "find_pattern_locks", ignored)
    assert explore_persistent(program).transitions == more
