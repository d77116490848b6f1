"""States on disk: runs, merges, ends of memory and of disk, and nothing left behind."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import namedtuple
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from tests.soundness.disk_searches import least_memory, search_disk
from tests.unit.ir.programs import crossed_locks, modular_counters

from mazurka.compiled.memory import Area
from mazurka.ir.native.step import native
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, Silent, Statistics
from mazurka.stateful import blocks
from mazurka.stateful.beyond_memory import sorted_files
from mazurka.stateful.beyond_memory.disk_search import LEAST_ROOM, DiskSearch, RunStore, plan_room
from mazurka.stateful.beyond_memory.sorted_files import (
    FileReader,
    Part,
    RunKernel,
    ScratchDirectory,
    SortedFile,
    Subtraction,
)
from mazurka.stateful.compiled.store import FIRST_CAPACITY
from mazurka.stateful.strategies.full import run

Record = tuple[int, ...]


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[ScratchDirectory]:
    with ScratchDirectory(str(tmp_path)) as made:
        yield made


def enter(part: Part, records: list[Record]) -> None:
    data = part.of_first(len(records)).cast("Q")
    for position, word in enumerate(word for record in records for word in record):
        data[position] = word


def write_sorted(runs: RunKernel, records: list[Record]) -> SortedFile:
    """Sort records in memory, and write them."""
    length = max(len(records), 1) * runs.words
    log, spare = (Part(Area(length), runs.words, 0, len(records)) for _ in range(2))
    enter(log, records)
    for _ in runs.sort(log, spare, len(records)):
        pass
    return runs.write_sorted(log, spare, len(records))


def read(file: SortedFile, words: int) -> list[Record]:
    data = memoryview(file.path.read_bytes()).cast("Q").tolist() if file.count else []
    return [tuple(data[start : start + words]) for start in range(0, len(data), words)]


def random_records(rng: Random, words: int, count: int) -> list[Record]:
    """Different records, many of which differ in their last word only."""
    found = {
        (*(rng.choice((0, 1, 1 << 63)) for _ in range(words - 1)), rng.randrange(150))
        for _ in range(count)
    }
    return rng.sample(sorted(found), len(found))


@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize("room", [9, 10, 40, 4000])
def test_merging_and_subtracting_is_what_sets_do(
    scratch: ScratchDirectory, words: int, room: int
) -> None:
    """With room for 9 records each of 8 files has one in memory, and the output has one."""
    rng, runs = Random(words * 1000 + room), RunKernel(words, scratch, Silent())
    for _ in range(15):
        lists = [random_records(rng, words, rng.randrange(200)) for _ in range(8)]
        files = [write_sorted(runs, records) for records in lists]
        for records, file in zip(lists, files, strict=True):
            assert read(file, words) == sorted(records)
        fresh = rng.randrange(1, 9)
        area = Area(room * words)
        *_, made = Subtraction(runs, area, room, files[:fresh], files[fresh:]).run()
        assert made is not None
        known = {record for records in lists[fresh:] for record in records}
        wanted = {record for records in lists[:fresh] for record in records} - known
        assert read(made, words) == sorted(wanted)
        assert made.count == len(wanted)


def test_skipping_leaves_out_nothing_that_is_asked_for(scratch: ScratchDirectory) -> None:
    runs = RunKernel(1, scratch, Silent())
    records = [(2 * number,) for number in range(100)]
    file = write_sorted(runs, records)
    for wanted in range(200):
        part = Part(Area(3), 1, 0, 3)
        reader = FileReader(file, part)
        reader.skip_to((wanted,))
        assert reader.position == 0 or records[reader.position] < (wanted,)
        # and what is skipped to is near: within the next three records, or at the end
        assert records[min(reader.position + 3, 99)] >= (min(wanted, 198),)
        reader.close()


def test_the_plan_keeps_to_the_limit_and_uses_most_of_it() -> None:
    for words in (1, 2, 7):
        for limit in (5_000, 100_000, 3_000_000_000):
            room = plan_room(limit, words)
            used = room.records * (16 * words + 8) + room.slots * 12
            assert limit / 3 < used <= limit
            assert room.records <= 0.92 * room.slots


@pytest.mark.parametrize("wide", [False, True])
def test_many_runs_and_merges_lose_nothing(tmp_path: Path, wide: bool) -> None:
    """4 counters modulo 9: 9^4 states, 4 moves in each, the farthest 4 * 8 moves away."""
    program = modular_counters(4, 9, wide=wide)
    options = SearchOptions(limit_bytes=least_memory(program))
    with ScratchDirectory(str(tmp_path)) as scratch:
        search = DiskSearch(native(program), options, Silent(), scratch)
        assert search.store.room.records < 2 * LEAST_ROOM
        result = search.run()
        sizes = [file.count for file in search.known]
        assert all(one >= 2 * other for one, other in pairwise(sizes))
        assert sum(sizes) == 9**4
        assert len(search.levels) == 33
        states = {record for level in search.levels for record in read(level, search.record_words)}
        assert len(states) == 9**4
        # Each of the largest levels, of some 500 states, takes more than ten runs.
        assert scratch.made > 200
    assert result.limits == ()
    assert result.order == "bfs"
    assert result.statistics.states == 9**4
    assert result.statistics.transitions == 4 * 9**4
    assert result.statistics.depth == 32
    assert result.statistics.disk_bytes is not None
    assert result.statistics.disk_bytes >= 9**4 * 8 * search.record_words
    assert list(tmp_path.iterdir()) == []


def test_a_chunk_may_be_larger_than_the_table_was() -> None:
    """A table that grows takes in the chunk, too; one with too few slots would never be done."""
    store = RunStore(Area(blocks.BLOCK_WORDS), 1, limit_bytes=1 << 24, observer=Silent())
    store.keep_first(4 * store.table.length)
    assert store.table.length > store.size == 4 * FIRST_CAPACITY
    assert store.grow(0)


def test_memory_stays_within_the_limit() -> None:
    program = modular_counters(4, 9)
    limit = 3 * least_memory(program)
    options = SearchOptions(limit_bytes=limit, tuning={"store": "disk"})
    result = run(program, options, Silent())
    assert result.limits == ()
    assert result.statistics.peak_bytes <= limit


def test_too_little_memory_is_said() -> None:
    options = SearchOptions(limit_bytes=1000, tuning={"store": "disk"})
    assert run(modular_counters(2, 3), options, Silent()).limits == ("memory",)


def test_the_way_back_is_a_shortest_schedule() -> None:
    """Both threads take one lock, then wait for the other's."""
    found = search_disk(crossed_locks(), properties=frozenset({"deadlock"})).violation
    assert found is not None
    assert found.kind == "deadlock"
    assert len(found.path) == 2


