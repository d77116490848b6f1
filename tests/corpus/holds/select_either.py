# expect: holds
"""`select` takes from whichever queue has an item, and says which."""

from mazurka.model import Int, Queue, select

left, right = Queue(1, Int[0, 9]), Queue(1, Int[0, 9])


def sender(box, number):
    box.put(number)


def receiver():
    total: Int[0, 9] = 0
    for _ in range(2):
        which, item = select(left, right)
        assert item == (3 if which == 0 else 4)
        total += item
    assert total == 7


threads = [sender(left, 3), sender(right, 4), receiver()]
