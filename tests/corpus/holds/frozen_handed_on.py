# expect: holds
"""Records that a loop receives are handed to functions and to other queues; they are values."""

from dataclasses import dataclass

from mazurka.model import Int, Queue


@dataclass(frozen=True)
class Task:
    kind: Int[0, 2]
    number: Int[0, 3] = 0


first, second = Queue(1, Task), Queue(2, Task)
EMPTY = 0


def check(task, least):
    seen = task
    assert seen.kind >= least and seen.number == 3 - seen.kind


def relay():
    for _ in range(2):
        task = first.get()
        check(task, least=1)
        second.put(task)


def sink():
    last = Task(EMPTY)
    for _ in range(2):
        task = second.get()
        assert task != last and last.kind + 1 == task.kind
        last = Task(task.kind, task.number)
    assert last == Task(2, 1)


def client():
    first.put(Task(1, 2))
    first.put(Task(2, 1))


threads = [client(), relay(), sink()]
