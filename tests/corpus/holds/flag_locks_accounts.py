# expect: holds
"""Accounts with a flag each as a lock: a transfer holds the first while it takes the second."""

from mazurka.model import Array, Int, atomic, await_

busy = Array(Int[0, 1], 2)
balance = Array(Int[0, 9], 2)
latest: Int[0, 3] = 0


def take(account):
    with atomic():
        await_(busy[account] == 0)
        busy[account] = 1


def transfer(me):
    global latest
    latest = me
    take(0)
    balance[0] += 1
    take(1)
    balance[1] += 1
    assert balance[0] == balance[1], "money is lost"
    busy[1] = 0
    balance[0] = balance[0]
    busy[0] = 0
    latest = me


def audit(me):
    global latest
    latest = me
    take(1)
    balance[1] = balance[1]
    busy[1] = 0
    latest = me


threads = [transfer(1), transfer(2), audit(3)]
