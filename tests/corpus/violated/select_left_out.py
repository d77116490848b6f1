# expect: violated deadlock
"""A queue whose condition never comes to hold is left out for ever."""

from mazurka.model import Int, Queue, select

data, control = Queue(1, Int[0, 9]), Queue(1, Int[0, 9])
x: Int[0, 2] = 0


def server():
    select(data if x == 2 else None, control)


def client():
    global x
    data.put(1)
    x = 1


threads = [client(), server()]
