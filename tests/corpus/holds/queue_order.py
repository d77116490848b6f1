# expect: holds
"""First in, first out, through a queue of two places."""

from mazurka.model import Int, Queue

channel = Queue(2, Int[0, 4])


def sender():
    for number in range(1, 5):
        channel.put(number)


def receiver():
    for expected in range(1, 5):
        number = channel.get()
        assert number == expected, "out of order"
    assert channel.empty()


threads = [sender(), receiver()]
