"""Random programs in which several threads run the same code, and programs that are nearly so.

The threads of a class are made by the same draws, so they differ only in their own cells, in their
own numbers, and in flags that a shared array keeps for each of them.  Some programs give a thread's
number away: they compute with it, compare its order, or favour one thread.  Then the threads are
not interchangeable, and an analysis that says so is wrong.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from mazurka.ir.expressions import ONE, ZERO, Binary, Conditional, Const, Element, Expr, Load
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    IDLE,
    Assign,
    Cell,
    Check,
    Fault,
    Kind,
    Operation,
    Program,
    Role,
    Thread,
)
from tests.soundness.random_programs import Body, Generator


class SymmetricGenerator(Generator):
    """Two or three threads of a class, and perhaps another thread or a second class."""

    def __init__(self, rng: Random, *, faults: bool, leaks: bool) -> None:
        super().__init__(rng, faults=faults)
        self.leaks = leaks
        self.flags = 0
        self.winner = 0
        self.queue = 0
        self.seeds = [rng.getrandbits(32) for _ in range(self.threads)]
        alike = rng.randint(2, min(self.threads, 3))
        self.seeds[:alike] = [self.seeds[0]] * alike
        if rng.random() < 0.4:
            self.seeds[alike:] = [self.seeds[-1]] * (self.threads - alike)
        rng.shuffle(self.seeds)
        self.own_rng = rng

    def generate(self) -> Program:
        threads = self.threads
        for number in range(threads):
            cell = Cell(f"flag[{number}]", 0, 1, role=Role.SYNC)
            self.flags = min(filter(None, (self.flags, self.add(cell))))
        self.winner = self.add(Cell("winner", 0, threads))
        for place in range(2):
            cell = Cell(f"queue[{place}]", 0, threads, role=Role.SYNC)
            self.queue = min(filter(None, (self.queue, self.add(cell))))
        return super().generate()

    def thread(self, number: int, created: bool) -> Thread:
        self.rng = Random(self.seeds[number])
        body = SymmetricBody(self, number)
        body.generate(self.rng.randint(2, 4), creates=False)
        self.rng = self.own_rng
        return body.thread()


class SymmetricBody(Body):
    """A thread that also uses its flag, and its own number."""

    def __init__(self, generator: SymmetricGenerator, number: int) -> None:
        super().__init__(generator, number)
        self.shared = generator
        self.me = Const(number + 1)

    def statement(self, here: int, following: int, starts: list[int]) -> None:
        special = ["raise_flag", "look_at_flags", "win", "am_i_winner", "enqueue", "dequeue"]
        if self.shared.leaks and self.rng.random() < 0.15:
            special = ["number_plus_one", "order_of_numbers", "favour", "index_by_number", "keep"]
        if self.rng.random() < 0.45:
            getattr(self, "do_" + self.rng.choice(special))(here, following, starts)
        else:
            super().statement(here, following, starts)

    def do_raise_flag(self, here: int, following: int, starts: list[int]) -> None:
        flag = Const(self.shared.flags + self.number)
        value = Const(self.rng.randint(0, 1))
        self.edge(here, following, Kind.ATOMIC, Assign(flag, value))

    def do_look_at_flags(self, here: int, following: int, starts: list[int]) -> None:
        """Wait until no flag is set, or clear them all."""
        flags = [Const(self.shared.flags + number) for number in range(self.shared.threads)]
        if self.rng.random() < 0.5:
            self.edge(here, following, Kind.ATOMIC, *(Assign(flag, ZERO) for flag in flags))
            return
        none: Expr = ONE
        for flag in reversed(flags):
            none = Conditional(Binary("eq", Load(flag), ZERO), none, ZERO)
        self.edge(here, following, Kind.AWAIT, guard=none)

    def do_win(self, here: int, following: int, starts: list[int]) -> None:
        winner = Const(self.shared.winner)
        self.edge(here, following, Kind.ACCESS, Assign(winner, self.me))

    def do_am_i_winner(self, here: int, following: int, starts: list[int]) -> None:
        mine = Binary("eq", Load(Const(self.shared.winner)), self.me)
        if self.generator.faults and self.rng.random() < 0.4:
            self.edge(here, following, Kind.ASSERT, Check(mine, Fault.ASSERT, "not the winner"))
        else:
            won = Assign(Const(self.locals[0]), mine)
            self.edge(here, following, Kind.ATOMIC, won)

    def do_enqueue(self, here: int, following: int, starts: list[int]) -> None:
        queue = self.shared.queue
        length = Binary("add", *(Binary("ne", Load(Const(queue + n)), ZERO) for n in range(2)))
        room = Binary("eq", Load(Const(queue + 1)), ZERO)
        place = Element(Const(queue), length, 2, 1)
        self.edge(here, following, Kind.WAIT, Assign(place, self.me), guard=room)

    def do_dequeue(self, here: int, following: int, starts: list[int]) -> None:
        queue = self.shared.queue
        mine = Binary("eq", Load(Const(queue)), self.me)
        shift = (
            Assign(Const(queue), Load(Const(queue + 1))),
            Assign(Const(queue + 1), ZERO),
        )
        self.edge(here, following, Kind.NOTIFY, *shift, guard=mine)

    # --- what gives a thread's number away --------------------------------------------------------

    def do_number_plus_one(self, here: int, following: int, starts: list[int]) -> None:
        value = Binary("mod", Binary("add", Load(Const(self.shared.winner)), ONE), Const(3))
        self.edge(here, following, Kind.ATOMIC, Assign(Const(self.locals[0]), value))

    def do_order_of_numbers(self, here: int, following: int, starts: list[int]) -> None:
        less = Binary("lt", Load(Const(self.shared.winner)), self.me)
        self.edge(here, following, Kind.ATOMIC, Assign(Const(self.locals[0]), less))

    def do_favour(self, here: int, following: int, starts: list[int]) -> None:
        second = Binary("eq", Load(Const(self.shared.winner)), Const(2))
        self.edge(here, following, Kind.ATOMIC, Assign(Const(self.locals[0]), second))

    def do_index_by_number(self, here: int, following: int, starts: list[int]) -> None:
        index = Binary("mod", Load(Const(self.shared.winner)), Const(self.shared.threads))
        flag = Element(Const(self.shared.flags), index, self.shared.threads, 1)
        self.edge(here, following, Kind.ATOMIC, Assign(flag, ONE))

    def do_keep(self, here: int, following: int, starts: list[int]) -> None:
        """Keep a number in a cell of one's own: no sorting of threads sees through this."""
        kept = Binary("min", Load(Const(self.shared.winner)), Const(3))
        self.edge(here, following, Kind.ATOMIC, Assign(Const(self.locals[0]), kept))


