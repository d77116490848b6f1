"""A bounded buffer with semaphores: free places, full places, and one for the buffer."""

from mazurka.model import Int, Mutex, Semaphore

PRODUCERS = 2
CONSUMERS = 2
SIZE = 2

free = Semaphore(SIZE, max=SIZE)
full = Semaphore(0, max=SIZE)
lock = Mutex()
used: Int[0, SIZE] = 0


def producer():
    global used
    while True:
        free.acquire()
        with lock:
            used += 1
        full.release()


def consumer():
    global used
    while True:
        full.acquire()
        with lock:
            assert used > 0, "nothing there"
            used -= 1
        free.release()


threads = [producer() for _ in range(PRODUCERS)] + [consumer() for _ in range(CONSUMERS)]
