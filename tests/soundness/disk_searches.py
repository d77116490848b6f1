"""Searches with states on disk, in so little memory that every level takes several runs."""

from __future__ import annotations

import pytest

from mazurka.ir.native.step import native
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.stateful.beyond_memory import disk_search
from mazurka.stateful.beyond_memory.disk_search import LEAST_ROOM, STORE_SHARE, plan_room
from mazurka.stateful.strategies.full import run

MEMORY = 1 << 24
EVERYTHING = frozenset({"assert", "deadlock", "hang", "race"})


def least_memory(program: Program) -> int:
    """Bytes for about `LEAST_ROOM` states and all successors of one."""
    layout = native(program).layout
    most = sum(max(bounds) for bounds in layout.choices)
    wanted = max(LEAST_ROOM, most + 16)
    limit = 1000
    while plan_room(int(limit * STORE_SHARE), layout.words).records < wanted:
        limit += limit // 10
    return limit


def search_disk(program: Program, **options: object) -> SearchResult:
    """The search has as much memory for everything else as it wants: walks to find hangs."""
    with pytest.MonkeyPatch.context() as patch:
        share = STORE_SHARE * least_memory(program) / MEMORY
        patch.setattr(disk_search, "STORE_SHARE", share)
        return search_stored(program, store="disk", limit_bytes=MEMORY, **options)


def search_stored(program: Program, *, store: str = "memory", **options: object) -> SearchResult:
    """`full`, breadth-first where there is a choice."""
    chosen = SearchOptions(
        order="dfs" if store == "bitstate" else "bfs",
        tuning={"store": store},
        **{"properties": EVERYTHING, **options},  # type: ignore[arg-type]
    )
    return run(program, chosen, Silent())


def difference(program: Program, **options: object) -> str | None:
    """What differs between the searches in memory and on disk; `options` are for the latter."""
    memory = search_stored(program, stop_at_first=False)
    disk = search_disk(program, stop_at_first=False, **options)
    for name in ("states", "transitions", "depth"):
        one, other = getattr(memory.statistics, name), getattr(disk.statistics, name)
        if one != other:
            return f"{name}: {one} and {other}"
    if set(memory.limits) != set(disk.limits):
        return f"limits: {memory.limits} and {disk.limits}"
    one, other = memory.violation, disk.violation
    if (one is None) != (other is None):
        return f"violation: {one} and {other}"
    return None
