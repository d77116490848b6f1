"""Derives the ranges of cells whose range nobody declared.

Abstract interpretation (Cousot and Cousot, POPL 1977) over each thread's automaton.  A thread's
own locals are followed from location to location.  Shared cells, and locals that another thread
writes, have one *summary* for all times: their initial value and everything ever stored.  Facts
about shared cells are kept only as long as a step lasts (`mazurka.ir.values.facts`).

Why it is right: let X hold every reachable state, location by location and in the summary.
Then one more application of all edges to X, together with the initial state, holds every
reachable state too.  The ascending phase ends with such an X; each narrowing round is one more
application, so stopping after any number of rounds is right.

A store outside a declared range is a fault, so execution does not go on with that value.
Arithmetic that may leave 64 bits is refused, unless the program's numbers are meant to wrap:
Python's numbers have no limit, those of the intermediate representation wrap around.  Where the
difference could be seen, a verdict would be about another program.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mazurka.errors import MazurkaError, UnsupportedError
from mazurka.ir.expressions import Binary, Conditional, Expr, Unary, children, walk
from mazurka.ir.program import Assign, Cell, Edge, Program, Role
from mazurka.ir.values.evaluation import EMPTY, MOST_POINTS, Lookup, ValueSet
from mazurka.ir.values.facts import Facts
from mazurka.ir.values.fixpoint import Analysis
from mazurka.ir.values.intervals import binary_bounds, fits, unary_bounds

NARROWING_ROUNDS = 3

_LISTED_ROLES = frozenset({Role.POINTER, Role.HANDLE, Role.COUNTER, Role.OWNER})


class UnboundedError(MazurkaError):
    """A cell for which no range is declared and none can be derived."""


@dataclass(frozen=True)
class Inference:
    """What the analysis found out."""

    program: Program
    """The same program, all ranges filled in."""
    at: tuple[Mapping[int, Mapping[int, ValueSet]], ...]
    """For each thread, for each location it can reach, what its local cells hold there; a cell
    that is not mentioned holds what `cells` says."""
    cells: tuple[ValueSet, ...]
    """For each cell all values it can ever hold."""

    def lookup(self, address: int) -> ValueSet:
        return self.cells[address] if 0 < address < len(self.cells) else EMPTY


def infer_ranges(program: Program, *, wraps: bool = False) -> Inference:
    """Find the values of all cells; `wraps` says that overflow is meant, as C's `unsigned`."""
    analysis = Analysis(program, wraps)
    analysis.ascend()
    for _ in range(NARROWING_ROUNDS):
        if not analysis.overshot or not analysis.narrow():
            break
    values = analysis.all_values()
    _refuse_unbounded(program, values)
    cells = tuple(map(_filled, program.cells, values))
    at = tuple(thread.known for thread in analysis.threads)
    result = Inference(replace(program, cells=cells), at, values)
    if not wraps:
        refuse_overflow(result.program, result.at, result.lookup)
    return result


def _filled(cell: Cell, values: ValueSet) -> Cell:
    listed = values.points
    if listed is not None and len(listed) > MOST_POINTS:
        listed = None
    if cell.inferred:
        low, high = values.low, values.high
        return replace(cell, low=low, high=high, points=listed, inferred=False)
    return replace(cell, points=listed) if listed and cell.role in _LISTED_ROLES else cell


def _refuse_unbounded(program: Program, values: tuple[ValueSet, ...]) -> None:
    unbounded = [
        address
        for address, cell in enumerate(program.cells)
        if cell.inferred and values[address].is_extreme
    ]
    if not unbounded:
        return
    # One endless counter spreads to all that copies it; the shared one is likely the cause.
    cells = program.cells
    worst = min(unbounded, key=lambda a: (*_innocence(cells[a]), a))
    cell = cells[worst]
    falls = values[worst].low < min(cell.initial, 0)
    low = min(cell.initial, -10 if falls else 0)
    raise UnboundedError.at(
        cell.span,
        f"no range can be derived for `{cell.name}` (it may grow without limit); declare it, "
        f"for example {_declaration(program, cell, low)}",
    )


def _innocence(cell: Cell) -> tuple[bool, bool, bool]:
    """Sorts those cells first that a person would look at first."""
    return cell.name == "temporary", cell.span is None, cell.owner is not None


