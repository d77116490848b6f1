"""The synchronization discipline: which threads may touch a cell, assumed and then checked.

Stoller and Cohen, *Optimistic Synchronization-Based State-Space Reduction* (TACAS 2003).  A cell is

    unshared      touched by one thread
    read-only     never written
    protected     touched only by threads that hold a lock, the same at every access
        handed over   touched only by a thread that is in its region (`analysis.ownership`)
    unprotected   none of these

and in the first four cases an access is a both-mover, because no other thread can touch the cell
directly before or after it.  The class is not proven beforehand.  Every cell starts with the best
class.  Each access of the search, in each state that it reaches, narrows the class: another thread,
a write, a lock that is not held.  All these are facts about real executions, so no class is given
up without need.  A cell that is left without protection *breaks*: from then on its accesses are
non-movers, and because the search has relied on the opposite, it starts again (`Broken`).

That it suffices to check the *reduced* executions is the optimistic coarsening theorem; the
argument for commit point completion is in `docs/soundness.md`.  It requires two things of a check:
a violation must not depend on what movers of other threads did before it, and reads count even if
a guard then fails, since a thread that waits for `x == 1` without the lock has read x.

"Holds the lock" means: before the step, or after it if the step always takes the lock.  A
condition's wake-up takes its lock and reads the waiters in one step; its wait changes the waiters
and releases the lock in one step.

While all other threads have not been created yet or have finished, a thread may touch every cell
(*hand-over by creation and join*).  The end of a thread then changes which thread has exclusive
access, so it becomes a non-mover; this is tried only when nothing else helps (`handover`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from mazurka.analysis.laws import Law, Mover
from mazurka.analysis.ownership import Place, Regions
from mazurka.analysis.static_facts import StaticFacts, find_static_facts
from mazurka.ir.interpreter import Interpreter, Outcome, State, Step
from mazurka.ir.program import FINISHED, IDLE, Declaration, Kind, Program, Role

MANY = 0xFFFF
"""Stands for several threads, in place of a thread's number plus one."""
MOST_CANDIDATES = 4
"""How many locks are remembered for a cell; if a thread holds more, only precision is lost."""


@dataclass
class CellUse:
    """What the accesses to a cell have had in common so far."""

    first: int = 0
    """0 if no thread has touched it, a thread's number plus one, or MANY."""
    written: bool = False
    locks: tuple[int, ...] = ()
    """The locks held at every access."""
    places: set[Place] = field(default_factory=set)
    """The threads and locations from which it was touched."""
    declared: bool = False
    """`locks` was declared in the model, so a violation of it must be reported."""

    @property
    def broken(self) -> bool:
        return self.first == MANY and self.written and not self.locks


@dataclass(eq=False)
class Broken(Exception):  # noqa: N818 - it is an answer, not an error
    """An access that the discipline does not allow; the discipline has been narrowed."""

    cell: int
    thread: int
    reason: str


MOST_GROWTH = 12
"""How often the regions of a cell may turn out to be too small."""
MOST_GROUPS = 60
"""How many different sets of regions are kept; further cells count as unprotected."""


