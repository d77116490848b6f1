"""Keys of the program are asked for `__hash__` and `__eq__` as often as without Mazurka."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.unit.runtime.observed_programs import module_of

import mazurka

SOURCE = """
import collections, os, threading

class Key:
    hashes = equals = 0

    def __init__(self, value):
        self.value = value

    def __hash__(self):
        Key.hashes += 1
        return hash(self.value)

    def __eq__(self, other):
        Key.equals += 1
        return self.value == other.value

def make_table(kind):
    return kind((Key(n), n) for n in range(4))

MAKE = {
    "dict": lambda: make_table(dict),
    "OrderedDict": lambda: make_table(collections.OrderedDict),
    "defaultdict": lambda: make_table(lambda pairs: collections.defaultdict(int, pairs)),
    "Counter": lambda: make_table(lambda pairs: collections.Counter(dict(pairs))),
    "set": lambda: {Key(n) for n in range(4)},
}
TABLE = {
    "get": lambda d: d.get(Key(1)),
    "[]": lambda d: d[Key(1)],
    "[]=": lambda d: d.__setitem__(Key(1), 0),
    "new": lambda d: d.update({Key(9): 1}),
    "del": lambda d: d.pop(Key(2), None),
    "in": lambda d: Key(1) in d,
    "setdefault": lambda d: d.setdefault(Key(3), 5),
    "list": lambda d: list(d),
    "items": lambda d: [value for _, value in d.items()],
    "copy": lambda d: d.copy(),
    "==": lambda d: d == d.copy(),
    "|": lambda d: d | {Key(1): 2},
    "len": len,
    "clear": lambda d: d.clear(),
}
OPERATIONS = {
    "dict": TABLE,
    "OrderedDict": {
        **TABLE,
        "move_to_end": lambda d: d.move_to_end(Key(1)),
        "move": lambda d: (d.move_to_end(Key(1), last=False), d.move_to_end(Key(3))),
        "popitem": lambda d: d.popitem(last=False),
        "reversed": lambda d: list(reversed(d)),
    },
    "defaultdict": {**TABLE, "missing": lambda d: d[Key(8)]},
    "Counter": {
        **TABLE,
        "+=": lambda d: d.__setitem__(Key(1), d[Key(1)] + 1),
        "update": lambda d: d.update([Key(1), Key(7)]),
    },
    "set": {
        "add": lambda s: s.add(Key(1)),
        "new": lambda s: s.add(Key(9)),
        "in": lambda s: Key(1) in s,
        "discard": lambda s: s.discard(Key(2)),
        "|": lambda s: s | {Key(1), Key(8)},
        "&": lambda s: s & {Key(1)},
        "<=": lambda s: s <= {Key(1)},
        "update": lambda s: s.update([Key(1), Key(7)]),
        "list": lambda s: list(s),
        "copy": lambda s: s.copy(),
    },
}

def count(kind, name, threads):
    table, operation = MAKE[kind](), OPERATIONS[kind][name]
    Key.hashes = Key.equals = 0
    if threads:
        started = [threading.Thread(target=operation, args=(table,)) for _ in range(threads)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()
    else:
        operation(table)
    return f"{Key.hashes} {Key.equals}"

def write(kind, name, threads, file):
    os.write(file, (count(kind, name, threads) + chr(10)).encode())
"""
KINDS = ["dict", "OrderedDict", "defaultdict", "Counter", "set"]


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_keys_are_asked_as_often_as_without_mazurka(
    kind: str, threads: int, tmp_path: Path
) -> None:
    module = module_of(tmp_path, SOURCE)
    for name in module.OPERATIONS[kind]:
        before = module.count(kind, name, threads)
        reading, writing = os.pipe()

        def test(name: str = name, file: int = writing) -> None:
            module.write(kind, name, threads, file)

        test.__module__ = module.__name__
        result = mazurka.explore(test, preemptions=0)
        os.close(writing)
        with open(reading, encoding="ascii") as pipe:
            found = pipe.read().splitlines()
        assert found, result
        assert set(found) == {before}, (name, before, found)
