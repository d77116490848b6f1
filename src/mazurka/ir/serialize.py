"""Write programs as JSON, and read them back.

The input is not trusted: every field is checked for its type and its range before a `Program` is
built, and a mistake is reported with the path to it (`threads[0].edges[3].guard`).
Expressions are lists with the node's name first: `["add", ["load", ["const", 3]], ["const", 1]]`.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from mazurka.deadline import TimeLimitError
from mazurka.errors import MazurkaError
from mazurka.ir.expressions import (
    BINARY_OPERATORS,
    UNARY_OPERATORS,
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
    DECLARED,
    FIRST_LOCATION,
    ORDERED,
    Assign,
    Cell,
    Check,
    Declaration,
    DeclaredFormula,
    Edge,
    Fault,
    Kind,
    Location,
    Mode,
    Operation,
    Program,
    Relaxed,
    Role,
    Span,
    Thread,
)

FORMAT = "mazurka-program"
FORMAT_VERSION = 1
MOST_RELAXED = int(Relaxed.READ | Relaxed.WRITE | Relaxed.FAILURE)

NODES: dict[type, str] = {
    Const: "const",
    Choice: "choice",
    Load: "load",
    Conditional: "if",
    Element: "element",
    Convert: "convert",
    Assign: "assign",
    Check: "check",
}
"""The names of nodes, except operators, which have their own names."""


def to_json(program: Program) -> dict[str, object]:
    """Convert a program to plain lists, dictionaries, strings and numbers."""
    found: dict[str, object] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "name": program.name,
        "constants": dict(program.constants),
        "sources": dict(program.sources),
        **_body_json(program),
        "declared": [
            {"cell": cell, **_fields(found)} for cell, found in sorted(program.declared.items())
        ],
    }
    for name in ("functions", "remarks", "assumed"):
        if texts := getattr(program, name):
            found[name] = list(texts)
    if program.weak:
        found["weak"] = True
    if program.formulas:
        found["formulas"] = [_fields(each) for each in program.formulas]
    return found | ({"text": _body_json(program.text)} if program.text is not None else {})


def _body_json(program: Program) -> dict[str, object]:
    """Convert what a program does; its names and sources are the same before and after passes."""
    return {
        "cells": _plain(program.cells),
        "threads": [_thread_json(thread) for thread in program.threads],
    }


def _thread_json(thread: Thread) -> dict[str, object]:
    """Convert a thread to its fields, the long ones last."""
    found = _fields(thread)
    return found | {name: found.pop(name) for name in ("locations", "edges")}


def _fields(value: Any) -> dict[str, object]:
    return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}


def _plain(value: object) -> object:
    match value:
        case enum.StrEnum():
            return str(value)
        case tuple():
            return [_plain(item) for item in value]
        case Span(file, line, column):
            return [file, line, column]
        case Unary() | Binary():
            return list(_fields(value).values())
        case Cell() | Edge() | Location():
            return _fields(value)
        case _ if type(value) in NODES:
            return [NODES[type(value)], *_fields(value).values()]
        case _:
            return value


T = TypeVar("T")
Name = TypeVar("Name", bound=enum.StrEnum)

DEEPEST = 200
"""The deepest nesting of expressions that is accepted, which limits the recursion."""


class Reader:
    """A JSON value and the path to it."""

    def __init__(self, value: object, path: str) -> None:
        self.value = value
        self.path = path

    def wrong(self, what: str) -> MazurkaError:
        return MazurkaError(f"this is not a valid program: {self.path or 'the file'} {what}")

    def field(self, name: str) -> Reader:
        if not isinstance(self.value, dict):
            raise self.wrong("is not an object")
        if name not in self.value:
            raise self.wrong(f"has no `{name}`")
        return Reader(self.value[name], f"{self.path}.{name}" if self.path else name)

    def has(self, name: str) -> bool:
        return isinstance(self.value, dict) and name in self.value

    def items(self) -> list[Reader]:
        if not isinstance(self.value, list):
            raise self.wrong("is not a list")
        return [Reader(item, f"{self.path}[{i}]") for i, item in enumerate(self.value)]

    def each(self, read: Callable[[Reader], T]) -> tuple[T, ...]:
        return tuple(read(item) for item in self.items())

    def optional(self, read: Callable[[Reader], T]) -> T | None:
        return None if self.value is None else read(self)

    def number(self, low: int = -(2**63), high: int = 2**63 - 1) -> int:
        value = self.value
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.wrong(f"is not a whole number from {low} to {high}")
        return value

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong("is not a string")
        return self.value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.wrong("is neither true nor false")
        return self.value

    def named(self, names: type[Name]) -> Name:
        text = self.text()
        try:
            return names(text)
        except ValueError:
            raise self.wrong(f"is {text!r}; known are {', '.join(names)}") from None

    def mapping(self, read: Callable[[Reader], T]) -> dict[str, T]:
        if not isinstance(self.value, dict):
            raise self.wrong("is not an object")
        return {
            str(name): read(Reader(value, f"{self.path}.{name}"))
            for name, value in self.value.items()
        }


def load_json(path: str) -> Program:
    """Read a program from a file."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise MazurkaError.unreadable(path, error) from error
    except (ValueError, RecursionError) as error:
        raise MazurkaError("this is not JSON", file=path) from error
    try:
        return from_json(data)
    except TimeLimitError:
        raise
    except MazurkaError as error:
        raise MazurkaError(error.message, file=path) from error


