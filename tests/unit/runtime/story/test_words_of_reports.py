"""What reports say of threads with the same name, of containers, and of threads that do nothing."""

from __future__ import annotations

import linecache
import os
import queue
import sys
import threading
import time
import warnings
from collections import OrderedDict, deque, namedtuple
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from tests.limits import ENOUGH

import mazurka
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.tasks import shorten, tell_apart
from mazurka.runtime.core.values import shown
from mazurka.runtime.exploring import plain_run
from mazurka.runtime.testing.collecting import collect


def report(program: Callable[[], None], **options: Any) -> str:
    result = mazurka.explore(program, **{"preemptions": 1, **options})
    assert result.violation is not None, result.report()
    return result.report(200)


def run(*targets: Callable[[], object], name: str | None = None) -> None:
    threads = [threading.Thread(target=target, name=name) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_test_that_fails_at_once_may_fail_without_mazurka(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails() -> None:
        run(list)
        raise ValueError("in any case")

    def fails_by_a_switch() -> None:
        seen: list[int] = []
        run(lambda: seen.append(len(seen)), lambda: seen.append(len(seen)))
        assert seen == [0, 1]

    def fails_under_mazurka() -> None:
        run(list)
        assert session.current.ident == 0, "not in a plain run"

    def ends_its_process() -> None:
        run(list)
        if session.current.ident == 0:
            os._exit(1)
        raise ValueError("not in a plain run")

    def fails_in_a_thread() -> None:
        def fail() -> None:
            raise ValueError

        run(fail)

    monkeypatch.setattr(plain_run, "LONGEST", ENOUGH)
    told = "and a run without Mazurka has failed in the same way"
    assert told in report(fails)
    assert told not in report(fails_under_mazurka)
    assert told not in report(ends_its_process)
    assert told not in report(fails_in_a_thread)
    assert told not in report(fails_by_a_switch)
    assert told not in report(fails, strategy="random", preemptions=None, seed=1, executions=1)


def test_a_test_that_sleeps_longer_than_a_plain_run_may_take_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails_after(seconds: float) -> None:
        run(lambda: time.sleep(seconds))
        raise ValueError("later")

    begun: list[object] = []

    def refuse(process: object) -> None:
        begun.append(process)
        raise OSError

    monkeypatch.setattr(plain_run, "fork_quietly", refuse)
    monkeypatch.setattr(plain_run, "LONGEST", 5.0)
    report(lambda: fails_after(5))
    assert not begun
    with pytest.raises(OSError, match=r"^$"):
        report(lambda: fails_after(4))
    assert begun


# -- threads with the same name ------------------------------------------------------------------


def test_names_are_told_apart() -> None:
    assert tell_apart({0: "main", 1: "w", 2: "w"}) == {0: "main", 1: "w (1)", 2: "w (2)"}
    assert tell_apart({0: "w", 1: "w (1)", 2: "w"}) == {0: "w (2)", 1: "w (1)", 2: "w (3)"}


def test_what_a_thread_runs_is_said_once() -> None:
    assert shorten("Thread-12 (run)") == "Thread-12"
    assert shorten("worker (2)") == "worker (2)"
    assert shorten("loader (images)") == "loader (images)"


def test_a_deadlock_of_threads_with_one_name() -> None:
    def program() -> None:
        one, two = threading.Lock(), threading.Lock()

        def there() -> None:
            with one, two:
                pass

        def back() -> None:
            with two, one:
                pass

        run(there, back, name="worker")

    text = report(program)
    assert "start worker (1)  start worker (2)" in text
    assert "waits to join worker (1)" in text
    assert "waits to acquire lock two, held by worker (2) since line" in text
    assert "waits to acquire lock one, held by worker (1) since line" in text


def test_a_race_of_threads_with_one_name() -> None:
    def program() -> None:
        seen = {"n": 0}

        def write() -> None:
            seen["n"] = 1

        run(write, write, name="worker")

    text = report(program, races=True)
    assert 'worker (2) writes seen["n"], worker (1) writes it' in text


def test_an_exception_of_a_thread_with_a_name_of_several() -> None:
    def program() -> None:
        def fail() -> None:
            raise ValueError("no")

        run(lambda: None, fail, name="worker")

    result = mazurka.explore(program, preemptions=0)
    assert result.violation is not None
    assert result.violation.details[0] == "in thread worker (2)"


# -- containers and attributes -------------------------------------------------------------------


class Box:
    limit = 3

    def __init__(self) -> None:
        self.items: list[int] = []


def effects(use: Callable[[Any], object], make: Callable[[], Any]) -> str:
    """The report on an operation that a thread performs on what another one looks at later."""

    def program() -> None:
        thing = make()
        run(lambda: use(thing), lambda: use(thing))
        raise AssertionError("shown")

    return report(program, preemptions=0)


def delete(table: Any) -> None:
    if "k" in table:
        del table["k"]


def pop(table: Any) -> None:
    table.pop("k", None)


def pop_in_vain(table: Any) -> None:
    table.pop("no", None)
    table["yes"] = 1


def default(table: Any) -> None:
    table.setdefault("k", 5)


def write_pair(table: Any) -> None:
    table["a", 1] = 5


def write_none(table: Any) -> None:
    table[None] = 5


def discard(numbers: Any) -> None:
    numbers.discard(1)


def add(numbers: Any) -> None:
    numbers.add(3)


def append(numbers: Any) -> None:
    numbers.append(numbers[0])


def step(iterator: Any) -> None:
    next(iterator)


def remove_attribute(box: Any) -> None:
    if hasattr(box, "items"):
        del box.items


def raise_limit(box: Any) -> None:
    box.limit += 1


@pytest.mark.parametrize(
    ("use", "make", "text"),
    [
        (delete, lambda: {"k": 1}, "thing['k'] deleted"),
        (pop, lambda: {"k": 1}, "thing['k'] deleted"),
        (pop, lambda: {"k": 1}, "thing['k'] ➜ missing"),
        (pop_in_vain, dict, "thing['no'] ➜ missing"),
        (default, dict, "thing['k'] = 5"),
        (default, dict, "thing['k'] ➜ 5"),
        (write_pair, dict, "thing[('a', 1)] = 5"),
        (write_none, dict, "thing = {None: 5}"),
        (discard, lambda: {1, 2}, "thing = {2} (1 removed)"),
        (discard, lambda: {1, 2}, "thing ➜ {2}"),
        (add, lambda: {1}, "thing = {1, 3} (3 added)"),
        (append, lambda: [4], "thing = [4, 4]"),
        (append, lambda: deque([4]), "thing[0] ➜ 4"),
        (step, lambda: iter([1, 2, 3]), "use thing"),
        (remove_attribute, Box, "thing.items deleted"),
        (remove_attribute, Box, "thing.items ➜ missing"),
        (raise_limit, Box, "thing.limit = 4"),
    ],
)
def test_what_an_operation_does_is_said(
    use: Callable[[Any], object], make: Callable[[], Any], text: str
) -> None:
    assert text in effects(use, make)


class Colour(Enum):
    RED = 1


class Table(dict[str, int]):
    def items(self) -> Any:
        raise RuntimeError("nobody may call this")


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (set(), "set()"),
        (frozenset(), "frozenset()"),
        (Colour.RED, "Colour.RED"),
        (Table(a=1), "Table {'a': 1}"),
        (Point(1, (2,)), "Point (1, (2,))"),
        (date(2026, 1, 2), "2026-01-02"),
        (10**1000, "<int of 3,322 bits>"),
        ("x" * 99, f"'{'x' * 35}'..."),
        (["abcdefgh"] * 5, "['abcdefgh', 'abcdefgh', ...]"),
        (("x" * 99,), f"('{'x' * 35}'...,)"),
    ],
)
def test_values_are_not_cut_off_in_the_middle(value: object, text: str) -> None:
    assert shown(value) == text


