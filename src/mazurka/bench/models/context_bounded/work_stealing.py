"""The work-stealing queue of Cilk, in a circular buffer (paper 001, Table 1).

The THE protocol of Frigo, Leiserson and Randall (*The Implementation of the Cilk-5 Multithreaded
Language*, PLDI 1998).  The owner pushes and takes at the tail, thieves steal at the head under a
lock.  Each first moves its own end and then looks at the other one; the owner asks for the lock
only where the two may have met.  A slot is left free, for a thief moves the head before it reads.

The main thread owns the queue.  It enqueues SIZE jobs, the last of them after it has dequeued one,
and dequeues what is left, while a stealer steals.  `programs/work_stealing.py` is the same in real
Python.
"""

import threading

from mazurka.model import Array, Int, Mutex

SIZE = 3
STEALS = 2
ALL = 2 ** (SIZE + 1) - 2

slots = Array(Int[0, SIZE], SIZE)
head: Int[0, SIZE + 1] = 0
tail: Int[-1, SIZE] = 0
lock = Mutex()
stolen: Int[0, ALL] = 0
stealer_is_done = threading.Event()


def push(job):
    global tail
    end = tail
    assert end < head + SIZE - 1, "there is room"
    slots[end % SIZE] = job
    tail = end + 1


def take():
    global tail
    end = tail - 1
    tail = end
    if head <= end:
        return slots[end % SIZE]
    tail = end + 1
    with lock:
        tail = end
        if head <= end:
            return slots[end % SIZE]
        tail = end + 1
    return 0


def steal():
    global head
    with lock:
        first = head
        head = first + 1
        if first + 1 <= tail:
            return slots[first % SIZE]
        head = first
    return 0


def mark(jobs, job):
    assert jobs >> job & 1 == 0, "no job is taken twice"
    return jobs | (1 << job if job else 0)


def main():
    jobs = 0
    for job in range(1, SIZE):
        push(job)
    jobs = mark(jobs, take())
    push(SIZE)
    for _ in range(SIZE):
        jobs = mark(jobs, take())
    stealer_is_done.wait()
    assert stolen & jobs == 0, "no job is taken twice"
    assert stolen | jobs == ALL, "every job is taken"


def stealer():
    global stolen
    jobs = 0
    for _ in range(STEALS):
        jobs = mark(jobs, steal())
    stolen = jobs
    stealer_is_done.set()


threads = [main(), stealer()]
