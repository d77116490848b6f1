"""Reachable states as a binary decision diagram: part by part, until nothing new is found.

Burch, Clarke, McMillan, Dill, Hwang, *Symbolic Model Checking: 10^20 States and Beyond* (LICS
1990); Ravi, Somenzi, *High-Density Reachability Analysis* and Geist, Beer, *Efficient Model
Checking by Automated Ordering of Transition Relation Partitions* (CAV 1994) for the details.  This
file runs in the process of `mazurka.symbolic.solving.process`.

*Partition.*  The relation is a disjunction: a part for each thread and location, which says when
the step takes place and what the changed bits are then; all other bits stay.  A part is a
conjunction in turn, in clusters of bounded size; in an image a variable is quantified as soon as no
further cluster depends on it.

*Chaining.*  Parts are applied one behind the other, each to what those before have found as well;
in one pass each thread in turn goes on until it finds nothing more (as in saturation: Ciardo,
Lüttgen, Siminiceanu, TACAS 2001).  So a pass leads as far as one turn of each thread can.  A state
is expanded by every part: those that a pass finds are all in the next pass's `frontier`.  Without
chaining a pass applies each part once, to the frontier alone: it leads one step on.

*Onion rings.*  What each image of a pass has added is a ring.  A state of a ring has a predecessor
by the ring's part in an earlier ring, or in the frontier with which the pass began: so there is a
way back, and it ends in the first state.  Rings would be most of what is in memory, and reordering
would have to look at them; so only the sets at the beginning of each pass are kept, and the rings
of a pass are made again when a way leads back through it.

| symbol | here |
|---|---|
| x, x', i | variables `x0`, `y0`, `i0`: bits before and after a step, inputs |
| T_p(x, i, x') | `DiagramPart`: `clusters` |
| Img(S) = (∃x,i. S ∧ T)[x'/x] | `Reachability.image` |
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any, NamedTuple

DEEPEST = 20_000
"""Operations in plain Python recur to the depth of a diagram: the number of its variables."""
MOST_NODES = 500
"""How large a cluster may grow."""
MOST_SWAPS = 20_000
"""How often two neighbours change places in one reordering of the variables: looking at all
places for all of them would take most of the time."""
MOST_GROWTH = 1.05
"""How much larger diagrams may become while a variable is moved about."""


class StepPart(NamedTuple):
    """One part of the relation, in literals."""

    thread: int
    guard: int
    changes: tuple[tuple[int, int], ...]
    """Positions of bits of the state, with the literals that they take."""


class ReachProblem(NamedTuple):
    """A transition system; literals are `2 * variable + negated`, variables are numbered from 1:
    bits of the state, inputs, conjunctions."""

    first: tuple[int, ...]
    """The first values of the bits of the state."""
    inputs: int
    conjunctions: tuple[tuple[int, int], ...]
    parts: tuple[StepPart, ...]
    targets: tuple[int, ...]
    """Literals: it is told of each whether it can hold."""
    order: tuple[int, ...]
    """The variables of the state and the inputs, in the order in which they are declared."""
    most_bytes: int
    chained: bool = True
    """Whether a pass leads as far as one turn of each thread, and not one step."""
    conditions: tuple[tuple[int, ...], ...] = ()
    """Where fair cycles are looked for (`mazurka.symbolic.solving.fair_cycles`): by condition, and
    by part, whether a transition of the part meets it."""

    def to_numbers(self) -> list[int]:
        numbers = [len(self.first), self.inputs, len(self.conjunctions), len(self.parts)]
        numbers += [len(self.targets), min(self.most_bytes >> 20, 2**31 - 1)]
        numbers += [len(self.conditions), int(self.chained), *self.first]
        numbers += [literal for pair in self.conjunctions for literal in pair]
        for part in self.parts:
            numbers += [part.thread, part.guard, len(part.changes)]
            numbers += [number for change in part.changes for number in change]
        numbers += [*self.targets, *self.order]
        return [*numbers, *(literal for condition in self.conditions for literal in condition)]

    @classmethod
    def from_numbers(cls, numbers: array[int]) -> ReachProblem:
        place = 0

        def take(count: int) -> Sequence[int]:
            nonlocal place
            place += count
            return numbers[place - count : place]

        state, inputs, conjunctions, parts, targets, megabytes, conditions, chained = take(8)
        first, pairs = tuple(take(state)), take(2 * conjunctions)
        made = []
        for _ in range(parts):
            thread, guard, count = take(3)
            flat = take(2 * count)
            made.append(StepPart(thread, guard, tuple(zip(flat[::2], flat[1::2], strict=True))))
        return cls(
            first,
            inputs,
            tuple(zip(pairs[::2], pairs[1::2], strict=True)),
            tuple(made),
            tuple(take(targets)),
            tuple(take(state + inputs)),
            megabytes << 20,
            bool(chained),
            tuple(tuple(take(parts)) for _ in range(conditions)),
        )


class ReachProgress(NamedTuple):
    """How far a search is."""

    passes: int
    rings: int
    nodes: int
    """The size of the diagram of all states found."""


@dataclass
class DiagramPart:
    """One part of the relation, as diagrams."""

    clusters: list[Any]
    quantified: list[list[str]]
    """By cluster the variables on which no later one depends."""
    renaming: dict[str, str]
    """From the bits after a step to those before, where they change."""
    changed: list[int]
    relation: list[Any]
    """The clusters with all inputs, for the way back."""


class Ring(NamedTuple):
    """What an image has added."""

    part: int
    states: Any


class PassStart(NamedTuple):
    """The sets with which a pass begins."""

    frontier: Any
    reached: Any


def open_diagrams(most_bytes: int) -> tuple[Any, Callable[[Any, Any, list[str]], Any]]:
    """Return an empty set of diagrams, and the function that conjoins two and quantifies variables.

    They are CUDD's or, where that is not installed, plain Python, whose variables stay in order."""
    try:
        from dd import cudd
    except ImportError:
        from dd import autoref

        sys.setrecursionlimit(max(sys.getrecursionlimit(), DEEPEST))
        plain = autoref.BDD()
        plain.configure(reordering=False)
        return plain, lambda first, second, names: plain.exist(names, first & second)
    bdd = cudd.BDD(memory_estimate=most_bytes)
    bdd.configure(
        reordering=True, max_memory=most_bytes, max_swaps=MOST_SWAPS, max_growth=MOST_GROWTH
    )
    return bdd, cudd.and_exists


