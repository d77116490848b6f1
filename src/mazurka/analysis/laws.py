"""The law by which accesses to a cell move: what can be said before any search.

| law | cells | an access is |
|---|---|---|
| `ALWAYS` | proven unshared, read-only or protected | a both-mover |
| `DATA` | other data; parts of conditions, recursive locks | a both-mover while allowed |
| `LOCK` | owner cells | acquire right, release left, a look by the holder both |
| `COUNT` | semaphores that are only taken and given back | take right, give left |
| `FLAG` | events never cleared or looked at; status of threads | await right, raise left |
| `NEVER` | everything else that threads synchronize through | a non-mover |

Why they move.  A *take* needs a positive count and leaves less for others: whatever another thread
did after it was possible before it, and leaves it enabled.  A *give* is always enabled, and makes
no take impossible.  A flag that is never lowered stays raised: an *await* that was possible stays
possible, and a *raise* can only make awaits possible.  Both directions need that nobody can see the
count or the flag in any other way; `use_of` checks each edge that may touch it.  Where an
operation can fail (too many gives), moving it may make it fail earlier; this failure is a violation
of its own and is reported, so no verdict is lost.

**Movers** say which side a step can be moved to, past the steps of other threads.  Levin, Palmer,
Qadeer, Rajamani, *Sound Transaction-based Reduction without Cycle Detection* (SPIN 2005), section
3: a right mover commutes to the right of every step of another thread, a left mover to the left.  A
step is as movable as all its accesses are: movers meet by `&`.

**Uses** are recognized from what an edge does, not from its name.  A reduction must not depend on
labels: an edge called `acquire` that does something else would make it unsound.  So each operation
that is claimed to move is matched in full: which address it goes through, what its guard asks for,
what it stores.  What does not match is a non-mover.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from mazurka.ir.expressions import ONE, ZERO, Binary, Conditional, Const, Expr, Load, walk
from mazurka.ir.passes.held import conjuncts
from mazurka.ir.program import Assign, Check, Edge, Fault, Kind, Mode, Program, Role
from mazurka.ir.values.footprints import Footprints, Touched


class Use(enum.Enum):
    """What an edge does to one cell."""

    TAKE = "take"
    """Waits until the count is positive, then takes one (`semaphore.acquire()`)."""
    GIVE = "give"
    """Adds to the count (`semaphore.release()`); may fail where there are too many."""
    RAISE = "raise"
    """Stores one fixed value, whatever was there (`event.set()`, the end of a thread)."""
    AWAIT = "await"
    """Waits for that value (`event.wait()`, `thread.join()`), or fails."""
    OTHER = "other"


def expressions(edge: Edge) -> Iterator[Expr]:
    """Every expression that an edge evaluates, subexpressions included."""
    for root in edge.expressions:
        yield from walk(root)


def addresses(footprints: Footprints, edge: Edge, cell: int) -> set[Expr]:
    """The address expressions through which an edge may touch a cell."""
    found = {part.address for part in expressions(edge) if isinstance(part, Load)}
    found |= {each.address for each in edge.operations if isinstance(each, Assign)}
    return {address for address in found if cell in footprints.targets(address, edge.choices)}


def use_of(footprints: Footprints, edge: Edge, cell: int) -> tuple[Use, int]:
    """What an edge does to a cell; with RAISE and AWAIT the value that is stored or awaited."""
    through = addresses(footprints, edge, cell)
    if len(through) != 1:
        return Use.OTHER, 0
    (address,) = through
    stores = [each for each in edge.operations if isinstance(each, Assign)]
    mine = [store for store in stores if store.address == address]
    loads = sum(part == Load(address) for part in expressions(edge))
    if len(mine) == 1:
        return _store_use(edge, address, mine[0].value, loads)
    if not mine:
        return _await_use(edge, address, loads)
    return Use.OTHER, 0


def _store_use(edge: Edge, address: Expr, value: Expr, loads: int) -> tuple[Use, int]:
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
    """A check that fails the sooner the more there is; a failed assertion might be ignored."""
    if check.fault is Fault.ASSERT:
        return False
    match check.condition:
        case Binary("le" | "lt", Binary("add", left, Const()), Const()) if left == here:
            return True
        case Binary("le" | "lt", left, Const()) if left == here:
            return True
    return False


def _await_use(edge: Edge, address: Expr, loads: int) -> tuple[Use, int]:
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


def acquired(edge: Edge, thread: int) -> tuple[Expr, ...]:
    """The owner cells that an edge takes: it waits until they are free (or its own)."""
    stored = {each.address: each.value for each in edge.operations if isinstance(each, Assign)}
    mine = Const(thread + 1)
    waited = [_waits_for(part, mine) for part in conjuncts(edge.guard)]
    return tuple(
        address for address in waited if address is not None and stored.get(address) == mine
    )


def _waits_for(part: Expr, mine: Const) -> Expr | None:
    """The address in `owner == 0`, or in `owner == 0 or owner == mine`."""
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
    """How much of a mover a search makes use of."""

    FULL = "full"
    """Right and left movers: transactions as in paper 000.  Keeps assertions."""
    BLOCKING = "blocking"
    """Right movers are non-movers.  Whatever can block then ends a transaction, and deadlocks and
    races are kept, too."""
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
    """A local cell or the program counter of a thread, seen from another: only its creator may
    touch it, while the thread does not run yet."""


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
    """The laws of a program's cells, and what its edges and locations mean to them."""

    program: Program
    of_cell: list[Law] = field(default_factory=list)
    edge_movers: list[Mover] = field(default_factory=list)
    """By edge: how it moves as far as counts, flags and created threads go."""
    movable: list[bool] = field(default_factory=list)
    """By cell: whether nobody tries or inspects the lock, as far as the edges' kinds tell."""

    @cached_property
    def footprints(self) -> Footprints:
        return Footprints(self.program)

    @cached_property
    def touched(self) -> list[Touched]:
        return [self.footprints.of_edge(edge) for edge in self.program.edges]

    @cached_property
    def accesses(self) -> dict[int, list[EdgeAccess]]:
        """By cell: the edges that may touch it, apart from a thread's own local cells."""
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


