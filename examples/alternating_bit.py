# expect: holds
"""The alternating bit protocol over a network that loses messages.

The sender repeats a message until it is acknowledged.  Message and acknowledgement carry one bit,
which alternates from message to message, so that a repetition is not taken for news.  Both
networks hold at most one message and may lose it; `choose` decides.  The receiver gets 0, 1, 2,
0, 1, 2, ... in order, whatever is lost.

Without the bit (`-D USE_BIT=0`) the receiver takes a repetition for the next message.
"""

from mazurka.model import Int, atomic, choose

VALUES = 3
NOTHING = -1
USE_BIT = 1

data: Int[NOTHING, VALUES - 1] = NOTHING  # the network to the receiver
data_bit: Int[0, 1] = 0
acknowledged: Int[NOTHING, 1] = NOTHING  # the network back


def sender():
    global data, data_bit, acknowledged
    value, bit = 0, 0
    while True:
        lost = choose(False, True)
        with atomic():
            data, data_bit = value, bit
            if lost:
                data, data_bit = NOTHING, 0
        with atomic():
            answer = acknowledged
            acknowledged = NOTHING
        if answer == bit:
            value, bit = (value + 1) % VALUES, 1 - bit


def receiver():
    global data, data_bit, acknowledged
    expected, expected_bit = 0, 0
    while True:
        with atomic():
            arrived, bit = data, data_bit
            data, data_bit = NOTHING, 0
        if arrived == NOTHING:
            continue
        if bit == expected_bit or not USE_BIT:
            assert arrived == expected, "a message was lost or repeated"
            expected, expected_bit = (expected + 1) % VALUES, 1 - expected_bit
        lost = choose(False, True)
        if not lost:
            acknowledged = bit


threads = [sender(), receiver()]
