"""Leave out the cells on which nothing depends that is looked for.

F-Soft (paper 004, section 4.1) slices a program with respect to its property.  Here a cell is
*relevant* if a guard, a check, or an address reads it, or an expression that may fail, or the value
that is stored in a relevant cell (program counters are relevant).  A cell that one thread alone
touches is relevant where its value may still be read so, as in an analysis of live variables.  What
is stored in other cells does not matter:

- an assignment to such cells that cannot fail is left out;
- where its address, or a load in its value, may fail, that is still evaluated, and 0 is stored;
- an edge that needs no choice any more makes none.

Then more steps are local, and are merged into those before them.

**Soundness.**  States of the two programs correspond if they agree on places, and on what is
relevant there.  Corresponding states have the same guards and faults, and a step of one leads to
states that correspond again: stored values that differ are in cells that are not relevant, and
where a choice was left out, every choice leads there.  So assertions, all faults, and deadlocks are
the same (the text by which waits are excused, `Program.text`, is not sliced).  Races on cells that
were left out are lost, and a loop that writes such cells may become a hang: where these are looked
for, a program is not sliced.

A schedule of the sliced program is translated edge by edge (`mazurka.search.sliced`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mazurka.deadline import check_time
from mazurka.ir.expressions import ZERO, Binary, Choice, Const, Convert, Expr, Load, Unary, walk
from mazurka.ir.passes.liveness import find_carried_over, reset_dead_locals
from mazurka.ir.passes.merge import find_local_locations
from mazurka.ir.program import (
    FIRST_LOCATION,
    Assign,
    Check,
    Edge,
    Kind,
    Mode,
    Operation,
    Program,
    Role,
)
from mazurka.ir.values.evaluation import cannot_fault, evaluate
from mazurka.ir.values.footprints import Footprints

DATA = frozenset({Role.INT, Role.BOOL, Role.POINTER})


@dataclass(frozen=True)
class SlicedProgram:
    """A program without some of its cells' values; edges have the numbers that they have there."""

    program: Program
    origin: Program


def slice_program(program: Program, *, derived: bool = False) -> SlicedProgram | None:
    """Leave out what nothing depends on; None where that is nothing.

    `derived` says that the ranges of all data were derived (`mazurka.ir.passes.ranges`), and none
    declared: then no store leaves them, also where their ends alone do not show it."""
    found = _Slicer(program, derived)
    found.close()
    threads = tuple(
        replace(thread, edges=tuple(found.slice_edge(edge, number) for edge in thread.edges))
        for number, thread in enumerate(program.threads)
    )
    if all(new.edges == old.edges for new, old in zip(threads, program.threads, strict=True)):
        return None
    sliced = _merge_further(replace(program, threads=threads))
    return SlicedProgram(reset_dead_locals(sliced), program)


def _merge_further(program: Program) -> Program:
    """Merge what has become local; what is merged stays so, and each step is one of the program
    itself or several of them."""
    footprints, carried = Footprints(program), find_carried_over(program)
    threads = []
    for number, thread in enumerate(program.threads):
        merged = {at for at, each in enumerate(thread.locations) if each.mode is Mode.MERGED}
        start = program.cells[thread.counter].initial
        kept = carried.get(number, frozenset())
        for location in sorted(find_local_locations(footprints, number, thread, kept)):
            if location in (start, thread.entry):
                continue
            around = merged | {location}
            targets = [thread.edges[each].target for each in thread.outgoing[location]]
            if not any(location in thread.reachable(target, around) for target in targets):
                merged.add(location)
        locations = [
            replace(each, mode=Mode.MERGED if at in merged else each.mode, resets=())
            for at, each in enumerate(thread.locations)
        ]
        threads.append(replace(thread, locations=tuple(locations)))
    return replace(program, threads=tuple(threads))


