"""Several processes that search together: the same results as one, and nothing left behind."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.runtime.concurrent_programs import (
    PROGRAMS,
    Known,
    kept_update,
    lock_order,
    module_lock_kept,
    run,
)

import mazurka
from mazurka.errors import OptionError
from mazurka.runtime.exploring.workers import parallel, process
from mazurka.runtime.exploring.workers.table import ClosedStates, OpenCounts, SharedTable
from mazurka.runtime.program.existing import Takeover
from mazurka.runtime.story.result import Result
from mazurka.stateless.bounded.context_bound import Exceeded

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked"),
    pytest.mark.filterwarnings("ignore:.*other threads:RuntimeWarning"),
]

HERE = os.getpid()


@pytest.fixture(autouse=True)
def no_process_is_left() -> Any:
    yield
    assert multiprocessing.active_children() == []


@pytest.fixture
def without_scouting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small programs would not need workers."""
    monkeypatch.setattr(parallel, "SCOUTING", 1)


@pytest.fixture
def crews(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The crews that have been called up, by size."""
    called: list[int] = []
    real = parallel.Crew

    def noted(task: Any, size: int) -> Any:
        called.append(size)
        return real(task, size)

    monkeypatch.setattr(parallel, "Crew", noted)
    return called


class Cell:
    def __init__(self) -> None:
        self.value = 0
        self.copies = [0, 0, 0]
        self.lock = threading.Lock()


def read_modify_write() -> None:
    cell = Cell()

    def twice() -> None:
        cell.value += 1
        cell.value += 1

    run(twice, twice)


def two_sections_each() -> None:
    cell = Cell()

    def twice() -> None:
        for _ in range(2):
            with cell.lock:
                cell.value += 1

    run(twice, twice, twice)


def learns_late() -> None:
    """That `copies` is shared shows only if somebody comes between the write and the test."""
    cell = Cell()

    def first() -> None:
        cell.value = 1
        cell.value = 2
        cell.copies[0] = 1

    def second() -> None:
        if cell.value == 1:
            cell.copies[0] = 2

    run(first, second)


def two_join_one() -> None:
    """Ends and joins have to be steps here."""
    cell = Cell()

    def add() -> None:
        with cell.lock:
            cell.value += 1

    thread = threading.Thread(target=add)
    thread.start()
    run(add, add, thread.join, thread.join)


def summary(result: Result) -> tuple[Any, ...]:
    """What must not depend on the number of processes."""
    found = result.violation
    if found is not None:
        assert result.story is not None
        passed = [level.executions for level in result.levels if level.complete]
        return result.verdict, found.kind, result.story.preemptions, passed
    levels = [(level.bound, level.executions, level.exhaustive) for level in result.levels]
    return result.verdict, levels, result.partial_orders, result.states, str(result.error)


def name_of(known: Known) -> str:
    return known.program.__name__


@pytest.mark.usefixtures("without_scouting")
@pytest.mark.parametrize("known", PROGRAMS, ids=name_of)
def test_two_processes_say_what_one_says(known: Known) -> None:
    alone = mazurka.explore(known.program, preemptions=2, workers=1)
    together = mazurka.explore(known.program, preemptions=2, workers=2)
    assert summary(together) == summary(alone)
    assert together.notes == ()


@pytest.mark.usefixtures("without_scouting")
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize(
    ("program", "expected"),
    # C(6; 2, 2, 2) orders of the sections; 34 of two threads with two read-modify-writes each.
    [(two_sections_each, 90), (read_modify_write, 34)],
)
def test_each_partial_order_is_counted_once(
    program: Callable[[], None], expected: int, count: int
) -> None:
    for bound in (None, 9):
        result = mazurka.explore(program, preemptions=bound, workers=count)
        assert result.verdict == "holds", result.report()
        assert result.partial_orders == result.executions == expected
        assert result.levels[-1].exhaustive
        assert f"run by {count} workers" in result.scope
        assert result.runs >= expected
    assert [level.executions for level in result.levels] == [
        level.executions for level in mazurka.explore(program, preemptions=9, workers=1).levels
    ]


def test_what_one_worker_learns_all_of_them_know(without_scouting: None, crews: list[int]) -> None:
    together = mazurka.explore(learns_late, preemptions=2, workers=2)
    assert len(crews) > 1, "they have been called up anew"
    assert summary(together) == summary(mazurka.explore(learns_late, preemptions=2, workers=1))


def test_whether_ends_are_steps_is_for_all_to_agree_on(
    without_scouting: None, crews: list[int]
) -> None:
    for bound in (1, None):
        together = mazurka.explore(two_join_one, preemptions=bound, workers=2)
        alone = mazurka.explore(two_join_one, preemptions=bound, workers=1)
        assert summary(together) == summary(alone)
    assert crews


def test_small_tests_need_no_workers(crews: list[int]) -> None:
    for program in (kept_update, lock_order):
        alone = mazurka.explore(program, workers=1)
        together = mazurka.explore(program, workers=4)
        assert summary(together) == summary(alone)
        assert together.token == alone.token
        assert together.scope == alone.scope
    assert crews == []


def test_a_failure_that_workers_find_can_be_replayed(
    without_scouting: None, crews: list[int]
) -> None:
    result = mazurka.explore(lock_order, workers=2)
    assert crews
    assert result.verdict == "violated"
    assert result.token == mazurka.explore(lock_order, workers=1).token


@pytest.mark.usefixtures("without_scouting")
def test_races_are_found_by_workers_too() -> None:
    result = mazurka.explore(read_modify_write, races=True, workers=2)
    assert result.violation is not None
    assert result.violation.kind == "race"


def dies_elsewhere() -> None:
    kept_update()
    if os.getpid() != HERE:
        os.kill(os.getpid(), signal.SIGKILL)


def waits_elsewhere() -> None:
    kept_update()
    if os.getpid() != HERE:
        signal.pause()


def interrupts_elsewhere() -> None:
    kept_update()
    if os.getpid() != HERE:
        raise KeyboardInterrupt


@pytest.mark.usefixtures("without_scouting")
def test_an_interrupt_while_a_process_is_forked_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Python ignores what functions raise that are called after a fork (`os.register_at_fork`)."""
    kind = multiprocessing.context.ForkProcess
    start, begun = kind.start, []

    def start_interrupted(process: multiprocessing.context.ForkProcess) -> None:
        start(process)
        begun.append(process)
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(kind, "start", start_interrupted)
    with pytest.raises(KeyboardInterrupt):
        mazurka.explore(kept_update, workers=2)
    assert len(begun) == 1
    assert multiprocessing.active_children() == []


@pytest.mark.usefixtures("without_scouting")
def test_a_worker_that_dies_is_an_error() -> None:
    result = mazurka.explore(dies_elsewhere, workers=2)
    assert result.verdict == "error"
    assert "ended unexpectedly, by signal 9" in str(result.error)
    assert result.scope == ""


ORPHANED = """\
import os, sys, time
from mazurka.runtime.exploring.workers.process import end_with_parent

parent = os.getpid()
if os.fork() == 0:
    end_with_parent(parent)
    os.write(1, b"%d" % os.getpid())
    time.sleep(600)
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not see to that")
def test_a_worker_ends_with_its_parent_whatever_it_does() -> None:
    with subprocess.Popen((sys.executable, "-c", ORPHANED), stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pipe = parent.stdout.fileno()
        worker = int(os.read(pipe, 20))
        parent.kill()
        if not select.select([pipe], [], [], 60)[0]:
            os.kill(worker, signal.SIGKILL)
            pytest.fail("the worker has outlived its parent")
        assert os.read(pipe, 20) == b"", "nobody has the other end of the pipe any more"


def test_a_worker_without_a_parent_does_not_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr(process, "die_with_parent", lambda: None)
    monkeypatch.setattr(os, "_exit", ended.append)
    process.end_with_parent(os.getppid())
    process.end_with_parent(os.getpid())
    assert ended == [1]


@pytest.mark.usefixtures("without_scouting")
def test_a_call_that_nobody_controls_is_told_from_a_worker() -> None:
    result = mazurka.explore(waits_elsewhere, workers=2, patience=0.4)
    assert result.verdict == "error"
    assert "not under control" in str(result.error)
    assert "signal.pause()" in str(result.error)


@pytest.mark.usefixtures("without_scouting")
def test_what_is_no_failure_reaches_the_caller() -> None:
    with pytest.raises(KeyboardInterrupt):
        mazurka.explore(interrupts_elsewhere, workers=2)


@pytest.mark.usefixtures("without_scouting")
def test_limits_end_all_workers() -> None:
    result = mazurka.explore(two_sections_each, preemptions=None, workers=2, executions=20)
    assert result.verdict == "inconclusive"
    assert result.limits == ("20 runs",)
    assert 20 <= result.executions <= 21, "each may be in the midst of one"
    result = mazurka.explore(two_sections_each, preemptions=None, workers=2, seconds=0.001)
    assert (result.verdict, result.limits) == ("inconclusive", ("time",))


@pytest.mark.usefixtures("without_scouting")
def test_without_names_one_process_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Takeover, "_unique", lambda self, label: None)
    result = mazurka.explore(module_lock_kept, workers=2)
    assert result.verdict == "holds"
    assert result.notes == (
        "explored by one process: it uses something that existed before it began and has no name",
    )


def write_file() -> None:
    with open(FILE, "w") as file:
        file.write("1")


FILE = f"{tempfile.gettempdir()}/mazurka-{os.getpid()}-{__name__}"


@pytest.mark.usefixtures("without_scouting")
def test_a_program_that_changes_files_is_explored_by_one_process() -> None:
    result = mazurka.explore(write_file, workers=2)
    assert result.verdict == "holds"
    assert result.notes == ("explored by one process: it changes files",)
    assert not os.path.exists(FILE)


def test_options_that_make_no_sense() -> None:
    with pytest.raises(OptionError, match="1 or more"):
        mazurka.explore(kept_update, workers=0)
    with pytest.raises(OptionError, match=r"workers must be 256 or less, not 999; more than"):
        mazurka.explore(kept_update, workers=999)
    with pytest.raises(OptionError, match="algorithm2"):
        mazurka.explore(kept_update, workers=2, strategy="random")


# -- the table


def test_the_table_holds_a_level() -> None:
    table = SharedTable(100)
    table.begin_level()
    table.join_level()
    closed, counts = ClosedStates(table), OpenCounts(table)
    large = 7 << 64 | 5
    same_half = 9 << 64 | 5
    closed.add(0)
    counts[large] = 3
    closed.add(same_half)
    assert 0 in closed
    assert same_half in closed
    assert large not in closed
    assert counts.pop(large, 0) == 3
    assert counts.pop(12, 0) == 0
    table.know(large, 2, 1)
    table.know(large, 2, 1)
    assert table.unseen == 1
    assert counts.pop(large, 0) == 3, "what is known does not change the count"
    assert len(closed) == 2
    table.begin_level()
    table.join_level()
    assert len(closed) == 0
    assert 0 not in ClosedStates(table)
    assert counts.pop(large, 0) == 0
    table.know(large, 2, 1)
    assert table.unseen == 1, "known on all levels"
    table.close()


def test_the_table_ends_with_the_limit() -> None:
    table = SharedTable(10)
    table.begin_level()
    table.join_level()
    for state in range(10):
        table.close_state(state << 80)
    with pytest.raises(Exceeded, match="more than 10 states"):
        table.close_state(11)
    table.close()


def test_threads_are_numbered_once() -> None:
    table = SharedTable(10)
    assert [table.number_of(path) for path in ("0", "0.1", "0.2", "0.1")] == [0, 1, 2, 1]
    table.clear()
    assert table.number_of("0.2") == 2
    assert table.number_of("0.2" * 40_000) is None
    table.close()


def test_a_thread_that_is_lost_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exploration whose thread hangs for ever must not make all later ones wait for it."""
    slept: list[float] = []
    tick = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: next(tick) / 8, sleep=slept.append)
    monkeypatch.setattr(parallel, "time", clock)
    monkeypatch.setattr(parallel, "_stay", set())
    begun, end = allocate_lock(), allocate_lock()

    def hang() -> None:
        begun.release()
        with end:
            pass

    with end:
        for _ in range(2):
            begun.acquire()
            start_new_thread(hang, ())
            with begun:
                pass
            parallel.require_forkable()
            assert slept, "it might have been about to end"
            slept.clear()
            parallel.require_forkable()
            assert not slept
