# expect: violated assert
"""What a name held before is not what was received last."""

from dataclasses import dataclass

from mazurka.model import Int, Queue


@dataclass(frozen=True)
class Task:
    kind: Int[0, 2]


tasks = Queue(2, Task)


def same(task):
    return task


def worker():
    last = Task(0)
    task = last
    for _ in range(2):
        last = same(task)
        task = tasks.get()
    assert last == task


def client():
    tasks.put(Task(1))
    tasks.put(Task(2))


threads = [client(), worker()]
