# expect: holds
# check: --property assert,deadlock,race
"""A thread that makes two others and waits for both."""

from mazurka.model import Array, Int, join, spawn

parts = Array(Int[0, 9], 2)


def half(i, value):
    parts[i] = value


def main():
    left = spawn(half, 0, 4)
    right = spawn(half, 1, 5)
    join(left)
    right.join()
    assert parts[0] + parts[1] == 9
    assert not left.is_alive()


threads = [main()]
