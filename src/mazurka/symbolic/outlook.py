"""What each thread can do in an environment: move, wait, stand still; and deadlocks.

A choice of a step is free, but "the thread cannot move" speaks of all choices.  So what depends on
choices is quantified over them (`StepOutlook`), bit by bit.  Most bits vanish at once, as those of
"the number is not 0" do; where the circuit grows instead, quantification is given up.

`find_standstills` is `mazurka.analysis.standstill` as a circuit: W, the threads that wait, D, the
largest set of them that no thread outside of D could help.  D begins as W, and what is helped is
removed, as many times as there are threads: the circuit computes what `find_deadlocked` does, round
by round, and a round that removes nothing is followed by rounds that remove nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from mazurka.analysis.futures import RESTING, Futures, find_futures, find_pattern_locks
from mazurka.analysis.standstill import read_beside
from mazurka.analysis.unstopped import find_unknown_futures, find_unstopped
from mazurka.errors import UnsupportedError
from mazurka.ir.program import FIRST_LOCATION, WRONG
from mazurka.symbolic.environment import Environment
from mazurka.symbolic.graphs.graph import FALSE
from mazurka.symbolic.record import ChoiceKey, StepRecord
from mazurka.symbolic.steps import StepEncoder

FOR_DEADLOCKS = (
    "deadlocks can be looked for only where it does not: choose in a step before, or use --property"
    " assert"
)
MOST_GROWTH = 20_000
"""How many nodes may be made to work out what a step does with some choice."""


@dataclass
class ThreadOutlook:
    """What a thread can do, whatever it chooses; each literal includes where it is."""

    acts: int
    """Some step of it takes place, or fails."""
    waits: int
    """It waits with some choice."""
    stopped: int
    """An assumption stops it with some choice, or it is where no edge leads away."""
    ended: int
    """It has ended the process."""
    failed: int
    reads: dict[int, int]
    """By cell whether its steps read it, with some choice."""


class StepOutlook:
    """Finds what threads can do in one environment."""

    def __init__(
        self, encoder: StepEncoder, environment: Environment, purpose: str = FOR_DEADLOCKS
    ) -> None:
        """`purpose`: what cannot be done, and what to do, where too many choices matter."""
        self.encoder, self.graph = encoder, encoder.graph
        self.environment, self.purpose = environment, purpose
        self.program = encoder.program

    def of_thread(self, thread: int, *, reads: bool = True) -> ThreadOutlook:
        graph, places = self.graph, self.environment.places[thread]
        automaton = self.program.threads[thread]
        parts: dict[str, list[int]] = {"acts": [], "waits": [], "stopped": [], "ended": []}
        read: dict[int, list[int]] = {}
        for location, at in places.items():
            if location < FIRST_LOCATION or at == FALSE:
                continue
            if location in automaton.ends:
                parts["ended"].append(at)
                continue
            if not automaton.outgoing[location]:
                parts["stopped"].append(at)
                continue
            record = self.encoder.encode(self.environment, thread, location)
            wanted = {"acts": record.acts, "waits": record.waits, "stopped": record.stopped}
            asked = reads and record.waits != FALSE  # what is read matters to who waits
            cells = {a: graph.some(each) for a, each in record.reads.items()} if asked else {}
            found = self.quantify(record, [*wanted.values(), *cells.values()])
            for name, literal in zip(wanted, found, strict=False):
                parts[name].append(graph.both(at, literal))
            for address, literal in zip(cells, found[len(wanted) :], strict=True):
                read.setdefault(address, []).append(graph.both(at, literal))
        return ThreadOutlook(
            **{name: graph.some(each) for name, each in parts.items()},
            failed=places.get(WRONG, FALSE),
            reads={address: graph.some(each) for address, each in read.items()},
        )

    def quantify(self, record: StepRecord, literals: list[int]) -> list[int]:
        """Each literal with some choice of the step: the choices' bits are no part of it."""
        found = self.try_to_quantify(record, literals)
        if found is None:
            _, key = self._find_choice_bits(record, literals)[0]
            edge = self.program.threads[record.thread].edges[key.edge]
            raise UnsupportedError.at(
                edge.span,
                "whether this step can be taken depends on a choice in more ways than can be listed"
                f"; with --engine symbolic {self.purpose}",
            )
        return found

    def try_to_quantify(self, record: StepRecord, literals: list[int]) -> list[int] | None:
        """The same; None where the circuit would grow too much."""
        most = self.graph.nodes + MOST_GROWTH
        while relevant := self._find_choice_bits(record, literals):
            bit, _ = relevant[-1]
            no, yes = (self.graph.substitute(literals, {bit: value}) for value in (0, 1))
            literals = [self.graph.either(x, y) for x, y in zip(no, yes, strict=True)]
            if self.graph.nodes > most:
                return None
        return literals

    def count_choice_bits(self, record: StepRecord, literals: list[int]) -> int:
        """How many bits of the step's choices the literals depend on."""
        return len(self._find_choice_bits(record, literals))

    def _find_choice_bits(
        self, record: StepRecord, literals: list[int]
    ) -> list[tuple[int, ChoiceKey]]:
        if not record.choices:
            return []
        marks = self.graph.mark_cone(literals)
        return [
            (bit, key)
            for key, word in record.choices.items()
            for bit in self.encoder.words.literals(word)
            if marks[bit >> 1]
        ]


