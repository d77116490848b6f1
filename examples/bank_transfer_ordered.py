# expect: holds
# check: --property assert,deadlock,race
"""Transfers that lock accounts in the order of their numbers.

The deadlock of `bank_transfer.py` needs two threads that take two locks in opposite orders; here
there is one order for all.  The auditor sees the same total at any time.
"""

from mazurka.model import Array, Int, Mutex

TOTAL = 6


class Account:
    lock: Mutex
    balance: Int[0, TOTAL] = 2


accounts = Array(Account, 3)


def transfer(source, target, amount):
    first, second = accounts[min(source, target)], accounts[max(source, target)]
    giver, taker = accounts[source], accounts[target]
    with first.lock, second.lock:
        if giver.balance >= amount:
            giver.balance -= amount
            taker.balance += amount


def audit():
    for account in accounts:
        account.lock.acquire()
    total = 0
    for account in accounts:
        total += account.balance
    assert total == TOTAL, "money appeared or disappeared"
    for account in accounts:
        account.lock.release()


threads = [transfer(0, 1, 1), transfer(1, 2, 3), transfer(2, 0, 2), audit()]
