# expect: violated index
"""The guard comes too late."""

from mazurka.model import Array, Int, choose

values = Array(Int[0, 9], 3, [1, 2, 3])


def main():
    i = choose(range(4))
    if values[i] > 0 and i < 3:
        assert values[i] == i + 1


threads = [main()]