def laws_of(program: Program) -> Laws:
    laws = Laws(program)
    laws.edge_movers = [Mover.BOTH] * len(program.edges)
    for address, cell in enumerate(program.cells):
        kinds = {access.edge.kind for access in laws.accesses.get(address, ())}
        laws.movable.append(cell.role is Role.OWNER and not kinds & LOOKING)
        laws.of_cell.append(_law(laws, address, kinds))
    _spoil_compound_edges(laws)
    return laws


def _law(laws: Laws, address: int, kinds: set[Kind]) -> Law:
    cell = laws.program.cells[address]
    if cell.owner is not None:
        _creation(laws, address)
        return Law.FOREIGN
    if cell.role is Role.OWNER:
        return Law.LOCK
    if cell.can_race:
        return Law.DATA
    law = _family(laws, address, kinds)
    if law is not None:
        return law
    if kinds <= UNDER_LOCK or len(laws.threads_touching(address)) < 2:
        return Law.DATA
    return Law.NEVER


def _creation(laws: Laws, address: int) -> None:
    """Starting a thread is a left mover if only one thread ever deals with its beginning."""
    alone = len(laws.threads_touching(address)) <= 1
    for access in laws.accesses.get(address, ()):
        laws.edge_movers[access.number] &= Mover.LEFT if alone else Mover.NONE


def _family(laws: Laws, address: int, kinds: set[Kind]) -> Law | None:
    """COUNT or FLAG where every edge that may touch the cell fits; notes how the edges move."""
    accesses = laws.accesses.get(address, [])
    uses = [use_of(laws.footprints, access.edge, address) for access in accesses]
    names = {use for use, _ in uses}
    if not accesses or Use.OTHER in names:
        return None
    if names <= {Use.TAKE, Use.GIVE}:
        for access, (use, _) in zip(accesses, uses, strict=True):
            laws.edge_movers[access.number] &= EDGE_MOVERS[use]
        return Law.COUNT
    if names <= {Use.RAISE, Use.AWAIT}:
        return _flag(laws, address, accesses, uses)
    return None


def _flag(
    laws: Laws, address: int, accesses: list[EdgeAccess], uses: list[tuple[Use, int]]
) -> Law | None:
    """An event, or a thread's status, which its creator sets to *started* before the end of the
    thread sets it to *done*: starting moves left only if no other thread could join too early."""
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
    """Only a step of one edge is matched by that edge; a section that goes on is a non-mover."""
    for thread, automaton in enumerate(laws.program.threads):
        first = laws.program.first_edge[thread]
        for position, edge in enumerate(automaton.edges):
            if automaton.locations[edge.target].mode is Mode.ATOMIC:
                laws.edge_movers[first + position] = Mover.NONE


def waits_for_locks(footprints: Footprints, thread: int) -> list[bool]:
    """By location: whether a thread that cannot go on there merely waits until locks are free.

    Looking at a lock that somebody else holds is harmless then: the thread cannot tell how long it
    has been taken, and whatever it waits for, it cannot move before the lock is free.
    """
    automaton = footprints.program.threads[thread]
    found = []
    for location in range(len(automaton.locations)):
        edges = list(automaton.edges_at(location))
        waits = bool(edges) and all(_only_acquires(footprints, edge, thread) for edge in edges)
        found.append(waits)
    return found


def _only_acquires(footprints: Footprints, edge: Edge, thread: int) -> bool:
    """Whether an edge takes a lock, and looks at no other owner cell before."""
    taken = acquired(edge, thread)
    if not taken:
        return False
    cells = footprints.program.cells
    for part in expressions(edge):
        if isinstance(part, Load) and part.address not in taken:
            targets = footprints.targets(part.address, edge.choices)
            if any(cells[cell].role is Role.OWNER for cell in targets):
                return False
    return True


def takes_one_lock(footprints: Footprints, thread: int) -> list[bool]:
    """By location: whether every step from there takes the lock at one address, come what may.

    Only then does "holds it afterwards" protect what the step touches: if the step could do without
    the lock, depending on what it reads, another thread's holding it would not keep it away.
    """
    automaton = footprints.program.threads[thread]
    found = []
    for location in range(len(automaton.locations)):
        match list({acquired(edge, thread)[:1] for edge in automaton.edges_at(location)}):
            case [(address,)]:
                found.append(_is_own(footprints, thread, address))
            case _:
                found.append(False)
    return found


def _is_own(footprints: Footprints, thread: int, address: Expr) -> bool:
    """Whether an address depends on nothing but the thread's own cells."""
    cells = footprints.program.cells
    return all(cells[cell].owner == thread for cell in footprints.loads(address))


def wake_locks(program: Program, thread: int) -> list[int]:
    """By location: the lock that a thread takes again when it is woken there, 0 for none."""
    automaton = program.threads[thread]
    found = []
    for location in range(len(automaton.locations)):
        locks = {
            acquired(edge, thread) if edge.kind is Kind.WAKE else ()
            for edge in automaton.edges_at(location)
        }
        match list(locks):
            case [(Const(address),)]:
                found.append(address)
            case _:
                found.append(0)
    return found
