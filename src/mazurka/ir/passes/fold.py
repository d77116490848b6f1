"""Replace expressions by constants that the range analysis has found.

Folding never changes what a program does: the successors, the faults and the footprints are
the same.  An expression becomes a constant only if it has one value, cannot fault and loads
nothing but the thread's own local cells: a load of a shared cell is part of a step's footprint
even if its value is known.  Locations keep their numbers; those that cannot be reached only
lose their edges.  What a thread that is stopped by an assumption would do behind it is not judged
by the folded program, but by the text before all passes (`Program.text`).

**Addresses.**  What the analysis knows of a pointer at one location is lost behind it: searches and
circuits ask which values a cell has anywhere, and a temporary that holds many pointers one after
the other would lead everywhere.  So an address that is read or written becomes an `Element` of the
cells between the lowest and the highest at which it can be here.  All values of the address are
among them, so the check of the index never fails where it did not fail before.
"""

from __future__ import annotations

from dataclasses import replace

from mazurka.deadline import check_time
from mazurka.ir.expressions import (
    Binary,
    Conditional,
    Const,
    Element,
    Expr,
    Load,
    children,
    rebuild,
)
from mazurka.ir.passes.ranges import Inference
from mazurka.ir.program import STOPPING, Assign, Edge, Kind, Operation, Program, Thread
from mazurka.ir.values.evaluation import ValueSet, cannot_fault, evaluate, truth_of
from mazurka.ir.values.facts import Facts


def fold(program: Program, inference: Inference) -> Program:
    """Simplify a program; `inference` must be the result for this program."""
    threads = []
    for number, thread in enumerate(program.threads):
        kept = _Folder(program, inference, number).edges()
        threads.append(replace(thread, edges=tuple(kept[position] for position in sorted(kept))))
    folded = replace(program, threads=tuple(threads))
    return folded if folded.has_assumptions else replace(folded, text=None)


