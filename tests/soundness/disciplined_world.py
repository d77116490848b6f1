"""What the threads of a disciplined program share, and how they are meant to share it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from mazurka.ir.program import Cell, Declaration, Role
from tests.soundness.building import ProgramBuilder
from tests.soundness.synchronizing import DONE

FEATURES = (
    *("array", "stripes", "pointer", "semaphore", "parcel", "condition", "event", "barrier"),
    *("recursive", "creation", "atomic", "loops", "assume", "guards", "attempts", "misuse"),
    *("disorder", "choice", "faults", "observer", "queue", "readers"),
)
FREQUENCY = {"loops": 0.5, "creation": 0.25, "faults": 0.15, "observer": 0.04, "misuse": 0.15}
USUAL_FREQUENCY = 0.15
HIGHEST = 2
"""The largest number in a data cell."""

SIGNALS = 2
"""How often a semaphore that hands something over can be ahead."""
CAPACITY = 2
"""How many items a queue holds."""


@dataclass
class Sharing:
    """Addresses of what the threads share, and how they are meant to share it."""

    locks: list[int] = field(default_factory=list)
    owned_locks: set[int] = field(default_factory=set)
    """Those that only their holder may release."""
    guarded: dict[int, list[int]] = field(default_factory=dict)
    """The data cells that each lock protects."""
    pairs: set[int] = field(default_factory=set)
    """Locks whose first two cells are to be equal whenever the lock is free."""
    loose: list[int] = field(default_factory=list)
    owned: dict[int, int] = field(default_factory=dict)
    """For each thread a cell that nobody else is to use."""
    constants: list[int] = field(default_factory=list)
    array: list[int] = field(default_factory=list)
    array_lock: int = 0
    stripes: list[tuple[int, int]] = field(default_factory=list)
    """Locks in a row and cells in a row: each cell is protected by the lock of its number."""
    pointer: int = 0
    pointer_lock: int = 0
    targets: tuple[int, ...] = ()
    semaphore: int = 0
    by_semaphore: int = 0
    parcel: int = 0
    signal: int = 0
    asked: int = 0
    """Written before a thread chooses to wait for the signal; who gives that waits for it."""
    waiters: list[int] = field(default_factory=list)
    queued: bool = False
    event: int = 0
    announced: int = 0
    """Written before the event is set, read after it."""
    barrier: int = 0
    recursive: int = 0
    by_recursive: int = 0
    queue: int = 0
    readers: int = 0
    by_readers: int = 0
    status: int = 0
    """The first thread's status cell; 0 where no thread is created."""


