# expect: violated deadlock
"""A thread that waits for one that waits for a lock it holds."""

from mazurka.model import Mutex, join, spawn

lock = Mutex()


def worker():
    with lock:
        pass


def main():
    with lock:
        thread = spawn(worker)
        join(thread)


threads = [main()]
