"""The laws of cells: how accesses to a cell move, as far as it is known before a search.

| law | cells | an access is |
|---|---|---|
| `ALWAYS` | proven unshared, read-only or protected | a both-mover |
| `DATA` | other data; parts of conditions, recursive locks | a both-mover while allowed |
| `LOCK` | owner cells | acquire right, release left, a read by the holder both |
| `COUNT` | semaphores that are only decremented and incremented | take right, give left |
| `FLAG` | events never cleared or inspected; status of threads | await right, raise left |
| `QUEUE` | queues used by puts and gets alone | by its edge (`mazurka.analysis.queue_movers`) |
| `NEVER` | everything else that threads synchronize through | a non-mover |

Why they move.  A *take* needs a positive count and leaves less for others: whatever another thread
did after it was possible before it, and leaves it enabled.  A *give* is always enabled, and
disables no take.  A flag that is never lowered stays raised: an *await* that was enabled stays
enabled, and a *raise* can only enable awaits.  Both directions require that no thread can see the
count or the flag in any other way; `classify_use` checks each edge that may touch it.  If an
operation can fail (too many gives), moving it may make it fail earlier; this failure is a violation
of its own and is reported, so no verdict is lost.

**Movers** say which side a step can be moved to, past the steps of other threads.  Levin, Palmer,
Qadeer, Rajamani, *Sound Transaction-based Reduction without Cycle Detection* (SPIN 2005), section
3: a right mover commutes to the right of every step of another thread, a left mover to the left.  A
step moves only to the sides to which all its accesses move: movers are combined by `&`.

**Uses** are recognized from what an edge does, not from its name.  A reduction must not depend on
labels: an edge called `acquire` that does something else would make it unsound.  So each operation
that is claimed to move is matched in full: which address it uses, what its guard requires, what it
stores.  An operation that does not match is a non-mover.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from mazurka.ir.expressions import ONE, ZERO, Binary, Conditional, Const, Expr, Load, walk
from mazurka.ir.passes.held import conjuncts
from mazurka.ir.program import Check, Edge, Fault, Kind, Mode, Program, Role
from mazurka.ir.values.footprints import Footprints, Touched


class Use(enum.Enum):
    """What an edge does to one cell."""

    TAKE = "take"
    """Waits until the count is positive, then takes one (`semaphore.acquire()`)."""
    GIVE = "give"
    """Adds to the count (`semaphore.release()`); may fail if the count is too large."""
    RAISE = "raise"
    """Stores a fixed value without reading the cell (`event.set()`, the end of a thread)."""
    AWAIT = "await"
    """Waits for that value (`event.wait()`, `thread.join()`), or fails."""
    OTHER = "other"


def walk_edge(edge: Edge) -> Iterator[Expr]:
    """Iterate over all expressions that an edge evaluates, including subexpressions."""
    for root in edge.expressions:
        yield from walk(root)


def find_addresses(footprints: Footprints, edge: Edge, cell: int) -> set[Expr]:
    """Find the address expressions through which an edge may touch a cell."""
    found = {part.address for part in walk_edge(edge) if isinstance(part, Load)}
    found |= {store.address for store in edge.stores}
    return {address for address in found if cell in footprints.targets(address, edge.choices)}


def classify_use(footprints: Footprints, edge: Edge, cell: int) -> tuple[Use, int]:
    """Return what an edge does to a cell, for RAISE and AWAIT also the value."""
    through = find_addresses(footprints, edge, cell)
    if len(through) != 1:
        return Use.OTHER, 0
    (address,) = through
    mine = [store for store in edge.stores if store.address == address]
    loads = sum(part == Load(address) for part in walk_edge(edge))
    if len(mine) == 1:
        return _classify_store(edge, address, mine[0].value, loads)
    if not mine:
        return _classify_await(edge, address, loads)
    return Use.OTHER, 0


def _classify_store(edge: Edge, address: Expr, value: Expr, loads: int) -> tuple[Use, int]:
    here = Load(address)
    match value:
        case Const(constant) if loads == 0:
            return Use.RAISE, constant
        case Binary("sub", left, right) if left == here and right == ONE:
            if loads == 2 and Binary("gt", here, ZERO) in conjuncts(edge.guard):
                return Use.TAKE, 0
        case Binary("add", left, Const(count)) if left == here and count > 0:
            checks = [each for each in edge.operations if isinstance(each, Check)]
            limits = sum(_is_upper_limit(check, here) for check in checks)
            if loads == 1 + limits:
                return Use.GIVE, 0
    return Use.OTHER, 0


def _is_upper_limit(check: Check, here: Expr) -> bool:
    """Whether a check fails if the count is too large.  Assertions do not count as such a check."""
    if check.fault is Fault.ASSERT:
        return False
    match check.condition:
        case Binary("le" | "lt", Binary("add", left, Const()), Const()) if left == here:
            return True
        case Binary("le" | "lt", left, Const()) if left == here:
            return True
    return False


def _classify_await(edge: Edge, address: Expr, loads: int) -> tuple[Use, int]:
    here = Load(address)
    if loads != 1:
        return Use.OTHER, 0
    for part in conjuncts(edge.guard):
        match part:
            case Binary("eq", left, Const(value)) if left == here:
                return Use.AWAIT, value
            case Binary("ne", left, Const(0)) if left == here:
                return Use.AWAIT, 1
    return Use.OTHER, 0


def find_acquired(edge: Edge, thread: int) -> tuple[Expr, ...]:
    """Find the owner cells that an edge waits for, until they are free or its own, and takes."""
    stored = {store.address: store.value for store in edge.stores}
    mine = Const(thread + 1)
    waited = [_waits_for(part, mine) for part in conjuncts(edge.guard)]
    return tuple(
        address for address in waited if address is not None and stored.get(address) == mine
    )


def _waits_for(part: Expr, mine: Const) -> Expr | None:
    """Find the address in `owner == 0`, or in `owner == 0 or owner == mine`."""
    match part:
        case Binary("eq", Load(address), right) if right == ZERO:
            return address
        case Conditional(Binary("eq", Load(address), right), then, other) if right == ZERO:
            if then == ONE and other == Binary("eq", Load(address), mine):
                return address
    return None


class Mover(enum.IntFlag):
    NONE = 0
    RIGHT = 1
    LEFT = 2
    BOTH = 3

    @property
    def words(self) -> str:
        return ("non-mover", "right mover", "left mover", "both-mover")[self]


class MoverUse(enum.Enum):
    """Which movers a search uses."""

    FULL = "full"
    """Right and left movers: transactions as in paper 000.  Preserves assertions."""
    BLOCKING = "blocking"
    """Right movers count as non-movers.  Every step that can block then ends a transaction, and
    deadlocks and races are preserved, too."""
    INVISIBLE = "invisible"
    """Both-movers only: paper 002's invisible steps; all others are visible."""

    def of(self, mover: Mover) -> Mover:
        if self is MoverUse.FULL or mover is Mover.BOTH:
            return mover
        if self is MoverUse.BLOCKING:
            return mover & Mover.LEFT
        return Mover.NONE


