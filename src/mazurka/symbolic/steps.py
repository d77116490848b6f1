"""The step of a thread from a location where it rests, as a circuit.

One `StepRecord` is all that a thread's step from one location does in one environment: merged and
atomic locations are folded in, as `docs/semantics.md` has it.  Paths that meet at a location go on
as one, so that a step's circuit grows with its edges, not with its paths.

Loops inside a step (only atomic sections have any) are unrolled: locations are visited in reverse
postorder, and an edge that leads back begins another *pass*.  After `unrolling` passes the rest of
the paths is `beyond`: nothing is known about it.  Most loops end before, since the circuit shows
that no path is left.

*Choices* are leaves: each edge with choices has a word of its own for each pass and each location
where the step can begin.  Every pattern of its bits is one of the choices (`fold_choice`), so
no pattern has to be excluded.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from mazurka.deadline import check_time
from mazurka.errors import UnsupportedError
from mazurka.ir.native.layout import Layout
from mazurka.ir.passes.liveness import can_rest
from mazurka.ir.program import (
    STOPPING,
    Edge,
    Fault,
    Mode,
    Thread,
    search_depth_first,
)
from mazurka.ir.values.footprints import Footprints
from mazurka.ir.values.intervals import LARGEST, SMALLEST
from mazurka.symbolic.environment import (
    Environment,
    PathView,
    Places,
    StateBits,
    merge_places,
    merge_views,
)
from mazurka.symbolic.expressions import Evaluation
from mazurka.symbolic.graphs.graph import FALSE, TRUE
from mazurka.symbolic.graphs.words import WORD_BITS, Word
from mazurka.symbolic.record import Arrival, ChoiceKey, StepRecord

UNROLLING = 32
"""How often a step's loops are followed, where nobody says."""
MOST_EDGES = 200_000
"""How many edges the step from one location may have with its loops unrolled."""


def fold_choice(raw: int, count: int) -> int:
    """The choice that a number stands for: itself, or what is above the number of choices.

    The number has as few bits as the choices need, so it is less than twice their number."""
    return raw if raw < count else raw - count


def order_transient(thread: Thread, start: int) -> list[int]:
    """The transient locations behind a location in reverse postorder: an edge that does not lead
    forward in it begins another pass."""

    def follow(location: int) -> list[int]:
        targets = thread.successors(location)
        return [each for each in targets if thread.locations[each].mode is not Mode.VISIBLE]

    finished, _ = search_depth_first(follow(start), follow)
    return finished[::-1]


class StepEncoder:
    """Encodes the steps of a program's threads in one circuit."""

    def __init__(
        self,
        bits: StateBits,
        *,
        unrolling: int = UNROLLING,
        survived: frozenset[Fault] = frozenset(),
    ) -> None:
        """`survived`: the faults after which the thread is at `WRONG` and others go on; other
        faults are found, and nothing follows them."""
        self.bits, self.words, self.graph = bits, bits.words, bits.words.graph
        self.layout: Layout = bits.layout
        self.program = bits.program
        self.footprints = Footprints(self.program)
        self.unrolling, self.survived = unrolling, survived
        self.choices: dict[ChoiceKey, Word] = {}
        """The leaves behind each choice."""

    def encode(self, environment: Environment, thread: int, start: int) -> StepRecord:
        """The step of a thread from a location, in an environment."""
        check_time("encoding the model")
        places = list(environment.places)
        places[thread] = self._only(places[thread], start)  # its counter changes when it rests
        environment = Environment(environment.cells, places)
        record = StepRecord(thread, self.program, self.bits.thread_of, self.survived)
        _Walk(self, environment, record, start).follow()
        self._settle(record, environment)
        return record

    def starts(self, thread: int) -> Iterator[int]:
        """The locations from which a thread can have something to do."""
        automaton, starts = self.program.threads[thread], self.layout.starts[thread]
        return (each for each in starts if automaton.outgoing[each] and each not in automaton.ends)

    def choice(self, key: ChoiceKey, count: int) -> Word:
        """The number chosen, as `fold_choice` says it for the number of the leaves."""
        words = self.words
        raw = self.choices.get(key)
        if raw is None:
            width = (count - 1).bit_length()
            raw = self.choices[key] = words.add_leaves(0, (1 << width) - 1)
        if count == 1 << WORD_BITS:
            return words.from_bits(words.literals(raw), SMALLEST, LARGEST)
        if raw.high == count - 1:
            return raw
        few = words.constant(count)
        folded = words.select(words.less(raw, few), raw, words.binary("sub", raw, few))
        return words.clip(folded, 0, count - 1)

    def _settle(self, record: StepRecord, environment: Environment) -> None:
        """Join the ends of a step."""
        graph, thread = self.graph, self.program.threads[record.thread]
        found: dict[Fault, list[int]] = {}
        for fault, condition in record.pending_faults:
            found.setdefault(fault, []).append(condition)
        record.faults = {fault: graph.some(each) for fault, each in found.items()}
        record.moved = graph.some(arrival.condition for arrival in record.arrivals)
        record.acts = graph.either(record.waits, record.stopped) ^ 1
        if not record.arrivals:
            return
        for _, location, view in record.arrivals:
            for address in thread.locations[location].resets:
                initial = self.program.cells[address].initial
                view.cells[address] = self.words.constant(initial)
        merged = merge_views(self.words, [(each.condition, each.view) for each in record.arrivals])
        stored = {address for address in merged.cells if self.layout.slots[address].width}
        record.cells = {address: merged.cells[address] for address in sorted(stored)}
        record.places = dict(merged.places)
        ends = [
            (condition, self._only(environment.places[record.thread], location))
            for condition, location, _ in record.arrivals
        ]
        record.places[record.thread] = merge_places(graph, ends)

    @staticmethod
    def _only(places: Places, location: int) -> Places:
        return {each: TRUE if each == location else FALSE for each in places}


