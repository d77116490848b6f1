"""The sentence above the table: right for typical bugs, and absent where nothing can be derived."""

from __future__ import annotations

import itertools
import queue
import re
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import mazurka
from mazurka.runtime.exploring.entry import replay_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.exploring.tokens import decode
from mazurka.runtime.story import moved_steps
from mazurka.runtime.story.diagnosis import Diagnosis
from mazurka.runtime.testing.decorator import make_test


class Box(SimpleNamespace):
    """Has the attributes that it is given."""


def run(*targets: Callable[[], object]) -> None:
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def lost_update() -> None:
    box = Box(n=0)

    def add() -> None:
        found = box.n
        box.n = found + 1

    run(add, add)
    assert box.n == 2


def lost_update_on_one_line() -> None:
    box = Box(n=0)

    def add() -> None:
        box.n += 1

    run(add, add)
    assert box.n == 2


def check_then_act() -> None:
    box = Box(pieces=1)

    def sell() -> None:
        if box.pieces > 0:
            box.pieces -= 1

    run(sell, sell)
    assert box.pieces == 0


def two_critical_sections() -> None:
    box, lock = Box(pieces=1), threading.Lock()

    def sell() -> None:
        with lock:
            there = box.pieces > 0
        if there:
            with lock:
                box.pieces -= 1

    run(sell, sell)
    assert box.pieces == 0


def made_twice() -> None:
    box, seen = Box(made=None), list[object]()

    def get() -> None:
        if box.made is None:
            box.made = object()
        seen.append(box.made)

    run(get, get)
    assert seen[0] is seen[1]


def none_in_between() -> None:
    box = Box(link=Box(n=1))

    def use() -> None:
        if box.link is not None:
            box.link.n += 1

    def close() -> None:
        box.link = None

    run(use, close)


def changed_during_iteration() -> None:
    table = {1: 1, 2: 2}

    def walk() -> None:
        for _ in table:
            pass

    def add() -> None:
        table[3] = 3

    run(walk, add)


def empty_then_get() -> None:
    jobs: queue.Queue[int] = queue.Queue()
    jobs.put(1)

    def take() -> None:
        if not jobs.empty():
            jobs.get_nowait()

    run(take, take)


def in_then_delete() -> None:
    table = {"a": 1}

    def drop() -> None:
        if "a" in table:
            del table["a"]  # noqa: RUF051

    run(drop, drop)


def dropped_too_early() -> None:
    table = {"a": 1}

    def drop() -> None:
        table.pop("a")

    def look() -> None:
        assert table["a"] == 1

    run(drop, look)


def cleared_in_between() -> None:
    table: dict[str, int] = {}

    def count() -> None:
        table.clear()
        table["begun"] = 1
        table["a"] = 1
        table["a"] += 1

    run(count, count)


def missing_then_made() -> None:
    table: dict[str, list[int]] = {}

    def add() -> None:
        try:
            found = table["a"]
        except KeyError:
            found = table["a"] = []
        found.append(1)

    run(add, add)
    assert table == {"a": [1, 1]}


def lost_element() -> None:
    table = {"a": 0}

    def add() -> None:
        found = table.get("a", 0)
        table["a"] = found + 1

    def drop() -> None:
        table.pop("b", None)

    run(add, add, drop)
    assert table == {"a": 2}


def same_number_twice() -> None:
    items: list[int] = []

    def add() -> None:
        count = len(items)
        items.append(count)

    run(add, add)
    assert sorted(items) == [0, 1]


def deadlock_cycle() -> None:
    one, two = threading.Lock(), threading.Lock()

    def there() -> None:
        with one, two:
            pass

    def back() -> None:
        with two, one:
            pass

    run(there, back)


def acquired_twice() -> None:
    lock = threading.Lock()

    def twice() -> None:
        with lock, lock:
            pass

    run(twice)


