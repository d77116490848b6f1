# expect: violated race
# check: --property race
"""Both hold a lock, but not the same one."""

from mazurka.model import Int, Mutex


class Account:
    balance: Int[0, 9] = 0
    lock: Mutex


account = Account()
other = Mutex()


def one():
    with account.lock:
        account.balance = 1


def two():
    with other:
        account.balance = 2


threads = [one(), two()]
