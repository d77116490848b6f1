# expect: holds
"""Readers and writers with semaphores (Courtois, Heymans and Parnas, 1971).

The first reader locks the room for all readers, the last one opens it again; a writer wants the
room for itself.  Readers never meet a writer, and writers never meet each other.

The algorithm is unfair: as long as readers keep coming, writers wait.  That is no deadlock, and
Mazurka does not report it.
"""

from mazurka.model import Int, Mutex, Semaphore, atomic

READERS = 2
WRITERS = 2

room = Semaphore(1)
door = Mutex()
readers: Int[0, READERS] = 0
reading: Int[0, READERS] = 0
writing: Int[0, WRITERS] = 0


def reader():
    global readers, reading
    while True:
        with door:
            readers += 1
            if readers == 1:
                room.acquire()
        with atomic():
            reading += 1
        assert writing == 0, "somebody reads what is being written"
        with atomic():
            reading -= 1
        with door:
            readers -= 1
            if readers == 0:
                room.release()


def writer():
    global writing
    while True:
        room.acquire()
        writing += 1
        assert writing == 1, "two writers at the same time"
        assert reading == 0, "somebody writes what is being read"
        writing -= 1
        room.release()


threads = [reader() for _ in range(READERS)] + [writer() for _ in range(WRITERS)]
