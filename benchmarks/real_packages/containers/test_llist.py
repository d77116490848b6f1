import pytest
from llist import dllist
from together import run_together

pytestmark = pytest.mark.mazurka


def test_append():
    """holds: `append` is one operation of C code."""
    numbers = dllist()
    run_together(lambda: numbers.append(1), lambda: numbers.append(2))
    assert sorted(numbers) == [1, 2]


def test_look_then_pop():
    """violated: another thread may take the last item between `size` and `popleft`."""
    numbers = dllist([1])

    def take():
        if numbers.size:
            numbers.popleft()

    run_together(take, take)
