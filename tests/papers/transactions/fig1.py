# expect: violated assert "g has been written"
"""Figure 1 of paper 000: the ignoring problem.

T1 commits at L0 and then never ends: who puts T2 off until T1's transaction is complete misses the
assertion.  `skip` is an assignment to a local variable.
"""

from mazurka.model import Int

g: Int[0, 1] = 0


def T1():
    global g
    g = 1  # L0
    skip = 0  # L1
    while True:  # L2
        skip = 0  # L3


def T2():
    assert g == 0, "g has been written"  # M0


threads = [T1(), T2()]