class _Folder:
    """Folds the edges of one thread."""

    def __init__(self, program: Program, inference: Inference, number: int) -> None:
        self.program = program
        self.inference = inference
        self.number = number
        self.thread: Thread = program.threads[number]
        self.most_choices = max((edge.choices for edge in self.thread.edges), default=1)
        self.narrows = False
        """Whether the edge is one of those whose addresses are narrowed: accesses to data."""

    def edges(self) -> dict[int, Edge]:
        """Return the folded edges by position, without those that are never taken."""
        kept: dict[int, Edge] = {}
        for location in self.inference.at[self.number]:
            kept.update(self.leaving(location))
        return kept

    def leaving(self, location: int) -> dict[int, Edge]:
        """Return the folded edges of a location by position, without those that are never taken."""
        check_time("folding constants")
        folded: dict[int, Edge] = {}
        for position in self.thread.outgoing[location]:
            edge = self.edge(self.thread.edges[position], location)
            folded[position] = edge
            if edge.guard is None:
                break  # guards are evaluated in order, and this one always holds
        alive = {p: edge for p, edge in folded.items() if edge.guard != Const(0)}
        # Which edges a thread cannot take decides whether it waits or is stopped.
        original = [self.thread.edges[p] for p in self.thread.outgoing[location]]
        if alive and _all_stop(list(alive.values())) == _all_stop(original):
            return alive
        return folded

    def edge(self, edge: Edge, location: int) -> Edge:
        self.narrows = edge.kind in (Kind.ACCESS, Kind.LOCAL)
        known = self.inference.at[self.number][location]
        facts = Facts(dict(known), self.inference.lookup, self.most_choices)
        guard = None if edge.guard is None else self.expression(edge.guard, facts)
        if isinstance(guard, Const):
            guard = None if guard.value else Const(0)
        if edge.guard is not None and not facts.assume(edge.guard):
            return replace(edge, guard=guard)
        facts.choices = edge.choices
        subject = None if edge.subject is None else self.expression(edge.subject, facts)
        operations = self.operations(edge.operations, facts)
        return replace(edge, guard=guard, subject=subject, operations=operations)

    def operations(self, operations: tuple[Operation, ...], facts: Facts) -> tuple[Operation, ...]:
        folded: list[Operation] = []
        for position, operation in enumerate(operations):
            if isinstance(operation, Assign):
                address = self.address(operation.address, facts)
                folded.append(Assign(address, self.expression(operation.value, facts)))
            else:
                condition = self.expression(operation.condition, facts)
                if not (isinstance(condition, Const) and condition.value):
                    folded.append(replace(operation, condition=condition))
            if not facts.perform(operation, self.program.cells, lambda address, values: None):
                # This is always a fault: what follows is never executed, so it is not folded.
                return (*folded, *operations[position + 1 :])
        return tuple(folded)

    def expression(self, expr: Expr, facts: Facts) -> Expr:
        if isinstance(expr, Const):
            return expr
        values = facts.values(expr)
        if values.is_constant and self.is_silent(expr, facts):
            return Const(values.low)
        if isinstance(expr, Conditional):
            return self.conditional(expr, facts)
        if isinstance(expr, Load):
            return Load(self.address(expr.address, facts))
        return rebuild(expr, lambda child: self.expression(child, facts))

    def address(self, expr: Expr, facts: Facts) -> Expr:
        """Fold an address, and narrow it to the cells at which it can be here."""
        folded = self.expression(expr, facts)
        if not self.narrows or isinstance(folded, Const):
            return folded
        here = facts.values(expr)
        if here.is_empty or not 0 < here.low <= here.high < len(self.program.cells):
            return folded
        anywhere = evaluate(expr, self.inference.lookup, self.most_choices)
        if anywhere.clip(here.low, here.high) == anywhere:
            return folded
        match folded:
            case Element(Const(base), Binary("sub", inner, Const(same)), _, 1) if base == same:
                return _narrow(inner, here)
            case Element():
                return folded
            case _:
                return _narrow(folded, here)

    def conditional(self, expr: Conditional, facts: Facts) -> Expr:
        """Fold each branch with what its test implies; a branch that is never taken is left out
        with the test, or kept where the test has to be evaluated all the same."""
        known = truth_of(facts.values(expr.test))
        silent = self.is_silent(expr.test, facts)
        if known is not None and silent:
            return self.expression(expr.then if known else expr.otherwise, facts)
        branches, taken = [], []
        for branch, outcome in ((expr.then, True), (expr.otherwise, False)):
            inside = facts.copy()
            possible = inside.assume(expr.test, outcome)
            branches.append(self.expression(branch, inside) if possible else branch)
            taken += branches[-1:] if possible else []
        if silent and len(taken) == 1:
            return taken[0]
        return Conditional(self.expression(expr.test, facts), *branches)

    def is_silent(self, expr: Expr, facts: Facts) -> bool:
        """Whether evaluation has no visible effect: no fault, no load of a shared cell."""
        return self.loads_own_locals(expr, facts) and cannot_fault(
            expr, facts.lookup, facts.choices
        )

    def loads_own_locals(self, expr: Expr, facts: Facts) -> bool:
        if isinstance(expr, Load):
            addresses = facts.values(expr.address)
            for address in addresses.points or (0,):
                if not self.is_own_local(address):
                    return False
        return all(self.loads_own_locals(child, facts) for child in children(expr))

    def is_own_local(self, address: int) -> bool:
        if not 0 < address < len(self.program.cells) or address == self.thread.counter:
            return False
        return self.program.cells[address].owner == self.number


def _narrow(address: Expr, here: ValueSet) -> Expr:
    first = Const(here.low)
    return Element(first, Binary("sub", address, first), here.high - here.low + 1, 1)


def _all_stop(edges: list[Edge]) -> bool:
    return all(edge.kind in STOPPING for edge in edges)
