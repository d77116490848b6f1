# expect: holds
"""A bounded buffer as a class with two conditions on one lock, predicates as methods."""

import threading

from mazurka.model import Int


class Box:
    def __init__(self, cap):
        self.lock = threading.Lock()
        self.not_empty = threading.Condition(self.lock)
        self.not_full = threading.Condition(self.lock)
        self.count: Int[0, 2] = 0
        self.cap = cap

    def has_room(self):
        return self.count < self.cap

    def has_item(self):
        return self.count > 0

    def put(self):
        with self.lock:
            self.not_full.wait_for(self.has_room)
            self.count += 1
            self.not_empty.notify()

    def get(self):
        with self.lock:
            self.not_empty.wait_for(self.has_item)
            self.count -= 1
            self.not_full.notify()


box = Box(1)


def p():
    for _ in range(2):
        box.put()


def c():
    for _ in range(2):
        box.get()


ts = [threading.Thread(target=p), threading.Thread(target=c)]
for t in ts:
    t.start()
for t in ts:
    t.join()
assert box.count == 0
