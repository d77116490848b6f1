"""Searches of the models in `transaction_models`, as written in the paper and by the kernel."""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.analysis.laws import MoverUse
from mazurka.ir.native.step import native
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.stateful.reference.cpc import explore_transactions
from mazurka.stateful.reference.full import explore
from mazurka.stateful.searches.transactions import TransactionSearch
from mazurka.stateful.variants import Completion, Transaction
from tests.mutants.transaction_models import program_of


@dataclass(frozen=True)
class Search:
    """A model and how it is searched."""

    model: str
    completion: Completion = Completion.COMMIT_POINTS
    mover_use: MoverUse = MoverUse.FULL

    @property
    def asked(self) -> frozenset[str]:
        return frozenset({"assert"} if self.mover_use is MoverUse.FULL else {"assert", "deadlock"})

    @property
    def program(self) -> Program:
        return program_of(self.model)

    def violated(self) -> bool:
        """The oracle's verdict."""
        return not explore(self.program, races=False).kinds.isdisjoint(self.asked)

    def finds(self) -> bool:
        """The verdict of the search as written."""
        done, _ = explore_transactions(self.program, self.completion, mover_use=self.mover_use)
        return not done.kinds.isdisjoint(self.asked)

    def finds_natively(self) -> bool:
        return self.search_natively().violation is not None

    def states(self) -> int:
        """How many states the last round of the search as written has."""
        done, _ = explore_transactions(self.program, self.completion, mover_use=self.mover_use)
        return len(done.states)

    def states_natively(self) -> int:
        return self.search_natively().statistics.states

    def search_natively(self) -> SearchResult:
        how = Transaction(completion=self.completion, mover_use=self.mover_use)
        options = SearchOptions(properties=self.asked, stop_at_first=False)
        return TransactionSearch(native(self.program), options, Silent(), how).run()