def search_in(directory: Path, program: Program, observer: object) -> tuple[str, ...]:
    tuning = {"store": "disk", "store_dir": str(directory)}
    options = SearchOptions(limit_bytes=least_memory(program), tuning=tuning)
    return run(program, options, observer).limits  # type: ignore[arg-type]


class Impatient(Silent):
    """Interrupts the search when there are files."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.seen = 0

    def progress(self, statistics: Statistics) -> None:
        self.seen = len([*self.directory.glob("mazurka-*/*")])
        if statistics.states > 200:
            raise KeyboardInterrupt


def test_an_interrupted_search_leaves_no_files(tmp_path: Path) -> None:
    observer = Impatient(tmp_path)
    assert search_in(tmp_path, modular_counters(4, 9), observer) == ("interrupted",)
    assert observer.seen > 1
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "free")
    left = iter(range(sorted_files.LEAST_FREE + 50_000, 0, -1000))
    monkeypatch.setattr(sorted_files.shutil, "disk_usage", lambda _: usage(next(left)))
    assert shutil.disk_usage is sorted_files.shutil.disk_usage
    program = modular_counters(4, 9)
    tuning = {"store": "disk", "store_dir": str(tmp_path)}
    options = SearchOptions(limit_bytes=least_memory(program), tuning=tuning)
    result = run(program, options, Silent())
    assert result.limits == ("disk",)
    assert result.violation is None
    (note,) = result.notes
    assert str(tmp_path) in note
    assert "--store-dir" in note
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_disk_is_a_limit_too(scratch: ScratchDirectory) -> None:
    class Full:
        def write(self, data: memoryview) -> int:
            raise OSError(sorted_files.errno.ENOSPC, "no space")

    with pytest.raises(sorted_files.DiskFullError, match="MB left"):
        scratch.append(Full(), memoryview(b"12345678"))  # type: ignore[arg-type]


KILLED = """
import os, signal, sys
from mazurka.stateful.beyond_memory.sorted_files import ScratchDirectory

with ScratchDirectory(sys.argv[1]) as scratch:
    scratch.new_file().write_bytes(b"states")
    print(scratch.path, flush=True)
    sys.stdin.read()
"""


def test_directories_of_killed_processes_are_removed(tmp_path: Path) -> None:
    others = tmp_path / "mazurka-others"
    others.mkdir()
    (others / "in-use").touch()
    (others / "text").touch()  # nothing that a search has written
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        path = Path(process.stdout.readline().strip())
        with ScratchDirectory(str(tmp_path)) as beside:
            assert (path / "1").exists()  # of a process that is alive
            assert beside.path.exists()
        process.kill()
        process.wait()
        assert path.exists()
    with ScratchDirectory(str(tmp_path)) as scratch:
        assert set(tmp_path.iterdir()) == {scratch.path, others}
    assert set(tmp_path.iterdir()) == {others}
