# expect: violated assert "g has been written"
"""Figure 2 of paper 000: cycle detection is not necessary.

T1 commits at L0; one branch then loops for ever, the other one ends.  It is enough to run T2 at
that end.  `skip` is an assignment to a local variable.
"""

from mazurka.model import Int, choose

g: Int[0, 1] = 0


def T1():
    global g
    g = 1  # L0
    skip = 0  # L1
    if choose(False, True):  # L2
        while True:  # L3
            skip = 0  # L4
    return  # L6


def T2():
    assert g == 0, "g has been written"  # M0


threads = [T1(), T2()]
