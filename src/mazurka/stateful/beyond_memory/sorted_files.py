"""States on disk: sorted files of records in a directory that is removed afterwards.

`mazurka.stateful.kernels.sorted_runs` does the work on what is in memory; here are the files, what
is read of them and when, and the room on the disk.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from mazurka.compiled.cache import kernel
from mazurka.compiled.memory import Area
from mazurka.errors import OptionError
from mazurka.search import Observer
from mazurka.stateful import blocks

if sys.platform != "win32":
    import fcntl

PREFIX, LOCK = "mazurka-", "in-use"
"""How the names of directories begin; the file in each that its process keeps locked."""
LEAST_FREE = 64_000_000
"""What is left to others on the disk."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
WORD = 8


class DiskFullError(Exception):
    """There is no room for what has to be written; the text says where, and how much there is."""


@dataclass(frozen=True)
class SortedFile:
    """Different records in ascending order."""

    path: Path
    count: int


class ScratchDirectory:
    """A directory for one search, which is gone when the search is.

    If the process is killed, the next search that stores states beside it removes the directory.  A
    process keeps a file in its directory locked, and the system unlocks it when the process ends:
    so that nothing depends on the numbers of processes, which are used again."""

    def __init__(self, parent: str) -> None:
        self.parent = parent or tempfile.gettempdir()
        self.used_bytes = 0
        self.peak_bytes = 0
        self.made = 0

    def __enter__(self) -> ScratchDirectory:
        self.held = ExitStack()
        try:
            remove_abandoned(Path(self.parent))
            while True:
                kept = self.held.enter_context(
                    tempfile.TemporaryDirectory(
                        prefix=PREFIX, dir=self.parent, ignore_cleanup_errors=True
                    )
                )
                self.path = Path(kept)
                lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
                self.held.callback(os.close, lock)
                if hold(lock) and os.fstat(lock).st_nlink:  # nobody has removed it before that
                    return self
        except OSError as error:
            self.held.close()
            raise OptionError(
                f"no states can be stored in {self.parent} ({error.strerror});"
                " --store-dir names another directory"
            ) from error

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.held.close()

    def new_file(self) -> Path:
        self.made += 1
        return self.path / str(self.made)

    def append(self, file: BinaryIO, data: memoryview) -> None:
        """Write to a file, if the disk has room for it."""
        if shutil.disk_usage(self.path).free < len(data) + LEAST_FREE:
            self.refuse()
        try:
            file.write(data)
        except OSError as error:
            if error.errno in NO_ROOM:
                self.refuse()
            raise
        self.used_bytes += len(data)
        self.peak_bytes = max(self.peak_bytes, self.used_bytes)

    def refuse(self) -> None:
        free = shutil.disk_usage(self.path).free
        raise DiskFullError(
            f"the search has written {self.used_bytes / 1e6:,.0f} MB to {self.parent}, which has"
            f" {free / 1e6:,.0f} MB left; --store-dir names another directory"
        )

    def remove(self, file: SortedFile) -> None:
        self.used_bytes -= file.path.stat().st_size
        file.path.unlink()


