# expect: holds
"""`and` and `or` give one of their operands; truth values count as 0 and 1."""

from mazurka.model import Bool, Int, choose

flag: Bool = True
n: Int[0, 9] = 0


def main():
    global n
    x = choose(0, 3)
    y = choose(0, 4)
    n = x or y
    assert n == (3 if x == 3 else y)
    n = x and y
    assert n == (y if x else 0)
    n = flag + True
    assert n == 2
    n = (x > 1) + (y > 1)
    assert n <= 2
    assert (not x) == (x == 0)


threads = [main()]
