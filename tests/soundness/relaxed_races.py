"""Random programs with weak atomic operations, and their races by C11's happens-before order.

A program is a list of statements for each of two threads.  `write_program` writes it in C, and
`has_race` runs all of its interleavings with vector clocks: a read that acquires gets the clock
that a release has left with the value, and an exchange passes on what it finds.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

ORDERS = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")
ACQUIRING, RELEASING = ("acquire", "acq_rel", "seq_cst"), ("release", "acq_rel", "seq_cst")
FLAGS = ("f", "g")


@dataclass(frozen=True)
class Statement:
    kind: str
    """`write` or `read` of plain data; `store`, `load`, `add` or `exchange` of a flag."""
    name: str
    value: int = 0
    orders: tuple[str, str] = ("seq_cst", "seq_cst")
    then: tuple[Statement, ...] = ()
    otherwise: tuple[Statement, ...] = ()


def make_threads(seed: int) -> list[tuple[Statement, ...]]:
    pick = random.Random(seed)
    weak = pick.random() < 0.7
    if pick.random() < 0.2:
        return [_make_block(pick, pick.randint(2, 3), weak, 1) for _ in range(2)]
    sent = [_make(pick, weak, 0, SENDING) for _ in range(pick.randint(1, 2))]
    taken = [_make(pick, weak, 1, TAKING) for _ in range(pick.randint(1, 2))]
    return [(Statement("write", "x"), *sent), tuple(taken)]


def _make_block(pick: random.Random, length: int, weak: bool, depth: int) -> tuple[Statement, ...]:
    return tuple(_make(pick, weak, depth) for _ in range(length))


KINDS = ("write", "write", "read", "store", "load", "load", "exchange", "add")
SIMPLE = ("write", "write", "read", "store")
SENDING, TAKING = ("store", "store", "add"), ("load", "exchange")


def _make(
    pick: random.Random, weak: bool, depth: int, kinds: tuple[str, ...] | None = None
) -> Statement:
    kind = pick.choice(kinds or (KINDS if depth else SIMPLE))
    if kind in ("write", "read"):
        return Statement(kind, pick.choice(("x", "x", "y")))
    allowed = {
        "store": ("relaxed", "release", "seq_cst"), "load": ("relaxed", "acquire", "seq_cst"),
    }.get(kind, ORDERS)  # fmt: skip
    strong = {"store": "release", "load": "acquire"}.get(kind, "acq_rel")
    order = pick.choice(allowed) if weak and pick.random() < 0.6 else strong
    failing = pick.choice(("relaxed", "acquire"))
    branches = kind in ("load", "exchange")
    then = _make_block(pick, pick.randint(1, 2), weak, depth - 1) if branches else ()
    otherwise = _make_block(pick, pick.randint(0, 1), weak, depth - 1) if branches else ()
    value = pick.choice((0, 1, 1, 1)) if branches else 1
    return Statement(kind, pick.choice(("f", "f", "g")), value, (order, failing), then, otherwise)


def write_program(threads: list[tuple[Statement, ...]]) -> str:
    lines = ["#include <pthread.h>", "#include <stdatomic.h>", "int x, y; atomic_int f, g;"]
    for number, block in enumerate(threads):
        lines += [f"void *run{number}(void *unused) {{", "int e;", *_write(block), "return 0;", "}"]
    lines += ["int main(void) {", "pthread_t a;", "pthread_create(&a, 0, run0, 0);", "run1(0);"]
    return "\n".join([*lines, "return 0;", "}"])


def _write(block: tuple[Statement, ...]) -> list[str]:
    lines: list[str] = []
    for each in block:
        name, order, failing = each.name, *(f"memory_order_{order}" for order in each.orders)
        match each.kind:
            case "write":
                lines.append(f"{name} = 1;")
            case "read":
                lines.append(f"e = {name};")
            case "store":
                lines.append(f"atomic_store_explicit(&{name}, 1, {order});")
            case "add":
                lines.append(f"atomic_fetch_add_explicit(&{name}, 1, {order});")
            case "load":
                lines.append(f"if (atomic_load_explicit(&{name}, {order}) == {each.value}) {{")
            case "exchange":
                lines.append(f"e = {each.value};")
                exchange = (
                    f"atomic_compare_exchange_strong_explicit(&{name}, &e, 2, {order}, {failing})"
                )
                lines.append(f"if ({exchange}) {{")
        if each.kind in ("load", "exchange"):
            lines += [*_write(each.then), "} else {", *_write(each.otherwise), "}"]
    return lines


Clock = tuple[int, ...]


@dataclass(frozen=True)
class Moment:
    """A state of an execution."""

    rest: tuple[tuple[Statement, ...], ...]
    clocks: tuple[Clock, ...]
    values: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FLAGS, 0))
    left: dict[str, Clock] = field(default_factory=lambda: dict.fromkeys(FLAGS, (0, 0)))
    """By flag the clock that was released with its value."""
    seen: tuple[tuple[str, bool, int, int], ...] = ()
    """Accesses of data: the name, whether it was a write, the thread, and its own time."""


def has_race(threads: list[tuple[Statement, ...]]) -> bool:
    todo = [Moment(tuple(threads), ((1, 0), (0, 1)))]
    while todo:
        moment = todo.pop()
        for thread in range(2):
            if moment.rest[thread]:
                after = _step(moment, thread)
                if after is None:
                    return True
                todo.append(after)
    return False


def _join(one: Clock, other: Clock) -> Clock:
    return tuple(map(max, one, other))


def _step(moment: Moment, thread: int) -> Moment | None:
    """Take a statement; None if it races with an earlier one."""
    statement, *rest = moment.rest[thread]
    clock, name = moment.clocks[thread], statement.name
    values, left, seen = dict(moment.values), dict(moment.left), moment.seen
    order, failing = statement.orders
    if statement.kind in ("write", "read"):
        writes = statement.kind == "write"
        for known, written, other, time in seen:
            if known == name and other != thread and (written or writes) and time > clock[other]:
                return None
        seen = (*seen, (name, writes, thread, clock[thread]))
    elif statement.kind == "store":
        values[name], left[name] = 1, clock if order in RELEASING else (0, 0)
    else:
        found, fails = values[name], False
        if statement.kind == "exchange":
            fails = found != statement.value
            order = failing if fails else order
        if order in ACQUIRING:
            clock = _join(clock, left[name])
        if statement.kind == "add" or (statement.kind == "exchange" and not fails):
            values[name] = found + 1 if statement.kind == "add" else 2
            if order in RELEASING:
                left[name] = _join(left[name], clock)
        if statement.kind != "add":
            rest = [*(statement.then if found == statement.value else statement.otherwise), *rest]
    later = tuple(time + (number == thread) for number, time in enumerate(clock))
    clocks, rests = list(moment.clocks), list(moment.rest)
    clocks[thread], rests[thread] = later, tuple(rest)
    return Moment(tuple(rests), tuple(clocks), values, left, seen)