class _Walk:
    """Follows all paths of one step at a time."""

    def __init__(
        self, encoder: StepEncoder, environment: Environment, record: StepRecord, start: int
    ) -> None:
        self.encoder, self.record, self.start = encoder, record, start
        self.environment = environment
        self.graph, self.words = encoder.graph, encoder.words
        self.thread: Thread = encoder.program.threads[record.thread]
        self.order = order_transient(self.thread, start)
        self.waiting: dict[tuple[int, int], list[tuple[int, PathView]]] = {}
        """By pass and rank the paths that have come to a location, with their conditions."""
        self.queue: list[tuple[int, int]] = []
        self.edges = 0

    def follow(self) -> None:
        rank = {location: number for number, location in enumerate(self.order)}
        self.pass_by(self.start, TRUE, PathView(self.environment), rank, (0, -1))
        while self.queue:
            now = heapq.heappop(self.queue)
            paths = self.waiting.pop(now)
            condition = self.graph.some(each for each, _ in paths)
            view = merge_views(self.words, paths)
            self.pass_by(self.order[now[1]], condition, view, rank, now)

    def pass_by(
        self,
        location: int,
        condition: int,
        view: PathView,
        rank: dict[int, int],
        now: tuple[int, int],
    ) -> None:
        """Take the edges of a location; `now` is the pass, and the rank of the location in it."""
        rest = condition
        for position in self.thread.outgoing[location]:
            edge = self.thread.edges[position]
            self._count(edge)
            rest = self.try_edge(position, rest, view, rank, now)
            if rest == FALSE:
                return
        if not self.thread.is_exhaustive(location):
            self.block(location, rest, view, first=now[1] < 0)

    def try_edge(
        self, position: int, rest: int, view: PathView, rank: dict[int, int], now: tuple[int, int]
    ) -> int:
        """Take an edge where its guard holds; return where it was tried and does not hold."""
        edge = self.thread.edges[position]
        take, rest = rest, FALSE
        if edge.guard is not None:
            test = self._evaluation(edge, take, view, self.words.constant(0))
            holds = test.truth(edge.guard)
            take, rest = self.graph.both(test.alive, holds), self.graph.both(test.alive, holds ^ 1)
        if take == FALSE:
            return rest
        chosen = self.words.constant(0)
        if edge.choices > 1:
            key = ChoiceKey(self.record.thread, self.start, position, now[0])
            chosen = self.encoder.choice(key, edge.choices)
            self.record.choices[key] = self.encoder.choices[key]
        doing = self._evaluation(edge, take, view.copy(), chosen)
        for operation in edge.operations:
            doing.perform(operation)
        if doing.alive != FALSE:
            self.arrive(edge.target, doing.alive, doing.view, rank, now)
        return rest

    def _evaluation(self, edge: Edge, alive: int, view: PathView, choice: Word) -> Evaluation:
        footprints = self.encoder.footprints
        return Evaluation(self.words, footprints, self.record, view, alive, edge.choices, choice)

    def arrive(
        self,
        target: int,
        condition: int,
        view: PathView,
        rank: dict[int, int],
        now: tuple[int, int],
    ) -> None:
        if self.thread.locations[target].mode is Mode.VISIBLE:
            self.record.arrivals.append(Arrival(condition, target, view))
            return
        back = rank[target] <= now[1]
        then = (now[0] + back, rank[target])
        if then[0] > self.encoder.unrolling:
            self.record.beyond = self.graph.either(self.record.beyond, condition)
            return
        if then not in self.waiting:
            heapq.heappush(self.queue, then)
        self.waiting.setdefault(then, []).append((condition, view))

    def block(self, location: int, condition: int, view: PathView, *, first: bool) -> None:
        """No guard holds: the step ends here, or does not take place."""
        record, graph = self.record, self.graph
        if self.thread.locations[location].mode is Mode.MERGED and not first:
            if can_rest(self.thread, location):
                record.arrivals.append(Arrival(condition, location, view))
        elif all(edge.kind in STOPPING for edge in self.thread.edges_at(location)):
            record.stopped = graph.either(record.stopped, condition)
        else:
            record.waits = graph.either(record.waits, condition)

    def _count(self, edge: Edge) -> None:
        self.edges += 1
        if self.edges > MOST_EDGES:
            raise UnsupportedError.at(
                edge.span,
                f"a step has more than {MOST_EDGES:,} edges with its loops unrolled;"
                " a smaller --unrolling, or --engine stateful, may do",
            )
