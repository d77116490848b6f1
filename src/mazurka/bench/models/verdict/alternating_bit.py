"""The alternating bit protocol over two lossy channels; values must arrive in order."""

from mazurka.model import Int, Queue, choose

VALUES = 4
ROOM = 3

data = Queue(ROOM, Int[0, 2 * VALUES - 1])
acks = Queue(ROOM, Int[0, 1])


def sender():
    bit = 0
    value = 0
    while True:
        if choose(0, 1) and not data.full():
            data.put(2 * value + bit)
        if not acks.empty():
            answer = acks.get()
            if answer == bit:
                bit = 1 - bit
                value = (value + 1) % VALUES


def receiver():
    bit = 0
    value = 0
    while True:
        message = data.get()
        if message % 2 == bit:
            assert message // 2 == value, "a value is lost, or comes twice"
            bit = 1 - bit
            value = (value + 1) % VALUES
        if choose(0, 1) and not acks.full():
            acks.put(message % 2)


threads = [sender(), receiver()]
