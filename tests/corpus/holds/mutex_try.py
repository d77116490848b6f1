# expect: holds
"""`acquire(blocking=False)` never waits; who gets the lock is alone."""

from mazurka.model import Int, Mutex

lock = Mutex()
owner: Int[0, 2] = 0
gave_up: Int[0, 2] = 0


def visitor(me):
    global owner, gave_up
    if lock.acquire(blocking=False):
        owner = me
        assert owner == me
        lock.release()
    else:
        gave_up = me


threads = [visitor(1), visitor(2)]