def from_json(data: object) -> Program:
    """Build the program that `to_json` wrote; anything else is a `MazurkaError`."""
    top = Reader(data, "")
    if top.field("format").value != FORMAT:
        raise top.wrong("was not written by mazurka export")
    if top.field("format_version").value != FORMAT_VERSION:
        raise top.wrong(f"has another format version than {FORMAT_VERSION}")
    cells, threads = _body(top)
    program = Program(
        name=top.field("name").text(),
        cells=cells,
        threads=threads,
        constants=top.field("constants").mapping(Reader.number),
        sources=top.field("sources").mapping(Reader.text),
        declared=_declared(top, cells),
        formulas=top.field("formulas").each(_formula) if top.has("formulas") else (),
        functions=_texts(top, "functions"),
        remarks=_texts(top, "remarks"),
        assumed=_texts(top, "assumed"),
        weak=top.has("weak") and top.field("weak").flag(),
    )
    _check_counters(top, program)
    if not top.has("text"):
        return program
    return replace(program, text=_text(top.field("text"), program))


def _texts(top: Reader, name: str) -> tuple[str, ...]:
    """Read texts for people, a field that programs without them do not have."""
    return top.field(name).each(Reader.text) if top.has(name) else ()


def _body(reader: Reader) -> tuple[tuple[Cell, ...], tuple[Thread, ...]]:
    threads = reader.field("threads")
    if not threads.items():
        raise threads.wrong("is empty")
    cells = reader.field("cells").each(lambda item: _cell(item, len(threads.items())))
    if not cells:
        raise reader.field("cells").wrong("is empty; the null cell comes first")
    return cells, threads.each(lambda item: _thread(item, len(cells)))


def _text(reader: Reader, program: Program) -> Program:
    """Read the program before passes: it has the same addresses and locations."""
    cells, threads = _body(reader)
    if len(cells) != len(program.cells) or len(threads) != len(program.threads):
        raise reader.wrong("has other cells or threads than the program")
    for place, thread, other in zip(
        reader.field("threads").items(), threads, program.threads, strict=True
    ):
        if thread.counter != other.counter or len(thread.locations) != len(other.locations):
            raise place.wrong("has other locations than in the program")
    return replace(program, cells=cells, threads=threads)


def _check_counters(top: Reader, program: Program) -> None:
    """Check that each thread has its own program counter that can hold all its locations."""
    counters = [thread.counter for thread in program.threads]
    for number, thread in enumerate(program.threads):
        place = top.field("threads").items()[number]
        cell = program.cells[thread.counter]
        if counters.count(thread.counter) > 1:
            raise place.wrong("shares its program counter with another thread")
        if cell.role is not Role.COUNTER:
            raise place.wrong("has a program counter that is an ordinary cell")
        if not cell.low <= 0 <= len(thread.locations) - 1 <= cell.high:
            raise place.wrong("has more locations than its program counter can hold")
        if not 0 <= cell.initial < len(thread.locations):
            raise place.wrong("starts at a location that it does not have")


def _span(reader: Reader) -> Span:
    items = reader.items()
    if len(items) != 3:
        raise reader.wrong("is not [file, line, column]")
    return Span(items[0].text(), items[1].number(0), items[2].number(0))


def _cell(reader: Reader, threads: int) -> Cell:
    low, high = reader.field("low").number(), reader.field("high").number()
    initial, inferred = reader.field("initial").number(), reader.field("inferred").flag()
    if not inferred and not low <= initial <= high:
        raise reader.wrong(f"starts at {initial}, outside {low}..{high}")
    return Cell(
        name=reader.field("name").text(),
        low=low,
        high=high,
        initial=initial,
        owner=reader.field("owner").optional(lambda item: item.number(0, threads - 1)),
        role=reader.field("role").named(Role),
        points=reader.field("points").optional(lambda item: item.each(Reader.number)),
        span=reader.field("span").optional(_span),
        inferred=inferred,
        unsigned=reader.has("unsigned") and reader.field("unsigned").flag(),
    )


