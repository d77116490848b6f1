# expect: violated assert
"""If both queues have an item, `select` may take either."""

from mazurka.model import Int, Queue, select

boxes = [Queue(1, Int[0, 9]) for _ in range(2)]


def worker():
    boxes[0].put(1)
    boxes[1].put(2)
    which, item = select(boxes)
    assert which == 0 and item == 1


threads = [worker()]
