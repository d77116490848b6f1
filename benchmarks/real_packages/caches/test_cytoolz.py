import threading

import cytoolz
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def make():
    @cytoolz.memoize
    def find(key):
        return [key]

    return find


def test_memoized_by_two():
    """violated: C code looks for the key, calls the function and stores what it returns; another
    thread does the same in between."""
    find, found = make(), []

    def look():
        found.append(find(1))

    run_together(look, look)
    assert found[0] is found[1]


def test_memoized_under_a_lock():
    """holds: nobody looks while another thread is between the look and the store."""
    find, found, lock = make(), [], threading.Lock()

    def look():
        with lock:
            found.append(find(1))

    run_together(look, look)
    assert found[0] is found[1]
