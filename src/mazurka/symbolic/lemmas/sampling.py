"""States that random runs of a circuit reach, 64 in one word.

They show which guesses about all reachable states are wrong, and nothing else: what no sample
contradicts is still a guess (`mazurka.symbolic.lemmas.proving` decides).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mazurka.deadline import check_time
from mazurka.symbolic.circuit import Circuit
from mazurka.symbolic.graphs.graph import Aig, Lanes
from mazurka.symbolic.graphs.words import Word

PHASE = "sampling states"
RUN_WORDS = 4
"""Runs go side by side, 64 in each of so many words."""
ROUNDS = 64
RESTARTS = 6
"""So often the runs begin anew: programs may end, or get stuck in a part of their states."""
SEED = 20060817
MOST_BYTES = 1 << 26
"""The memory that the values of all nodes may take at a time."""
COLUMNS_AT_ONCE = 1 << 12
ROWS_AT_ONCE = 1 << 6
"""Large arrays are gone through in parts, so that somebody looks at the time limit."""
LANE_BITS = 64
MOST_TRUTHS = 1 << 27
"""So many bits of states are kept at most, a byte each; of larger states there are fewer.  As many
truths of predicates are looked at."""

Truths = NDArray[np.bool_]
Integers = NDArray[np.int64]


class Samples:
    """Distinct states, each a column: a row of bits for each latch."""

    def __init__(self, circuit: Circuit, bits: Truths) -> None:
        """The columns are distinct."""
        self.circuit, self.bits = circuit, bits

    @classmethod
    def distinguish(cls, circuit: Circuit, bits: Truths) -> Samples:
        """The distinct ones among some states."""
        seen: set[bytes] = set()  # much faster than np.unique of columns
        for start in range(0, bits.shape[1], COLUMNS_AT_ONCE):
            check_time(PHASE)
            states = np.packbits(bits[:, start : start + COLUMNS_AT_ONCE], axis=0)
            seen.update(row.tobytes() for row in np.ascontiguousarray(states.T))
        distinct = np.frombuffer(b"".join(sorted(seen)), np.uint8).reshape(len(seen), -1)
        found = np.empty((len(bits), len(seen)), np.bool_)
        for place in range(distinct.shape[1]):
            check_time(PHASE)
            rows = found[8 * place : 8 * place + 8]
            column = np.ascontiguousarray(distinct[:, place])
            rows[:] = np.unpackbits(column[None], axis=0, count=len(rows))
        return cls(circuit, found)

    def thin_out(self, predicates: int) -> Samples:
        """As many of the states as can be looked at for so many predicates."""
        step = -(-self.count * predicates // MOST_TRUTHS)
        return self if step <= 1 else Samples(self.circuit, self.bits[:, ::step].copy())

    @property
    def count(self) -> int:
        return int(self.bits.shape[1])

    def evaluate(self, literals: Sequence[int]) -> Truths:
        """By literal, which must not depend on inputs, in which states it holds."""
        check_time(PHASE)
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
    cases, rows = bits.shape[1], {leaf: row for row, leaf in enumerate(leaves)}
    found = np.empty((len(literals), cases), np.bool_)
    others = []
    for place, literal in enumerate(literals):
        row = rows.get(literal >> 1)
        if row is None:
            others.append(place)
        else:
            np.not_equal(bits[row], bool(literal & 1), out=found[place])
    if not others:
        return found
    cone = _Cone(circuit, leaves, [literals[place] for place in others])
    given = bits[cone.rows]
    portion = max(MOST_BYTES // (8 * cone.graph.nodes), 1) * LANE_BITS
    for start in range(0, cases, portion):
        check_time(PHASE)
        end = min(start + portion, cases)
        words = cone.evaluate(pack(given[:, start:end]))
        found[others, start:end] = unpack(words, end - start)
    return found


class _Cone:
    """What some literals depend on, as a graph of its own: to evaluate all of a large graph for
    many cases would take much longer."""

    def __init__(self, circuit: Circuit, leaves: Sequence[int], literals: Sequence[int]) -> None:
        marks = circuit.graph.mark_cone(literals)
        self.graph = Aig()
        self.rows = [row for row, leaf in enumerate(leaves) if marks[leaf]]
        """The leaves that matter, by position."""
        own = [self.graph.add_leaf() for _ in self.rows]
        self._leaves = [literal >> 1 for literal in own]
        image = np.zeros(circuit.graph.nodes, np.int32)
        image[[leaves[row] for row in self.rows]] = own
        self.graph.copy_from(circuit.graph.fanins, marks, image)
        self._literals = [int(image[literal >> 1]) ^ (literal & 1) for literal in literals]

    def evaluate(self, words: Lanes) -> Lanes:
        """The values of the literals, 64 cases in each word; a row of words a leaf that matters."""
        return evaluate_words(self.graph, self._leaves, words, self._literals)


def evaluate_words(
    graph: Aig, leaves: Sequence[int], words: Lanes, literals: Sequence[int]
) -> Lanes:
    """The same with 64 cases in each word, for all nodes of a graph."""
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
    found = np.empty((len(words), columns), np.bool_)
    for start in range(0, len(words), ROWS_AT_ONCE):
        check_time(PHASE)
        raw = np.ascontiguousarray(words[start : start + ROWS_AT_ONCE]).view(np.uint8)
        part = np.unpackbits(raw, axis=1, count=columns, bitorder="little")
        found[start : start + ROWS_AT_ONCE] = part.view(np.bool_)
    return found


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
        check_time(PHASE)
        values[latches] = start if turn % ROUNDS == 0 else seen[-1]
        values[inputs] = draw_inputs(rng, (len(inputs), RUN_WORDS), turn)
        graph.evaluate(values)
        seen.append(values[nexts >> 1] ^ negated)
    step = -(-len(seen) * RUN_WORDS * LANE_BITS * len(latches) // MOST_TRUTHS)
    every = np.concatenate(seen[:: max(step, 1)], axis=1)
    return unpack(every, every.shape[1] * LANE_BITS)
