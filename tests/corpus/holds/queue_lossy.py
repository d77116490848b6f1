# expect: holds
"""A queue that loses messages: the sender's put may not happen."""

from mazurka.model import Int, Queue, choose

line = Queue(2, Int[1, 3])


def send(number):
    lost = choose(False, True)
    if not lost:
        line.put(number)


def sender():
    for number in range(1, 3):
        send(number)
    line.put(3)


def receiver():
    last = 0
    while last < 3:
        number = line.get()
        assert number > last, "out of order"
        last = number


threads = [sender(), receiver()]
