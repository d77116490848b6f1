"""Accesses and critical sections of disciplined programs.

Each `do_...` method is one statement; those in `STATEMENTS` belong to a feature of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mazurka.ir.expressions import (
    ONE,
    ZERO,
    Binary,
    Choice,
    Const,
    Element,
    Expr,
    Load,
    negate,
)
from mazurka.ir.program import Assign, Cell, Check, Fault, Kind
from tests.soundness.disciplined_world import HIGHEST, World
from tests.soundness.synchronizing import SynchronizingThread

USUAL = ("critical",) * 4 + ("loose",) * 3 + ("own", "constant", "local", "assertion")
FEW = ("critical", "loose", "local")
STATEMENTS: dict[str, tuple[str, ...]] = {
    "array": ("element", "element"),
    "stripes": ("stripe", "stripe"),
    "pointer": ("pointer", "pointer"),
    "semaphore": ("semaphore",) * 3,
    "parcel": ("send", "receive") * 2,
    "condition": ("wait_for", "announce") * 2,
    "event": ("event",) * 3,
    "barrier": ("barrier",),
    "recursive": ("recursive", "recursive"),
    "atomic": ("atomic",) * 3,
    "loops": ("loop", "loop", "spin"),
    "assume": ("assume",) * 3,
    "guards": ("guard",) * 3,
    "attempts": ("attempt", "inspect"),
    "misuse": ("break_open", "look_at_owner"),
    "choice": ("choose", "choose"),
    "waiting choices": ("choose_to_wait", "answer") * 3,
    "queue": ("put", "get") * 2,
    "readers": ("reader", "writer") * 2,
    "creation": ("outsider",),
}
USES = ("read", "write", "write", "write", "bump", "bump_slowly", "compare", "mark", "fork") + (
    "judge",
    "flicker",
) * 2
"""The ways to use a data cell."""
INSIDE = frozenset({"loose", "local", "loop", "assume", "guard", "atomic", "choose", "own", "send"})
"""Statements that also occur inside critical sections."""


class LockingThread(SynchronizingThread):
    def __init__(self, world: World, number: int) -> None:
        super().__init__(world, number)
        self.world = world
        self.sharing = world.sharing
        self.locals = [world.add(Cell(f"l{number}.{name}", 0, 3, owner=number)) for name in "ij"]
        self.ended = False
        """Whether `here` cannot be reached any more."""
        features = sorted(world.features & STATEMENTS.keys())
        special = [name for feature in features for name in STATEMENTS[feature]]
        self.statements = [*(FEW if world.featured else USUAL), *special]

    def slips(self) -> bool:
        return self.rng.random() < self.world.slip

    def statement(self) -> None:
        getattr(self, "do_" + self.rng.choice(self.statements))()

    # --- shapes --------------------------------------------------------------------------------

    def branch(self, test: Expr, kind: Kind, *bodies: Callable[[], None]) -> None:
        """The first body where the test holds, the second, if there is one, where it fails."""
        start, ends = self.here, []
        for position in range(2):
            self.here = self.location()
            guard = negate(test) if position else test
            self.edge(start, self.here, kind, guard=guard)
            if position < len(bodies):
                bodies[position]()
            if not self.ended:
                ends.append(self.here)
            self.ended = False
        self.here = self.location()
        self.ended = not ends
        for end in ends:
            self.edge(end, self.here, Kind.LOCAL)

    def local(self) -> Expr:
        return Load(Const(self.rng.choice(self.locals)))

    def value(self) -> Expr:
        """Something that fits into a data cell."""
        if self.rng.random() < 0.5:
            return Const(self.rng.choice((0, 1, 1, 2, 2)))
        source = self.rng.choice((*self.locals, self.world.arguments[self.number]))
        return Binary("min", Load(Const(source)), Const(HIGHEST))

    def require(self, condition: Expr) -> None:
        if not self.world.asserts:
            return
        self.step(Kind.ASSERT, Check(condition, Fault.ASSERT, "random assertion"))

    def guess(self, value: Expr) -> Expr:
        """Something about a value that may be so."""
        operator, bound = self.rng.choice((("ne", 1), ("ne", 2), ("eq", 0), ("le", 1)))
        return Binary(operator, value, Const(bound))

    def shared_data(self) -> list[int]:
        """What several threads use: protected cells and unprotected ones."""
        guarded = [cell for cells in self.sharing.guarded.values() for cell in cells]
        return guarded + self.sharing.loose

    # --- accesses ------------------------------------------------------------------------------

    def touch(self, place: Expr) -> None:
        """Use a data cell in one of the usual ways."""
        getattr(self, "_" + self.rng.choice(USES))(place)

    def _read(self, place: Expr) -> None:
        self.step(Kind.ACCESS, Assign(Const(self.rng.choice(self.locals)), Load(place)))

    def _write(self, place: Expr) -> None:
        self.step(Kind.ACCESS, Assign(place, self.value()))

    def _bump(self, place: Expr) -> None:
        more = Binary("mod", Binary("add", Load(place), ONE), Const(HIGHEST + 1))
        self.step(Kind.ACCESS, Assign(place, more))

    def _bump_slowly(self, place: Expr) -> None:
        counter = Const(self.locals[0])
        self.step(Kind.ACCESS, Assign(counter, Load(place)))
        more = Binary("mod", Binary("add", Load(counter), ONE), Const(HIGHEST + 1))
        self.step(Kind.ACCESS, Assign(place, more))

    def _compare(self, place: Expr) -> None:
        """Two reads in a row must give the same where nobody may write in between."""
        for local in self.locals:
            self.step(Kind.ACCESS, Assign(Const(local), Load(place)))
        self.require(Binary("eq", *(Load(Const(local)) for local in self.locals)))

    def _mark(self, place: Expr) -> None:
        """Write, and find one's own value again."""
        mark = Const(min(self.number, HIGHEST))
        self.step(Kind.ACCESS, Assign(place, mark))
        if self.rng.random() < 0.3:
            self.do_local()
        self.require(Binary("eq", Load(place), mark))

    def _flicker(self, place: Expr) -> None:
        """A value that is there for a moment only."""
        self.step(Kind.ACCESS, Assign(place, Const(HIGHEST)))
        self.step(Kind.ACCESS, Assign(place, ZERO))

    def _judge(self, place: Expr) -> None:
        if self.world.asserts and self.rng.random() < 0.5:
            self.require(self.guess(Load(place)))
            return
        seen = Const(self.locals[0])
        self.step(Kind.ACCESS, Assign(seen, Load(place)))
        self.require(self.guess(Load(seen)))

    def _fork(self, place: Expr) -> None:
        test = Binary("eq", Load(place), Const(self.rng.randint(0, 1)))
        self.branch(test, Kind.ACCESS, lambda: self._write(place))

    def do_loose(self) -> None:
        if self.sharing.loose:
            self.touch(Const(self.rng.choice(self.sharing.loose)))
        else:
            self.do_own()

    def do_own(self) -> None:
        owners = list(self.sharing.owned) if self.slips() else [self.number]
        cell = self.sharing.owned.get(self.rng.choice(owners)) if owners else None
        if cell is not None:
            self.touch(Const(cell))
        else:
            self.do_constant()

    def do_constant(self) -> None:
        for cell in self.sharing.constants:
            use = self.touch if self.slips() else self._read
            use(Const(cell))
        if not self.sharing.constants:
            self.do_local()

    def do_local(self) -> None:
        change = Binary("min", Binary("add", self.local(), ONE), Const(3))
        self.step(Kind.LOCAL, Assign(Const(self.rng.choice(self.locals)), change))

    def do_choose(self) -> None:
        local = Const(self.rng.choice(self.locals))
        self.step(Kind.CHOOSE, Assign(local, Choice()), choices=self.rng.randint(2, 3))

    def do_assertion(self) -> None:
        """About local values, or about several cells at once, whoever protects them."""
        if self.rng.random() < 0.5:
            self.require(self.guess(self.local()))
            return
        first, second = (Load(Const(self.rng.choice(self.shared_data()))) for _ in range(2))
        self.require(self.guess(Binary("min", first, second)))

    # --- locks ---------------------------------------------------------------------------------

    def do_critical(self, outer: Sequence[int] = ()) -> None:
        later = [lock for lock in self.sharing.locks if lock > max(outer, default=0)]
        lock = self.rng.choice(self.sharing.locks if "disorder" in self.world.features else later)
        if lock in outer and self.rng.random() < 0.7:
            return
        forgets = self.slips()
        if not forgets:
            self.acquire(Const(lock))
        for _ in range(self.rng.choice((1, 1, 2))):
            if not self.ended:
                self._inside(lock, (*outer, lock))
        if not self.ended and not (forgets and self.rng.random() < 0.8):
            self._leave(lock)

    def _inside(self, lock: int, held: tuple[int, ...]) -> None:
        roll = self.rng.random()
        more = self.sharing.locks if "disorder" in self.world.features else self.sharing.locks[:-1]
        if roll < 0.12 and len(held) < 2 and lock in more:
            self.do_critical(held)
        elif roll < 0.3:
            choice = self.rng.choice(self.statements)
            if choice in INSIDE:
                getattr(self, "do_" + choice)()
        elif lock in self.sharing.pairs and self.rng.random() < 0.85:
            self._keep_pair(*self.sharing.guarded[lock])
        else:
            self.touch(Const(self.rng.choice(self.sharing.guarded[lock])))

    def _keep_pair(self, first: int, second: int) -> None:
        """Two cells that are equal outside critical sections: change both, or rely on it."""
        if self.rng.random() < 0.5:
            self._bump(Const(first))
            self._bump(Const(second))
        else:
            self.require(Binary("eq", Load(Const(first)), Load(Const(second))))

    def _leave(self, lock: int) -> None:
        owned = lock in self.sharing.owned_locks
        if not self.slips():
            self.release(Const(lock), owned=owned)
        elif self.rng.random() < 0.6:
            test = Binary("eq", self.local(), ZERO)
            self.branch(test, Kind.LOCAL, lambda: self.release(Const(lock), owned=owned))

    def do_attempt(self) -> None:
        lock = self.rng.choice(self.sharing.locks)
        cells, owned = self.sharing.guarded[lock], lock in self.sharing.owned_locks

        def use() -> None:
            self.touch(Const(self.rng.choice(cells)))
            self.release(Const(lock), owned=owned)

        self.try_acquire(Const(lock), self.locals[1])
        self.branch(Binary("ne", Load(Const(self.locals[1])), ZERO), Kind.LOCAL, use)

    def do_inspect(self) -> None:
        lock = self.rng.choice(self.sharing.locks)
        self.inspect(Const(lock), self.locals[1])
        if self.rng.random() < 0.5:
            self.require(Binary("eq", Load(Const(self.locals[1])), ZERO))

    def do_break_open(self) -> None:
        """Release a lock whoever holds it."""
        lock = Const(self.rng.choice(self.sharing.locks))
        if self.rng.random() < 0.5:
            self.release(lock, owned=False)
        else:
            self.step(Kind.RELEASE, Assign(lock, ZERO), subject=lock)

    def do_look_at_owner(self) -> None:
        """Use a lock as if it were data."""
        lock = Load(Const(self.rng.choice(self.sharing.locks)))
        test = Binary("ne", lock, Const(self.rng.randint(1, self.world.threads)))
        kind = self.rng.choice((Kind.ASSERT, Kind.ACCESS))
        if kind is Kind.ASSERT:
            self.require(test)
        else:
            self.step(kind, guard=test)

    def do_stripe(self) -> None:
        """An array with a lock for each element; the index is a local value."""
        locks, cells = (list(column) for column in zip(*self.sharing.stripes, strict=True))
        index: Expr = Const(self.rng.randint(0, 1))
        if self.rng.random() < 0.5:
            self.do_choose()
            source = self.locals[0]
            if self.sharing.constants and self.rng.random() < 0.3:
                source = self.sharing.constants[0]
            index = Binary("and", Load(Const(source)), ONE)
        lock = Element(Const(locks[0]), index, 2, 1)
        self.acquire(lock)
        wrong = self.slips()
        place = Element(Const(cells[0]), Const(0) if wrong else index, 2, 1)
        changes_index = not isinstance(index, Const)
        getattr(self, "_bump" if changes_index else "touch")(place)
        self.release(lock, owned=True)

    def do_recursive(self) -> None:
        lock, cell = self.sharing.recursive, Const(self.sharing.by_recursive)
        twice = self.rng.random() < 0.5
        for _ in range(1 + twice):
            self.acquire_again(lock, 2)
        self.touch(cell)
        if twice:
            self.release_once(lock)
            self.touch(cell)
        if not self.slips():
            self.release_once(lock)
