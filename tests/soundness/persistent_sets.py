"""Whether a set of threads is a persistent set, by brute force over what can happen without it.

The definition (Godefroid 1996): T, steps that are enabled in s, is persistent if nothing that can
happen from s without a step of T is dependent with a step of T.  Here everything that can happen is
followed through all states it leads to.  Dependence is asked for twice: do the two steps touch a
cell that one of them writes; and do they commute, each leaving the other as it was.  Of a queue
whose ends are independent (`mazurka.analysis.channels`) only the second is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mazurka.analysis.channels import find_channels
from mazurka.ir.interpreter import State, Step
from mazurka.ir.program import Program
from mazurka.ir.remembering import share_interpreter
from mazurka.search import Move
from mazurka.stateful.reference.full import StateSpace, explore, is_dead_end
from mazurka.stateful.reference.stubborn import PersistentSets
from tests.soundness.reductions import Subject


def small_programs(seeds: Iterable[int], states: int) -> Iterator[tuple[str, Program, StateSpace]]:
    """The random programs of these numbers that have no more states than that."""
    for seed in seeds:
        subject = Subject(seed)
        program = subject.program()
        whole = explore(program, limit=states)
        if whole.complete:
            yield str(subject), program, whole


@dataclass(frozen=True)
class Dependence:
    """A step that may come before one of the set, and is dependent with it."""

    state: State
    first: Move
    second: Move
    why: str


class Space:
    """All states of a small program, with the steps from them."""

    def __init__(self, program: Program, whole: StateSpace) -> None:
        self.program = program
        self.interpreter = share_interpreter(program)
        channels = find_channels(program).channels.values()
        self.queues = frozenset(cell for channel in channels for cell in channel.cells)
        self.steps = {
            state: {
                Move(step.thread, choice): step for choice, step in self.interpreter.steps(state)
            }
            for state in whole.states
        }

    def moves(self, state: State) -> dict[Move, Step]:
        return {move: step for move, step in self.steps[state].items() if step.happened}

    def dependence(self, start: State, threads: frozenset[int]) -> Dependence | None:
        """What disproves that the steps of these threads are persistent in a state."""
        inside = {m: step for m, step in self.moves(start).items() if m.thread in threads}
        movers = {move.thread for move in inside}
        seen, work = {start}, [start]
        while work:
            state = work.pop()
            for move, step in self.moves(state).items():
                if move in inside:
                    continue  # a step of the set; whether it is still the same is looked at below
                if move.thread in movers:
                    return Dependence(state, move, move, "it was not possible before")
                for chosen, planned in inside.items():
                    why = self._collide(planned, step) or self._disturb(
                        state, move, step, chosen, planned
                    )
                    if why:
                        return Dependence(state, move, chosen, why)
                if not is_dead_end(step) and step.state not in seen:
                    seen.add(step.state)
                    work.append(step.state)
        return None

    def _collide(self, one: Step, other: Step) -> str:
        """Whether the steps have a cell in common that one of them writes."""
        common = one.footprint_writes & (other.footprint_reads | other.footprint_writes)
        common |= one.footprint_reads & other.footprint_writes
        common -= self.queues
        return f"both use {sorted(common)}" if common else ""

    def _disturb(self, state: State, move: Move, step: Step, chosen: Move, planned: Step) -> str:
        """Whether a step changes what a chosen one does, or is changed by it."""
        here = self.steps[state].get(chosen)
        if here is None or not _same(here, planned):
            return "the chosen step has changed"
        if is_dead_end(here) or is_dead_end(step):
            return ""
        there = self.steps[step.state].get(chosen)
        if there is None or not _same(there, planned):
            return "it changes the chosen step"
        late = self.steps[here.state].get(move)
        if late is None or not _same(late, step):
            return "the chosen step changes it"
        if not is_dead_end(there) and late.state != there.state:
            return "the order of the two can be seen afterwards"
        return ""


def _same(one: Step, other: Step) -> bool:
    return (one.outcome, one.edges, one.fault) == (other.outcome, other.edges, other.fault)


def refuted(sets: PersistentSets, space: Space) -> Iterator[tuple[State, int, Dependence]]:
    """Closures that are not persistent: the state, the seed, and what disproves it."""
    for state in space.steps:
        attempts = sets.attempts(state)
        known: dict[frozenset[int], Dependence | None] = {}
        for attempt in attempts:
            if not attempt.enabled:
                continue
            closure = sets.closure(state, attempts, attempt.thread)
            if closure not in known:
                known[closure] = space.dependence(state, closure)
            found = known[closure]
            if found is not None:
                yield state, attempt.thread, found
