# expect: holds
# states: 12
# check: --property assert,deadlock,race
"""Independent threads: a grid of (2 + 1) * (3 + 1) states."""

from mazurka.model import Int

a: Int[0, 2] = 0
b: Int[0, 3] = 0


def two():
    global a
    a = 1
    a = 2


def three():
    global b
    b = 1
    b = 2
    b = 3


threads = [two(), three()]
