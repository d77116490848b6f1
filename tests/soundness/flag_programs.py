"""Random programs with locks that are flags: taken in atomic sections, and mostly used as locks."""

from __future__ import annotations

from random import Random

from mazurka.ir.expressions import ONE, ZERO, Binary, Conditional, Const, Expr, Load, Unary, negate
from mazurka.ir.program import FINISHED, Assign, Cell, Check, Fault, Kind, Program
from tests.soundness.building import ProgramBuilder, ThreadBuilder


class FlagUser(ThreadBuilder):
    def __init__(self, program: ProgramBuilder, number: int, flags: list[int], data: list[int]):
        super().__init__(program, number)
        self.flags, self.data = flags, data
        self.temporary = program.add(Cell(f"t{number}", 0, 3, owner=number))
        self.seen = program.add(Cell(f"seen{number}", 0, 3, owner=number))

    def generate(self) -> None:
        start = here = self.location()
        for _ in range(self.rng.randint(1, 3)):
            here = self.block(here)
        if self.rng.random() < 0.3:
            self.edge(here, start, Kind.LOCAL)
        else:
            self.edge(here, FINISHED, Kind.LOCAL)

    def block(self, here: int) -> int:
        flag = self.rng.choice(self.flags)
        if self.rng.random() < 0.15:
            return self.misuse(here, flag)
        if self.rng.random() < 0.2:
            return self.access(here)
        here = self.take(here, flag)
        for _ in range(self.rng.randint(1, 2)):
            here = self.access(here)
        return self.release(here, flag)

    def clear(self, flag: int) -> Expr:
        value = Load(Const(flag))
        return self.rng.choice((Binary("eq", value, ZERO), Unary("not", value)))

    def take(self, here: int, flag: int) -> int:
        """Wait until the flag is clear, and set it: in one edge, or in a section of several."""
        rng, set_it = self.rng, Assign(Const(flag), ONE)
        kind = rng.choice((Kind.ASSUME, Kind.ASSUME, Kind.UNTIL))
        after = self.location()
        if rng.random() < 0.3:
            self.spin(here, after, flag)
            return after
        if rng.random() < 0.3:
            self.edge(here, after, kind, set_it, guard=self.clear(flag), atomic=True)
            return after
        self.in_atomic = True
        if rng.random() < 0.4:
            looked = self.location()
            self.edge(here, looked, Kind.LOCAL)
            here = looked
        guard = self.clear(flag)
        if rng.random() < 0.5:
            looked = self.location()
            look = Assign(Const(self.temporary), Load(Const(flag)))
            self.edge(here, looked, Kind.ACCESS, look)
            here, guard = looked, Binary("eq", Load(Const(self.temporary)), ZERO)
        found = self.location()
        self.edge(here, found, kind, guard=guard)
        self.edge(found, after, Kind.ACCESS, set_it)
        self.in_atomic = False
        return after

    def spin(self, here: int, after: int, flag: int) -> None:
        """Swap until it has worked."""
        place, found, tried = Const(flag), Const(self.temporary), self.location()
        free = Binary("eq", Load(place), ZERO)
        if self.rng.random() < 0.5:
            swap = Assign(found, Load(place)), Assign(place, ONE)
        else:
            taken = Assign(found, Binary("eq", free, ZERO))
            swap = taken, Assign(place, Conditional(free, ONE, Load(place)))
        self.edge(here, tried, Kind.ATOMIC, *swap)
        won = Binary("eq", Load(found), ZERO)
        self.edge(tried, after, Kind.LOCAL, guard=won)
        self.edge(tried, here, Kind.LOCAL, guard=negate(won))

    def release(self, here: int, flag: int) -> int:
        after, free = self.location(), Assign(Const(flag), ZERO)
        match self.rng.randint(0, 2):
            case 0:
                self.edge(here, after, Kind.ACCESS, free)
            case 1:
                self.edge(here, after, Kind.ACCESS, free, atomic=True)
            case _:
                held = Binary("eq", Load(Const(flag)), ONE)
                self.edge(here, after, Kind.ASSUME, free, guard=held, atomic=True)
        return after

    def access(self, here: int) -> int:
        rng, after = self.rng, self.location()
        place = Const(rng.choice(self.data))
        match rng.randint(0, 3):
            case 0:
                self.edge(here, after, Kind.ACCESS, Assign(Const(self.seen), Load(place)))
            case 1:
                value = Binary("and", Binary("add", Load(Const(self.seen)), ONE), Const(3))
                self.edge(here, after, Kind.ACCESS, Assign(place, value))
            case 2:
                self.edge(here, after, Kind.ACCESS, Assign(place, Const(rng.randint(0, 3))))
            case _:
                unlike = Binary("ne", Load(place), Load(Const(self.seen)))
                test = rng.choice((unlike, Binary("le", Load(place), Const(2))))
                self.edge(here, after, Kind.ASSERT, Check(test, Fault.ASSERT, f"at {here}"))
        return after

    def misuse(self, here: int, flag: int) -> int:
        """Something that a lock is not used for."""
        rng, after, m = self.rng, self.location(), Const(flag)
        match rng.randint(0, 4):
            case 0:
                self.edge(here, after, Kind.ACCESS, Assign(m, ZERO))
            case 1:
                self.edge(here, after, Kind.ACCESS, Assign(m, ONE))
            case 2:
                self.edge(here, after, Kind.ACCESS, Assign(Const(self.seen), Load(m)))
            case 3:
                free = Binary("eq", Load(m), ZERO)
                won = Assign(Const(self.seen), free)
                swap = Assign(m, Conditional(free, ONE, Load(m)))
                self.edge(here, after, Kind.ATOMIC, won, swap)
            case _:
                test, other = Load(m), self.location()
                self.edge(here, other, Kind.ACCESS, guard=test)
                self.edge(here, after, Kind.ACCESS, guard=negate(test))
                self.edge(other, after, Kind.LOCAL)
        return after


def random_flags(rng: Random) -> Program:
    builder = ProgramBuilder(rng, "flags", rng.choice((2, 2, 3)))
    flags = [builder.add(Cell(f"m{n}", 0, 1)) for n in range(rng.randint(1, 2))]
    data = [builder.add(Cell(name, 0, 3)) for name in "xy"]
    users = [FlagUser(builder, number, flags, data) for number in range(builder.threads)]
    for user in users:
        user.generate()
    return builder.assemble([user.thread() for user in users])