def symmetric_program(rng: Random, *, faults: bool = True, leaks: bool = False) -> Program:
    """A program with threads of the same code; with `leaks`, identities may be used."""
    return SymmetricGenerator(rng, faults=faults, leaks=leaks).generate()


class StartedGenerator(SymmetricGenerator):
    """Threads of the same code that thread 0 starts, and joins."""

    def __init__(self, rng: Random, *, faults: bool) -> None:
        super().__init__(rng, faults=faults, leaks=False)
        self.threads = rng.randint(3, 4)
        self.cells = self.cells[:1]
        for number in range(self.threads):
            self.add(Cell(f"pc{number}", 0, 0, owner=number, role=Role.COUNTER))
        self.seeds = [rng.getrandbits(32)] * self.threads
        self.status = 0

    def generate(self) -> Program:
        for number in range(self.threads):
            cell = Cell(f"status {number}", 0, 2, role=Role.SYNC)
            self.status = min(filter(None, (self.status, self.add(cell))))
        return super().generate()

    def thread(self, number: int, created: bool) -> Thread:
        if number:
            self.rng = Random(self.seeds[number])
            body = SymmetricBody(self, number)
            body.generate(self.rng.randint(1, 3), creates=False)
            self.rng = self.own_rng
            done = Assign(Const(self.status + number), Const(2))
            body.edges = [
                replace(edge, kind=Kind.EXIT, operations=(*edge.operations, done))
                if edge.target == FINISHED
                else edge
                for edge in body.edges
            ]
            return body.thread(active=False)
        starter = _Starter(self)
        starter.generate_starts()
        return starter.thread()


