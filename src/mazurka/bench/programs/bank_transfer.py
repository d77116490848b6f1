"""Transfers in both directions that take the locks in one order.  Right."""

import threading


class Account:
    def __init__(self, number: int, balance: int) -> None:
        self.number = number
        self.balance = balance
        self.lock = threading.Lock()


class State:
    def __init__(self) -> None:
        self.savings = Account(1, 10)
        self.current = Account(2, 10)


def transfer(source: Account, target: Account, amount: int) -> None:
    first, second = sorted((source, target), key=lambda account: account.number)
    with first.lock, second.lock:
        source.balance -= amount
        target.balance += amount


def saves(state: State) -> None:
    transfer(state.current, state.savings, 3)


def spends(state: State) -> None:
    transfer(state.savings, state.current, 5)


def holds(state: State) -> bool:
    return (state.savings.balance, state.current.balance) == (8, 12)


WORKERS = (saves, spends)
