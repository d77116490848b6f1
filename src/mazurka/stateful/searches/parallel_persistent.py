"""Breadth-first search with persistent sets by several workers.

With the proviso by sticky locations the set that is tried in a state depends on the state alone
(`stateful.reference.stubborn`): neither on a stack nor on what was visited before.  So the states
and transitions that the search visits are those of one worker's depth-first search, whatever the
order; and the proofs speak of no order either: no cycle is without a state in which all threads are
tried.  The proviso by the stack, and transactions (`cpc`, `optimistic`), speak of the stack of a
depth-first search, which several workers do not have.

**Hangs.**  All states are examined in which the steps that are tried change nothing shared.
"""

from __future__ import annotations

from dataclasses import replace

from mazurka.compiled.memory import Area
from mazurka.ir.native.step import NativeProgram
from mazurka.search import Observer, SearchOptions, SearchResult
from mazurka.stateful import blocks
from mazurka.stateful.searches.discipline_tables import enter_locks
from mazurka.stateful.searches.parallel import LevelWorker, ParallelSearch
from mazurka.stateful.searches.persistent import (
    PersistentTables,
    Sets,
    enter_examination,
    examination_words,
    search_persistent,
    why_unreduced,
    with_alike_places,
)
from mazurka.stateful.variants import Proviso


def search_by_workers(
    code: NativeProgram, options: SearchOptions, observer: Observer, how: Sets, workers: int
) -> SearchResult:
    """Search with persistent sets by several workers; by one where there are no such sets, or where
    the proviso asks for a stack."""
    if how.proviso is not Proviso.STICKY or workers == 1 or why_unreduced(code.program):
        return search_persistent(code, options, observer, how)
    code = with_alike_places(code, how)
    return replace(ParallelPersistent(code, options, observer, workers, how).run(), order="bfs")


class ParallelPersistent(ParallelSearch):
    def __init__(
        self,
        native: NativeProgram,
        options: SearchOptions,
        observer: Observer,
        workers: int,
        how: Sets,
    ) -> None:
        super().__init__(native, options, observer, workers)
        self.store.tell(blocks.REDUCED, True)
        for worker in self.workers:
            room = max(worker.view.kept[blocks.BUFFER].length, examination_words(worker.view))
            worker.view.keep(blocks.BUFFER, Area(room))
            enter_examination(worker.view, how)
        self.tables = PersistentTables(self.view, how.relation, how.proviso)
        for worker in self.workers[1:]:
            enter_locks(worker.view, self.tables.locks)
            worker.view.keep(blocks.NOW, Area(self.view.kept[blocks.NOW].length))
        self.share_tables()

    def share_tables(self) -> None:
        for worker in self.workers[1:]:
            self.tables.share_with(worker.view)

    def help(self, worker: LevelWorker, reason: int) -> None:
        super().help(worker, reason)
        if reason == blocks.PATTERN_MISSING:
            held = worker.view.block.words[blocks.HELD]
            if not self.tables.has_pattern(held):
                self.tables.add_pattern(held)
                self.share_tables()

    def other_bytes(self) -> int:
        return super().other_bytes() + self.tables.used_bytes()