class _Starter(SymmetricBody):
    """Starts the others and joins them, in chains that are broken now and then."""

    shared: StartedGenerator

    def __init__(self, generator: StartedGenerator) -> None:
        super().__init__(generator, 0)
        self.status = generator.status
        self.here = self.location()

    def generate_starts(self) -> None:
        rng, others = self.rng, list(range(1, self.shared.threads))
        self.pause(0.3)
        for number in others:
            self.start(number)
            self.pause(0.15)
        self.pause(0.5)
        if rng.random() < 0.2:
            rng.shuffle(others)
        for number in others[: rng.choice((0, 1, 9, 9, 9))]:
            self.join(number)
            self.pause(0.15)
        self.pause(0.8)
        self.edge(self.here, FINISHED, Kind.LOCAL)

    def pause(self, chance: float) -> None:
        """Do something else, perhaps: a local assignment does not break a chain."""
        if self.rng.random() < 0.5:
            set_ = Assign(Const(self.locals[0]), Const(self.rng.randint(0, 3)))
            self.go(Kind.LOCAL, set_)
        if self.rng.random() < chance:
            following = self.location()
            self.statement(self.here, following, [self.here])
            self.here = following

    def go(self, kind: Kind, *operations: Operation, guard: Expr | None = None) -> None:
        following = self.location()
        self.edge(self.here, following, kind, *operations, guard=guard)
        self.here = following

    def start(self, number: int) -> None:
        counter = Const(1 + number)
        idle = Binary("eq", Load(counter), Const(IDLE))
        check = [Check(idle, Fault.EXCEPTION, "started twice")] if self.rng.random() < 0.5 else []
        begin = Assign(counter, Const(FIRST_LOCATION))
        self.go(Kind.CREATE, *check, begin, Assign(Const(self.status + number), ONE))

    def join(self, number: int) -> None:
        status = Load(Const(self.status + number))
        following = self.location()
        new = Check(ZERO, Fault.EXCEPTION, "not started")
        self.edge(self.here, following, Kind.JOIN, guard=Binary("eq", status, Const(2)))
        self.edge(self.here, following, Kind.JOIN, new, guard=Binary("eq", status, ZERO))
        self.here = following


def started_program(rng: Random, *, faults: bool = True) -> Program:
    """A program with threads of the same code that are started and joined one after the other."""
    return StartedGenerator(rng, faults=faults).generate()


class KeepingGenerator(SymmetricGenerator):
    """Two classes whose threads keep numbers of the other class in cells of their own.

    Each class has a mailbox for numbers of its members.  The other class takes them from there, and
    keeps them in an array with one cell for each thread.  These cells move with one class, and are
    renamed with the other.
    """

    def __init__(self, rng: Random, *, faults: bool) -> None:
        super().__init__(rng, faults=faults, leaks=False)
        self.threads = rng.choice((4, 4, 4, 5))
        self.cells = self.cells[:1]
        for number in range(self.threads):
            self.add(Cell(f"pc{number}", 0, 0, owner=number, role=Role.COUNTER))
        self.side = [0, 0, *(1 for _ in range(self.threads - 2))]
        rng.shuffle(self.side)
        of_side = [rng.getrandbits(32), rng.getrandbits(32)]
        self.seeds = [of_side[side] for side in self.side]
        self.both_keep = rng.random() < 0.4
        self.mailbox = [0, 0]
        self.kept = 0

    def generate(self) -> Program:
        for side in range(2):
            cell = Cell(f"mailbox[{side}]", 0, self.threads, role=Role.SYNC)
            self.mailbox[side] = self.add(cell)
        for number in range(self.threads):
            cell = Cell(f"kept[{number}]", 0, self.threads, role=Role.SYNC)
            self.kept = min(filter(None, (self.kept, self.add(cell))))
        return super().generate()

    def thread(self, number: int, created: bool) -> Thread:
        self.rng = Random(self.seeds[number])
        body = _Keeper(self, number)
        body.generate(self.rng.randint(1, 3), creates=False)
        self.rng = self.own_rng
        return body.thread()


