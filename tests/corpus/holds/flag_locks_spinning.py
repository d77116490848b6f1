# expect: holds
"""Spin locks, one inside the other: threads swap 1 into a flag until they find 0 there."""

from mazurka.model import Array, Int, cas

taken = Array(Int[0, 1], 2)
total = Array(Int[0, 9], 2)
last: Int[0, 3] = 0


def lock(which):
    while not cas(taken[which], 0, 1):
        pass


def unlock(which):
    taken[which] = 0


def nested(me):
    global last
    last = me
    lock(0)
    total[0] += 1
    lock(1)
    total[1] += 1
    unlock(1)
    total[0] += 1
    unlock(0)
    last = me


def inner(me):
    global last
    last = me
    lock(1)
    total[1] += 2
    unlock(1)
    last = me


threads = [nested(1), nested(2), inner(3)]
