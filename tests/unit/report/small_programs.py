"""Programs built by hand, small enough to know everything about them."""

from __future__ import annotations

from typing import TypeAlias

from mazurka.ir.expressions import ONE, ZERO, Binary, Const, Expr, Load
from mazurka.ir.program import (
    FINISHED,
    Assign,
    Cell,
    Check,
    Edge,
    Fault,
    Kind,
    Location,
    Program,
    Role,
    Span,
    Thread,
)

FILE = "small.py"
Order: TypeAlias = tuple[int, int]


def load(address: int) -> Expr:
    return Load(Const(address))


def counter(thread: int, locations: int, start: int = 3) -> Cell:
    return Cell(f"$pc{thread}", 0, locations - 1, start, owner=thread, role=Role.COUNTER)


def acquire(lock: int, thread: int, source: int, line: int) -> Edge:
    return Edge(
        source,
        source + 1,
        Kind.ACQUIRE,
        Span(FILE, line),
        guard=Binary("eq", load(lock), ZERO),
        operations=(Assign(Const(lock), Const(thread + 1)),),
        subject=Const(lock),
        text="acquire",
    )


def two_locks(
    *, names: tuple[str, str] = ("left", "right"), orders: tuple[Order, Order] = ((1, 2), (2, 1))
) -> Program:
    """Two threads that take two locks, cells 1 and 2, then give both back.

    In opposite orders, as they do unless told otherwise, they deadlock after one step each.
    """
    cells = [
        Cell("null", 0, 0),
        Cell("a", 0, 2, role=Role.OWNER),
        Cell("b", 0, 2, role=Role.OWNER),
        counter(0, 5),
        counter(1, 5),
    ]
    threads = []
    for number, (first, second) in enumerate(orders):
        edges = (
            acquire(first, number, 3, 1 + 3 * number),
            Edge(
                4,
                FINISHED,
                Kind.ACQUIRE,
                Span(FILE, 2 + 3 * number),
                guard=Binary("eq", load(second), ZERO),
                operations=(
                    Assign(Const(second), Const(number + 1)),
                    Assign(Const(first), ZERO),
                    Assign(Const(second), ZERO),
                ),
                subject=Const(second),
                text="acquire",
            ),
        )
        threads.append(Thread(names[number], 3 + number, 3, (Location(),) * 5, edges))
    source = "with a:\n    with b: pass\n\nwith b:\n    with a: pass\n"
    return Program("two_locks", tuple(cells), tuple(threads), sources={FILE: source})


def lost_update(*, threads: int = 2, most: int = 9, prefix: str = "adder") -> Program:
    """Threads that add one to `n` in two steps; the last assertion of each wants its own value.

    Reads and writes of different threads race; another thread's write in between makes
    `assert n == t + 1` fail.
    """
    cells = [Cell("null", 0, 0), Cell("n", 0, most)]
    automata = []
    for number in range(threads):
        own = len(cells)
        cells += [Cell("t", 0, most, owner=number), counter(number, 6)]
        edges = (
            Edge(
                3, 4, Kind.ACCESS, Span(FILE, 1), operations=(Assign(Const(own), load(1)),),
                text="read n",
            ),
            Edge(
                4, 5, Kind.ACCESS, Span(FILE, 2),
                operations=(Assign(Const(1), Binary("add", load(own), ONE)),), text="write n",
            ),
            Edge(
                5, FINISHED, Kind.ASSERT, Span(FILE, 3),
                operations=(
                    Check(
                        Binary("eq", load(1), Binary("add", load(own), ONE)),
                        Fault.ASSERT,
                        "somebody else has counted",
                    ),
                ),
                text="assert",
            ),
        )  # fmt: skip
        name = f"{prefix}({number})"
        automata.append(Thread(name, own + 1, 3, (Location(),) * 6, edges))
    source = "t = n\nn = t + 1\nassert n == t + 1, 'somebody else has counted'\n"
    return Program("lost_update", tuple(cells), tuple(automata), sources={FILE: source})


def straight_line(steps: int, *, source: str = "n = 1") -> Program:
    """One thread that writes `n` over and over and then divides by zero."""
    cells = (Cell("null", 0, 0), Cell("n", 0, 1), counter(0, steps + 4))
    writing = [
        Edge(
            3 + i, 4 + i, Kind.ACCESS, Span(FILE, 1),
            operations=(Assign(Const(1), Const(i % 2)),), text="write n",
        )
        for i in range(steps)
    ]  # fmt: skip
    failing = Edge(
        3 + steps, FINISHED, Kind.ACCESS, Span(FILE, 1),
        operations=(Assign(Const(1), Binary("floordiv", ONE, ZERO)),), text="divide",
    )  # fmt: skip
    thread = Thread("main", 2, 3, (Location(),) * (steps + 4), (*writing, failing))
    return Program("straight_line", cells, (thread,), sources={FILE: source + "\n"})