def test_ordered_dictionaries_are_shown_in_their_order() -> None:
    ordered = OrderedDict(a=1, b=2)
    ordered.move_to_end("a")
    assert shown(ordered) == "{'b': 2, 'a': 1}"


# -- where the others stand ----------------------------------------------------------------------


def test_threads_that_have_not_failed() -> None:
    def program() -> None:
        box = Box()

        def fill() -> None:
            box.items = [1]
            box.limit = 4

        def check() -> None:
            assert not box.items or box.limit == 4

        threads = [threading.Thread(target=one, name=one.__name__) for one in (fill, check)]
        threads.append(threading.Thread(target=int, name="late"))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    text = report(program)
    assert "main stands at line" in text
    assert "fill stands at line" in text
    assert "box.limit = 4" in text
    assert "late has " in text, "it takes no step that has a row"


def test_threads_that_have_ended_before_a_deadlock() -> None:
    def program() -> None:
        gate = threading.Semaphore(1)
        run(gate.acquire, gate.acquire, name="one")

    assert "  one (2) has ended" in report(program).splitlines()


def test_an_executor_that_waits_for_its_threads() -> None:
    def program() -> None:
        never = threading.Event()
        executor = ThreadPoolExecutor(1)
        executor.submit(never.wait)
        executor.shutdown()

    text = report(program)
    assert "executor.shutdown()" in text
    assert "waits for the executor's threads to end, now for ThreadPoolExecutor-0_0" in text


