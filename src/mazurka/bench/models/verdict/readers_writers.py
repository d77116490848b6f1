"""Readers and writers: the first reader takes the room for all of them, the last one leaves it."""

from mazurka.model import Int, Semaphore

READERS = 4
WRITERS = 2

mutex = Semaphore(1, max=1)
room = Semaphore(1, max=1)
readers: Int[0, READERS] = 0
reading: Int[0, READERS] = 0
writing: Int[0, WRITERS] = 0


def reader():
    global readers, reading
    while True:
        mutex.acquire()
        readers += 1
        if readers == 1:
            room.acquire()
        reading += 1
        mutex.release()
        assert writing == 0, "a reader meets a writer"
        mutex.acquire()
        reading -= 1
        readers -= 1
        if readers == 0:
            room.release()
        mutex.release()


def writer():
    global writing
    while True:
        room.acquire()
        writing += 1
        assert writing == 1, "two writers meet"
        assert reading == 0, "a writer meets a reader"
        writing -= 1
        room.release()


threads = [reader() for _ in range(READERS)] + [writer() for _ in range(WRITERS)]
