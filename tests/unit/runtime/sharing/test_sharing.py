"""What is learned from runs: which places need points, and names that hold in all schedules."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
from observed_programs import find, find_at, follow, module_of, observed
from runtime_deciders import Enumerate

from mazurka.runtime.exploring.observed_program import RelearnError
from mazurka.runtime.sharing.locations import Order, learned
from mazurka.stateless.runs import Shared

HEAD = """
import threading

def together(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_happens_before() -> None:
    """Thread 0 writes x, 1 reads it and writes y, 2 reads y: each comes after the one before."""
    x, y, z = Shared("x"), Shared("y"), Shared("z")
    order = Order()
    order.take(0, [(x, True)])
    order.take(1, [(x, False)])
    order.take(1, [(y, True)])
    order.take(2, [(y, False)])
    order.take(3, [(z, True), (x, False)])
    assert order.is_before(0, 0, 2)  # what 0 did before its first operation
    assert not order.is_before(0, 1, 2)  # what it does after it: nobody can know
    assert order.is_before(1, 2, 2)  # between its two operations
    assert not order.is_before(1, 3, 2)
    assert not order.is_before(1, 0, 3)  # reads of one object do not order each other
    assert order.is_before(0, 0, 3)
    assert not order.is_before(3, 0, 1)  # whoever has done nothing since knows of nothing new


def test_a_thread_is_alone_after_all_joins() -> None:
    order = Order()
    order.take(0, ())
    order.take(1, ())
    order.take(2, ())
    assert not order.has_joined_all(0, 3)
    assert order.join(1, 2)
    order.take(1, ())
    assert not order.has_joined_all(0, 3)
    assert order.join(0, 1)
    order.take(0, ())
    assert order.has_joined_all(0, 3)  # thread 1 has waited for thread 2
    assert not order.has_joined_all(1, 3)


def test_steps_of_the_run_before_are_kept() -> None:
    x = Shared("x")
    order = Order()
    for thread in (0, 1, 2):
        order.take(thread, [(x, True)])
    assert order.is_before(1, 0, 2)
    order.begin(2)
    order.take(2, ())
    assert [event[0] for event in order.events] == [0, 1, 2]
    assert not order.is_before(1, 0, 2)
    order.begin(0)
    order.take(1, [(x, True)])
    assert len(order.events) == 1
    assert not order.is_before(1, 1, 0)


def test_a_run_that_shows_something_new_says_so(tmp_path: Path) -> None:
    source = """
class Box: n = 0
def program():
    box = Box()
    def work():
        box.n = 1
    together(work, work)
"""
    module = module_of(tmp_path, HEAD + source)
    with observed(module, lambda: module.program()) as program:
        with pytest.raises(RelearnError) as error:
            program.run(Enumerate())
        assert not error.value.ended.failures
        assert len(learned.points) == 1
        program.run(Enumerate())
    assert not hasattr(module, "_mazurka_access")


def test_brute_force_finds_the_lost_update(tmp_path: Path) -> None:
    source = """
class Account:
    def __init__(self):
        self.balance = 0
    def deposit(self, n):
        self.balance += n
def program():
    a = Account()
    together(lambda: a.deposit(1), lambda: a.deposit(1))
    assert a.balance == 2
"""
    module = module_of(tmp_path, HEAD + source)

    def every_schedule() -> list[bool]:
        decider = Enumerate()
        failed = []
        while True:
            failed.append(bool(program.run(decider).failures))
            if not decider.restart():
                return failed

    with observed(module, lambda: module.program()) as program:
        failed = program.supervise(every_schedule)
    assert program.restarts >= 1
    assert set(failed) == {True, False}


NAMES = """
class Node:
    def __init__(self, value):
        self.value = value
        self.items = []
class Empty: pass
table = {"k": Empty()}
lone = Empty()
def program():
    node, bare = Node(1), Empty()
    def one():
        mine = Node(2)
        mine.items.append(node)
        node.items.append(mine)
        bare.a = [mine]
        lone.x = {"a": []}
        lone.x["a"].append(1)
        table["k"].n = 1
        late = Empty()
        late.n = 5
    def two():
        mine = [Node(3)]
        node.items.append(mine[0])
        bare.b = mine
        lone.y = {}
        table["k"].n = 2
        other = Empty()
        other.n = 6
    together(one, two)
"""


def test_names_do_not_depend_on_the_schedule(tmp_path: Path) -> None:
    """Each thread touches the same names in the same order, whoever meets an object first."""
    module = module_of(tmp_path, HEAD + NAMES)
    schedules = [(), (0,) * 4 + (2,) * 40, *((0,) * 4 + (1, 2) * k + (2,) * 40 for k in (1, 3, 7))]
    schedules += [tuple(random.Random(seed).choices((0, 1, 2), k=60)) for seed in range(20)]
    trails = follow(module, schedules)
    assert len(trails) == len(schedules)
    for thread in (1, 2):
        # Whether a write adds a key depends on the schedule; which objects there are does not.
        seen = {
            tuple(names[0][0] for who, names in trail.touches if who == thread) for trail in trails
        }
        assert len(seen) == 1
    orders = {tuple(who for who, _ in trail.touches) for trail in trails}
    assert len(orders) > 10


def test_objects_that_nobody_watched_being_made(tmp_path: Path) -> None:
    """Made by code that is not instrumented, and met by two threads at once: one name for all."""
    source = """
from types import SimpleNamespace
maker = eval("lambda: (SimpleNamespace(n=0), SimpleNamespace(n=0))")
def program():
    pair = maker()
    def work(i):
        box = pair[i]
        got = box.n
        box.n = got + 1
    together(lambda: (work(0), work(1)), lambda: (work(1), work(0)))
    return pair[0].n, pair[1].n
"""
    found = find(tmp_path, HEAD + source, bound=1)
    assert found.explored.complete
    assert {(2, 2), (1, 2), (2, 1)} <= found.outcomes


STATEMENTS = [
    "box.a = NUMBER",
    "box.a += 1",
    "box.b = box.a",
    "box.b += box.a",
    "items[0] += 1",
    "items[1] = items[0]",
    "items.append(NUMBER)",
    "box.a = len(items)",
    "table['k'] = box.a",
    "table.setdefault('k', NUMBER)",
    "box.b = table.pop('k', 9)",
    "if box.a: box.b = NUMBER",
    "with lock: box.a += 1",
    "with lock: items[0] = box.b",
    "count = count + 1",
    "box.b = count",
]


def random_program(seed: int) -> str:
    choose = random.Random(seed)
    bodies = []
    for name in ("one", "two"):
        lines = [choose.choice(STATEMENTS) for _ in range(choose.randint(2, 3))]
        lines = [line.replace("NUMBER", str(choose.randint(1, 5))) for line in lines]
        bodies.append(f"    def {name}():\n        nonlocal count\n" + _indented(lines))
    return (
        HEAD
        + "class Box: pass\ndef program():\n    box, items, table = Box(), [0, 0], {}\n"
        + "    box.a = box.b = count = 0\n    lock = threading.Lock()\n"
        + "".join(bodies)
        + "    together(one, two)\n"
        + "    return box.a, box.b, tuple(items), tuple(table.items()), count\n"
    )


def _indented(lines: list[str]) -> str:
    return "".join(f"        {line}\n" for line in lines)


@pytest.mark.parametrize("seed", range(25))
def test_leaving_points_out_loses_nothing(tmp_path: Path, seed: int) -> None:
    """The outcomes with learned points are those with points everywhere, at every bound."""
    source = random_program(seed)
    learning = [*find_at(tmp_path, source, [0, 1]), find(tmp_path, source)]
    bounds = (0, 1, None)
    whole = find_at(tmp_path, source, bounds, everywhere=True)
    for bound, few, all_of_them in zip(bounds, learning, whole, strict=True):
        assert few.explored.complete
        assert all_of_them.explored.complete
        assert few.outcomes == all_of_them.outcomes, (bound, source)
        assert few.explored.executions <= all_of_them.explored.executions


def test_random_programs_differ() -> None:
    assert len({random_program(seed) for seed in range(25)}) > 20


@pytest.mark.parametrize("algorithm", ["algorithm-1", "cb-dfs"])
def test_other_searches_see_the_same(tmp_path: Path, algorithm: str) -> None:
    for seed in itertools.islice(range(100), 4):
        source = random_program(seed)
        here = find(tmp_path, source, 1)
        there = find(tmp_path, source, 1, algorithm=algorithm)
        assert here.outcomes == there.outcomes


def test_objects_that_existed_before_are_told_apart(tmp_path: Path) -> None:
    """Ten accounts of the module, two of them used: the others' names are never needed."""
    source = """
class Account:
    def __init__(self):
        self.balance = 0
accounts = [Account() for _ in range(10)]
def program():
    for account in accounts:
        account.balance = 0
    def work(i):
        accounts[i].balance += 1
    together(*[lambda i=i: work(i) for i in (1, 1, 2, 3, 4, 5)])
    return tuple(account.balance for account in accounts)
"""
    found = find(tmp_path, HEAD + source)
    assert found.outcomes == {(0, 2, 1, 1, 1, 1, 0, 0, 0, 0), (0, 1, 1, 1, 1, 1, 0, 0, 0, 0)}
    # As for two deposits to one account; the others have nothing to do with each other.
    assert found.explored.executions == 4


def test_words_and_numbers_are_no_shared_objects(tmp_path: Path) -> None:
    source = """
def program():
    def work():
        "a b".split().copy()
        (5).bit_length()
        b"x".hex()
    together(work, work)
"""
    found = find(tmp_path, HEAD + source)
    assert found.restarts == 0
    assert found.explored.executions == 1
