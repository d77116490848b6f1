"""What must be true of interchangeable threads, judged by every renaming there is.

The oracle knows nothing of keys and sorting: it applies every permutation of the threads of a class
to reachable states of the interpreter's unreduced search.  Each function raises `AssertionError`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from random import Random

from mazurka.analysis.interchangeable import find_symmetry
from mazurka.ir.interpreter import Interpreter, State
from mazurka.ir.passes.gather import gather
from mazurka.ir.passes.liveness import reset_dead_locals
from mazurka.ir.program import Program
from mazurka.ir.symmetry import Renaming, Symmetry
from mazurka.search import SearchOptions, SearchResult, Silent, Violation
from mazurka.search.registry import load_strategy
from mazurka.stateful.quotient import code_for
from mazurka.stateful.reference.full import StateSpace, explore
from mazurka.stateful.reference.stubborn import explore_persistent
from mazurka.stateful.variants import Proviso, Relation
from tests.soundness.replaying import replays
from tests.soundness.symmetric_programs import (
    keeping_program,
    started_program,
    symmetric_program,
)

STATES = 1200
EXAMINED = 40
"""States of a program to which all renamings are applied."""
FAULTS = frozenset({"assert", "deadlock", "hang"})
EVERYTHING = FAULTS | {"race"}
RELATIONS = {
    "stubborn": Relation.STATIC,
    "lock-patterns": Relation.LOCK_PATTERNS,
    "ample": Relation.AMPLE,
}


@dataclass(frozen=True)
class Subject:
    """A program with interchangeable threads, and all its states."""

    program: Program
    symmetry: Symmetry
    whole: StateSpace

    @cached_property
    def renamings(self) -> list[Renaming]:
        return list(list_renamings(self.symmetry))

    @cached_property
    def shares(self) -> bool:
        """Whether a cell belongs to several classes in one of which it is in a column.

        Renamings of a state may have several canonical forms then (`mazurka.ir.symmetry`)."""
        moving = [cell for each in self.symmetry.classes for row in each.columns for cell in row]
        holders = {cell for each in self.symmetry.classes for cell in each.holders}
        return len(set(moving)) < len(moving) or not holders.isdisjoint(moving)

    def rename(self, state: State, renaming: Renaming) -> State:
        """Rename the members of one class after the other: a cell may belong to several."""
        for each in self.symmetry.classes:
            cells = list(state)
            for column in each.columns:
                for old, cell in zip(each.members, column, strict=True):
                    cells[column[each.members.index(renaming[old])]] = state[cell]
            for holder in each.holders:
                if state[holder] - 1 in each.members:
                    cells[holder] = renaming[state[holder] - 1] + 1
            state = tuple(cells)
        return state

    def find_renamings(self, state: State) -> set[State]:
        return {self.rename(state, renaming) for renaming in self.renamings}

    def search(self, strategy: str, *, symmetry: bool = True, **options: object) -> SearchResult:
        chosen = SearchOptions(symmetry=symmetry, **options)  # type: ignore[arg-type]
        return load_strategy(strategy).run(self.program, chosen, Silent())


def list_renamings(symmetry: Symmetry) -> Iterator[Renaming]:
    """All renamings: a permutation of each class."""
    for images in product(*(permutations(each.members) for each in symmetry.classes)):
        yield {
            old: new
            for each, image in zip(symmetry.classes, images, strict=True)
            for old, new in zip(each.members, image, strict=True)
        }


def draw_subject(rng: Random, *, faults: bool, leaks: bool = False) -> Subject | None:
    """A random program; None if it has no interchangeable threads, or too many states."""
    program = reset_dead_locals(symmetric_program(rng, faults=faults, leaks=leaks))
    symmetry = find_symmetry(program)
    if symmetry is None:
        return None
    whole = explore(program, hangs=True, limit=STATES)
    return Subject(program, symmetry, whole) if whole.complete else None


def draw_keeping(rng: Random, *, faults: bool) -> Subject | None:
    """A random program two of whose classes share cells."""
    program = reset_dead_locals(keeping_program(rng, faults=faults))
    symmetry = find_symmetry(program)
    if symmetry is None:
        return None
    whole = explore(program, hangs=True, limit=STATES)
    subject = Subject(program, symmetry, whole)
    return subject if whole.complete and subject.shares else None


def draw_started(rng: Random, *, faults: bool) -> Subject | None:
    """A random program whose threads are alike once its chains are gathered."""
    program = reset_dead_locals(started_program(rng, faults=faults))
    code = code_for(program, SearchOptions(symmetry=True))
    if code.symmetry is None or code.program is program:
        return None
    whole = explore(program, hangs=True, limit=STATES)
    return Subject(program, code.symmetry, whole) if whole.complete else None


def require_gathered(subject: Subject, strategy: str, proviso: Proviso) -> None:
    """Searches of the gathered program find what there is in the program itself."""
    whole = subject.whole
    gathered = gather(subject.program)
    assert gathered is not None
    assert explore(gathered.program, hangs=True).kinds == whole.kinds
    asked = {"stop_at_first": False, "self_check": True}
    full = subject.search("full", properties=EVERYTHING, **asked)
    require_same_verdict(subject, full, whole.kinds - {"bound"}, EVERYTHING)
    tuning = {"proviso": str(proviso)}
    reduced = subject.search(strategy, properties=FAULTS, tuning=tuning, **asked)
    require_same_verdict(subject, reduced, whole.kinds - {"bound", "race"}, FAULTS)


def require_automorphisms(subject: Subject) -> None:
    """Renamings map steps to steps, and a canonical form is a renaming; all renamings of a state
    have the same one, unless classes share cells."""
    interpreter = Interpreter(subject.program)
    initial = subject.program.initial_state()
    assert all(subject.rename(initial, renaming) == initial for renaming in subject.renamings)
    states = list(subject.whole.states)
    for state in states[:: max(len(states) // EXAMINED, 1)]:
        steps = list(interpreter.steps(state))
        canonical = subject.symmetry.canonical(state)
        forms = subject.find_renamings(state) if subject.shares else {canonical}
        assert canonical in forms
        for renaming in subject.renamings:
            image = subject.rename(state, renaming)
            assert image in subject.whole.states
            assert subject.symmetry.canonical(image) in forms
            there = {(step.thread, choice): step for choice, step in interpreter.steps(image)}
            assert len(there) == len(steps)
            for choice, step in steps:
                twin = there[renaming.get(step.thread, step.thread), choice]
                assert twin.outcome is step.outcome
                assert twin.state == subject.rename(step.state, renaming)
                if step.fault is not None and twin.fault is not None:
                    assert step.fault.fault is twin.fault.fault


def require_one_of_each(subject: Subject, order: str) -> None:
    """The unreduced search visits one state of each set of renamings, at least one where classes
    share cells, and finds the same."""
    whole = subject.whole
    sets = {
        min(subject.rename(state, each) for each in subject.renamings) for state in whole.states
    }
    asked = {"order": order, "properties": EVERYTHING}
    everything = subject.search("full", stop_at_first=False, **asked)
    first = subject.search("full", **asked)
    assert everything.interchangeable
    most = len(whole.states) if subject.shares else len(sets)
    assert len(sets) <= everything.statistics.states <= most
    assert ("bound" in whole.kinds) == bool(everything.limits)
    for result in (everything, first):
        require_same_verdict(subject, result, whole.kinds - {"bound"}, EVERYTHING)
    if order == "bfs" and first.violation is not None:
        apart = subject.search("full", symmetry=False, **asked).violation
        assert apart is not None
        if "hang" not in (first.violation.kind, apart.kind):
            assert level_of(first.violation) == level_of(apart)


def level_of(found: Violation) -> int:
    """How many steps lead to the state in which a violation shows; a fault takes one more.

    A breadth-first search finds a violation of the first level that has one, whichever state of the
    level it comes to first."""
    return len(found.path) - (found.kind not in ("deadlock", "race"))


def require_persistent(subject: Subject, strategy: str, proviso: Proviso) -> None:
    """A search with persistent sets finds the same, and counts as the interpreter's does."""
    whole = subject.whole
    result = subject.search(
        strategy, properties=FAULTS, stop_at_first=False, tuning={"proviso": str(proviso)}
    )
    require_same_verdict(subject, result, whole.kinds - {"bound", "race"}, FAULTS)
    assert ("bound" in whole.kinds) == bool(result.limits)
    plain = explore_persistent(
        subject.program,
        relation=RELATIONS[strategy],
        proviso=proviso,
        hangs=True,
        symmetry=subject.symmetry,
    )
    assert plain.kinds == whole.kinds - {"race"}
    assert result.statistics.states == len(plain.states)
    assert result.statistics.transitions == plain.transitions


def require_same_verdict(
    subject: Subject, result: SearchResult, real: set[str], properties: frozenset[str]
) -> None:
    """There is a violation if and only if there is one, and it happens as reported."""
    assert (result.violation is not None) == bool(real)
    if result.violation is not None:
        assert result.violation.kind in real
        assert replays(subject.program, result.violation, properties)
