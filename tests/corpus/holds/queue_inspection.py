# expect: holds
"""Looking and taking in one indivisible step never waits."""

from mazurka.model import Int, Queue, atomic

box = Queue(2)
taken: Int[0, 2] = 0


def giver():
    box.put(1)
    box.put(2)


def taker():
    global taken
    with atomic():
        if not box.empty():
            taken = box.get()


threads = [giver(), taker(), taker()]
