# expect: holds
"""Two flags as locks, one inside the other; a third thread takes the inner one alone."""

from mazurka.model import Array, Int, assume, atomic

taken = Array(Int[0, 1], 2)
total = Array(Int[0, 9], 2)
last: Int[0, 3] = 0


def lock(which):
    with atomic():
        assume(taken[which] == 0)
        taken[which] = 1


def unlock(which):
    with atomic():
        assume(taken[which] == 1)
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
