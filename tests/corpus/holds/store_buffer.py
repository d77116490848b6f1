# expect: holds
"""Memory is sequentially consistent: of two threads that write a flag each and read the other's,
at least one sees what the other has written."""

from mazurka.model import Array, Bool, join, spawn

flags = Array(Bool, 2)
seen = Array(Bool, 2)


def thread(me):
    flags[me] = True
    seen[me] = flags[1 - me]


def main():
    one, two = spawn(thread, 0), spawn(thread, 1)
    join(one)
    join(two)
    assert seen[0] or seen[1]


threads = [main()]