class Law(enum.IntEnum):
    NEVER = 0
    ALWAYS = 1
    DATA = 2
    LOCK = 3
    COUNT = 4
    FLAG = 5
    FOREIGN = 6
    """A local cell or the program counter of another thread: only the creator of that thread may
    touch it, before the thread runs."""
    QUEUE = 7


UNDER_LOCK = frozenset({Kind.WAIT, Kind.WAKE, Kind.NOTIFY, Kind.ACQUIRE, Kind.RELEASE})
"""Kinds that touch parts of a synchronization object which its own lock protects."""
LOOKING = frozenset({Kind.TRY_ACQUIRE, Kind.INSPECT})
EDGE_MOVERS = {Use.TAKE: Mover.RIGHT, Use.AWAIT: Mover.RIGHT, Use.GIVE: Mover.LEFT}


@dataclass(frozen=True)
class EdgeAccess:
    """An edge that may touch a cell."""

    thread: int
    number: int
    edge: Edge
    write: bool


@dataclass
class Laws:
    """The laws of a program's cells, and the movers of its edges that follow from them."""

    program: Program
    of_cell: list[Law] = field(default_factory=list)
    edge_movers: list[Mover] = field(default_factory=list)
    """By edge: its mover, as far as counts, flags and created threads are concerned."""
    movable: list[bool] = field(default_factory=list)
    """By cell: whether it is a lock that no edge tries or inspects, as the edges' kinds say."""

    @cached_property
    def footprints(self) -> Footprints:
        return Footprints(self.program)

    @cached_property
    def touched(self) -> list[Touched]:
        return [self.footprints.of_edge(edge) for edge in self.program.edges]

    @cached_property
    def accesses(self) -> dict[int, list[EdgeAccess]]:
        """Return for each cell the edges that may touch it, except those of its owner."""
        found: dict[int, list[EdgeAccess]] = defaultdict(list)
        for thread, automaton in enumerate(self.program.threads):
            first = self.program.first_edge[thread]
            for position, edge in enumerate(automaton.edges):
                touched = self.touched[first + position]
                for cell in touched.reads | touched.writes:
                    if self.program.cells[cell].owner != thread:
                        access = EdgeAccess(thread, first + position, edge, cell in touched.writes)
                        found[cell].append(access)
        return found

    def threads_touching(self, cell: int) -> set[int]:
        return {access.thread for access in self.accesses.get(cell, ())}