@dataclass
class Discipline:
    """What is assumed about a program's cells, and what has been observed of them.

    The kernels' copy of these tables, `mazurka.stateful.searches.discipline_tables`, has the same
    rules.
    """

    program: Program
    movers: str = "inferred"

    def __post_init__(self) -> None:
        program = self.program
        known = find_static_facts(program)
        self.laws = list(known.laws.of_cell)
        self.edge_movers = known.laws.edge_movers
        self.movable = list(known.laws.movable)
        self.exclusive = [cell.role is Role.OWNER for cell in program.cells]
        self.locks = [
            address for address, cell in enumerate(program.cells) if cell.role is Role.OWNER
        ]
        self.uses = [CellUse() for _ in program.cells]
        self.handover = False
        self.reduces = True
        """False if a thread touches the cells of another running thread: then nothing moves."""
        self.creates = any(edge.kind is Kind.CREATE for edge in program.edges)
        self.regions: Regions | None = None
        self.groups: list[frozenset[Place]] = []
        self.group_of: dict[int, int] = {}
        self.growth: Counter[int] = Counter()
        self.waits_for_locks = known.waits_for_locks
        self.takes_one_lock = known.takes_one_lock
        self.wake_locks = known.wake_locks
        self.interpreter = Interpreter(program)
        self.corrections: list[str] = []
        """Sentences about declarations of the model that turned out to be wrong."""
        self.proven = known.proven
        self.fixed_steps = known.fixed_steps
        self.take_over_proofs(known)
        self.declare()
        self.settle()

    def take_over_proofs(self, known: StaticFacts) -> None:
        """Use what the lockset analysis has proven; with `--movers static` use nothing else."""
        for address, protection in self.proven.items():
            if self.laws[address] is Law.DATA:
                if protection.kind != "unprotected":
                    self.laws[address] = Law.ALWAYS
                elif self.movers == "static":
                    self.laws[address] = Law.NEVER
        if self.movers == "static":
            for lock in self.locks:
                self.movable[lock] = lock in known.movable_locks
                self.exclusive[lock] = lock in known.disciplined_locks

    def settle(self) -> None:
        """Find the steps whose mover is fixed under the present laws."""
        fixed = self.fixed_steps.movers(self.laws, self.edge_movers)
        self.fixed: list[Mover | None] = fixed

    def is_fixed(self, thread: int, location: int) -> bool:
        first = self.program.first_edge[thread]
        leaving = self.program.threads[thread].outgoing[location]
        return all(self.fixed[first + position] is not None for position in leaving)

    def awaits_others(self, thread: int, location: int) -> bool:
        """Whether one of several choices at a location may be blocked until others act."""
        if self.interpreter.choice_bounds[thread][location] == 1:
            return False
        cells = self.fixed_steps.cells[thread][location]
        return any(self.laws[cell] is not Law.ALWAYS for cell in cells)

    def declare(self) -> None:
        """Use what the model declares as assumptions; they are checked like all others."""
        if self.movers == "declared":
            for address, law in enumerate(self.laws):
                can_race = self.program.cells[address].can_race
                if law is Law.DATA and can_race and address not in self.program.declared:
                    self.laws[address] = Law.NEVER
        for address, declaration in self.program.declared.items():
            if self.laws[address] not in (Law.DATA, Law.ALWAYS) or self.movers == "static":
                continue
            if declaration.kind == "unprotected":
                self.laws[address] = Law.NEVER
            elif not self.is_proven(address, declaration):
                self.laws[address] = Law.DATA
                locks = () if declaration.lock is None else (declaration.lock,)
                self.uses[address] = CellUse(locks=locks, declared=True)

    def is_proven(self, address: int, declaration: Declaration) -> bool:
        """Whether the analysis has proven what the model declares."""
        if self.laws[address] is not Law.ALWAYS:
            return False
        protection = self.proven[address]
        if declaration.lock is None:
            return protection.kind == "unshared"
        return declaration.lock in protection.locks

    # --- movers -------------------------------------------------------------------------------

    def mover(self, source: State, step: Step) -> Mover:
        """Return the mover of a step; raise `Broken` if it, or its guard, breaks the discipline.

        A step that could not be taken is checked as well; its mover has no meaning.
        """
        if not self.reduces:
            return Mover.NONE
        if step.outcome in (Outcome.FINISHED, Outcome.INVALID):
            return Mover.BOTH
        if self.is_fixed(step.thread, self.interpreter.location(source, step.thread)):
            mover = (step.happened and self.fixed[step.edges[0]]) or Mover.NONE
        else:
            mover = self.footprint_mover(source, step)
        if step.happened and self.changes_access(source, step):
            return Mover.NONE
        return mover

    def footprint_mover(self, source: State, step: Step) -> Mover:
        mover = Mover.BOTH
        try:
            for address in sorted(step.footprint_reads | step.footprint_writes):
                mover &= self.access(source, step, address)
        except Broken:
            self.settle()
            raise
        return mover

    def access(self, source: State, step: Step, address: int) -> Mover:
        match self.laws[address]:
            case Law.NEVER:
                return Mover.NONE
            case Law.ALWAYS:
                return Mover.BOTH
            case Law.LOCK:
                return self.lock_access(source, step, address)
            case Law.COUNT | Law.FLAG | Law.QUEUE:
                return self.edge_movers[step.edges[0]] if step.happened else Mover.BOTH
            case Law.FOREIGN:
                return self.foreign_access(source, step, address)
            case Law.DATA:
                return self.data_access(source, step, address)

    def changes_access(self, source: State, step: Step) -> bool:
        """Whether a step changes an exclusive access predicate."""
        before = self.interpreter.location(source, step.thread)
        after = self.interpreter.location(step.state, step.thread)
        if self.handover and after == FINISHED:
            return True
        return self.inside(step.thread, before) != self.inside(step.thread, after)

    def inside(self, thread: int, location: int) -> int:
        """Return the groups in use whose regions contain a location, as bits."""
        place, used = (thread, location), set(self.group_of.values())
        return sum(1 << number for number in used if place in self.groups[number])

    def lock_access(self, source: State, step: Step, address: int) -> Mover:
        """Judge an access to a lock: acquire, release, or a read.  Taking a lock without waiting
        for it is a read as well: the step would have been another if the lock had been taken."""
        me = step.thread + 1
        before, after = source[address], step.state[address]
        written = address in step.footprint_writes and step.happened
        waits_here = self.waits_here(source, step.thread)
        if before == me and after == me:
            return Mover.BOTH if self.exclusive[address] else Mover.NONE
        if written and (before, after) == (me, 0):
            return Mover.LEFT if self.movable[address] else Mover.NONE
        if written and (before, after) == (0, me) and waits_here:
            return Mover.RIGHT if self.movable[address] else Mover.NONE
        if written and (before, after) != (0, me):
            return self.lose_lock(step, address)
        if not step.happened and waits_here:
            return Mover.BOTH
        if step.fault is None and self.movable[address]:
            self.movable[address] = False
            raise Broken(address, step.thread, "is looked at by a thread that does not hold it")
        return Mover.NONE

    def waits_here(self, source: State, thread: int) -> bool:
        return self.waits_for_locks[thread][self.interpreter.location(source, thread)]

    def lose_lock(self, step: Step, address: int) -> Mover:
        """Give up a lock that a thread changes without holding it: it does not exclude others."""
        if not self.exclusive[address]:
            return Mover.NONE
        self.exclusive[address] = self.movable[address] = False
        for use in self.uses:
            use.locks = tuple(lock for lock in use.locks if lock != address)
        raise Broken(address, step.thread, "is changed by a thread that does not hold it")

    def foreign_access(self, source: State, step: Step, address: int) -> Mover:
        """Judge an access to another thread's own cells; allowed only before that thread runs."""
        owner = self.program.cells[address].owner
        assert owner is not None
        if step.fault is not None and address not in step.footprint_writes:
            return Mover.NONE
        idle = self.interpreter.location(source, owner) == IDLE
        if step.happened and idle and self.program.edges[step.edges[0]].kind is Kind.CREATE:
            return Mover.NONE if self.group_of else self.edge_movers[step.edges[0]]
        self.reduces = False
        raise Broken(address, step.thread, "belongs to a thread that runs already")

    # --- data ---------------------------------------------------------------------------------

    def data_access(self, source: State, step: Step, address: int) -> Mover:
        if self.handover and self.alone(source, step.thread):
            return Mover.BOTH
        use = self.uses[address]
        use.places.add((step.thread, self.interpreter.location(source, step.thread)))
        if address in self.group_of:
            return self.owned_access(source, step, address)
        held = self.held(source, step)
        me = step.thread + 1
        if use.first == 0 and not use.declared:
            use.locks = tuple(held)[:MOST_CANDIDATES]
        kept = tuple(lock for lock in use.locks if lock in held)
        use.first = me if use.first in (0, me) else MANY
        use.written |= address in step.footprint_writes
        if use.declared and (kept != use.locks or (use.first == MANY and not use.locks)):
            raise self.breaking(source, step, address)
        use.locks = kept
        if use.broken:
            raise self.breaking(source, step, address)
        return Mover.BOTH

    def held(self, source: State, step: Step) -> list[int]:
        """Return the locks that a thread holds before a step, or is certain to hold after it."""
        me, location = step.thread + 1, self.interpreter.location(source, step.thread)
        certain = step.happened and self.takes_one_lock[step.thread][location]
        held = [
            lock
            for lock in self.locks
            if self.exclusive[lock] and (source[lock] == me or (certain and step.state[lock] == me))
        ]
        if not step.happened:
            wake = self.wake_locks[step.thread][location]
            if wake and self.exclusive[wake] and wake not in held:
                held.append(wake)
        return held

    def alone(self, state: State, thread: int) -> bool:
        """Whether no other thread runs: all others are not created yet or have finished."""
        return all(
            self.interpreter.location(state, other) in (IDLE, FINISHED)
            for other in range(len(self.program.threads))
            if other != thread
        )

    def owned_access(self, source: State, step: Step, address: int) -> Mover:
        """Judge an access to a cell that is handed over: only this thread may be in its regions."""
        inside = self.threads_inside(source, self.groups[self.group_of[address]])
        if inside == {step.thread}:
            return Mover.BOTH
        del self.group_of[address]
        self.growth[address] += 1
        grows = step.thread not in inside and self.growth[address] <= MOST_GROWTH
        if grows and self.hand_over(source, step, address):
            raise Broken(address, step.thread, "is handed over at one more place")
        self.laws[address] = Law.NEVER
        raise Broken(address, step.thread, "is not handed over from thread to thread")

    def threads_inside(self, state: State, places: frozenset[Place]) -> set[int]:
        return {
            thread
            for thread in range(len(self.program.threads))
            if (thread, self.interpreter.location(state, thread)) in places
        }

    def breaking(self, source: State, step: Step, address: int) -> Broken:
        """Try the next best assumption about a cell that has lost its protection."""
        if self.creates and not self.handover:
            self.handover = True
            self.forget()
            reason = "is touched by several threads; they may start and join each other for it"
            return Broken(address, step.thread, reason)
        if self.uses[address].declared:
            return self.correct_declaration(step, address)
        if self.hand_over(source, step, address):
            reason = "has no common lock; the threads may hand it to each other"
            return Broken(address, step.thread, reason)
        self.laws[address] = Law.NEVER
        return Broken(address, step.thread, "is accessed by several threads without a common lock")

    def correct_declaration(self, step: Step, address: int) -> Broken:
        declared = self.program.declared[address]
        self.uses[address] = CellUse()
        if self.movers == "declared":
            self.laws[address] = Law.NEVER
        if declared.lock is None:
            reason = "is declared unshared, but several threads use it"
        else:
            lock = self.program.cells[declared.lock].name
            reason = f"is declared protected by `{lock}`, which is not held here"
        name, thread = self.program.cells[address].name, self.program.threads[step.thread]
        if not thread.observer:  # observers read without a lock; the declaration may still be right
            self.corrections.append(
                f"`{name}` {reason} ({thread.name}, declared at {declared.span})"
            )
        return Broken(address, step.thread, reason)

    def forget(self) -> None:
        """Forget all accesses that have been observed, but not the declared locks."""
        for use in self.uses:
            use.first, use.written, use.places = 0, False, set()
            use.locks = use.locks if use.declared else ()

    def hand_over(self, source: State, step: Step, address: int) -> bool:
        """Protect a cell by the regions it was touched in, if only this thread is inside now."""
        if self.regions is None:
            self.regions = Regions(self.program)
        where = self.regions.around(self.uses[address].places)
        if self.threads_inside(source, where) != {step.thread}:
            return False
        if where not in self.groups:
            unused = set(range(len(self.groups))) - set(self.group_of.values())
            if unused:
                self.groups[min(unused)] = where
            elif len(self.groups) < MOST_GROUPS:
                self.groups.append(where)
            else:
                return False
        self.group_of[address] = self.groups.index(where)
        return True

    # --- results ------------------------------------------------------------------------------

    def cells(self) -> Iterator[tuple[int, str, tuple[int, ...]]]:
        """Iterate over the shared data cells, their classes and the locks that protect them."""
        for address, cell in enumerate(self.program.cells):
            if not address or cell.owner is not None or not cell.can_race:
                continue
            yield address, *self.class_of(address)

    def class_of(self, address: int) -> tuple[str, tuple[int, ...]]:
        use = self.uses[address]
        if self.laws[address] is Law.NEVER or not self.reduces:
            return "unprotected", ()
        if self.laws[address] is Law.ALWAYS:
            protection = self.proven[address]
            locks = sorted(protection.locks) if protection.kind == "protected" else ()
            return protection.kind, tuple(locks)
        if address in self.group_of:
            return "handed over", ()
        if use.first != MANY:
            return "unshared", ()
        if use.locks:
            return "protected", use.locks
        return "read-only", ()