def cycle_beside_idle_worker() -> None:
    jobs: queue.Queue[int] = queue.Queue()
    one, two = threading.Lock(), threading.Lock()

    def work() -> None:
        jobs.get()

    def take(first: threading.Lock, second: threading.Lock) -> None:
        with first:
            second.acquire()
            second.release()

    worker = threading.Thread(target=work)
    worker.start()
    run(lambda: take(one, two), lambda: take(two, one))
    jobs.put(1)
    worker.join()


def cycle_while_main_gets() -> None:
    jobs: queue.Queue[int] = queue.Queue()
    one, two = threading.Lock(), threading.Lock()

    def take(first: threading.Lock, second: threading.Lock) -> None:
        with first:
            second.acquire()
            second.release()
        jobs.put(1)

    threading.Thread(target=take, args=(one, two)).start()
    threading.Thread(target=take, args=(two, one)).start()
    jobs.get()
    jobs.get()


def never_released_beside_idle_worker() -> None:
    jobs: queue.Queue[int] = queue.Queue()
    lock = threading.Lock()

    def take() -> None:
        lock.acquire()

    worker = threading.Thread(target=jobs.get)
    worker.start()
    run(take, take)
    jobs.put(1)
    worker.join()


def join_with_lock() -> None:
    lock = threading.Lock()

    def use() -> None:
        with lock:
            pass

    thread = threading.Thread(target=use)
    with lock:
        thread.start()
        thread.join()


def never_released() -> None:
    lock = threading.Lock()
    run(lambda: lock.acquire(), lambda: lock.acquire())


def lost_wake_up() -> None:
    ready, box = threading.Condition(), Box(ready=False)

    def wait() -> None:
        if not box.ready:
            with ready:
                ready.wait()

    def tell() -> None:
        box.ready = True
        with ready:
            ready.notify()

    run(wait, tell)


def cleared_too_early() -> None:
    event = threading.Event()

    def signal() -> None:
        event.set()
        event.clear()

    def wait() -> None:
        event.wait()

    run(wait, signal)


def seen_half_done() -> None:
    box, seen = Box(mine=10, yours=0), list[int]()

    def move() -> None:
        box.mine -= 5
        box.yours += 5

    def look() -> None:
        seen.append(box.mine + box.yours)

    run(move, look)
    assert seen == [10]


def read_before_it_is_set() -> None:
    box = Box()

    def use() -> None:
        box.value += 1

    thread = threading.Thread(target=use)
    thread.start()
    box.value = 3
    thread.join()


def used_after_close() -> None:
    box = Box(link=Box())

    def use() -> None:
        box.link.n = 1

    def close() -> None:
        box.link = None

    run(use, close)


def sleeps_between() -> None:
    cache, loads = dict[str, int](), list[int]()

    def get() -> None:
        if "k" not in cache:
            time.sleep(0.1)
            loads.append(1)
            cache["k"] = 1

    run(get, get)
    assert len(loads) == 1


def timed_out() -> None:
    event, seen = threading.Event(), list[bool]()

    def wait() -> None:
        seen.append(event.wait(5))

    thread = threading.Thread(target=wait)
    thread.start()
    event.set()
    thread.join()
    assert seen == [True]