class World(ProgramBuilder):
    """The cells of a program.  It has some of the features only, so that two of them meet often."""

    def __init__(self, rng: Random, extra: frozenset[str] = frozenset()) -> None:
        """`extra`: features that it has in any case."""
        super().__init__(rng, "disciplined", rng.choice((2, 2, 3, 3, 3, 4)))
        self.features = {
            feature
            for feature in FEATURES
            if rng.random() < FREQUENCY.get(feature, USUAL_FREQUENCY)
        } | extra
        self.featured = rng.random() < 0.4
        """Whether the threads do little else than what the features are about."""
        self.slip = rng.choice((0.0, 0.0, 0.08, 0.25))
        """How often a thread forgets the discipline."""
        self.asserts = rng.random() < 0.35
        """Whether the threads assert this and that; otherwise one assertion is added later."""
        self.sharing = Sharing()
        self.arguments = [
            self.add(Cell(f"argument{number}", 0, HIGHEST, owner=number))
            for number in range(self.threads)
        ]
        self._share_data()
        self._share_synchronization()

    def data(self, name: str) -> int:
        return self.add(Cell(name, 0, HIGHEST, self.rng.choice((0, 0, 0, 1))))

    def sync(self, name: str, high: int, initial: int = 0, role: Role = Role.SYNC) -> int:
        return self.add(Cell(name, 0, high, initial, role=role))

    def _share_data(self) -> None:
        rng, sharing = self.rng, self.sharing
        for index in range(rng.choice((1, 1, 1, 2, 2, 3))):
            lock = self.sync(f"lock{index}", self.threads, role=Role.OWNER)
            sharing.locks.append(lock)
            if rng.random() < 0.7:
                sharing.owned_locks.add(lock)
            cells = [self.data(f"g{index}.{number}") for number in range(rng.choice((1, 1, 2)))]
            sharing.guarded[lock] = cells
            if len(cells) > 1 and rng.random() < 0.6:
                sharing.pairs.add(lock)
                self.cells[cells[1]] = replace(
                    self.cells[cells[1]], initial=self.cells[cells[0]].initial
                )
        sharing.loose = [self.data(f"u{number}") for number in range(rng.choice((0, 0, 1, 1, 2)))]
        for number in range(self.threads):
            if rng.random() < 0.3:
                sharing.owned[number] = self.data(f"own{number}")
        if rng.random() < 0.3:
            sharing.constants.append(self.data("constant"))

    def _share_synchronization(self) -> None:
        rng, sharing, features = self.rng, self.sharing, self.features
        lock = rng.choice(sharing.locks)
        if "array" in features:
            sharing.array = [self.data(f"a[{index}]") for index in range(rng.randint(2, 3))]
            sharing.array_lock = rng.choice((0, lock, lock))
        if "stripes" in features:
            locks = [self.sync(f"s[{i}]", self.threads, role=Role.OWNER) for i in range(2)]
            cells = [self.data(f"b[{index}]") for index in range(2)]
            sharing.stripes = list(zip(locks, cells, strict=True))
        if "pointer" in features:
            self._share_pointer(lock)
        if "semaphore" in features:
            sharing.semaphore = self.sync("mutex", 1, 1)
            sharing.by_semaphore = self.data("by semaphore")
        if "parcel" in features:
            sharing.parcel, sharing.signal = self.data("parcel"), self.sync("signal", SIGNALS)
        if "waiting choices" in features:
            if "parcel" not in features:
                sharing.signal = self.sync("signal", SIGNALS)
            sharing.asked = self.add(Cell("asked", 0, HIGHEST))
            sharing.owned |= {n: self.data(f"alone{n}") for n in range(self.threads)}
        if "condition" in features:
            sharing.queued = rng.random() < 0.5
            high = self.threads if sharing.queued else 1
            sharing.waiters = [self.sync(f"waiting[{i}]", high) for i in range(self.threads)]
        if "event" in features:
            sharing.event, sharing.announced = self.sync("event", 1), self.data("announced")
        if "barrier" in features:
            sharing.barrier = self.sync("barrier", 2)
            self.sync("barrier.leaving", 1)
        if "recursive" in features:
            sharing.recursive = self.sync("recursive", self.threads, role=Role.OWNER)
            self.sync("recursive.count", 2)
            sharing.by_recursive = self.data("by recursive")
        if "queue" in features:
            sharing.queue = self.sync("queue", CAPACITY)
            for place in range(CAPACITY):
                self.sync(f"queue.item[{place}]", HIGHEST)
        if "readers" in features:
            sharing.readers = self.sync("readers", self.threads, role=Role.OWNER)
            for number in range(self.threads):
                self.sync(f"readers.reader[{number}]", 1)
            sharing.by_readers = self.data("by readers")
        if "creation" in features:
            sharing.status = len(self.cells)
            for number in range(self.threads):
                self.sync(f"status{number}", DONE)

    def _share_pointer(self, lock: int) -> None:
        rng, sharing = self.rng, self.sharing
        sharing.targets = tuple([*sharing.guarded[lock], *sharing.loose][:2])
        sharing.pointer_lock = rng.choice((0, lock, lock))
        points = (0, *sharing.targets) if "faults" in self.features else sharing.targets
        first = rng.choice(sharing.targets)
        sharing.pointer = self.add(
            Cell("pointer", 0, max(points), first, role=Role.POINTER, points=points)
        )

    def declarations(self) -> dict[int, Declaration]:
        """What the model's author believes; now and then it is wrong even without a slip."""
        rng, sharing = self.rng, self.sharing
        found: dict[int, Declaration] = {}
        for lock, cells in sharing.guarded.items():
            for cell in cells:
                if rng.random() < 0.3:
                    kind = "protected" if rng.random() < 0.9 else "unshared"
                    protector = lock if kind == "protected" else None
                    found[cell] = Declaration(kind, protector, self.span())
        for cell in sharing.owned.values():
            if rng.random() < 0.3:
                found[cell] = Declaration("unshared", None, self.span())
        for cell in sharing.loose:
            if rng.random() < 0.3:
                kind = rng.choice(("unprotected", "unprotected", "unshared"))
                found[cell] = Declaration(kind, None, self.span())
        return found
