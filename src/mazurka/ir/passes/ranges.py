"""Derive the ranges of cells for which the model declares none.

Abstract interpretation (Cousot and Cousot, POPL 1977) over each thread's automaton.  A thread's
own locals are followed from location to location.  Shared cells, and locals that another thread
writes, have one *summary* for all times: their initial value and everything ever stored.  Facts
about shared cells are kept only during a step (`mazurka.ir.values.facts`).

Why it is sound: let X contain every reachable state, location by location and in the summary.
Then one more application of all edges to X, together with the initial state, contains every
reachable state, too.  The ascending phase ends with such an X; each narrowing round is one more
application, so stopping after any number of rounds is sound.

Cells that would grow without limit in this analysis may be counters: `mazurka.ir.values.counters`
finds ranges for those that are added to a bounded number of times.  The analysis then starts again
with these ranges as if they had been declared, which changes nothing: no store is outside of them.

A store outside a declared range is a fault, so execution does not go on with that value.
Arithmetic that may need more than 64 bits is refused: Python's numbers have no limit, those of the
intermediate representation wrap around.  If the difference could be observed, a verdict would be
about another program.  A `Convert` says that wrapping around is meant: the operators below it of
which only the low bits count (`_MODULAR`) are not refused, nor is what stands directly below it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mazurka.errors import MazurkaError, UnsupportedError
from mazurka.ir.expressions import (
    Binary,
    Conditional,
    Const,
    Convert,
    Expr,
    Load,
    Unary,
    children,
    walk,
)
from mazurka.ir.program import Assign, Cell, Edge, Program, Role, Span, split_lines
from mazurka.ir.values.counters import bound_counters, find_causes
from mazurka.ir.values.evaluation import EMPTY, MOST_ADDRESSES, MOST_POINTS, Lookup, ValueSet
from mazurka.ir.values.facts import Facts
from mazurka.ir.values.fixpoint import Analysis
from mazurka.ir.values.intervals import Bounds, binary_bounds, fits, unary_bounds

NARROWING_ROUNDS = 3
MOST_REPEATED = 10
"""The analysis starts again with the ranges of counters until it has followed so many times as many
edges as one analysis does before it widens at once."""

_LISTED_ROLES = frozenset({Role.POINTER, Role.HANDLE, Role.COUNTER, Role.OWNER})


class UnboundedError(MazurkaError):
    """A cell for which no range is declared and none can be derived."""


@dataclass(frozen=True)
class Inference:
    """The result of the range analysis."""

    program: Program
    """The same program, with all ranges filled in; it remembers the one without."""
    at: tuple[Mapping[int, Mapping[int, ValueSet]], ...]
    """For each thread and each location that it can reach, the values of its local cells there;
    the values of other cells are those in `cells`."""
    cells: tuple[ValueSet, ...]
    """For each cell all values it can ever hold."""

    def lookup(self, address: int) -> ValueSet:
        return self.cells[address] if 0 < address < len(self.cells) else EMPTY


def infer_ranges(program: Program, *, wraps: bool = False) -> Inference:
    """Find the values of all cells; `wraps` allows overflow, as for C's `unsigned`."""
    analysis = _analyse(program, wraps)
    bounded, work = program, analysis.work
    while not wraps and work <= MOST_REPEATED * analysis.endurance:
        counters = bound_counters(analysis)
        if not counters:
            break
        bounded = _declare(bounded, counters)
        analysis = _analyse(bounded, wraps)
        work += analysis.work
    values = analysis.all_values()
    cells = tuple(map(_fill, program.cells, values))
    at = tuple(thread.known for thread in analysis.threads)
    text = (program.text or program) if program.has_assumptions else None
    result = Inference(replace(program, cells=cells, text=text), at, values)
    if wraps or not _has_conversions(program):
        _refuse_unbounded(program, analysis, values)
    if not wraps:
        try:
            refuse_overflow(result.program, result.at, result.lookup)
        except UnsupportedError:
            # A cell without a range is the cause, if there is one.  Without an overflow, a cell
            # that may hold all 64-bit numbers is meant to.
            _refuse_unbounded(program, analysis, values)
            raise
    return result


