# expect: holds
"""A class with `__init__` and methods: a monitor."""

from mazurka.model import Int, Mutex


class Counter:
    def __init__(self, start):
        self.lock = Mutex()
        self.value: Int[0, 9] = start

    def add(self, amount):
        with self.lock:
            self.value += amount
            return self.value


total = Counter(3)


def worker(amount):
    seen = total.add(amount)
    assert 3 + amount <= seen <= 6


threads = [worker(1), worker(2)]
