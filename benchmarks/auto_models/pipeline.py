"""A pipeline of stages with bounded queues between them."""

from mazurka.model import Queue

N = 4
ITEMS = 3

links = [Queue(2) for _ in range(N)]


def source():
    for k in range(ITEMS):
        links[0].put(k + 1)


def stage(i):
    for _ in range(ITEMS):
        links[i].put(links[i - 1].get())


def sink():
    for k in range(ITEMS):
        assert links[N - 1].get() == k + 1, "out of order"


threads = [source()] + [stage(i) for i in range(1, N)] + [sink()]
