"""Clean: a producer and a consumer with a shared buffer in a monitor.

The items are numbered, so the consumer knows what must come next.  The producer makes up an item
from its number, the consumer works out the same again for itself; both do that outside the
monitor.
"""

from mazurka.model import Array, Condition, Int, RMutex

PRODUCERS = 2
ITEMS = 6  # from each producer
SIZE = 2
NUMBERS = PRODUCERS * ITEMS

monitor = RMutex()
not_full = Condition(monitor)
not_empty = Condition(monitor)
buffer = Array(Int[0, 4 * NUMBERS - 1], SIZE)
first: Int[0, SIZE - 1] = 0
used: Int[0, SIZE] = 0


def checksum(number: Int[0, NUMBERS - 1]):
    """Two bits that depend on all bits of a number."""
    low = number % 4
    high = number // 4
    return (low + 3 * high + 1) % 4


def put(item: Int[0, 4 * NUMBERS - 1]):
    global used
    with monitor:
        while used == SIZE:
            not_full.wait()
        buffer[(first + used) % SIZE] = item
        used += 1
        not_empty.notify()


def take():
    global first, used
    with monitor:
        while used == 0:
            not_empty.wait()
        item = buffer[first]
        buffer[first] = 0
        first = (first + 1) % SIZE
        used -= 1
        not_full.notify()
    return item


def producer(i):
    for n in range(ITEMS):
        number = i * ITEMS + n
        item = 4 * number + checksum(number)
        put(item)


def consumer():
    total: Int[0, NUMBERS * NUMBERS] = 0
    for _ in range(NUMBERS):
        item = take()
        number = item // 4
        assert item % 4 == checksum(number), "an item is broken"
        total += number
    assert total == NUMBERS * (NUMBERS - 1) // 2, "an item is lost or came twice"


threads = [producer(i) for i in range(PRODUCERS)] + [consumer()]
