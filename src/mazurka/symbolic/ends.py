"""The states in which nobody moves because of assumptions, as a search with a circuit meets them.

One state of each kind (`Circuit.ends`) is looked for, not how many there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mazurka.analysis.standstill import examine_standstill
from mazurka.analysis.stops import Stops
from mazurka.errors import InternalError
from mazurka.ir.interpreter import State
from mazurka.ir.program import Program
from mazurka.symbolic.circuit import Circuit
from mazurka.symbolic.schedules import ScheduleReader


class SeenEnds:
    """Which kinds of such states have been seen."""

    def __init__(self, program: Program, kinds: Mapping[str, int]) -> None:
        self.program = program
        self.stops = Stops(program)
        self.unseen = dict(kinds) if program.has_assumptions else {}
        """By kind the literal that says that a state is one; nothing is to be said where the
        program has no assumptions."""

    def note_state(self, kind: str, state: State) -> None:
        """Take notice of a state."""
        found = examine_standstill(self.stops.interpreter, state)
        if found is None:
            raise InternalError("the circuit says that nobody moves, but somebody can")
        self.stops.note(state, found)
        del self.unseen[kind]

    def describe(self, properties: frozenset[str], *, complete: bool) -> tuple[str, ...]:
        """What to say of them; `complete`: what has not been seen is not reachable."""
        told = self.stops.notes(complete=False, properties=properties)
        never = Stops(self.program)
        never.stopped, never.ended_freely = self.stops.stopped, self.stops.ended_freely
        return (*told, *never.notes(complete=complete, properties=properties))


class Ends(SeenEnds):
    """The same for a circuit."""

    def __init__(self, circuit: Circuit) -> None:
        super().__init__(circuit.program, circuit.ends)
        self.circuit = circuit

    def note(self, kind: str, frames: Sequence[Sequence[int]]) -> None:
        """Take notice of the state before the last of some frames, given by their inputs."""
        self.note_state(kind, ScheduleReader(self.circuit).follow(frames[:-1]))
