# expect: holds
"""Threads run the methods of a shared object."""

import threading

from mazurka.model import Int


class Counter:
    def __init__(self):
        self.lock = threading.Lock()
        self.value: Int[0, 9] = 0

    def bump(self, times):
        for _ in range(times):
            with self.lock:
                self.value += 1


c = Counter()
ts = [threading.Thread(target=c.bump, args=(2,)) for _ in range(2)]
for t in ts:
    t.start()
for t in ts:
    t.join()
assert c.value == 4
