"""What generators of random programs have in common: cells, locations and edges as they grow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from mazurka.ir.expressions import Expr
from mazurka.ir.program import (
    FIRST_LOCATION,
    IDLE,
    Cell,
    Edge,
    Kind,
    Location,
    Mode,
    Operation,
    Program,
    Role,
    Span,
    Thread,
)


class ProgramBuilder:
    """A program's cells; the null cell and the program counters come first."""

    def __init__(self, rng: Random, name: str, threads: int) -> None:
        self.rng = rng
        self.name = name
        self.threads = threads
        self.cells: list[Cell] = [Cell("null", 0, 0)]
        self.line = 0
        for number in range(threads):
            self.add(Cell(f"pc{number}", 0, 0, owner=number, role=Role.COUNTER))

    def span(self) -> Span:
        self.line += 1
        return Span(self.name, self.line)

    def add(self, cell: Cell) -> int:
        self.cells.append(cell)
        return len(self.cells) - 1

    def assemble(self, threads: Sequence[Thread]) -> Program:
        """The program, now that the threads' lengths are known."""
        for thread in threads:
            initial = FIRST_LOCATION if thread.active else IDLE
            self.cells[thread.counter] = replace(
                self.cells[thread.counter], high=len(thread.locations) - 1, initial=initial
            )
        return Program(self.name, tuple(self.cells), tuple(threads))


class ThreadBuilder:
    """A thread's automaton; what is added in an atomic section cannot be interrupted."""

    def __init__(self, program: ProgramBuilder, number: int) -> None:
        self.program = program
        self.rng = program.rng
        self.number = number
        self.locations: list[Location] = [Location() for _ in range(FIRST_LOCATION)]
        self.edges: list[Edge] = []
        self.in_atomic = False

    def location(self) -> int:
        self.locations.append(Location(Mode.ATOMIC if self.in_atomic else Mode.VISIBLE))
        return len(self.locations) - 1

    def edge(
        self,
        source: int,
        target: int,
        kind: Kind,
        *operations: Operation,
        guard: Expr | None = None,
        choices: int = 1,
        atomic: bool = False,
        subject: Expr | None = None,
    ) -> None:
        self.edges.append(
            Edge(
                source,
                target,
                kind,
                self.program.span(),
                guard,
                operations,
                choices,
                atomic=atomic or self.in_atomic or kind is Kind.ATOMIC,
                subject=subject,
            )
        )

    def thread(self, *, active: bool = True, observer: bool = False) -> Thread:
        return Thread(
            f"t{self.number}",
            1 + self.number,
            FIRST_LOCATION,
            tuple(self.locations),
            tuple(self.edges),
            active,
            observer,
        )
