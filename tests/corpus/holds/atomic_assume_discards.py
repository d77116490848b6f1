# expect: holds
"""A failed assumption inside an atomic section undoes the section."""

from mazurka.model import Bool, Int, assume, atomic

n: Int[0, 1] = 0
never: Bool = False


def half():
    global n
    with atomic():
        n = 1
        assume(never)


def looks():
    assert n == 0, "half a section was seen"


threads = [half(), looks()]