def test_a_call_of_an_executor_fails_at_its_future() -> None:
    def work() -> None:
        raise KeyError("k")

    def program() -> None:
        with ThreadPoolExecutor(1) as executor:
            executor.submit(work).result()

    lines = report(program).splitlines()
    failing = [line for line in lines if "✗" in line]
    assert all("executor.submit(work).result()" in line for line in failing)
    assert len(failing) == 2
    assert any(line.endswith("in work, called by an executor") for line in lines)


def test_the_clock_of_dates_is_named() -> None:
    def program() -> None:
        box: Any = Box()

        def stamp() -> None:
            box.stamp = datetime.now()
            box.limit = 1

        run(stamp, stamp)

    notes = mazurka.explore(program, preemptions=0, virtual_time=False).notes
    assert any(note.endswith("may fail by chance") and ": the clock" in note for note in notes)


@pytest.mark.skipif(
    bool(getattr(sys.flags, "context_aware_warnings", False)),
    reason="warnings are recorded by context",
)
def test_each_warning_is_shown_once() -> None:
    def program() -> None:
        box = Box()

        def warn() -> None:
            warnings.warn("old", UserWarning, stacklevel=1)  # here
            box.limit += 1

        run(warn, warn)

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = mazurka.explore(program, preemptions=None)
    assert result.executions > 2
    assert [str(one.message) for one in found] == ["old"]
    assert found[0].filename == __file__
    assert linecache.getline(__file__, found[0].lineno).endswith("# here\n")


def test_a_test_that_records_warnings_gets_them_in_every_execution() -> None:
    def program() -> None:
        box = Box()

        def change() -> None:
            box.limit += 1

        run(change, change)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            warnings.warn("old", UserWarning, stacklevel=1)
        assert len(found) == 1

    assert mazurka.explore(program, preemptions=1).verdict == "holds"


def test_a_class_stands_for_its_tests(tmp_path: Path) -> None:
    file = tmp_path / "test_collected_class.py"
    file.write_text(
        "class TestOne:\n    def test_a(self): pass\n    def test_b(self): pass\n"
        "class TestOneMore:\n    def test_c(self): pass\n"
    )
    names = [found.test.name.partition("::")[2] for found in collect(f"{file}::TestOne")]
    assert names == ["TestOne::test_a", "TestOne::test_b"]


# -- queues --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda items: items.get(timeout=2), "get items: timed out"),
        (lambda items: items.get(block=False), "get items: not now"),
    ],
)
def test_calls_of_a_queue_that_fail(call: Callable[[queue.Queue[int]], int], told: str) -> None:
    def program() -> None:
        items: queue.Queue[int] = queue.Queue()
        thread = threading.Thread(target=items.put, args=(1,))
        thread.start()
        call(items)
        thread.join()

    assert told in report(program)


def test_a_wait_for_a_condition_that_times_out() -> None:
    def program() -> None:
        ready = threading.Condition()
        thread = threading.Thread(target=notify, args=(ready,))
        thread.start()
        with ready:
            assert ready.wait(2)
        thread.join()

    def notify(ready: threading.Condition) -> None:
        with ready:
            ready.notify()

    assert "wake ready: timed out" in report(program)
