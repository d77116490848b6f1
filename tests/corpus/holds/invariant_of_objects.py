# expect: holds
"""Invariants over records, locks, events, queues and threads, and through functions and methods."""

import queue
import threading

from mazurka.model import Bool, Int, invariant


class Slot:
    def __init__(self):
        self.lock = threading.Lock()
        self.busy = False
        self.uses: Int[0, 2] = 0

    def is_fine(self):
        if self.busy:
            return self.lock.locked()
        return self.uses <= 2


slots = [Slot() for _ in range(2)]
ready = threading.Event()
items = queue.Queue(2)
told: Bool = False


def how_many_busy():
    count = 0
    for slot in slots:
        if slot.busy:
            count += 1
    return count


def use(i):
    global told
    with slots[i].lock:
        slots[i].busy = True
        slots[i].uses += 1
        slots[i].busy = False
    items.put(i)
    told = True
    ready.set()


invariant(all(slot.is_fine() for slot in slots))
invariant(
    how_many_busy() <= 2 and items.qsize() <= 2,
    f"{how_many_busy()} slots are busy",
)

if __name__ == "__main__":
    workers = [threading.Thread(target=use, args=(i,)) for i in range(2)]
    invariant(told or not ready.is_set())
    invariant(any(worker.is_alive() or items.qsize() <= 2 for worker in workers))
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
