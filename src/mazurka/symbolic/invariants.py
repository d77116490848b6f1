"""Inductive invariants of a circuit: check them, and write them for people.

An invariant is a set of *cubes*, none of which any reachable state is in.  A literal of a cube is
the number of a latch, from 1 on, negative where it is 0.

**A checked invariant is a proof.**  If the first state is in no cube, if no frame leads from a
state in no cube into one, and if no frame from a state in no cube is bad, then by induction over
the transitions no reachable state is in a cube, and none is bad.  Whoever found the invariant does
not matter: `check_invariant` writes the circuit as clauses anew, and asks another solver these
three questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from mazurka.deadline import check_time
from mazurka.errors import InternalError
from mazurka.ir.native.layout import Slot
from mazurka.ir.program import FINISHED, IDLE, WRONG, Program, Thread
from mazurka.symbolic.circuit import Circuit
from mazurka.symbolic.environment import BINARY
from mazurka.symbolic.graphs.graph import FALSE, TRUE, ClauseWriter
from mazurka.symbolic.solving.solver import SatSolver

Cubes: TypeAlias = tuple[tuple[int, ...], ...]

OTHER_SOLVER = "glucose4"
MOST_VALUES = 8
"""Up to so many values of a variable are listed; of others the bits are shown."""
SPECIAL_PLACES = {FINISHED: "has ended", WRONG: "has failed", IDLE: "has not started"}


# --- what the code of cells excludes --------------------------------------------------------------


def find_unused_codes(
    circuit: Circuit, waiting: Callable[[SatSolver], None] | None = None
) -> list[tuple[int, ...]]:
    """Cubes of latches that are no code of a value, as far as they are inductive by themselves.

    No run reaches any of them, but not all can be taken for granted: where an analysis has narrowed
    the range of a cell, a step from a state that is never reached may leave it.  So those that a
    step can enter are dropped until none is left: the rest is the largest inductive part (Flanagan,
    Leino, *Houdini*, FME 2001).  It is a part of every invariant, and checked with it.
    """
    found = find_codes_of_nothing(circuit)
    if not found:
        return []
    with SatSolver(waiting=waiting) as solver:
        questions = _InvariantQuestions(circuit, found, FALSE, solver)
        kept = [questions.add_candidate(cube) for cube in found]
        while True:
            entered = questions.find_entered(kept)
            if not entered:
                break
            kept = [each for each in kept if each.entered not in entered]
    return [each.cube for each in kept]


def find_codes_of_nothing(circuit: Circuit) -> list[tuple[int, ...]]:
    """The cubes of latches that are no code of a value."""
    if circuit.bits.counters != BINARY:
        return []
    found = []
    for address, slot in enumerate(circuit.bits.layout.slots):
        positions = circuit.bits.positions(address)
        if len(positions):
            found += list(
                _exclude_above(_find_last_code(circuit.program, address, slot), positions)
            )
    return found


def _find_last_code(program: Program, address: int, slot: Slot) -> int:
    if slot.points is not None:
        return len(slot.points) - 1
    cell = program.cells[address]
    return min(max(cell.high, cell.initial) - slot.base, slot.mask)


def _exclude_above(last: int, positions: range) -> Iterator[tuple[int, ...]]:
    """The cubes of numbers above the last one: at the highest bit that differs it has 0."""
    for bit in range(len(positions)):
        if not last >> bit & 1:
            above = [b for b in range(bit + 1, len(positions)) if last >> b & 1]
            yield tuple(positions[b] + 1 for b in (bit, *above))


# --- checking -------------------------------------------------------------------------------------


def check_invariant(
    circuit: Circuit,
    cubes: Iterable[Sequence[int]],
    bad: int,
    waiting: Callable[[SatSolver], None] | None = None,
    lemmas: Iterable[Sequence[int]] = (),
) -> None:
    """Raise an internal error unless cubes and lemmas are an inductive invariant that excludes
    `bad`."""
    with SatSolver(OTHER_SOLVER, waiting) as solver:
        for question, literal in _InvariantQuestions(circuit, cubes, bad, solver, lemmas).ask():
            if solver.solve(literal):
                raise InternalError(f"what was found is no inductive invariant: {question}")


class _Candidate(NamedTuple):
    """A cube that may be entered: by assumption of `kept` no state is in it; `entered` says that
    the next state is."""

    cube: tuple[int, ...]
    kept: int
    entered: int


class _InvariantQuestions:
    """Questions about the first state, a state and the next one, as assumptions of one solver."""

    def __init__(
        self,
        circuit: Circuit,
        cubes: Iterable[Sequence[int]],
        bad: int,
        solver: SatSolver,
        lemmas: Iterable[Sequence[int]] = (),
    ) -> None:
        self.circuit, self.solver, self.bad = circuit, solver, bad
        self.cubes = [tuple(cube) for cube in cubes]
        self.lemmas = [tuple(lemma) for lemma in lemmas]
        state = [latch.literal for latch in circuit.latches]
        said = sorted({literal & ~1 for lemma in self.lemmas for literal in lemma})
        later = circuit.graph.substitute(said, dict(zip(state, circuit.nexts, strict=True)))
        self.later = dict(zip(said, later, strict=True))
        """By literal of lemmas what says the same of the next state."""
        self.writer = ClauseWriter(circuit.graph)
        wanted = (*state, *circuit.nexts, bad, *said, *later)
        solver.add(self.writer.define([each for each in wanted if each > TRUE]))
        self.true = self.writer.new_variable()
        solver.add_clause([self.true])
        self.state = [self._name(each) for each in state]
        self.nexts = [self._name(each) for each in circuit.nexts]

    def _name(self, literal: int) -> int:
        if literal in (FALSE, TRUE):
            return self.true if literal else -self.true
        return self.writer.literal(literal)

    def _place(self, cube: Sequence[int], latches: Sequence[int]) -> list[int]:
        return [latches[each - 1] if each > 0 else -latches[-each - 1] for each in cube]

    def _outside(self, *, after: bool) -> int:
        """A literal by which the state, or the one after it, is in some cube, or violates a
        lemma."""
        latches = self.nexts if after else self.state
        inside = []
        for cube in self.cubes:
            chosen = self.writer.new_variable()
            inside.append(chosen)
            for literal in self._place(cube, latches):
                self.solver.add_clause([-chosen, literal])
        for lemma in self.lemmas:
            chosen = self.writer.new_variable()
            inside.append(chosen)
            for literal in lemma:
                said = self.later[literal & ~1] ^ (literal & 1) if after else literal
                self.solver.add_clause([-chosen, -self._name(said)])
        some = self.writer.new_variable()
        self.solver.add_clause([-some, *inside])
        return some

    def add_candidate(self, cube: tuple[int, ...]) -> _Candidate:
        kept, entered = self.writer.new_variable(), self.writer.new_variable()
        self.solver.add_clause([-kept, *(-each for each in self._place(cube, self.state))])
        for literal in self._place(cube, self.nexts):
            self.solver.add_clause([-entered, literal])
        return _Candidate(cube, kept, entered)

    def find_entered(self, candidates: Sequence[_Candidate]) -> set[int]:
        """Which of some cubes a step enters from a state that is in none of them."""
        some = self.writer.new_variable()
        self.solver.add_clause([-some, *(each.entered for each in candidates)])
        if not self.solver.solve([some, *(each.kept for each in candidates)]):
            return set()
        entered = [each.entered for each in candidates]
        values = self.solver.values(entered)
        return {each for each, value in zip(entered, values, strict=True) if value}

    def ask(self) -> Iterator[tuple[str, list[int]]]:
        first = [
            variable if latch.initial else -variable
            for variable, latch in zip(self.state, self.circuit.latches, strict=True)
        ]
        yield "the first state is outside", [*first, self._outside(after=False)]
        for cube in self.cubes:
            self.solver.add_clause([-literal for literal in self._place(cube, self.state)])
        for lemma in self.lemmas:
            self.solver.add_clause([self._name(literal) for literal in lemma])
        yield "a step leaves it", [self._outside(after=True)]
        yield "it contains what is bad", [self._name(self.bad)]


# --- writing --------------------------------------------------------------------------------------


def describe_invariant(
    circuit: Circuit,
    cubes: Iterable[Sequence[int]],
    lemmas: Iterable[str] = (),
    scheduler: str = "",
) -> str:
    """An invariant in words: a line a cube or lemma, in terms of variables and source lines.
    `scheduler` is the one whose transitions keep it, where not all do."""
    always = [f"always: {text}" for text in lemmas]
    describe = _CubeDescription(circuit)
    told = sorted({line for cube in cubes if (line := describe(cube)) is not None})
    scheduled = [
        f"# Transitions are those that the scheduler '{scheduler}' allows.  Others lead to states",
        "# in which something else may hold, but to no violation that these do not lead to.",
    ]
    head = [
        f"# An inductive invariant of {circuit.program.name}: it holds at first, every",
        "# transition keeps it, and it excludes all violations that were looked for.",
        *(scheduled if scheduler else []),
        "# Each line is something that always holds, or a combination that never occurs; values",
        "# are those that fit the variable.",
    ]
    return "\n".join([*head, *always, *told]) + "\n"


class _CubeDescription:
    """Says combinations that never occur.  There may be thousands, of few parts, each of which
    takes long to say: so what was said of a cell is kept."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit, self.slots = circuit, circuit.bits.layout.slots
        self.cell_of = {
            position: (address, bit)
            for address in range(len(self.slots))
            for bit, position in enumerate(circuit.bits.positions(address))
        }
        """By latch the cell, and which of its bits it is."""
        self.said: dict[tuple[int, frozenset[tuple[int, int]]], str | None] = {}

    def __call__(self, cube: Sequence[int]) -> str | None:
        """One combination; None where no values are coded so."""
        check_time("writing the invariant")
        known: dict[int, dict[int, int]] = {}
        for literal in cube:
            address, bit = self.cell_of[abs(literal) - 1]
            known.setdefault(address, {})[bit] = int(literal > 0)
        parts = []
        for address in sorted(known):
            part = self._describe(address, known[address])
            if part is None:
                return None
            parts.append(f"({part})" if " or " in part else part)
        return "never: " + " and ".join(parts)

    def _describe(self, address: int, known: dict[int, int]) -> str | None:
        key = address, frozenset(known.items())
        if key not in self.said:
            self.said[key] = _describe_cell(self.circuit, address, self.slots[address], known)
        return self.said[key]