class _Keeper(SymmetricBody):
    """Gives its number, and keeps one of the other class."""

    def __init__(self, generator: KeepingGenerator, number: int) -> None:
        super().__init__(generator, number)
        side = generator.side[number]
        self.post = Const(generator.mailbox[side])
        self.source = Const(generator.mailbox[1 - side])
        self.kept = Const(generator.kept + number)
        self.others = [Const(generator.kept + n) for n, s in enumerate(generator.side) if s != side]
        keeps, gives = (side == 1 or generator.both_keep), (side == 0 or generator.both_keep)
        self.special = [
            *(("take", "take", "compare", "hand_back", "forget") if keeps else ()),
            *(("give", "give", "is_mine", "am_i_kept") if gives else ()),
        ]

    def statement(self, here: int, following: int, starts: list[int]) -> None:
        if self.rng.random() < 0.8:
            getattr(self, "do_" + self.rng.choice(self.special))(here, following, starts)
        else:
            super().statement(here, following, starts)

    def do_give(self, here: int, following: int, starts: list[int]) -> None:
        guard = Binary("eq", Load(self.post), ZERO) if self.rng.random() < 0.6 else None
        kind = Kind.WAIT if guard is not None else Kind.ATOMIC
        self.edge(here, following, kind, Assign(self.post, self.me), guard=guard)

    def do_take(self, here: int, following: int, starts: list[int]) -> None:
        taken = [Assign(self.kept, Load(self.source))]
        if self.rng.random() < 0.7:
            taken.append(Assign(self.source, ZERO))
        there = Binary("ne", Load(self.source), ZERO)
        self.edge(here, following, Kind.WAIT, *taken, guard=there)

    def do_hand_back(self, here: int, following: int, starts: list[int]) -> None:
        self.edge(here, following, Kind.ATOMIC, Assign(self.source, Load(self.kept)))

    def do_forget(self, here: int, following: int, starts: list[int]) -> None:
        self.edge(here, following, Kind.ATOMIC, Assign(self.kept, ZERO))

    def do_compare(self, here: int, following: int, starts: list[int]) -> None:
        self._judge(here, following, Binary("eq", Load(self.kept), Load(self.source)))

    def do_is_mine(self, here: int, following: int, starts: list[int]) -> None:
        self._judge(here, following, Binary("eq", Load(self.post), self.me))

    def do_am_i_kept(self, here: int, following: int, starts: list[int]) -> None:
        """Look whether nobody keeps this thread's number."""
        nobody: Expr = ONE
        for kept in reversed(self.others):
            nobody = Conditional(Binary("ne", Load(kept), self.me), nobody, ZERO)
        self._judge(here, following, nobody)

    def _judge(self, here: int, following: int, test: Expr) -> None:
        if self.generator.faults and self.rng.random() < 0.4:
            self.edge(here, following, Kind.ASSERT, Check(test, Fault.ASSERT, "not so"))
        elif self.rng.random() < 0.5:
            self.edge(here, following, Kind.AWAIT, guard=test)
        else:
            self.edge(here, following, Kind.ATOMIC, Assign(Const(self.locals[0]), test))


def keeping_program(rng: Random, *, faults: bool = True) -> Program:
    """A program with two classes of threads that share cells."""
    return KeepingGenerator(rng, faults=faults).generate()
