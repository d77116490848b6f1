# expect: violated deadlock
"""A worker that is never told to stop, and a main thread that waits for it."""

import queue
import threading

jobs = queue.Queue()


def worker():
    while True:
        jobs.get()


def main():
    thread = threading.Thread(target=worker)
    thread.start()
    jobs.put(1)
    thread.join()


main()
