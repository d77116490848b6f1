"""The alternating bit protocol over channels that lose messages.

The sender repeats a message until its acknowledgement arrives; message and acknowledgement carry
one bit that tells news from repetitions.  A channel holds one message.  The sender waits a while
before it sends again, and how long is not known.
"""

from mazurka.model import Int, Queue, atomic, choose

VALUES = 3
NOTHING = -1

message: Int[NOTHING, 2 * VALUES - 1] = NOTHING  # twice the value, plus the bit
acknowledgement: Int[NOTHING, 1] = NOTHING
given = Queue(1, Int[0, VALUES - 1])  # from the sender's client
accepted = Queue(1, Int[0, VALUES - 1])  # to the receiver's client


def source():
    value = 0
    while True:
        given.put(value)
        value = (value + 1) % VALUES


def sender():
    global message, acknowledgement
    bit = 0
    while True:
        value = given.get()
        answer = NOTHING
        while answer != bit:
            if choose(False, True):  # else it is lost
                message = 2 * value + bit
            while choose(False, True):  # the time-out has not come yet
                pass
            with atomic():
                answer, acknowledgement = acknowledgement, NOTHING
        bit = 1 - bit


def receiver():
    global message, acknowledgement
    expected = 0
    while True:
        with atomic():
            content, message = message, NOTHING
        if content == NOTHING:
            continue
        if content % 2 == expected:
            accepted.put(content // 2)
            expected = 1 - expected
        if choose(False, True):  # else it is lost
            acknowledgement = content % 2


def sink():
    value = 0
    while True:
        assert accepted.get() == value, "a message was lost or repeated"
        value = (value + 1) % VALUES


threads = [source(), sender(), receiver(), sink()]
