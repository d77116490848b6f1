"""Random programs in the intermediate representation.

`random_program` takes anything that behaves like `random.Random`; Hypothesis supplies one that it
can shrink, `benchmarks/agreement.py` one made from a seed.  The programs have two to four threads
with locks, semaphores, arrays indexed by shared values, pointers, nondeterminism, atomic sections,
assumptions, ends of the process, faults of every kind, threads created by threads, and loops that
need not end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from mazurka.ir.expressions import (
    ONE,
    SHIFTS,
    ZERO,
    Binary,
    Choice,
    Conditional,
    Const,
    Convert,
    Element,
    Expr,
    Load,
    Unary,
    negate,
)
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    Assign,
    Cell,
    Check,
    Fault,
    Kind,
    Program,
    Role,
    Thread,
)
from mazurka.ir.values.intervals import LARGEST, SMALLEST
from tests.soundness.building import ProgramBuilder, ThreadBuilder

ARITHMETIC = ("add", "sub", "mul", "and", "or", "xor", "min", "max")
COMPARISON = ("eq", "ne", "lt", "le", "gt", "ge", "ult", "ule")
PARTIAL = ("floordiv", "mod", "div", "rem", "udiv", "urem", "shl", "shr", "lshr")


@dataclass
class _Names:
    """Addresses of what the program's threads share."""

    variables: list[int] = field(default_factory=list)
    array: int = 0
    array_length: int = 1
    pointer: int = 0
    locks: list[int] = field(default_factory=list)
    semaphore: int = 0
    wide: int = 0
    """A number of 64 bits, where such are wanted."""
    table: int = 0
    """An array to which nothing is stored, beside it."""


TABLE = 4
FAR = (1, 2, 3, 255, 2**31, 2**32 - 1, 2**62, LARGEST, SMALLEST, -1)


class Generator(ProgramBuilder):
    def __init__(self, rng: Random, *, faults: bool, wide: bool = False) -> None:
        super().__init__(rng, "random", rng.randint(2, 4))
        self.faults = faults
        self.wide = wide
        self.names = _Names()

    def generate(self) -> Program:
        rng = self.rng
        for name in "xyz"[: rng.randint(1, 3)]:
            low = rng.choice((0, 0, -2))
            high = rng.choice((1, 2, 3))
            initial = rng.randint(low, high)
            self.names.variables.append(self.add(Cell(name, low, high, initial)))
        self.names.array_length = rng.randint(2, 3)
        for index in range(self.names.array_length):
            address = self.add(Cell(f"a[{index}]", 0, 2))
            self.names.array = self.names.array or address
        everything = (*self.names.variables, self.names.array)
        nullable = (0, *everything) if self.faults else everything
        self.names.pointer = self.add(
            Cell("p", 0, max(everything), everything[0], role=Role.POINTER, points=nullable)
        )
        for index in range(rng.randint(1, 2)):
            cell = Cell(f"lock{index}", 0, self.threads, role=Role.OWNER)
            self.names.locks.append(self.add(cell))
        self.names.semaphore = self.add(Cell("s", 0, 2, rng.randint(0, 1), role=Role.SYNC))
        if self.wide:
            cell = Cell("w", SMALLEST, LARGEST, rng.choice(FAR), unsigned=rng.random() < 0.5)
            self.names.wide = self.add(cell)
            self.names.table = len(self.cells)
            for index in range(TABLE):
                value = rng.randint(-1, 3)
                self.add(Cell(f"table[{index}]", value, value, value))
        created = rng.random() < 0.3
        return self.assemble([self.thread(number, created) for number in range(self.threads)])

    def thread(self, number: int, created: bool) -> Thread:
        active = not (created and number == self.threads - 1)
        body = Body(self, number)
        length = self.rng.randint(2, 6)
        body.generate(length, creates=created and number == 0)
        return body.thread(active=active)