IN_CASE = {
    lost_update: "lost update: Thread-1 reads box.n at +4 and sets it to 1 at +5;"
    " Thread-2 sets it to 1 in between, at +5",
    lost_update_on_one_line: "lost update: Thread-1 reads box.n at +4 and sets it to 1 at +4;"
    " Thread-2 sets it to 1 in between, at +4",
    check_then_act: "check then act: Thread-2 checks box.pieces at +4 and acts at +5;"
    " Thread-1 sets it to 0 in between, at +5",
    two_critical_sections: "not atomic: Thread-1 reads box.pieces at +5 and again at +8;"
    " Thread-2 sets it to 0 in between, at +8",
    made_twice: "check then act: Thread-1 checks box.made at +4 and acts at +5;"
    " Thread-2 sets it to <object> in between, at +5",
    none_in_between: "check then act: Thread-1 checks box.link at +4 and acts at +5;"
    " Thread-2 sets it to None in between, at +8",
    changed_during_iteration: "changed during iteration: Thread-1 goes through table at +4;"
    " Thread-2 changes it meanwhile, at +8",
    empty_then_get: "check then act: Thread-1 looks at jobs at +5 and gets from it at +6;"
    " Thread-2 gets 1 from it in between, at +6",
    in_then_delete: "check then act: Thread-1 checks table at +4 and acts at +5;"
    " Thread-2 deletes table['a'] in between, at +5",
    dropped_too_early: "order: Thread-1 deletes table['a'] at +4 before Thread-2 looks for it in"
    " vain at +7; the other way round the test passes",
    cleared_in_between: "not atomic: Thread-1 sets table['a'] to 1 at +6 and looks for it in vain"
    " at +7; Thread-2 changes table in between, at +4",
    missing_then_made: "check then act: Thread-1 finds no table['a'] at +5 and sets it to [] at +7;"
    " Thread-2 sets it to [] in between, at +7",
    lost_element: "lost update: Thread-1 reads table['a'] at +4 and sets it to 1 at +5;"
    " Thread-2 sets it to 1 in between, at +5",
    same_number_twice: "not atomic: Thread-1 reads items at +4 and changes it at +5;"
    " Thread-2 changes it in between, at +5",
    deadlock_cycle: "deadlock cycle: Thread-1 waits for lock two at +4, which Thread-2 holds since"
    " +8; Thread-2 waits for lock one at +8, which Thread-1 holds since +4",
    acquired_twice: "waits for itself: Thread-1 waits for lock lock at +4, which it holds itself"
    " since +4",
    cycle_beside_idle_worker: "deadlock cycle: Thread-2 waits for lock two at +9, which Thread-3"
    " holds since +8; Thread-3 waits for lock one at +9, which Thread-2 holds since +8",
    cycle_while_main_gets: "deadlock cycle: Thread-1 waits for lock two at +6, which Thread-2 holds"
    " since +5; Thread-2 waits for lock one at +6, which Thread-1 holds since +5",
    never_released_beside_idle_worker: "never released: Thread-2 has ended without releasing lock"
    " lock, which it acquired at +5",
    join_with_lock: "deadlock cycle: Thread-1 waits for lock lock at +4, which main holds since +8;"
    " main waits for the end of Thread-1 at +10",
    never_released: "never released: Thread-2 has ended without releasing lock lock, which it"
    " acquired at +2",
    lost_wake_up: "lost wake-up: Thread-1 reads box.ready at +4 and waits for ready at +6; in"
    " between Thread-2 sets box.ready to True at +9 and notifies ready at +11",
    cleared_too_early: "order: Thread-2 clears event at +5 before Thread-1 waits for it at +8; the"
    " other way round the test passes",
    seen_half_done: "not atomic: Thread-1 sets box.mine to 5 at +4 and sets box.yours to 5 at +5;"
    " in between Thread-2 reads box.mine at +8 and reads box.yours at +8",
    read_before_it_is_set: "order: Thread-1 reads box.value at +4 before main sets it to 3 at +8;"
    " the other way round the test passes",
    used_after_close: "order: Thread-2 sets box.link to None at +7 before Thread-1 reads it at +4;"
    " the other way round the test passes",
    timed_out: "order: Thread-1 stops waiting for event at +4 before main sets it at +8; the other"
    " way round the test passes",
    sleeps_between: "check then act: Thread-2 checks cache at +4 and acts at +7;"
    " Thread-1 sets cache['k'] to 1 in between, at +7",
}
"""What is said; `+4` is the fourth line below the one that begins the test."""


def diagnosis_of(program: Callable[[], None], **options: Any) -> Diagnosis | None:
    result = mazurka.explore(program, preemptions=2, **options)
    assert result.violation is not None, result.report()
    return result.violation.diagnosis


