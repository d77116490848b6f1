# expect: violated index "index 2 is outside 0..1 of `slots`"
"""A condition that cannot be evaluated in some state is a violation, at its line."""

from mazurka.model import Array, Int, invariant

slots = Array(Int[0, 1], 2)
place: Int[0, 2] = 0

invariant(slots[place] == 0)


def step():
    global place
    place = 1
    place = 2


threads = [step()]