class _Slicer:
    """Finds the relevant cells, and slices edges by them.

    Cells that several threads touch are relevant everywhere or nowhere (`relevant`).  Those that
    one thread alone touches, temporaries above all, hold many values one after the other: there a
    cell is relevant at a location if what it holds may still matter (`live`)."""

    def __init__(self, program: Program, derived: bool = False) -> None:
        self.program, self.derived = program, derived
        self.footprints = Footprints(program)
        self.relevant = {thread.counter for thread in program.threads}
        self.private = self._find_private()
        self.live: list[list[set[int]]] = [
            [set() for _ in thread.locations] for thread in program.threads
        ]
        """By thread and location: its private cells whose values may still matter."""

    def _find_private(self) -> list[set[int]]:
        """By thread: the cells that no other thread touches."""
        touched: list[set[int]] = []
        for thread in self.program.threads:
            edges = [self.footprints.of_edge(edge) for edge in thread.edges]
            touched.append(set().union(*(each.reads | each.writes for each in edges)))
        counters = {thread.counter for thread in self.program.threads}
        found = []
        for number, own in enumerate(touched):
            others = set().union(*(each for other, each in enumerate(touched) if other != number))
            found.append(own - others - counters)
        return found

    def close(self) -> None:
        """Find what is relevant."""
        before = -1
        while before != len(self.relevant):
            before = len(self.relevant)
            for number in range(len(self.program.threads)):
                self._close_thread(number)

    def _close_thread(self, number: int) -> None:
        """Go through a thread from its ends to its beginning until nothing is new."""
        thread, live = self.program.threads[number], self.live[number]
        changed = True
        while changed:
            changed = False
            for edge in reversed(thread.edges):
                check_time("slicing the program")
                found = self._pass(edge, number)[0]
                if not found <= live[edge.source]:
                    live[edge.source] |= found
                    changed = True

    def _behind(self, edge: Edge, number: int) -> set[int]:
        """What may still matter behind an edge; a thread that ends may be started again."""
        thread, live = self.program.threads[number], self.live[number]
        if edge.target < FIRST_LOCATION and not thread.active:
            return set(live[thread.entry])
        return set(live[edge.target])

    def _pass(self, edge: Edge, number: int) -> tuple[set[int], tuple[Operation, ...]]:
        """What may matter before an edge, and what is left of its operations."""
        live, private = self._behind(edge, number), self.private[number]
        kept: list[Operation] = []
        for operation in reversed(edge.operations):
            if isinstance(operation, Check):
                kept.append(operation)
                self._note(operation.condition, edge, live, private)
                continue
            for left in self.slice_assignment(operation, edge, live):
                kept.append(left)
                if isinstance(left.address, Const):
                    live.discard(left.address.value)
                self._note(left.address, edge, live, private)
                self._note(left.value, edge, live, private)
        for expr in (edge.guard, edge.subject):
            if expr is not None:
                self._note(expr, edge, live, private)
        return live, tuple(reversed(kept))

    def _note(self, expr: Expr, edge: Edge, live: set[int], private: set[int]) -> None:
        """What an expression reads matters."""
        for load in self.footprints.loads(expr, edge.choices):
            (live if load in private else self.relevant).add(load)

    def slice_edge(self, edge: Edge, number: int) -> Edge:
        operations = self._pass(edge, number)[1]
        if operations == edge.operations:
            return edge
        made = replace(edge, operations=operations)
        if edge.choices > 1 and not any(map(_chooses, made.expressions)):
            made = replace(made, choices=1)
        touched = self.footprints.of_edge(made)
        plain = made.kind in (Kind.ACCESS, Kind.CHOOSE) and made.choices == 1
        if plain and touched.only_own(self.program, number):
            made = replace(made, kind=Kind.LOCAL)
        return made

    def slice_assignment(self, operation: Assign, edge: Edge, live: set[int]) -> Iterator[Assign]:
        """What is left of an assignment: all, nothing, or what may fail."""
        choices = edge.choices
        targets = self.footprints.targets(operation.address, choices)
        matters = not self.relevant.isdisjoint(targets) or not live.isdisjoint(targets)
        cells = [self.program.cells[target] for target in targets]
        if matters or not all(cell.low <= 0 <= cell.high for cell in cells):
            yield operation
            return
        lookup = self.footprints.lookup
        safe = cannot_fault(operation.value, lookup, choices) and self._fits(operation, edge)
        placed = cannot_fault(operation.address, lookup, choices)
        if safe and placed and self.footprints.is_surely_cell(operation.address, choices):
            return
        value = ZERO if safe else self._silence(operation.value, edge)
        if value is None or not self._fits(operation, edge):
            yield operation
        else:
            yield Assign(operation.address, value)

    def _fits(self, operation: Assign, edge: Edge) -> bool:
        """Whether the value is in the range of every cell in which it may be stored."""
        values = evaluate(operation.value, self.footprints.lookup, edge.choices)
        cells = [
            self.program.cells[target]
            for target in self.footprints.targets(operation.address, edge.choices)
        ]
        return all(
            (self.derived and cell.role in DATA)
            or (cell.low <= values.low and values.high <= cell.high)
            for cell in cells
        )

    def _silence(self, expr: Expr, edge: Edge) -> Expr | None:
        """An expression that fails where a load fails, and is 0 elsewhere; None if there is none:
        the cell that is loaded need not be looked at, only whether it is there."""
        match expr:
            case Convert(operand) | Unary(_, operand):
                return self._silence(operand, edge)
            case Load(address) if self.footprints.is_surely_cell(address, edge.choices):
                return Binary("and", address, Const(0))
            case _:
                return None


def _chooses(expr: Expr) -> bool:
    return any(isinstance(part, Choice) for part in walk(expr))
