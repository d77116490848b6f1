"""Programs that `mazurka export` has written, as JSON; they are checked exactly as they stand.

An address outside the cells becomes null, which fails alike: searches append cells, and the
address would name one of them.

A file may list the values of a cell (`Cell.points`), on which packed states rely.  Nobody knows who
has written it, so the list is a claim: it counts if the range analysis proves it once more.
"""

from __future__ import annotations

from dataclasses import replace

from mazurka.deadline import TimeLimitError
from mazurka.errors import MazurkaError
from mazurka.frontend.registry import Frontend
from mazurka.ir.expressions import ZERO, Binary, Conditional, Const, Expr, Load, rebuild
from mazurka.ir.program import Assign, Check, Edge, Operation, Program
from mazurka.ir.values.evaluation import evaluate
from mazurka.ir.values.footprints import Footprints
from mazurka.search.reading import FOR_C, Reading

_SETTLED = "--max-threads and --max-depth were settled when the program was exported"
REFUSED = {
    "definitions": "-D changes constants of a model; an exported program has none left",
    "merge": "--no-merge is an option of `export` where a program has been exported",
    "granularity": "--granularity is for models; an exported program's steps are settled",
    "max_threads": _SETTLED,
    "max_depth": _SETTLED,
    **FOR_C,
}


def _load(path: str, reading: Reading) -> Program:
    from mazurka.ir.passes.prepare import prepare
    from mazurka.ir.passes.validate import validate
    from mazurka.ir.serialize import load_json

    reading.refuse(REFUSED)
    program = _without_stray_addresses(load_json(path))
    try:
        if any(cell.inferred for cell in program.cells):
            return prepare(_without_values(program))
        validate(program)
        return _drop_unproven_values(program)
    except MazurkaError as error:
        if error.file is not None or isinstance(error, TimeLimitError):
            raise
        raise MazurkaError(error.message, file=path) from error


def _without_stray_addresses(program: Program) -> Program:
    footprints, last = Footprints(program), len(program.cells) - 1

    def place(address: Expr, choices: int) -> Expr:
        values = evaluate(address, footprints.lookup, choices)
        if values.low >= 0 and values.high <= last:
            return address
        if isinstance(address, Const):
            return ZERO
        return Conditional(Binary("le", address, Const(last)), address, ZERO)

    def follow(expr: Expr, choices: int) -> Expr:
        found = rebuild(expr, lambda part: follow(part, choices))
        return Load(place(found.address, choices)) if isinstance(found, Load) else found

    def change(edge: Edge) -> Edge:
        operations: list[Operation] = []
        for each in edge.operations:
            if isinstance(each, Check):
                operations.append(replace(each, condition=follow(each.condition, edge.choices)))
            else:
                address = place(follow(each.address, edge.choices), edge.choices)
                operations.append(Assign(address, follow(each.value, edge.choices)))
        guard = None if edge.guard is None else follow(edge.guard, edge.choices)
        return replace(edge, guard=guard, operations=tuple(operations))

    threads = (
        replace(each, edges=tuple(change(edge) for edge in each.edges)) for each in program.threads
    )
    text = None if program.text is None else _without_stray_addresses(program.text)
    return replace(program, threads=tuple(threads), text=text)


def _without_values(program: Program) -> Program:
    cells = tuple(replace(cell, points=None) for cell in program.cells)
    return replace(program, cells=cells)


def _drop_unproven_values(program: Program) -> Program:
    """Keep the listed values of those cells alone that are proven to hold no others."""
    from mazurka.ir.passes.ranges import infer_ranges
    from mazurka.ir.values.evaluation import MOST_ADDRESSES, from_points

    if all(cell.points is None for cell in program.cells):
        return program
    values = infer_ranges(program, wraps=True).cells
    cells = tuple(
        cell
        if cell.points is None or found.is_subset(from_points(cell.points, MOST_ADDRESSES))
        else replace(cell, points=None)
        for cell, found in zip(program.cells, values, strict=True)
    )
    return replace(program, cells=cells)


def _recognizes(text: str) -> bool:
    return text.lstrip().startswith("{") and '"mazurka-program"' in text


FRONTEND = Frontend(suffixes=(".json",), recognizes=_recognizes, load=_load, complete=True)
