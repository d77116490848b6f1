"""The concurrent cartesian search: several vectors are made at the same time (Fig. 8 of paper 003).

Making a vector needs nothing but the state that it begins in.  So workers take states, make their
vectors with arrays of their own, outside Python's lock, and hand over the ends of finite prefixes.
What the figure does under a lock is done here between rounds: while the workers of a *batch* are
busy, the store only answers questions; when all have come back, the ends are entered in it.

They are entered in the order of the states whose vectors they are ends of, as a single worker
would have done.  Hence every number, and the violation that is reported, is the same for any
number of workers, whatever the timing was.

| paper | here |
|---|---|
| WorkSet, CoveredSet | the log from POSITION on, the store |
| `WorkerThread` | `Worker.work` |
| *select and remove s from WorkSet* | `Backlog.claim` |
| ActiveThreads, *wait until* | the workers of a round are waited for |
| WorkSet = WorkSet ∪ {last(prefix)} | `ConcurrentSearch.merge` |
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from mazurka.compiled.memory import Area
from mazurka.ir.native.step import NativeProgram
from mazurka.search import Observer, SearchOptions, SearchResult
from mazurka.stateful import blocks
from mazurka.stateful.searches.cartesian import (
    VECTOR_TROUBLES,
    CartesianSearch,
    Vectors,
    VectorView,
)
from mazurka.stateful.variants import WORKERS

ROUND_SECONDS = 0.05
"""After this time the workers come back, finished or not: a user may want to see how it goes."""
CALL_MOVES = 1 << 15
"""How many moves a worker makes between two looks at the clock."""
FIRST_OUTBOX = 1 << 14
LEAST_WORKERS = 2
WORKERS_SHARE = 16
"""All workers' arrays begin with no more than the memory divided by this.  Where more workers are
asked for, there are fewer: the result is the same, and there is room for states."""
BATCH_MOVES = 1 << 19
"""What the workers do between two merges, about: outboxes should not become large."""
WORTH_SHARING = 1 << 14
"""Fewer moves than this are made sooner than other threads have been told of them."""
WORTH_CLAIMING = 1 << 11
"""What a worker takes at a time, in moves, unless that leaves others without work."""
TOLD = (
    blocks.TABLE,
    blocks.CAPACITY,
    blocks.LOG,
    blocks.FAULTS_WANTED,
    blocks.DEADLOCK_WANTED,
)
"""What workers must know of the search as it stands."""


@dataclass
class Share:
    """States that one worker has claimed, and where their vectors lie when they are made."""

    first: int
    last: int
    worker: Worker | None = None
    begins: int = 0
    ends: int = 0


class Backlog:
    """The states from one position of the log to another, in shares that workers claim."""

    def __init__(self, first: int, last: int, size: int) -> None:
        self.shares = [Share(start, min(start + size, last)) for start in range(first, last, size)]
        self._unclaimed = iter(self.shares)
        self._lock = threading.Lock()

    def claim(self) -> Share | None:
        with self._lock:
            return next(self._unclaimed, None)

    @property
    def is_done(self) -> bool:
        return all(share.worker is not None for share in self.shares)


class Worker:
    """Makes vectors in a block of its own."""

    def __init__(
        self,
        native: NativeProgram,
        options: SearchOptions,
        how: Vectors,
        kernel: Callable[[int], int],
    ) -> None:
        self.view = VectorView(native, options, how)
        self.numbers = self.view.block.numbers
        self.kernel = kernel
        self.share: Share | None = None
        self.out_of_memory = False
        self.numbers[blocks.JOB] = blocks.JOB_COLLECT
        self.enter_outbox(Area(FIRST_OUTBOX))

    def enter_outbox(self, outbox: Area) -> None:
        self.view.keep(blocks.OUTBOX, outbox)
        self.numbers[blocks.OUTBOX_ROOM] = outbox.length

    @property
    def outbox(self) -> Area:
        return self.view.kept[blocks.OUTBOX]

    @property
    def bytes(self) -> int:
        return self.view.vector_bytes + 8 * self.outbox.length

    def begin(self, search: VectorView) -> None:
        """Get ready for a batch: an empty outbox, and the search as it stands now."""
        self.view.catch_up_with(search)
        for position in TOLD:
            self.numbers[position] = search.block.numbers[position]
        self.numbers[blocks.OUTBOX_USED] = 0

    def work(self, batch: Backlog, until: float, available: int) -> None:
        """Make vectors until none is left in the batch, or for some time; go on where it was."""
        while not self.out_of_memory:
            if self.share is None and not self.take(batch.claim()):
                return
            self.numbers[blocks.BUDGET] = CALL_MOVES
            reason = self.kernel(self.view.block.address)
            if reason == blocks.DONE:
                self.hand_in()
            elif reason != blocks.SLICE:
                self.out_of_memory = not self.make_room(reason, available)
            if time.perf_counter() >= until:
                return

    def take(self, share: Share | None) -> bool:
        if share is None:
            return False
        self.share = share
        share.begins = self.numbers[blocks.OUTBOX_USED]
        self.numbers[blocks.POSITION], self.numbers[blocks.LAST_POSITION] = share.first, share.last
        return True

    def hand_in(self) -> None:
        assert self.share is not None
        self.share.ends = self.numbers[blocks.OUTBOX_USED]
        self.share.worker, self.share = self, None

    def make_room(self, reason: int, available: int) -> bool:
        if reason in VECTOR_TROUBLES:
            return self.view.make_room(reason, available - 8 * self.outbox.length)
        assert reason == blocks.OUTBOX_FULL
        least = blocks.OUT_FIELDS + self.numbers[blocks.MOST_PREFIXES] * (
            blocks.END_FIELDS + self.numbers[blocks.WORDS]
        )
        used = self.numbers[blocks.OUTBOX_USED]
        larger = Area(max(2 * self.outbox.length, used + least))
        if self.view.vector_bytes + 8 * larger.length > available:
            return False
        larger.words[:used] = self.outbox.words[:used]
        self.enter_outbox(larger)
        return True


class ConcurrentSearch(CartesianSearch):
    """A cartesian search by several workers, the first of which is the thread that calls."""

    pool: ThreadPoolExecutor

    def __init__(
        self, native: NativeProgram, options: SearchOptions, observer: Observer, how: Vectors
    ) -> None:
        super().__init__(native, options, observer, how)
        self.workers = [Worker(native, options, how, self.kernel) for _ in range(LEAST_WORKERS)]
        most = self.limit_bytes // WORKERS_SHARE // max(self.workers[0].bytes, 1)
        self.workers += [
            Worker(native, options, how, self.kernel)
            for _ in range(min(options.value(WORKERS), most) - LEAST_WORKERS)
        ]
        self.batch: Backlog | None = None

    def run(self) -> SearchResult:
        with ThreadPoolExecutor(len(self.workers) - 1) as self.pool:
            return super().run()

    def other_bytes(self) -> int:
        return super().other_bytes() + sum(worker.bytes for worker in self.workers)

    def slice(self, budget: int) -> bool:
        """Make a few vectors here, or let the workers go on with a batch, and merge it at last."""
        if self.batch is None and not self.begin_batch():
            return super().slice(WORTH_SHARING)
        assert self.batch is not None
        self.work(self.batch)
        over = any(worker.out_of_memory for worker in self.workers)
        if over:
            self.conductor.out_of_memory()
        elif self.batch.is_done:
            over = self.merge(self.batch)
            self.batch = None
        self.count()
        return over

    def begin_batch(self) -> bool:
        """Share out the states that wait for their vectors, if that is worth it."""
        position, size = self.numbers[blocks.POSITION], self.numbers[blocks.SIZE]
        waiting, moves = size - position, self.moves_for_one()
        if waiting < 2 or waiting * moves < WORTH_SHARING:
            return False
        self.numbers[blocks.VECTOR_OPEN] = 0  # a worker begins it again
        many = min(waiting, max(len(self.workers), BATCH_MOVES // moves))
        few = max(1, many // (4 * len(self.workers)))
        self.batch = Backlog(position, position + many, min(few, max(1, WORTH_CLAIMING // moves)))
        for worker in self.workers:
            self.view.catch_up_with(worker.view)
        for worker in self.workers:
            worker.begin(self.view)
        return True

    def moves_for_one(self) -> int:
        """About how many moves a vector has, to judge by those made up to now."""
        average = self.numbers[blocks.TRANSITIONS] // max(1, self.numbers[blocks.POSITION])
        begun = self.numbers[blocks.VECTOR_MOVES] if self.numbers[blocks.VECTOR_OPEN] else 0
        return max(1, average, begun)

    def work(self, batch: Backlog) -> None:
        """Let all workers work for a round."""
        until = time.perf_counter() + ROUND_SECONDS
        free = self.limit_bytes - self.store.used_bytes() - self.other_bytes()
        each = free // len(self.workers)
        others = [
            self.pool.submit(worker.work, batch, until, worker.bytes + each)
            for worker in self.workers[1:]
        ]
        self.workers[0].work(batch, until, self.workers[0].bytes + each)
        for other in others:
            other.result()

    def merge(self, batch: Backlog) -> bool:
        """Enter what the workers have handed in; whether the search is over."""
        for share in batch.shares:
            assert share.worker is not None
            self.numbers[blocks.OUTBOX] = share.worker.outbox.address
            self.numbers[blocks.OUTBOX_READ] = share.begins
            self.numbers[blocks.OUTBOX_USED] = share.ends
            while (reason := self.do(blocks.JOB_MERGE)) != blocks.DONE:
                if self.inspect() if reason == blocks.FOUND else self.deal_with(reason):
                    return True
        return self.numbers[blocks.POSITION] == self.numbers[blocks.SIZE]

    def inspect(self) -> bool:
        """Make a vector in which a worker has found something once more, and report it."""
        while (reason := self.do(blocks.JOB_INSPECT, CALL_MOVES)) != blocks.DONE:
            if reason in (blocks.FAULT, blocks.STUCK):
                return self.report()
            if self.deal_with(reason):
                return True
        return False


def search_cartesian(
    native: NativeProgram, options: SearchOptions, observer: Observer, how: Vectors
) -> SearchResult:
    """Run a search by one worker or by several."""
    return cartesian_search(native, options, observer, how).run()


def cartesian_search(
    native: NativeProgram, options: SearchOptions, observer: Observer, how: Vectors
) -> CartesianSearch:
    """Prepare a search by one worker or by several."""
    kind = CartesianSearch if options.value(WORKERS) == 1 else ConcurrentSearch
    return kind(native, options, observer, how)
