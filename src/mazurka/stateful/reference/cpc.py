"""Transaction-based reduction, written as in the paper, on the interpreter: slow, plain, checked.

Levin, Palmer, Qadeer, Rajamani, *Sound Transaction-based Reduction without Cycle Detection* (SPIN
2005), Figures 5, 6 and 7.  The native search (`stateful.kernels.transactions`) follows the same
lines in the same order; tests compare their counts, and `assert_theorem_2` checks the paper's
invariants on what this one has explored.

| paper | here |
|---|---|
| `TraversalInfo` | `Record` |
| State#, Phase(t, state) | `Record.state` and `Record.phase`: only `tid` can be before its commit |
| `Enabled`, `Execute`, `Update` | `next_step`, `execute`, `update` |
| L18 with and without L19, and its replacements | `must_end` |

Deviations: local steps are both-movers (they have an empty footprint), where the paper leaves them
out of RM and LM; a thread without a successor ends its transaction whatever L19 says, or it would
withhold the other threads for ever; so does a thread one of whose choices is blocked, since other
threads may make it possible (`docs/papers/transactions.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from mazurka.analysis.discipline import Broken, Discipline
from mazurka.analysis.laws import Mover, MoverUse
from mazurka.analysis.standstill import is_deadlock
from mazurka.ir.interpreter import FaultReport, Outcome, State, Step
from mazurka.ir.program import Program
from mazurka.ir.remembering import share_interpreter
from mazurka.search import Move
from mazurka.search.races import races_between
from mazurka.stateful.hangs import is_hang
from mazurka.stateful.reference.full import is_dead_end
from mazurka.stateful.variants import Completion

Key = tuple[State, int | None]


class GivenUp(Exception):  # noqa: N818 - it is an answer, not an error
    """The search was told to give up."""


@dataclass
class Record:
    """The paper's TraversalInfo."""

    state: State
    phase: bool
    """Whether `tid` is in the right-mover part of its transaction."""
    tid: int
    num_tids: int = 1
    choice: int = 0
    cpc: bool = False
    xend: bool = False
    lm: bool = False
    rm: bool = False
    successors: int = 0
    """How many steps `tid` has taken from here."""
    closes_cycle: bool = False
    pushed: bool = False
    """Whether a step from here has led to something new."""
    outcomes: set[Outcome] = field(default_factory=set)

    @property
    def key(self) -> Key:
        return self.state, self.tid if self.phase else None


