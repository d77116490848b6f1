# expect: violated assert
"""An object starts threads on its own method, which lacks a lock."""

import threading

from mazurka.model import Int


class Counter:
    def __init__(self):
        self.value: Int[0, 9] = 0

    def bump(self, times=1):
        self.value += times

    def go(self):
        a = threading.Thread(target=self.bump)
        b = threading.Thread(target=self.bump, kwargs={"times": 2})
        a.start()
        b.start()
        a.join()
        b.join()
        assert self.value == 3


c = Counter()
c.go()
