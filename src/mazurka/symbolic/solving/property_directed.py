"""Property-directed reachability: an inductive invariant that excludes what is bad, or a way to it.

Bradley, *SAT-Based Model Checking without Unrolling* (VMCAI 2011: IC3); Eén, Mishchenko, Brayton,
*Efficient Implementation of Property Directed Reachability* (FMCAD 2011: PDR).

| paper | here |
|---|---|
| F_0, ..., F_N | `frame_literals(k)`: the first state for 0, else the clauses of levels >= k |
| cube, and its negation, a clause | a frozen set of literals of latches |
| proof obligation (s, k) | `Obligation` |
| relative induction: F_k and not s and T and s' | `find_step_into` |
| generalization (MIC) | `generalize`, by unsatisfiable cores and by dropping literals |
| lifting | `lift`, by an unsatisfiable core |
| propagation | `push_clauses` |

**What is kept true.**  Every F_k contains the first state; F_k implies F_(k+1); every step from F_k
ends in F_(k+1); and F_k excludes `bad` for k < N.  So F_k contains what is reachable in k steps.  A
clause is added to F_1, ..., F_k only if the first state satisfies it (`meets_first`) and no step
from a state of F_(k-1) that satisfies it violates it (`find_step_into`).  If all clauses of a level
k have been pushed, F_k equals F_(k+1): it is an inductive invariant.

*Deviations.*  There is one first state, so that whether a cube contains it is a matter of sets.
The next state is a function of state and inputs, and every frame is a transition, so that a state
can be lifted by the core of `state and inputs and not target'`.  One solver answers for all levels,
and another one, without their clauses, for lifting.

The solver's process (`mazurka.symbolic.solving.process`) imports this file and little else of
Mazurka.  It is not trusted: whoever gets an invariant from it checks it
(`mazurka.symbolic.invariants`), and a way to what is bad is followed on the interpreter.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

Cube: TypeAlias = frozenset[int]

SOLVER = "cadical195"
MOST_TEMPORARY = 2000
"""After so many clauses for one question each, the solver begins afresh."""
QUERIES_A_REPORT = 200
EMPTY = 0
"""Stands for a literal where a cube has none: no state is left then."""
FAILURES_IN_A_ROW = 12
"""`generalize` gives up when it could not drop so many literals, one after the other."""


class Problem(NamedTuple):
    """A transition relation as clauses, and what is bad; literals are those of a solver."""

    bad: int
    state: list[int]
    """The variables of the latches."""
    first: list[int]
    """By latch 1 or 0: what it is in the first state."""
    nexts: list[int]
    """By latch the literal that it takes."""
    inputs: list[int]
    clauses: list[int]
    """Each ended by 0; those that are known to hold of every reachable state among them, which must
    be inductive by themselves."""
    most_queries: int = 0
    """After so many questions the search gives up; 0: never."""

    def to_numbers(self) -> list[int]:
        sizes = [len(self.state), len(self.inputs), self.bad, self.most_queries]
        return [*sizes, *self.state, *self.first, *self.nexts, *self.inputs, *self.clauses]

    @classmethod
    def from_numbers(cls, numbers: Sequence[int]) -> Problem:
        latches, inputs, bad, most = numbers[:4]
        starts = [4 + times * latches for times in range(4)]
        state, first, nexts = (list(numbers[start : start + latches]) for start in starts[:3])
        rest = starts[3] + inputs
        free, clauses = list(numbers[starts[3] : rest]), list(numbers[rest:])
        return cls(bad, state, first, nexts, free, clauses, most)


class Reached(NamedTuple):
    """A way to what is bad: the values of the inputs, transition by transition."""

    frames: list[list[int]]


class Proved(NamedTuple):
    """An inductive invariant: no state is in any of these cubes.  A literal of a cube is the number
    of a latch, from 1 on, negative where it is 0."""

    cubes: list[list[int]]


class Undecided(NamedTuple):
    """The search has asked as many questions as it was allowed to."""

    frames: int


class Progress(NamedTuple):
    """No way of so many transitions leads to what is bad; clauses learned; questions asked."""

    frames: int
    clauses: int
    queries: int


class Obligation(NamedTuple):
    """States from which the inputs lead to the cube of `then`, or to what is bad.  No step may lead
    into them from F_(level - 1)."""

    level: int
    order: int
    cube: Cube
    inputs: list[int]
    then: Obligation | None


class _GivenUpError(Exception):
    """As many questions as allowed have been asked."""


class PropertyDirected:
    """One search."""

    def __init__(
        self, problem: Problem, report: Callable[[Progress], None] = lambda progress: None
    ) -> None:
        self.problem, self.report = problem, report
        self.first = {
            variable if value else -variable
            for variable, value in zip(problem.state, problem.first, strict=True)
        }
        self.sorted_first = sorted(self.first, key=abs)
        self.primed: dict[int, int] = {}
        """By literal of a latch the literal that says the same of the next state."""
        for variable, taken in zip(problem.state, problem.nexts, strict=True):
            self.primed[variable], self.primed[-variable] = taken, -taken
        self.levels: list[dict[Cube, None]] = [{}, {}]
        """By level the cubes that F_1, ..., F_level exclude and no later one does."""
        self.cubes = CubeIndex()
        """The same cubes, by their literals."""
        self.activity = dict.fromkeys(problem.state, 0)
        self.queries = 0
        self.covered = 0
        self.steps, self.lifting = _Questions(problem), _Questions(problem)
        self.activations: list[int] = []
        self._load_levels()

    # --- solvers ------------------------------------------------------------------------------

    def _load_levels(self) -> None:
        self.activations = [self.steps.new_variable() for _ in self.levels]
        for level, cubes in enumerate(self.levels):
            for cube in cubes:
                self._add_clause(cube, level)

    def _add_clause(self, cube: Cube, level: int) -> None:
        self.steps.add([-self.activations[level], *(-literal for literal in cube)])

    def tidy(self) -> None:
        """Begin afresh with solvers that are full of clauses for earlier questions."""
        if self.steps.temporary > MOST_TEMPORARY:
            self.steps.restart()
            self._load_levels()
        if self.lifting.temporary > MOST_TEMPORARY:
            self.lifting.restart()

    def ask(self, assumptions: Sequence[int]) -> bool:
        self.queries += 1
        if self.queries % QUERIES_A_REPORT == 0:
            self.tell()
        if 0 < self.problem.most_queries < self.queries:
            raise _GivenUpError
        return self.steps.solve(assumptions)

    def tell(self) -> None:
        self.report(Progress(self.covered, sum(map(len, self.levels)), self.queries))

    def frame_literals(self, level: int) -> list[int]:
        """What is assumed of a state of F_level."""
        return self.sorted_first if level == 0 else self.activations[level:]

    # --- questions ----------------------------------------------------------------------------

    def meets_first(self, cube: Iterable[int]) -> bool:
        """Whether the first state is in a cube: then it must not be excluded."""
        return all(literal in self.first for literal in cube)

    def find_step_into(self, cube: Cube, level: int, *, keep_model: bool = False) -> Cube | None:
        """None if a step leads from a state of F_level outside a cube into it.  Else a part of the
        cube that is as unreachable."""
        outside = self.steps.add_temporary([-literal for literal in cube])
        targets = {self.primed[literal]: literal for literal in cube}
        found = self.ask([outside, *self.frame_literals(level), *targets])
        core = None if found else frozenset(self._find_failed(cube))
        if found and keep_model:
            self.steps.keep_model()
        self.steps.drop_temporary(outside)
        return core

    def _find_failed(self, cube: Cube) -> list[int]:
        failed = self.steps.find_core()
        return [literal for literal in cube if self.primed[literal] in failed]

    def lift(self, targets: Sequence[int]) -> tuple[Cube, list[int]]:
        """States, that of the model among them, from which its inputs lead to the targets."""
        state = self.steps.restrict(self.problem.state)
        inputs = self.steps.restrict(self.problem.inputs)
        missed = self.lifting.add_temporary([-literal for literal in targets])
        found = self.lifting.solve([missed, *inputs, *state])
        failed = set(state) if found else self.lifting.find_core()
        self.lifting.drop_temporary(missed)
        return frozenset(literal for literal in state if literal in failed), inputs

    # --- clauses ------------------------------------------------------------------------------

    def keep_off_first(self, core: Cube, cube: Cube) -> Cube:
        """Add a literal of the cube to its part where that would contain the first state."""
        if not self.meets_first(core):
            return core
        return core | {next(literal for literal in cube if literal not in self.first)}

    def generalize(self, cube: Cube, level: int) -> Cube:
        """Drop literals as long as no step from F_level outside the rest leads into it."""
        failures = 0
        for literal in sorted(cube, key=lambda literal: (self.activity[abs(literal)], literal)):
            if literal not in cube or len(cube) == 1:
                continue
            smaller = cube - {literal}
            if self.meets_first(smaller):
                continue
            core = self.find_step_into(smaller, level)
            if core is not None:
                cube, failures = self.keep_off_first(core, smaller), 0
            else:
                failures += 1
                if failures > FAILURES_IN_A_ROW:
                    break
        return cube

    def exclude(self, cube: Cube, level: int) -> None:
        """Exclude a cube from F_1, ..., F_level."""
        for old in self.cubes.find_larger(cube, level):
            del self.levels[self.cubes.remove(old)][old]
        self.levels[level][cube] = None
        self.cubes.add(cube, level)
        self._add_clause(cube, level)
        for literal in cube:
            self.activity[abs(literal)] += 1

    def is_excluded(self, cube: Cube, level: int) -> bool:
        return self.cubes.has_smaller(cube, level)

    # --- the search ---------------------------------------------------------------------------

    def search(self) -> Reached | Proved | Undecided:
        """Look at frame after frame, until one is an invariant or a way is found."""
        try:
            return self._search()
        except _GivenUpError:
            return Undecided(self.covered)

    def _search(self) -> Reached | Proved:
        if self.ask([*self.frame_literals(0), self.problem.bad]):
            self.steps.keep_model()
            return Reached([[int(each > 0) for each in self.steps.restrict(self.problem.inputs)]])
        while True:
            top = len(self.levels) - 1
            while self.ask([*self.frame_literals(top), self.problem.bad]):
                self.steps.keep_model()
                cube, inputs = self.lift([self.problem.bad])
                found = self.discharge(Obligation(top, 0, cube, inputs, None))
                if found is not None:
                    return found
            self.covered = top
            self.tell()
            level = self.push_clauses()
            if level is not None:
                cubes = [cube for later in self.levels[level + 1 :] for cube in later]
                return Proved([self._number(cube) for cube in cubes])

    def discharge(self, obligation: Obligation) -> Reached | None:
        """Exclude a cube from its frame, and before it all from which it can be reached."""
        queue, top, order = [obligation], len(self.levels) - 1, 0
        while queue:
            self.tidy()
            now = heapq.heappop(queue)
            level, cube = now.level, now.cube
            if self.meets_first(cube):
                return Reached(self._read_way(now))
            if self.is_excluded(cube, level):
                continue
            core = self.find_step_into(cube, level - 1, keep_model=True)
            order += 1
            if core is None:
                before, inputs = self.lift([self.primed[literal] for literal in cube])
                heapq.heappush(queue, Obligation(level - 1, order, before, inputs, now))
                heapq.heappush(queue, now._replace(order=-order))
                continue
            small = self.generalize(self.keep_off_first(core, cube), level - 1)
            while level < top and self.find_step_into(small, level) is not None:
                level += 1
            self.exclude(small, level)
            if level < top:
                heapq.heappush(queue, now._replace(level=level + 1, order=order))
        return None

    def push_clauses(self) -> int | None:
        """Open a level, and move clauses up where steps from their frame keep them; returns a level
        all of whose clauses have moved."""
        self.levels.append({})
        self.activations.append(self.steps.new_variable())
        for level in range(1, len(self.levels) - 1):
            for cube in sorted(self.levels[level], key=len):
                if cube in self.levels[level] and self.stays_out(cube, level):
                    self.exclude(cube, level + 1)
            if not self.levels[level]:
                return level
        return None

    def stays_out(self, cube: Cube, level: int) -> bool:
        """Whether no step from F_level, which excludes the cube, leads into it."""
        targets = [self.primed[literal] for literal in cube]
        return not self.ask([*self.frame_literals(level), *targets])

    def _read_way(self, obligation: Obligation | None) -> list[list[int]]:
        frames = []
        while obligation is not None:
            frames.append([int(each > 0) for each in obligation.inputs])
            obligation = obligation.then
        return frames

    def _number(self, cube: Cube) -> list[int]:
        latches = {variable: number for number, variable in enumerate(self.problem.state, 1)}
        return sorted(
            (latches[abs(each)] if each > 0 else -latches[abs(each)] for each in cube), key=abs
        )


class CubeIndex:
    """Cubes with their levels, to be found by their literals: there may be thousands, and each new
    one is compared with all that could contain it, or be contained in it."""

    def __init__(self) -> None:
        self.level_of: dict[Cube, int] = {}
        self.containing: dict[int, set[Cube]] = {}
        """By literal the cubes with it."""
        self.named: dict[int, set[Cube]] = {}
        """By literal some of these: each cube stands under one of its literals."""
        self.name: dict[Cube, int] = {}

    def add(self, cube: Cube, level: int) -> None:
        """Add a cube that is not there: one that a later level has is not excluded again."""
        assert cube not in self.level_of
        for literal in cube:
            self.containing.setdefault(literal, set()).add(cube)
        self.level_of[cube] = level
        self.name[cube] = name = self._find_rarest(cube)
        self.named.setdefault(name, set()).add(cube)

    def remove(self, cube: Cube) -> int:
        """Forget a cube; returns its level."""
        for literal in cube:
            self.containing[literal].discard(cube)
        self.named[self.name.pop(cube)].discard(cube)
        return self.level_of.pop(cube)

    def find_larger(self, cube: Cube, level: int) -> list[Cube]:
        """The cubes of levels up to this one that contain all literals of a cube."""
        known = self.containing.get(self._find_rarest(cube), ()) if cube else self.level_of
        return [old for old in known if self.level_of[old] <= level and cube <= old]

    def has_smaller(self, cube: Cube, level: int) -> bool:
        """Whether all literals of a cube of this level, or of a later one, are in this one."""
        return any(
            old <= cube and self.level_of[old] >= level
            for literal in (EMPTY, *cube)
            for old in self.named.get(literal, ())
        )

    def _find_rarest(self, cube: Cube) -> int:
        """The literal of a cube that fewest cubes have."""
        many = self.containing
        return min(cube, key=lambda each: (len(many.get(each, ())), each), default=EMPTY)


class _Questions:
    """A solver with the relation in it, clauses for one question, and the model of the last."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        named = (problem.clauses, problem.state, problem.inputs)
        self.variables = max((abs(each) for part in named for each in part), default=1)
        self.solver: Any = None
        self.model: list[int] = []
        self.temporary = 0
        self.restart()

    def restart(self) -> None:
        from pysat.solvers import Solver

        if self.solver is not None:
            self.solver.delete()
        self.solver, self.temporary = Solver(name=SOLVER), 0
        self.last = self.variables
        clauses, start = self.problem.clauses, 0
        while start < len(clauses):
            end = clauses.index(0, start)
            self.solver.add_clause(clauses[start:end])
            start = end + 1

    def new_variable(self) -> int:
        self.last += 1
        return self.last

    def add(self, clause: list[int]) -> None:
        self.solver.add_clause(clause)

    def add_temporary(self, clause: list[int]) -> int:
        """Add a clause that holds where the literal returned is assumed."""
        self.temporary += 1
        active = self.new_variable()
        self.solver.add_clause([-active, *clause])
        return active

    def drop_temporary(self, active: int) -> None:
        self.solver.add_clause([-active])

    def solve(self, assumptions: Sequence[int]) -> bool:
        return bool(self.solver.solve(assumptions=assumptions))

    def keep_model(self) -> None:
        self.model = self.solver.get_model()

    def restrict(self, variables: Sequence[int]) -> list[int]:
        """The literals of variables that hold in the model; those that do not occur are false."""
        model = self.model
        return [v if v <= len(model) and model[v - 1] > 0 else -v for v in variables]

    def find_core(self) -> set[int]:
        """Assumptions that cannot hold together."""
        return set(self.solver.get_core() or ())
