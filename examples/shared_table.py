# expect: holds
"""Workers put what they find into one hash table, without a lock, and nothing twice.

This is the table of Mazurka's own search by several workers
(`mazurka.stateful.kernels.shared_store`), with as few slots and states as show every conflict.  A
slot is free, then claimed with a tag, which is a part of the hash, then published with the place
in the log where the state lies; tag and place are one word.  A worker that meets a slot with the
tag of its own state waits until that is published, and compares the states.

`-D SWAP=0` claims a slot with a read and a write instead of one compare-and-swap, and a state is
stored twice.  So it is with `-D EARLY=1`, which publishes the slot before the state is written: it
is compared with what is not there yet.  `-D WAIT=0` does not wait for a slot that is claimed.
"""

from mazurka.model import Array, Bool, Int, cas

SWAP = 1
EARLY = 0
WAIT = 1

WORKERS = 3
SLOTS = 3
FREE = 0
TAG = 8
CLAIMED = 7

table = Array(Int[0, 2 * TAG], SLOTS)
log = Array(Int[0, 2], WORKERS + 1)
stored = Array(Bool, 3)


def claim(slot, entry):
    if SWAP:
        return cas(table[slot], FREE, entry)
    if table[slot] != FREE:
        return False
    table[slot] = entry
    return True


def worker(me, state, tag):
    """Look at the slots in their order, which is the same for all who have this hash."""
    slot: Int[0, SLOTS] = 0
    place = me + 1
    while True:
        if claim(slot, tag * TAG + CLAIMED):
            if EARLY:
                table[slot] = tag * TAG + place
            log[place] = state
            table[slot] = tag * TAG + place
            assert not stored[state], "a state is stored twice"
            stored[state] = True
            return
        entry = table[slot]
        if entry // TAG == tag:
            while WAIT and entry % TAG == CLAIMED:
                entry = table[slot]
            if entry % TAG != CLAIMED and log[entry % TAG] == state:
                return
        slot += 1


threads = [worker(0, 1, 1), worker(1, 1, 1), worker(2, 2, 1)]