class Body(ThreadBuilder):
    """One thread: a line of statements, some of which jump back or ahead."""

    def __init__(self, generator: Generator, number: int) -> None:
        super().__init__(generator, number)
        self.generator = generator
        self.names = generator.names
        self.locals = [
            generator.add(Cell(f"l{number}.{name}", -1, 3, owner=number)) for name in "ij"
        ]
        self.own_array = generator.add(Cell(f"l{number}.b[0]", 0, 3, owner=number))
        generator.add(Cell(f"l{number}.b[1]", 0, 3, owner=number))

    def generate(self, length: int, *, creates: bool) -> None:
        starts: list[int] = []
        here = self.location()
        for position in range(length):
            starts.append(here)
            following = self.location()
            if creates and position == 0:
                self.create(here, following)
            else:
                self.statement(here, following, starts)
            here = following
        end = FINISHED if self.rng.random() < 0.7 else self.rng.choice(starts)
        self.edge(here, end, Kind.LOCAL)

    def create(self, here: int, following: int) -> None:
        """Start the last thread; where a loop leads here again, whatever it is doing by then."""
        last = Const(self.generator.threads)
        self.edge(here, following, Kind.CREATE, Assign(last, Const(FIRST_LOCATION)))

    def statement(self, here: int, following: int, starts: list[int]) -> None:
        kinds = ["read", "write", "local", "branch", "acquire", "release", "assert", "choose"]
        kinds += ["pointer", "element", "assume", "cas", "down", "up", "write", "read"]
        kinds += ["branch", "pick", "acquire", "release", "await"]
        if self.generator.faults:
            kinds += ["break_open"]
        if self.generator.wide:
            kinds += ["wrap", "wrap", "wrap", "compare_wide", "look_up", "look_up"]
        if not self.in_atomic:
            kinds += ["atomic", "atomic", "jump"]
        getattr(self, "do_" + self.rng.choice(kinds))(here, following, starts)

    def place(self) -> Expr:
        """The address of something shared."""
        names, rng = self.names, self.rng
        match rng.randint(0, 4):
            case 0 | 1:
                return Const(rng.choice(names.variables))
            case 2:
                return Const(names.array + rng.randrange(names.array_length))
            case 3:
                return Load(Const(names.pointer)) if self.in_atomic else Const(names.array)
            case _:
                return Element(Const(names.array), self.index(), names.array_length, 1)

    def index(self) -> Expr:
        """An index into the shared array; out of range now and then where faults are wanted."""
        local = Load(Const(self.rng.choice(self.locals)))
        if self.generator.faults and self.rng.random() < 0.5:
            return local
        return Binary("mod", local, Const(self.names.array_length))

    def own(self) -> Expr:
        if self.rng.random() < 0.3:
            index = Binary("and", Load(Const(self.locals[0])), ONE)
            return Element(Const(self.own_array), index, 2, 1)
        return Const(self.rng.choice(self.locals))

    def expression(self, depth: int = 2) -> Expr:
        """Over local cells only."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.3:
            return rng.choice((Const(rng.randint(-1, 3)), Load(self.own())))
        match rng.randint(0, 6):
            case 0:
                operator = rng.choice(("neg", "not", "invert", "abs"))
                return Unary(operator, self.expression(depth - 1))
            case 1:
                return Convert(self.expression(depth - 1), rng.randint(1, 64), rng.random() < 0.5)
            case 2:
                return Conditional(*(self.expression(depth - 1) for _ in range(3)))
            case 3:
                return Binary(rng.choice(PARTIAL), self.expression(depth - 1), self.divisor())
            case 4:
                operator = rng.choice(COMPARISON)
                return Binary(operator, self.expression(depth - 1), self.expression(depth - 1))
            case _:
                operator = rng.choice(ARITHMETIC)
                return Binary(operator, self.expression(depth - 1), self.expression(depth - 1))

    def divisor(self) -> Expr:
        if self.generator.faults and self.rng.random() < 0.4:
            return Load(Const(self.rng.choice(self.locals)))
        return Const(self.rng.choice((1, 2, 3)))

    def small(self, low: int, high: int) -> Expr:
        """A value that fits, most of the time."""
        expr = self.expression()
        if self.generator.faults and self.rng.random() < 0.25:
            return expr
        return Binary("max", Const(low), Binary("min", Const(high), expr))

    def do_read(self, here: int, following: int, starts: list[int]) -> None:
        value = Binary("max", Const(-1), Load(self.place()))
        self.edge(here, following, Kind.ACCESS, Assign(Const(self.locals[0]), value))

    def do_write(self, here: int, following: int, starts: list[int]) -> None:
        self.edge(here, following, Kind.ACCESS, Assign(self.place(), self.small(0, 1)))

    def do_local(self, here: int, following: int, starts: list[int]) -> None:
        self.edge(here, following, Kind.LOCAL, Assign(self.own(), self.small(0, 3)))

    def do_wrap(self, here: int, following: int, starts: list[int]) -> None:
        """Arithmetic on the wide number, which wraps around at some width."""
        rng, wide = self.rng, Const(self.names.wide)
        operator = rng.choice(("add", "sub", "mul", "shl", "xor", "udiv", "div", "lshr"))
        far = Const(rng.choice((1, 7, 33, 63) if operator in SHIFTS else FAR))
        value: Expr = Binary(operator, Load(wide), far)
        if rng.random() < 0.3:
            value = Binary(rng.choice(("add", "mul")), value, Load(self.own()))
        width = rng.choice((8, 32, 64, 64))
        store = Assign(wide, Convert(value, width, rng.random() < 0.5))
        self.edge(here, following, Kind.ATOMIC, store)

    def do_look_up(self, here: int, following: int, starts: list[int]) -> None:
        """Read an element of the table, or of something else."""
        names, rng = self.names, self.rng
        index = Binary("and", Load(Const(rng.choice(self.locals))), Const(TABLE - 1))
        place: Expr = Element(Const(names.table), index, TABLE, 1)
        if rng.random() < 0.6:
            other = Const(rng.choice((*names.variables, *self.locals)))
            if rng.random() < 0.3:
                other = Element(Const(names.array), self.index(), names.array_length, 1)
            place = Conditional(Load(Const(self.locals[1])), place, other)
        value = Binary("max", Const(-1), Load(place))
        self.edge(here, following, Kind.ATOMIC, Assign(Const(self.locals[0]), value))

    def do_compare_wide(self, here: int, following: int, starts: list[int]) -> None:
        rng = self.rng
        operator = rng.choice(("ult", "ule", "lt", "ge", "eq"))
        wide = Convert(Load(Const(self.names.wide)), rng.choice((8, 32, 64)), rng.random() < 0.5)
        value = Binary(operator, wide, Const(rng.choice((0, *FAR))))
        self.edge(here, following, Kind.ACCESS, Assign(Const(self.locals[0]), value))

    def do_branch(self, here: int, following: int, starts: list[int]) -> None:
        test, kind = self.expression(), Kind.LOCAL
        if self.rng.random() < 0.4:
            test = Binary("eq", Load(Const(self.rng.choice(self.names.variables))), ONE)
            kind = Kind.ACCESS
        other = self.location()
        self.edge(here, other, kind, guard=test)
        self.edge(here, following, kind, guard=negate(test))
        self.do_write(other, following, starts)

    def do_jump(self, here: int, following: int, starts: list[int]) -> None:
        test = Binary("ne", Load(Const(self.locals[1])), Const(2))
        back = self.rng.choice(starts)
        grow = Assign(Const(self.locals[1]), Binary("add", Load(Const(self.locals[1])), ONE))
        self.edge(here, back, Kind.LOCAL, grow, guard=test)
        self.edge(here, following, Kind.LOCAL, guard=negate(test))

    def do_acquire(self, here: int, following: int, starts: list[int]) -> None:
        lock = Const(self.rng.choice(self.names.locks))
        free = Binary("eq", Load(lock), ZERO)
        self.edge(here, following, Kind.ACQUIRE, Assign(lock, Const(self.number + 1)), guard=free)

    def do_release(self, here: int, following: int, starts: list[int]) -> None:
        lock = Const(self.rng.choice(self.names.locks))
        held = Binary("eq", Load(lock), Const(self.number + 1))
        if self.generator.faults and self.rng.random() < 0.5:
            check = Check(held, Fault.LOCK, "not held")
            self.edge(here, following, Kind.RELEASE, check, Assign(lock, ZERO))
        else:
            self.edge(here, following, Kind.RELEASE, Assign(lock, ZERO), guard=held)
            self.edge(here, following, Kind.LOCAL, guard=negate(held))

    def do_assert(self, here: int, following: int, starts: list[int]) -> None:
        if not self.generator.faults:
            self.do_local(here, following, starts)
            return
        check = Check(self.expression(1), Fault.ASSERT, "random assertion")
        self.edge(here, following, Kind.ASSERT, check)

    def do_choose(self, here: int, following: int, starts: list[int]) -> None:
        count = self.rng.randint(2, 3)
        assign = Assign(Const(self.rng.choice(self.locals)), Choice())
        self.edge(here, following, Kind.CHOOSE, assign, choices=count)

    def do_pointer(self, here: int, following: int, starts: list[int]) -> None:
        """Point somewhere else, or through the pointer in one indivisible step."""
        names, rng = self.names, self.rng
        targets = [*names.variables, names.array, *([0] if self.generator.faults else [])]
        if rng.random() < 0.5:
            assign = Assign(Const(names.pointer), Const(rng.choice(targets)))
            self.edge(here, following, Kind.ACCESS, assign)
        else:
            value = Binary("max", ZERO, Binary("min", ONE, Load(Load(Const(names.pointer)))))
            assign = Assign(Load(Const(names.pointer)), Binary("xor", value, ONE))
            self.edge(here, following, Kind.ATOMIC, assign)

    def do_element(self, here: int, following: int, starts: list[int]) -> None:
        """An element of the array, chosen by a shared variable."""
        names = self.names
        index: Expr = Load(Const(self.rng.choice(names.variables)))
        if not self.generator.faults:
            index = Binary("mod", index, Const(names.array_length))
        place = Element(Const(names.array), index, names.array_length, 1)
        self.edge(here, following, Kind.ATOMIC, Assign(place, self.small(0, 2)))

    def do_assume(self, here: int, following: int, starts: list[int]) -> None:
        shared = Load(Const(self.rng.choice(self.names.variables)))
        test = self.rng.choice((Binary("ge", shared, ONE), self.expression(1), ZERO))
        kind = Kind.END if test == ZERO and following % 2 else Kind.ASSUME
        self.edge(here, following, kind, guard=test)

    def do_await(self, here: int, following: int, starts: list[int]) -> None:
        """Wait for a condition over one shared variable, or two that are read in one step."""
        one, other = (Load(Const(self.rng.choice(self.names.variables))) for _ in range(2))
        test = self.rng.choice(
            (Binary("ge", one, ONE), Binary("eq", one, other), self.expression(1))
        )
        self.edge(here, following, Kind.UNTIL, guard=test)

    def do_cas(self, here: int, following: int, starts: list[int]) -> None:
        place = Const(self.rng.choice(self.names.variables))
        same = Binary("eq", Load(place), ZERO)
        new = Conditional(same, ONE, Load(place))
        won = Assign(Const(self.locals[0]), same)
        self.edge(here, following, Kind.ATOMIC, won, Assign(place, new))

    def do_pick(self, here: int, following: int, starts: list[int]) -> None:
        """Read one of two shared places, and not the other."""
        test = Load(Const(self.rng.choice(self.locals)))
        value = Conditional(test, Load(self.place()), Load(self.place()))
        assign = Assign(Const(self.locals[0]), Binary("max", Const(-1), value))
        self.edge(here, following, Kind.ATOMIC, assign)

    def do_break_open(self, here: int, following: int, starts: list[int]) -> None:
        """Release a lock whoever holds it."""
        lock = Const(self.rng.choice(self.names.locks))
        self.edge(here, following, Kind.RELEASE, Assign(lock, ZERO))

    def do_down(self, here: int, following: int, starts: list[int]) -> None:
        semaphore = Const(self.names.semaphore)
        guard = Binary("gt", Load(semaphore), ZERO)
        less = Binary("sub", Load(semaphore), ONE)
        self.edge(here, following, Kind.DOWN, Assign(semaphore, less), guard=guard)

    def do_up(self, here: int, following: int, starts: list[int]) -> None:
        semaphore = Const(self.names.semaphore)
        more = Binary("add", Load(semaphore), ONE)
        check = Check(Binary("lt", Load(semaphore), Const(2)), Fault.BOUND, "semaphore bound")
        self.edge(here, following, Kind.UP, check, Assign(semaphore, more))

    def do_atomic(self, here: int, following: int, starts: list[int]) -> None:
        """A section of one to three statements, or a loop that may or may not end."""
        self.in_atomic = True
        inside = here
        for _ in range(self.rng.randint(1, 2)):
            after = self.location()
            self.statement(inside, after, starts)
            inside = after
        if self.generator.faults and self.rng.random() < 0.01 and inside != here:
            test = Binary("ne", Load(Const(self.locals[0])), ZERO)
            if not any(edge.choices > 1 for edge in self.edges if edge.source >= here):
                self.edge(inside, inside, Kind.LOCAL, guard=test)
                self.edge(inside, following, Kind.LOCAL, guard=negate(test))
                self.in_atomic = False
                return
        self.edge(inside, following, Kind.LOCAL)
        self.in_atomic = False


def random_program(rng: Random, *, faults: bool = True, wide: bool = False) -> Program:
    """A program to test with; with `faults=False` its steps go wrong by bounds only, with `wide`
    it has a number of 64 bits that wraps around, and an array of constants."""
    return Generator(rng, faults=faults, wide=wide).generate()
