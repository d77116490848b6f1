"""What all interleavings have in common: a frame that is being built."""

from __future__ import annotations

from collections.abc import Iterable

from mazurka.ir.program import Fault
from mazurka.symbolic.circuit import UNROLLING, StepEvent
from mazurka.symbolic.environment import Latch
from mazurka.symbolic.graphs.graph import FALSE, TRUE
from mazurka.symbolic.record import StepRecord
from mazurka.symbolic.steps import StepEncoder


class Frame:
    """Collects what happens in one frame."""

    def __init__(self, encoder: StepEncoder) -> None:
        self.encoder, self.graph = encoder, encoder.graph
        self.before = encoder.bits.decode()
        self.inputs: list[int] = []
        """The leaves that decide who moves; those of choices are the encoder's."""
        self.events: list[StepEvent] = []
        self.failures: dict[str, list[int]] = {}
        """By fault, and by what is not known, the conditions."""
        self.extra: list[tuple[Latch, int]] = []
        """What is remembered beside the state: latches, with what they take."""
        self.constraint = TRUE
        self.records: dict[tuple[int, int], StepRecord] = {}
        """By thread and location the step in the state before the frame, where it is kept."""
        self.nexts: list[int] = []

    def add_input(self) -> int:
        literal = self.graph.add_leaf()
        self.inputs.append(literal)
        return literal

    def add_faults(self, record: StepRecord, at: int) -> None:
        """Note how a step fails where its thread is at its location."""
        for fault, condition in record.faults.items():
            if fault not in self.encoder.survived:
                self.add_failure(fault, record.thread, self.graph.both(at, condition))
        self.add_failure(None, record.thread, self.graph.both(at, record.beyond))

    def add_failure(self, fault: Fault | None, thread: int, condition: int) -> None:
        if condition != FALSE:
            self.events.append(StepEvent(condition, thread, fault or Fault.LIVELOCK))
            self.failures.setdefault(str(fault or UNROLLING), []).append(condition)

    def collect(self, names: Iterable[str]) -> dict[str, int]:
        """The failures of these names, each as one literal."""
        return {
            name: self.graph.some(self.failures[name]) for name in names if name in self.failures
        }
