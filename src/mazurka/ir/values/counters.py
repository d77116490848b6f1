"""The ranges of counters: cells that grow by bounded amounts, a bounded number of times.

The range analysis follows one cell at a time.  In `n = 0; for k in range(4): n += 1` it finds the
range of `k`, by the loop's condition, and lets `n` grow without limit.  This module finds a range
for such cells from what can be added to them altogether.

A *group* S is a set of cells without derived ranges such that the value of every store to a cell of
S is either

- *fresh*: among known bounds; or
- the value of a cell of S plus an amount among known bounds (an amount of 0 for a copy).

So a counter and the temporaries between its read and its write are one group.  Cells that only copy
a counter are a group of their own, after the counter's.

**Claim.**  Let h be the largest initial value of cells in S and of all fresh values, and let an
edge weigh the sum of what its stores to S add, where that is positive.  Then no cell of S is ever
larger than h + W, where W is the largest weight of all edges taken in an execution, each as often
as it is taken.  *Proof*, by induction over the stores: a fresh value is at most h.  A value that
was read from a cell of S is at most h plus the weight of all stores so far, and the store that adds
to it has at least the weight of the amount.  Which thread has read the value, and when, does not
matter: an old value is bounded by a smaller sum.  The same holds with the signs changed for the
smallest value.

W is the sum over all starts of threads of the heaviest path of the thread that is started
(`mazurka.ir.values.rounds`).

**Resets.**  If only one thread writes S, let R be the edges whose stores to S are all fresh and
after which each cell of S has just been stored to, or is dead: the thread does not read it before
it has stored to it.  Then W need only count the edges since the last edge of R.  *Proof*: in the
induction above, a cell that the thread will read before writing it has been written since then, so
its value is at most h plus the weight since then; cells that are dead keep a value which met the
bound when it was stored.  These edges are paths without R, one for each start of the thread, and
one altogether if all of S is dead where the thread starts.

**64 bits.**  The sums are those of unlimited integers.  They are right as long as nothing wraps
around, and `mazurka.ir.passes.ranges` refuses programs in which anything might, given these ranges:
so, by induction over the steps, nothing does.

**Conversions.**  In `n = Convert(n + 1, 32, signed)` wrapping around is allowed, and the range
analysis gives `n` all the numbers of its type.  A conversion around the whole value of a store
keeps numbers within its *window*.  The value before it is bounded like the stored value of the
claim; so if h + W and its counterpart are within the windows of all stores to S, then, by the same
induction, no conversion ever changes a value, and the bounds hold.  Else S gets no bounds from
here.  In programs with conversions, cells with many values are therefore examined even if they have
a range.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from mazurka.ir.expressions import Binary, Conditional, Const, Convert, Expr, Load, walk
from mazurka.ir.program import FIRST_LOCATION, search_depth_first
from mazurka.ir.values.evaluation import MOST_CELLS, ValueSet
from mazurka.ir.values.facts import Facts
from mazurka.ir.values.fixpoint import Analysis
from mazurka.ir.values.intervals import LARGEST, SMALLEST, Bounds, fits
from mazurka.ir.values.rounds import KnownStore, Lives, Paths, members, strip_conversions

NOTHING_ADDED = (0, 0)


@dataclass(frozen=True)
class Origin:
    """Where a value comes from: one of the cells `bases` plus an amount, or fresh bounds."""

    bases: frozenset[int] = frozenset()
    amount: Bounds = NOTHING_ADDED
    fresh: Bounds | None = None
    window: Bounds = SMALLEST, LARGEST
    """The sums that the store keeps: others are changed by a conversion."""

    def shift(self, by: Bounds) -> Origin:
        fresh = None if self.fresh is None else _add(self.fresh, by)
        amount = _add(self.amount, by) if self.bases else NOTHING_ADDED
        return Origin(self.bases, amount, fresh, self.window)

    def join(self, other: Origin) -> Origin:
        amounts = [each.amount for each in (self, other) if each.bases]
        fresh = [each.fresh for each in (self, other) if each.fresh is not None]
        return Origin(
            self.bases | other.bases,
            hull(amounts) if amounts else NOTHING_ADDED,
            hull(fresh) if fresh else None,
            _narrow(self.window, other.window),
        )


def _add(one: Bounds, other: Bounds) -> Bounds:
    return one[0] + other[0], one[1] + other[1]


def _narrow(one: Bounds, other: Bounds) -> Bounds:
    return max(one[0], other[0]), min(one[1], other[1])


def hull(intervals: Iterable[Bounds]) -> Bounds:
    lows, highs = zip(*intervals, strict=True)
    return min(lows), max(highs)


MODEST = 2**62
"""Numbers from here on were probably computed from a cell without a range."""
FEW = 2**7
"""The same, in programs with conversions: these hide that there was no range."""


def is_modest(values: ValueSet, limit: int) -> bool:
    return values.is_empty or (values.low > -limit and values.high < limit)


def find_limit(analysis: Analysis) -> int:
    """Return the size up to which numbers are not worth a closer look."""
    converts = any(
        isinstance(part, Convert)
        for edge in analysis.program.edges
        for store in edge.stores
        for part in walk(store.value)
    )
    return FEW if converts else MODEST


@dataclass(frozen=True)
class Growth:
    """A store to cells without a range."""

    thread: int
    store: KnownStore
    targets: frozenset[int]
    origin: Origin | None
    """None where nothing is known about the value."""
    reads: frozenset[int]
    """The cells without a range from which the value is computed, as far as they are named."""


def bound_counters(analysis: Analysis) -> dict[int, Bounds]:
    """Find ranges for cells to which the analysis gives none, or one that is too large; others are
    not in the result."""
    open_cells = find_open(analysis)
    found = Counters(analysis, open_cells).bound() if open_cells else {}
    values = {address: analysis.value(address) for address in found}
    return {
        address: (max(low, values[address].low), min(high, values[address].high))
        for address, (low, high) in found.items()
        if values[address].low < low or values[address].high > high
    }


def find_open(analysis: Analysis) -> frozenset[int]:
    """Find the cells for which no range is declared, and none is known so far."""
    limit = find_limit(analysis)
    return frozenset(
        address
        for address, cell in enumerate(analysis.cells)
        if cell.inferred and not is_modest(analysis.value(address), limit)
    )


def find_causes(analysis: Analysis) -> frozenset[int]:
    """Find the cells that have no range though all that they are computed from has one."""
    counters = Counters(analysis, find_open(analysis))
    counters.bound()
    causes: set[int] = set()
    for group in counters.groups():
        reads = {base for each in counters.growth if each.targets & group for base in each.reads}
        if not group & counters.found.keys() and reads - group <= counters.found.keys():
            causes |= group
    return frozenset(causes)


class Counters:
    """The cells without a range, the stores to them, and the ranges found so far."""

    def __init__(self, analysis: Analysis, cells: frozenset[int]) -> None:
        self.analysis = analysis
        self.cells = cells
        self.paths = [Paths(analysis, number) for number in range(len(analysis.threads))]
        self.lives = Lives(analysis, self.paths)
        self.limit = find_limit(analysis)
        self.indirect: set[int] = set()
        """Cells that are read through a computed address; their deaths are not known."""
        self.growth = list(self._find_growth())
        self.found: dict[int, Bounds] = {}

    def _find_growth(self) -> Iterator[Growth]:
        for thread, paths in enumerate(self.paths):
            for store in paths.stores:
                targets = self.cells.intersection(members(store.targets))
                if targets:
                    origin = self.trace_store(store)
                    reads = origin.bases if origin is not None else self._named(store)
                    yield Growth(thread, store, targets, origin, reads)

    def _named(self, store: KnownStore) -> frozenset[int]:
        loads = (part for part in walk(store.operation.value) if isinstance(part, Load))
        named = (part.address.value for part in loads if isinstance(part.address, Const))
        return self.cells.intersection(named)

    def trace_store(self, store: KnownStore) -> Origin | None:
        """Find where a stored value comes from, if no conversion changes it."""
        value, window = strip_conversions(store.operation.value)
        found = self.trace(value, store.facts)
        if found is not None and found.bases:
            return replace(found, window=window)
        return self.trace(store.operation.value, store.facts)

    def trace(self, expr: Expr, facts: Facts) -> Origin | None:
        """Find where a value comes from; None if it may be anything."""
        values = facts.values(expr)
        if values.is_empty:
            return Origin()
        fresh = None if values.is_extreme else Origin(fresh=(values.low, values.high))
        if fresh is not None and is_modest(values, self.limit):
            return fresh
        return self._trace_parts(expr, facts) or fresh

    def _trace_parts(self, expr: Expr, facts: Facts) -> Origin | None:
        match expr:
            case Load(address):
                return self._trace_load(address, facts)
            case Binary("add", left, right):
                return self._trace_sum(self.trace(left, facts), self.trace(right, facts))
            case Binary("sub", left, right):
                return self._trace_difference(self.trace(left, facts), self.trace(right, facts))
            case Binary("min" | "max", left, right):
                return _either(self.trace(left, facts), self.trace(right, facts))
            case Conditional(test, then, otherwise):
                return self._trace_branches(test, then, otherwise, facts)
            case _:
                return None

    def _trace_load(self, address: Expr, facts: Facts) -> Origin | None:
        places = facts.values(address).clip(1, len(self.analysis.cells) - 1)
        if places.points is None and places.high - places.low > MOST_CELLS:
            return None
        result = Origin()
        for place in members(places):
            if place in self.cells:
                result = result.join(Origin(frozenset({place})))
                if not isinstance(address, Const):
                    self.indirect.add(place)
                continue
            values = facts.lookup(place)
            if values.is_extreme:
                return None
            result = result.join(Origin(fresh=(values.low, values.high)))
        return result

    def _trace_sum(self, left: Origin | None, right: Origin | None) -> Origin | None:
        if left is None or right is None or (left.bases and right.bases):
            return None
        counter, amount = (left, right) if left.bases else (right, left)
        return Origin() if amount.fresh is None else counter.shift(amount.fresh)

    def _trace_difference(self, left: Origin | None, right: Origin | None) -> Origin | None:
        if left is None or right is None or right.bases:
            return None
        return Origin() if right.fresh is None else left.shift((-right.fresh[1], -right.fresh[0]))

    def _trace_branches(
        self, test: Expr, then: Expr, otherwise: Expr, facts: Facts
    ) -> Origin | None:
        result: Origin | None = Origin()
        for branch, outcome in ((then, True), (otherwise, False)):
            inside = facts.copy()
            if inside.assume(test, outcome):
                result = _either(result, self.trace(branch, inside))
        return result

    def bound(self) -> dict[int, Bounds]:
        """Find the ranges of all groups that have one."""
        for group in self.groups():
            bounds = self._bound_group(group)
            if bounds is not None and fits(bounds):
                self.found.update(dict.fromkeys(group, bounds))
            elif not any(self.analysis.value(cell).is_extreme for cell in group):
                values = {cell: self.analysis.value(cell) for cell in group}
                self.found.update({cell: (each.low, each.high) for cell, each in values.items()})
        return self.found

    def groups(self) -> list[frozenset[int]]:
        """Return the cells that depend on each other, in groups; each after those it reads."""
        reads: dict[int, set[int]] = defaultdict(set)
        read_by: dict[int, set[int]] = defaultdict(set)
        for each in self.growth:
            for target in each.targets:
                for base in each.reads:
                    reads[target].add(base)
                    read_by[base].add(target)
        finished, _ = search_depth_first(sorted(self.cells), lambda cell: sorted(read_by[cell]))
        seen: set[int] = set()
        groups = []
        for root in reversed(finished):
            if root not in seen:
                seen.add(root)
                group, waiting = {root}, [root]
                while waiting:
                    for other in reads[waiting.pop()] - seen:
                        seen.add(other)
                        group.add(other)
                        waiting.append(other)
                groups.append(frozenset(group))
        return groups

    def _bound_group(self, group: frozenset[int]) -> Bounds | None:
        growth = [each for each in self.growth if each.targets & group]
        start = self._hull_of_fresh(group, growth)
        if start is None:
            return None
        up = self._add_up(group, growth, 1)
        down = self._add_up(group, growth, -1)
        if up is None or down is None:
            return None
        low, high = start[0] - down, start[1] + up
        windows = [each.origin.window for each in growth if each.origin is not None]
        kept = all(window[0] <= low and high <= window[1] for window in windows)
        return (low, high) if kept else None

    def _hull_of_fresh(self, group: frozenset[int], growth: list[Growth]) -> Bounds | None:
        """Return bounds for initial and fresh values; values of earlier groups are fresh, too."""
        initial = (self.analysis.cells[cell].initial for cell in group)
        found: list[Bounds] = [(value, value) for value in initial]
        for each in growth:
            origin = each.origin
            if origin is None or not origin.bases - group <= self.found.keys():
                return None
            found += [_add(self.found[base], origin.amount) for base in origin.bases - group]
            if origin.fresh is not None:
                found.append(origin.fresh)
        return hull(found)

    def _add_up(self, group: frozenset[int], growth: list[Growth], sign: int) -> int | None:
        """Bound what all stores together add to the group, or take away."""
        weights: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for each in growth:
            origin = each.origin
            if origin is not None and origin.bases & group:
                added = origin.amount[1] if sign > 0 else -origin.amount[0]
                weights[each.thread][each.store.position] += max(added, 0)
        writers = {each.thread for each in growth}
        if len(writers) != 1:
            return self.lives.add_up(
                {thread: self.paths[thread].heaviest(of) for thread, of in weights.items()}
            )
        writer = writers.pop()
        resets = self._find_resets(writer, group, growth)
        heaviest = self.paths[writer].heaviest(weights[writer], without=resets)
        if self._is_dead_at_start(writer, group):
            return heaviest
        return self.lives.add_up({writer: heaviest})

    def _find_resets(self, thread: int, group: frozenset[int], growth: list[Growth]) -> set[int]:
        """Find the edges after which no value of the group from before them counts."""
        stored: dict[int, set[int]] = defaultdict(set)
        spoilt: set[int] = set()
        for each in growth:
            if each.origin is None or each.origin.bases & group:
                spoilt.add(each.store.position)
            elif each.store.targets.is_constant:
                stored[each.store.position] |= each.targets
        ends = self.paths[thread].ends
        return {
            at
            for at, cells in stored.items()
            if at not in spoilt
            and all(self._is_dead(cell, thread, ends[at][1]) for cell in group - cells)
        }

    def _is_dead_at_start(self, thread: int, group: frozenset[int]) -> bool:
        facts = self.analysis.threads[thread]
        starts = facts.jumps | ({facts.start} if facts.start >= FIRST_LOCATION else set())
        return all(self._is_dead(cell, thread, start) for cell in group for start in starts)

    def _is_dead(self, cell: int, thread: int, location: int) -> bool:
        """Whether a thread surely stores to its local cell before it reads it again."""
        if self.analysis.cells[cell].owner != thread or cell in self.indirect:
            return False
        return cell not in self.analysis.threads[thread].tracking.followed[location]


def _either(one: Origin | None, other: Origin | None) -> Origin | None:
    return None if one is None or other is None else one.join(other)
