"""HaltException: workers count up a shared counter; a controller waits for it and halts them.

A synchronization skeleton: one monitor protects the counter and the order to halt, workers notify
when the counter moves, the controller waits until it has come far enough.  Between two visits to
the monitor a worker does a little arithmetic of its own.
"""

from mazurka.model import Condition, Int, RMutex

WORKERS = 3
COUNTS = 3  # how often a worker counts, if nobody halts it
TARGET = 6  # the controller halts the workers once the counter is here
EFFORT = 2  # rounds of local work for one count

monitor = RMutex()
moved = Condition(monitor)
counter: Int[0, WORKERS * COUNTS] = 0
halted: Int[0, 1] = 0
gone: Int[0, WORKERS] = 0


def local_work(seed: Int[0, 6]):
    """What a worker computes before it counts: remainders of squares."""
    value: Int[0, 6] = seed
    for _ in range(EFFORT):
        square = value * value
        value = (square + seed + 1) % 7
    return value


def worker(i):
    global counter, gone
    value: Int[0, 6] = i
    left: Int[0, COUNTS] = COUNTS
    while left > 0:
        value = local_work(value)
        assert value < 7, "the arithmetic leaves its ring"
        with monitor:
            if halted:
                left = 0
            else:
                left -= 1
                counter += 1
                moved.notify_all()
    with monitor:
        gone += 1
        moved.notify_all()


def controller():
    global halted
    with monitor:
        while counter < TARGET:
            moved.wait()
        halted = 1
        seen = counter
    with monitor:
        while gone < WORKERS:
            moved.wait()
        assert counter == seen, "a worker counted after the halt"


threads = [controller()] + [worker(i) for i in range(WORKERS)]
