"""The states in which nobody moves because of assumptions, as a search with a circuit meets them.

One state of each kind (`Circuit.ends`) is looked for, not how many there are.
"""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.analysis.standstill import examine_standstill
from mazurka.analysis.stops import Stops
from mazurka.errors import InternalError
from mazurka.symbolic.circuit import Circuit
from mazurka.symbolic.schedules import ScheduleReader


class Ends:
    """Which kinds of such states have been seen."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.stops = Stops(circuit.program)
        self.unseen = dict(circuit.ends) if circuit.program.has_assumptions else {}
        """By kind the literal that says that a state is one; nothing is to be said where the
        program has no assumptions."""

    def note(self, kind: str, frames: Sequence[Sequence[int]]) -> None:
        """Take notice of the state before the last of some frames, given by their inputs."""
        state = ScheduleReader(self.circuit).follow(frames[:-1])
        found = examine_standstill(self.stops.interpreter, state)
        if found is None:
            raise InternalError("the circuit says that nobody moves, but somebody can")
        self.stops.note(state, found)
        del self.unseen[kind]

    def describe(self, properties: frozenset[str], *, complete: bool) -> tuple[str, ...]:
        """What to say of them; `complete`: what has not been seen is not reachable."""
        told = self.stops.notes(complete=False, properties=properties)
        never = Stops(self.circuit.program)
        never.stopped, never.ended_freely = self.stops.stopped, self.stops.ended_freely
        return (*told, *never.notes(complete=complete, properties=properties))
