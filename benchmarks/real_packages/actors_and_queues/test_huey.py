import pytest
from huey import MemoryHuey
from huey.exceptions import TaskLockedException
from together import run_together

pytestmark = pytest.mark.mazurka


def test_task_is_taken_once():
    """holds: the queue is changed under the storage's lock."""
    huey = MemoryHuey(immediate=False)

    @huey.task()
    def add(first, second):
        return first + second

    add(1, 2)
    got = []
    run_together(lambda: got.append(huey.dequeue()), lambda: got.append(huey.dequeue()))
    assert len([task for task in got if task is not None]) == 1


def test_lock_of_tasks():
    """holds: the key of the lock is looked for and stored under the storage's lock."""
    huey = MemoryHuey(immediate=False)
    inside = []

    def use():
        try:
            with huey.lock_task("name"):
                inside.append(1)
                assert len(inside) == 1
                inside.pop()
        except TaskLockedException:
            pass

    run_together(use, use)


def test_counter():
    """violated: `incr` reads the counter once more after its lock: both threads may see two."""
    storage = MemoryHuey(immediate=False).storage
    got = []
    run_together(lambda: got.append(storage.incr("key")), lambda: got.append(storage.incr("key")))
    assert sorted(got) == [1, 2]
