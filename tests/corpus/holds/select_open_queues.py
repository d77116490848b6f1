# expect: holds
"""Each queue of a list has a condition of its own; a pump takes no more than it can hand on."""

from mazurka.model import Int, Queue, select

N = 2
queues = [Queue(1, Int[0, 3]) for _ in range(N)]
out = Queue(1, Int[0, 3])


def client(k):
    queues[k].put(k)


def pump():
    waiting = [True] * N
    for _ in range(N):
        which, item = select(
            [queues[i] if waiting[i] and not out.full() else None for i in range(N)]
        )
        assert which == item and waiting[which] and not out.full()
        waiting[which] = False
        out.put(item)


def sink():
    total = out.get() + out.get()
    assert total == 1


threads = [client(0), client(1), pump(), sink()]
