"""What a thread waits for that receives from one of several queues, some of which may not count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from mazurka.ir.expressions import ZERO
from mazurka.ir.interpreter import Interpreter, State, Step
from mazurka.ir.passes.held import conjuncts
from mazurka.ir.program import Edge, Kind, Program
from mazurka.report.operations import IF
from mazurka.report.places import MOST_TRIED


def split_ways(program: Program, step: Step, edge: Edge) -> tuple[list[Edge], list[Edge]]:
    """Find the queues from which a blocked thread could take an item, by their edges: those that
    count, and those that are left out because their conditions do not hold."""
    leaving = program.threads[step.thread].edges_at(edge.source)
    ways = [each for each in leaving if each.kind is Kind.GET]
    out = _find_left_out(program, step, ways)
    return [each for each in ways if id(each) not in out], [
        each for each in ways if id(each) in out
    ]


def tell_left_out(ways: Sequence[Edge], names: Sequence[str]) -> str:
    """Tell which conditions do not hold, in parentheses; empty if no queue is left out."""
    told = [
        f"{name} is left out: `{way.text.partition(IF)[2]}` is false"
        for way, name in zip(ways, names, strict=True)
    ]
    return f" ({'; '.join(told)})" if told else ""


def _find_left_out(program: Program, step: Step, ways: list[Edge]) -> set[int]:
    """Find the edges whose conditions do not hold, by their identity.

    A guard says which of several ways was chosen, then the condition, then that there is an item.
    A condition that never holds may have become the constant 0, alone or as the last part.
    """
    interpreter, found = Interpreter(program), set[int]()
    states = list(_choose_each(interpreter, step))
    for way in ways:
        parts = conjuncts(way.guard)
        if IF not in way.text:
            continue
        if parts[-1:] == [ZERO]:
            found.add(id(way))
            continue
        mine = parts[:1] if len(ways) > 1 else []
        for state in states:
            value = partial(interpreter.value, state, step.thread)
            if all(map(value, mine)) and not all(map(value, parts[len(mine) : -1])):
                found.add(id(way))
    return found


def _choose_each(interpreter: Interpreter, step: Step) -> Iterator[State]:
    """Iterate over what the cells hold where the thread's choices are blocked."""
    for _, tried in islice(interpreter.steps_of(step.state, step.thread), MOST_TRIED):
        cells = list(step.state)
        for access in tried.accesses:
            if access.write:
                cells[access.address] = access.value
        yield tuple(cells)
