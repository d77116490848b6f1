# expect: violated exception
"""`task_done` called more often than there were items."""

import queue

jobs = queue.Queue(maxsize=1)


def worker():
    jobs.put(1)
    jobs.get()
    jobs.task_done()
    jobs.task_done()


threads = [worker()]