def _describe_cell(circuit: Circuit, address: int, slot: Slot, known: dict[int, int]) -> str | None:
    """Which values of a cell have the known bits."""
    thread = circuit.bits.thread_of.get(address)
    if thread is not None:
        automaton = circuit.program.threads[thread]
        places = _find_places(circuit, thread, slot, known)
        return f"{automaton.name} {_name_places(automaton, places)}" if places else None
    name = circuit.program.cells[address].name
    last = _find_last_code(circuit.program, address, slot)
    if last < 1 << 12:
        values = [slot.decode(code) for code in range(last + 1) if _fits(code, known)]
        if not values:
            return None
        if len(values) <= MOST_VALUES:
            listed = ", ".join(map(str, values))
            return f"{name} = {listed}" if len(values) == 1 else f"{name} in {{{listed}}}"
    mask = sum(1 << bit for bit in known)
    value = sum(1 << bit for bit, each in known.items() if each)
    shown = f"({name} - {slot.base})" if slot.base else name
    return f"{shown} & {mask:#x} = {value:#x}"


def _fits(code: int, known: dict[int, int]) -> bool:
    return all(code >> bit & 1 == value for bit, value in known.items())


def _find_places(circuit: Circuit, thread: int, slot: Slot, known: dict[int, int]) -> list[int]:
    starts = circuit.bits.layout.starts[thread]
    if circuit.bits.counters == BINARY:
        return [place for place in starts if _fits(slot.encode(place), known)]
    return [
        place
        for number, place in enumerate(starts)
        if all(int(number == bit) == value for bit, value in known.items())
    ]


def _name_places(thread: Thread, places: Sequence[int]) -> str:
    special = [SPECIAL_PLACES[place] for place in places if place in SPECIAL_PLACES]
    lines = []
    for place in places:
        span = thread.locations[place].span
        if place not in SPECIAL_PLACES:
            line = f"line {span.line}, " if span is not None else ""
            lines.append(f"{line}location {place}")
    at = [f"is at {' or '.join(lines)}"] if lines else []
    return " or ".join([*at, *special])