def _has_conversions(program: Program) -> bool:
    parts = (part for edge in program.edges for expr in edge.expressions for part in walk(expr))
    return any(isinstance(part, Convert) for part in parts)


def _analyse(program: Program, wraps: bool) -> Analysis:
    analysis = Analysis(program, wraps)
    analysis.ascend()
    for _ in range(NARROWING_ROUNDS):
        if not analysis.overshot or not analysis.narrow():
            break
    return analysis


def _declare(program: Program, ranges: Mapping[int, Bounds]) -> Program:
    """Give cells ranges that they are known to keep, as if the model had declared them."""
    cells = list(program.cells)
    for address, (low, high) in ranges.items():
        cells[address] = replace(cells[address], low=low, high=high, inferred=False)
    return replace(program, cells=tuple(cells))


def _fill(cell: Cell, values: ValueSet) -> Cell:
    listed = values.points
    most = MOST_ADDRESSES if cell.role in _LISTED_ROLES else MOST_POINTS
    if listed is not None and len(listed) > most:
        listed = None
    if cell.inferred:
        low, high = values.low, values.high
        return replace(cell, low=low, high=high, points=listed, inferred=False)
    if listed is not None and (cell.role in _LISTED_ROLES or listed == (cell.initial,)):
        return replace(cell, points=listed)
    return cell


def _refuse_unbounded(program: Program, analysis: Analysis, values: tuple[ValueSet, ...]) -> None:
    unbounded = [
        address
        for address, cell in enumerate(program.cells)
        if cell.inferred and values[address].is_extreme and values[address].points is None
    ]
    if not unbounded:
        return
    # An unbounded counter makes all cells unbounded that are computed from it.
    cells, causes = program.cells, find_causes(analysis)
    worst = min(unbounded, key=lambda a: (a not in causes, *_rank_suspect(cells[a]), a))
    cell = cells[worst]
    where, what, advice = cell.span, f"`{cell.name}`", "give it a range"
    queue = _ITEM.fullmatch(cell.name) if cell.role is Role.SYNC else None
    if queue is not None:
        what = f"the items of `{queue[1]}`"
        advice = f"declare them, for example {_suggest_queue(program, cell, queue[1])}"
    elif cell.is_temporary:
        where = next((e.span for e in program.edges if _grows(e, worst)), where)
        what = "a value that is computed here"
        advice = "keep it small, for example with a remainder"
    elif where is not None and where.file.endswith(".py"):
        low = min(cell.initial, -10 if values[worst].low < min(cell.initial, 0) else 0)
        advice = f"declare it, for example {_suggest_declaration(program, cell, low)}"
        if _is_parameter(program, cell):
            ends = f"Int[{low}, {max(cell.initial, 10)}]"
            advice = (
                "the range of a parameter is that of its first value; use a variable with a range"
                f" instead, for example `count: {ends} = {cell.name}`"
            )
    they = "they" if queue is not None else "it"
    wrong = f"no range can be derived for {what} ({they} may grow without limit)"
    raise UnboundedError.at(where, f"{wrong}; {advice}")


def _rank_suspect(cell: Cell) -> tuple[bool, bool, bool, bool]:
    """Return a sort key that puts those cells first that are the easiest to declare."""
    part_of_queue = cell.role is Role.SYNC
    return cell.is_temporary, cell.span is None, part_of_queue, cell.owner is not None


_ITEM = re.compile(r"(.+)\.item\[\d+\].*")


def _suggest_queue(program: Program, cell: Cell, name: str) -> str:
    """Suggest a declaration of what a queue holds."""
    made = re.search(r"\w*Queue\b", _source_at(program, cell.span))
    kind = made[0] if made else "Queue"
    slots = sum(each.name.startswith(f"{name}.item[") for each in program.cells)
    return f"`{kind}({slots}, Int[0, 10])`"


def _source_at(program: Program, span: Span | None) -> str:
    """Return the source line from a place on; empty if it is not known."""
    lines = split_lines(program.sources.get(span.file, "")) if span is not None else []
    if span is None or not 0 < span.line <= len(lines):
        return ""
    return lines[span.line - 1][max(span.column - 1, 0) :]


