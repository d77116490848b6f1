# expect: holds
# check: --property assert,deadlock,race
"""Phases kept apart by a barrier.

Every worker writes its own field, then all meet, then everybody reads the field of its neighbour.
A second meeting keeps fast workers from writing the next round while slow ones still read this
one; `-D SECOND=0` leaves it out, and Mazurka reports the race.
"""

from mazurka.model import Array, Barrier, Int

WORKERS = 2
ROUNDS = 2
SECOND = 1

written = Array(Int[0, ROUNDS], WORKERS)
meeting = Barrier(WORKERS)


def worker(i):
    for round_number in range(1, ROUNDS + 1):
        written[i] = round_number
        meeting.wait()
        seen = written[(i + 1) % WORKERS]
        assert seen == round_number, "the neighbour is in another round"
        if SECOND:
            meeting.wait()


threads = [worker(i) for i in range(WORKERS)]
