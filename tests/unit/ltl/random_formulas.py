"""Random formulas and random words to judge them on."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from mazurka.ir.expressions import Expr
from mazurka.ltl.automata import BuchiAutomaton, GeneralizedAutomaton
from mazurka.ltl.formulas import FALSE, TRUE, Formula, atom

UNARY = ("not", "next", "eventually", "always")
BINARY = ("and", "or", "until", "release")


def random_formula(
    rng: Random, propositions: Sequence[Expr], size: int, *, has_next: bool = True
) -> Formula:
    """A formula of about `size` operators."""
    if size <= 0:
        return atom(rng.choice(propositions)) if rng.random() < 0.95 else rng.choice([TRUE, FALSE])

    def below(less: int) -> Formula:
        return random_formula(rng, propositions, less, has_next=has_next)

    if rng.random() < 0.5:
        operator = rng.choice([each for each in UNARY if has_next or each != "next"])
        operand = below(size - 1)
        if operator == "eventually":
            return Formula("until", (TRUE, operand))
        if operator == "always":
            return Formula("release", (FALSE, operand))
        return Formula(operator, (operand,))
    left = rng.randrange(size)
    return Formula(rng.choice(BINARY), (below(left), below(size - 1 - left)))


class Word:
    """A lasso over some propositions."""

    def __init__(self, rng: Random, propositions: Sequence[Expr], most: int = 5) -> None:
        self.length = rng.randint(1, most)
        self.loop_start = rng.randrange(self.length)
        self.letters = [
            {each: rng.random() < 0.5 for each in propositions} for _ in range(self.length)
        ]

    def truth(self, position: int, proposition: Expr) -> bool:
        return self.letters[position][proposition]

    def following(self, position: int) -> int:
        return position + 1 if position + 1 < self.length else self.loop_start


def accepts(automaton: GeneralizedAutomaton | BuchiAutomaton, word: Word) -> bool:
    """Whether an automaton accepts a word, by a search of each pair for a cycle of all marks."""
    edges: dict[tuple[int, int], list[tuple[tuple[int, int], frozenset[int]]]] = {}
    waiting = [(0, 0)]
    if isinstance(automaton, BuchiAutomaton):
        sets = 1
        rows = [
            [
                (letter, to, frozenset({0} if state in automaton.accepting else ()))
                for letter, to in row
            ]
            for state, row in enumerate(automaton.transitions)
        ]
    else:
        sets = automaton.sets
        rows = [[(e.letter, e.target, e.marks) for e in row] for row in automaton.transitions]
    while waiting:
        pair = waiting.pop()
        if pair in edges:
            continue
        position, state = pair
        edges[pair] = [
            ((word.following(position), target), marks)
            for letter, target, marks in rows[state]
            if all(word.truth(position, each) is sign for each, sign in letter)
        ]
        waiting.extend(target for target, _ in edges[pair])
    reach = {pair: reachable(edges, pair) for pair in edges}
    for pair in edges:
        if pair not in reach[pair]:
            continue
        ring = {other for other in reach[pair] if pair in reach[other]}
        marks = {m for one in ring for two, has in edges[one] if two in ring for m in has}
        if len(marks) == sets:
            return True
    return False


def reachable(
    edges: dict[tuple[int, int], list[tuple[tuple[int, int], frozenset[int]]]],
    start: tuple[int, int],
) -> set[tuple[int, int]]:
    """What can be reached in one step or more."""
    found: set[tuple[int, int]] = set()
    waiting = [target for target, _ in edges[start]]
    while waiting:
        pair = waiting.pop()
        if pair not in found:
            found.add(pair)
            waiting.extend(target for target, _ in edges[pair])
    return found
