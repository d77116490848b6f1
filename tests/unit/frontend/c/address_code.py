"""Random C programs that compare the addresses of objects, some of which are no more, and the
numbers of threads; with all answers that an allocator could give."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from mazurka.checking import load_program
from mazurka.ir.interpreter import Interpreter, Outcome
from mazurka.search.reading import Reading

NAMES = ("p", "t", "out", "run", "keep0", "keep1", "keep2", "main")
"""What each program defines for all functions."""
HEAD = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
int *p[3];
pthread_t t[2];
unsigned out = 1;
void *run(void *unused) { return 0; }
"""
KEEPS = "void keep{0}(void) {{ int here = 1; p[{0}] = &here; }}\n"
TYPES = ("malloc(sizeof(int))", "malloc(2 * sizeof(int))", "calloc(1, sizeof(int))")
COMPARISONS = (
    "p[{0}] == p[{1}]", "!(p[{0}] != p[{1}])", "p[{0}] + 1 == p[{1}] + 1",
    "!(p[{0}] < p[{1}] || p[{0}] > p[{1}])", "p[{0}] <= p[{1}] && p[{0}] >= p[{1}]",
    "__sync_bool_compare_and_swap(&p[{0}], p[{1}], p[{0}])",
)  # fmt: skip
Statement = tuple[object, ...]
MOST_ANSWERS = 12


@dataclass(slots=True)
class Shape:
    """What is alive while a program is made: the owner of each object, and running threads."""

    owned: list[bool] = field(default_factory=lambda: [False] * 3)
    set: list[bool] = field(default_factory=lambda: [False] * 3)
    running: list[bool] = field(default_factory=lambda: [False] * 2)
    started: list[bool] = field(default_factory=lambda: [False] * 2)
    answers: int = 0


def make_statements(random: Random, count: int = 18) -> list[Statement]:
    """The statements of a program whose pointers are followed nowhere, and freed once."""
    shape = Shape()
    found: list[Statement] = []
    threads = random.random() < 0.3
    while len(found) < count:
        found += _make(random, shape, threads)
    return found


def _make(random: Random, shape: Shape, threads: bool) -> Iterator[Statement]:
    one, other, thread = random.randrange(3), random.randrange(3), random.randrange(2)
    match random.randrange(13):
        case 0 | 1 | 2 if not shape.owned[one]:
            yield "malloc", one, random.randrange(len(TYPES))
            shape.owned[one] = shape.set[one] = True
        case 3 | 4 if shape.owned[one]:
            yield "free", one
            shape.owned[one] = False
        case 5 if shape.owned[one] and not shape.owned[other] and one != other:
            yield "copy", other, one
            shape.set[other] = True
        case 6 if shape.owned[one] and (one == other or not shape.owned[other]):
            yield "realloc", other, one
            shape.owned[one] = False
            shape.owned[other] = shape.set[other] = True
        case 7 if not shape.owned[one] and random.randrange(2):
            yield random.choice(("keep", "block")), one
            shape.set[one] = True
        case 8 if threads and not shape.running[thread]:
            yield "start", thread
            shape.running[thread] = shape.started[thread] = True
        case 9 if threads and shape.running[thread]:
            yield "join", thread
            shape.running[thread] = False
        case 10 | 11 | 12 if shape.answers < MOST_ANSWERS:
            if all(shape.started) and random.randrange(2):
                yield "equal", 0, 1
            elif shape.set[one] and shape.set[other] and one != other:
                yield "same", one, other, random.randrange(len(COMPARISONS))
            else:
                return
            shape.answers += 1


def show_program(statements: list[Statement]) -> str:
    body = "\n  ".join(_show(each) for each in statements)
    keeps = "".join(KEEPS.format(number) for number in range(3))
    return (
        f'{HEAD}{keeps}int main(void) {{\n  {body}\n  printf("%u\\n", out);\n'
        "  return 0;\n}\n"
    )  # fmt: skip


