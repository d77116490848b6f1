# expect: holds
"""Functions with several results, default values and keywords; locals of each call are its own."""

from mazurka.model import Int

shared: Int[0, 50] = 0


def order(a, b):
    if a < b:
        return a, b
    return b, a


def scaled(x, factor=2, shift=1):
    y = x * factor
    return y + shift


def main():
    global shared
    small, large = order(7, 3)
    assert small == 3 and large == 7
    small, large = large, small
    assert small == 7
    shared = scaled(4) + scaled(1, shift=0) + scaled(2, 3, 1)
    assert shared == 18


threads = [main()]
