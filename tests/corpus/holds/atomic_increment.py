# expect: holds
# check: --property assert,deadlock,race
# states: 4
"""Increments in atomic sections: two threads with one step each, 2 * 2 states."""

from mazurka.model import Int, atomic

n: Int[0, 2] = 0


def add():
    global n
    with atomic():
        n += 1


threads = [add(), add()]
