"""How much a thread's run can add up, where its loops have a known number of rounds.

Each edge of a thread has a *weight*, a number that is not negative.  `Paths.heaviest` finds a bound
for the sum of the weights along any path of the automaton, or None if there is none.  With weight 1
on some edges it bounds how often these are taken.

**The bound.**  A path passes through the strongly connected components of the automaton in one
order and never comes back to one that it has left, so its weight is at most that of the heaviest
path through the components, each counted with its own bound.  For a component C the method looks
for a *ranking cell* k:

- k is a local cell that only this thread writes, and no location of C resets it;
- within C, each store to k adds at least d > 0 to k, or each one takes away at least d; these
  stores are on edges I.

Along a path in C the values that k has when an edge of I is taken then rise (or fall) by at least d
each time, and the range analysis knows an interval a..b of these values.  So edges of I are taken
at most n = (b - a) // d + 1 times.  What lies between two of them is a path in C without I, a
*round*, during which k does not change.  There are at most n + 1 rounds, no two of them with the
same k.  A round that has weight takes an edge with weight, and if k is among a'..b' wherever these
begin, then at most (b' - a') // d + 1 rounds have weight.  The weight of a path in C is at most

    rounds with weight * heaviest(C without I) + n * the heaviest edge of I.

The recursion ends, since I is not empty.  A component without weight needs no ranking cell.

Each ranking cell gives a bound, and the smallest of them is taken.  Trying all of them takes time
that is exponential in their number where a loop counts in many branches, so the work is counted:
when `Paths.work` is used up, only the first cell of each component is tried.  The cells that leave
the fewest edges on cycles come first.  A bound from fewer cells is larger, and still a bound.

Every step of a thread follows edges of its automaton one after another; an edge on which the thread
fails is the last of its path, and counts like the others.  So the edges that a thread takes between
two starts are a path.  A thread starts at the beginning, if it is active, and where an edge writes
its program counter: the heaviest paths over the *starting* edges bound how often (`Lives`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mazurka.deadline import check_time
from mazurka.ir.expressions import Binary, Const, Convert, Expr, Load
from mazurka.ir.program import FIRST_LOCATION, WRONG, Assign, Edge, search_depth_first
from mazurka.ir.values.evaluation import EMPTY, ValueSet, find_window
from mazurka.ir.values.facts import Facts
from mazurka.ir.values.fixpoint import Analysis
from mazurka.ir.values.intervals import LARGEST, SMALLEST, Bounds

LEAST_WORK = 100_000
WORK = 50
"""How many edges `Paths.heaviest` looks at, and how many more for each edge of the thread, before
it tries one ranking cell of each component alone."""

Weights = Mapping[int, int]
"""The weights of edges, by their positions in the thread; what is missing weighs nothing."""


@dataclass(frozen=True)
class Advance:
    """A store that adds to a local cell: what it adds, and what the cell held before."""

    amount: Bounds
    before: Bounds


@dataclass(frozen=True)
class KnownStore:
    """An operation of an edge that can be executed, and what is known just before it."""

    position: int
    edge: Edge
    operation: Assign
    targets: ValueSet
    facts: Facts


@dataclass
class Paths:
    """The edges of one thread that can be taken, and the cells that they count with."""

    analysis: Analysis
    number: int
    ends: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Source and target of each edge that can be taken, by its position."""
    stores: list[KnownStore] = field(default_factory=list)
    advances: dict[int, dict[int, Advance]] = field(default_factory=lambda: defaultdict(dict))
    """For each local cell the edges that only add to it."""
    spoilt: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    """For each local cell the edges that may write it in other ways."""
    work: int = LEAST_WORK
    """How many edges may still be looked at before alternatives are left out."""

    def __post_init__(self) -> None:
        facts = self.analysis.threads[self.number]
        self.work += WORK * len(facts.thread.edges)
        for position, edge in enumerate(facts.thread.edges):
            if edge.source in facts.known:
                self._enter(position, edge)
        for store in self.stores:
            self._note(store)

    def _enter(self, position: int, edge: Edge) -> None:
        """Execute an edge on what is known where it begins."""
        thread = self.analysis.threads[self.number]
        known = dict(thread.known[edge.source])
        now = Facts(known, self.lookup, thread.most_choices, self.analysis.saturate)
        if edge.guard is not None and not now.assume(edge.guard):
            return
        now.choices = edge.choices
        target = edge.target
        for operation in edge.operations:
            if isinstance(operation, Assign):
                targets = now.values(operation.address).clip(1, len(self.analysis.cells) - 1)
                self.stores.append(KnownStore(position, edge, operation, targets, now.copy()))
            if not now.perform(operation, self.analysis.cells, lambda address, values: None):
                target = WRONG
                break
        self.ends[position] = edge.source, target

    def lookup(self, address: int) -> ValueSet:
        inside = 0 < address < len(self.analysis.cells)
        return self.analysis.value(address) if inside else EMPTY

    def _note(self, store: KnownStore) -> None:
        for address in members(store.targets):
            if self.analysis.cells[address].owner != self.number:
                continue
            found = None
            if store.targets.is_constant and store.position not in self.advances[address]:
                found = _advance(store, address)
            if found is None:
                self.spoilt[address].add(store.position)
            else:
                self.advances[address][store.position] = found

    def heaviest(self, weights: Weights, without: Iterable[int] = ()) -> int | None:
        """Bound the weight of all paths, leaving out the paths through some of the edges."""
        left_out = set(without)
        return self._heaviest([at for at in self.ends if at not in left_out], weights)

    def _heaviest(self, positions: Sequence[int], weights: Weights) -> int | None:
        if not any(weights.get(at) for at in positions):
            return 0
        self._spend(len(positions))
        leaving: dict[int, list[int]] = defaultdict(list)
        for at in positions:
            leaving[self.ends[at][0]].append(at)
        parts = self._components(positions, leaving)
        part_of = {place: number for number, part in enumerate(parts) for place in part}
        best = [0] * len(parts)
        for number in reversed(range(len(parts))):
            inside: list[int] = []
            onward = 0
            for at in (at for place in parts[number] for at in leaving[place]):
                there = part_of[self.ends[at][1]]
                if there == number:
                    inside.append(at)
                else:
                    onward = max(onward, weights.get(at, 0) + best[there])
            own = self._bound_cycles(inside, weights)
            if own is None:
                return None
            best[number] = own + onward
        return max(best)

    def _components(
        self, positions: Sequence[int], leaving: Mapping[int, list[int]]
    ) -> list[list[int]]:
        """Find the strongly connected components, each before those that it leads to."""
        arriving: dict[int, list[int]] = defaultdict(list)
        places: dict[int, None] = {}
        for at in positions:
            source, target = self.ends[at]
            arriving[target].append(source)
            places.update({source: None, target: None})

        def follow(place: int) -> list[int]:
            return [self.ends[at][1] for at in leaving.get(place, ())]

        finished, _ = search_depth_first(places, follow)
        seen: set[int] = set()
        found: list[list[int]] = []
        for root in reversed(finished):
            if root in seen:
                continue
            seen.add(root)
            part, waiting = [root], [root]
            while waiting:
                for source in arriving[waiting.pop()]:
                    if source not in seen:
                        seen.add(source)
                        part.append(source)
                        waiting.append(source)
            found.append(part)
        return found

    def _bound_cycles(self, inside: Sequence[int], weights: Weights) -> int | None:
        """Bound the weight of a path within one component, by the best ranking cell."""
        if not any(weights.get(at) for at in inside):
            return 0
        best: int | None = None
        cells = list(self._ranking_cells(inside))
        if len(cells) > 1:
            cells.sort(key=lambda cell: self._count_cyclic(self._leave_out(cell, inside)))
        for cell in cells:
            rest = self._leave_out(cell, inside)
            moves = {at: self.advances[cell][at] for at in inside if at in self.advances[cell]}
            each = self._heaviest(rest, weights)
            if each is None:
                if self.work > 0:
                    continue
                break
            step = min(min(map(abs, move.amount)) for move in moves.values())
            most = count_steps([move.before for move in moves.values()], step)
            heavy = self._known_at(cell, [at for at in rest if weights.get(at)])
            rounds = most + 1 if heavy is None else min(most + 1, count_steps(heavy, step))
            total = rounds * each + most * max(weights.get(at, 0) for at in moves)
            best = total if best is None else min(best, total)
            if self.work <= 0:
                break
        return best

    def _leave_out(self, cell: int, inside: Sequence[int]) -> list[int]:
        """Return the edges that do not store to a ranking cell."""
        return [at for at in inside if at not in self.advances[cell]]

    def _count_cyclic(self, positions: Sequence[int]) -> int:
        """Count the edges that are on cycles of these edges."""
        self._spend(len(positions))
        leaving: dict[int, list[int]] = defaultdict(list)
        for at in positions:
            leaving[self.ends[at][0]].append(at)
        parts = self._components(positions, leaving)
        part_of = {place: number for number, part in enumerate(parts) for place in part}
        return sum(part_of[self.ends[at][0]] == part_of[self.ends[at][1]] for at in positions)

    def _spend(self, edges: int) -> None:
        check_time("deriving ranges")
        self.work -= edges

    def _ranking_cells(self, inside: Sequence[int]) -> Iterator[int]:
        edges = set(inside)
        locations = self.analysis.threads[self.number].thread.locations
        reset = {cell for at in inside for cell in locations[self.ends[at][0]].resets}
        for cell, moves in self.advances.items():
            found = [move for at, move in moves.items() if at in edges]
            if not found or cell in reset or cell in self.analysis.exposed:
                continue
            if self.spoilt[cell] & edges:
                continue
            rises = all(move.amount[0] > 0 for move in found)
            falls = all(move.amount[1] < 0 for move in found)
            if rises or falls:
                yield cell

    def _known_at(self, cell: int, positions: Sequence[int]) -> list[Bounds] | None:
        """Return the values of a cell where edges begin, or None where they are not followed."""
        known = self.analysis.threads[self.number].known
        found: list[Bounds] = []
        for at in positions:
            values = known[self.ends[at][0]].get(cell)
            if values is None or values.is_empty:
                return None
            found.append((values.low, values.high))
        return found