@pytest.mark.parametrize("program", IN_CASE, ids=lambda program: program.__name__)
def test_typical_bugs(program: Callable[[], None]) -> None:
    found = diagnosis_of(program)
    assert found is not None
    first = program.__code__.co_firstlineno
    parts = [one if isinstance(one, str) else f"+{one.line - first}" for one in found.parts]
    assert f"{found.kind}: {''.join(parts)}" == IN_CASE[program]


@pytest.mark.parametrize("program", [cycle_beside_idle_worker, cycle_while_main_gets])
def test_headline_of_deadlock_names_thread_of_cycle(program: Callable[[], None]) -> None:
    violation = mazurka.explore(program, preemptions=2).violation
    assert violation is not None
    assert "waits to acquire lock" in violation.message


# -- nothing is said where nothing is known ------------------------------------------------------


def fails_always() -> None:
    box = Box(n=0)

    def one() -> None:
        box.n = 1

    run(one, one)
    assert box.n == 2


def fails_in_another_way_instead() -> None:
    box = Box(n=0)

    def one() -> None:
        box.n = 1

    def two() -> None:
        box.n = 2

    run(one, two)
    assert box.n == 1
    assert box.n == 2


@pytest.mark.parametrize("program", [fails_always, fails_in_another_way_instead])
def test_nothing_is_said_where_no_order_passes(program: Callable[[], None]) -> None:
    assert diagnosis_of(program) is None


def test_nothing_is_said_without_time_to_try(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moved_steps, "MOST_RUNS", 0)
    assert diagnosis_of(lost_update) is None


def test_a_race_says_itself_what_it_is() -> None:
    def program() -> None:
        box = Box(n=0)

        def one() -> None:
            box.n = 1

        run(one, one)

    assert diagnosis_of(program, races=True) is None


# -- where it is told ----------------------------------------------------------------------------


def test_it_stands_above_the_table_and_in_json() -> None:
    result = mazurka.explore(lost_update, preemptions=2)
    first = lost_update.__code__.co_firstlineno
    text = result.report(200)
    said = f"Thread-1 reads box.n at line {first + 4} and sets it to 1 at line {first + 5};"
    assert f"\nlost update: {said}" in text
    assert text.index(said) < text.index("counterexample:")
    violation: Any = result.to_json()["violation"]
    found = violation["diagnosis"]
    assert found["kind"] == "lost update"
    assert found["text"].startswith(said)
    assert [one["line"] - first for one in found["lines"]] == [4, 5, 5]
    assert found["lines"][0]["source"] == "found = box.n"


def test_what_is_changed_under_a_lock_is_shown_where_it_matters() -> None:
    """A lock protects it, so it would cost no scheduling point; the token has these points."""
    result = mazurka.explore(two_critical_sections, preemptions=2)
    text = result.report(200)
    assert "there = box.pieces > 0   box.pieces ➜ 1" in text
    assert "box.pieces = 0" in text
    assert result.token is not None
    test = make_test(two_critical_sections, two_critical_sections)
    again = replay_test(test, ExploreOptions(), decode(result.token))
    assert again.violation is not None
    assert list_rows(again) == list_rows(result)


def test_names_and_values_are_those_of_the_rows() -> None:
    """Each run calls its threads otherwise: what is told is told of one run."""
    count = itertools.count()

    def program() -> None:
        box = Box(n=0)

        def add() -> None:
            box.n += 1

        threads = [threading.Thread(target=add, name=f"worker {next(count)}") for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert box.n == 2

    result = mazurka.explore(program, preemptions=1)
    assert result.story is not None
    assert result.violation is not None
    assert result.violation.diagnosis is not None
    named = re.findall(r"worker \d+", result.violation.diagnosis.text(None))
    assert named
    assert set(named) <= set(result.story.threads.values())


def list_rows(result: mazurka.Result) -> list[tuple[int, str, dict[str, str]]]:
    assert result.story is not None
    return [(step.thread, step.text, step.effects.reads) for step in result.story.steps]