def _grows(edge: Edge, address: int) -> bool:
    """Whether an edge computes a new value for a cell."""
    stores = (to for to in edge.operations if isinstance(to, Assign))
    return any(to.address == Const(address) and _at_risk(to.value) for to in stores)


def _suggest_declaration(program: Program, cell: Cell, low: int) -> str:
    """Suggest a declaration in a Python model, for a variable, a field or an array's elements."""
    ends = f"Int[{low}, {max(cell.initial, 10)}]"
    hint = "" if _imports_int(program) else " (with `from mazurka.model import Int`)"
    owner, dot, short = cell.name.rpartition(".")
    if "[" in short:
        name = short.partition("[")[0]
        made = _write_array_type(program, owner + dot + name, ends)
        return f"`{name} = {made}`{hint.replace('import ', 'import Array, ')}"
    plain = f"`{short}: {ends} = {cell.initial}`"
    declared = _source_at(program, cell.span)
    if field := re.match(rf"\w+\.{re.escape(short)}\b", declared):
        return f"`{field[0]}: {ends} = ...`{hint}"
    if dot and re.match(rf"{re.escape(short)}\s*:", declared):
        return plain + hint
    if dot:
        return f"{plain} in its class, or `self.{short}: {ends} = ...` in `__init__`{hint}"
    return plain + hint


def _is_parameter(program: Program, cell: Cell) -> bool:
    """Whether a cell is declared in the head of a function, judged by what is around the name."""
    span = cell.span
    if span is None or not span.end_column or not _source_at(program, span).startswith(cell.name):
        return False
    whole = _source_at(program, replace(span, column=1))
    before, after = whole[: span.column - 1].rstrip(), whole[span.end_column - 1 :].lstrip()
    return before.endswith(("(", ",", "*")) or after.startswith((",", ")"))


def _write_array_type(program: Program, name: str, element: str) -> str:
    """Write the type of an array, with the lengths that follow from the names of its cells."""
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
    """Whether there is an operator in an expression whose result might not fit."""
    match expr:
        case Const() | Load(Const()):
            return False
        case Binary(operator) | Unary(operator) if operator in _SYMBOLS:
            return True
        case _:
            return any(map(_at_risk, children(expr)))


def _refuse(program: Program, edge: Edge, facts: Facts) -> None:
    symbol = None if edge.guard is None else _find_excess(edge.guard, facts)
    possible = edge.guard is None or facts.assume(edge.guard)
    facts.choices = edge.choices
    for operation in edge.operations:
        if symbol is not None or not possible:
            break
        if isinstance(operation, Assign):
            symbol = _find_excess(operation.address, facts) or _find_excess(operation.value, facts)
        else:
            symbol = _find_excess(operation.condition, facts)
        possible = facts.perform(operation, program.cells, lambda address, values: None)
    if symbol is not None:
        raise UnsupportedError.at(
            edge.span,
            f"the result of `{symbol}` may exceed 64 bits here; declare smaller ranges for the "
            "variables it is made of, or keep it small with `%`",
        )


_MODULAR = frozenset({"add", "sub", "mul", "neg"})
"""Operators whose low bits are those of their operands' low bits; a left shift's are, too, except
that the whole distance counts."""


def _find_excess(expr: Expr, facts: Facts, *, meant: bool = False) -> str | None:
    """Return the symbol of an operator in `expr` whose result may not fit.

    `meant` says that the result may wrap around: it is converted.
    """
    if not _at_risk(expr):
        return None
    if isinstance(expr, Conditional):
        return _find_branch_excess(expr, facts)
    modular = isinstance(expr, Binary | Unary) and expr.operator in _MODULAR
    shifted = isinstance(expr, Binary) and expr.operator == "shl"
    for position, child in enumerate(children(expr)):
        inside = meant and (modular or (shifted and position == 0))
        symbol = _find_excess(child, facts, meant=inside or isinstance(expr, Convert))
        if symbol is not None:
            return symbol
    if meant:
        return None
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


def _find_branch_excess(expr: Conditional, facts: Facts) -> str | None:
    symbol = _find_excess(expr.test, facts)
    for branch, outcome in ((expr.then, True), (expr.otherwise, False)):
        inside = facts.copy()
        if symbol is None and inside.assume(expr.test, outcome):
            symbol = _find_excess(branch, inside)
    return symbol
