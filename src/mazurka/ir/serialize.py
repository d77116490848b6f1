"""Programs as JSON, written and read back.

What is read may come from anywhere: every field is checked for its type and its range before a
`Program` is built, and a mistake is reported with the path to it (`threads[0].edges[3].guard`).
Expressions are lists with the node's name first: `["add", ["load", ["const", 3]], ["const", 1]]`.
"""

from __future__ import annotations

from mazurka.ir.expressions import (
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
from mazurka.ir.program import (
    Assign,
    Cell,
    Check,
    Declaration,
    Edge,
    Location,
    Operation,
    Program,
    Span,
    Thread,
)

FORMAT = "mazurka-program"
FORMAT_VERSION = 1


def to_json(program: Program) -> dict[str, object]:
    """A program as plain lists, dictionaries, strings and numbers."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "name": program.name,
        "constants": dict(program.constants),
        "sources": dict(program.sources),
        "cells": [_cell(cell) for cell in program.cells],
        "threads": [_thread(thread) for thread in program.threads],
        "declared": [_declared(cell, found) for cell, found in sorted(program.declared.items())],
    }


def _span(span: Span | None) -> list[object] | None:
    return None if span is None else [span.file, span.line, span.column]


def _cell(cell: Cell) -> dict[str, object]:
    return {
        "name": cell.name,
        "low": cell.low,
        "high": cell.high,
        "initial": cell.initial,
        "owner": cell.owner,
        "role": str(cell.role),
        "points": None if cell.points is None else list(cell.points),
        "span": _span(cell.span),
        "inferred": cell.inferred,
    }


def _declared(cell: int, declaration: Declaration) -> dict[str, object]:
    return {
        "cell": cell,
        "kind": declaration.kind,
        "lock": declaration.lock,
        "span": _span(declaration.span),
    }


def _thread(thread: Thread) -> dict[str, object]:
    return {
        "name": thread.name,
        "counter": thread.counter,
        "entry": thread.entry,
        "active": thread.active,
        "observer": thread.observer,
        "locations": [_location(location) for location in thread.locations],
        "edges": [_edge(edge) for edge in thread.edges],
    }


def _location(location: Location) -> dict[str, object]:
    return {
        "mode": str(location.mode),
        "span": _span(location.span),
        "resets": list(location.resets),
    }


def _edge(edge: Edge) -> dict[str, object]:
    return {
        "source": edge.source,
        "target": edge.target,
        "kind": str(edge.kind),
        "span": _span(edge.span),
        "guard": None if edge.guard is None else expression_json(edge.guard),
        "operations": [_operation(operation) for operation in edge.operations],
        "choices": edge.choices,
        "atomic": edge.atomic,
        "subject": None if edge.subject is None else expression_json(edge.subject),
        "text": edge.text,
    }


def _operation(operation: Operation) -> list[object]:
    match operation:
        case Assign(address, value):
            return ["assign", expression_json(address), expression_json(value)]
        case Check(condition, fault, message):
            return ["check", expression_json(condition), str(fault), message]


def expression_json(expr: Expr) -> list[object]:
    match expr:
        case Const(value):
            return ["const", value]
        case Choice():
            return ["choice"]
        case Load(address):
            return ["load", expression_json(address)]
        case Unary(operator, operand):
            return [operator, expression_json(operand)]
        case Binary(operator, left, right):
            return [operator, expression_json(left), expression_json(right)]
        case Conditional(test, then, otherwise):
            return ["if", *(expression_json(part) for part in (test, then, otherwise))]
        case Element(base, index, length, stride):
            return ["element", expression_json(base), expression_json(index), length, stride]
        case Convert(operand, width, signed):
            return ["convert", expression_json(operand), width, signed]
