# expect: violated assert "17"
"""One choice in many breaks the assertion."""

from mazurka.model import Int, choose

secret: Int[0, 99] = 0


def guess():
    global secret
    tens = choose(range(10))
    ones = choose(range(10))
    secret = tens * 10 + ones
    assert secret != 17, "it is 17"


threads = [guess()]
