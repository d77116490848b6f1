# expect: holds
"""Names own the frozen records and tuples that they hold: assigning copies them."""

from dataclasses import dataclass

from mazurka.model import Int, Queue


@dataclass(frozen=True, order=True)
class Task:
    kind: Int[0, 3]
    number: Int[0, 3] = 0


tasks, pairs = Queue(2, Task), Queue(2, (Int[0, 3], Int[0, 3]))
FIRST = Task(0)


def same(task):
    return task


def later(task, other):
    if task < other:
        return other
    return task


def send(task=Task(3)):
    tasks.put(task)


def worker():
    last = before = FIRST.kind
    previous, newest = FIRST, FIRST
    for _ in range(3):
        task = same(tasks.get())
        before, last = last, task.kind
        previous, newest = newest, later(newest, task)
        assert previous.kind == before and newest == task
        assert (previous if last else newest) == previous
    assert previous == Task(2, 1) and newest == Task(3)


def client():
    task = Task(0, 3)
    for kind in range(1, 3):
        task = Task(kind, task.number - 1)
        tasks.put(task)
    send()


def pairing():
    last = (0, 0)
    for _ in range(2):
        pair = pairs.get()
        last, pair = pair, last
        assert pair < last and pair[1] == pair[0]
        last = (last[1], last[0])
    assert last == (2, 2)


def offering():
    pair = (0, 0)
    for _ in range(2):
        pair = (pair[0] + 1, pair[1] + 1)
        pairs.put(pair)


threads = [client(), worker(), offering(), pairing()]
