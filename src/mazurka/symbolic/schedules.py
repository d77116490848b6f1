"""From the inputs of a circuit's frames to a schedule of the program.

A back end says which values the inputs had in each frame.  The circuit is simulated with them,
frame by frame, and the steps that its events name are taken on the interpreter.  So a schedule is
never taken from the circuit alone: if the two disagree, that is an internal error here, and the
report replays the schedule once more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from mazurka.errors import InternalError
from mazurka.ir.interpreter import Interpreter, State, Step, StepRun
from mazurka.ir.program import Edge, Fault, Mode, Program
from mazurka.search import Move
from mazurka.symbolic.circuit import OF_STATES, UNROLLING, Circuit
from mazurka.symbolic.record import ChoiceKey
from mazurka.symbolic.steps import fold_choice, order_transient

ALL = np.uint64((1 << 64) - 1)


class ChosenRun(StepRun):
    """A step that makes each choice as the leaves of a circuit say; `number` is what the choices
    come to as one number."""

    def __init__(
        self, program: Program, state: State, thread: int, raw: Mapping[ChoiceKey, int]
    ) -> None:
        super().__init__(program, state, thread, 0)
        automaton = program.threads[thread]
        self.start = state[automaton.counter]
        self.raw = raw
        order = order_transient(automaton, self.start)
        self.ranks = {location: rank for rank, location in enumerate(order)}
        self.rank, self.repetition = -1, 0
        self.number, self.scale = 0, 1

    def take(self, edge: Edge) -> None:
        if edge.choices > 1:
            position = self.edge - self.program.first_edge[self.thread]
            key = ChoiceKey(self.thread, self.start, position, self.repetition)
            digit = fold_choice(self.raw.get(key, 0), edge.choices)
            self.rest_of_choice = digit
            self.number += digit * self.scale
            self.scale *= edge.choices
        super().take(edge)
        modes = self.program.threads[self.thread].locations
        if modes[edge.target].mode is not Mode.VISIBLE:
            rank = self.ranks[edge.target]
            self.repetition += rank <= self.rank
            self.rank = rank


def take_chosen_step(
    interpreter: Interpreter, state: State, thread: int, raw: Mapping[ChoiceKey, int]
) -> tuple[Move, Step]:
    """Let a thread take a step with the choices of a circuit."""
    run = ChosenRun(interpreter.program, state, thread, raw)
    step = interpreter.finish(run, state)
    return Move(thread, run.number), step


class ScheduleReader:
    """Follows the frames of a circuit on the interpreter."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.interpreter = Interpreter(circuit.program)
        self.state = circuit.program.initial_state()
        self.extra = [latch.initial for latch in circuit.latches[len(circuit.bits.latches) :]]
        self.path: list[Move] = []
        self.values = np.zeros((circuit.graph.nodes, 1), np.uint64)

    def read(
        self, frames: Sequence[Sequence[int]], names: Mapping[str, int]
    ) -> tuple[str, tuple[Move, ...], Step | None]:
        """The schedule to what is bad, or not known, in the last frame, and the step that shows it.

        `names` are parts of `Circuit.bad` or `Circuit.unknown`, with their literals.
        """
        self.follow(frames[:-1])
        self._simulate(frames[-1])
        found = [name for name, literal in names.items() if self._holds(literal)]
        if not found:
            raise self._disagreement("nothing is wrong")
        of_states = OF_STATES.intersection(found)
        name = min(of_states) if of_states else self._find_first(found)
        step = None if of_states else self._fail(frames[-1], name)
        return name, tuple(self.path), step

    def _find_first(self, names: Collection[str]) -> str:
        """The failure that comes first in the frame."""
        for event in self.circuit.events:
            if event.fault is not None and self._holds(event.literal):
                name = _name_of(event.fault)
                if name in names:
                    return name
        raise self._disagreement("nothing fails")

    def follow(self, frames: Sequence[Sequence[int]]) -> State:
        """Take the steps of whole frames; returns the state after them."""
        for inputs in frames:
            self._simulate(inputs)
            for event in self.circuit.events:
                if event.fault is None and self._holds(event.literal):
                    step = self._take(event.thread, inputs)
                    if not step.happened:
                        raise self._disagreement(f"thread {event.thread} does not move")
                    self.state = step.state
            self._check_state()
        return self.state

    def _fail(self, inputs: Sequence[int], name: str) -> Step:
        """Take the steps of the last frame up to the one that fails."""
        for event in self.circuit.events:
            if not self._holds(event.literal):
                continue
            wanted = event.fault is not None and _name_of(event.fault) == name
            if event.fault is not None and not wanted:
                continue
            step = self._take(event.thread, inputs)
            if not step.happened:
                raise self._disagreement(f"thread {event.thread} does not move")
            if wanted:
                if name != UNROLLING and (step.fault is None or step.fault.fault != name):
                    raise self._disagreement(f"thread {event.thread} does not fail")
                return step
            self.state = step.state
        raise self._disagreement("nothing fails")

    def _take(self, thread: int, inputs: Sequence[int]) -> Step:
        known = dict(zip(self.circuit.inputs, inputs, strict=True))
        words = self.circuit.bits.words
        raw = {
            key: _number(words.literals(word), known)
            for key, word in self.circuit.choices.items()
            if key.thread == thread
        }
        move, step = take_chosen_step(self.interpreter, self.state, thread, raw)
        self.path.append(move)
        return step

    def _simulate(self, inputs: Sequence[int]) -> None:
        circuit = self.circuit
        latches = [*circuit.bits.bits_of(self.state), *self.extra]
        for latch, bit in zip(circuit.latches, latches, strict=True):
            self.values[latch.literal >> 1] = ALL if bit else 0
        for literal, bit in zip(circuit.inputs, inputs, strict=True):
            self.values[literal >> 1] = ALL if bit else 0
        circuit.graph.evaluate(self.values)

    def _check_state(self) -> None:
        """Compare what the circuit says comes next with the interpreter's state."""
        circuit = self.circuit
        own = len(circuit.bits.latches)
        bits = [int(self._holds(literal)) for literal in circuit.nexts]
        if bits[:own] != circuit.bits.bits_of(self.state):
            raise self._disagreement("the state is another one")
        self.extra = bits[own:]

    def _holds(self, literal: int) -> bool:
        return bool(self.values[literal >> 1, 0]) != bool(literal & 1)

    def _disagreement(self, what: str) -> InternalError:
        return InternalError(
            f"circuit and interpreter disagree after {len(self.path)} steps: {what}"
        )


def _name_of(fault: Fault) -> str:
    return UNROLLING if fault is Fault.LIVELOCK else str(fault)


def _number(literals: Sequence[int], known: Mapping[int, int]) -> int:
    return sum(known[literal] << place for place, literal in enumerate(literals))
