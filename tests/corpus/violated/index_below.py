# expect: violated index "index -4 is outside 0..2 of `a`"
"""An index that is too far below is named as the program has it."""

from mazurka.model import Array, Int, choose

a = Array(Int[0, 9], 3)


def main():
    i = choose(range(-4, 3))
    a[i] = 1


threads = [main()]
