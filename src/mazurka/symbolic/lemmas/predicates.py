"""What can be said of a state in a program's own terms: places, values, comparisons.

A predicate is a literal that depends on latches alone.  Which ones are made is a matter of taste:
they are the words of the language in which invariants are guessed
(`mazurka.symbolic.lemmas.mining`), and need not be true, or even possible.

| predicate | from |
|---|---|
| a thread is at a location | its program counter |
| a cell has a value | cells with few values among the samples |
| a bit of a cell is set | other cells of at most `MOST_BITS` bits |
| one number is less than another one, or equal to it | the comparisons in guards and assertions, \
with locals replaced by the shared cells that they are copies of; and pairs of wide cells |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from mazurka.deadline import check_time
from mazurka.ir.dot import format_expression
from mazurka.ir.expressions import (
    COMPARISONS,
    Binary,
    Choice,
    Const,
    Expr,
    Load,
    rebuild,
    walk,
)
from mazurka.ir.program import FINISHED, IDLE, WRONG, Assign, Program, Role
from mazurka.ir.values.footprints import Footprints
from mazurka.symbolic.circuit import Circuit
from mazurka.symbolic.environment import Environment, PathView
from mazurka.symbolic.expressions import Evaluation
from mazurka.symbolic.graphs.graph import TRUE
from mazurka.symbolic.graphs.words import Word
from mazurka.symbolic.lemmas.sampling import Samples
from mazurka.symbolic.record import StepRecord

PHASE = "collecting facts for invariants"
MOST_VALUES = 4
MOST_BITS = 8
MOST_WIDE = 12
"""With more wide cells than these, not all pairs are compared."""
MOST_READINGS = 6
"""So many ways to replace the locals of a comparison are tried."""
SPECIAL_PLACES = {FINISHED: "has ended", WRONG: "has failed", IDLE: "has not started"}


class Predicate(NamedTuple):
    """Something that holds in a state or does not, and how to say so."""

    literal: int
    text: str
    opposite: str
    """How to say that it does not."""
    threads: frozenset[int] = frozenset()
    """The threads whose place or locals it is about."""


class Vocabulary:
    """The predicates of a circuit, each literal once."""

    def __init__(self, circuit: Circuit, samples: Samples) -> None:
        self.circuit, self.samples = circuit, samples
        self.program, self.words = circuit.program, circuit.bits.words
        self.state = circuit.bits.decode()
        self.places: list[Predicate] = []
        self.values: list[Predicate] = []
        self.comparisons: list[Predicate] = []
        self.equalities: list[Predicate] = []
        """Those of the comparisons that say that two wide cells are equal."""
        self.between_wide: set[int] = set()
        """The nodes of comparisons between wide cells that are no temporaries."""
        self.wide: dict[int, Word] = {}
        """By address the cells that have many values."""
        self.values_of: dict[int, list[tuple[int, int]]] = {}
        """By address of another cell the values among the samples, each with its literal."""
        self._known: set[int] = {0}
        self._find_places()
        self._find_values()
        self._find_comparisons()

    @property
    def size(self) -> int:
        """How many predicates there are."""
        return len(self.places) + len(self.values) + len(self.comparisons)

    def _add(self, group: list[Predicate], predicate: Predicate) -> None:
        node = predicate.literal >> 1
        if node not in self._known:
            self._known.add(node)
            group.append(predicate)

    def _find_places(self) -> None:
        for number, places in enumerate(self.state.places):
            thread = self.program.threads[number]
            for location, literal in places.items():
                told = describe_place(self.program, number, location)
                self._add(
                    self.places,
                    Predicate(
                        literal,
                        f"{thread.name} {told}",
                        f"not ({thread.name} {told})",
                        frozenset({number}),
                    ),
                )

    def _find_values(self) -> None:
        for address, word in self.state.cells.items():
            if word.is_constant:
                continue
            check_time(PHASE)
            cell = self.program.cells[address]
            threads = frozenset() if cell.owner is None else frozenset({cell.owner})
            seen = np.unique(self.samples.numbers(word)).tolist()
            if len(seen) <= MOST_VALUES:
                self.values_of[address] = [(v, self.words.equals(word, v)) for v in seen]
                for value in seen:
                    self._add(
                        self.values,
                        Predicate(
                            self.words.equals(word, value),
                            f"{self.name(address)} = {value}",
                            f"{self.name(address)} != {value}",
                            threads,
                        ),
                    )
            elif word.width <= MOST_BITS:
                for place, literal in enumerate(self.words.literals(word)):
                    mask = f"({self.name(address)} & {1 << place})"
                    self._add(
                        self.values,
                        Predicate(literal, f"{mask} != 0", f"{mask} = 0", threads),
                    )
            if len(seen) > MOST_VALUES or word.width > MOST_BITS:
                self.wide[address] = word

    def name(self, address: int) -> str:
        return name_cell(self.program, address)

    # --- comparisons --------------------------------------------------------------------------

    def _find_comparisons(self) -> None:
        reader = _TextReader(self.circuit, self.state)
        for left, right in reader.find_compared():
            check_time(PHASE)
            try:
                one, other = reader.evaluate(left), reader.evaluate(right)
            except _NotOfStatesError:
                continue
            names = self._describe(left), self._describe(right)
            self._compare(one, other, *names, self._threads_of((left, right)))
        if len(self.wide) <= MOST_WIDE:
            for first, second in combinations(self.wide, 2):
                threads = self._threads_of((Load(Const(first)), Load(Const(second))))
                names = self.name(first), self.name(second)
                literals = self._compare(self.wide[first], self.wide[second], *names, threads)
                if not any(self.program.cells[each].is_temporary for each in (first, second)):
                    self.between_wide.update(literal >> 1 for literal in literals)
                same = self.words.equal(self.wide[first], self.wide[second])
                told = f"{names[0]} = {names[1]}", f"{names[0]} != {names[1]}"
                self.equalities.append(Predicate(same, *told, threads))

    def _compare(
        self, one: Word, other: Word, first: str, second: str, threads: frozenset[int]
    ) -> list[int]:
        """Add the comparisons of two numbers; returns their literals."""
        words = self.words
        less, more, same = words.less(one, other), words.less(other, one), words.equal(one, other)
        for literal, text, opposite in (
            (less, f"{first} < {second}", f"{first} >= {second}"),
            (more, f"{first} > {second}", f"{first} <= {second}"),
            (same, f"{first} = {second}", f"{first} != {second}"),
        ):
            self._add(self.comparisons, Predicate(literal, text, opposite, threads))
        return [less, more, same]

    def _threads_of(self, expressions: Iterable[Expr]) -> frozenset[int]:
        cells = {cell for each in expressions for cell in _find_cells(each)}
        owners = {self.program.cells[cell].owner for cell in cells}
        return frozenset(owner for owner in owners if owner is not None)

    def _describe(self, expr: Expr) -> str:
        return describe_expression(self.program, expr)


class _NotOfStatesError(Exception):
    """An expression that a state alone does not determine."""


class _TextReader:
    """Evaluates comparisons of the program's text in the state between two frames."""

    def __init__(self, circuit: Circuit, state: Environment) -> None:
        self.program, self.words = circuit.program, circuit.bits.words
        self.footprints = Footprints(circuit.program)
        self.thread_of = circuit.bits.thread_of
        self.state = state

    def find_compared(self) -> list[tuple[Expr, Expr]]:
        """The two sides of all comparisons, locals also replaced by what they are copies of."""
        sources = find_copied_cells(self.program)
        found: dict[tuple[Expr, Expr], None] = {}
        for edge in self.program.edges:
            check_time(PHASE)
            for whole in edge.expressions:
                for each in walk(whole):
                    if isinstance(each, Binary) and each.operator in COMPARISONS:
                        for reading in replace_copies(each, sources):
                            assert isinstance(reading, Binary)
                            found[reading.left, reading.right] = None
        return list(found)

    def evaluate(self, expr: Expr) -> Word:
        if any(isinstance(each, Choice) for each in walk(expr)):
            raise _NotOfStatesError
        record = StepRecord(0, self.program, self.thread_of, frozenset())
        zero = self.words.constant(0)
        view = PathView(self.state)
        return Evaluation(self.words, self.footprints, record, view, TRUE, 1, zero).value(expr)