def _declaration(program: Program, cell: Cell, low: int) -> str:
    """How the range could be declared, for a variable, a field or the elements of an array."""
    ends = f"Int[{low}, {max(cell.initial, 10)}]"
    hint = "" if _imports_int(program) else " (with `from mazurka.model import Int`)"
    owner, dot, short = cell.name.rpartition(".")
    if "[" in short:
        name = short.partition("[")[0]
        made = _array_type(program, owner + dot + name, ends)
        return f"`{name} = {made}`{hint.replace('import ', 'import Array, ')}"
    plain = f"`{short}: {ends} = {cell.initial}`"
    if dot:
        return f"{plain} in its class, or `self.{short}: {ends} = ...` in `__init__`{hint}"
    return plain + hint


def _array_type(program: Program, name: str, element: str) -> str:
    """The array as it could be made: its lengths are those of the cells that it has."""
    numbers = re.compile(rf"{re.escape(name)}((?:\[\d+\])+)")
    found = [match[1] for cell in program.cells if (match := numbers.fullmatch(cell.name))]
    places = [[int(index) for index in re.findall(r"\d+", text)] for text in found]
    for length in reversed([max(column) + 1 for column in zip(*places, strict=False)]):
        element = f"Array({element}, {length})"
    return element


def _imports_int(program: Program) -> bool:
    """Whether the model can write `Int`, or `model.Int`."""
    named = re.compile(r"^from mazurka\.model import\s*(?:\([^)]*|.*)(?:\bInt\b|\*)", re.MULTILINE)
    module = re.compile(r"^(?:import mazurka\b|from mazurka import\b)", re.MULTILINE)
    return any(named.search(text) or module.search(text) for text in program.sources.values())


_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "shl": "<<", "floordiv": "//", "div": "/",
    "neg": "-", "abs": "abs",
}  # fmt: skip


def refuse_overflow(
    program: Program, at: Sequence[Mapping[int, Mapping[int, ValueSet]]], lookup: Lookup
) -> None:
    """Raise an error for the first edge on which a result may need more than 64 bits."""
    for thread, reached in zip(program.threads, at, strict=True):
        for edge in thread.edges:
            if edge.source in reached and any(map(_at_risk, edge.expressions)):
                _refuse(program, edge, Facts(dict(reached[edge.source]), lookup, 1, True))


def _at_risk(expr: Expr) -> bool:
    return any(isinstance(e, Binary | Unary) and e.operator in _SYMBOLS for e in walk(expr))


def _refuse(program: Program, edge: Edge, facts: Facts) -> None:
    symbol = None if edge.guard is None else _exceeding(edge.guard, facts)
    possible = edge.guard is None or facts.assume(edge.guard)
    facts.choices = edge.choices
    for operation in edge.operations:
        if symbol is not None or not possible:
            break
        if isinstance(operation, Assign):
            symbol = _exceeding(operation.address, facts) or _exceeding(operation.value, facts)
        else:
            symbol = _exceeding(operation.condition, facts)
        possible = facts.perform(operation, program.cells, lambda address, values: None)
    if symbol is not None:
        raise UnsupportedError.at(
            edge.span,
            f"the result of `{symbol}` may exceed 64 bits here; declare smaller ranges for the "
            "variables it is made of, or keep it small with `%`",
        )


def _exceeding(expr: Expr, facts: Facts) -> str | None:
    """The symbol of an operator in `expr` whose result may not fit."""
    if not _at_risk(expr):
        return None
    if isinstance(expr, Conditional):
        return _exceeding_conditional(expr, facts)
    for child in children(expr):
        if (symbol := _exceeding(child, facts)) is not None:
            return symbol
    if isinstance(expr, Unary) and expr.operator in _SYMBOLS:
        values = facts.values(expr.operand)
        bounds = unary_bounds(expr.operator, (values.low, values.high))
        return None if values.is_empty or fits(bounds) else _SYMBOLS[expr.operator]
    if isinstance(expr, Binary) and expr.operator in _SYMBOLS:
        left, right = facts.values(expr.left), facts.values(expr.right)
        if left.is_empty or right.is_empty:
            return None
        ends = binary_bounds(expr.operator, (left.low, left.high), (right.low, right.high))
        return None if ends is None or fits(ends) else _SYMBOLS[expr.operator]
    return None


def _exceeding_conditional(expr: Conditional, facts: Facts) -> str | None:
    symbol = _exceeding(expr.test, facts)
    for branch, outcome in ((expr.then, True), (expr.otherwise, False)):
        inside = facts.copy()
        if symbol is None and inside.assume(expr.test, outcome):
            symbol = _exceeding(branch, inside)
    return symbol
