"""Search one state of each set of states that differ only in the numbers of alike threads.

Where `mazurka.analysis.interchangeable` finds classes of threads, a search takes a step function
whose results are canonical (`mazurka.ir.native.canonical`), and is otherwise unchanged: it explores
the *quotient* of the state graph by the renamings.  `p` is a renaming below, and `c(s)` the
canonical form of s, which is p(s) for some p.

**Unreduced search.** By induction, for each run of the program from the initial state, which is its
own canonical form, there is a path of canonical states, each a renaming of the state that the run
is in: if the path is in p(s) where the run is in s, and s goes to s' by a step of t, then p(s) goes
to p(s') by a step of p(t), and the path goes on with c(p(s')), a renaming of s'.  It does not
matter whether all renamings of a state have the same canonical form.  And each path of the quotient
is the image of a run: rename its steps back, one after the other (`unfold`).  Steps that fail,
states where threads wait for each other, and pairs of steps that race are the same in s and in p(s)
up to renaming.  So there is a violation in the quotient if and only if there is one in the program.
Breadth-first, the shortest path of the quotient is as long as the shortest run.

**Persistent sets** (`stateful.reference.stubborn`, after Emerson, Jha, Peled, *Combining partial
order and symmetry reductions*, TACAS 1997).  The set is chosen in a canonical state s, for the
program as it is: nothing there refers to how s was reached.  The proofs take a run w from s to a
violation, and make it shorter, or go on to a successor s' and a run w' from there which is not
longer.  In the quotient s' is replaced by c(s') = p(s'), and w' by p(w'), which is of the same
length and leads to a violation of the same kind.  So it only remains to be shown that this cannot
go on for ever without w becoming shorter.

- `Proviso.STACK` speaks of the search itself: of canonical states on its stack, and of those that
  are finished earlier.  That argument does not ask what the states are.
- `Proviso.STICKY`: a cycle of canonical states is the image of a run from s to p(s) with a renaming
  p, and p(s) leads to p(p(s)) in the same manner, until, after as many rounds as p has an order, it
  is s again: a cycle of the program, with a thread that leaves a sticky location.  Alike threads
  have the same sticky locations (this is checked, `has_alike_places`), so a thread leaves a sticky
  location on the cycle of canonical states, too.

**Hangs.**  Whether a state is a hang depends on what each thread can do alone
(`stateful.hangs`), which a renaming maps to what its image can do alone.  So a renaming of a
hang is a hang, and the states of hangs are closed under steps in the quotient, too: the one that a
depth-first search meets last pushes nothing.  Walks of one thread alone are made on the program
itself: with steps to canonical states, the thread would have another number from step to step.
With chains gathered: who joins threads in the middle of a chain waits at its beginning.

**Chains.**  Threads that are started or joined one after the other are often alike but for that
order.  A depth-first search then works on the program with these chains gathered, where this makes
more threads interchangeable (`mazurka.ir.passes.gather`, which has the proof).

**Where it is not used.**  A transaction (`cpc` and its kin, `optimistic`) belongs to a thread from
state to state, and the discipline that it relies on says which threads have touched a cell: both
refer to a thread by its number over many states, while renaming changes the numbers in between.  A
cartesian vector follows each thread for several steps; the same holds.  Searches for fewest context
switches remember who moved last.  These explore the program itself, and so does what runs
schedules, which stores no states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mazurka.analysis.interchangeable import find_symmetry
from mazurka.errors import InternalError
from mazurka.ir.interpreter import State
from mazurka.ir.native.step import NativeProgram, native
from mazurka.ir.passes.gather import gather
from mazurka.ir.program import Program
from mazurka.ir.remembering import share_interpreter
from mazurka.search import Move, SearchOptions, Violation

KEPT = frozenset({"assert", "deadlock", "hang", "race"})
"""The properties for which searches of canonical states are proven above."""


def code_for(program: Program, options: SearchOptions) -> NativeProgram:
    """The native code for a search: with canonical states, where that is wanted and possible.

    Threads that are started or joined one after the other may only be alike where such chains are
    gathered (`mazurka.ir.passes.gather`).  Runs then have other lengths, so a breadth-first search,
    which promises a shortest one, takes the program as it is.
    """
    code = native(program)
    if not options.symmetry or not options.properties <= KEPT:
        return code
    candidates = [code_with_symmetry(program, program)]
    gathered = gather(program) if options.order != "bfs" else None
    if gathered is not None:
        candidates.append(code_with_symmetry(gathered.program, program))
    best = max(candidates, key=count_alike)
    return best if best.symmetry is not None else code


def code_with_symmetry(program: Program, origin: Program) -> NativeProgram:
    symmetry = find_symmetry(program)
    return native(program, symmetry, origin) if symmetry is not None else native(origin)


def count_alike(code: NativeProgram) -> int:
    """Count the threads that a search need not tell apart from another one."""
    classes = code.symmetry.classes if code.symmetry is not None else ()
    return sum(len(each.members) - 1 for each in classes)


def has_alike_places(code: NativeProgram, places: Sequence[frozenset[int]]) -> bool:
    """Whether sets of locations, given by thread, are the same for interchangeable threads."""
    classes = code.symmetry.classes if code.symmetry is not None else ()
    return all(len({places[member] for member in each.members}) == 1 for each in classes)


def name_classes(code: NativeProgram) -> tuple[tuple[str, ...], ...]:
    """The names of the threads that a search takes as one up to renaming."""
    if code.symmetry is None:
        return ()
    threads = code.program.threads
    return tuple(
        tuple(threads[number].name for number in each.members) for each in code.symmetry.classes
    )


def unfold(code: NativeProgram, found: Violation) -> tuple[Violation, State | None]:
    """Turn a path of canonical states into a schedule of the program's own threads.

    Also returns the state that it leads to, if that may not be the one that was found.

    The path is followed beside the schedule: its state is always a renaming of the real one, and
    each step to a canonical form renames once more.  So the thread to move is known even where
    two states that are renamings of each other have different canonical forms.  A chain that was
    gathered to one step is taken step by step.
    """
    if code.symmetry is None:
        return found, None
    gathered = gather(code.origin) if code.origin is not code.program else None
    hidden = gathered.hidden if gathered is not None else ()
    interpreter = share_interpreter(code.origin)
    state = code.origin.initial_state()
    moves: list[Move] = []
    follower = _Follower(code)

    def take(move: Move) -> bool:
        nonlocal state
        step = interpreter.step(state, move.thread, move.choice)
        if step.happened:
            moves.append(move)
            state = step.state
        return step.happened

    for move in found.path:
        real = follower.real_move(move)
        happens = take(real)
        while (
            happens and hidden and interpreter.location(state, real.thread) in hidden[real.thread]
        ):
            happens = take(Move(real.thread))
        if not happens or not follower.follow(move):
            raise InternalError("a step of a canonical state is not one of the program's")
    if found.kind in ("deadlock", "hang"):
        # Who waits for several threads joins those that have ended: it moves on within its chain.
        for number, places in enumerate(hidden):
            counter = code.origin.threads[number].counter
            while interpreter.step(state, number).state[counter] in places and take(Move(number)):
                pass
    racing = None
    if found.racing is not None:
        first, second = (follower.real_move(move) for move in found.racing)
        racing = (first, second)
    return replace(found, path=tuple(moves), racing=racing), state


class _Follower:
    """Follows a path of canonical states, and knows which thread each number stands for."""

    def __init__(self, code: NativeProgram) -> None:
        assert code.symmetry is not None
        self.symmetry = code.symmetry
        self.interpreter = share_interpreter(code.program)
        self.state = code.program.initial_state()
        self.original = {number: number for number in range(len(code.program.threads))}

    def real_move(self, move: Move) -> Move:
        """The move that a thread of the real state makes where the path makes `move`."""
        return Move(self.original[move.thread], move.choice)

    def follow(self, move: Move) -> bool:
        """Take a step of the path; whether it happens."""
        step = self.interpreter.step(self.state, move.thread, move.choice)
        if step.happened:
            self.state, renaming = self.symmetry.rename(step.state)
            self.original = {renaming.get(old, old): real for old, real in self.original.items()}
        return step.happened
