import pytest
from more_itertools import peekable, serialize
from together import run_together

pytestmark = pytest.mark.mazurka


def numbers():
    yield from range(2)


def test_shared_generator():
    """violated: a thread that enters the generator while another is in it gets `ValueError`."""
    shared = numbers()
    run_together(lambda: next(shared), lambda: next(shared))


def test_serialize():
    """holds: `serialize` takes a lock for each step."""
    shared = serialize(numbers())
    taken = []
    run_together(lambda: taken.append(next(shared)), lambda: taken.append(next(shared)))
    assert sorted(taken) == [0, 1]


def test_shared_peekable():
    """violated: `__next__` looks into the cache and takes from it in two steps."""
    shared = peekable(iter([1, 2, 3]))
    shared.peek()
    taken = []
    run_together(lambda: taken.append(next(shared)), lambda: taken.append(next(shared)))
    assert sorted(taken) == [1, 2]
