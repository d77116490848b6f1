"""The examples of paper 004 (Fig. 1 and 2): where a context switch is needed, and where it is not.

The paper asks for the set that begins with the step in question (Algo 2 and 3 from t).
"""

from __future__ import annotations

import pytest

from mazurka.bench.harness import MODELS
from mazurka.frontend.python import load_model
from mazurka.ir.interpreter import Interpreter, State
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Program
from mazurka.stateful.reference.full import explore
from mazurka.stateful.reference.stubborn import PersistentSets
from mazurka.stateful.variants import Relation
from tests.soundness.stubborn_circuits import StubbornCircuit

FIGURES = MODELS / "symbolic"
T1, T2 = 0, 1


def figure(number: int) -> Program:
    return prepare(load_model(str(FIGURES / f"figure{number}.py"), {}))


def standing(program: Program, *labels: str) -> State:
    """The state in which the threads stand before the lines with these labels."""
    text = next(iter(program.sources.values())).splitlines()
    lines = [next(n for n, line in enumerate(text, 1) if line.endswith(label)) for label in labels]
    interpreter = Interpreter(program)

    def places(state: State) -> list[int]:
        return [
            next((edge.span.line for edge in each.edges_at(interpreter.location(state, n))), 0)
            for n, each in enumerate(program.threads)
        ]

    return next(state for state in explore(program).states if places(state) == lines)


@pytest.mark.parametrize(
    ("number", "labels", "static", "patterns"),
    [
        (1, ("3a", "1b"), {T1, T2}, {T1}),
        (1, ("3a", "5b"), {T1, T2}, {T1, T2}),
        (2, ("6a", "1b"), {T1, T2}, {T1}),
    ],
)
def test_sets_in_the_text(
    number: int, labels: tuple[str, str], static: set[int], patterns: set[int]
) -> None:
    program = figure(number)
    state = standing(program, *labels)
    for relation, expected in ((Relation.STATIC, static), (Relation.LOCK_PATTERNS, patterns)):
        sets = PersistentSets(program, relation)
        assert sets.closure(state, sets.attempts(state), T1) == expected
        circuit = StubbornCircuit(program, 0, patterns=relation is Relation.LOCK_PATTERNS)
        assert circuit.closure(state, T1) == expected


@pytest.mark.parametrize(
    ("number", "labels", "expected"),
    [(1, ("3a", "1b"), {T1}), (1, ("3a", "5b"), {T1, T2}), (2, ("6a", "1b"), {T1})],
)
def test_chosen_sets(number: int, labels: tuple[str, str], expected: set[int]) -> None:
    """At 1b T2 could begin just as well; of sets of the same size the first thread's is taken."""
    program = figure(number)
    state, sets = standing(program, *labels), PersistentSets(program)
    assert (sets.choose(state, sets.attempts(state)) or sets.everyone) == expected
