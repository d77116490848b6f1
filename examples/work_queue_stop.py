# expect: violated deadlock
"""Workers who share one stop signal.

Almost `work_queue.py`, but the producer says only once that the work is over.  The first worker
who hears it goes home; the other one waits for the next job for ever, and the main thread waits
for the worker.
"""

import queue
import threading

WORKERS = 2
JOBS = 2
STOP = 0

jobs = queue.Queue(maxsize=2)


def work():
    while True:
        job = jobs.get()
        if job == STOP:
            break


def main():
    crew = [threading.Thread(target=work) for _ in range(WORKERS)]
    for thread in crew:
        thread.start()
    for job in range(1, JOBS + 1):
        jobs.put(job)
    jobs.put(STOP)
    for thread in crew:
        thread.join()


if __name__ == "__main__":
    main()
