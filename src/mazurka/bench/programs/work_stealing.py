"""The work-stealing queue of Cilk, in a circular buffer; its model has the same name.

The THE protocol of Frigo, Leiserson and Randall (*The Implementation of the Cilk-5 Multithreaded
Language*, PLDI 1998).  The owner pushes and takes at the tail, thieves steal at the head under a
lock.  Each first moves its own end and then looks at the other one; the owner asks for the lock
only where the two may have met.  A slot is left free, for a thief moves the head before it reads.
"""

import threading

STEALS = 2


class WorkStealingQueue:
    def __init__(self, size: int) -> None:
        self.size = size
        self.slots = [0] * size
        self.head = 0
        self.tail = 0
        self.lock = threading.Lock()

    def push(self, job: int) -> None:
        end = self.tail
        assert end < self.head + self.size - 1, "there is room"
        self.slots[end % self.size] = job
        self.tail = end + 1

    def take(self) -> int:
        """The newest job; 0 if there is none."""
        end = self.tail - 1
        self.tail = end
        if self.head <= end:
            return self.slots[end % self.size]
        self.tail = end + 1
        with self.lock:
            self.tail = end
            if self.head <= end:
                return self.slots[end % self.size]
            self.tail = end + 1
        return 0

    def steal(self) -> int:
        """The oldest job; 0 if there is none."""
        with self.lock:
            first = self.head
            self.head = first + 1
            if first + 1 <= self.tail:
                return self.slots[first % self.size]
            self.head = first
        return 0


class Owner(threading.Thread):
    def __init__(self, queue: WorkStealingQueue) -> None:
        super().__init__(name="owner")
        self.queue = queue
        self.jobs: list[int] = []

    def run(self) -> None:
        queue, size = self.queue, self.queue.size
        for job in range(1, size):
            queue.push(job)
        jobs = [queue.take()]
        queue.push(size)
        for _ in range(size):
            jobs.append(queue.take())
        self.jobs = jobs


class Stealer(threading.Thread):
    def __init__(self, queue: WorkStealingQueue) -> None:
        super().__init__(name="stealer")
        self.queue = queue
        self.jobs: list[int] = []

    def run(self) -> None:
        queue = self.queue
        self.jobs = [queue.steal() for _ in range(STEALS)]


def each_job_is_taken_once(size: int) -> None:
    queue = WorkStealingQueue(size)
    threads = Owner(queue), Stealer(queue)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = sorted(job for thread in threads for job in thread.jobs if job)
    assert taken == list(range(1, size + 1))


def test_size_3() -> None:
    each_job_is_taken_once(3)


def test_size_4() -> None:
    each_job_is_taken_once(4)


def test_size_5() -> None:
    each_job_is_taken_once(5)
