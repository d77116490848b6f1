import abc
import dataclasses
import enum
import threading
import types

import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


class Color(enum.Flag):
    RED = 1
    BLUE = 2


@dataclasses.dataclass
class Counter:
    count: int = 0
    seen: list = dataclasses.field(default_factory=list)

    def add(self):
        self.count += 1


class Own(threading.local):
    def __init__(self):
        self.items = []


def test_flag():
    """holds: a combination is stored by `setdefault`."""
    found = []
    run_together(
        lambda: found.append(Color.RED | Color.BLUE), lambda: found.append(Color.BLUE | Color.RED)
    )
    assert found[0] is found[1]


def test_dataclass_add():
    """violated: `+=` on a field is a read and a write."""
    counter = Counter()
    run_together(counter.add, counter.add)
    assert counter.count == 2


def test_dataclass_factory():
    """holds: each object gets a list of its own."""
    made = []
    run_together(lambda: made.append(Counter()), lambda: made.append(Counter()))
    assert made[0].seen is not made[1].seen


def test_abstract_class():
    """holds: registering and asking change caches of C code."""

    class Shape(abc.ABC):  # noqa: B024
        pass

    class Circle:
        pass

    run_together(lambda: Shape.register(Circle), lambda: isinstance(Circle(), Shape))
    assert isinstance(Circle(), Shape)


def test_namespace():
    """violated: `+=` on an attribute is a read and a write."""
    counter = types.SimpleNamespace(count=0)

    def add():
        counter.count += 1

    run_together(add, add)
    assert counter.count == 2


def test_local_with_init():
    """holds: `__init__` runs anew in each thread."""
    own = Own()

    def work(number):
        own.items.append(number)
        assert own.items == [number]

    run_together(lambda: work(1), lambda: work(2))
