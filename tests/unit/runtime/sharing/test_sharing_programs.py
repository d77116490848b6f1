"""Whole programs with instrumented accesses: what is found, and how many orders there are."""

from __future__ import annotations

from pathlib import Path

import pytest
from observed_programs import find

HEAD = """
import threading
from collections import deque
from dataclasses import dataclass

def together(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""

ACCOUNT = """
class Account:
    def __init__(self):
        self.balance = 0
    def deposit(self, n):
        self.balance += n
"""


def test_the_lost_update_is_found(tmp_path: Path) -> None:
    found = find(
        tmp_path,
        HEAD
        + ACCOUNT
        + """
def program():
    a = Account()
    ts = [threading.Thread(target=a.deposit, args=(1,)) for _ in range(2)]
    for t in ts: t.start()
    for t in ts: t.join()
    assert a.balance == 2
""",
        bound=2,
    )
    assert found.kinds == {"assert"}
    assert "1 == 2 (assert a.balance == 2)" in found.messages
    assert found.points == {"hold_attribute self.balance", "augment_attribute self.balance += n"}
    assert found.restarts == 1
    # Read-modify-writes of two threads: one after the other (2), or both reads before both writes
    # (2: the order of the writes).
    assert found.explored.executions == 4


def test_partial_orders_of_unprotected_updates(tmp_path: Path) -> None:
    found = find(
        tmp_path,
        HEAD
        + ACCOUNT
        + """
def program():
    a = Account()
    def twice():
        a.deposit(1)
        a.deposit(1)
    together(twice, twice)
    return a.balance
""",
    )
    assert found.explored.executions == 34
    assert found.outcomes == {2, 3, 4}


@pytest.mark.parametrize(("threads", "rounds", "orders"), [(3, 1, 6), (3, 2, 90)])
def test_what_a_lock_protects_needs_no_points(
    tmp_path: Path, threads: int, rounds: int, orders: int
) -> None:
    found = find(
        tmp_path,
        HEAD
        + ACCOUNT
        + f"""
def program():
    a = Account()
    lock = threading.Lock()
    def work():
        for _ in range({rounds}):
            with lock:
                a.deposit(1)
    together(*[work] * {threads})
    return a.balance
""",
    )
    assert found.points == set()
    assert found.explored.executions == orders
    assert found.outcomes == {threads * rounds}


def test_check_then_act(tmp_path: Path) -> None:
    found = find(
        tmp_path,
        HEAD
        + """
def program():
    made = []
    cache = {}
    def work():
        if "key" not in cache:
            made.append(1)
            cache["key"] = object()
    together(work, work)
    return len(made)
""",
        bound=1,
    )
    assert found.outcomes == {1, 2}


def test_set_default_is_one_access(tmp_path: Path) -> None:
    found = find(
        tmp_path,
        HEAD
        + """
def program():
    cache = {}
    got = [None, None]
    def work(i):
        got[i] = cache.setdefault("key", i)
    together(lambda: work(0), lambda: work(1))
    return got[0] == got[1]
""",
    )
    assert found.outcomes == {True}
    # Whoever comes first; the elements of `got` are different locations.
    assert found.explored.executions == 2


def test_elements_are_told_apart(tmp_path: Path) -> None:
    found = find(
        tmp_path,
        HEAD
        + """
def program():
    results = [0, 0, 0]
    def work(i):
        results[i] = i
        results[i] += 1
    together(*[lambda i=i: work(i) for i in range(3)])
    return tuple(results)
""",
    )
    assert found.outcomes == {(1, 2, 3)}
    assert found.explored.executions == 1


def test_keys_are_told_apart_once_they_are_there(tmp_path: Path) -> None:
    text = """
def program():
    results = {START}
    def work(key):
        results[key] = key
    together(lambda: work("a"), lambda: work("b"))
    return "".join(results)
"""
    old = find(tmp_path, HEAD + text.replace("START", '"a": 0, "b": 0'))
    assert old.explored.executions == 1
    new = find(tmp_path, HEAD + text.replace("START", ""))
    assert new.explored.executions == 2
    assert new.outcomes == {"ab", "ba"}


def test_iteration_sees_changes_between_its_steps(tmp_path: Path) -> None:
    found = find(
        tmp_path,
        HEAD
        + """
def program():
    items = {"a": 1}
    seen = []
    def read():
        for key in items:
            seen.append(key)
    def write():
        items["b"] = 2
    together(read, write)
    return tuple(seen)
""",
        bound=1,
    )
    assert found.kinds == {"exception"}
    assert "dictionary changed size during iteration" in found.messages
    assert {("a",), ("a", "b")} <= found.outcomes


def test_a_loop_that_waits(tmp_path: Path) -> None:
    found = find(
        tmp_path,
        HEAD
        + """
class Flag:
    up = False
def program():
    flag = Flag()
    def wait():
        while not flag.up:
            pass
    def raise_it():
        flag.up = True
    together(wait, raise_it)
    return flag.up
""",
        bound=2,
    )
    assert found.explored.complete
    assert found.kinds == set()
    assert found.outcomes == {True}


def test_a_loop_that_waits_in_vain(tmp_path: Path) -> None:
    found = find(
        tmp_path,
        HEAD
        + """
class Flag:
    up = False
def program():
    flag = Flag()
    def wait():
        while not flag.up:
            pass
    def look():
        return flag.up
    together(wait, look)
""",
        bound=1,
    )
    assert found.kinds == {"livelock"}


def test_counting_loops_are_not_taken_for_waiting_ones(tmp_path: Path) -> None:
    found = find(
        tmp_path,
        HEAD
        + """
class Flag:
    up = False
    tries = 0
def program():
    flag = Flag()
    def wait():
        for _ in [0, 0, 0]:
            if flag.up:
                break
        [flag.up for _ in [0, 0, 0]]
        while not flag.up and flag.tries < 3:
            flag.tries += 1
        steps = iter([0, 0])
        while next(steps, None) is not None:
            flag.up
    def raise_it():
        flag.up = True
    together(wait, raise_it)
    return flag.up
""",
        bound=0,
    )
    assert found.kinds == set()
    assert found.outcomes == {True}


def test_what_is_handed_over_needs_no_points(tmp_path: Path) -> None:
    found = find(
        tmp_path,
        HEAD
        + """
import queue
class Box: pass
def program():
    line = queue.Queue()
    def give():
        box = Box()
        box.n = 1
        line.put(box)
    def take():
        box = line.get()
        box.n += 1
        result.append(box.n)
    result = []
    together(give, take)
    return result[0]
""",
    )
    assert found.points == set()
    assert found.outcomes == {2}


def test_a_write_after_the_start_is_seen(tmp_path: Path) -> None:
    """No point lies between the start of the thread and the write; the write still gets one."""
    found = find(
        tmp_path,
        HEAD
        + """
class Box: n = 0
def program():
    box, seen = Box(), []
    thread = threading.Thread(target=lambda: seen.append(box.n))
    thread.start()
    box.n = 1
    thread.join()
    return seen[0]
""",
    )
    assert found.outcomes == {0, 1}
    assert found.explored.executions == 2
