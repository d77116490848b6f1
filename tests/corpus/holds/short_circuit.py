# expect: holds
"""`and` and `or` stop early, so a guard protects what follows it."""

from mazurka.model import Array, Int, choose

values = Array(Int[0, 9], 3, [1, 2, 3])


def main():
    i = choose(range(5))
    if i < 3 and values[i] > 0:
        assert values[i] == i + 1
    assert i >= 3 or values[i] == i + 1
    d = choose(0, 2)
    assert d == 0 or 10 // d == 5


threads = [main()]
