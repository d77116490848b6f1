# expect: violated assert "nobody produced"
"""A bounded buffer that asks only once: `if` where `while` belongs.

A consumer that waits is told that there is an item.  But before it has the lock again, another
consumer comes along and takes the item.  The first one, which does not look again, then takes
from an empty buffer: `count` becomes -1, and in Python that is a place to read from, too.
"""

from mazurka.model import Array, Condition, Int, Mutex

SIZE = 2

lock = Mutex()
not_empty = Condition(lock)
items = Array(Int[0, 2], SIZE)
count: Int[-1, SIZE] = 0


def producer():
    global count
    for item in (1, 2):
        with lock:
            items[count] = item
            count += 1
            not_empty.notify()


def consumer():
    global count
    with lock:
        if count == 0:  # and if it is 0 again by the time we wake up?
            not_empty.wait()
        count -= 1
        item = items[count]
        items[count] = 0
    assert item > 0, "got something that nobody produced"


threads = [producer(), consumer(), consumer()]
