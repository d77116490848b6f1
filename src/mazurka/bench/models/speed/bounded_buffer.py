"""A bounded buffer between producers and consumers, guarded by a mutex and two semaphores."""

from mazurka.model import Array, Int, Mutex, Semaphore

PRODUCERS = 3
CONSUMERS = 3
SIZE = 5

buffer = Array(Int[0, PRODUCERS], SIZE)
head: Int[0, SIZE - 1] = 0
tail: Int[0, SIZE - 1] = 0
free = Semaphore(SIZE, max=SIZE)
full = Semaphore(0, max=SIZE)
guard = Mutex()


def producer(i):
    global tail
    while True:
        free.acquire()
        guard.acquire()
        slot = tail
        buffer[slot] = i + 1
        tail = (slot + 1) % SIZE
        guard.release()
        full.release()


def consumer(i):
    global head
    while True:
        full.acquire()
        guard.acquire()
        slot = head
        item = buffer[slot]
        assert item != 0, "took an item from an empty slot"
        buffer[slot] = 0
        head = (slot + 1) % SIZE
        guard.release()
        free.release()


threads = [producer(i) for i in range(PRODUCERS)] + [consumer(i) for i in range(CONSUMERS)]
