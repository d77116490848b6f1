# expect: holds
"""`join` waits until every item has been dealt with."""

from mazurka.model import Int, Queue, fetch_add

jobs = Queue(2)
finished: Int[0, 2] = 0


def worker():
    while True:
        job = jobs.get()
        if job == 0:
            break
        fetch_add(finished, job)
        jobs.task_done()


def boss():
    jobs.put(1)
    jobs.put(1)
    jobs.join()
    assert finished == 2, "came back too early"
    jobs.put(0)


threads = [worker(), boss()]
