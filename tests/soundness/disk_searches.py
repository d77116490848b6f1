"""Searches with states on disk, in so little memory that every level takes several runs."""

from __future__ import annotations

import pytest

from mazurka.ir.native.step import native
from mazurka.ir.program import Program
from mazurka.search import BITSTATE, SearchOptions, SearchResult, Silent
from mazurka.stateful.beyond_memory import disk_search
from mazurka.stateful.beyond_memory.disk_search import LEAST_ROOM, STORE_SHARE, plan_room
from mazurka.stateful.strategies.full import run
from tests.soundness.replaying import replays

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
    """`full`, breadth-first unless the states are stored as bits."""
    tuning = {"store": store}
    order = "dfs" if store == "bitstate" else "bfs"
    chosen = SearchOptions(
        **{"properties": EVERYTHING, "order": order, "tuning": tuning, **options}  # type: ignore[arg-type]
    )
    return run(program, chosen, Silent())


def difference(
    program: Program, *, symmetry: bool = False, limit_transitions: int | None = None
) -> str | None:
    """What differs between the searches in memory and on disk; the second may be limited."""
    memory = search_stored(program, stop_at_first=False, symmetry=symmetry)
    disk = search_disk(
        program, stop_at_first=False, symmetry=symmetry, limit_transitions=limit_transitions
    )
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


def require_shortest(program: Program, *, symmetry: bool = False) -> None:
    """The counterexample of the search on disk happens, and is as short as the one in memory."""
    memory = search_stored(program, symmetry=symmetry).violation
    found = search_disk(program, symmetry=symmetry).violation
    assert (found is None) == (memory is None)
    if found is None or memory is None:
        return
    assert replays(program, found)
    if "hang" in (found.kind, memory.kind):
        return  # its schedule goes on to the loops, and round them
    lengths = [len(each.path) - (each.kind not in ("deadlock", "race")) for each in (found, memory)]
    assert lengths[0] == lengths[1]


def require_no_proof(
    program: Program, *, limit_bytes: int, symmetry: bool = False, hashes: int = 3
) -> None:
    """Bits prove nothing, and find nothing that is not there."""
    asked = {"stop_at_first": False, "symmetry": symmetry}
    memory = search_stored(program, order="dfs", **asked)
    tuning = {"store": "bitstate", "hashes": hashes}
    bits = search_stored(program, store="bitstate", limit_bytes=limit_bytes, **asked, tuning=tuning)
    assert BITSTATE in bits.limits
    assert bits.statistics.states <= memory.statistics.states
    assert bits.statistics.coverage is not None
    if bits.violation is not None:
        assert memory.violation is not None
        assert replays(program, bits.violation)
