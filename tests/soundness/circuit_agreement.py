"""Compares circuits with the interpreter: many random walks at a time, one a bit of a word."""

from __future__ import annotations

from random import Random

import numpy as np

from mazurka.analysis.standstill import examine_standstill
from mazurka.ir.interpreter import Interpreter, Outcome, State
from mazurka.ir.native.layout import make_layout
from mazurka.ir.program import DEAD_ENDS, FAULTS, Fault, Program
from mazurka.symbolic.environment import COUNTER_CODES, StateBits
from mazurka.symbolic.graphs.graph import Aig
from mazurka.symbolic.graphs.words import Words
from mazurka.symbolic.interleavings import full
from mazurka.symbolic.outlook import find_standstills
from mazurka.symbolic.schedules import take_chosen_step
from mazurka.symbolic.steps import StepEncoder
from tests.soundness.agreement import NativeRunner

RUNS = 64
UNROLLING = 4


class CircuitWalks:
    """Random walks of a program, made by its circuit for one step and by the interpreter."""

    def __init__(self, program: Program, seed: int, *, native: bool = False) -> None:
        self.program, self.rng = program, Random(seed)
        self.interpreter = Interpreter(program)
        self.native = NativeRunner(program) if native else None
        counters = COUNTER_CODES[seed % 2]
        self.bits = StateBits(make_layout(program), Words(Aig()), counters)
        survived = frozenset(FAULTS) - DEAD_ENDS
        self.encoder = StepEncoder(self.bits, unrolling=UNROLLING, survived=survived)
        self.frame = full.build_frame(self.encoder)
        self.ends = find_standstills(self.encoder, self.frame.before)
        self.reports = self._find_reports()
        self.steps = 0

    def _find_reports(self) -> list[dict[str, int]]:
        """By thread, what its step does: moves, waits, is stopped, fails."""
        graph, found = self.encoder.graph, []
        for thread in range(len(self.program.threads)):
            parts: dict[str, list[int]] = {}
            for start in self.encoder.starts(thread):
                record = self.encoder.encode(self.frame.before, thread, start)
                at = self.frame.before.places[thread][start]
                for name, literal in (
                    ("moved", record.moved),
                    ("waits", record.waits),
                    ("stopped", record.stopped),
                    ("beyond", record.beyond),
                    *((str(fault), condition) for fault, condition in record.faults.items()),
                ):
                    parts.setdefault(name, []).append(graph.both(at, literal))
            found.append({name: graph.some(each) for name, each in parts.items()})
        return found

    def _has_edges(self, state: State, thread: int) -> bool:
        location = self.interpreter.location(state, thread)
        return bool(self.program.threads[thread].outgoing[location])

    def _find_end(self, state: State) -> tuple[bool, ...]:
        found = examine_standstill(self.interpreter, state)
        if found is None or found.failed:
            return (False, False, False, False)
        deadlock, stopped = bool(found.deadlocked), bool(found.stopped)
        other = not deadlock
        return deadlock, other and stopped, other and not stopped, found.is_excused

    def find_disagreement(self, length: int) -> str | None:
        """Walk so many steps in all runs; what differs first, or None."""
        states = [self.program.initial_state()] * RUNS
        leaves = [latch.literal >> 1 for latch in self.bits.latches]
        graph, words = self.encoder.graph, self.encoder.words
        free = [node for node in graph.leaves if node not in set(leaves)]
        choosing = {key: words.literals(word) for key, word in self.encoder.choices.items()}
        values = np.zeros((graph.nodes, 1), np.uint64)
        for _ in range(length):
            latches = [self.bits.bits_of(state) for state in states]
            for place, node in enumerate(leaves):
                values[node, 0] = sum(row[place] << run for run, row in enumerate(latches))
            for node in free:
                values[node, 0] = self.rng.getrandbits(64)
            threads = [self.rng.randrange(len(self.program.threads)) for _ in range(RUNS)]
            for place, literal in enumerate(self.frame.inputs):
                number = sum((thread >> place & 1) << run for run, thread in enumerate(threads))
                values[literal >> 1, 0] = number
            graph.evaluate(values)
            table = values[:, 0].tolist()
            for run in range(RUNS):

                def holds(literal: int, run: int = run, table: list[int] = table) -> bool:
                    return bool(table[literal >> 1] >> run & 1) != bool(literal & 1)

                raw = {
                    key: sum(holds(bit) << i for i, bit in enumerate(bits))
                    for key, bits in choosing.items()
                    if key.thread == threads[run]
                }
                told_end = tuple(map(holds, self.ends))
                if told_end != self._find_end(states[run]):
                    return f"{self.ends._fields} are {told_end} in {states[run]}"
                move, step = take_chosen_step(self.interpreter, states[run], threads[run], raw)
                told = {n for n, literal in self.reports[threads[run]].items() if holds(literal)}
                if "beyond" in told or not self._has_edges(states[run], threads[run]):
                    continue
                expected = _expected(step.outcome, step.fault.fault if step.fault else None)
                if told != expected:
                    return f"{told}, not {expected}: {move} in {states[run]}"
                if self.native is not None:
                    problem = self.native.compare(states[run], move.choice, step)
                    if problem is not None:
                        return problem
                self.steps += 1
                if "moved" not in told:
                    continue
                reached = self.bits.state_of([int(holds(each)) for each in self.frame.nexts])
                if self.bits.bits_of(step.state) != self.bits.bits_of(reached):
                    return f"{reached}, not {step.state}: {move} in {states[run]}"
                states[run] = step.state
        return None


def _expected(outcome: Outcome, fault: Fault | None) -> set[str]:
    if outcome is Outcome.FAULT:
        return {str(fault)} if fault in DEAD_ENDS else {str(fault), "moved"}
    names = {Outcome.MOVED: "moved", Outcome.WAITS: "waits", Outcome.STOPPED: "stopped"}
    return {names[outcome]} if outcome in names else set()
