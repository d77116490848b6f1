"""A toy language: one thread a line, statements separated by semicolons.

    thread A: lock m; x = x + 1; unlock m
    thread B: lock m; x = x + 1; unlock m; assert x >= 1

Variables are shared numbers from 0 to 255 that begin at 0; locks are mutexes.  Both exist by being
named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mazurka.errors import UnsupportedError
from mazurka.frontend.kit.arithmetic import binary
from mazurka.frontend.kit.builder import ThreadBuilder
from mazurka.frontend.kit.locks import LockShape
from mazurka.frontend.kit.program import Automaton, ProgramDraft, ThreadPlan
from mazurka.frontend.kit.shapes import Blueprint, NumberShape, Reference
from mazurka.frontend.kit.threads import finish
from mazurka.frontend.registry import Frontend, read_source
from mazurka.ir.expressions import Const, Expr
from mazurka.ir.program import Program, Span, split_lines
from mazurka.search.reading import Reading

THREAD = re.compile(r"thread (\w+): (.*)")
NUMBER = NumberShape(0, 255, inferred=False)
OPERATORS = {"+": "add", "-": "sub", "==": "eq", ">=": "ge"}

REFUSED = {
    "definitions": "-D changes constants; the toy language has none",
    "max_threads": "--max-threads is for threads made on the way; the toy language has none",
    "max_depth": "--max-depth is for recursion; the toy language has none",
}


def load(path: str, reading: Reading) -> Program:
    reading.refuse(REFUSED)
    text = read_source(path, "a program in the toy language (`.toy`)")
    lines = [(number, line) for number, line in enumerate(split_lines(text), 1) if line.strip()]
    program = ProgramDraft(path, text, threads=len(lines))
    program.reserve()
    objects: dict[str, Reference] = {}
    plans, automata = [], []
    for thread, (number, line) in enumerate(lines):
        here = Span(path, number, 1, len(line) + 1)
        found = THREAD.fullmatch(line)
        if found is None:
            raise UnsupportedError.at(here, "a thread is written `thread NAME: statements`")
        plan = ThreadPlan(thread, found[1], here)
        build = ThreadBuilder(program, thread, Automaton())
        build.require_automaton().begin(here)
        for words, span in statements(found, here):
            translate(build, objects, words, span)
            build.release(0)  # the statement has ended: its temporaries are free
        finish(build, plan, here)
        plans.append(plan)
        automata.append(build.require_automaton())
    return program.assemble(plans, automata)


def statements(found: re.Match[str], line: Span) -> Iterator[tuple[list[str], Span]]:
    """The words of each statement, and its place."""
    for part in re.finditer(r"[^;\s][^;]*", found[2]):
        column = found.start(2) + part.start() + 1
        yield part[0].split(), Span(line.file, line.line, column, column + len(part[0]))


def translate(
    build: ThreadBuilder, objects: dict[str, Reference], words: list[str], span: Span
) -> None:
    match words:
        case ["lock", name]:
            lock = lock_of(build, objects, name, span)
            assert isinstance(lock.shape, LockShape)
            lock.shape.acquire(build, lock, span)
        case ["unlock", name]:
            lock = lock_of(build, objects, name, span)
            assert isinstance(lock.shape, LockShape)
            lock.shape.release(build, lock, span)
        case [name, "=", *right]:
            value = value_of(build, objects, right, span)
            build.store(variable(build, objects, name, span), value, span)
        case ["assert", *condition]:
            test = value_of(build, objects, condition, span)
            build.check(test, f"assertion failed: {' '.join(condition)}", span, " ".join(words))
        case _:
            raise UnsupportedError.at(span, f"`{' '.join(words)}` is no statement")


def value_of(
    build: ThreadBuilder, objects: dict[str, Reference], words: list[str], span: Span
) -> Expr:
    match words:
        case [word] if word.isdigit():
            return Const(int(word))
        case [word] if word.isidentifier():
            return build.load(variable(build, objects, word, span), span)
        case [left, operator, right] if operator in OPERATORS:
            first = value_of(build, objects, [left], span)
            second = value_of(build, objects, [right], span)
            return binary(OPERATORS[operator], first, second)
        case _:
            raise UnsupportedError.at(span, f"`{' '.join(words)}` is no expression")


def variable(
    build: ThreadBuilder, objects: dict[str, Reference], name: str, span: Span
) -> Reference:
    if name not in objects:
        objects[name] = build.program.share(name, Blueprint.default(NUMBER), span)
    if isinstance(objects[name].shape, LockShape):
        raise UnsupportedError.at(span, f"`{name}` is a lock, not a variable")
    return objects[name]


def lock_of(
    build: ThreadBuilder, objects: dict[str, Reference], name: str, span: Span
) -> Reference:
    if name not in objects:
        shape = LockShape(build.program.threads)
        objects[name] = build.program.share(name, Blueprint.default(shape), span)
    if not isinstance(objects[name].shape, LockShape):
        raise UnsupportedError.at(span, f"`{name}` is a variable, not a lock")
    return objects[name]


FRONTEND = Frontend(
    suffixes=(".toy",), recognizes=lambda text: THREAD.match(text) is not None, load=load
)
