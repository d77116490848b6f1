"""Searches of the models in `transaction_models`, as written in the paper and by the kernel."""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.analysis.movers import Reading
from mazurka.ir.native.step import native
from mazurka.ir.program import Program
from mazurka.search.observer import Silent
from mazurka.search.options import SearchOptions
from mazurka.search.result import SearchResult
from mazurka.stateful.reference.cpc import explore_transactions
from mazurka.stateful.reference.full import explore
from mazurka.stateful.rounds import Rounds
from mazurka.stateful.transactions import Transaction
from mazurka.stateful.variants import Completion
from tests.mutants.transaction_models import program_of


@dataclass(frozen=True)
class Search:
    """A model and how it is searched."""

    model: str
    completion: Completion = Completion.COMMIT_POINTS
    reading: Reading = Reading.FULL

    @property
    def asked(self) -> frozenset[str]:
        return frozenset({"assert"} if self.reading is Reading.FULL else {"assert", "deadlock"})

    @property
    def program(self) -> Program:
        return program_of(self.model)

    def violated(self) -> bool:
        """The oracle's verdict."""
        return not explore(self.program, races=False).kinds.isdisjoint(self.asked)

    def finds(self) -> bool:
        """The verdict of the search as written."""
        done, _ = explore_transactions(self.program, self.completion, reading=self.reading)
        return not done.kinds.isdisjoint(self.asked)

    def finds_natively(self) -> bool:
        return self.search_natively().violation is not None

    def states(self) -> int:
        """How many states the last round of the search as written has."""
        done, _ = explore_transactions(self.program, self.completion, reading=self.reading)
        return len(done.states)

    def states_natively(self) -> int:
        return self.search_natively().statistics.states

    def search_natively(self) -> SearchResult:
        how = Transaction(completion=self.completion, reading=self.reading)
        options = SearchOptions(properties=self.asked, stop_at_first=False)
        return Rounds(native(self.program), options, Silent(), how).run()
