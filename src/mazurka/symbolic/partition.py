"""A circuit as parts, one for each thread and location: what decision diagrams are made of.

A step from one location changes few cells, and depends on few.  So the circuit of one step
(`Interleaving.FULL`) is specialized for each thread and location: the inputs that choose the thread
and the bits of its program counter become constants, and what is left says when the step takes
place and what it changes.

The order of the variables decides how large diagrams are.  Bits that occur together belong close to
each other: FORCE (Aloul, Markov, Sakallah, GLSVLSI 2003) moves each variable to the middle of the
hyperedges in which it occurs, again and again.  It starts with each thread's cells side by side.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mazurka.deadline import check_time
from mazurka.symbolic.circuit import Circuit
from mazurka.symbolic.graphs.graph import FALSE
from mazurka.symbolic.graphs.numbering import Numbering
from mazurka.symbolic.solving.reachability import ReachProblem, StepPart

PHASE = "ordering the variables of diagrams"
FORCE_ROUNDS = 60


class Partition:
    """The parts of a circuit of single steps, in literals of its graph."""

    def __init__(
        self, circuit: Circuit, movers: Sequence[int] | None = None, justice: Sequence[int] = ()
    ) -> None:
        """`movers` are the threads among which the inputs choose, all where they are not given.
        `justice` are literals about transitions: `conditions` says what becomes of them."""
        self.circuit, self.graph = circuit, circuit.graph
        self.state = [latch.literal for latch in circuit.latches]
        if movers is None:
            movers = range(len(circuit.program.threads))
        self.choosing = circuit.inputs[: max(movers, default=0).bit_length()]
        """The inputs that choose the thread (`mazurka.symbolic.interleavings.full`)."""
        self.parts: list[StepPart] = []
        self.conditions: list[list[int]] = [[] for _ in justice]
        """By literal of justice, and by part, whether a transition of the part meets it."""
        for thread in movers:
            self._add_thread(thread, justice)

    def _add_thread(self, thread: int, justice: Sequence[int]) -> None:
        circuit, graph = self.circuit, self.graph
        chosen = {bit: thread >> place & 1 for place, bit in enumerate(self.choosing)}
        taken = graph.substitute([circuit.constraint, *justice, *circuit.nexts], chosen)
        counter = circuit.program.threads[thread].counter
        slot, places = circuit.bits.layout.slots[counter], circuit.bits.positions(counter)
        for location in circuit.bits.layout.starts[thread]:
            code = slot.encode(location) if slot.width else 0
            at = {self.state[place]: code >> i & 1 for i, place in enumerate(places)}
            guard, *rest = graph.substitute(taken, at)
            if guard == FALSE:
                continue
            nexts = rest[len(justice) :]
            for condition, met in zip(self.conditions, rest[: len(justice)], strict=True):
                condition.append(met)
            here = [bit ^ 1 ^ value for bit, value in at.items()]
            before = [at.get(literal, literal) for literal in self.state]
            changes = tuple(
                (place, after)
                for place, (old, after) in enumerate(zip(before, nexts, strict=True))
                if old != after
            )
            self.parts.append(StepPart(thread, graph.every([guard, *here]), changes))

    def make_problem(self, targets: Sequence[int], most_bytes: int) -> ReachProblem:
        """The circuit for the process; it is told of the targets whether they can hold."""
        circuit = self.circuit
        roots = [literal for part in self.parts for _, literal in part.changes]
        roots += [*(part.guard for part in self.parts), *targets]
        roots += [literal for condition in self.conditions for literal in condition]
        numbering = Numbering(self.graph, [*self.state, *circuit.inputs], roots)
        name = numbering.literal
        return ReachProblem(
            first=tuple(latch.initial for latch in circuit.latches),
            inputs=len(circuit.inputs),
            conjunctions=numbering.conjunctions(),
            parts=tuple(
                StepPart(thread, name(guard), tuple((place, name(each)) for place, each in changes))
                for thread, guard, changes in self.parts
            ),
            targets=tuple(map(name, targets)),
            order=tuple(self.order_variables(targets)),
            most_bytes=most_bytes,
            conditions=tuple(tuple(map(name, each)) for each in self.conditions),
        )

    # --- the order of variables -----------------------------------------------------------------

    def order_variables(self, targets: Sequence[int]) -> list[int]:
        """The numbers of the variables, those of the state and then the inputs counted from 1."""
        leaves = [*self.state, *self.circuit.inputs]
        number = {literal: place for place, literal in enumerate(leaves)}
        edges = []
        for part in self.parts:
            check_time(PHASE)
            guard = self._support(part.guard, number)
            for place, literal in part.changes:
                edges.append(sorted({place, *guard, *self._support(literal, number)}))
        edges += [sorted(self._support(target, number)) for target in targets]
        order = self._order_cells(number)
        return [1 + place for place in arrange(order, [edge for edge in edges if len(edge) > 1])]

    def _support(self, literal: int, number: dict[int, int]) -> set[int]:
        return {number[leaf] for leaf in self.graph.find_support([literal])}

    def choose(self, part: int, inputs: list[int]) -> list[int]:
        """The inputs of a frame, with those that choose the thread of a part; -1 leaves them."""
        if part < 0:
            return inputs
        thread, many = self.parts[part].thread, len(self.choosing)
        return [*(thread >> place & 1 for place in range(many)), *inputs[many:]]

    def _order_cells(self, number: dict[int, int]) -> list[int]:
        """Bits by thread, those of shared cells last, then the inputs."""
        circuit, cells = self.circuit, self.circuit.program.cells
        counters = {each.counter: n for n, each in enumerate(circuit.program.threads)}
        shared = len(circuit.program.threads)
        owners: dict[int, int] = {}
        for address, cell in enumerate(cells):
            owner = counters.get(address, cell.owner)
            for place in circuit.bits.positions(address):
                owners[place] = shared if owner is None else owner
        places = range(len(self.state))
        return [*sorted(places, key=owners.__getitem__), *range(len(self.state), len(number))]


def arrange(order: Sequence[int], edges: Sequence[Sequence[int]]) -> list[int]:
    """Arrange variables so that those of an edge are close to each other."""
    if not edges:
        return list(order)
    found = best = np.array(order, np.int64)
    many = 1 + int(found.max())
    starts = np.cumsum([0, *map(len, edges[:-1])])
    sizes = np.array([len(edge) for edge in edges], np.int64)
    members = np.concatenate([np.array(edge, np.int64) for edge in edges])
    times = np.bincount(members, minlength=many)
    least: int | None = None
    for _ in range(1 + FORCE_ROUNDS):
        check_time(PHASE)
        place = np.empty(many, np.int64)
        place[found] = np.arange(len(found))
        ends = place[members]
        length = int((np.maximum.reduceat(ends, starts) - np.minimum.reduceat(ends, starts)).sum())
        if least is None or length < least:
            best, least = found, length
        middles = np.repeat(np.add.reduceat(ends, starts) / sizes, sizes)
        pulls = np.bincount(members, weights=middles, minlength=many)
        goal = np.where(times, pulls / np.maximum(times, 1), place)
        moved = found[np.argsort(goal[found], kind="stable")]
        if (moved == found).all():
            break
        found = moved
    arranged: list[int] = best.tolist()
    return arranged