class Standstills(NamedTuple):
    """States in which nobody moves and nobody has failed, observers aside: three kinds, of which
    each excludes the others."""

    deadlock: int
    """Somebody waits whom no stopped thread could help."""
    stopped: int
    """It is no deadlock, and an assumption stops somebody."""
    ended: int
    """All have ended, or have not begun; or somebody has ended the process."""
    excused: int
    """A part of `stopped`: somebody waits."""


def find_standstills(encoder: StepEncoder, environment: Environment) -> Standstills:
    """Find the states in which nobody moves."""
    graph, program = encoder.graph, encoder.program
    outlook = StepOutlook(encoder, environment)
    real = [n for n, thread in enumerate(program.threads) if not thread.observer]
    reads_matter = program.has_assumptions or any(
        location >= FIRST_LOCATION and not program.threads[n].outgoing[location]
        for n in real
        for location in encoder.layout.starts[n]
    )
    found = {n: outlook.of_thread(n, reads=reads_matter) for n in real}
    quiet = graph.every(
        literal ^ 1 for each in found.values() for literal in (each.acts, each.failed)
    )
    over = graph.both(quiet, graph.some(each.ended for each in found.values()))
    still = graph.both(quiet, over ^ 1)
    waiting = {n: graph.both(each.waits, each.stopped ^ 1) for n, each in found.items()}
    stopped = {n: each.stopped for n, each in found.items()}
    waits = graph.both(still, graph.some(waiting.values()))
    if all(literal == FALSE for literal in stopped.values()):
        return Standstills(waits, FALSE, graph.both(quiet, waits ^ 1), FALSE)
    judge = _Judge(encoder, environment, stopped, waiting)
    reads = {n: judge.all_reads(n, each) for n, each in found.items()}
    deadlocked = dict(waiting)
    for _ in real:
        deadlocked = judge.remove_helped(deadlocked, reads)
    deadlock = graph.both(still, graph.some(deadlocked.values()))
    other, some_stopped = graph.both(still, deadlock ^ 1), graph.some(stopped.values())
    return Standstills(
        deadlock,
        graph.both(other, some_stopped),
        graph.either(over, graph.both(other, some_stopped ^ 1)),
        graph.both(other, waits),
    )


WriteTree: TypeAlias = "int | tuple[int, WriteTree, WriteTree]"
"""Cells as bits, or a lock with what is written if it is held, and if it is not."""