class Reachability:
    """One search."""

    def __init__(
        self,
        problem: ReachProblem,
        tell: Callable[[ReachProgress], None],
        report: Callable[[int, list[tuple[int, list[int]]]], bool],
    ) -> None:
        """`report` is told of a target that can hold: for each frame the part, or -1 in the last
        one, and the values of the inputs; it returns whether to go on."""
        self.problem, self.tell, self.report = problem, tell, report
        self.bdd, self.and_exists = open_diagrams(problem.most_bytes)
        self.state = [f"x{place}" for place in range(len(problem.first))]
        self.free = [f"i{place}" for place in range(problem.inputs)]
        self._declare()
        literals = self._build()
        self.parts = [self._make_part(part, literals) for part in problem.parts]
        self.targets = {
            place: (literals(literal), self._without_inputs(literals(literal)))
            for place, literal in enumerate(problem.targets)
        }
        self.conditions = [list(map(literals, each)) for each in problem.conditions]
        """By condition and part the transitions that meet it."""
        threads = dict.fromkeys(part.thread for part in problem.parts)
        self.turns = [
            [place for place, part in enumerate(problem.parts) if part.thread == thread]
            for thread in threads
        ]
        """The parts of each thread."""
        self.starts: list[PassStart] = []
        self.rings = 0
        values = zip(self.state, problem.first, strict=True)
        self.first = self.bdd.cube({name: bool(value) for name, value in values})
        self.reached = self.first

    @property
    def passes(self) -> int:
        """The passes that were begun, the last of which finds nothing."""
        return len(self.starts)

    # --- diagrams -----------------------------------------------------------------------------

    def _declare(self) -> None:
        """Declare the variables: a bit before and after a step side by side, and kept so."""
        many = len(self.state)
        for variable in self.problem.order:
            if variable <= many:
                place = variable - 1
                self.bdd.declare(f"x{place}", f"y{place}")
            else:
                self.bdd.declare(self.free[variable - 1 - many])
        if hasattr(self.bdd, "group"):
            for place in range(many):
                self.bdd.group({f"x{place}": 2})

    def _build(self) -> Callable[[int], Any]:
        """Make the diagrams of all conjunctions; returns the function from literals to them."""
        bdd = self.bdd
        made = [bdd.false, *map(bdd.var, self.state), *map(bdd.var, self.free)]

        def literal(number: int) -> Any:
            return ~made[number >> 1] if number & 1 else made[number >> 1]

        for first, second in self.problem.conjunctions:
            made.append(literal(first) & literal(second))
        return literal

    def _make_part(self, part: StepPart, literals: Callable[[int], Any]) -> DiagramPart:
        bdd = self.bdd
        conjuncts = [literals(part.guard)]
        for place, literal in part.changes:
            conjuncts.append(bdd.apply("<->", bdd.var(f"y{place}"), literals(literal)))
        relation = self._cluster(conjuncts)
        changed = [place for place, _ in part.changes]
        wanted = {f"x{place}" for place in changed} | set(self.free)
        clusters = self._forget_lone_inputs(relation)
        renaming = {f"y{place}": f"x{place}" for place in changed}
        return DiagramPart(clusters, self.schedule(clusters, wanted), renaming, changed, relation)

    def schedule(self, clusters: Sequence[Any], wanted: set[str]) -> list[list[str]]:
        """By cluster the variables, of those that are to be quantified, on which no later one
        depends."""
        supports = [set(self.bdd.support(each)) for each in clusters]
        left, quantified = set(wanted), []
        for place, support in enumerate(supports):
            later = set().union(*supports[place + 1 :])
            due = left - later if place == len(supports) - 1 else left & support - later
            left -= due
            quantified.append(sorted(due))
        return quantified

    def _cluster(self, conjuncts: Iterable[Any]) -> list[Any]:
        """Join conjuncts as long as what comes of it is small."""
        clusters: list[Any] = []
        for each in conjuncts:
            if clusters:
                joined = clusters[-1] & each
                if joined.dag_size <= MOST_NODES:
                    clusters[-1] = joined
                    continue
            clusters.append(each)
        return clusters

    def _forget_lone_inputs(self, clusters: list[Any]) -> list[Any]:
        """Quantify the inputs on which one cluster alone depends."""
        supports = [set(self.bdd.support(each)) & set(self.free) for each in clusters]
        found = []
        for place, each in enumerate(clusters):
            others = set().union(*(s for n, s in enumerate(supports) if n != place))
            lone = supports[place] - others
            found.append(self.bdd.exist(lone, each) if lone else each)
        return found

    def _without_inputs(self, diagram: Any) -> Any:
        inputs = set(self.bdd.support(diagram)) & set(self.free)
        return self.bdd.exist(inputs, diagram) if inputs else diagram

    def image(self, states: Any, part: DiagramPart) -> Any:
        """The states after a step of a part."""
        for cluster, due in zip(part.clusters, part.quantified, strict=True):
            states = self.and_exists(states, cluster, due) if due else states & cluster
            if states == self.bdd.false:
                return states
        return self.bdd.let(part.renaming, states) if part.renaming else states

    # --- the search ---------------------------------------------------------------------------

    def search(self) -> bool:
        """Find all reachable states; False where the report of a target ended it."""
        bdd = self.bdd
        if not self._look_at(self.first):
            return False
        frontier = self.first
        while frontier != bdd.false:
            self.tell(ReachProgress(self.passes, self.rings, self.reached.dag_size))
            start = PassStart(frontier, self.reached)
            self.starts.append(start)
            for ring in self.expand(start):
                self.rings += 1
                self.reached |= ring.states
                if not self._look_at(ring.states):
                    return False
            frontier = self.reached & ~start.reached
        return True

    def expand(self, start: PassStart) -> Iterator[Ring]:
        """What the images of a pass add, one after the other."""
        return self._take_turns(start) if self.problem.chained else self._step_once(start)

    def _step_once(self, start: PassStart) -> Iterator[Ring]:
        """Take one step from each state of the frontier."""
        frontier, reached = start
        for number, part in enumerate(self.parts):
            new = self.image(frontier, part) & ~reached
            if new != self.bdd.false:
                reached |= new
                yield Ring(number, new)

    def _take_turns(self, start: PassStart) -> Iterator[Ring]:
        """Let each thread in turn go on until it finds nothing more."""
        source, reached = start
        for numbers in self.turns:
            vain, places = 0, cycle(numbers)
            while vain < len(numbers):
                number = next(places)
                new = self.image(source, self.parts[number]) & ~reached
                if new == self.bdd.false:
                    vain += 1
                    continue
                vain = 0
                source |= new
                reached |= new
                yield Ring(number, new)

    def count(self) -> int:
        """The number of states found."""
        return int(self.bdd.count(self.reached, len(self.state)))

    # --- targets ------------------------------------------------------------------------------

    def _look_at(self, states: Any) -> bool:
        """Look for targets among states that were just found."""
        for place in list(self.targets):
            exact, anyhow = self.targets[place]
            hit = states & anyhow
            if hit == self.bdd.false:
                continue
            del self.targets[place]
            if not self.report(place, self._find_way(hit, exact)):
                return False
        return True

    def _find_way(self, hit: Any, target: Any) -> list[tuple[int, list[int]]]:
        """The parts, and the inputs, of the steps from the first state to one of the states that
        were just found, and the inputs with which the target holds there."""
        state = self.bdd.pick(hit, care_vars=set(self.state))
        return [*self.find_steps(state), (-1, self._pick_inputs(self.bdd.let(state, target)))]

    def pick_early(self, states: Any) -> dict[str, bool]:
        """One of some states, found in a pass as early as possible."""
        found = (start.reached & states for start in self.starts)
        early = next((each for each in found if each != self.bdd.false), states)
        return dict(self.bdd.pick(early, care_vars=set(self.state)))

    def find_steps(self, state: dict[str, bool]) -> list[tuple[int, list[int]]]:
        """The parts, and the inputs, of the steps from the first state to one that was found."""
        frames: list[tuple[int, list[int]]] = []
        for start in reversed(self.starts):
            if self.bdd.cube(state) & start.reached == self.bdd.false:
                state = self._go_back(state, start, frames)
        return frames[::-1]

    def _go_back(
        self, state: dict[str, bool], start: PassStart, frames: list[tuple[int, list[int]]]
    ) -> dict[str, bool]:
        """Go back from a state that a pass has found to one of its frontier."""
        bdd, names = self.bdd, set(self.state)
        rings = [Ring(-1, start.frontier)]
        here = bdd.cube(state)
        for ring in self.expand(start):
            rings.append(ring)
            if here & ring.states != bdd.false:
                break
        last = len(rings) - 1
        while last > 0:
            number = rings[last].part
            before = self._step_back(state, self.parts[number])
            last = next(n for n in range(last) if before & rings[n].states != bdd.false)
            states = self._without_inputs(before & rings[last].states)
            state = bdd.pick(states, care_vars=names)
            frames.append((number, self._pick_inputs(bdd.let(state, before))))
        return state

    def _step_back(self, state: dict[str, bool], part: DiagramPart) -> Any:
        """The states and inputs from which a part leads to a state."""
        moved = set(part.changed)
        after = {f"y{place}": state[f"x{place}"] for place in part.changed}
        same = {name: state[name] for place, name in enumerate(self.state) if place not in moved}
        found = self.bdd.true
        for cluster in part.relation:
            found &= self.bdd.let(after | same, cluster)
        return found & self.bdd.cube(same)

    def _pick_inputs(self, diagram: Any) -> list[int]:
        values = self.bdd.pick(diagram)
        return [int(values.get(name, False)) for name in self.free]
