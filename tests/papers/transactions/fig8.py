# expect: violated assert "g has been written"
"""Figure 8 of paper 000: what tells commit point completion from algorithms that use components.

T1 commits at L0 and then loops for ever in one of two ways.  Those algorithms run T2 in both loops;
it is enough to run it once, at the commit point.  `skip` is an assignment to a local variable.
"""

from mazurka.model import Int, choose

g: Int[0, 1] = 0


def T1():
    global g
    g = 1  # L0
    skip = 0  # L1
    if choose(False, True):  # L2
        while True:  # L2
            skip = 0  # L3
    else:
        while True:  # L5
            skip = 0  # L6


def T2():
    assert g == 0, "g has been written"  # M0


threads = [T1(), T2()]
