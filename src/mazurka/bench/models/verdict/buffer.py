"""A bounded buffer between producers and consumers, guarded by a mutex and two semaphores."""

from mazurka.model import Array, Int, Mutex, Semaphore

PRODUCERS = 2
CONSUMERS = 2
SIZE = 4

buffer = Array(Int[0, PRODUCERS], SIZE)
head: Int[0, SIZE - 1] = 0
tail: Int[0, SIZE - 1] = 0
vacant = Semaphore(SIZE, max=SIZE)
filled = Semaphore(0, max=SIZE)
guard = Mutex()


def producer(me):
    global tail
    while True:
        vacant.acquire()
        guard.acquire()
        buffer[tail] = me + 1
        tail = (tail + 1) % SIZE
        guard.release()
        filled.release()


def consumer():
    global head
    while True:
        filled.acquire()
        guard.acquire()
        item = buffer[head]
        assert item != 0, "took an item from an empty slot"
        buffer[head] = 0
        head = (head + 1) % SIZE
        guard.release()
        vacant.release()


threads = [producer(i) for i in range(PRODUCERS)] + [consumer() for _ in range(CONSUMERS)]
