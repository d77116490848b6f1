import pytest
from together import run_together
from waitress.task import ThreadedTaskDispatcher

pytestmark = pytest.mark.mazurka


class Task:
    def __init__(self, done):
        self.done = done

    def service(self):
        self.done.append(1)

    def cancel(self):
        self.done.append("cancelled")


def test_tasks_are_done_once():
    """holds: tasks wait in a deque under the lock of the dispatcher."""
    dispatcher = ThreadedTaskDispatcher()
    done = []
    dispatcher.set_thread_count(1)
    run_together(lambda: dispatcher.add_task(Task(done)), lambda: dispatcher.add_task(Task(done)))
    dispatcher.shutdown(timeout=1000)
    assert len(done) == 2


def test_all_tasks_are_served():
    """violated: `shutdown` cancels tasks that no thread has begun."""
    dispatcher = ThreadedTaskDispatcher()
    done = []
    dispatcher.set_thread_count(1)
    dispatcher.add_task(Task(done))
    dispatcher.shutdown(timeout=1000)
    assert done == [1]