def members(values: ValueSet) -> Iterable[int]:
    return range(values.low, values.high + 1) if values.points is None else values.points


def _advance(store: KnownStore, address: int) -> Advance | None:
    """Read a store as an addition to the cell at `address`; None if it is something else."""
    own: Expr = Load(Const(address))
    value, window = strip_conversions(store.operation.value)
    match value:
        case Binary("add", left, right) if left == own:
            added = store.facts.values(right)
            amount = added.low, added.high
        case Binary("add", left, right) if right == own:
            added = store.facts.values(left)
            amount = added.low, added.high
        case Binary("sub", left, right) if left == own:
            added = store.facts.values(right)
            amount = -added.high, -added.low
        case _:
            return None
    before = store.facts.values(own)
    if added.is_empty or added.is_extreme or before.is_empty or before.is_extreme:
        return None
    if not (window[0] <= before.low + amount[0] and before.high + amount[1] <= window[1]):
        return None  # the conversion may change the sum
    return Advance(amount, (before.low, before.high))


def strip_conversions(value: Expr) -> tuple[Expr, Bounds]:
    """Return what is converted, and the numbers that all of the conversions keep."""
    low, high = SMALLEST, LARGEST
    while isinstance(value, Convert):
        kept = find_window(value.width, value.signed)
        low, high = max(low, kept[0]), min(high, kept[1])
        value = value.operand
    return value, (low, high)


