"""Searches by transactions, round after round, until the synchronization discipline holds.

Paper 002's optimistic approach: assume, search, and where the search shows an assumption to be
wrong, weaken it and search again.  Each round weakens at least one assumption for good, and there
are finitely many, so the rounds come to an end.  What the earlier rounds have seen of the cells is
kept: every state they reached can really be reached.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from mazurka.analysis.beforehand import known_beforehand
from mazurka.analysis.discipline import Discipline
from mazurka.analysis.laws import MoverUse
from mazurka.analysis.locksets import Protection, static_protection
from mazurka.ir.native.step import NativeProgram, native
from mazurka.ir.program import Program
from mazurka.search import CUT_SHORT, CellClass, Observer, Round, SearchOptions, SearchResult
from mazurka.stateful.kernel_cache import kernel
from mazurka.stateful.transactions import Transaction, TransactionRound
from mazurka.stateful.variants import MOVERS


class TransactionSearch:
    """The rounds of one search."""

    def __init__(
        self, code: NativeProgram, options: SearchOptions, observer: Observer, how: Transaction
    ) -> None:
        self.code = code
        self.options = options
        self.observer = observer
        self.how = how
        self.discipline = Discipline(code.program, options.value(MOVERS))
        self.rounds: list[Round] = []
        self.classes: dict[int, CellClass] = {}
        kernel("transactions", observer)  # before the clock starts
        self.started = time.perf_counter()

    def run(self) -> SearchResult:
        while True:
            search = TransactionRound(
                self.code, self.remaining_options(), self.observer, self.how, self.discipline
            )
            result = search.run()
            search.tables.read_back()
            self.classify()
            if search.broken is None or self.is_final(result):
                return self.answer(result)
            self.rounds.append(Round(result.statistics, reason_for(search)))
            self.observer.message(f"round {len(self.rounds) + 1}: {self.rounds[-1].reason}")

    def remaining_options(self) -> SearchOptions:
        """A time limit is for all rounds together."""
        limit = self.options.limit_seconds
        if limit is None:
            return self.options
        left = limit - (time.perf_counter() - self.started)
        return replace(self.options, limit_seconds=max(left, 1e-9))

    def is_final(self, result: SearchResult) -> bool:
        """Whether a round that broke the discipline ends the search all the same."""
        if result.violation is not None and self.options.stop_at_first:
            return True
        return not CUT_SHORT.isdisjoint(result.limits)

    def classify(self) -> None:
        """Note each cell's class, with the round from which on it has had it."""
        cells, number = self.code.program.cells, len(self.rounds) + 1
        for address, kind, locks in self.discipline.cells():
            names = ", ".join(cells[lock].name for lock in locks) or None
            before = self.classes.get(address)
            if before is None or (before.kind, before.lock) != (kind, names):
                self.classes[address] = CellClass(cells[address].name, kind, names, number)

    def answer(self, result: SearchResult) -> SearchResult:
        classification = tuple(self.classes[address] for address in sorted(self.classes))
        if result.violation is not None and self.options.stop_at_first:
            classification = ()  # the search has not seen every access
        return replace(
            result,
            classification=classification,
            rounds=tuple(self.rounds),
            notes=(*result.notes, *self.notes(result), *self.self_check(result)),
        )

    def can_race(self, address: int) -> bool:
        """Whether a cell is touched by anything but atomic operations; observers do not count."""
        program = self.code.program
        accesses = known_beforehand(program).laws.accesses.get(address, [])
        watching = [access for access in accesses if program.threads[access.thread].observer]
        if watching and self.unobserved[address].kind != "unprotected":
            return False
        return any(not access.edge.indivisible for access in accesses if access not in watching)

    @cached_property
    def unobserved(self) -> Mapping[int, Protection]:
        """How the threads share the cells if nobody watches them."""
        return static_protection(self.code.program, observed=False).cells

    def self_check(self, result: SearchResult) -> Iterator[str]:
        if self.options.self_check and CUT_SHORT.isdisjoint(result.limits):
            from mazurka.stateful.self_check import check_transactions

            yield check_transactions(self.code.program, self.options, self.how, result)

    def notes(self, result: SearchResult) -> Iterator[str]:
        """What the user should know of cells without protection, and of wrong declarations."""
        yield from self.discipline.corrections
        exposed = [
            each.cell
            for address, each in sorted(self.classes.items())
            if each.kind == "unprotected" and self.can_race(address)
        ]
        if not exposed or result.violation is not None or not CUT_SHORT.isdisjoint(result.limits):
            return
        movers = self.options.value(MOVERS)
        if movers != MOVERS.default and "race" not in self.options.properties:
            yield f"not shown to be protected (--movers {movers}): {join_names(exposed)}"
        elif "race" not in self.options.properties:
            yield (
                f"candidates for a data race: {join_names(exposed)}; `--property race` tells"
                " whether two accesses can really meet"
            )
        else:
            yield f"unprotected, but no two conflicting accesses can meet: {join_names(exposed)}"


def join_names(names: list[str], most: int = 6) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def reason_for(search: TransactionRound) -> str:
    """A sentence about what broke the discipline of a round."""
    assert search.broken is not None
    assert search.broken_at is not None
    program = search.layout.program
    broken, (state, step) = search.broken, search.broken_at
    thread = program.threads[broken.thread]
    edges = [program.edges[number] for number in step.edges]
    edges = edges or list(thread.edges_at(state[thread.counter]))
    where = f" ({thread.name}, {edges[0].span})" if edges else f" ({thread.name})"
    return f"`{program.cells[broken.cell].name}` {broken.reason}{where}"


def search_transactions(
    program: Program, options: SearchOptions, observer: Observer, how: Transaction
) -> SearchResult:
    return TransactionSearch(native(program), options, observer, how).run()


def mover_use_for(options: SearchOptions) -> MoverUse:
    """Right movers lose deadlocks and races: they count only where nobody asks for these."""
    return MoverUse.FULL if options.properties <= {"assert"} else MoverUse.BLOCKING
