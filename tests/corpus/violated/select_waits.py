# expect: violated deadlock
"""`select` waits while no queue that counts has an item."""

from mazurka.model import Int, Queue, select

left, right = Queue(1, Int[0, 9]), Queue(1, Int[0, 9])


def worker(ready):
    left.put(1)
    select(left if ready else None, right)


threads = [worker(False)]
