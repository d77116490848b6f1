"""What one run of a tool on a model came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    states: int
    transitions: int
    depth: int
    seconds: float
    """The search alone, without reading, compiling or starting anything."""
    table_bytes: int
    """What the visited states take, with their hash table and without the stack."""
    peak_bytes: int

    @property
    def states_per_second(self) -> float:
        return self.states / self.seconds if self.seconds > 0 else 0.0

    @property
    def bytes_per_state(self) -> float:
        return self.table_bytes / self.states if self.states else 0.0

    def to_json(self) -> dict[str, object]:
        return {
            "states": self.states,
            "transitions": self.transitions,
            "depth": self.depth,
            "seconds": self.seconds,
            "states_per_second": self.states_per_second,
            "bytes_per_state": self.bytes_per_state,
            "table_bytes": self.table_bytes,
            "peak_bytes": self.peak_bytes,
        }


def typical(runs: Sequence[Measurement]) -> Measurement:
    """The run of median time; of the two in the middle, the faster one."""
    ordered = sorted(runs, key=lambda run: run.seconds)
    return ordered[(len(ordered) - 1) // 2]


@dataclass(frozen=True)
class Row:
    """One model, measured with both tools, or with one and the reason why not with the other."""

    model: str
    title: str
    constants: dict[str, int]
    words: int
    """The 64-bit words of a packed state."""
    mazurka: Measurement
    spin: Measurement | None = None
    spin_command: str | None = None
    message: str | None = None
    """Why there is no measurement with SPIN."""

    @property
    def agrees(self) -> bool | None:
        """Whether both tools count the same states and transitions."""
        if self.spin is None:
            return None
        return (self.mazurka.states, self.mazurka.transitions) == (
            self.spin.states,
            self.spin.transitions,
        )

    @property
    def ratio(self) -> float | None:
        """How many times SPIN's states a second Mazurka's are.

        None where the time of a run is too short for the clock.
        """
        if self.spin is None or not self.agrees or not self.spin.states_per_second:
            return None
        return self.mazurka.states_per_second / self.spin.states_per_second

    @property
    def memory_ratio(self) -> float | None:
        """Mazurka's bytes a state as a part of SPIN's."""
        if self.spin is None or not self.agrees or not self.spin.bytes_per_state:
            return None
        return self.mazurka.bytes_per_state / self.spin.bytes_per_state

    def to_json(self) -> dict[str, object]:
        return {
            "model": self.model,
            "title": self.title,
            "constants": self.constants,
            "words": self.words,
            "mazurka": self.mazurka.to_json(),
            "spin": None if self.spin is None else self.spin.to_json(),
            "spin_command": self.spin_command,
            "agrees": self.agrees,
            "ratio": self.ratio,
            "memory_ratio": self.memory_ratio,
            "message": self.message,
        }
