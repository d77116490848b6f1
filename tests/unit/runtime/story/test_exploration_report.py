"""The report of a failed exploration: columns, values, who waits for whom."""

from __future__ import annotations

import threading
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.unit.runtime.concurrent_programs import (
    event_before_write,
    inner_executor,
    kept_update,
    lock_order,
    lost_update,
    lost_wake_up,
    spin_for_ever,
)

import mazurka
from mazurka.runtime.core.values import shown
from mazurka.runtime.story.labels import find_path


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("program", [lost_update, lock_order, event_before_write, inner_executor])
def test_no_line_is_wider_than_the_terminal(program: object, width: int) -> None:
    text = mazurka.explore(program, preemptions=2).report(width)
    for line in text.splitlines():
        assert len(line) <= width or line.startswith("  mazurka replay "), line


def test_values_stand_beside_the_accesses() -> None:
    text = mazurka.explore(lost_update, preemptions=2).report(120)
    assert text.count("account.balance ➜ 0") == 2
    assert text.count("account.balance = 1") == 2
    assert "1 preemption (before step 3)" in text
    assert "✗ assert account.balance == 2" in text


def test_threads_have_columns_where_there_is_room() -> None:
    result = mazurka.explore(lost_update, preemptions=2)
    header = next(line for line in result.report(120).splitlines() if "main  " in line)
    assert header.split() == ["main", "Thread-1", "(<lambda>)", "Thread-2", "(<lambda>)"]
    narrow = result.report(60).splitlines()
    assert any(line.lstrip().startswith("2  Thread-1 (<lambda>)") for line in narrow)


def test_a_deadlock_says_who_waits_for_what_and_who_holds_it() -> None:
    text = mazurka.explore(lock_order, preemptions=2).report(140)
    assert "waits to acquire lock two.lock, held by Thread-2 (touch)" in text
    assert "waits to acquire lock one.lock, held by Thread-1 (touch)" in text
    assert "with self.owner.lock:" in text


def test_a_lost_wake_up_is_called_so() -> None:
    result = mazurka.explore(lost_wake_up, preemptions=2)
    assert result.violation is not None
    assert result.violation.message.startswith("lost wake-up: Thread-2 (wake) notified condition")
    assert "when nobody waited" in result.report(120)


def test_a_livelock_names_what_would_have_to_change() -> None:
    text = mazurka.explore(spin_for_ever, preemptions=0).report(120)
    assert "waits for a change of flag.up" in text
    assert "flag.up ➜ False" in text


def test_the_machinery_of_executors_is_left_out() -> None:
    text = mazurka.explore(inner_executor, preemptions=2).report(140)
    assert "_work_queue" not in text
    assert "thread.py" not in text
    assert "account.balance ➜ 0" in text


def test_what_holds_is_told_with_its_scope() -> None:
    lines = mazurka.explore(kept_update, preemptions=2).report(100).splitlines()
    assert lines[0] == "holds"
    assert lines[1] == "  all executions; 2 partial orders, each run once"


def test_the_replay_token_is_on_one_line() -> None:
    result = mazurka.explore(lost_update, preemptions=2)
    assert f"  mazurka replay {result.token}" in result.report(60).splitlines()


def test_labels_prefer_the_shortest_way() -> None:
    lock = threading.Lock()

    class Holder:
        def __init__(self) -> None:
            self.lock = lock

    holders = [Holder()]
    assert find_path([("holders", holders)], lock) == ("holders[0].lock", False)
    assert find_path([("table", {"a": lock}), ("holders", holders)], lock) == ("table['a']", False)
    assert find_path([("holders", holders)], object()) is None
    semaphore = threading.Semaphore()
    inside = vars(vars(semaphore)["_cond"])["_lock"]
    assert find_path([("semaphore", semaphore)], inside) == ("semaphore", True)


def test_values_are_short_and_run_no_code() -> None:
    class Loud:
        def __repr__(self) -> str:
            raise RuntimeError("nobody may call this")

    assert shown(Loud()) == "<Loud>"
    assert shown([1, Loud(), "a"]) == "[1, <Loud>, 'a']"
    assert shown({}) == "{}"
    assert shown(Counter("aab")) == "{'a': 2, 'b': 1}"
    assert shown(deque([1])) == "[1]"
    assert shown((1,)) == "(1,)"
    assert shown(list(range(9))) == "[0, 1, 2, 3, 4, 5, ...]"
    assert len(shown("x" * 100)) == 40


def test_races_are_reported_where_they_are_asked_for() -> None:
    class Cell:
        def __init__(self) -> None:
            self.value = 0

    def race() -> None:
        cell = Cell()

        def write() -> None:
            cell.value = 1

        threads = [threading.Thread(target=write) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert cell.value == 1

    assert mazurka.explore(race, preemptions=2).verdict == "holds"
    result = mazurka.explore(race, races=True)
    assert result.verdict == "violated"
    assert result.violation is not None
    assert result.violation.kind == "race"
    assert "nothing orders the two" in result.violation.message
    assert mazurka.explore(kept_update, races=True).verdict == "holds"


class Guarded:
    def __init__(self) -> None:
        self._lock = threading.Lock()


def test_a_lock_of_the_users_own_class_is_not_called_by_its_owner() -> None:
    def program() -> None:
        first, second = Guarded(), Guarded()

        def both(one: Guarded, other: Guarded) -> None:
            with one._lock, other._lock:
                pass

        pairs = [(first, second), (second, first)]
        threads = [threading.Thread(target=both, args=pair) for pair in pairs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    text = mazurka.explore(program, preemptions=1).report(140)
    assert "waits to acquire lock second._lock, held by Thread-2 (both)" in text


def test_captured_variables_and_containers_of_the_library_have_names_and_values() -> None:
    def program() -> None:
        hits, counts = 0, Counter("a")

        def work() -> None:
            nonlocal hits
            hits += 1
            counts["a"] += 1

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert hits == 2
        assert counts["a"] == 2

    text = mazurka.explore(program, preemptions=2).report(140)
    assert "hits ➜ 0" in text or "counts['a'] ➜ 1" in text
    assert "cell" not in text


def test_what_a_future_waits_for_is_named_once() -> None:
    def program() -> None:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(lambda: pool.submit(int).result()).result()

    text = mazurka.explore(program, preemptions=0).report(140)
    assert "waits for future of int(), which has no result yet" in text
    assert "condition condition" not in text


def test_threads_that_run_methods_under_control_keep_their_names() -> None:
    def program() -> None:
        threading.Thread(target=threading.Event().wait).start()

    text = mazurka.explore(program, preemptions=0).report(140)
    assert "Thread-1 (wait) waits for event" in text


def test_a_comparison_is_about_its_left_side() -> None:
    def program() -> None:
        found: list[int] = []
        threading.Thread(target=lambda: found.append(7)).start()
        assert found == [7]

    report = mazurka.explore(program, preemptions=0).report(200)
    assert "assert found == [7]   found ➜ []" in report
