# expect: violated assert "too deep"
"""An assertion that fails in the third call."""

from mazurka.model import Int

deepest: Int[0, 9] = 0


def down(n):
    global deepest
    deepest = max(deepest, n)
    assert deepest < 3, "too deep"
    if n < 4:
        down(n + 1)


threads = [down(0)]
