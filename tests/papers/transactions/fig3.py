# expect: violated assert "x has been written"
"""Figure 3 of paper 000: the state behind a left mover is a commit point, too.

All accesses to `x` are guarded by `m`, those to `y` are not.  T1 commits at L1, while it holds `m`,
and never ends.  T2 gets to its assertion only from states behind L3, the release.  `skip` is an
assignment to a local variable.
"""

from mazurka.model import Int, Mutex

m = Mutex()
x: Int[0, 1] = 0
y: Int[0, 42] = 0


def T1():
    global x, y
    m.acquire()  # L0
    y = 42  # L1
    x = 1  # L2
    m.release()  # L3
    while True:  # L4
        skip = 0


def T2():
    m.acquire()  # M0
    assert x == 0, "x has been written"  # M1
    m.release()  # M2


def T3():
    global y
    y = 10  # N0


threads = [T1(), T2(), T3()]
