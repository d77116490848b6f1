"""Transfers between accounts, each with a lock; the lock of the lower number is taken first."""

from mazurka.model import Array, Int, Mutex, choose

ACCOUNTS = 3
CLERKS = 3

balance = Array(Int[0, 2 * ACCOUNTS], ACCOUNTS)
locks = Array(Mutex, ACCOUNTS)


def clerk():
    while True:
        source = choose(range(ACCOUNTS))
        target = (source + choose(range(1, ACCOUNTS))) % ACCOUNTS
        low = min(source, target)
        high = max(source, target)
        locks[low].acquire()
        locks[high].acquire()
        before = balance[source]
        theirs = balance[target]
        if before == 0 and theirs == 0:
            balance[source] = 1
            before = 1
        if before > 0 and theirs < 2:
            balance[source] = before - 1
            balance[target] = theirs + 1
        mine = balance[source]
        others = balance[target]
        assert mine + others == before + theirs, "money is lost"
        locks[high].release()
        locks[low].release()


threads = [clerk() for _ in range(CLERKS)]
