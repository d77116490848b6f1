# expect: holds
"""The items of a tuple have their values before the loop begins, also inside pairs."""


def main():
    a, b = 1, 2
    for i, v in enumerate((a, b)):
        assert v == i + 1
        b = 7
    for x, y in ((a, 3), (b, 4)):
        assert (x == 1 and y == 3) or (x == 7 and y == 4)
        a = b = 0


threads = [main()]
