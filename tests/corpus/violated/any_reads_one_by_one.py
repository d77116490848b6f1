# expect: violated assert
"""`any` reads one item after the other: it can miss a flag that is always up somewhere."""

from mazurka.model import Array, Bool

flags = Array(Bool, 2)


def f():
    flags[0] = True
    flags[0] = False
    flags[1] = True


def g():
    if flags[0] or flags[1]:
        assert any(flags), "read at different times"


threads = [f(), g()]
