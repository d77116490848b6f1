# expect: holds
# check: --property assert,deadlock,race
"""A bounded buffer as a monitor: one lock, two conditions, and `while` around every wait.

Producers wait for room, consumers for an item.  Everything that is produced is consumed, nothing
twice, nobody waits for ever, and there is no data race.

Two famous mistakes are next door: `bounded_buffer_if.py` and `bounded_buffer_one_condition.py`.
"""

from mazurka.model import Array, Condition, Int, Mutex

SIZE = 1
PRODUCERS = 2
CONSUMERS = 2

lock = Mutex()
not_full = Condition(lock)
not_empty = Condition(lock)
items = Array(Int[0, PRODUCERS], SIZE)
count: Int[0, SIZE] = 0
consumed = Array(Int[0, 2], PRODUCERS + 1)


def put(item):
    global count
    with lock:
        while count == SIZE:
            not_full.wait()
        items[count] = item
        count += 1
        not_empty.notify()


def get():
    global count
    with lock:
        while count == 0:
            not_empty.wait()
        count -= 1
        item = items[count]
        items[count] = 0
        not_full.notify()
    return item


def producer(item):
    put(item)


def consumer():
    item = get()
    assert item != 0, "got something that nobody produced"
    with lock:
        consumed[item] += 1
        assert consumed[item] == 1, "an item was consumed twice"


threads = [producer(i + 1) for i in range(PRODUCERS)] + [consumer() for _ in range(CONSUMERS)]