@dataclass
class Transactions:
    """One round of the search: the discipline stays as it is, or `Broken` is raised."""

    program: Program
    completion: Completion
    discipline: Discipline
    mover_use: MoverUse = MoverUse.FULL
    races_wanted: bool = False
    hangs_wanted: bool = False
    stop: Callable[[], bool] = lambda: False
    """Asked all along whether to give up (`GivenUp`)."""

    def __post_init__(self) -> None:
        self.interpreter = share_interpreter(self.program)
        self.table: dict[Key, Record] = {}
        self.on_stack: dict[Key, int] = {}
        self.stack: list[Record] = []
        self.transitions = 0
        self.scheduled: list[State] = []
        """The states from which all threads were explored, in the order of decision."""
        self.faults: list[tuple[State, Move, FaultReport]] = []
        self.deadlocks: list[State] = []
        self.races: list[State] = []
        self.hangs: list[State] = []

    @property
    def states(self) -> set[State]:
        return {state for state, _ in self.table}

    @property
    def kinds(self) -> set[str]:
        found = {str(report.fault) for _, _, report in self.faults}
        found |= {"deadlock"} if self.deadlocks else set()
        found |= {"hang"} if self.hangs else set()
        return found | ({"race"} if self.races else set())

    def search(self) -> None:
        """Fig. 6."""
        start = Record(self.program.initial_state(), False, 0, cpc=True, xend=True)  # L0
        self.push(start)  # L1, L2
        while self.stack:  # L3
            if self.stop():
                raise GivenUp
            q = self.stack[-1]  # L4
            step = self.next_step(q)
            if step is not None:  # L5
                self.explore(q, step)
            else:
                q.xend = q.xend or (not q.phase and self.must_end(q))  # L18, L19
                q.cpc = q.cpc or q.xend  # L20
                self.pop(q)

    def explore(self, q: Record, step: Step) -> None:
        successor = self.execute(q, step)  # L6
        q.xend = q.xend or (not q.phase and not successor.lm)  # L7
        q.cpc = q.cpc or q.xend  # L8
        if is_dead_end(step):
            q.xend = q.cpc = q.xend or not q.phase
            return
        q.successors += 1
        known = self.table.get(successor.key)
        if known is not None:  # L9, L10
            q.cpc = q.cpc or known.cpc  # L11
            q.closes_cycle = q.closes_cycle or bool(self.on_stack.get(successor.key))
        else:  # L12
            q.pushed = True
            self.push(successor)  # L13, L14

    def push(self, record: Record) -> None:
        self.table[record.key] = record
        self.on_stack[record.key] = 1
        self.stack.append(record)

    def must_end(self, q: Record) -> bool:
        """What is left of L18 once the phase is known to be false."""
        if q.successors == 0:
            return True
        match self.completion:
            case Completion.NONE:
                return self.is_initial(q)
            case Completion.CYCLES:
                return q.closes_cycle
            case Completion.COMMIT_POINTS:
                return not q.cpc and not q.rm
            case Completion.EVERY_STATE:
                return not q.cpc

    def is_initial(self, q: Record) -> bool:
        """Fig. 5: a thread whose local store is the initial one is outside any transaction."""
        own = [a for a, cell in enumerate(self.program.cells) if cell.owner == q.tid]
        initial = self.program.initial_state()
        return all(q.state[address] == initial[address] for address in own)

    def pop(self, q: Record) -> None:
        self.stack.pop()  # L21
        if self.stack:
            pred = self.stack[-1]  # L22
            pred.cpc = pred.cpc or q.cpc  # L23
        if q.xend and q.num_tids < len(self.program.threads):  # L24
            self.stack.append(self.update(q))  # L25, L26
            return
        self.on_stack[q.key] = 0
        if self.hangs_wanted and not q.pushed and is_hang(self.interpreter, q.state):
            self.hangs.append(q.state)
        if q.xend:
            self.all_explored(q)

    def all_explored(self, q: Record) -> None:
        self.scheduled.append(q.state)
        stuck = q.outcomes.isdisjoint({Outcome.MOVED, Outcome.FAULT})
        if stuck and Outcome.WAITS in q.outcomes and is_deadlock(self.interpreter, q.state):
            self.deadlocks.append(q.state)
        if self.races_wanted:
            moved = [
                (Move(step.thread, choice), step)
                for choice, step in self.interpreter.steps(q.state)
                if step.happened
            ]
            if races_between(self.program, moved):
                self.races.append(q.state)

    # --- Fig. 7 -------------------------------------------------------------------------------

    def next_step(self, q: Record) -> Step | None:
        """The next step of `q.tid`, or None when all its choices have been tried."""
        while q.choice < self.interpreter.choices(q.state, q.tid):
            step = self.interpreter.step(q.state, q.tid, q.choice)
            q.choice += 1  # L16
            if step.outcome is Outcome.INVALID:
                continue
            if not self.program.threads[q.tid].observer:
                q.outcomes.add(step.outcome)
            if step.happened:
                return step
            self.discipline.mover(q.state, step)
            self.notice_blocked(q)
        return None

    def notice_blocked(self, q: Record) -> None:
        """End the transaction where one of the thread's choices waits for other threads.

        Else only the other choices would be explored: the thread would never be seen to wait.
        """
        location = self.interpreter.location(q.state, q.tid)
        if not q.phase and self.discipline.awaits_others(q.tid, location):
            q.xend = q.cpc = True

    def execute(self, q: Record, step: Step) -> Record:
        mover = self.mover_use.of(self.discipline.mover(q.state, step))
        self.transitions += 1
        if step.fault is not None:
            self.faults.append((q.state, Move(q.tid, q.choice - 1), step.fault))
        lm, rm = bool(mover & Mover.LEFT), bool(mover & Mover.RIGHT)
        phase = rm and (q.phase or not lm)
        return Record(step.state, phase, q.tid, lm=lm, rm=rm)

    def update(self, q: Record) -> Record:
        following = (q.tid + 1) % len(self.program.threads)
        return Record(
            q.state,
            False,
            following,
            q.num_tids + 1,
            cpc=q.cpc,
            xend=q.xend,
            lm=q.lm,
            rm=q.rm,
            pushed=q.pushed,
            outcomes=q.outcomes,
        )


def explore_transactions(
    program: Program,
    completion: Completion,
    *,
    mover_use: MoverUse = MoverUse.FULL,
    races: bool = False,
    hangs: bool = False,
    discipline: Discipline | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[Transactions, list[Broken]]:
    """Search in rounds until the discipline holds; the last round, and what ended the others."""
    discipline = discipline or Discipline(program)
    broken: list[Broken] = []
    while True:
        attempt = Transactions(program, completion, discipline, mover_use, races, hangs, stop)
        try:
            attempt.search()
        except Broken as found:
            broken.append(found)
            continue
        return attempt, broken


def assert_theorem_2(done: Transactions) -> None:
    """From every commit point a path of left movers leads to a state where all threads run.

    Theorem 2 for Fig. 6 with L19, and for every committed state without it; by the invariant that
    a record popped with CPC has such a path.
    """
    ends = set(done.scheduled)
    for record in done.table.values():
        if record.phase or (record.rm and done.completion is not Completion.EVERY_STATE):
            continue
        assert record.cpc, "a commit point was left without a path to its end"
        assert _reaches(done, record, ends), "the CPC flag of a commit point was set without cause"


def _reaches(done: Transactions, record: Record, ends: set[State]) -> bool:
    seen, work = {record.state}, [record.state]
    while work:
        state = work.pop()
        if state in ends:
            return True
        for following in _left_successors(done, done.table[state, None]):
            if following not in seen:
                seen.add(following)
                work.append(following)
    return False


def _left_successors(done: Transactions, record: Record) -> Iterator[State]:
    for _, step in done.interpreter.steps_of(record.state, record.tid):
        if step.happened:
            mover = done.mover_use.of(done.discipline.mover(record.state, step))
            if mover & Mover.LEFT and (step.state, None) in done.table:
                yield step.state
