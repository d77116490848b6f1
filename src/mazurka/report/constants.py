"""The values of constants that a condition names.

A variable of the module that no function assigns is a constant: no step reads it, and a trace would
not show it.  But that nobody assigns it may be just why a thread waits for ever, so reports name
the value wherever a thread waits, or goes round and reads nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from mazurka.frontend.python.survey import count_stores, find_free_names, walk_own_nodes
from mazurka.ir.program import Program, Span
from mazurka.report.places import Shown

MOST_KEPT = 256


def name_constants(program: Program, span: Span, condition: str | None = None) -> dict[str, Shown]:
    """The constants in a condition, or in that of the loop or branch at a place, with their values.

    A name is not that of a constant if a function around the place has a variable of this name.
    """
    text = program.sources.get(span.file, "")
    if not program.constants or not text:
        return {}
    if condition is None:
        condition = _find_condition(text, span.line)
    bound = _find_bound_names(text, span.line)
    return {
        name: _show(text, name, program.constants[name])
        for name in _list_names(condition)
        if name in program.constants and name not in bound
    }


def _show(text: str, name: str, value: int) -> Shown:
    return bool(value) if name in _find_truth_values(text) else value


@lru_cache(MOST_KEPT)
def _list_names(condition: str) -> tuple[str, ...]:
    """The names that a condition uses, in the order of the text."""
    tree = _parse(condition)
    free = find_free_names(tree)
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in free]
    named.sort(key=lambda node: (node.lineno, node.col_offset))
    return tuple(dict.fromkeys(node.id for node in named))


@lru_cache(MOST_KEPT)
def _find_condition(text: str, line: int) -> str:
    """The condition of the loop or branch that begins in a line; empty if there is none."""
    for node in ast.walk(_parse(text)):
        if isinstance(node, ast.While | ast.If) and node.lineno == line:
            return ast.unparse(node.test)
    return ""


@lru_cache(MOST_KEPT)
def _find_bound_names(text: str, line: int) -> frozenset[str]:
    """The variables of the functions around a line."""
    bound: set[str] = set()
    for node in ast.walk(_parse(text)):
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or line):
            bound |= {argument.arg for argument in _list_arguments(node.args)}
            inside = list(walk_own_nodes(node.body))
            declared = (each.names for each in inside if isinstance(each, ast.Global))
            bound |= count_stores(node.body).keys() - {name for each in declared for name in each}
    return frozenset(bound)


def _list_arguments(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from filter(None, (arguments.vararg, arguments.kwarg))


@lru_cache(MOST_KEPT)
def _find_truth_values(text: str) -> frozenset[str]:
    """The variables of a module that are truth values, by their declarations or first values."""
    found: set[str] = set()
    for node in _parse(text).body:
        match node:
            case ast.AnnAssign(ast.Name(name), ast.Name("Bool" | "bool")):
                found.add(name)
            case ast.Assign(targets, ast.Constant(bool())):
                found.update(target.id for target in targets if isinstance(target, ast.Name))
    return frozenset(found)


@lru_cache(MOST_KEPT)
def _parse(text: str) -> ast.Module:
    """The syntax tree; an empty one for what is not Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])