def _declared(top: Reader, cells: tuple[Cell, ...]) -> dict[int, Declaration]:
    """Read the declarations, a field that programs from older versions do not have."""
    if not isinstance(top.value, dict) or "declared" not in top.value:
        return {}
    found: dict[int, Declaration] = {}
    for item in top.field("declared").items():
        cell = item.field("cell").number(1, len(cells) - 1)
        if cell in found:
            raise item.field("cell").wrong("is declared twice")
        found[cell] = _declaration(item, cells)
    return found


def _formula(reader: Reader) -> DeclaredFormula:
    text, fair = reader.field("text").text(), reader.field("fair").flag()
    return DeclaredFormula(text, fair, _span(reader.field("span")))


def _declaration(reader: Reader, cells: tuple[Cell, ...]) -> Declaration:
    kind, place = reader.field("kind").text(), reader.field("lock")
    lock = place.optional(lambda item: item.number(1, len(cells) - 1))
    if kind not in DECLARED:
        raise reader.field("kind").wrong(f"is {kind!r}; known are {', '.join(DECLARED)}")
    if (kind == "protected") != (lock is not None):
        raise place.wrong("is there for protected cells, and only for them")
    if lock is not None and cells[lock].role is not Role.OWNER:
        raise place.wrong("is not the owner cell of a lock")
    return Declaration(kind, lock, _span(reader.field("span")))


def _thread(reader: Reader, cells: int) -> Thread:
    locations = reader.field("locations").each(lambda item: _location(item, cells))
    last = len(locations) - 1
    if last < FIRST_LOCATION - 1:
        raise reader.wrong("has no room for the locations finished, wrong and idle")
    return Thread(
        name=reader.field("name").text(),
        counter=reader.field("counter").number(1, cells - 1),
        entry=reader.field("entry").number(0, last),
        locations=locations,
        edges=reader.field("edges").each(lambda item: _edge(item, last)),
        active=reader.field("active").flag(),
        observer=reader.field("observer").flag(),
    )


def _location(reader: Reader, cells: int) -> Location:
    return Location(
        mode=reader.field("mode").named(Mode),
        span=reader.field("span").optional(_span),
        resets=reader.field("resets").each(lambda item: item.number(1, cells - 1)),
    )


def _edge(reader: Reader, last: int) -> Edge:
    return Edge(
        source=reader.field("source").number(FIRST_LOCATION, last),
        target=reader.field("target").number(0, last),
        kind=reader.field("kind").named(Kind),
        span=_span(reader.field("span")),
        guard=reader.field("guard").optional(_expression),
        operations=reader.field("operations").each(_operation),
        choices=reader.field("choices").number(1, 2**64),
        atomic=reader.field("atomic").flag(),
        subject=reader.field("subject").optional(_expression),
        text=reader.field("text").text(),
        relaxed=_relaxed(reader) if reader.has("relaxed") else ORDERED,
    )


def _relaxed(reader: Reader) -> Relaxed:
    """Read how an operation is too weak to order others, which older programs do not say."""
    return Relaxed(reader.field("relaxed").number(0, MOST_RELAXED))


def _operation(reader: Reader) -> Operation:
    items = reader.items()
    match [item.value for item in items]:
        case ["assign", _, _]:
            return Assign(_expression(items[1]), _expression(items[2]))
        case ["check", _, _, _]:
            return Check(_expression(items[1]), items[2].named(Fault), items[3].text())
    raise reader.wrong("is neither an assignment nor a check")


def _expression(reader: Reader, depth: int = 0) -> Expr:
    if depth > DEEPEST:
        raise reader.wrong("is nested too deeply")
    items = reader.items()

    def part(position: int) -> Expr:
        return _expression(items[position], depth + 1)

    head = items[0].text() if items else ""
    match head, len(items):
        case "const", 2:
            return Const(items[1].number())
        case "choice", 1:
            return Choice()
        case "load", 2:
            return Load(part(1))
        case "if", 4:
            return Conditional(part(1), part(2), part(3))
        case "element", 5:
            return Element(part(1), part(2), items[3].number(1), items[4].number(0))
        case "convert", 4:
            return Convert(part(1), items[2].number(1, 64), items[3].flag())
        case operator, 2 if operator in UNARY_OPERATORS:
            return Unary(operator, part(1))
        case operator, 3 if operator in BINARY_OPERATORS:
            return Binary(operator, part(1), part(2))
    raise reader.wrong(f"is no expression ({head!r} with {max(len(items) - 1, 0)} parts)")
