# expect: holds
"""Behind `put` into a channel the receiver has the item, or has had it."""

from mazurka.model import Channel, Int

meeting = Channel(Int[0, 9])
received: Int[0, 2] = 0


def sender(number):
    meeting.put(number)


def receiver():
    global received
    first = meeting.get()
    second = meeting.get()
    received = 2
    assert first + second == 7


threads = [sender(3), sender(4), receiver()]
