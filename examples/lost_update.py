# expect: violated assert "an update was lost"
"""Two threads count to two, and sometimes only to one.

`counter += 1` looks like one thing and is three: read, add, write.  If both threads read before
either writes, both write 1.  Mazurka finds the four steps that matter; run the program for real
and you may wait for years.

The cure is a lock around the increment: see `lost_update_fixed.py`.
"""

import threading

from mazurka.model import Int

counter: Int[0, 2] = 0


def increment():
    global counter
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
