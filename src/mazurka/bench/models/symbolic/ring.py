"""A ring of bytes between a producer and a consumer, without locks, with checksums of 32 bits.

The producer writes a byte and then says so; the consumer takes it and then says so.  Each adds up
what has passed.  With -D EARLY=1 the producer says so before the byte is there.
"""

from mazurka.model import Array, Int, await_, choose

EARLY = 0
SIZE = 2
BYTES = 4
MOST = 4294967295

ring = Array(Int[0, 255], SIZE)
written: Int[0, MOST] = 0
taken: Int[0, MOST] = 0
sent: Int[0, MOST] = 0


def produces():
    global written, sent
    for _ in range(BYTES):
        byte = choose(range(256))
        await_(written - taken < SIZE)
        sent += byte
        if EARLY:
            written += 1
            ring[(written - 1) % SIZE] = byte
        else:
            ring[written % SIZE] = byte
            written += 1


def consumes():
    global taken
    received = 0
    for _ in range(BYTES):
        await_(taken < written)
        received += ring[taken % SIZE]
        taken += 1
    assert received == sent, "the checksums differ"


threads = [produces(), consumes()]
