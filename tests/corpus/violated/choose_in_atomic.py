# expect: violated assert "three"
"""A choice inside an atomic section: one step for each value."""

from mazurka.model import Int, atomic, choose

x: Int[0, 9] = 0


def worker():
    global x
    with atomic():
        x = choose(1, 2, 3)
    assert x < 3, "three"


threads = [worker()]