def count_steps(intervals: Sequence[Bounds], step: int) -> int:
    """Return how many numbers, each `step` away from the next, lie within the intervals."""
    if not intervals:
        return 0
    low, high = min(low for low, _ in intervals), max(high for _, high in intervals)
    return (high - low) // step + 1


class Lives:
    """Which edges start which threads, and how often that may happen."""

    def __init__(self, analysis: Analysis, paths: Sequence[Paths]) -> None:
        self.analysis = analysis
        self.paths = paths
        self.starting: list[list[tuple[int, frozenset[int]]]] = []
        """For each thread its stores that start one of some threads, with their edges."""
        for found in paths:
            starts = ((store.position, self._started(store)) for store in found.stores)
            self.starting.append([(at, started) for at, started in starts if started])
        self.found: dict[int, int | None] = {}

    def _started(self, store: KnownStore) -> frozenset[int]:
        counters = self.analysis.counters.items()
        return frozenset(number for at, number in counters if store.targets.contains(at))

    def of(self, number: int) -> int | None:
        """Bound the number of starts of a thread; None if there may be any number of them."""
        if number not in self.found:
            self.found[number] = None  # a thread that starts itself, or one that starts it
            self.found[number] = self.add_up({number: 1})
        return self.found[number]

    def add_up(self, each: Mapping[int, int | None]) -> int | None:
        """Bound a sum over all starts, to which each start of a thread adds that thread's number.

        A store that starts one of several threads counts as the one that adds most.
        """
        total: int | None = 0
        for number, added in each.items():
            if self.analysis.threads[number].start >= FIRST_LOCATION:
                total = plus(total, added)
        for creator, starts in enumerate(self.starting):
            weights: dict[int, int] = defaultdict(int)
            for at, started in starts:
                options = [each.get(number, 0) for number in started]
                bounded = [option for option in options if option is not None]
                if len(bounded) < len(options):
                    return None
                weights[at] += max(bounded)
            if any(weights.values()):
                once = self.paths[creator].heaviest(weights)
                total = plus(total, multiply(self.of(creator), once))
        return total


def plus(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def multiply(times: int | None, each: int | None) -> int | None:
    """Multiply two bounds; None is no bound, but nothing done often remains nothing."""
    if times == 0 or each == 0:
        return 0
    return None if times is None or each is None else times * each
