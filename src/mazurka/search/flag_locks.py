"""Search a program in which flags that serve as locks have owners, for searches that use locks.

`mazurka.ir.passes.flag_locks` has the proof that nothing else changes, schedules included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mazurka.search.options import SearchOptions
from mazurka.search.result import SearchResult
from mazurka.search.strategy import Observer, Search

if TYPE_CHECKING:
    from mazurka.ir.program import Program


def with_flag_locks(search: Search) -> Search:
    """Return a search that knows flags which are used as locks; for races they stay data."""

    def search_owned(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
        from mazurka.ir.passes.flag_locks import own_flag_locks

        owned = program if "race" in options.properties else own_flag_locks(program)
        return search(owned, options, observer)

    return search_owned
