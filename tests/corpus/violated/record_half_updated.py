# expect: violated assert "half of the pair"
"""Two fields that belong together, updated one after the other."""

from mazurka.model import Array, Int


class Pair:
    left: Int[0, 3] = 0
    right: Int[0, 3] = 0


pairs = Array(Pair, 2)


def writer(i):
    pair = pairs[i]
    pair.left = 3
    pair.right = 3


def reader(i):
    right = pairs[i].right
    left = pairs[i].left
    assert left == right, "half of the pair"


threads = [writer(1), reader(1)]
