"""Guess what threads contribute to shared numbers: sums over threads, and budgets.

Invariants of programs with many threads count: as many tickets are out as customers wait, and what
is reserved is the sum of what those have reserved who have not paid yet.  Owicki and Gries (Acta
Informatica 1976) let auxiliary variables say what each thread has contributed.  Here a thread's
*contribution* follows from where it is: a constant, or what a local holds, by place; also where a
small local is not 0 there.

*Sums.*  A shared cell is a constant, other shared cells and the contributions of all threads.  The
factors are read off the samples: contributions at each place are unknowns of a linear system.  So
a sum is an equation as in `mazurka.symbolic.lemmas.relations`, between more than cells.

*Budgets.*  A thread compares a shared cell with a constant, `x < c`, and changes it later, by d.
Others may do the same meanwhile.  So x and what those add who are between the two is at most
c - 1 and d for each thread: whoever passes the test finds less than c, and each of the others adds
d at most once before it tests again.  No sample comes near most constants, so this is read off the
program's text.

All of these are guesses: `mazurka.symbolic.lemmas.proving` decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial, reduce
from typing import NamedTuple

import numpy as np

from mazurka.deadline import check_time
from mazurka.ir.expressions import Binary, Const, Load
from mazurka.ir.passes.held import conjuncts
from mazurka.ir.program import Assign, Edge, Program
from mazurka.symbolic.graphs.words import Word
from mazurka.symbolic.lemmas.predicates import Vocabulary, find_copied_cells
from mazurka.symbolic.lemmas.relations import (
    LARGEST_COEFFICIENT,
    LARGEST_NUMBER,
    PRIME,
)
from mazurka.symbolic.lemmas.sampling import Integers, Samples

MOST_UNKNOWNS = 300
"""With more unknowns no sum is looked for: the time grows with their third power."""
MOST_GUESSED = 1000
"""Nor with more than these, of which some may never count."""
MOST_SAMPLES = 4096
"""So many samples are looked at."""
ROWS_AN_UNKNOWN = 3
"""So many of them for each unknown are used to find a sum; all of them are to confirm it."""
PHASE = "guessing sums over threads"


class Unknown(NamedTuple):
    """How often a number counts where a thread is at a place; `cell` is a local, None stands for 1;
    `flag` is a local that must not be 0."""

    thread: int
    place: int
    cell: int | None = None
    flag: int | None = None


class Guess(NamedTuple):
    """A literal that may hold in every state, and how to say so."""

    literal: int
    text: str


class Contributions:
    """Finds sums and budgets in the vocabulary of a circuit."""

    def __init__(self, vocabulary: Vocabulary, samples: Samples) -> None:
        self.vocabulary, self.samples = vocabulary, samples
        self.program, self.words = vocabulary.program, vocabulary.words
        self.graph = vocabulary.words.graph
        self.state = vocabulary.state
        self.shared = [a for a in vocabulary.wide if self.program.cells[a].owner is None]

    # --- sums ---------------------------------------------------------------------------------

    def find_sums(self) -> Iterator[Guess]:
        """Sums that all samples satisfy, one for a shared cell at most."""
        unknowns = list(self._list_unknowns())
        if not self.shared or len(unknowns) > MOST_GUESSED:
            return
        step = -(-self.samples.count // MOST_SAMPLES)
        columns = self._evaluate(unknowns, step)
        used = [n for n in range(len(unknowns)) if columns[:, n].any()]
        if len(used) > MOST_UNKNOWNS:
            return
        wide = self.vocabulary.wide
        cells = [self.samples.numbers(wide[each])[::step] for each in self.shared]
        if max(int(np.abs(each).max()) for each in (*cells, columns)) > LARGEST_NUMBER:
            return
        for position, cell in enumerate(self.shared):
            check_time(PHASE)
            others = [*cells[:position], *columns[:, used].T]
            system = np.array([np.ones(len(cells[0]), np.int64), *others]).T
            factors = solve(system, cells[position])
            if factors is None:
                continue
            total, rest = factors[0], factors[1:]
            terms = [(c, f) for c, f in zip(self.shared[:position], rest, strict=False) if f]
            known = {unknowns[n]: f for n, f in zip(used, rest[position:], strict=True)}
            if any(known.values()):
                yield self._say_sum(cell, terms, known, total)

    def _list_unknowns(self) -> Iterator[Unknown]:
        """What a thread may contribute: numbers it has, wherever it is, those with flags last."""
        vocabulary, program = self.vocabulary, self.program
        flagged = []
        for thread, places in enumerate(vocabulary.state.places):
            own = [a for a in vocabulary.wide if program.cells[a].owner == thread]
            own.sort(key=lambda each: program.cells[each].is_temporary)
            flags = [
                a
                for a, values in vocabulary.values_of.items()
                if program.cells[a].owner == thread and {v for v, _ in values} == {0, 1}
            ]
            for place in places:
                yield from (Unknown(thread, place, cell) for cell in own)
                yield Unknown(thread, place)
                flagged += [Unknown(thread, place, c, f) for c in (*own, None) for f in flags]
        yield from flagged

    def _condition(self, unknown: Unknown) -> int:
        at = self.vocabulary.state.places[unknown.thread][unknown.place]
        if unknown.flag is None:
            return at
        flag = self.words.is_true(self.vocabulary.state.cells[unknown.flag])
        return self.graph.both(at, flag)

    def _evaluate(self, unknowns: Sequence[Unknown], step: int) -> Integers:
        """What each unknown counts, a column each, in every so many samples."""
        counts = self.samples.evaluate([self._condition(each) for each in unknowns])
        found: Integers = np.array(counts[:, ::step], np.int64).T
        locals_of = {each.cell for each in unknowns if each.cell is not None}
        wide = self.vocabulary.wide
        numbers = {a: self.samples.numbers(wide[a])[::step] for a in locals_of}
        for place, each in enumerate(unknowns):
            if each.cell is not None:
                found[:, place] *= numbers[each.cell]
        return found

    def _say_sum(
        self,
        cell: int,
        terms: Iterable[tuple[int, int]],
        known: dict[Unknown, int],
        total: int,
    ) -> Guess:
        """The literal and the text of a sum."""
        words, wide = self.words, self.vocabulary.wide
        known, total = self._shift_constants(known, total)
        sides, told = [words.constant(0), wide[cell]], ["", self.vocabulary.name(cell)]
        groups: dict[tuple[int, int | None, int], list[Unknown]] = {}
        for unknown, factor in known.items():
            if factor:
                groups.setdefault((unknown.thread, unknown.cell, factor), []).append(unknown)
        parts = [(factor, wide[each], self.vocabulary.name(each)) for each, factor in terms]
        parts += [
            (factor, self._contribute(group), self._describe(group))
            for (_, _, factor), group in groups.items()
        ]
        parts.append((1 if total > 0 else -1, words.constant(abs(total)), str(abs(total))))
        for factor, word, text in parts:
            side = int(factor < 0)
            times = abs(factor)
            term = word if times == 1 else self._times(word, times)
            sides[side] = words.binary("add", sides[side], term)
            if text != "0":
                text = text if times == 1 else f"{times} * {text}"
                told[side] = f"{told[side]} + {text}" if told[side] else text
        return Guess(words.equal(sides[0], sides[1]), f"{told[1]} = {told[0] or '0'}")

    def _shift_constants(
        self, known: dict[Unknown, int], total: int
    ) -> tuple[dict[Unknown, int], int]:
        """Let no thread contribute a constant before its first step: it is always somewhere, so
        what it adds everywhere is one.  Nor does it where no run has come, as to its end."""
        found = dict(known)
        for number, thread in enumerate(self.program.threads):
            first = Unknown(number, self.program.cells[thread.counter].initial)
            usual = known.get(first, 0)
            plain = [u for u in known if u == Unknown(number, u.place)]
            total += usual
            found.update({each: known[each] - usual for each in plain})
        return found, total

    def _contribute(self, group: Sequence[Unknown]) -> Word:
        """What a thread contributes at some places, where it contributes anything."""
        condition = self.graph.some(map(self._condition, group))
        cell = group[0].cell
        if cell is None:
            return self.words.from_truth(condition)
        return self.words.select(condition, self.vocabulary.wide[cell], self.words.constant(0))

    def _times(self, word: Word, times: int) -> Word:
        return self.words.binary("mul", word, self.words.constant(times))

    def _describe(self, group: Sequence[Unknown]) -> str:
        vocabulary, (thread, _, cell, _) = self.vocabulary, group[0]
        what = "1" if cell is None else vocabulary.name(cell)
        places = [
            str(each.place) + (f" with {vocabulary.name(each.flag)}" if each.flag else "")
            for each in group
        ]
        name = self.program.threads[thread].name
        return f"({what} if {name} is at location {' or '.join(places)})"

    # --- budgets ------------------------------------------------------------------------------

    def find_budgets(self) -> Iterator[Guess]:
        """Budgets of all tests of shared cells by threads that add to them."""
        readers = [_BudgetReader(self.program, number) for number in range(len(self.state.places))]
        for cell in self.shared:
            for bound in sorted({each for reader in readers for each in reader.find_bounds(cell)}):
                sums = [self.vocabulary.wide[cell]]
                told, most = [self.vocabulary.name(cell)], bound
                for reader in readers:
                    added = reader.find_most_added(cell)
                    places = reader.find_between(cell, bound) if added else []
                    rests = self.state.places[reader.number]
                    unknowns = [Unknown(reader.number, each) for each in places if each in rests]
                    if unknowns:
                        group = self._contribute(unknowns)
                        sums.append(group if added == 1 else self._times(group, added))
                        text = self._describe(unknowns)
                        told.append(text if added == 1 else f"{added} * {text}")
                        most += added
                if len(sums) > 1:
                    whole = reduce(partial(self.words.binary, "add"), sums)
                    literal = self.words.less(self.words.constant(most), whole) ^ 1
                    yield Guess(literal, f"{' + '.join(told)} <= {most}")


class _BudgetReader:
    """Reads in the text of a thread where it tests a shared cell, and where it adds to it."""

    def __init__(self, program: Program, number: int) -> None:
        self.program, self.number = program, number
        self.thread = program.threads[number]
        self.copies = find_copied_cells(program)

    def find_bounds(self, cell: int) -> set[int]:
        """The largest values of a cell that a test lets pass."""
        bounds = (self._find_bound(edge, cell) for edge in self.thread.edges)
        return {each for each in bounds if each is not None}

    def _find_bound(self, edge: Edge, cell: int) -> int | None:
        """The largest value of a cell, or of what was copied from it, that a guard lets pass."""
        for part in conjuncts(edge.guard):
            match part:
                case Binary("lt" | "le" as operator, Load(Const(tested)), Const(value)):
                    if tested == cell or cell in self.copies.get(tested, ()):
                        return value - (operator == "lt")
        return None

    def find_most_added(self, cell: int) -> int:
        """The most that a step adds to a cell; 0 if it is not known."""
        found = 0
        for edge in self.thread.edges:
            for operation in edge.operations:
                if not isinstance(operation, Assign) or operation.address != Const(cell):
                    continue
                match operation.value:
                    case Binary("add", Load(Const(source)), Const(value)) if value > 0:
                        if source != cell and cell not in self.copies.get(source, ()):
                            return 0
                        found = max(found, value)
                    case Binary("sub", Load(Const(source)), Const(value)) if value > 0:
                        pass
                    case _:
                        return 0
        return found

    def find_between(self, cell: int, bound: int) -> list[int]:
        """The locations from which the thread may add to a cell before it tests it again."""
        thread = self.thread
        found = {
            edge.source
            for edge in thread.edges
            if any(isinstance(o, Assign) and o.address == Const(cell) for o in edge.operations)
        }
        waiting = list(found)
        while waiting:
            location = waiting.pop()
            for edge in thread.edges:
                if edge.target != location or edge.source in found:
                    continue
                if self._find_bound(edge, cell) == bound:
                    continue
                found.add(edge.source)
                waiting.append(edge.source)
        return sorted(found)


def solve(system: Integers, wanted: Integers) -> list[int] | None:
    """Small factors with which the columns add up to what is wanted, in all rows; None if there are
    none.  Where some would do as well as others, the first columns are used."""
    rows, many = system.shape
    step = max(rows // (ROWS_AN_UNKNOWN * many), 1)
    left = np.mod(np.column_stack([system, wanted])[::step], PRIME)
    pivots: list[int] = []
    for column in range(many):
        rank = len(pivots)
        (candidates,) = np.nonzero(left[rank:, column])
        if not len(candidates):
            continue
        chosen = rank + int(candidates[0])
        left[[rank, chosen]] = left[[chosen, rank]]
        left[rank] = left[rank] * pow(int(left[rank, column]), -1, PRIME) % PRIME
        factor = left[:, column].copy()
        factor[rank] = 0
        left = (left - factor[:, None] * left[rank]) % PRIME
        pivots.append(column)
    if left[len(pivots) :, -1].any():
        return None
    factors = [0] * many
    for rank, column in enumerate(pivots):
        value = int(left[rank, -1])
        factors[column] = value if value <= PRIME // 2 else value - PRIME
    if any(abs(each) > LARGEST_COEFFICIENT for each in factors[1:]):
        return None
    return factors if (system @ np.array(factors, np.int64) == wanted).all() else None
