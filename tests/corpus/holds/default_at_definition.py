# expect: holds
"""A default and a range are evaluated at `def`, not at the call."""

from mazurka.model import Int

limit = 3
x: Int[0, 9] = 1


def worker(first=x, last: Int[0, limit] = limit):
    global x
    x = 7
    assert first == 1 and last == 3


class Account:
    balance: Int[0, 9] = x

    def add(self, amount=x):
        self.balance += amount


limit = 2
x = 5


def other():
    account = Account()
    account.add()
    assert account.balance == 2 and limit == 2


threads = [worker(), worker(), other()]
