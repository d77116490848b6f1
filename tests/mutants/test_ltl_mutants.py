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
from tests.soundness.ltl_agreement import search_nested
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


def count_wrong() -> int:
    """The cases whose answer is wrong, or that the interpreter does not confirm."""
    wrong = 0
    for model, text, fair, holds in CASES:
        program = program_of(model)
        try:
            found = search_nested(program, parse_formula(text, ProgramNames(program)), fair=fair)
            wrong += (found.violation is None) is not holds
        except InternalError:
            wrong += 1
    return wrong


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

    assert count_wrong() > 0


def test_without_a_mutant_all_is_right() -> None:
    assert count_wrong() == 0


def test_a_thread_that_cannot_move_is_treated_fairly() -> None:
    condition = RunCondition(1, fair=True)

    assert Abilities(frozenset({0}), frozenset()).meet(condition, 0)
    assert not Abilities(frozenset({0, 1}), frozenset()).meet(condition, 0)
