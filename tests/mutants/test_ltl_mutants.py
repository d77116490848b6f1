"""Deliberately broken checks of temporal formulas: each gives a wrong answer somewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from mazurka.errors import InternalError
from mazurka.ltl import automata, fairness
from mazurka.ltl.automata import BuchiAutomaton, GeneralizedAutomaton
from mazurka.ltl.fairness import Abilities, RunCondition
from mazurka.ltl.parsing import parse_formula
from mazurka.ltl.propositions import ProgramNames
from mazurka.stateful.searches import nested
from mazurka.symbolic.graphs.graph import FALSE
from mazurka.symbolic.solving.diagrams import AllStates, DiagramSolver, TargetFound
from mazurka.symbolic.solving.fair_cycles import FairCycles, PartBefore
from mazurka.symbolic.solving.reachability import Reachability, ReachProblem, ReachProgress
from mazurka.symbolic.temporal import runs, searches
from mazurka.symbolic.temporal.loops import LoopCircuit, close_loops
from mazurka.symbolic.temporal.runs import FairRuns, _Runs
from mazurka.symbolic.unrolling import Unroller
from tests.soundness.ltl_agreement import NESTED, search_by
from tests.soundness.test_ltl import CASES, program_of

find_conditions, degeneralize, translate = (
    fairness.find_conditions,
    automata.degeneralize,
    automata.translate,
)


def lose_a_fairness_set(*args: Any, **keywords: Any) -> tuple[RunCondition, ...]:
    return find_conditions(*args, **keywords)[:-1]


def forget_assumptions(*args: Any, **keywords: Any) -> tuple[RunCondition, ...]:
    return tuple(each for each in find_conditions(*args, **keywords) if each.fair)


def miss_accepting_states(automaton: GeneralizedAutomaton) -> BuchiAutomaton:
    found = degeneralize(automaton)
    return replace(found, accepting=frozenset(sorted(found.accepting)[1:]))


def accept_everywhere(automaton: GeneralizedAutomaton) -> BuchiAutomaton:
    found = degeneralize(automaton)
    return replace(found, accepting=frozenset(range(len(found.transitions))))


def drop_the_negation(formula: Any) -> GeneralizedAutomaton:
    return translate(formula.operands[0])


def find_wrong(strategy: str = NESTED) -> str | None:
    """A case whose answer is wrong, or that the interpreter does not confirm."""
    for model, text, fair, holds in CASES:
        program = program_of(model)
        try:
            formula = parse_formula(text, ProgramNames(program))
            found = search_by(strategy, program, formula, fair=fair)
            if (found.violation is None) is not holds:
                return text
        except (InternalError, AssertionError):
            return text
    return None


MUTANTS: dict[str, tuple[str, Callable[..., Any]]] = {
    "a fairness set is lost": ("find_conditions", lose_a_fairness_set),
    "runs that an assumption stops count": ("find_conditions", forget_assumptions),
    "an accepting state is missed": ("degeneralize", miss_accepting_states),
    "every state is accepting": ("degeneralize", accept_everywhere),
    "the formula is not negated": ("translate", drop_the_negation),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_are_detected(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nested, *MUTANTS[mutant])

    assert find_wrong() is not None


def accept_what_came_before_the_loop(given: FairRuns) -> LoopCircuit:
    """Conditions count that were met before the loop began."""
    made = close_loops(given)
    met, graph = len(given.justice), made.graph
    nexts = list(made.nexts)
    for number, literal in enumerate(given.justice, len(nexts) - met):
        latch = made.latches[number].literal
        nexts[number] = graph.either(latch, graph.both(made.constraint, literal))
    return replace(made, nexts=tuple(nexts))


def close_loops_anywhere(given: FairRuns) -> LoopCircuit:
    """The state at the end of a loop may be another one than at its beginning."""
    made = close_loops(given)
    met = [latch.literal for latch in made.latches[len(made.latches) - len(given.justice) :]]
    begun = made.latches[len(made.bits.latches)].literal
    return replace(made, bad={"ltl": made.graph.every([begun, *met])})


def end_runs_without_staying(self: _Runs) -> FairRuns:
    """A run in which nobody can move any more is no run."""
    made = encode_transition(self)
    moves = [e.literal for e in made.circuit.events if e.fault is None and e.thread != made.claim]
    some = made.circuit.graph.some(moves)
    constraint = made.circuit.graph.both(made.circuit.constraint, some)
    return replace(made, circuit=replace(made.circuit, constraint=constraint))


SYMBOLIC_MUTANTS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "a fairness set is lost": (runs, "find_conditions", lose_a_fairness_set),
    "runs that an assumption stops count": (runs, "find_conditions", forget_assumptions),
    "an accepting state is missed": (runs, "degeneralize", miss_accepting_states),
    "what held before the loop counts": (
        searches, "close_loops", accept_what_came_before_the_loop,
    ),
    "a loop need not lead back": (searches, "close_loops", close_loops_anywhere),
    "a run that ends is none": (_Runs, "encode", end_runs_without_staying),
}  # fmt: skip
encode_transition = _Runs.encode


@pytest.mark.parametrize("mutant", SYMBOLIC_MUTANTS)
def test_mutants_of_the_symbolic_engine_are_detected(
    mutant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*SYMBOLIC_MUTANTS[mutant])

    assert find_wrong("pdr") is not None


def end_where_runs_rest(given: FairRuns) -> LoopCircuit:
    """What the automaton does behind the last move of the program is not looked at."""
    made = close_loops(given)
    return replace(made, rest=made.rest._replace(tail=0))


def take_moves_for_rest(given: FairRuns) -> LoopCircuit:
    """Runs count as come to rest from the beginning."""
    made = close_loops(given)
    return replace(made, rest=made.rest._replace(moving=FALSE))


def copy_less(self: Unroller, *given: Any, **named: Any) -> None:
    """Frames have no copy of what tells whether somebody moves."""
    make_unroller(self, *given, **(named | {"others": ()}))


make_unroller = Unroller.__init__
REST_MUTANTS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "a run is not followed where it rests": (searches, "close_loops", end_where_runs_rest),
    "a run that moves counts as resting": (searches, "close_loops", take_moves_for_rest),
    "what moves is no part of frames": (Unroller, "__init__", copy_less),
}


@pytest.mark.parametrize("mutant", [None, *REST_MUTANTS])
def test_mutants_of_runs_that_rest_are_detected(
    mutant: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if mutant is not None:
        monkeypatch.setattr(*REST_MUTANTS[mutant])

    assert (find_wrong("bmc") is None) is (mutant is None)


def reach_here(
    solver: DiagramSolver,
    problem: ReachProblem,
    tell: Callable[[ReachProgress], None],
    report: Callable[[TargetFound], bool],
) -> AllStates | None:
    """The search with decision diagrams in this process, where it can be broken."""
    search = Reachability(problem, tell, lambda target, frames: report(TargetFound(target, frames)))
    if not search.search():
        return None
    return AllStates(search.count(), search.passes, FairCycles(search, lambda _: None).find())


def lose_a_condition(self: FairCycles, *args: Any) -> None:
    make_cycles(self, *args)
    del self.meeting[-1]


def stop_at_the_first_hull(self: FairCycles) -> Any:
    """Each condition can be met once more, but not for ever."""
    reached = hull = self.reach.reached
    for condition in range(len(self.meeting)):
        for ring in self.go_back(self.predecessors(reached, condition) & reached, reached):
            hull |= ring
    return hull


def meet_always_or_never(self: FairCycles, condition: int) -> list[PartBefore]:
    """A part some of whose transitions meet a condition counts as if none did."""
    return [part for part in find_meeting(self, condition) if part in self.plain]


def leave_a_loop_open(self: FairCycles, *args: Any) -> dict[str, bool]:
    """The way back is cut short."""
    state, rings, way = args
    return walk(self, state, rings[1:], way) if len(rings) > 1 else walk(self, *args)


make_cycles, walk, find_meeting = FairCycles.__init__, FairCycles._walk, FairCycles._find_meeting
DIAGRAM_MUTANTS: dict[str, tuple[str, Callable[..., Any]]] = {
    "a condition of a fair cycle is lost": ("__init__", lose_a_condition),
    "what can be met once is met for ever": ("find_hull", stop_at_the_first_hull),
    "transitions that meet a condition by a choice are missed": (
        "_find_meeting", meet_always_or_never,
    ),
    "a fair cycle ends before it is closed": ("_walk", leave_a_loop_open),
}  # fmt: skip


@pytest.mark.parametrize("mutant", [None, *DIAGRAM_MUTANTS])
def test_mutants_of_fair_cycles_are_detected(
    mutant: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DiagramSolver, "reach", reach_here)
    if mutant is not None:
        monkeypatch.setattr(FairCycles, *DIAGRAM_MUTANTS[mutant])

    assert (find_wrong("bdd") is None) is (mutant is None)


def test_without_a_mutant_all_is_right() -> None:
    assert find_wrong() is None


def test_a_thread_that_cannot_move_is_treated_fairly() -> None:
    condition = RunCondition(1, fair=True)

    assert Abilities(frozenset({0}), frozenset()).meet(condition, 0)
    assert not Abilities(frozenset({0, 1}), frozenset()).meet(condition, 0)
