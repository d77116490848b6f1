"""Compares the stubborn sets of circuits with those of the reference, state by state."""

from __future__ import annotations

from random import Random

import numpy as np

from mazurka.ir.interpreter import State
from mazurka.ir.native.layout import make_layout
from mazurka.ir.program import Program
from mazurka.stateful.reference.stubborn import PersistentSets
from mazurka.stateful.variants import Proviso, Relation
from mazurka.symbolic.environment import COUNTER_CODES, StateBits
from mazurka.symbolic.graphs.graph import Aig
from mazurka.symbolic.graphs.words import Words
from mazurka.symbolic.interleavings import full
from mazurka.symbolic.interleavings.stubborn import StubbornSets
from mazurka.symbolic.steps import StepEncoder

RUNS = 64


class StubbornCircuit:
    """The circuit of a program's stubborn sets, and the sets that the reference chooses."""

    def __init__(self, program: Program, seed: int, *, patterns: bool) -> None:
        self.program, self.rng = program, Random(seed)
        self.bits = StateBits(make_layout(program), Words(Aig()), COUNTER_CODES[seed % 2])
        encoder = StepEncoder(self.bits, unrolling=4)
        sets = StubbornSets(full.build_frame(encoder), patterns=patterns)
        self.graph, self.closures, self.cstub = encoder.graph, sets.close(), sets.choose()
        relation = Relation.LOCK_PATTERNS if patterns else Relation.STATIC
        self.reference = PersistentSets(program, relation, Proviso.STICKY)
        self.compared = self.reduced = 0

    def find_disagreement(self, length: int) -> str | None:
        """Compare the sets of the states on 64 random walks; what differs first, or None."""
        states = [self.program.initial_state()] * RUNS
        for _ in range(length):
            told = self._evaluate(self.cstub, states)
            for state, threads in zip(states, told, strict=True):
                problem = self._compare(state, threads)
                if problem is not None:
                    return problem
            states = [self._step(state) for state in states]
        return None

    def closure(self, state: State, seed: int) -> set[int]:
        """The closure that begins with a thread."""
        return self._evaluate(self.closures[seed], [state])[0]

    def _evaluate(self, vector: list[int], states: list[State]) -> list[set[int]]:
        """Which threads are in a set in each of these states, which take a bit each."""
        values = np.zeros((self.graph.nodes, 1), np.uint64)
        for node in self.graph.leaves:  # those of choices must not matter
            values[node, 0] = self.rng.getrandbits(64)
        rows = [self.bits.bits_of(state) for state in states]
        for place, latch in enumerate(self.bits.latches):
            values[latch.literal >> 1, 0] = sum(row[place] << run for run, row in enumerate(rows))
        self.graph.evaluate(values)
        table = [int(values[literal >> 1, 0]) for literal in vector]
        return [
            {
                thread
                for thread, literal in enumerate(vector)
                if bool(table[thread] >> run & 1) != bool(literal & 1)
            }
            for run in range(len(states))
        ]

    def _compare(self, state: State, told: set[int]) -> str | None:
        attempts = self.reference.attempts(state)
        able = {attempt.thread for attempt in attempts if attempt.enabled}
        chosen = self.reference.choose(state, attempts)
        expected = able & (self.reference.everyone if chosen is None else chosen)
        self.compared += 1
        self.reduced += expected != able
        if told & able != expected:
            return f"{sorted(told & able)} of {sorted(able)}, not {sorted(expected)}, in {state}"
        return None

    def _step(self, state: State) -> State:
        interpreter = self.reference.interpreter
        following = [
            step.state
            for thread in range(len(self.program.threads))
            for _, step in interpreter.steps_of(state, thread)
            if step.happened and step.fault is None
        ]
        return self.rng.choice(following) if following else self.program.initial_state()
