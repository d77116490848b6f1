import threading
from collections import deque

import pytest
from queuelib import PriorityQueue, RoundRobinQueue
from together import run_together

pytestmark = pytest.mark.mazurka


class Memory:
    def __init__(self, *args):
        self.q = deque()

    def push(self, x):
        self.q.append(x)

    def pop(self):
        return self.q.popleft() if self.q else None

    def peek(self):
        return self.q[0] if self.q else None

    def close(self):
        pass

    def __len__(self):
        return len(self.q)


def test_push_two():
    """violated: both make the queue of a priority; one item is lost."""
    q = PriorityQueue(Memory)
    run_together(lambda: q.push("a", 1), lambda: q.push("b", 1))
    assert len(q) == 2


def test_pop_twice():
    """violated: both pop the last item, both delete the queue."""
    q = PriorityQueue(Memory)
    q.push("a", 1)
    found = []
    run_together(lambda: found.append(q.pop()), lambda: found.append(q.pop()))
    assert sorted(map(str, found)) == ["None", "a"]


def test_push_other_priorities():
    """violated: curprio: the smaller one may be overwritten by the larger one."""
    q = PriorityQueue(Memory)
    run_together(lambda: q.push("a", 1), lambda: q.push("b", 2))
    assert q.pop() == "a"


def test_locked():
    """holds: with a lock around."""
    q = PriorityQueue(Memory)
    lock = threading.Lock()

    def push(x, p):
        with lock:
            q.push(x, p)

    run_together(lambda: push("a", 1), lambda: push("b", 2))
    assert q.pop() == "a"
    assert q.pop() == "b"


def test_round_robin():
    """violated: key checked, then queue replaced."""
    q = RoundRobinQueue(Memory)
    run_together(lambda: q.push("a", "k"), lambda: q.push("b", "k"))
    assert len(q) == 2
