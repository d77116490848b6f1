# expect: violated deadlock
"""Two transfers between the same accounts, in opposite directions.

Each locks the account it takes from, then the one it gives to.  Ann pays Bob while Bob pays Ann:
each transfer holds one lock and waits for the other one.

`bank_transfer_ordered.py` locks accounts in a fixed order.
"""

from mazurka.model import Array, Int, Mutex

TOTAL = 4


class Account:
    lock: Mutex
    balance: Int[0, TOTAL] = 2


accounts = Array(Account, 2)


def transfer(source, target, amount):
    giver, taker = accounts[source], accounts[target]
    with giver.lock:
        with taker.lock:
            if giver.balance >= amount:
                giver.balance -= amount
                taker.balance += amount


def audit():
    with accounts[0].lock:
        with accounts[1].lock:
            total = accounts[0].balance + accounts[1].balance
            assert total == TOTAL, "money appeared or disappeared"


threads = [transfer(0, 1, 1), transfer(1, 0, 2), audit()]
