"""Fair cycles among the reachable states: a run that meets every condition again and again.

Emerson, Lei, *Efficient Model Checking in Fragments of the Propositional Mu-Calculus* (LICS 1986);
Clarke, Grumberg, McMillan, Zhao, *Efficient Generation of Counterexamples and Witnesses in Symbolic
Model Checking* (DAC 1995).  This file runs in the process of `mazurka.symbolic.solving.process`.

*The hull.*  A condition is a set of transitions.  The hull is the greatest set Z of reachable
states in which, for each condition J_j, every state can go on inside Z to a transition of J_j whose
end is in Z:

    Z = νZ. reached ∧ ⋀_j  μY. pre_j(Z) ∨ (Z ∧ pre(Y))

**Theorem.**  There is an infinite path from the first state that meets every condition infinitely
often if and only if the hull is not empty.

*Proof.*  From a state of the hull a path leads inside of it to a transition of J_1, from there to
one of J_2, and so on, for ever.  Conversely, the states that such a path visits infinitely often
are reachable, and each of them leads, through others of them, to a transition of each J_j that the
path takes infinitely often: so they are contained in the greatest such set.

*The lasso.*  Go to a state s of the hull, then to a transition of each condition in turn, always by
rings around it.  If s can be reached again from there inside the hull, the loop is closed.  If not,
begin anew where the way has led: it has left the component of s for ever, and there are finitely
many components.

| symbol | here |
|---|---|
| pre(S), pre_j(S) | `FairCycles.predecessors(S)`, `FairCycles.predecessors(S, j)` |
| μY | `FairCycles.go_back` |
| νZ | `FairCycles.find_hull` |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from mazurka.symbolic.solving.reachability import DiagramPart, Reachability

FrameInputs: TypeAlias = "tuple[int, list[int]]"
"""The part of a transition, and the values of its inputs."""


class LassoFrames(NamedTuple):
    """Transitions from the first state; those from `loop` on lead back to where they begin."""

    frames: list[FrameInputs]
    loop: int


class PartBefore(NamedTuple):
    """One part of the relation for the way back."""

    clusters: list[Any]
    quantified: list[list[str]]
    renaming: dict[str, str]
    """From the bits before a step to those after, where they change."""


class FairCycles:
    """Looks for a fair cycle when all reachable states are known."""

    def __init__(self, reach: Reachability, tell: Callable[[int], None]) -> None:
        """`tell` is called with the size of the hull's diagram, as long as that shrinks."""
        self.reach, self.bdd, self.tell = reach, reach.bdd, tell
        self.plain = [self._turn(part, part.clusters) for part in reach.parts]
        self.meeting = [self._find_meeting(number) for number in range(len(reach.conditions))]
        """By condition the parts of its transitions, with the numbers of their parts."""

    # --- predecessors ---------------------------------------------------------------------------

    def _turn(self, part: DiagramPart, clusters: list[Any]) -> PartBefore:
        after = {f"x{place}": f"y{place}" for place in part.changed}
        wanted = set(after.values()) | set(self.reach.free)
        return PartBefore(clusters, self.reach.schedule(clusters, wanted), after)

    def _find_meeting(self, condition: int) -> list[PartBefore]:
        """The parts of a condition's transitions; a part that always meets it is taken as it is."""
        found = []
        for number, part in enumerate(self.reach.parts):
            meets = self.reach.conditions[condition][number]
            guard = self.bdd.true
            for cluster in part.relation:
                guard &= self._without_ends(cluster)
            if guard & ~meets == self.bdd.false:
                found.append(self.plain[number])
            elif guard & meets != self.bdd.false:
                found.append(self._turn(part, [*part.relation, meets]))
        return found

    def _without_ends(self, cluster: Any) -> Any:
        """A cluster without what it says of bits after the step."""
        ends = {name for name in self.bdd.support(cluster) if name.startswith("y")}
        return self.bdd.exist(ends, cluster) if ends else cluster

    def predecessors(self, states: Any, condition: int | None = None) -> Any:
        """The states from which a transition, one of a condition, leads to one of the states."""
        parts = self.plain if condition is None else self.meeting[condition]
        found = self.bdd.false
        for part in parts:
            found |= self._step_before(states, part)
        return found

    def _step_before(self, states: Any, part: PartBefore) -> Any:
        if part.renaming:
            states = self.bdd.let(part.renaming, states)
        for cluster, due in zip(part.clusters, part.quantified, strict=True):
            states = self.reach.and_exists(states, cluster, due) if due else states & cluster
            if states == self.bdd.false:
                break
        return states

    def go_back(self, goal: Any, inside: Any, until: Any = None) -> list[Any]:
        """The states that lead to a goal, as rings: in so many transitions, inside a set.  The last
        ring is the first that meets `until`, where that is given."""
        rings, seen = [goal], goal
        while rings[-1] != self.bdd.false:
            if until is not None and rings[-1] & until != self.bdd.false:
                return rings
            rings.append(self.predecessors(rings[-1]) & inside & ~seen)
            seen |= rings[-1]
        return rings

    # --- the hull -------------------------------------------------------------------------------

    def find_hull(self) -> Any:
        """The states that can meet every condition for ever, inside of which that is possible."""
        hull, before = self.reach.reached, None
        while hull not in (before, self.bdd.false):
            before = hull
            for condition in range(len(self.meeting)):
                self.tell(hull.dag_size)
                goal = self.predecessors(hull, condition) & hull
                kept = self.bdd.false
                for ring in self.go_back(goal, hull):
                    kept |= ring
                hull = kept
        return hull

    # --- the lasso ------------------------------------------------------------------------------

    def find(self) -> LassoFrames | None:
        """A lasso that meets all conditions in its loop; None where there is none."""
        hull = self.find_hull()
        if hull == self.bdd.false:
            return None
        state = self.reach.pick_early(hull)
        frames = self.reach.find_steps(state)
        while True:
            start, way = state, list[FrameInputs]()
            for condition in range(len(self.meeting)):
                state = self._walk_to_condition(state, condition, hull, way)
            here, there = self.bdd.cube(state), self.bdd.cube(start)
            rings = self.go_back(there, hull, until=here)
            if rings[-1] != self.bdd.false:
                self._walk(state, rings, way)
                return LassoFrames([*frames, *way], len(frames))
            frames += way

    def _walk_to_condition(
        self, state: dict[str, bool], condition: int, hull: Any, way: list[FrameInputs]
    ) -> dict[str, bool]:
        """Walk inside the hull through a transition of a condition; returns the state behind it."""
        goal = self.predecessors(hull, condition) & hull
        rings = self.go_back(goal, hull, until=self.bdd.cube(state))
        state = self._walk(state, rings, way)
        return self._step(state, hull, way, self.reach.conditions[condition])

    def _walk(
        self, state: dict[str, bool], rings: Sequence[Any], way: list[FrameInputs]
    ) -> dict[str, bool]:
        """Walk from the last of some rings to the first."""
        for ring in reversed(rings[:-1]):
            state = self._step(state, ring, way)
        return state

    def _step(
        self,
        state: dict[str, bool],
        goal: Any,
        way: list[FrameInputs],
        meets: Sequence[Any] | None = None,
    ) -> dict[str, bool]:
        """Take a transition into a set, one that meets a condition if that is given (by part)."""
        for number, part in enumerate(self.reach.parts):
            taken = self.bdd.true if meets is None else self.bdd.let(state, meets[number])
            for cluster in part.relation:
                taken &= self.bdd.let(state, cluster)
            if taken == self.bdd.false:
                continue
            moved = {f"x{place}" for place in part.changed}
            ends = self.bdd.let({name: x for name, x in state.items() if name not in moved}, goal)
            if part.changed:
                ends = self.bdd.let({f"x{place}": f"y{place}" for place in part.changed}, ends)
            taken &= ends
            if taken == self.bdd.false:
                continue
            wanted = {*self.reach.free, *(f"y{place}" for place in part.changed)}
            values = self.bdd.pick(taken, care_vars=wanted)
            way.append((number, [int(values[name]) for name in self.reach.free]))
            return state | {f"x{place}": values[f"y{place}"] for place in part.changed}
        raise AssertionError("a state of a ring leads to the ring before it")
