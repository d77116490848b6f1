# expect: holds
# check: --property assert,deadlock,race
"""Two threads count to two, always.

The same program as `lost_update.py` with a lock around the increment.  It is also free of data
races: after `join` nobody else is left who could write.
"""

import threading

from mazurka.model import Int

counter: Int[0, 2] = 0
lock = threading.Lock()


def increment():
    global counter
    with lock:
        counter += 1


def main():
    workers = [threading.Thread(target=increment) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert counter == 2, "an update was lost"


if __name__ == "__main__":
    main()
