"""Which programs cannot hang, by their text alone: no thread can go round quietly for ever.

A hang (`mazurka.stateful.hangs`) needs a thread that goes round a cycle of its automaton for ever,
without changing a shared cell and without a failure.  Two kinds of edges are on no such cycle:

- *Loud* edges: taking one is a whole step, and surely changes a shared cell.  Taking a lock is one:
  its guard says that the cell is 0, and it writes something else.  So is adding 1 to a cell.
- *Counting* edges of a part of the automaton: they add to a local cell a number of one sign, and
  nothing in that part does anything else to that cell.  The cell's range is finite, and leaving it
  is a failure; so they are taken finitely often by a thread that stays in that part.

A thread that goes round for ever takes some edges again and again; these lie in one strongly
connected part of the automaton.  Loud edges are taken away first.  Counting edges of each part are
taken away then, which may leave smaller parts with counting edges of their own, and so on.  If no
cycle is left in any thread, the program has no hang.
"""

from __future__ import annotations

from collections.abc import Iterator

from mazurka.ir.expressions import ZERO, Binary, Conditional, Const, Expr, Load
from mazurka.ir.program import Assign, Check, Edge, Mode, Program, Thread
from mazurka.ir.values.footprints import Footprints


def may_hang(program: Program) -> bool:
    """Whether some thread, no observer, has a loop that might change nothing shared."""
    key = "_may_hang"
    cache: dict[str, bool] = program.__dict__
    if key not in cache:
        footprints = Footprints(program)
        cache[key] = any(
            _may_go_round(footprints, number)
            for number, thread in enumerate(program.threads)
            if not thread.observer
        )
    return cache[key]


def _may_go_round(footprints: Footprints, number: int) -> bool:
    thread = footprints.program.threads[number]
    parts = [[edge for edge in thread.edges if not is_loud(footprints, thread, edge)]]
    while parts:
        for part in split(parts.pop()):
            counting = find_counting(footprints, thread, number, part)
            if not counting:
                return True
            taken = set(map(id, counting))
            parts.append([edge for edge in part if id(edge) not in taken])
    return False


def split(edges: list[Edge]) -> list[list[Edge]]:
    """The edges that lie on cycles, by the strongly connected part that they belong to."""
    following: dict[int, list[int]] = {}
    arriving: dict[int, list[int]] = {}
    for edge in edges:
        following.setdefault(edge.source, []).append(edge.target)
        arriving.setdefault(edge.target, []).append(edge.source)
    part_of: dict[int, int] = {}
    for root in reversed(_list_finished(following)):
        _gather(arriving, root, part_of)
    parts: dict[int, list[Edge]] = {}
    for edge in edges:
        part = part_of.get(edge.source)
        if part is not None and part == part_of.get(edge.target):
            parts.setdefault(part, []).append(edge)
    return list(parts.values())


def _list_finished(following: dict[int, list[int]]) -> list[int]:
    """The locations that edges leave, each after what a depth-first search finds behind it."""
    finished: list[int] = []
    seen: set[int] = set()
    for start in following:
        waiting = [(start, False)]
        while waiting:
            place, left = waiting.pop()
            if left:
                finished.append(place)
            elif place not in seen and place in following:
                seen.add(place)
                waiting.append((place, True))
                waiting.extend((target, False) for target in following[place])
    return finished


def _gather(arriving: dict[int, list[int]], root: int, part_of: dict[int, int]) -> None:
    """Put into the part of a root what leads to it and is in no part yet."""
    waiting = [root]
    while waiting:
        place = waiting.pop()
        if place not in part_of:
            part_of[place] = root
            waiting.extend(arriving.get(place, ()))


# --- edges that surely change something shared ------------------------------------------------


def is_loud(footprints: Footprints, thread: Thread, edge: Edge) -> bool:
    """Whether taking an edge is a step of its own that surely changes a shared cell."""
    if Mode.ATOMIC in (thread.locations[edge.source].mode, thread.locations[edge.target].mode):
        return False
    known = list(list_facts(edge.guard))
    for position, operation in enumerate(edge.operations):
        if isinstance(operation, Check):
            known += list_facts(operation.condition)
            continue
        if is_change(operation, known) and _is_last_word(footprints, edge, position):
            return True
    return False


def list_facts(condition: Expr | None) -> Iterator[tuple[Expr, int]]:
    """The cells, by address, whose values are known where a condition holds."""
    match condition:
        case Binary("eq", Load(address), Const(value)):
            yield address, value
        case Conditional(test, then, otherwise) if otherwise == ZERO:
            yield from list_facts(test)
            yield from list_facts(then)
        case Binary("and", left, right):
            yield from (fact for side in (left, right) for fact in list_facts(side))


def is_change(operation: Assign, known: list[tuple[Expr, int]]) -> bool:
    """Whether an assignment surely gives a cell another value than it had before the edge."""
    match operation.value:
        case Const(value):
            return any(
                address == operation.address and before != value for address, before in known
            )
        case Binary("add" | "sub", Load(address), Const(by)):
            return address == operation.address and by != 0
    return False


def _is_last_word(footprints: Footprints, edge: Edge, position: int) -> bool:
    """Whether an assignment is to a shared cell, which nothing else on the edge writes, and to an
    address that no assignment before it can have changed."""
    operation = edge.operations[position]
    assert isinstance(operation, Assign)
    targets = set(footprints.targets(operation.address, edge.choices))
    cells = footprints.program.cells
    if not targets or any(cells[target].owner is not None for target in targets):
        return False
    read = set(footprints.loads(operation.address, edge.choices)) | targets
    for other, each in enumerate(edge.operations):
        if other != position and isinstance(each, Assign):
            written = set(footprints.targets(each.address, edge.choices))
            if written & (read if other < position else targets):
                return False
    return True


# --- edges that count -------------------------------------------------------------------------


def find_counting(
    footprints: Footprints, thread: Thread, number: int, part: list[Edge]
) -> list[Edge]:
    """The edges of a part that only add to a local cell what no edge of the part takes away."""
    steps: dict[int, list[tuple[Edge, int]]] = {}
    spoiled: set[int] = set()
    for edge in part:
        spoiled.update(thread.locations[edge.source].resets, thread.locations[edge.target].resets)
        counted: set[int] = set()
        for store in edge.stores:
            step = _counts(store)
            targets = footprints.targets(store.address, edge.choices)
            if step is None or step[0] in counted:
                spoiled.update(targets)
                continue
            counted.add(step[0])
            steps.setdefault(step[0], []).append((edge, step[1]))
    cells = footprints.program.cells
    for address, found in steps.items():
        one_way = all(by > 0 for _, by in found) or all(by < 0 for _, by in found)
        if one_way and address not in spoiled and cells[address].owner == number:
            return [edge for edge, _ in found]
    return []


def _counts(store: Assign) -> tuple[int, int] | None:
    """The cell and what is added to it, where an assignment does that and nothing else."""
    match store:
        case Assign(
            Const(address), Binary("add" | "sub" as operator, Load(Const(read)), Const(by))
        ):
            if address == read and by != 0:
                return address, by if operator == "add" else -by
    return None