def find_copied_cells(program: Program) -> dict[int, list[int]]:
    """By local cell the other cells that the program copies into it as they are, temporaries on
    the way left out; shared cells first."""
    found: dict[int, list[int]] = {}
    for edge in program.edges:
        for operation in edge.operations:
            match operation:
                case Assign(Const(target), Load(Const(source))):
                    if program.cells[target].owner is not None:
                        known = found.setdefault(target, [])
                        if source not in known:
                            known.append(source)
    for target, known in found.items():
        for source in known:  # grows on the way
            if program.cells[source].is_temporary:
                known += [each for each in found.get(source, ()) if each not in (target, *known)]
        kept = [each for each in known if not program.cells[each].is_temporary]
        kept.sort(key=lambda each: program.cells[each].owner is not None)
        known[:] = kept
    return found


def replace_copies(expr: Expr, sources: dict[int, list[int]]) -> Iterator[Expr]:
    """The expression itself, and with locals replaced by what they are copies of."""
    cells = [cell for cell in dict.fromkeys(_find_cells(expr)) if cell in sources]
    options = [[cell, *sources[cell]] for cell in cells]
    for _, chosen in zip(range(MOST_READINGS), product(*reversed(options)), strict=False):
        yield _substitute(expr, dict(zip(reversed(cells), chosen, strict=True)))


def _substitute(expr: Expr, cells: dict[int, int]) -> Expr:
    if isinstance(expr, Load) and isinstance(expr.address, Const):
        return Load(Const(cells.get(expr.address.value, expr.address.value)))
    return rebuild(expr, lambda each: _substitute(each, cells))


def _find_cells(expr: Expr) -> Iterator[int]:
    for each in walk(expr):
        if isinstance(each, Load) and isinstance(each.address, Const):
            yield each.address.value


# --- words ----------------------------------------------------------------------------------------


def describe_place(program: Program, thread: int, location: int) -> str:
    if location in SPECIAL_PLACES:
        return SPECIAL_PLACES[location]
    span = program.threads[thread].locations[location].span
    line = f"line {span.line}, " if span is not None else ""
    return f"is at {line}location {location}"


def name_cell(program: Program, address: int) -> str:
    """The name of a cell; that of a local says whose it is, and the number tells namesakes
    apart."""
    cell = program.cells[address]
    if cell.owner is None or cell.role is Role.COUNTER:
        return cell.name
    shown = f"{cell.name} {address}" if cell.is_temporary else cell.name
    return f"{program.threads[cell.owner].name}'s {shown}"


SIGNS = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^", "mod": "%"}


def describe_expression(program: Program, expr: Expr) -> str:
    match expr:
        case Const(value):
            return str(value)
        case Load(Const(address)):
            return name_cell(program, address)
        case Binary(operator, left, right) if operator in SIGNS:
            parts = describe_expression(program, left), describe_expression(program, right)
            return f"({parts[0]} {SIGNS[operator]} {parts[1]})"
        case _:
            return format_expression(program, expr)
