"""A sequence lock: a writer never waits, and readers notice that they were disturbed.

The writer makes the sequence number odd, changes both halves of the data, and makes it even again.
A reader uses what it has read only if the number was even before and is the same afterwards.  The
halves are arbitrary numbers of 32 bits, one the complement of the other, and the sequence number
has 32 bits: more states than can be stored.  With -D CHECKED=0 the reader does not look at the
number again.
"""

from mazurka.model import Int, choose

CHECKED = 1
READERS = 1
MOST = 4294967295

sequence: Int[0, MOST] = 0
low: Int[0, MOST] = 0
high: Int[0, MOST] = MOST


def writes():
    global sequence, low, high
    while sequence < MOST - 2:
        value = choose(range(MOST + 1))
        sequence += 1
        low = value
        high = MOST - value
        sequence += 1


def reads():
    while True:
        before = sequence
        if before % 2 == 0:
            one = low
            other = high
            if not CHECKED or sequence == before:
                assert one + other == MOST, "half of another value was read"


threads = [writes()] + [reads() for _ in range(READERS)]
