# expect: violated assert
"""`select` over channels: it takes from whoever hands something over."""

from mazurka.model import Channel, select

left, right = Channel(), Channel()


def sender(channel, number):
    channel.put(number)


def receiver():
    which, item = select(left, right)
    assert which == 0, "the right one was there first"
    select(left, right)
    assert item == 1


threads = [sender(left, 1), sender(right, 2), receiver()]
