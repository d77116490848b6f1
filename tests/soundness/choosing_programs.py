"""Random programs that choose among many numbers, and mostly compare them with constants.

The numbers are few enough to try all of them, so that a sample can be judged.
"""

from __future__ import annotations

from random import Random

from mazurka.ir.expressions import (
    COMPARISONS,
    ZERO,
    Binary,
    Choice,
    Conditional,
    Const,
    Convert,
    Expr,
    Load,
    negate,
    truth,
)
from mazurka.ir.program import FINISHED, Assign, Cell, Check, Fault, Kind, Program
from tests.soundness.building import ProgramBuilder, ThreadBuilder

COMPARED = tuple(sorted(COMPARISONS))
MOST = 40


class Choosing(ThreadBuilder):
    def __init__(self, program: ProgramBuilder, number: int, shared: list[int]) -> None:
        super().__init__(program, number)
        own = [
            program.add(Cell(f"t{number}.{name}", -60, 60, owner=number, unsigned=False))
            for name in "ab"
        ]
        self.cells = [*own, *shared]

    def some(self) -> Const:
        return Const(self.rng.choice(self.cells))

    def number_chosen(self) -> tuple[Expr, int]:
        rng = self.rng
        match rng.randint(0, 3):
            case 0:
                return Choice(), rng.randint(8, MOST)
            case 1:
                return Convert(Choice(), 5, rng.random() < 0.5), rng.choice((20, 32))
            case 2:
                return Binary("add", Choice(), Const(rng.randint(-30, 10))), rng.randint(8, MOST)
            case _:
                return Binary("mod", Choice(), Const(rng.randint(2, 9))), MOST

    def comparison(self) -> Expr:
        sides: list[Expr] = [Load(self.some()), Const(self.rng.randint(-5, 12))]
        if self.rng.random() < 0.1:
            sides[1] = Load(self.some())
        if self.rng.random() < 0.2:
            sides[0] = Convert(sides[0], self.rng.choice((3, 16)), True)
        if self.rng.random() < 0.3:
            sides.reverse()
        return Binary(self.rng.choice(COMPARED), *sides)

    def condition(self) -> Expr:
        match self.rng.randint(0, 4):
            case 0:
                return Load(self.some())
            case 1:
                return Conditional(self.comparison(), truth(self.comparison()), ZERO)
            case _:
                return self.comparison()

    def generate(self) -> None:
        here = self.location()
        for _ in range(self.rng.randint(2, 4)):
            after = self.location()
            self.statement(here, after)
            here = after
        self.edge(here, FINISHED, Kind.LOCAL)

    def statement(self, here: int, after: int) -> None:
        rng = self.rng
        match rng.randint(0, 5):
            case 0 | 1:
                value, count = self.number_chosen()
                operations = [Assign(self.some(), value)]
                if rng.random() < 0.2:
                    test = Binary("lt", Choice(), Const(rng.randint(0, MOST)))
                    operations.append(Assign(self.some(), test))
                self.edge(here, after, Kind.CHOOSE, *operations, choices=count)
            case 2:
                value = Load(self.some())
                if rng.random() < 0.1:
                    value = Binary("sub", value, Const(1))
                value = Convert(value, rng.choice((4, 16)), True) if rng.random() < 0.3 else value
                self.edge(here, after, Kind.ACCESS, Assign(self.some(), value))
            case 3:
                check = Check(self.condition(), Fault.ASSERT, f"line {here}")
                self.edge(here, after, Kind.ASSERT, check)
            case 4:
                self.edge(
                    here, after, rng.choice((Kind.UNTIL, Kind.ASSUME)), guard=self.condition()
                )
            case _:
                test, other = self.condition(), self.location()
                self.edge(here, other, Kind.ACCESS, guard=test)
                self.edge(here, after, Kind.ACCESS, guard=negate(test))
                self.edge(other, after, Kind.ACCESS, Assign(self.some(), Const(rng.randint(-3, 9))))


def random_choosing(rng: Random) -> Program:
    """Two threads; the cells `c` and `d` are shared, and `d` is narrow enough to be left."""
    builder = ProgramBuilder(rng, "choosing", 2)
    shared = [builder.add(Cell("c", -60, 60)), builder.add(Cell("d", -9, rng.randint(9, 30)))]
    bodies = [Choosing(builder, number, shared) for number in range(2)]
    for body in bodies:
        body.generate()
    return builder.assemble([body.thread() for body in bodies])


def copied_number(less: int = 0) -> Program:
    """A number is chosen, copied or made less, and the result compared."""
    builder = ProgramBuilder(Random(0), "copied", 1)
    shared = builder.add(Cell("c", -60, 60))
    body = Choosing(builder, 0, [shared])
    first, second, third = (body.location() for _ in range(3))
    own = Const(body.cells[0])
    body.edge(first, second, Kind.CHOOSE, Assign(own, Choice()), choices=MOST)
    value = Binary("sub", Load(own), Const(less)) if less else Load(own)
    body.edge(second, third, Kind.ACCESS, Assign(Const(shared), value))
    check = Check(Binary("ne", Load(Const(shared)), Const(17 - less)), Fault.ASSERT, "17")
    body.edge(third, FINISHED, Kind.ASSERT, check)
    return builder.assemble([body.thread()])
