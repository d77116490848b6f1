"""Deliberately broken orders of events: each change is noticed in some model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from pathlib import Path

import pytest

from mazurka.checking import load_program
from mazurka.errors import InternalError
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, Silent
from mazurka.search.reading import Reading
from mazurka.search.registry import load_strategy
from mazurka.symbolic.events import ordering
from mazurka.symbolic.events.ordering import OrderClauses, Term
from mazurka.symbolic.events.unwinding import ThreadUnwinding, UnwoundStep
from tests.limits import ENOUGH

HANDED_OVER = """
from mazurka.model import Int, await_
ready: Int[0, 1] = 0
x: Int[0, 1] = 0
def writes():
    global x, ready
    x = 1
    ready = 1
def reads():
    await_(ready == 1)
    seen = x
    assert seen == 1
threads = [writes(), reads()]
"""
LOCKED = """
from mazurka.model import Int, Mutex
m = Mutex()
x: Int[0, 2] = 0
done: Int[0, 2] = 0
def adds():
    global x, done
    with m:
        x = x + 1
        done = done + 1
        assert done < 2 or x == 2
threads = [adds(), adds()]
"""
THREE = """
from mazurka.model import Int, await_
x: Int[0, 1] = 0
y: Int[0, 1] = 0
def first():
    global x
    x = 1
def second():
    global y
    await_(x == 1)
    y = 1
def third():
    await_(y == 1)
    seen = x
    assert seen == 1
threads = [first(), second(), third()]
"""
LOOP = """
from mazurka.model import Int
x: Int[0, 9] = 0
def counts():
    global x
    while x < 5:
        x = x + 1
    assert x < 5
def looks():
    assert x < 6
threads = [counts(), looks()]
"""
WAITS = """
from mazurka.model import Int, await_
x: Int[0, 1] = 0
def waits():
    await_(x == 1)
def sets():
    global x
    x = 1
threads = [waits(), sets()]
"""


@lru_cache
def load(text: str, folder: Path) -> Program:
    path = folder / "model.py"
    path.write_text(text, encoding="utf-8")
    return load_program(str(path), Reading(merge=False))


def find(text: str, folder: Path) -> str:
    options = SearchOptions(tuning={"rounds": 8}, limit_seconds=ENOUGH)
    try:
        result = load_strategy("events").run(load(text, folder), options, Silent())
    except InternalError:
        return "order and interpreter disagree"
    if result.violation is not None:
        return result.violation.kind
    return "inconclusive" if result.limits else "holds"


def drop(
    patch: pytest.MonkeyPatch, wanted: Callable[[OrderClauses, tuple[Term, ...]], bool]
) -> None:
    """Leave out some clauses while reads are written."""
    read, add = OrderClauses._read, OrderClauses.add

    def broken(order: OrderClauses, *terms: Term) -> None:
        if not wanted(order, terms):
            add(order, *terms)

    def read_with_less(order: OrderClauses, *rest: object) -> None:
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(OrderClauses, "add", broken)
            read(order, *rest)  # type: ignore[arg-type]

    patch.setattr(OrderClauses, "_read", read_with_less)


def forget_from_read(patch: pytest.MonkeyPatch) -> None:
    """A read may come behind writes that overwrite what it reads."""

    def is_from_read(order: OrderClauses, terms: tuple[Term, ...]) -> bool:
        pairs = set(order.befores.values())
        return len(terms) >= 3 and isinstance(terms[-1], int) and abs(terms[-1]) in pairs

    drop(patch, is_from_read)


def forget_program_order(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(OrderClauses, "_make_transitive", lambda order: None)


def allow_circles(patch: pytest.MonkeyPatch) -> None:
    """Only events of two threads are put in order."""

    def choose(parts: Sequence[list[int]], many: int) -> Iterator[tuple[list[int], ...]]:
        return combinations(parts, many) if many == 2 else iter(())

    patch.setattr(ordering, "combinations", choose)


def read_from_writes_that_do_not_happen(patch: pytest.MonkeyPatch) -> None:
    def is_happening(order: OrderClauses, terms: tuple[Term, ...]) -> bool:
        writes = {order.term(x) for each in order.writes.values() for x in each.values()}
        return len(terms) == 2 and terms[1] in writes

    drop(patch, is_happening)


def read_before_the_end(patch: pytest.MonkeyPatch) -> None:
    def come_last(order: OrderClauses, number: int, event: UnwoundStep) -> None:
        pass

    patch.setattr(OrderClauses, "_come_last", come_last)


def end_with_the_last_pass(patch: pytest.MonkeyPatch) -> None:
    plain = ThreadUnwinding._unwind

    def unwind(thread: ThreadUnwinding) -> None:
        thread.most_passes = 2
        plain(thread)
        thread.beyond = 0

    patch.setattr(ThreadUnwinding, "_unwind", unwind)


# name, what is broken, the model, its verdict
MUTANTS: list[tuple[str, Callable[[pytest.MonkeyPatch], None], str, str]] = [
    ("a read may be overwritten before it", forget_from_read, LOCKED, "holds"),
    ("program order is no part of the order", forget_program_order, HANDED_OVER, "holds"),
    ("the order of three threads is a circle", allow_circles, THREE, "holds"),
    ("a write that does not happen is read", read_from_writes_that_do_not_happen, THREE, "holds"),
    ("a thread waits for what was", read_before_the_end, WAITS, "holds"),
    ("a thread ends with its last iteration", end_with_the_last_pass, LOOP, "assert"),
]


@pytest.mark.parametrize(
    ("break_it", "text", "verdict"),
    [mutant[1:] for mutant in MUTANTS],
    ids=[mutant[0] for mutant in MUTANTS],
)
def test_a_broken_order_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    break_it: Callable[[pytest.MonkeyPatch], None],
    text: str,
    verdict: str,
) -> None:
    assert find(text, tmp_path) == verdict
    break_it(monkeypatch)
    assert find(text, tmp_path) != verdict
