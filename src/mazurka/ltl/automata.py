"""Translate formulas to Büchi automata.

The construction is the tableau of Gerth, Peled, Vardi and Wolper ("Simple on-the-fly automatic
verification of linear temporal logic", 1995), with acceptance on transitions as in Couvreur
("On-the-fly verification of linear temporal logic", 1999).

A state is a set of formulas that the rest of the word must satisfy.  To read a letter, the set is
expanded with the laws

    a until b    =  b or (a and next (a until b))
    a release b  =  b and (a or next (a release b))

until only literals, which the letter must satisfy, and formulas for the rest of the word are left:
each way to do this is a transition.  One that takes the second alternative of an `until`
*postpones* it.

**Theorem.**  The word satisfies the formula if and only if there is a run from {formula} in which,
for each `until`, infinitely many transitions do not postpone it.

*Proof.*  If the word satisfies the set of a state, choose alternatives that are true on the word,
and for `a until b` the first one as soon as b holds.  The next set is satisfied by the rest of the
word.  An `until` that is postponed at every position from some point on would be due at each of
these, with b false at all of them, which contradicts its truth.  Conversely, take an accepting run.
By induction over the formulas: a formula that is expanded at a position holds there.  Literals,
`and`, `or`, `next` are immediate.  `a until b` is expanded at position i: while it is postponed, a
is expanded too and holds, and the `until` is expanded at the next position; as some later
transition does not postpone it, it takes the first alternative there, and b holds. `a release b`
demands b at each position at which it is expanded, and is passed on until a holds as well.

A transition is left out if another one demands no more of the letter and of the rest of the word
and postpones no more.  Wherever the first half of the proof chooses the former, it may choose the
latter: what that demands is true on the word, too, and no more is postponed.

| in the text | here |
|---|---|
| set of formulas | `frozenset[Formula]` |
| literal | proposition and sign, in `Letter` |
| acceptance set of an `until` | a number; a transition has it in its `marks` |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from mazurka.errors import OptionError
from mazurka.ir.expressions import Expr
from mazurka.ltl.formulas import Formula, push_negations

MOST_STATES = 2_000
"""Of an automaton; a formula that needs more is refused."""

Obligations: TypeAlias = frozenset[Formula]
Letter: TypeAlias = frozenset[tuple[Expr, bool]]
"""What a transition demands of a letter: propositions, each true or false."""


@dataclass(frozen=True, slots=True)
class Transition:
    letter: Letter
    target: int
    marks: frozenset[int]
    """The acceptance sets that it belongs to."""


@dataclass(frozen=True)
class GeneralizedAutomaton:
    """A Büchi automaton with several acceptance sets of transitions; state 0 is the initial one.

    A run is accepted if it takes, for each set, transitions of it infinitely often.
    """

    transitions: tuple[tuple[Transition, ...], ...]
    """By state."""
    sets: int


@dataclass(frozen=True)
class BuchiAutomaton:
    """A Büchi automaton with one acceptance set, of states; state 0 is the initial one."""

    transitions: tuple[tuple[tuple[Letter, int], ...], ...]
    """By state: what is demanded of the letter, and where it leads."""
    accepting: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Expansion:
    """One way to satisfy some formulas: the letter, what is left for later, what is postponed."""

    letter: Letter = frozenset()
    later: Obligations = frozenset()
    postponed: Obligations = frozenset()

    def covers(self, other: _Expansion) -> bool:
        """Whether it can do whatever the other one can."""
        return (
            self.letter <= other.letter
            and self.later <= other.later
            and self.postponed <= other.postponed
        )


def translate(formula: Formula) -> GeneralizedAutomaton:
    """Make an automaton that accepts the words on which the formula holds."""
    formula = push_negations(formula)
    untils = list(dict.fromkeys(each for each in formula.subformulas() if each.operator == "until"))
    start: Obligations = frozenset({formula})
    numbers: dict[Obligations, int] = {start: 0}
    waiting = [start]
    rows: list[tuple[Transition, ...]] = []
    while len(rows) < len(waiting):
        row = []
        for each in expand(waiting[len(rows)]):
            if each.later not in numbers:
                numbers[each.later] = len(waiting)
                waiting.append(each.later)
            kept = frozenset(
                number for number, due in enumerate(untils) if due not in each.postponed
            )
            row.append(Transition(each.letter, numbers[each.later], kept))
        rows.append(tuple(dict.fromkeys(row)))
        if len(waiting) > MOST_STATES:
            raise OptionError(
                f"the formula needs an automaton of more than {MOST_STATES:,} states; check its"
                " parts one by one"
            )
    return GeneralizedAutomaton(tuple(rows), len(untils))


def expand(obligations: Obligations) -> list[_Expansion]:
    """All ways to satisfy a set of formulas, without those that another one covers."""
    found = list(dict.fromkeys(_expand(sorted(obligations, key=repr), _Expansion(), frozenset())))
    return [
        each
        for position, each in enumerate(found)
        if not any(
            other.covers(each) and (not each.covers(other) or earlier < position)
            for earlier, other in enumerate(found)
            if earlier != position
        )
    ]


def _expand(due: list[Formula], so_far: _Expansion, done: Obligations) -> Iterator[_Expansion]:
    """Expand the formulas that are `due`; those in `done` have been expanded already."""
    if not due:
        yield so_far
        return
    first, rest = due[0], due[1:]
    if first in done:
        yield from _expand(rest, so_far, done)
        return
    done = done | {first}
    letter, later, postponed = so_far.letter, so_far.later, so_far.postponed
    match first.operator:
        case "true":
            yield from _expand(rest, so_far, done)
        case "false":
            return
        case "atom" | "not":
            plain = first if first.operator == "atom" else first.operands[0]
            sign = first.operator == "atom"
            assert plain.proposition is not None
            if (plain.proposition, not sign) not in letter:
                added = _Expansion(letter | {(plain.proposition, sign)}, later, postponed)
                yield from _expand(rest, added, done)
        case "and":
            yield from _expand([*first.operands, *rest], so_far, done)
        case "or":
            for each in first.operands:
                yield from _expand([each, *rest], so_far, done)
        case "next":
            yield from _expand(
                rest, _Expansion(letter, later | set(first.operands), postponed), done
            )
        case "until":
            left, right = first.operands
            yield from _expand([right, *rest], so_far, done)
            delayed = _Expansion(letter, later | {first}, postponed | {first})
            yield from _expand([left, *rest], delayed, done)
        case "release":
            left, right = first.operands
            yield from _expand([left, right, *rest], so_far, done)
            yield from _expand([right, *rest], _Expansion(letter, later | {first}, postponed), done)


def degeneralize(automaton: GeneralizedAutomaton) -> BuchiAutomaton:
    """Make an automaton with one acceptance set of states that accepts the same words.

    A state has a level beside it: the number of the set that is waited for.  A transition raises
    the level over all sets in a row that it belongs to.  The last level, at which all sets have
    been met, is accepting, and goes on as level 0.  So the last level is met infinitely often if
    and only if each set is.
    """
    last = automaton.sets
    numbers = {(0, 0): 0}
    waiting = [(0, 0)]
    rows: list[tuple[tuple[Letter, int], ...]] = []
    while len(rows) < len(waiting):
        state, level = waiting[len(rows)]
        row = []
        for each in automaton.transitions[state]:
            reached = 0 if level == last else level
            while reached < last and reached in each.marks:
                reached += 1
            target = (each.target, reached)
            if target not in numbers:
                numbers[target] = len(waiting)
                waiting.append(target)
            row.append((each.letter, numbers[target]))
        rows.append(tuple(dict.fromkeys(row)))
    accepting = frozenset(number for (_, level), number in numbers.items() if level == last)
    return BuchiAutomaton(tuple(rows), accepting)