def _show(statement: Statement) -> str:
    match statement:
        case "malloc", one, kind:
            return f"p[{one}] = {TYPES[int(str(kind))]};"
        case "free", one:
            return f"free(p[{one}]);"
        case "copy", other, one:
            return f"p[{other}] = p[{one}];"
        case "realloc", other, one:
            return f"p[{other}] = realloc(p[{one}], 3 * sizeof(int));"
        case "keep", one:
            return f"keep{one}();"
        case "block", one:
            return f"{{ int here = 1; p[{one}] = &here; }}"
        case "start", thread:
            return f"pthread_create(&t[{thread}], 0, run, 0);"
        case "join", thread:
            return f"pthread_join(t[{thread}], 0);"
        case "same", one, other, kind:
            return f"out = 2 * out + ({COMPARISONS[int(str(kind))].format(one, other)});"
        case "equal", one, other:
            return f"out = 2 * out + (pthread_equal(t[{one}], t[{other}]) != 0);"
    raise ValueError(statement)


# --- all allocators ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class World:
    """What an allocator has done so far: who has which address, and which ones are in use."""

    p: tuple[int, ...] = (0, 0, 0)
    t: tuple[int, ...] = (0, 0)
    used: frozenset[int] = frozenset()
    known: frozenset[int] = frozenset()
    out: int = 1


HEAP, STACK, THREADS = 0, 1000, 2000


def find_answers(statements: list[Statement]) -> set[int]:
    """What the program may print, with all allocators."""
    worlds = {World()}
    for statement in statements:
        worlds = {after for world in worlds for after in _step(world, statement)}
    return {world.out for world in worlds}


def _step(world: World, statement: Statement) -> Iterator[World]:
    match statement:
        case "malloc", int(one), _:
            for address, used, known in _take(world, HEAP):
                yield _with(world, used, known, p=_set(world.p, one, address))
        case "free", int(one):
            yield _with(world, world.used - {world.p[one]}, world.known)
        case "copy", int(other), int(one):
            yield _with(world, world.used, world.known, p=_set(world.p, other, world.p[one]))
        case "realloc", int(other), int(one):
            old = world.p[one]
            for address, used, known in (*_take(world, HEAP), (old, world.used, world.known)):
                p = _set(world.p, other, address)
                yield _with(world, (used - {old}) | {address}, known, p=p)
        case (("keep" | "block"), int(one)):
            for address, _, known in _take(world, STACK):
                yield _with(world, world.used, known, p=_set(world.p, one, address))
        case "start", int(thread):
            for address, used, known in _take(world, THREADS):
                yield _with(world, used, known, t=_set(world.t, thread, address))
        case "join", int(thread):
            yield _with(world, world.used - {world.t[thread]}, world.known)
        case "same", int(one), int(other), _:
            yield _answer(world, world.p[one] == world.p[other])
        case "equal", int(one), int(other):
            yield _answer(world, world.t[one] == world.t[other])


def _take(world: World, kind: int) -> Iterator[tuple[int, frozenset[int], frozenset[int]]]:
    """Take an address that was used before, or a new one."""
    here = [each for each in world.known if kind < each < kind + 1000]
    new = next(each for each in itertools.count(kind + 1) if each not in world.known)
    for address in (*(each for each in here if each not in world.used), new):
        yield address, world.used | {address}, world.known | {address}


def _set(values: tuple[int, ...], position: int, value: int) -> tuple[int, ...]:
    return (*values[:position], value, *values[position + 1 :])


def _with(
    world: World,
    used: frozenset[int],
    known: frozenset[int],
    p: tuple[int, ...] | None = None,
    t: tuple[int, ...] | None = None,
) -> World:
    return World(
        world.p if p is None else p, world.t if t is None else t, used, known, world.out
    )  # fmt: skip


def _answer(world: World, same: bool) -> World:
    return World(world.p, world.t, world.used, world.known, 2 * world.out + same)


def explore_answers(source: str, folder: Path) -> set[int | str]:
    """What the program may have printed where it ends, and the faults that it comes to."""
    path = folder / "addresses.c"
    path.write_text(source, encoding="utf-8")
    program = load_program(str(path), Reading())
    address = next(at for at, cell in enumerate(program.cells) if cell.name == "out")
    interpreter = Interpreter(program)
    found: set[int | str] = set()
    waiting = [program.initial_state()]
    seen = set(waiting)
    while waiting:
        state = waiting.pop()
        moved = False
        for thread in range(len(program.threads)):
            for _, step in interpreter.steps_of(state, thread):
                if step.fault is not None:
                    found.add(step.fault.message)
                if step.outcome is Outcome.MOVED:
                    moved = True
                    if step.state not in seen:
                        seen.add(step.state)
                        waiting.append(step.state)
        if not moved:
            found.add(state[address])
    return found