class _Judge:
    """One round of `mazurka.analysis.standstill._compute_deadlocked`, for all states at a time."""

    def __init__(
        self,
        encoder: StepEncoder,
        environment: Environment,
        stopped: dict[int, int],
        waiting: dict[int, int],
    ) -> None:
        self.encoder, self.graph, self.environment = encoder, encoder.graph, environment
        self.stopped, self.waiting = stopped, waiting
        self.judged = find_unstopped(encoder.program)
        self.futures: Futures = find_futures(self.judged)
        self.unknown = find_unknown_futures(self.judged)
        self.locks = find_pattern_locks(self.judged)
        self.trees: dict[tuple[int, int], WriteTree] = {}

    def all_reads(self, thread: int, outlook: ThreadOutlook) -> dict[int, int]:
        """By cell whether the thread's wait depends on it."""
        parts = {address: [literal] for address, literal in outlook.reads.items()}
        for place, at in self.environment.places[thread].items():
            for address in members(read_beside(self.encoder.program, thread, [place])):
                parts.setdefault(address, []).append(at)
        return {address: self.graph.some(each) for address, each in parts.items()}

    def remove_helped(
        self, deadlocked: dict[int, int], reads: dict[int, dict[int, int]]
    ) -> dict[int, int]:
        graph, words = self.graph, self.encoder.words
        outside = {
            n: graph.either(self.stopped[n], graph.both(self.waiting[n], deadlocked[n] ^ 1))
            for n in deadlocked
        }
        held = {
            lock: graph.some(
                graph.both(inside, words.equals(self.environment.cells[lock], n + 1))
                for n, inside in deadlocked.items()
            )
            for lock in self.locks
        }
        anything, written = self.may_write(outside, held)
        return {
            n: graph.both(
                inside,
                graph.some(
                    [
                        anything,
                        *(graph.both(at, written.get(a, FALSE)) for a, at in reads[n].items()),
                    ]
                )
                ^ 1,
            )
            for n, inside in deadlocked.items()
        }

    def may_write(
        self, outside: dict[int, int], held: dict[int, int]
    ) -> tuple[int, dict[int, int]]:
        """Whether something unknown may be written, and by cell whether it may be, by these threads
        and those that they may start."""
        graph, threads = self.graph, self.judged.threads
        active = {n: outside.get(n, FALSE) for n in range(len(threads))}
        each = {n: self.writes_of(n, held) for n in active}
        for _ in threads:  # who is started may start others
            active = {
                n: graph.either(
                    now,
                    graph.both(
                        graph.some(self.environment.places[n].get(at, FALSE) for at in RESTING),
                        graph.some(
                            graph.both(active[m], each[m][1].get(threads[n].counter, FALSE))
                            for m in active
                        ),
                    ),
                )
                for n, now in active.items()
            }
        anything = graph.some(graph.both(active[n], each[n][0]) for n in active)
        cells: dict[int, list[int]] = {}
        for n, (_, written) in each.items():
            for address, literal in written.items():
                cells.setdefault(address, []).append(graph.both(active[n], literal))
        return anything, {address: graph.some(parts) for address, parts in cells.items()}

    def writes_of(self, thread: int, held: dict[int, int]) -> tuple[int, dict[int, int]]:
        """The same for one thread from where it is, by its own code."""
        graph = self.graph
        unknown: list[int] = []
        cells: dict[int, list[int]] = {}
        for place, at in self.environment.places[thread].items():
            begun = self.futures.beginnings[thread] if place in RESTING else (place,)
            if not self.unknown[thread].isdisjoint(begun):
                unknown.append(at)
                continue
            key = thread, place
            if key not in self.trees:
                locks = sorted(self.locks & self.futures.needed_by[thread])
                self.trees[key] = self.write_tree(thread, place, frozenset(), tuple(locks))
            for address, literal in self.evaluate(self.trees[key], held).items():
                cells.setdefault(address, []).append(graph.both(at, literal))
        return graph.some(unknown), {a: graph.some(parts) for a, parts in cells.items()}

    def write_tree(
        self, thread: int, place: int, held: frozenset[int], open_locks: tuple[int, ...]
    ) -> WriteTree:
        """What a thread may write later, by who holds which lock: more held, less written."""
        most = self.futures.later(thread, place, held).writes
        if most == self.futures.later(thread, place, held.union(open_locks)).writes:
            return most
        lock, *rest = open_locks
        return (
            lock,
            self.write_tree(thread, place, held | {lock}, tuple(rest)),
            self.write_tree(thread, place, held, tuple(rest)),
        )

    def evaluate(self, tree: WriteTree, held: dict[int, int]) -> dict[int, int]:
        if isinstance(tree, int):
            return dict.fromkeys(members(tree), 1)
        lock, yes, no = tree[0], self.evaluate(tree[1], held), self.evaluate(tree[2], held)
        return {
            address: self.graph.choose(held[lock], yes.get(address, FALSE), no.get(address, FALSE))
            for address in {**yes, **no}
        }


def members(cells: int) -> Iterator[int]:
    """The addresses in a set of cells."""
    address = 0
    while cells:
        skipped = (cells & -cells).bit_length() - 1
        address, cells = address + skipped, cells >> skipped
        yield address
        address, cells = address + 1, cells >> 1
