# expect: violated assert "g has been written"
"""Figure 2 of paper 000 with `assume(false)` at L2: cycle detection is not sufficient.

T1 commits at L0 and stops at L2, where no cycle closes and no transaction is complete.  `skip` is
an assignment to a local variable.
"""

from mazurka.model import Int, assume

g: Int[0, 1] = 0


def T1():
    global g
    g = 1  # L0
    skip: Int[0, 1] = 0  # L1
    assume(False)  # L2


def T2():
    assert g == 0, "g has been written"  # M0


threads = [T1(), T2()]
