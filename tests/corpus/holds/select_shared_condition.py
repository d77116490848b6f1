# expect: holds
"""The condition of a queue is part of the waiting: it is evaluated again and again."""

from mazurka.model import Event, Int, Queue, select

first, second, third = Queue(1, Int[0, 9]), Queue(1, Int[0, 9]), Queue(1, Int[0, 9])
opened = Event()
x: Int[0, 1] = 0
y: Int[0, 1] = 0


def is_ready():
    return y == 1


def server():
    which, item = select(first if x == 1 else None)
    assert which == 0 and item == 3
    which, item = select([None if not opened.is_set() else second])
    assert item == 4
    which, item = select(first, third if is_ready() else None)
    assert which == 1 and item == 5


def client():
    global x, y
    first.put(3)
    x = 1
    second.put(4)
    opened.set()
    third.put(5)
    y = 1


threads = [client(), server()]
