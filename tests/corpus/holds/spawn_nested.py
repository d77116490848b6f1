# expect: holds
"""Threads that make threads."""

from mazurka.model import Int, fetch_add, join, spawn

leaves: Int[0, 4] = 0


def leaf():
    fetch_add(leaves, 1)


def branch():
    one, two = spawn(leaf), spawn(leaf)
    join(one)
    join(two)


def root():
    one, two = spawn(branch), spawn(branch)
    join(one)
    join(two)
    assert leaves == 4


threads = [root()]
