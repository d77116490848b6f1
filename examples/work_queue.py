# expect: holds
"""Workers, a queue of jobs and a queue of results, as one would write it in Python.

The producer puts in all jobs and then one stop signal for each worker; the workers square
numbers; the main thread collects.  All results arrive, whoever did the work, and everybody goes
home.
"""

import queue
import threading

from mazurka.model import Int

WORKERS = 2
JOBS = 3
STOP = 0

jobs = queue.Queue(maxsize=2)
results = queue.Queue(maxsize=JOBS)


def produce():
    for job in range(1, JOBS + 1):
        jobs.put(job)
    for _ in range(WORKERS):
        jobs.put(STOP)


def work():
    while True:
        job = jobs.get()
        if job == STOP:
            break
        results.put(job * job)


def main():
    crew = [threading.Thread(target=work) for _ in range(WORKERS)]
    crew.append(threading.Thread(target=produce))
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    total: Int[0, 99] = 0
    for _ in range(JOBS):
        total += results.get()
    assert total == 14, "a result is missing or wrong"
    assert results.empty(), "there are too many results"


if __name__ == "__main__":
    main()
