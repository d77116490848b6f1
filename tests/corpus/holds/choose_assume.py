# expect: holds
"""Every choice is explored; assumptions narrow them down."""

from mazurka.model import Int, assume, choose

found: Int[0, 100] = 0


def guess():
    global found
    x = choose(range(1, 10))
    y = choose(range(1, 10, 2))
    assume(x * y == 21)
    found = x * 10 + y
    assert found == 37 or found == 73


threads = [guess()]