def derive_laws(program: Program) -> Laws:
    laws = Laws(program)
    laws.edge_movers = [Mover.BOTH] * len(program.edges)
    for address, cell in enumerate(program.cells):
        kinds = {access.edge.kind for access in laws.accesses.get(address, ())}
        laws.movable.append(cell.role is Role.OWNER and not kinds & LOOKING)
        laws.of_cell.append(_choose_law(laws, address, kinds))
    _spoil_compound_edges(laws)
    return laws


def _choose_law(laws: Laws, address: int, kinds: set[Kind]) -> Law:
    cell = laws.program.cells[address]
    if cell.owner is not None:
        _set_creation_movers(laws, address)
        return Law.FOREIGN
    if cell.role is Role.OWNER:
        return Law.LOCK
    if cell.can_race:
        return Law.DATA
    law = _match_law(laws, address, kinds)
    if law is not None:
        return law
    if kinds <= UNDER_LOCK or len(laws.threads_touching(address)) < 2:
        return Law.DATA
    return Law.NEVER


def _set_creation_movers(laws: Laws, address: int) -> None:
    """Make starting a thread a left mover if only one thread touches this cell of the thread."""
    alone = len(laws.threads_touching(address)) <= 1
    for access in laws.accesses.get(address, ()):
        laws.edge_movers[access.number] &= Mover.LEFT if alone else Mover.NONE


def _match_law(laws: Laws, address: int, kinds: set[Kind]) -> Law | None:
    """Return COUNT or FLAG if all edges that may touch the cell match it; set their movers."""
    accesses = laws.accesses.get(address, [])
    uses = [classify_use(laws.footprints, access.edge, address) for access in accesses]
    names = {use for use, _ in uses}
    if not accesses or Use.OTHER in names:
        return None
    if names <= {Use.TAKE, Use.GIVE}:
        for access, (use, _) in zip(accesses, uses, strict=True):
            laws.edge_movers[access.number] &= EDGE_MOVERS[use]
        return Law.COUNT
    if names <= {Use.RAISE, Use.AWAIT}:
        return _match_flag(laws, address, accesses, uses)
    return None


