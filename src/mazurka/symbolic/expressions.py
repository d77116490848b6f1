"""Expressions of the IR in a circuit: values, truths and addresses, with the faults on the way.

An address is a table from cells to literals, of which at most one holds (section 4.1 of paper 004:
address cases), restricted to the cells that the expression can denote
(`mazurka.ir.values.footprints`).  So a load is a balanced multiplexer over these cells only, and an
element of an array needs no arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mazurka.ir.expressions import (
    COMPARISONS,
    DIVISIONS,
    SHIFTS,
    Binary,
    Choice,
    Conditional,
    Const,
    Convert,
    Element,
    Expr,
    Load,
    Unary,
)
from mazurka.ir.program import Assign, Check, Fault
from mazurka.ir.values.footprints import Footprints
from mazurka.symbolic.environment import PathView, Places
from mazurka.symbolic.graphs.graph import FALSE, TRUE
from mazurka.symbolic.graphs.words import Word, Words
from mazurka.symbolic.record import StepRecord

MOST_SHIFT = 63


class Evaluation:
    """Evaluates what one edge does, along one path: `alive` is where that has not failed so far."""

    def __init__(
        self,
        words: Words,
        footprints: Footprints,
        record: StepRecord,
        view: PathView,
        alive: int,
        choices: int,
        choice: Word,
    ) -> None:
        self.words, self.graph = words, words.graph
        self.footprints = footprints
        self.program = footprints.program
        self.record, self.view, self.alive = record, view, alive
        self.choices, self.choice = choices, choice
        self.inside = TRUE
        """The condition of the branch of a `Conditional` that is being evaluated."""

    # --- faults and accesses ------------------------------------------------------------------

    def fail(self, fault: Fault, condition: int) -> None:
        """End the path with a fault where the condition holds."""
        condition = self.graph.both(self.inside, condition)
        if condition == FALSE:
            return
        self.record.add_fault(fault, self.graph.both(self.alive, condition), self.view)
        self.alive = self.graph.both(self.alive, condition ^ 1)

    @contextmanager
    def under(self, condition: int) -> Iterator[None]:
        """Evaluate a branch that is taken where the condition holds."""
        outer, self.inside = self.inside, self.graph.both(self.inside, condition)
        yield
        self.inside = outer

    def note_access(self, address: int, hit: int, *, write: bool) -> None:
        if self.record.is_public(address):
            happens = self.graph.both(self.graph.both(self.alive, self.inside), hit)
            self.record.add_access(address, happens, write=write)

    # --- values -------------------------------------------------------------------------------

    def value(self, expr: Expr) -> Word:
        words = self.words
        match expr:
            case Const(number):
                return words.constant(number)
            case Load(address):
                return self.load(address)
            case Unary("not", _):
                return words.from_truth(self.truth(expr))
            case Unary(operator, operand):
                return words.unary(operator, self.value(operand))
            case Binary(operator, left, right):
                return self.binary(operator, self.value(left), self.value(right))
            case Conditional():
                return self.conditional(expr)
            case Element(base, index, length, stride):
                return self.element(self.value(base), self.value(index), length, stride)
            case Convert(operand, width, signed):
                return words.convert(self.value(operand), width, signed)
            case Choice():
                return self.choice

    def truth(self, expr: Expr) -> int:
        """Whether an expression is not 0, as a literal."""
        match expr:
            case Binary(operator, left, right) if operator in COMPARISONS:
                first = self.value(left)
                return self.words.compare(operator, first, self.value(right))
            case Unary("not", operand):
                return self.truth(operand) ^ 1
            case _:
                return self.words.is_true(self.value(expr))

    def binary(self, operator: str, left: Word, right: Word) -> Word:
        words = self.words
        if operator in DIVISIONS:
            self.fail(Fault.EXCEPTION, words.equals(right, 0))
        elif operator in SHIFTS:
            outside = self.outside(right, 0, MOST_SHIFT)
            self.fail(Fault.EXCEPTION, outside)
            right = words.clip(right, 0, MOST_SHIFT)
        return words.binary(operator, left, right)

    def outside(self, value: Word, low: int, high: int) -> int:
        """Whether a number is outside of bounds."""
        words = self.words
        below = words.less(value, words.constant(low))
        return self.graph.either(below, words.less(words.constant(high), value))

    def conditional(self, expr: Conditional) -> Word:
        test = self.truth(expr.test)
        if test <= TRUE:
            return self.value(expr.then if test else expr.otherwise)
        with self.under(test):
            then = self.value(expr.then)
        with self.under(test ^ 1):
            otherwise = self.value(expr.otherwise)
        return self.words.select(test, then, otherwise)

    def element(self, base: Word, index: Word, length: int, stride: int) -> Word:
        words = self.words
        self.fail(Fault.INDEX, self.outside(index, 0, length - 1))
        inside = words.clip(index, 0, length - 1)
        return words.binary("add", base, words.binary("mul", inside, words.constant(stride)))

    # --- addresses ----------------------------------------------------------------------------

    def addresses(self, expr: Expr) -> dict[int, int]:
        """The cells that an address may denote, each with the literal that says it is this one.

        Where none of them holds the address is null, or no address at all.
        """
        match expr:
            case Const(number):
                found = {number: TRUE}
            case Element():
                found = self._element_addresses(expr)
            case Conditional(test, then, otherwise):
                found = self._either_addresses(test, then, otherwise)
            case _:
                targets = self.footprints.targets(expr, self.choices)
                value = self.value(expr)
                found = {target: self.words.equals(value, target) for target in targets}
        return {a: hit for a, hit in found.items() if hit != FALSE and self.footprints.is_cell(a)}

    def _element_addresses(self, expr: Element) -> dict[int, int]:
        words, graph, stride = self.words, self.graph, expr.stride
        bases = self.addresses(expr.base)
        position = self.value(expr.index)
        self.fail(Fault.INDEX, self.outside(position, 0, expr.length - 1))
        if not stride:
            return bases
        indexes = range(max(position.low, 0), min(position.high, expr.length - 1) + 1)
        hits: dict[int, int] = {}
        cases: dict[int, list[int]] = {}
        for target in self.footprints.targets(expr, self.choices):
            for start, at in bases.items():
                i, between = divmod(target - start, stride)
                if between == 0 and i in indexes:
                    if i not in hits:
                        hits[i] = words.equals(position, i)
                    cases.setdefault(target, []).append(graph.both(at, hits[i]))
        return {address: graph.some(each) for address, each in cases.items()}

    def _either_addresses(self, test: Expr, then: Expr, otherwise: Expr) -> dict[int, int]:
        condition = self.truth(test)
        if condition <= TRUE:
            return self.addresses(then if condition else otherwise)
        with self.under(condition):
            first = self.addresses(then)
        with self.under(condition ^ 1):
            second = self.addresses(otherwise)
        return {
            address: self.graph.choose(
                condition, first.get(address, FALSE), second.get(address, FALSE)
            )
            for address in {**first, **second}
        }

    def require_cell(self, expr: Expr, cells: dict[int, int]) -> None:
        """Fail unless the address denotes a cell."""
        if not self.footprints.is_surely_cell(expr, self.choices):
            self.fail(Fault.MEMORY, self.graph.some(cells.values()) ^ 1)

    def load(self, expr: Expr) -> Word:
        cells = self.addresses(expr)
        self.require_cell(expr, cells)
        for address, hit in cells.items():
            self.note_access(address, hit, write=False)
        return self.words.pick([(hit, self.read(a)) for a, hit in cells.items()], None)

    def read(self, address: int) -> Word:
        thread = self.record.thread_of.get(address)
        if thread is None:
            return self.view.cell(address)
        return self.words.from_alternatives(self.view.place(thread))

    # --- operations ---------------------------------------------------------------------------

    def perform(self, operation: Assign | Check) -> None:
        if isinstance(operation, Check):
            self.fail(operation.fault, self.truth(operation.condition) ^ 1)
            return
        cells = self.addresses(operation.address)
        value = self.value(operation.value)
        self.require_cell(operation.address, cells)
        by_range: dict[tuple[int, int], list[int]] = {}
        for address, hit in cells.items():
            cell = self.program.cells[address]
            by_range.setdefault((cell.low, cell.high), []).append(hit)
        for (low, high), hits in by_range.items():
            wrong = self.outside(value, low, high)
            self.fail(Fault.RANGE, self.graph.both(self.graph.some(hits), wrong))
        for address, hit in cells.items():
            self.note_access(address, hit, write=True)
            self.store(address, hit, value)

    def store(self, address: int, hit: int, value: Word) -> None:
        words, view = self.words, self.view
        thread = self.record.thread_of.get(address)
        if thread is None:
            cell = self.program.cells[address]
            inside = words.clip(value, cell.low, cell.high)
            view.cells[address] = words.select(hit, inside, view.cell(address))
            return
        before: Places = view.place(thread)
        view.places[thread] = {
            location: self.graph.choose(hit, words.equals(value, location), literal)
            for location, literal in before.items()
        }
