# expect: holds
"""Last in, first out."""

from mazurka.model import LifoQueue

pile = LifoQueue(3)


def single():
    pile.put(1)
    pile.put(2)
    pile.put(3)
    assert pile.full()
    assert pile.qsize() == 3
    assert pile.get() == 3
    assert pile.get() == 2
    assert pile.get() == 1


threads = [single()]
