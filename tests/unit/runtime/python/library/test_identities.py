"""`id()` under control: the same numbers in every run, and addresses where those are known."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from observed_programs import module_of

from mazurka.report.answer import HOLDS, VIOLATED
from mazurka.runtime.exploring.entry import explore_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.story.result import Result
from mazurka.runtime.testing.decorator import make_test

HEAD = """
import copy, threading

def together(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

class Account:
    def __init__(self):
        self.lock = threading.Lock()
        self.n = 0

noted = {}
class Noted:
    def __init__(self):
        noted[id(self)] = self
        self.n = 0
old = [Noted(), Noted()]
HASHES = hash("text"), hash(1), hash((1, "text"))

"""


def explored(folder: Path, body: str) -> Result:
    module = module_of(folder, f"{HEAD}def program():\n{textwrap.indent(body, '    ')}")
    return explore_test(make_test(module.program, module.program), ExploreOptions(preemptions=2))


ORDERS = {
    "of locks": "sorted([x.lock, y.lock], key=id)",
    "of objects": "[one.lock for one in sorted([x, y], key=id)]",
    "by a function": "[one.lock for one in sorted([x, y], key=lambda one: id(one))]",
    "compared": "[x.lock, y.lock] if id(x) < id(y) else [y.lock, x.lock]",
    "the least": "[min(x, y, key=id).lock, max(x, y, key=id).lock]",
    "in pairs": "[one for _, one in sorted((id(one.lock), one.lock) for one in (x, y))]",
}
PROGRAM = """
{made}
def move(x, y):
    first, second = {order}
    with first, second:
        x.n += 1
        y.n -= 1
together(lambda: move(a, b), lambda: move(b, a))
assert a.n == b.n == 0
"""
MADE = {
    "by one thread": "a, b = Account(), Account()",
    "by two": """made = []
together(lambda: made.append(Account()), lambda: made.append(Account()))
a, b = made""",
}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("order", ORDERS)
def test_locks_in_the_order_of_identities(tmp_path: Path, order: str, made: str) -> None:
    result = explored(tmp_path, PROGRAM.format(made=MADE[made], order=ORDERS[order]))
    assert result.verdict == HOLDS, result.report()


def test_locks_in_any_order(tmp_path: Path) -> None:
    source = PROGRAM.format(made=MADE["by one thread"], order="x.lock, y.lock")
    assert explored(tmp_path, source).verdict == VIOLATED


RIGHT = {
    "everybody sees the same": """
a, b, got = Account(), Account(), []
together(lambda: got.append((id(a), id(b))), lambda: got.append((id(a), id(b))))
assert got == [(id(a), id(b))] * 2
assert id(a) != id(b)
""",
    "none is like another": """
many = [Account() for _ in range(20)]
others = [many, None, 1, "text", Account, copy, together, (), {}]
together(lambda: None)
assert len({id(one) for one in [*many, *others]}) == 29
assert all(id(one) == id(one) for one in [*many, *others])
""",
    "older objects are found again": """
def change(one):
    noted[id(one)].n += 1
assert noted[id(old[0])] is old[0]
old[0].n = old[1].n = 0
together(lambda: change(old[0]), lambda: change(old[1]))
assert old[0].n == old[1].n == 1
""",
    "new objects are found again": """
one = Noted()
together(lambda: None)
assert noted.pop(id(one)) is one
""",
    "functions, classes and containers that are made": """
noted, things = {}, []
def make(number, made_by=()):
    class Made:
        pass
    made = [lambda: number, Made, [number], {number: 1}, {number}, object(), (number, made_by)]
    things.extend(made)
    for one in made:
        noted[id(one)] = one
together(lambda: make(1), lambda: make(2))
assert len(noted) == 14
assert all(noted[id(one)] is one for one in things)
""",
    "hashes are no addresses": """
got = []
def make(number):
    one, other = Account(), object()
    got.append((hash(one), hash(other), hash((one, number)), hash(make)))
    assert hash(one) == hash(one) != hash(other)
    assert hash((one, number)) == hash((one, number)) != hash((other, number))
    assert (hash(one) % 8, hash(other) % 8) == (hash(id(one)) % 8, hash(id(other)) % 8)
    assert hash(one) != object.__hash__(one)
together(lambda: make(1), lambda: make(2))
assert len(got) == 2
""",
    "hashes of older objects and values stay": """
together(lambda: None)
assert hash(old[0]) == object.__hash__(old[0])
assert hash(Account) == object.__hash__(Account)
assert (hash("text"), hash(1), hash((1, "text"))) == HASHES
""",
    "functions that are older": """
keys = {id(together): 1}
together(lambda: keys.pop(id(together)), lambda: None)
assert not keys
""",
    "copies that remember": """
class Node:
    def __init__(self):
        self.all = [self]
    def __deepcopy__(self, memo):
        assert id(self) not in memo
        memo[id(self)] = made = Node()
        made.all = copy.deepcopy(self.all, memo)
        return made
node, got = Node(), []
def work():
    both = copy.deepcopy([node, node])
    got.append(both[0] is both[1] and both[0].all[0] is both[0])
together(work, lambda: None)
assert got == [True]
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_identities_are_those_of_objects(tmp_path: Path, name: str) -> None:
    result = explored(tmp_path, RIGHT[name])
    assert result.verdict == HOLDS, result.report()


def test_addresses_where_c_code_gets_them(tmp_path: Path) -> None:
    body = """
together(lambda: None)
one = Account()
assert ctypes.cast(id(one), ctypes.py_object).value is one
"""
    module = module_of(
        tmp_path, f"import ctypes\n{HEAD}def program():\n{textwrap.indent(body, '    ')}"
    )
    result = explore_test(make_test(module.program, module.program), ExploreOptions(preemptions=1))
    assert result.verdict == HOLDS, result.report()
