# expect: violated deadlock "2 threads wait for ever"
"""Two threads wait for each other's flag; the stopped one would only set another."""

from mazurka.model import Array, Bool, Int, assume, await_

flags = Array(Bool, 3)
x: Int[0, 1] = 0


def partner(me):
    await_(flags[1 - me])
    flags[me] = True


def stops():
    global x
    x = 1
    assume(x == 0)
    flags[2] = True


threads = [partner(0), partner(1), stops()]