def remove_abandoned(parent: Path) -> None:
    """Remove the directories of searches whose processes have been killed."""
    if sys.platform == "win32":
        return
    for path in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if path.lstat().st_uid != os.geteuid():
                continue
            lock = os.open(path / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                ours = all(name == LOCK or name.isdecimal() for name in os.listdir(path))
                if ours and hold(lock, wait=False):
                    shutil.rmtree(path)
            finally:
                os.close(lock)


def hold(file: int, *, wait: bool = True) -> bool:
    """Lock a file until it is closed; return whether it is locked."""
    if sys.platform == "win32":
        return True
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        return True
    return False


class Part:
    """A part of an area: room for some records."""

    def __init__(self, area: Area, words: int, first: int, room: int) -> None:
        """`first` and `room` count records."""
        self.size = words * WORD
        self.address = area.address + first * self.size
        self.room = room
        self.data = memoryview(area.words).cast("B")[first * self.size :][: room * self.size]

    def of_first(self, count: int) -> memoryview:
        """The bytes of the first records."""
        return self.data[: count * self.size]


class FileReader:
    """Reads a sorted file piece by piece into a part of an area."""

    def __init__(self, file: SortedFile, part: Part) -> None:
        self.file = file
        self.part = part
        self.position = 0
        """The record to be read next."""
        self.stream = open(file.path, "rb", buffering=0)  # noqa: SIM115 - closed by `close`

    def close(self) -> None:
        self.stream.close()

    def read(self) -> int:
        """Read the next records into the part; return how many there were."""
        count = min(self.part.room, self.file.count - self.position)
        self.stream.seek(self.position * self.part.size)
        data = self.part.of_first(count)
        while data:
            data = data[self.stream.readinto(data) or 0 :]
        self.position += count
        return count

    def skip_to(self, wanted: tuple[int, ...]) -> None:
        """Go on to a place from which no record that is not less than `wanted` is left out.

        Where few records are looked for in a large file, most of it need not be read.  The steps
        double, then halve, so that next to nothing is lost where all of it must be read.
        """
        step = self.part.room
        while self.position + step < self.file.count and self.record(self.position + step) < wanted:
            self.position += step
            step *= 2
        while step > self.part.room:
            step //= 2
            if (
                self.position + step < self.file.count
                and self.record(self.position + step) < wanted
            ):
                self.position += step

    def record(self, position: int) -> tuple[int, ...]:
        self.stream.seek(position * self.part.size)
        words = array("Q")
        words.frombytes(self.stream.read(self.part.size))
        return tuple(words)


class RunKernel:
    """Sorts records in memory, and merges sorted files; its block, and the calls of the kernel."""

    def __init__(self, words: int, scratch: ScratchDirectory, observer: Observer) -> None:
        self.words = words
        self.scratch = scratch
        self.block = Area(blocks.RUN_BLOCK_WORDS)
        self.numbers = self.block.numbers
        self.numbers[blocks.RUN_WORDS] = words
        self.kernel = kernel("sorted_runs", observer)

    def call(self, job: int) -> int:
        self.numbers[blocks.RUN_JOB] = job
        return self.kernel(self.block.address)

    def find(self, records: Part, count: int, wanted: Sequence[int]) -> int | None:
        """The position of a record among others."""
        record = Area.of(0 for _ in wanted)
        for position, word in enumerate(wanted):
            record.words[position] = word
        self.numbers[blocks.RECORDS], self.numbers[blocks.SPARE] = records.address, record.address
        self.numbers[blocks.RECORD_COUNT] = count
        found = self.call(blocks.JOB_FIND)
        return None if found < 0 else found

    def sort(self, records: Part, spare: Part, count: int) -> Iterator[None]:
        """Sort records, step by step; where they lie afterwards is for `write_sorted` to know."""
        numbers = self.numbers
        numbers[blocks.RECORDS], numbers[blocks.SPARE] = records.address, spare.address
        numbers[blocks.RECORD_COUNT], numbers[blocks.WIDTH] = count, 1
        while self.call(blocks.JOB_SORT) == blocks.RUN_MORE:
            yield

    def write_sorted(self, records: Part, spare: Part, count: int) -> SortedFile:
        """Write the records that were sorted last."""
        sorted_part = records if self.numbers[blocks.RECORDS] == records.address else spare
        path = self.scratch.new_file()
        with open(path, "wb") as file:
            self.scratch.append(file, sorted_part.of_first(count))
        return SortedFile(path, count)


class Subtraction:
    """Merges sorted files, and leaves out the records of others."""

    def __init__(
        self,
        runs: RunKernel,
        area: Area,
        room: int,
        fresh: Sequence[SortedFile],
        known: Sequence[SortedFile] = (),
    ) -> None:
        """`room`: how many records the area can hold for this."""
        self.runs = runs
        files = (*fresh, *known)
        each = room // (len(files) + 1)
        parts = [Part(area, runs.words, each * number, each) for number in range(len(files) + 1)]
        self.output = parts.pop()
        self.inputs = Area(len(files) * blocks.INPUT_FIELDS)
        self.fresh = len(fresh)
        self.files, self.parts = files, parts
        self.readers: list[FileReader] = []

    def run(self) -> Iterator[SortedFile | None]:
        """Merge step by step; the last step yields the file that was made."""
        scratch = self.runs.scratch
        path, count = scratch.new_file(), 0
        try:
            pairs = zip(self.files, self.parts, strict=True)
            self.readers = [FileReader(file, part) for file, part in pairs]
            with open(path, "wb") as file:
                self.begin()
                reason = self.step()
                while reason != blocks.RUN_DONE:
                    if reason == blocks.RUN_OUTPUT_FULL:
                        count += self.empty_output(file)
                    else:
                        self.refill(-1 - reason)
                    yield None
                    reason = self.step()
                count += self.empty_output(file)
        finally:
            for reader in self.readers:
                reader.close()
        yield SortedFile(path, count)

    def begin(self) -> None:
        numbers = self.runs.numbers
        numbers[blocks.FRESH_INPUTS], numbers[blocks.ALL_INPUTS] = self.fresh, len(self.files)
        numbers[blocks.INPUTS] = self.inputs.address
        numbers[blocks.OUTPUT], numbers[blocks.OUTPUT_ROOM] = self.output.address, self.output.room
        numbers[blocks.OUTPUT_COUNT] = numbers[blocks.PENDING] = 0

    def step(self) -> int:
        return self.runs.call(blocks.JOB_SUBTRACT)

    def empty_output(self, file: BinaryIO) -> int:
        """Write what the output holds; how many records that were.

        A record that is still asked about lies behind them: there is none when the output is full.
        """
        count = self.runs.numbers[blocks.OUTPUT_COUNT]
        self.runs.scratch.append(file, self.output.of_first(count))
        self.runs.numbers[blocks.OUTPUT_COUNT] = 0
        return count

    def refill(self, number: int) -> None:
        """Read on in an input; in one that is taken away, not before what is asked about."""
        reader = self.readers[number]
        if number >= self.fresh:
            reader.skip_to(self.pending_record())
        count = reader.read()
        start = number * blocks.INPUT_FIELDS
        here = reader.part.address
        self.inputs.numbers[start + blocks.INPUT_NEXT] = here
        self.inputs.numbers[start + blocks.INPUT_END] = here + count * reader.part.size
        self.inputs.numbers[start + blocks.INPUT_ENDED] = reader.position == reader.file.count

    def pending_record(self) -> tuple[int, ...]:
        size, count = self.output.size, self.runs.numbers[blocks.OUTPUT_COUNT]
        words = array("Q")
        words.frombytes(self.output.data[count * size : (count + 1) * size])
        return tuple(words)
