"""States that random runs of a circuit reach, 64 in one word.

They show which guesses about all reachable states are wrong, and nothing else: what no sample
contradicts is still a guess (`mazurka.symbolic.lemmas.proving` decides).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mazurka.symbolic.circuit import Circuit
from mazurka.symbolic.graphs.graph import Lanes
from mazurka.symbolic.graphs.words import Word

RUN_WORDS = 4
"""Runs go side by side, 64 in each of so many words."""
ROUNDS = 64
RESTARTS = 6
"""So often the runs begin anew: programs may end, or get stuck in a part of their states."""
SEED = 20060817
MOST_BYTES = 1 << 26
"""The memory that the values of all nodes may take at a time."""
LANE_BITS = 64
MOST_TRUTHS = 1 << 27
"""So many bits of states are kept at most, a byte each; of larger states there are fewer."""

Truths = NDArray[np.bool_]
Integers = NDArray[np.int64]


class Samples:
    """Distinct states, each a column: a row of bits for each latch."""

    def __init__(self, circuit: Circuit, bits: Truths) -> None:
        self.circuit = circuit
        states = np.ascontiguousarray(np.packbits(bits, axis=0).T)
        rows = sorted({row.tobytes() for row in states})  # much faster than np.unique of columns
        distinct = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1).T
        self.bits: Truths = np.unpackbits(distinct, axis=0, count=len(bits)).view(np.bool_)

    @property
    def count(self) -> int:
        return int(self.bits.shape[1])

    def evaluate(self, literals: Sequence[int]) -> Truths:
        """By literal, which must not depend on inputs, in which states it holds."""
        rows = [latch.literal >> 1 for latch in self.circuit.latches]
        return evaluate(self.circuit, rows, self.bits, literals)

    def numbers(self, word: Word) -> Integers:
        """The values of a word in all states."""
        bits = self.evaluate(self.circuit.bits.words.literals(word))
        found = np.zeros(self.count, np.int64)
        for place, row in enumerate(bits):
            weight = -(1 << place) if word.signed and place == word.width - 1 else 1 << place
            found += row * np.int64(weight)
        return found


def evaluate(
    circuit: Circuit, leaves: Sequence[int], bits: Truths, literals: Sequence[int]
) -> Truths:
    """The values of literals where leaves have given values, a column a case."""
    cases = bits.shape[1]
    portion = max(MOST_BYTES // (8 * circuit.graph.nodes), 1) * LANE_BITS
    found = np.empty((len(literals), cases), np.bool_)
    for start in range(0, cases, portion):
        part = pack(bits[:, start : start + portion])
        end = min(start + portion, cases)
        words = evaluate_words(circuit, leaves, part, literals)
        found[:, start:end] = unpack(words, end - start)
    return found


def evaluate_words(
    circuit: Circuit, leaves: Sequence[int], words: Lanes, literals: Sequence[int]
) -> Lanes:
    """The same with 64 cases in each word."""
    graph = circuit.graph
    nodes = np.array(literals, np.int64)
    values = np.zeros((graph.nodes, words.shape[1]), np.uint64)
    values[np.array(leaves, np.int64)] = words
    graph.evaluate(values)
    negated = np.where(nodes & 1, ~np.uint64(0), np.uint64(0))[:, None]
    found: Lanes = values[nodes >> 1] ^ negated
    return found


def pack(bits: Truths) -> Lanes:
    """Rows of truths as rows of 64-bit words."""
    columns = -(-bits.shape[1] // LANE_BITS) * LANE_BITS
    padded = np.zeros((bits.shape[0], columns), np.bool_)
    padded[:, : bits.shape[1]] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def unpack(words: Lanes, columns: int) -> Truths:
    """The opposite of `pack`."""
    raw = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(raw, axis=1, count=columns, bitorder="little").view(np.bool_)


def draw_inputs(rng: np.random.Generator, shape: tuple[int, int], turn: int) -> Lanes:
    """Random words for the inputs; now and then most bits are 0, or most are 1, and sometimes
    nearly all: wide numbers are equal then, or differ by little."""
    drawn = rng.integers(0, 1 << 64, shape, np.uint64)
    for _ in range(turn % 3 and (1 if turn % 4 else 4)):
        other = rng.integers(0, 1 << 64, shape, np.uint64)
        drawn = drawn & other if turn % 3 == 1 else drawn | other
    return drawn


def sample_states(circuit: Circuit) -> Truths:
    """The first state, and those that random runs come to: a row a latch, a column a state."""
    graph, rng = circuit.graph, np.random.default_rng(SEED)
    latches = np.array([latch.literal >> 1 for latch in circuit.latches], np.int64)
    inputs = np.array(circuit.inputs, np.int64) >> 1
    nexts = np.array(circuit.nexts, np.int64)
    negated = np.where(nexts & 1, ~np.uint64(0), np.uint64(0))[:, None]
    values = np.zeros((graph.nodes, RUN_WORDS), np.uint64)
    first = np.array([[bool(latch.initial)] for latch in circuit.latches])
    start = pack(np.repeat(first, LANE_BITS * RUN_WORDS, axis=1))
    seen = [start]
    for turn in range(RESTARTS * ROUNDS):
        values[latches] = start if turn % ROUNDS == 0 else seen[-1]
        values[inputs] = draw_inputs(rng, (len(inputs), RUN_WORDS), turn)
        graph.evaluate(values)
        seen.append(values[nexts >> 1] ^ negated)
    step = -(-len(seen) * RUN_WORDS * LANE_BITS * len(latches) // MOST_TRUTHS)
    every = np.concatenate(seen[:: max(step, 1)], axis=1)
    return unpack(every, every.shape[1] * LANE_BITS)
