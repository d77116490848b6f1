"""Programs of one or two threads, each for one sentence of docs/semantics.md about steps."""

from __future__ import annotations

from tests.unit.ir.programs import Builder, equals, load, plus, put

from mazurka.ir.expressions import Binary, Choice, Const
from mazurka.ir.program import FINISHED, Check, Fault, Kind, Mode, Program


def two_choices() -> Program:
    """One step that sets a to one of 3 numbers and then, in the same step, b to one of 2."""
    builder = Builder()
    a, b = builder.shared("a", 0, 2), builder.shared("b", 0, 1)
    body = builder.thread()
    start, inside = body.at(), body.at(Mode.ATOMIC)
    body.edge(start, inside, put(a, Choice()), kind=Kind.CHOOSE, choices=3)
    body.edge(inside, FINISHED, put(b, Choice()), kind=Kind.CHOOSE, choices=2, atomic=True)
    return builder.program()


def uneven_choices() -> Program:
    """One of 2; after 0, one of 3 in the same step; after 1, the step ends."""
    builder = Builder()
    a, b = builder.shared("a", 0, 1), builder.shared("b", 0, 2)
    body = builder.thread()
    start, inside, again = body.at(), body.at(Mode.ATOMIC), body.at(Mode.ATOMIC)
    body.edge(start, inside, put(a, Choice()), kind=Kind.CHOOSE, choices=2)
    body.edge(inside, FINISHED, kind=Kind.LOCAL, guard=equals(a, 1), atomic=True)
    body.edge(inside, again, kind=Kind.LOCAL, guard=equals(a, 0), atomic=True)
    body.edge(again, FINISHED, put(b, Choice()), kind=Kind.CHOOSE, choices=3, atomic=True)
    return builder.program()


def blocked_section(kind: Kind) -> Program:
    """Sets x, then in the same step waits for y (cell 2), which nobody sets."""
    builder = Builder()
    x, y = builder.shared("x", 0, 1), builder.shared("y", 0, 1)
    body = builder.thread()
    start, inside = body.at(), body.at(Mode.ATOMIC)
    body.edge(start, inside, put(x, 1), atomic=True)
    body.edge(inside, FINISHED, kind=kind, guard=equals(y, 1), atomic=True)
    return builder.program()


def merged_assume() -> Program:
    """Sets x and its local, then meets the local assumption `local == 2`, merged."""
    builder = Builder()
    x = builder.shared("x", 0, 1)
    body = builder.thread()
    local = body.local("local", 0, 2)
    start, merged = body.at(), body.at(Mode.MERGED)
    body.edge(start, merged, put(x, 1), put(local, 1))
    body.edge(merged, FINISHED, kind=Kind.ASSUME, guard=equals(local, 2))
    return builder.program()


def passing_resets() -> Program:
    """Sets three locals; the merged location on the way resets the first, the last the second."""
    builder = Builder()
    body = builder.thread()
    cells = [body.local(name, 0, 9, initial=7) for name in "pqr"]
    start = body.at()
    merged, last = body.at(Mode.MERGED, (cells[0],)), body.at(Mode.VISIBLE, (cells[1],))
    body.edge(start, merged, *(put(cell, 1) for cell in cells), kind=Kind.LOCAL)
    body.edge(merged, last, put(cells[2], plus(cells[0], 1)), kind=Kind.LOCAL)
    return builder.program()


def section_with_fault() -> Program:
    """x := 1, then in the same step y := 1 and a failing assertion, then x := 2."""
    builder = Builder()
    x, y = builder.shared("x", 0, 2), builder.shared("y", 0, 2)
    body = builder.thread()
    start, inside = body.at(), body.at(Mode.ATOMIC)
    body.edge(start, inside, put(x, 1), atomic=True)
    failing = Check(equals(x, 0), Fault.ASSERT, "x is 0")
    body.edge(inside, FINISHED, put(y, 1), failing, put(x, 2), kind=Kind.ASSERT, atomic=True)
    return builder.program()


def section_counting(limit: int, modulus: int | None = None) -> Program:
    """An atomic loop that counts i (cell 2) to `limit`, or for ever round a modulus."""
    builder = Builder()
    body = builder.thread()
    i = body.local("i", 0, 10**9)
    start, inside = body.at(), body.at(Mode.ATOMIC)
    more = plus(i, 1) if modulus is None else Binary("mod", plus(i, 1), Const(modulus))
    body.edge(start, inside, kind=Kind.LOCAL, atomic=True)
    on, out = Binary("lt", load(i), Const(limit)), Binary("ge", load(i), Const(limit))
    body.edge(inside, inside, put(i, more), kind=Kind.LOCAL, guard=on, atomic=True)
    body.edge(inside, FINISHED, kind=Kind.LOCAL, guard=out, atomic=True)
    return builder.program()


def creation() -> Program:
    """The first thread gives the second its parameter (cell 3) and starts it."""
    builder = Builder()
    creator, created = builder.thread(), builder.thread(active=False)
    parameter = created.local("parameter", 0, 5)
    creator.line(put(parameter, 5), put(created.counter, 3), kind=Kind.CREATE)
    created.line(put(parameter, 0), kind=Kind.LOCAL)
    return builder.program()
