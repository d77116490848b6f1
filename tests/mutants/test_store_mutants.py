"""Searches with states on disk or as bits, each with one mistake that the comparisons notice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mazurka.ir.program import Program
from mazurka.search import BITSTATE, Move
from mazurka.stateful.beyond_memory import disk_search
from mazurka.stateful.beyond_memory.bitstate import Bitstate
from mazurka.stateful.beyond_memory.disk_search import DiskSearch, PredecessorSearch
from mazurka.stateful.beyond_memory.sorted_files import FileReader, SortedFile, Subtraction
from mazurka.stateful.searches.depth_first import DepthFirst
from tests.soundness.disk_searches import difference, search_disk, search_stored
from tests.soundness.replaying import replays
from tests.unit.ir.programs import crossed_locks, modular_counters

COUNTERS = modular_counters(3, 8)
"""512 states in 22 levels, the largest of 48; each has 3 successors, most of them found thrice."""


def drop_a_run(search: DiskSearch, fresh: Any, known: Any = ()) -> Iterator[SortedFile | None]:
    rest = fresh[1:] if len(fresh) > 1 and known else fresh
    room = search.store.room.records
    return Subtraction(search.runs, search.store.spare, room, rest, known).run()


def forget_a_known_file(
    search: DiskSearch, fresh: Any, known: Any = ()
) -> Iterator[SortedFile | None]:
    room = search.store.room.records
    return Subtraction(search.runs, search.store.spare, room, fresh, known[1:]).run()


def skip_one_too_far(reader: FileReader, wanted: tuple[int, ...]) -> None:
    """The record at the border of two pieces is not looked at."""
    step = reader.part.room
    while (
        reader.position + step < reader.file.count
        and reader.record(reader.position + step) <= wanted
    ):
        reader.position += step
    reader.position = min(reader.position + 1, reader.file.count)


def leave_the_last_piece(reader: FileReader) -> int:
    """A piece that is not full is taken for the end of the file."""
    count = reader.part.room if reader.file.count - reader.position >= reader.part.room else 0
    if count == 0:
        reader.position = reader.file.count
        return 0
    return READ(reader)


READ = FileReader.read


def keep_nothing_of_the_rest(search: DiskSearch) -> Iterator[bool]:
    """What is in the table at the end of a level is not written if there is a run already."""
    if (
        search.fresh
        and search.numbers[disk_search.blocks.POSITION] == search.numbers[disk_search.blocks.END]
    ):
        return iter(())
    return FLUSH(search)


FLUSH = DiskSearch.flush


# name, class, method, what takes its place
MUTANTS: list[tuple[str, type, str, Callable[..., Any]]] = [
    ("a run is not merged", DiskSearch, "subtract", drop_a_run),
    ("a file of known states is forgotten", DiskSearch, "subtract", forget_a_known_file),
    ("a record at the border of two pieces", FileReader, "skip_to", skip_one_too_far),
    ("the last piece of a file is lost", FileReader, "read", leave_the_last_piece),
    ("the rest of a level is lost", DiskSearch, "flush", keep_nothing_of_the_rest),
]


@pytest.mark.parametrize(
    ("owner", "method", "mutant"), [each[1:] for each in MUTANTS], ids=[each[0] for each in MUTANTS]
)
def test_mutant_counts_otherwise(
    monkeypatch: pytest.MonkeyPatch, owner: type, method: str, mutant: Callable[..., Any]
) -> None:
    assert difference(COUNTERS) is None
    monkeypatch.setattr(owner, method, mutant)
    assert difference(COUNTERS, limit_transitions=5000) is not None


def test_a_lost_last_level_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last level is a single state: all counters at 7."""

    def lose_it(search: DiskSearch, level: SortedFile) -> Iterator[bool]:
        if len(search.levels) > 1 and level.count == 1:
            search.visited -= 1
            return iter(())
        return expand(search, level)

    expand = DiskSearch.expand
    monkeypatch.setattr(DiskSearch, "expand", lose_it)
    assert difference(COUNTERS) is not None


def test_a_wrong_predecessor_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    program: Program = crossed_locks()
    right = search_disk(program).violation
    assert right is not None
    assert replays(program, right)
    find = PredecessorSearch.find

    def find_another(search: PredecessorSearch, level: SortedFile, wanted: list[int]) -> Any:
        """The first thread moves, whoever it was."""
        return Move(0), find(search, level, wanted)[1]

    monkeypatch.setattr(PredecessorSearch, "find", find_another)
    wrong = search_disk(program).violation
    assert wrong is not None
    assert not replays(program, wrong)


def test_bits_that_claim_a_proof_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def limits() -> tuple[str, ...]:
        return search_stored(COUNTERS, store="bitstate", limit_bytes=1 << 20).limits

    assert limits() == (BITSTATE,)
    monkeypatch.setattr(Bitstate, "run", DepthFirst.run)
    assert limits() == ()
