"""Guess invariants: clauses of few predicates that no sample contradicts.

A candidate says that a fact holds always, or wherever a condition does:

- two predicates are never both true, or never both false, or one implies the other;
- where a thread is at a location, or a lock is held, wide cells satisfy a linear equation; so they
  do where a thread is at a location, and what it remembers is still what a shared cell holds;
- a cell has a value only while some thread is where it always has that value;
- where two threads are at two locations, a comparison between their locals holds, or between a
  local of one of them and a shared cell;
- shared numbers are sums of what threads contribute, or have a budget
  (`mazurka.symbolic.lemmas.contributions`).

The conditions are those on which invariants of concurrent programs depend: who is where, and who
holds what.  Candidates that say the same of all samples are kept once, with what makes them equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mazurka.deadline import check_time
from mazurka.symbolic.circuit import Circuit
from mazurka.symbolic.graphs.graph import TRUE
from mazurka.symbolic.lemmas.contributions import Contributions
from mazurka.symbolic.lemmas.predicates import Predicate, Vocabulary
from mazurka.symbolic.lemmas.relations import Equation, encode_equation, find_equations
from mazurka.symbolic.lemmas.sampling import Samples, Truths

PHASE = "guessing invariants"
MOST_CANDIDATES = 40_000
ADDED_A_LOOK = 256
"""After so many candidates the time limit is looked at."""
MOST_COLUMNS = 8192
"""So many samples are looked at for pairs of predicates."""
ROWS_AT_ONCE = 32
"""So many predicates are compared with all others in one product of matrices."""
MOST_LINEAR = 12
"""Of so many wide cells at a time equations are looked for."""
MOST_GUARDED = 1000
"""Equations under two conditions are looked for where these make no more pairs."""
MOST_PLACES = 40
"""Pairs of places are conditions where no thread has more of them."""


class EnoughFound(Exception):  # noqa: N818 - it is control flow, not an error
    """There are as many candidates as are looked at."""


@dataclass(frozen=True)
class Lemma:
    """A clause: one of these literals, which depend on latches alone, holds in every state."""

    literals: tuple[int, ...]
    text: str


def guess_lemmas(circuit: Circuit, states: Truths) -> list[Lemma]:
    """The candidates that none of the states contradicts: a row a latch, a column a state."""
    return Miner(circuit, Samples.distinguish(circuit, states)).mine()


def guess_control_lemmas(circuit: Circuit, states: Truths) -> list[Lemma]:
    """The same, only about places and small values: who is where, and who holds what."""
    return Miner(circuit, Samples.distinguish(circuit, states)).mine_control()


class Miner:
    """Looks for candidates among the predicates of a circuit."""

    def __init__(self, circuit: Circuit, samples: Samples) -> None:
        self.circuit = circuit
        self.vocabulary = Vocabulary(circuit, samples)
        self.samples = samples.thin_out(self.vocabulary.size)
        self.found: dict[tuple[int, ...], Lemma] = {}
        self._values: dict[int, Truths] = {}
        self._places = {place.literal for place in self.vocabulary.places}

    def mine(self) -> list[Lemma]:
        vocabulary = self.vocabulary
        with suppress(EnoughFound):
            self._find_sets()
            self._find_explanations()
            self._find_equations([*vocabulary.places, *vocabulary.values])
            self._find_equations_of_unchanged()
            self._find_contributions()
            self._find_comparisons_of_locals()
            self._find_constant_facts()
            self._find_pairs([*vocabulary.places, *vocabulary.values, *vocabulary.comparisons])
        return list(self.found.values())

    def mine_control(self) -> list[Lemma]:
        with suppress(EnoughFound):
            self._find_sets()
            self._find_pairs([*self.vocabulary.places, *self.vocabulary.values])
        return list(self.found.values())

    def _add(self, text: str, *literals: int) -> None:
        clause = tuple(sorted(set(literals)))
        if TRUE in clause or any(each ^ 1 in clause for each in clause) or clause in self.found:
            return
        self.found[clause] = Lemma(clause, text)
        if len(self.found) == MOST_CANDIDATES:
            raise EnoughFound
        if len(self.found) % ADDED_A_LOOK == 0:
            check_time(PHASE)

    def _having(self, address: int) -> Truths:
        """By value of a cell, in the order of `values_of`, in which states the cell has it."""
        if not self._values:
            values_of = self.vocabulary.values_of
            literals = [literal for values in values_of.values() for _, literal in values]
            rows, start = self.samples.evaluate(literals), 0
            for each, values in values_of.items():
                self._values[each] = rows[start : start + len(values)]
                start += len(values)
        return self._values[address]

    # --- sets of values and places ------------------------------------------------------------

    def _find_sets(self) -> None:
        """A thread is somewhere; a cell has one of its values; where it has one of them, a thread
        is at one of some places."""
        vocabulary, program = self.vocabulary, self.circuit.program
        tables = [list(places.values()) for places in vocabulary.state.places]
        rows = [self.samples.evaluate(literals) for literals in tables]
        for number, literals in enumerate(tables):
            self._add(f"{program.threads[number].name} is somewhere", *literals)
        for address, values in vocabulary.values_of.items():
            name = vocabulary.name(address)
            told = ", ".join(str(value) for value, _ in values)
            self._add(f"{name} in {{{told}}}", *(literal for _, literal in values))
            check_time(PHASE)
            for (value, literal), here in zip(values, self._having(address), strict=True):
                for number, literals in enumerate(tables):
                    seen = (rows[number] & here).any(axis=1)
                    if seen.all():
                        continue
                    at = [each for each, was in zip(literals, seen, strict=True) if was]
                    if len(at) > 1:
                        places = self._name_places(number, seen)
                        self._add(f"if {name} = {value} then {places}", literal ^ 1, *at)

    def _name_places(self, thread: int, seen: Truths) -> str:
        automaton = self.circuit.program.threads[thread]
        locations = list(self.vocabulary.state.places[thread])
        at = [str(place) for place, was in zip(locations, seen, strict=True) if was]
        return f"{automaton.name} is at location {' or '.join(at)}"

    def _find_explanations(self) -> None:
        """A cell has a value only while some thread is at a place at which it always has it."""
        places = self.vocabulary.places
        rows = self.samples.evaluate([each.literal for each in places])
        for address, values in self.vocabulary.values_of.items():
            check_time(PHASE)
            for (value, literal), here in zip(values, self._having(address), strict=True):
                always = rows.any(axis=1) & ~(rows & ~here).any(axis=1)
                if (here & ~rows[always].any(axis=0)).any():
                    continue
                chosen = [each for each, was in zip(places, always, strict=True) if was]
                told = " or ".join(each.text for each in chosen)
                text = f"if {self.vocabulary.name(address)} = {value} then {told}"
                self._add(text, literal ^ 1, *(each.literal for each in chosen))

    # --- pairs of predicates ------------------------------------------------------------------

    def _find_pairs(self, predicates: list[Predicate]) -> None:
        truths = self.samples.evaluate([each.literal for each in predicates])
        kept = self._keep_representatives(predicates, truths)
        chosen = [predicates[each] for each in kept]
        rows = truths[kept]
        if rows.shape[1] > MOST_COLUMNS:
            step = rows.shape[1] / MOST_COLUMNS
            rows = rows[:, (np.arange(MOST_COLUMNS) * step).astype(np.int64)]
        ones, zeros = rows.astype(np.float32), (~rows).astype(np.float32)
        whole = truths[kept]
        for first, second, clause in (
            (ones, ones, (1, 1)),
            (ones, zeros, (1, 0)),
            (zeros, zeros, (0, 0)),
        ):
            for one in range(len(chosen)):
                if one % ROWS_AT_ONCE == 0:
                    check_time(PHASE)
                    never = first[one : one + ROWS_AT_ONCE] @ second.T == 0
                for other in np.flatnonzero(never[one % ROWS_AT_ONCE]).tolist():
                    if one == other or (clause[0] == clause[1] and one > other):
                        continue
                    if self._is_structural(chosen[one], chosen[other]):
                        continue
                    sides = whole[one] ^ (clause[0] == 0), whole[other] ^ (clause[1] == 0)
                    if not (sides[0] & sides[1]).any():
                        self._add_pair(chosen[one], chosen[other], clause)

    def _is_structural(self, one: Predicate, other: Predicate) -> bool:
        """Whether two places of one thread are compared: that one excludes the other is known."""
        return one.threads == other.threads and {one.literal, other.literal} <= self._places

    def _add_pair(self, one: Predicate, other: Predicate, clause: tuple[int, int]) -> None:
        """The first predicate or its negation, or the second one or its negation."""
        if_so = one.text if clause[0] else one.opposite
        then = other.opposite if clause[1] else other.text
        self._add(f"if {if_so} then {then}", one.literal ^ clause[0], other.literal ^ clause[1])

    def _keep_representatives(self, predicates: list[Predicate], truths: Truths) -> list[int]:
        """The positions of predicates that differ from all others; the rest become lemmas."""
        seen: dict[bytes, int] = {}
        kept = []
        for position, (predicate, row) in enumerate(zip(predicates, truths, strict=True)):
            if row.all() or not row.any():
                holds = int(row.all())
                text = predicate.text if holds else predicate.opposite
                self._add(text, predicate.literal ^ (1 - holds))
                continue
            negated = bool(row[0])
            key = np.packbits(row ^ negated).tobytes()
            known = seen.setdefault(key, position)
            if known == position:
                kept.append(position)
                continue
            other = predicates[known]
            differ = int(negated != bool(truths[known][0]))
            if not self._is_structural(predicate, other):
                self._add_pair(predicate, other, (1, differ))
                self._add_pair(predicate, other, (0, 1 - differ))
        return kept

    def _find_constant_facts(self) -> None:
        """Comparisons that hold in all samples, or in none: perhaps the samples are too few, and
        they hold only at some places."""
        facts, conditions = self.vocabulary.comparisons, self.vocabulary.places
        truths = self.samples.evaluate([each.literal for each in facts])
        for fact, row in zip(facts, truths, strict=True):
            check_time(PHASE)
            if row.all() or not row.any():
                for condition in conditions:
                    self._add_pair(condition, fact, (1, int(not row.any())))

    # --- equations ----------------------------------------------------------------------------

    def _find_equations(self, conditions: list[Predicate]) -> None:
        wide = dict(list(self.vocabulary.wide.items())[:MOST_LINEAR])
        if not wide:
            return
        cells = list(wide)
        values = np.array([self.samples.numbers(word) for word in wide.values()]).T
        general = find_equations(cells, values)
        for equation in general:
            self._add(self._describe(equation), self._encode(equation))
        truths = self.samples.evaluate([each.literal for each in conditions])
        by_threads: dict[frozenset[int], dict[Equation, None]] = {}
        for condition, row in zip(conditions, truths, strict=True):
            check_time(PHASE)
            found = [each for each in find_equations(cells, values[row]) if each not in general]
            by_threads.setdefault(condition.threads, {}).update(dict.fromkeys(found))
            for equation in found:
                self._add_equation(condition, equation)
        for condition, row in zip(conditions, truths, strict=True):
            if not row.any():  # no run has come there: perhaps it is as elsewhere
                for equation in by_threads[condition.threads]:
                    self._add_equation(condition, equation)

    def _add_equation(self, condition: Predicate, equation: Equation) -> None:
        text = f"if {condition.text} then {self._describe(equation)}"
        self._add(text, condition.literal ^ 1, self._encode(equation))

    def _find_equations_of_unchanged(self) -> None:
        """Equations where a thread is at a place, and two cells, one of them its own, are equal."""
        wide = dict(list(self.vocabulary.wide.items())[:MOST_LINEAR])
        equal, places = self.vocabulary.equalities, self.vocabulary.places
        if not wide or len(equal) * len(places) > MOST_GUARDED:
            return
        cells = list(wide)
        values = np.array([self.samples.numbers(word) for word in wide.values()]).T
        same = self.samples.evaluate([each.literal for each in equal])
        at = self.samples.evaluate([each.literal for each in places])
        for place, here in zip(places, at, strict=True):
            check_time(PHASE)
            known = set(find_equations(cells, values[here]))
            for unchanged, row in zip(equal, same, strict=True):
                if unchanged.threads != place.threads or not (here & ~row).any():
                    continue
                for equation in find_equations(cells, values[here & row]):
                    if equation not in known:
                        text = f"if {place.text} and {unchanged.text} then"
                        literals = place.literal ^ 1, unchanged.literal ^ 1, self._encode(equation)
                        self._add(f"{text} {self._describe(equation)}", *literals)

    def _encode(self, equation: Equation) -> int:
        return encode_equation(self.vocabulary.words, self.vocabulary.wide, equation)

    def _describe(self, equation: Equation) -> str:
        terms, total = equation
        sides: list[list[str]] = [[], []]
        for cell, factor in terms:
            name = self.vocabulary.name(cell)
            sides[factor < 0].append(name if abs(factor) == 1 else f"{abs(factor)} * {name}")
        if total:
            sides[total > 0].append(str(abs(total)))
        return " = ".join(" + ".join(side) or "0" for side in sides)

    # --- several threads ----------------------------------------------------------------------

    def _find_contributions(self) -> None:
        """What threads contribute to shared numbers."""
        contributions = Contributions(self.vocabulary, self.samples)
        for guess in (*contributions.find_sums(), *contributions.find_budgets()):
            self._add(guess.text, guess.literal)

    def _find_comparisons_of_locals(self) -> None:
        """Comparisons with locals by the places of two threads: between a local of each; and
        between a local of one and a shared cell, where its own place does not tell."""
        wide = self.vocabulary.between_wide
        facts = [e for e in self.vocabulary.comparisons if e.threads and e.literal >> 1 in wide]
        if not facts:
            return
        truths = self.samples.evaluate([each.literal for each in facts])
        for (one, at_one), (other, at_other) in self._pair_places():
            check_time(PHASE)
            threads, both = one.threads | other.threads, at_one & at_other
            for fact, row in zip(facts, truths, strict=True):
                if not fact.threads <= threads:
                    continue
                held = row[both]
                if is_told(held):
                    if len(fact.threads) == 1 and (is_told(row[at_one]) or is_told(row[at_other])):
                        continue
                    says = fact.text if held.all() else fact.opposite
                    text = f"if {one.text} and {other.text} then {says}"
                    last = fact.literal ^ int(not held.all())
                    self._add(text, one.literal ^ 1, other.literal ^ 1, last)

    def _pair_places(self) -> Iterator[tuple[tuple[Predicate, Truths], tuple[Predicate, Truths]]]:
        """Places of two threads, and in which samples the threads are there; at both in some."""
        by_thread: dict[frozenset[int], list[tuple[Predicate, Truths]]] = {}
        places = self.vocabulary.places
        rows = self.samples.evaluate([each.literal for each in places])
        for place, row in zip(places, rows, strict=True):
            by_thread.setdefault(place.threads, []).append((place, row))
        for first, second in combinations(by_thread.values(), 2):
            if max(len(first), len(second)) > MOST_PLACES:
                continue
            for one, at_one in first:
                for other, at_other in second:
                    if (at_one & at_other).any():
                        yield (one, at_one), (other, at_other)


def is_told(held: Truths) -> bool:
    """Whether a fact holds in all samples, or in none."""
    return bool(held.all() or not held.any())
