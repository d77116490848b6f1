# expect: holds
# check: --property assert,deadlock,race
"""`acquire` and `release` called by hand, around a check that needs them."""

from mazurka.model import Int, Mutex

lock = Mutex()
money: Int[0, 3] = 3


def spend(amount):
    global money
    lock.acquire()
    if money >= amount:
        money -= amount
    lock.release()


threads = [spend(2), spend(2), spend(1)]
