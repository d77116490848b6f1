"""Temporal formulas on the reference interpreter: the product in full, and its components.

A state of the product is a state of the program and a state of the automaton for the negated
formula, which is the one with several acceptance sets (`mazurka.ltl.automata.translate`).  A step
of the product is a transition of the automaton that the program's state allows, together with a
step of the program; where no thread can move, the program stays.  Each step has marks: the
acceptance sets of the transition, and the conditions for runs that it meets
(`mazurka.ltl.fairness`).

**Theorem.**  The formula is violated by a run that counts if and only if some strongly connected
component of the product that can be reached has a step of each mark inside it.

*Proof.*  A run that violates the formula is accepted by the automaton, so there is a path of the
product that has each mark infinitely often.  The states that it visits infinitely often lie in one
component, and from some point on all its steps do.  Conversely, a cycle through the component that
takes one step of each mark, repeated, is such a path, after a path that leads to it.

This is slow and plain.  The search that is fast (`mazurka.stateful.searches.nested`) is compared
with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from mazurka.ir.expressions import Expr
from mazurka.ir.interpreter import Interpreter, State
from mazurka.ir.program import Program
from mazurka.ir.remembering import share_interpreter
from mazurka.ltl.automata import translate
from mazurka.ltl.fairness import Abilities, find_abilities, find_conditions
from mazurka.ltl.formulas import Formula, negation

Pair: TypeAlias = tuple[State, int]


@dataclass(frozen=True, slots=True)
class MarkedStep:
    target: Pair
    mover: int | None
    marks: frozenset[int]


@dataclass
class LtlAnswer:
    """What is true of a formula, or the faults that come first."""

    violated: bool = False
    faults: set[str] = field(default_factory=set)
    states: int = 0
    """States of the product."""


class _Product:
    def __init__(self, program: Program, formula: Formula, *, fair: bool) -> None:
        self.program = program
        self.interpreter: Interpreter = share_interpreter(program)
        self.automaton = translate(negation(formula))
        self.conditions = find_conditions(program, fair=fair)
        self.sets = self.automaton.sets + len(self.conditions)
        self.faults: set[str] = set()
        self.known: dict[State, list[tuple[int | None, State]]] = {}
        self.abilities: dict[State, Abilities] = {}

    def holds(self, state: State, proposition: Expr) -> bool:
        return bool(self.interpreter.value(state, 0, proposition))

    def moves(self, state: State) -> list[tuple[int | None, State]]:
        """The steps of the program from a state, or its staying there."""
        if state not in self.known:
            found: list[tuple[int | None, State]] = []
            for number, thread in enumerate(self.program.threads):
                if thread.observer:
                    continue
                for _, step in self.interpreter.steps_of(state, number):
                    if step.fault is not None:
                        self.faults.add(str(step.fault.fault))
                    elif step.happened:
                        found.append((number, step.state))
            self.abilities[state] = find_abilities(self.interpreter, state)
            if not self.abilities[state].able:
                found.append((None, state))
            self.known[state] = found
        return self.known[state]

    def steps(self, pair: Pair) -> list[MarkedStep]:
        state, place = pair
        found = []
        for transition in self.automaton.transitions[place]:
            if not all(self.holds(state, each) is sign for each, sign in transition.letter):
                continue
            for mover, target in self.moves(state):
                met = {
                    self.automaton.sets + number
                    for number, condition in enumerate(self.conditions)
                    if self.abilities[state].meet(condition, mover)
                }
                found.append(MarkedStep((target, transition.target), mover, transition.marks | met))
        return found


def check_formula(program: Program, formula: Formula, *, fair: bool = False) -> LtlAnswer:
    """Say whether a run violates the formula, and which faults there are.

    Steps that fail do not belong to runs; a program that has some may not be said to satisfy
    anything.
    """
    product = _Product(program, formula, fair=fair)
    start = (program.initial_state(), 0)
    graph: dict[Pair, list[MarkedStep]] = {}
    waiting = [start]
    while waiting:
        pair = waiting.pop()
        if pair not in graph:
            graph[pair] = product.steps(pair)
            waiting.extend(step.target for step in graph[pair])
    seen_states = {program.initial_state()}
    plain = [program.initial_state()]
    while plain:  # faults where the automaton has no transition count, too
        for _, target in product.moves(plain.pop()):
            if target not in seen_states:
                seen_states.add(target)
                plain.append(target)
    answer = LtlAnswer(faults=product.faults, states=len(graph))
    for component in find_components(graph):
        inside = [step for pair in component for step in graph[pair] if step.target in component]
        marks = frozenset().union(*(step.marks for step in inside))
        if inside and len(marks) == product.sets:
            answer.violated = True
    return answer


def find_components(graph: dict[Pair, list[MarkedStep]]) -> list[set[Pair]]:
    """The strongly connected components, by Tarjan's algorithm without recursion."""
    index: dict[Pair, int] = {}
    low: dict[Pair, int] = {}
    open_pairs: list[Pair] = []
    is_open: set[Pair] = set()
    components: list[set[Pair]] = []
    for root in graph:
        if root in index:
            continue
        path = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        open_pairs.append(root)
        is_open.add(root)
        while path:
            pair, remaining = path[-1]
            step = next(remaining, None)
            if step is None:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[pair])
                if low[pair] == index[pair]:
                    component: set[Pair] = set()
                    while pair not in component:
                        last = open_pairs.pop()
                        is_open.discard(last)
                        component.add(last)
                    components.append(component)
            elif step.target not in index:
                target = step.target
                index[target] = low[target] = len(index)
                open_pairs.append(target)
                is_open.add(target)
                path.append((target, iter(graph[target])))
            elif step.target in is_open:
                low[pair] = min(low[pair], index[step.target])
    return components