def _match_flag(
    laws: Laws, address: int, accesses: list[EdgeAccess], uses: list[tuple[Use, int]]
) -> Law | None:
    """Match an event, or a thread's status: its creator sets it to *started* before the end of the
    thread sets it to *done*.  Starting moves left only if no other thread could join too early."""
    together = list(zip(accesses, uses, strict=True))
    starting = [a for a, (use, _) in together if use is Use.RAISE and a.edge.kind is Kind.CREATE]
    raised = {v for a, (use, v) in together if use is Use.RAISE and a.edge.kind is not Kind.CREATE}
    if len(raised) != 1 or laws.program.cells[address].initial in raised:
        return None
    for access, (use, value) in together:
        too_early = starting and _fails_at_once(access.edge)
        if use is Use.AWAIT and value not in raised and not too_early:
            return None
    dealing = {a.thread for a, (use, _) in together if use is Use.AWAIT or a in starting}
    for access, (use, _) in together:
        if access in starting:
            mover = Mover.LEFT if len(dealing) == 1 else Mover.NONE
        else:
            mover = Mover.RIGHT if use is Use.AWAIT else Mover.LEFT
        laws.edge_movers[access.number] &= mover
    return Law.FLAG


def _fails_at_once(edge: Edge) -> bool:
    first = edge.operations[0] if edge.operations else None
    return isinstance(first, Check) and first.condition == ZERO and first.fault is not Fault.ASSERT


def _spoil_compound_edges(laws: Laws) -> None:
    """Make edges into atomic sections non-movers: only steps of one edge have been matched."""
    for thread, automaton in enumerate(laws.program.threads):
        first = laws.program.first_edge[thread]
        for position, edge in enumerate(automaton.edges):
            if automaton.locations[edge.target].mode is Mode.ATOMIC:
                laws.edge_movers[first + position] = Mover.NONE


def waits_for_locks(footprints: Footprints, thread: int) -> list[bool]:
    """Return for each location whether a thread that is blocked there only waits for locks.

    Reading a lock that another thread holds is harmless then: the thread cannot tell how long the
    lock has been taken, and whatever it waits for, it cannot move before the lock is free.
    """
    automaton = footprints.program.threads[thread]
    found = []
    for location in range(len(automaton.locations)):
        edges = list(automaton.edges_at(location))
        waits = bool(edges) and all(_only_acquires(footprints, edge, thread) for edge in edges)
        found.append(waits)
    return found


def _only_acquires(footprints: Footprints, edge: Edge, thread: int) -> bool:
    """Whether an edge takes a lock, and reads no other owner cell."""
    taken = find_acquired(edge, thread)
    if not taken:
        return False
    cells = footprints.program.cells
    for part in walk_edge(edge):
        if isinstance(part, Load) and part.address not in taken:
            targets = footprints.targets(part.address, edge.choices)
            if any(cells[cell].role is Role.OWNER for cell in targets):
                return False
    return True


def takes_one_lock(footprints: Footprints, thread: int) -> list[bool]:
    """Return for each location whether all steps from there take the lock at the same address.

    Only then does "holds it afterwards" protect what the step touches: if, depending on what it
    reads, the step might not take the lock, it could happen while another thread holds the lock.
    """
    automaton = footprints.program.threads[thread]
    found = []
    for location in range(len(automaton.locations)):
        match list({find_acquired(edge, thread)[:1] for edge in automaton.edges_at(location)}):
            case [(address,)]:
                found.append(_is_own(footprints, thread, address))
            case _:
                found.append(False)
    return found


def _is_own(footprints: Footprints, thread: int, address: Expr) -> bool:
    """Whether an address depends on nothing but the thread's own cells."""
    cells = footprints.program.cells
    return all(cells[cell].owner == thread for cell in footprints.loads(address))


def find_wake_locks(program: Program, thread: int) -> list[int]:
    """Return for each location the lock that a thread takes when it is woken there; 0 for none."""
    automaton = program.threads[thread]
    found = []
    for location in range(len(automaton.locations)):
        locks = {
            find_acquired(edge, thread) if edge.kind is Kind.WAKE else ()
            for edge in automaton.edges_at(location)
        }
        match list(locks):
            case [(Const(address),)]:
                found.append(address)
            case _:
                found.append(0)
    return found
